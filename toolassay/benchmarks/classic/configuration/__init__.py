"""The YAML configuration of a run: data, agent, evaluation."""

from toolassay.benchmarks.classic.configuration.keys import KEYS, Configuration, nearest
from toolassay.benchmarks.classic.configuration.reading import read_configuration

__all__ = ["KEYS", "Configuration", "nearest", "read_configuration"]
