"""Whether the tools that a run offers reach its model: some servers drop `tools` without a word."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from toolassay.files import read_json
from toolassay.models import ChatModel, ChatRequest, ChatResponse
from toolassay.runs.manifest import MANIFEST

TOOL_USE = "tool_use"
"""What a manifest says of it."""
FIRST = 10
"""Items without a call after which something is said."""
FEWEST = 3
"""Of a shorter run: fewer say nothing."""
CHARACTERS_PER_TOKEN = 8
"""A token of JSON has 3 to 5 characters, and a chat template may render schemas in half their length."""

Verdict = Literal["fine", "missing", "unknown"]
"""`missing`: no item made a call, and no prompt had room for the tools. `unknown`: no item made a call, and
the server reports no prompt tokens."""


class ToolArrival:
    """A model whose requests are watched for tools that never arrive.

    One call shows that tools arrive, whatever the server reports. Answers that a filter refused say nothing.

    Args:
        model: who is asked.
        known: what `facts` gave at the end of an earlier start of the run.
        warn: called once, with a verdict other than `fine`.
    """

    def __init__(self, model: ChatModel, known: Mapping[str, Any], warn: Callable[[Verdict], None]) -> None:
        self._model, self._warn = model, warn
        self.name = model.name
        self._before = int(known.get("items", 0))
        self._called = bool(known.get("called", False))
        self._tokens = int(known.get("prompt_tokens") or 0)
        self._characters = int(known.get("tool_characters", 0))
        self._items: set[str] = set()
        self._warned = False

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Pass the request on, and note whether the answer calls a tool.

        Raises:
            ModelError: no answer.
        """
        response = await self._model.complete(request)
        if not self._called and (tools := request.parameters.get("tools")) and not response.refused:
            self._watch(request, tools, response)
        return response

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    @property
    def items(self) -> int:
        """Items that were offered tools before the first call, ten at most."""
        return min(FIRST, self._before + len(self._items))

    @property
    def verdict(self) -> Verdict:
        """By the items so far."""
        if self._called or self.items < FEWEST:
            return "fine"
        if not self._tokens:
            return "unknown"
        return "missing" if self._tokens * CHARACTERS_PER_TOKEN < self._characters else "fine"

    @property
    def facts(self) -> dict[str, Any]:
        """For the manifest: of the request with most prompt tokens for its tools, both sizes."""
        if not self.items:
            return {}
        return {
            "items": self.items,
            "called": self._called,
            "prompt_tokens": self._tokens or None,
            "tool_characters": self._characters,
            "tools_missing": self.verdict == "missing",
        }

    def check(self) -> None:
        """Warn if the verdict is not `fine` and no warning was given yet."""
        if self.verdict != "fine" and not self._warned:
            self._warned = True
            self._warn(self.verdict)

    def _watch(self, request: ChatRequest, tools: Any, response: ChatResponse) -> None:
        # A conversation that an earlier start began may hold the calls that its last answer lacks.
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
    """Whether the manifest of a run says that its tools never reached the model.

    Raises:
        UsageError: the manifest cannot be read.
    """
    return known_tool_use(run_folder).get("tools_missing") is True


def known_tool_use(run_folder: Path) -> Mapping[str, Any]:
    """What the manifest of a run says of its tools; nothing where it says nothing.

    Raises:
        UsageError: the manifest cannot be read.
    """
    path = run_folder / MANIFEST
    manifest = read_json(path) if path.is_file() else None
    found = manifest.get(TOOL_USE) if isinstance(manifest, dict) else None
    return found if isinstance(found, dict) else {}
