"""Items of a run on an engine. tests/end_to_end/test_engines.py has real stages and killed processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolassay.engines import Engine, OneProcess, open_engine
from toolassay.errors import ToolassayError, UsageError
from toolassay.models import Attempt, ChatRequest
from toolassay.offline.offline_model import OfflineModel
from toolassay.runs.budget import Budget
from toolassay.runs.items import Ask, ItemWork, answer_items
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.runs.manifest import RetryPlan
from toolassay.runs.runner import Loop
from toolassay.runs.spread_items import MOST_ITEMS, ItemsTask, Spread, check_spread


class NumberEntry(ItemEntry):
    """The doubled number."""

    doubled: int = 0


@dataclass(frozen=True)
class Numbers(ItemWork[int]):
    """Numbers as items: the answer is the number doubled; 13 is an error."""

    record = NumberEntry

    def key_of(self, item: int) -> str:
        return f"n{item}"

    async def answer(self, item: int, ask: Ask) -> NumberEntry:
        if item == 13:
            raise ToolassayError("thirteen", fix="use another number")
        return NumberEntry(outcome="answered" if item % 5 else "malformed", doubled=2 * item)


class Counted:
    """A meter."""

    def __init__(self) -> None:
        self.made: list[Attempt] = []

    def before(self, model: str, request: ChatRequest) -> None:
        raise AssertionError("only workers call models")

    def after(self, attempt: Attempt) -> None:
        self.made.append(attempt)


def spread(journal: Journal, count: int, engine: Engine | None = None, **loop: Any) -> Loop:
    """Answer the first numbers that the journal does not settle; the ended loop."""
    task = ItemsTask(Numbers(), "nothing")
    one = Spread(engine or OneProcess(), task, journal, Counted(), count)
    ended = Loop(spread=one, **loop)

    answer_items(Numbers(), range(count), OfflineModel(), {}, journal, ended, skip=journal.__contains__)
    return ended


def test_items_are_answered_once_and_counted(tmp_path: Path) -> None:
    done: list[int] = []
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append("n1", NumberEntry())
        loop = spread(journal, 12, done=lambda: done.append(1))
        assert list(journal) == ["n1", "n0", *(f"n{number}" for number in range(2, 12))]
        assert journal.entry("n1", NumberEntry) == NumberEntry()
        assert journal.entry("n7", NumberEntry) == NumberEntry(outcome="answered", doubled=14)
    assert loop.summary.outcomes == {"answered": 8, "malformed": 3}
    assert len(done) == 12  # settled ones included
    with Journal(tmp_path / "journal.jsonl") as journal:  # the file says the same as the index did
        assert journal.entry("n11", NumberEntry).doubled == 22 and len(journal) == 12


def test_what_processes_answer_is_in_the_order_of_the_items(tmp_path: Path) -> None:
    count = 3 * MOST_ITEMS
    numbers = [number for number in range(count) if number != 13]
    for name in ("one", "two"):
        with Journal(tmp_path / f"{name}.jsonl") as journal, open_engine("local:2") as engine:
            journal.append("n13", NumberEntry())
            spread(journal, count, engine if name == "two" else None)
            assert list(journal) == ["n13", *(f"n{number}" for number in numbers)]
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_an_error_ends_the_run_and_keeps_what_was_answered_before(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        with pytest.raises(ToolassayError, match=r"thirteen\. Fix: use another number"):
            spread(journal, 60)
        assert list(journal) == [f"n{number}" for number in range(13)]


def test_a_worker_gets_the_entry_that_an_item_has(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append("n3", NumberEntry(outcome="malformed"))
        retry = RetryPlan(wanted=True)
        one = Spread(OneProcess(), ItemsTask(Numbers(), "nothing"), journal, Counted(), 5)
        loop = Loop(retry=retry, spread=one)
        answer_items(Numbers(), range(5), OfflineModel(), {}, journal, loop)
        assert journal.entry("n3", NumberEntry) == NumberEntry(outcome="answered", asked_again=1, doubled=6)
        assert journal.entry("n4", NumberEntry).doubled == 8
        assert retry.replaced == 1


def test_ctrl_c_ends_the_run_as_interrupted(tmp_path: Path) -> None:
    class Interrupted(OneProcess):
        def map(self, task: Any, shards: Iterable[Any]) -> Iterator[Any]:
            found = super().map(task, shards)
            yield next(found)
            raise KeyboardInterrupt

    loop = Loop()
    with Journal(tmp_path / "journal.jsonl") as journal:
        one = Spread(Interrupted(), ItemsTask(Numbers(), "nothing"), journal, Counted(), 8)
        with pytest.raises(KeyboardInterrupt):
            one(iter(range(8)), loop)
        assert list(journal) == ["n0", "n1"]
    assert loop.summary.interrupted and not loop.summary.complete


@pytest.mark.parametrize(
    ("llm", "helpers", "budget", "message"),
    [
        ("gpt-4", [], None, "not 'gpt-4'"),
        ("offline", ["judge"], None, "not 'judge'"),
        ("offline", [], Budget(requests=5), "--max_requests"),
    ],
)
def test_what_an_engine_cannot_run_is_refused(
    llm: str, helpers: list[str], budget: Budget | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check_spread(llm, helpers, budget)
    check_spread("offline", ["offline"], Budget(cost=1.0))  # built-in models cost nothing
