"""Recovers the task behind a request that one of the benchmarks sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolassay.benchmarks.benchmark import load
from toolassay.benchmarks.registry import benchmarks
from toolassay.offline.shown_graphs import ShownGraphs


def conversation_task(body: Mapping[str, Any], graphs: ShownGraphs | None = None) -> Any:
    """The task behind a request; None where no benchmark sends such a prompt.

    Args:
        body: of a chat-completions request, with at least one message.
        graphs: of the tools that prompts may show.
    """
    shown = graphs or ShownGraphs()
    readers = (one.entries.prompt_reader for one in benchmarks())
    found = (load(reader)(body, shown) for reader in readers if reader)
    return next((task for task in found if task is not None), None)
