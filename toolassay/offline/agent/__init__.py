"""The offline agent: rules that read a request and act through tools, without a look at the answer."""

from __future__ import annotations

from toolassay.offline.agent.agent import next_turn

__all__ = ["next_turn"]
