"""The YAML configuration of a run: data, agent, evaluation."""

from toolgraph.benchmarks.classic.configuration.keys import KEYS, Configuration, nearest
from toolgraph.benchmarks.classic.configuration.reading import read_configuration

__all__ = ["KEYS", "Configuration", "nearest", "read_configuration"]
