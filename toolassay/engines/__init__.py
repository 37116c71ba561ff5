"""Engines: where shards of CPU-bound work run."""

from toolassay.engines.engine import Engine, OneProcess, ShardTask, check_engine, open_engine

__all__ = ["Engine", "OneProcess", "ShardTask", "check_engine", "open_engine"]
