"""The YAML configuration of a run: data, agent, evaluation."""

from toolgraph.benchmarks.classic.configuration.keys import Configuration
from toolgraph.benchmarks.classic.configuration.reading import read_configuration

__all__ = ["Configuration", "read_configuration"]
