"""An item is a function of its answers: nothing is paid twice, wherever a run stops."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from toolassay.errors import ToolassayError
from toolassay.models import ChatRequest, ChatResponse, ModelError, ToolCall
from toolassay.runs.budget import Estimate
from toolassay.runs.items import (
    OVERFLOW,
    Ask,
    ItemWork,
    Recorded,
    answer_items,
    preview_items,
    replay_item,
)
from toolassay.runs.journal import AnswerLine, ItemEntry, Journal, LineAddress
from toolassay.runs.manifest import RetryPlan
from toolassay.runs.runner import Loop


class TalkEntry(ItemEntry):
    """The last answer of the judge, and answers as an earlier version wrote them."""

    last: str = ""
    old: Sequence[str] = ()


@dataclass
class Talk(ItemWork[str]):
    """Conversations of some turns, each with a tool call, and a second model that judges the last answer."""

    turns: int = 3
    greeting: str = "Hello"
    made: list[str] = field(default_factory=list)

    record = TalkEntry

    def key_of(self, item: str) -> str:
        return item

    async def answer(self, item: str, ask: Ask) -> TalkEntry:
        messages: list[dict[str, Any]] = [{"role": "user", "content": f"{self.greeting} {item}"}]
        text = ""
        for turn in range(self.turns):
            text = (await ask(ChatRequest(list(messages), role="agent"))).text
            result = ask.result(lambda at=turn: self._call(item, at))  # type: ignore[misc]
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": result}]
        second = await ask(ChatRequest([{"role": "user", "content": text}], role="critic"), "second")
        return TalkEntry(outcome="malformed" if second.text == "bad" else "answered", last=second.text)

    def recorded(self, entry: TalkEntry) -> Recorded:
        return {"agent": [AnswerLine(text) for text in entry.old]}

    def _call(self, item: str, turn: int) -> str:
        self.made.append(f"{item}{turn}")
        return f"result {turn}, run {len(self.made)}"


class Model:
    """Answers with numbers, and fails at some of its requests."""

    def __init__(self, name: str, fails: Sequence[int] = (), text: str | None = None) -> None:
        self.name, self.fails, self.text = name, fails, text
        self.asked: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatResponse:
        number = len(self.asked)
        self.asked.append(request)
        if number in self.fails:
            raise ModelError("gone", transient=True)
        return ChatResponse(self.text or f"{self.name} {number}", prompt_tokens=10, completion_tokens=2)

    async def close(self) -> None: ...


def start(
    path: Path, work: Talk, items: Sequence[str], model: Model, second: Model, **loop: Any
) -> tuple[Loop, int]:
    """One start of a run."""
    options = Loop(1, **loop)
    with Journal(path / "journal.jsonl") as journal:
        already = answer_items(work, items, model, {"second": second}, journal, options)
    return options, already


@given(st.integers(1, 4), st.integers(1, 3), st.sets(st.integers(0, 12), max_size=4))
def test_each_answer_is_paid_once_wherever_requests_fail(turns: int, count: int, fails: set[int]) -> None:
    items = ["a", "b", "c"][:count]
    with tempfile.TemporaryDirectory() as folder:
        model, second = Model("m", sorted(fails)), Model("s", sorted(fails))
        for _ in range(2 * len(fails) + 1):
            start(Path(folder), Talk(turns), items, model, second)
        answered = [
            [str(request.messages) for number, request in enumerate(one.asked) if number not in fails]
            for one in (model, second)
        ]
        assert [len(set(texts)) for texts in answered] == [len(texts) for texts in answered]
        assert [len(texts) for texts in answered] == [turns * count, count]
        with Journal(Path(folder) / "journal.jsonl", read_only=True) as journal:
            assert all(journal.entry(item, TalkEntry).outcome == "answered" for item in items)
            assert all(journal.answer(LineAddress(item, "agent", turns - 1)) for item in items)


def test_settled_items_are_left_alone_and_counted(tmp_path: Path) -> None:
    model, second = Model("m"), Model("s")
    start(tmp_path, Talk(1), ["a", "b"], model, second)
    loop, already = start(tmp_path, Talk(1), ["a", "c", "b", "d"], model, second)
    assert already == 2 and loop.summary.outcomes == {"answered": 2}
    assert [request.item for request in model.asked] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("kept", range(10))
def test_whatever_is_left_of_a_journal_is_not_paid_again(tmp_path: Path, kept: int) -> None:
    model, second = Model("m"), Model("s")
    start(tmp_path, Talk(), ["a"], model, second)
    path = tmp_path / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:kept]) + lines[min(kept, len(lines) - 1)][:-3])
    answers = sum(b'"asked"' in line for line in lines[:kept])
    before = len(model.asked) + len(second.asked)
    start(tmp_path, Talk(), ["a"], model, second)
    assert len(model.asked) + len(second.asked) - before == 4 - answers
    with Journal(path, read_only=True) as journal:
        assert journal.entry("a", TalkEntry).outcome == "answered"


def test_a_recorded_result_counts_although_its_call_is_made_again(tmp_path: Path) -> None:
    work, model = Talk(), Model("m", [2])
    start(tmp_path, work, ["a"], model, Model("s"))
    start(tmp_path, work, ["a"], model, Model("s"))
    assert work.made == ["a0", "a1", "a0", "a1", "a2"]
    assert [message["content"] for message in model.asked[-1].messages[2::2]] == [
        "result 0, run 1",
        "result 1, run 2",
    ]


def test_a_changed_request_is_sent_again_and_counted(tmp_path: Path) -> None:
    model = Model("m", [2])
    start(tmp_path, Talk(), ["a"], model, Model("s"))
    loop, _ = start(tmp_path, Talk(greeting="Good day"), ["a"], model, Model("s"))
    assert len(model.asked) == 6 and loop.summary.changed == 2


def test_a_malformed_item_is_asked_again_and_keeps_its_answer_until_then(tmp_path: Path) -> None:
    model, bad, retry = Model("m"), Model("s", text="bad"), RetryPlan(wanted=True)
    start(tmp_path, Talk(), ["a"], model, bad)
    assert start(tmp_path, Talk(), ["a"], model, bad)[1] == 1
    model.fails = [4]
    start(tmp_path, Talk(), ["a"], model, Model("s"), retry=retry)
    with Journal(tmp_path / "journal.jsonl", read_only=True) as journal:
        assert journal.entry("a", TalkEntry).last == "bad" and retry.replaced == 0
    start(tmp_path, Talk(), ["a"], model, Model("s"), retry=retry)
    assert len(model.asked) == 3 + 2 + 2  # the first answer of the second time is not paid again
    with Journal(tmp_path / "journal.jsonl", read_only=True) as journal:
        kept = journal.entry("a", TalkEntry)
        assert (kept.last, kept.asked_again) == ("s 0", 1)
        entry, ask = replay_item(Talk(), "a", journal)
        assert entry.last == "s 0" and ask.unlike == 0
    assert retry.replaced == 1


def test_a_dry_run_measures_the_next_request_and_sends_nothing(tmp_path: Path) -> None:
    start(tmp_path, Talk(), ["a", "b"], Model("m", [4]), Model("s"))
    with Journal(tmp_path / "journal.jsonl", read_only=True) as journal:
        estimate = Estimate()
        assert preview_items(Talk(), ["a", "b", "c"], journal, estimate, RetryPlan()) == 1
    assert estimate.requests == 2 and estimate.answers == 1
    assert estimate.first is not None and len(estimate.first.messages) == 3  # what "b" lacks


def test_answers_in_entries_of_earlier_versions_are_not_paid_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append("a", TalkEntry(outcome="provider error", old=("one", "two")))
    model = Model("m")
    start(tmp_path, Talk(), ["a"], model, Model("s"))
    (request,) = model.asked
    assert [one["content"] for one in request.messages if one["role"] == "assistant"] == ["one", "two"]


def test_failures_that_settle_an_item_are_recorded_and_a_broken_program_ends_the_run(tmp_path: Path) -> None:
    class Overflows(Talk):
        final = (OVERFLOW,)

        async def answer(self, item: str, ask: Ask) -> TalkEntry:
            if item == "bug":
                raise ToolassayError("broken", fix="mend it")
            raise ModelError("too long", outcome=OVERFLOW)

    loop, _ = start(tmp_path, Overflows(), ["a"], Model("m"), Model("s"))
    assert loop.summary.outcomes == {OVERFLOW: 1} and loop.summary.failed == 0
    assert start(tmp_path, Overflows(), ["a"], Model("m"), Model("s"))[1] == 1
    with pytest.raises(ToolassayError, match="broken"):
        start(tmp_path, Overflows(), ["bug"], Model("m"), Model("s"))


def test_an_answer_is_the_same_after_the_journal(tmp_path: Path) -> None:
    call = ToolCall("1", "find", '{"a": 1}', {"mark": 1})
    answer = ChatResponse("", "tool_calls", 10, 5, tool_calls=(call,), reasoning="hm", extra={"x": [1]})
    address, line = LineAddress("a", "agent"), AnswerLine.of(answer, "hash")
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.add_answer(address, line)
        assert journal.answer(address) == line
    assert [getattr(line, name) for name in ChatResponse.__struct_fields__] == [*structs.astuple(answer)]
    assert msgspec.to_builtins(AnswerLine.of(ChatResponse("Hi"))) == {"response": "Hi"}
