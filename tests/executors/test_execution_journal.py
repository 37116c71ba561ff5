"""The journal of an execution: what it knows after any end of the process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.calls.execution_record import ExecutedCall, Execution
from toolassay.errors import UsageError
from toolassay.executors.execution_journal import ExecutionJournal, UnfinishedPlan

A, B = ExecutedCall(0, "a", {"x": 1}), ExecutedCall(1, "b", {})
DONE = ExecutedCall(0, "a", {"x": 1}, result={"id": 7}, text="seven", seconds=0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of the journal."""
    return tmp_path / "journal.jsonl"


def ended(outcome: Any = "ran", plan: str = "p", name: str | int = 1) -> Execution:
    return Execution(name, outcome, "test", plan, (DONE,))


def known(path: Path, name: str | int = 1, plan: str = "p") -> UnfinishedPlan:
    """What another process reads in the journal."""
    with ExecutionJournal(path) as journal:
        return journal.unfinished(name, plan)


def test_a_call_with_an_intent_and_no_result_is_in_flight(path: Path) -> None:
    with ExecutionJournal(path) as journal:
        assert journal.unfinished(1, "p") == UnfinishedPlan("p")
        journal.start(1, "p")
        journal.intend(1, 0, A)
        assert journal.unfinished(1, "p") == UnfinishedPlan("p", {}, 0)
        journal.returned(1, 0, DONE)
        assert journal.unfinished(1, "p") == UnfinishedPlan("p", {0: DONE})
        journal.intend(1, 1, B)
    assert known(path) == UnfinishedPlan("p", {0: DONE}, 1)
    assert known(path, plan="another plan now") == UnfinishedPlan("another plan now")
    assert known(path, name="1") == UnfinishedPlan("p")  # 1 and "1" are two requests


def test_a_plan_that_starts_again_has_no_earlier_calls(path: Path) -> None:
    with ExecutionJournal(path) as journal:
        journal.start(1, "p")
        journal.intend(1, 0, A)
        journal.returned(1, 0, DONE)
        journal.start(1, "p")
    assert known(path) == UnfinishedPlan("p")


@pytest.mark.parametrize("outcome", ["ran", "failed", "not_allowed", "in_doubt"])
def test_an_end_is_final(path: Path, outcome: Any) -> None:
    with ExecutionJournal(path) as journal:
        journal.start(1, "p")
        journal.intend(1, 0, A)
        journal.end(ended(outcome))
    with ExecutionJournal(path) as journal:
        assert journal.outcome(1, "p") == outcome
        assert journal.outcome(1, "another plan now") is None
        assert journal.execution(1) == ended(outcome)
        assert journal.unfinished(1, "p") == UnfinishedPlan("p")
        with pytest.raises(KeyError):
            journal.execution("1")


@pytest.mark.parametrize(
    "line",
    [
        {"event": "start"},
        {"event": "call"},
        {"event": "result", "number": 0},
        {"event": "end"},
        {"event": "end", "execution": {"id": 1, "outcome": "eaten", "executor": "x", "calls": []}},
        {},
    ],
)
def test_a_malformed_line_is_named(path: Path, line: dict[str, Any]) -> None:
    with ExecutionJournal(path) as journal:
        journal.start(1, "p")
    start = path.read_text()
    path.write_text(f"{start}{json.dumps({'key': '1', **line})}\n{start}")
    with pytest.raises(UsageError, match=r"journal\.jsonl:2: broken line in a journal"):
        ExecutionJournal(path)
    ExecutionJournal(path.with_name("other")).close()  # nothing stays locked


def test_a_journal_has_one_writer(path: Path) -> None:
    with ExecutionJournal(path), pytest.raises(UsageError, match="another process is writing"):
        ExecutionJournal(path)


def test_an_intent_is_on_the_disk_before_the_call_where_calls_must_not_be_repeated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", lambda descriptor: synced.append(path.stat().st_size))
    for is_durable in (False, True):
        with ExecutionJournal(path, is_durable=is_durable) as journal:
            journal.start(1, "p")
            journal.intend(1, 0, A)
            assert bool(synced) == is_durable
            assert not synced or synced[0] == path.stat().st_size


@given(st.data())
def test_a_torn_last_line_is_as_if_it_had_not_been_written(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    with ExecutionJournal(path) as journal:
        journal.start(1, "p")
        journal.intend(1, 0, A)
        journal.returned(1, 0, DONE)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    length = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:length])
    complete = sum(length >= len(b"".join(lines[: number + 1])) for number in range(3))
    states = [
        *(UnfinishedPlan("p"), UnfinishedPlan("p")),
        *(UnfinishedPlan("p", {}, 0), UnfinishedPlan("p", {0: DONE})),
    ]
    assert known(path) == states[complete]
    assert path.read_bytes() == b"".join(lines[:complete])
