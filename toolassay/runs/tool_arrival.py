"""Detects servers that silently drop the `tools` of requests, and those whose parser of tool calls leaks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from toolassay.files import read_json
from toolassay.models import ChatModel, ChatRequest, ChatResponse
from toolassay.models.leaked_calls import repaired
from toolassay.runs.manifest import MANIFEST

TOOL_USE = "tool_use"
"""Key of the result in a manifest."""
FIRST = 10
"""Number of items without a tool call after which the warning is given."""
FEWEST = 3
"""Minimum number of items for a warning at the end of a shorter run."""
CHARACTERS_PER_TOKEN = 8
"""Upper bound: a token of JSON has 3 to 5 characters, and a chat template may render schemas in half their
length."""

Verdict = Literal["fine", "missing", "unknown"]
"""`missing`: no item made a call, and every prompt has too few tokens to contain the tools. `unknown`: no
item made a call, and the server reports no prompt tokens."""


class ToolArrival:
    """A model wrapper that checks whether tools reach the model, and repairs the calls it makes.

    One tool call proves that they do, whatever the server reports. Answers that a filter refused are ignored.

    Args:
        model: The model.
        known: `facts` at the end of an earlier start of the run.
        warn: Called once, with a verdict other than `fine`.
    """

    def __init__(self, model: ChatModel, known: Mapping[str, Any], warn: Callable[[Verdict], None]) -> None:
        self._model, self._warn = model, warn
        self.name = model.name
        self._before = int(known.get("items", 0))
        self._called = bool(known.get("called", False))
        self._tokens = int(known.get("prompt_tokens") or 0)
        self._characters = int(known.get("tool_characters", 0))
        self._items: set[str] = set()
        self._answers = int(known.get("answers", 0))
        self._leaks = Counter[str](known.get("leaks", {}))
        self._warned = False

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Forward the request, repair the answer, and record whether it calls a tool.

        Raises:
            ModelError: There is no answer.
        """
        response = await self._model.complete(request)
        if not (tools := request.parameters.get("tools")) or response.refused:
            return response
        response, leaks = repaired(response, request)
        self._answers += 1
        self._leaks.update(leaks)
        if not self._called:
            self._watch(request, tools, response)
        return response

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    @property
    def items(self) -> int:
        """Items that were offered tools before the first call, up to ten."""
        return min(FIRST, self._before + len(self._items))

    @property
    def verdict(self) -> Verdict:
        """The verdict by the items so far; `fine` for fewer than three."""
        if self._called or self.items < FEWEST:
            return "fine"
        if not self._tokens:
            return "unknown"
        return "missing" if self._tokens * CHARACTERS_PER_TOKEN < self._characters else "fine"

    @property
    def facts(self) -> dict[str, Any]:
        """For the manifest: counts, and sizes of the request with the most prompt tokens for its tools."""
        leaks = {"answers": self._answers, "leaks": dict(self._leaks)} if self._leaks else {}
        if not self.items:
            return leaks
        return {
            **leaks,
            "items": self.items,
            "called": self._called,
            "prompt_tokens": self._tokens or None,
            "tool_characters": self._characters,
            "tools_missing": self.verdict == "missing",
        }

    @property
    def leak_notice(self) -> str:
        """How many answers show the leak, repaired or not; empty for none."""
        found = (f"{count} of {self._answers} answers had {leak}" for leak, count in self._leaks.items())
        return f"the server's parser of tool calls leaks: {', '.join(found)}" if self._leaks else ""

    def check(self) -> None:
        """Warn if the verdict is not `fine` and no warning was given yet."""
        if self.verdict != "fine" and not self._warned:
            self._warned = True
            self._warn(self.verdict)

    def _watch(self, request: ChatRequest, tools: Any, response: ChatResponse) -> None:
        # A conversation from an earlier start may contain tool calls although its last answer has none.
        spoken = any(message.get("tool_calls") for message in request.messages)
        self._called = spoken or bool(response.tool_calls)
        if self.items == FIRST and not self._called:
            return
        self._items.add(request.item)
        characters, tokens = len(json.dumps(tools, ensure_ascii=False)), response.prompt_tokens or 0
        if not self._characters or tokens * self._characters > self._tokens * characters:
            self._tokens, self._characters = tokens, characters
        if self.items == FIRST:
            self.check()


def tools_missing(run_folder: Path) -> bool:
    """Whether, by its manifest, the tools of a run never reached the model.

    Raises:
        UsageError: The manifest cannot be read.
    """
    return known_tool_use(run_folder).get("tools_missing") is True


def known_tool_use(run_folder: Path) -> Mapping[str, Any]:
    """`ToolArrival.facts` in the manifest of a run; {} without them.

    Raises:
        UsageError: The manifest cannot be read.
    """
    path = run_folder / MANIFEST
    manifest = read_json(path) if path.is_file() else None
    found = manifest.get(TOOL_USE) if isinstance(manifest, dict) else None
    return found if isinstance(found, dict) else {}
