from __future__ import annotations

from pathlib import Path

import pytest

from toolassay.errors import UsageError
from toolassay.files import write_json, write_json_lines
from toolassay.runs import Journal
from toolassay.runs.recorded_usage import RecordedUsage, recorded_journal, recorded_usage


def call(item: str, **more: object) -> dict[str, object]:
    return {"model": "m", "role": "planner", "item": item, "outcome": "answered", **more}


def test_a_journal_is_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append("a", {"n": 1})
        journal.append("b", {"n": 2})
        journal.append("a", {"n": 3})
        with recorded_journal(path) as recorded:
            assert len(recorded) == 2
            assert [recorded.get(key).get("n") for key in ("a", "b", "c")] == [3, 2, None]


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"key": "a"}\nx\n{"key": "b"}\n')
    with pytest.raises(UsageError, match=r"journal\.jsonl:2: broken line in a journal"):
        recorded_journal(path)
    with pytest.raises(UsageError, match="there is no journal"):
        recorded_journal(tmp_path / "none.jsonl")


def test_usage_is_summed_over_the_ledger(tmp_path: Path) -> None:
    lines = [
        call("1", cost=0.02, seconds=1.0),
        call("2", cost=None, seconds=9.0, outcome="timeout"),
        call("2", cost=0.04, seconds=3.0),
        call("2", cost=0.0, seconds=99.0, role="reformat"),
    ]
    write_json_lines(tmp_path / "ledger.jsonl", lines)
    usage = recorded_usage(tmp_path)
    assert usage is not None
    assert usage == RecordedUsage(usage.cost, 1, 2, 1.0)
    assert usage.cost_of_1000 == pytest.approx(30.0)


def test_an_unpriced_cost_is_unknown(tmp_path: Path) -> None:
    assert recorded_usage(tmp_path) is None
    write_json_lines(tmp_path / "ledger.jsonl", [call("1", cost=None, seconds=1.0)])
    usage = recorded_usage(tmp_path)
    assert usage == RecordedUsage(None, 1, 1, 1.0)
    assert usage.cost_of_1000 is None


def test_models_without_ledger_lines_are_known_by_the_summary(tmp_path: Path) -> None:
    (tmp_path / "ledger.jsonl").touch()
    part = {"model": "offline", "role": "planner", "seconds": {"p50": 0.5, "p95": 1.0}}
    used = {"requests": 4, "cost_usd": 0.0, "requests_of_unknown_cost": 0, "by_model_and_role": [part]}
    write_json(tmp_path / "summary.json", {"lines": 4, "used": used})
    assert recorded_usage(tmp_path) == RecordedUsage(0.0, 0, 4, 0.5, is_local=True)
    write_json(tmp_path / "summary.json", {"lines": 4, "used": {**used, "requests": 0}})
    assert recorded_usage(tmp_path) is None
    write_json(tmp_path / "summary.json", [])
    with pytest.raises(UsageError, match="not the summary"):
        recorded_usage(tmp_path)


def test_a_built_in_model_is_known_by_its_ledger_and_its_time_is_local(tmp_path: Path) -> None:
    line = call("1", seconds=0.25, cost=0.0)
    write_json_lines(tmp_path / "ledger.jsonl", [{**line, "model": "random"}])
    assert recorded_usage(tmp_path) == RecordedUsage(0.0, 0, 1, 0.25, is_local=True)
    write_json_lines(tmp_path / "ledger.jsonl", [line])
    assert recorded_usage(tmp_path) == RecordedUsage(0.0, 0, 1, 0.25, is_local=False)
