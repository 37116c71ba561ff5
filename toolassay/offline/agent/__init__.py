"""The offline agent: rules that parse a request and call tools. It never sees the ground truth."""

from __future__ import annotations

from toolassay.offline.agent.agent import next_turn

__all__ = ["next_turn"]
