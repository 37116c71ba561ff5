"""Whether tools reach a model, by what a scripted model answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from toolassay.models import ChatRequest, ChatResponse, ToolCall
from toolassay.runs.manifest import ToolUse, read_manifest
from toolassay.runs.tool_arrival import ToolArrival, Verdict, tools_missing

TOOLS = [{"type": "function", "function": {"name": "search", "description": "x" * 727}}]
CHARACTERS = len(json.dumps(TOOLS))
assert CHARACTERS == 800
CALL = ToolCall("c", "search", "{}")


class Answers:
    """Reports prompt tokens, and calls for some items."""

    name = "m"

    def __init__(self, tokens: int | None, calling: tuple[str, ...] = (), *, refused: bool = False) -> None:
        self.tokens, self.calling, self.refused = tokens, calling, refused
        self.closed = False

    async def complete(self, request: ChatRequest) -> ChatResponse:
        calls = (CALL,) if request.item in self.calling else ()
        return ChatResponse("", prompt_tokens=self.tokens, tool_calls=calls, refused=self.refused)

    async def close(self) -> None:
        self.closed = True


async def watched(
    model: Answers, items: int, known: ToolUse | None = None, *, tools: Any = TOOLS
) -> tuple[ToolArrival, list[Verdict]]:
    """A run over some items; what was said before its end."""
    said: list[Verdict] = []
    watch = ToolArrival(model, known or ToolUse(), said.append)
    for item in range(items):
        parameters = {"tools": tools} if tools else {}
        await watch.complete(ChatRequest([], parameters, item=str(item)))
    return watch, said


@pytest.mark.parametrize(
    ("tokens", "verdict"), [(99, "missing"), (100, "fine"), (None, "unknown"), (0, "unknown")]
)
async def test_ten_items_without_a_call_are_judged_by_their_prompt_tokens(
    tokens: int | None, verdict: Verdict
) -> None:
    watch, said = await watched(Answers(tokens), 10)
    assert watch.verdict == verdict
    assert said == ([] if verdict == "fine" else [verdict])
    assert msgspec.to_builtins(watch.facts) == {
        "items": 10,
        "called": False,
        "prompt_tokens": tokens or None,
        "tool_characters": CHARACTERS,
        "tools_missing": verdict == "missing",
    }


@pytest.mark.parametrize("caller", ["0", "9", "11"])
async def test_one_call_shows_that_tools_arrive(caller: str) -> None:
    watch, said = await watched(Answers(9, (caller,)), 12)
    assert watch.verdict == "fine" and watch.facts.called and not watch.facts.tools_missing
    assert said == (["missing"] if caller == "11" else [])


@pytest.mark.parametrize(("items", "verdict"), [(2, "fine"), (3, "missing"), (9, "missing")])
async def test_a_short_run_is_judged_at_its_end(items: int, verdict: Verdict) -> None:
    watch, said = await watched(Answers(9), items)
    assert (watch.verdict, said) == (verdict, [])
    watch.check()
    watch.check()
    assert said == ([] if verdict == "fine" else [verdict])


async def test_a_later_start_goes_on_with_what_is_known() -> None:
    first, _ = await watched(Answers(9), 6)
    second, said = await watched(Answers(9), 4, first.facts)
    assert second.verdict == "missing" and said == ["missing"]
    called, _ = await watched(Answers(9, ("0",)), 1)
    third, said = await watched(Answers(9), 20, called.facts)
    assert third.verdict == "fine" and not said


async def test_answers_without_tools_and_refused_ones_say_nothing() -> None:
    assert (await watched(Answers(9), 20, tools=None))[0].facts == ToolUse()
    assert (await watched(Answers(9, refused=True), 20))[0].facts == ToolUse()


def test_a_manifest_without_a_word_about_tools_is_no_mark(tmp_path: Path) -> None:
    assert not tools_missing(tmp_path)
    (tmp_path / "manifest.json").write_text('{"settings": {}}')
    assert read_manifest(tmp_path).tool_use == ToolUse() and not tools_missing(tmp_path)
    (tmp_path / "manifest.json").write_text('{"settings": {}, "tool_use": {"tools_missing": true}}')
    assert tools_missing(tmp_path)
