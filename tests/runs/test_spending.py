"""What a run used, by its ledgers and journals."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from toolassay.errors import UsageError
from toolassay.models import Attempt, ChatRequest
from toolassay.runs.ledger import Ledger
from toolassay.runs.prices import Price
from toolassay.runs.recorded_usage import (
    recorded_journal,
    spending,
    usage,
    usage_by_item,
)

PRICES = {"paid": Price(1.0, 10.0, "2026-01-01")}
ANSWER = Attempt("paid", "agent", "a", 1, "answered", 200, 100, 20, 0.5)


def ledger(path: Path, *attempts: Attempt) -> Path:
    with Ledger(path, prices=PRICES) as books:
        for attempt in attempts:
            books.after(attempt)
    return path


def test_a_task_is_all_its_answers_and_failures_cost_too(tmp_path: Path) -> None:
    failed = replace(ANSWER, outcome="HTTP 429", status=429, prompt_tokens=None, completion_tokens=None)
    charged = replace(ANSWER, outcome="truncated", completion_tokens=10)
    first = ledger(
        tmp_path / "0.jsonl",
        *(ANSWER, failed, replace(ANSWER, number=2, seconds=1.0)),
        *(replace(ANSWER, item="b", seconds=4.0), replace(charged, item="b")),
        replace(failed, item="c"),
    )
    second = ledger(tmp_path / "1.jsonl", replace(ANSWER, seconds=2.5))
    found = spending([first, second, tmp_path / "none.jsonl"])
    cost, latency = found.cost(tasks=99, correct=2), found.latency()
    assert cost and latency and found.notes == {}
    usd = (5 * 100 * 1 + (4 * 20 + 10) * 10) / 1e6
    assert cost["usd"] == cost["usd_at_most"] == pytest.approx(usd)
    assert cost["tasks"] == 4  # a, b and c, and a again
    assert cost["usd_per_task"] == pytest.approx(usd / 4)
    assert cost["usd_per_1000_tasks"] == pytest.approx(usd * 250)
    assert cost["usd_per_correct_task"] == pytest.approx(usd / 2)
    assert (cost["requests"], cost["retries"]) == (7, 1)
    assert cost["failures"] == {"HTTP 429": 2, "truncated": 1}
    assert (cost["prompt_tokens"], cost["completion_tokens"]) == (500, 90)
    assert latency["tasks"] == 3  # c has no answer
    assert latency["seconds_per_task"] == {"mean": 2.6667, "p50": 2.5, "p90": 4.0, "p95": 4.0, "p99": 4.0}
    assert latency["answers_per_task"]["mean"] == 1.3333 and latency["answers_per_task"]["p90"] == 2


def test_an_unknown_figure_is_null_with_a_reason(tmp_path: Path) -> None:
    nothing = spending([tmp_path / "none.jsonl"])
    assert nothing.cost(tasks=3, correct=1) is nothing.latency() is None
    assert nothing.notes.keys() == {"cost", "latency"} and "no ledger" in nothing.notes["cost"]

    unpriced = spending([ledger(tmp_path / "a.jsonl", replace(ANSWER, model="own"))])
    cost = unpriced.cost(tasks=1, correct=1)
    assert cost and cost["prompt_tokens"] == 100
    assert [cost[name] for name in cost if name.startswith("usd")] == [None] * 5
    assert unpriced.notes == {"cost": "no price is known for the model: run with --prices FILE"}
    assert unpriced.latency()

    silent = replace(ANSWER, model="own", prompt_tokens=None, completion_tokens=None)
    cost = spending([ledger(tmp_path / "b.jsonl", silent)]).cost(tasks=1, correct=0)
    assert cost and cost["prompt_tokens"] is cost["completion_tokens"] is None
    assert cost["answers_of_unknown_tokens"] == 1


OFFLINE = replace(ANSWER, model="offline", prompt_tokens=None, completion_tokens=None)


def test_a_model_without_a_server_is_free_and_its_time_is_local(tmp_path: Path) -> None:
    found = spending([ledger(tmp_path / "a.jsonl", OFFLINE, replace(OFFLINE, item="2"))])
    cost, latency = found.cost(tasks=2, correct=1), found.latency()
    assert cost and (cost["tasks"], cost["usd"], cost["usd_per_1000_tasks"]) == (2, 0.0, 0.0)
    assert latency and latency["local"] is True and latency["tasks"] == 2
    assert latency["seconds_per_task"]["p50"] == OFFLINE.seconds and found.notes == {}


def test_the_time_of_a_server_is_not_local_and_a_mixture_is_named(tmp_path: Path) -> None:
    served = spending([ledger(tmp_path / "a.jsonl", ANSWER)]).latency()
    assert served and served["local"] is False
    mixed = spending([ledger(tmp_path / "b.jsonl", ANSWER, OFFLINE)])
    latency = mixed.latency()
    assert latency and latency["local"] is False
    assert "1 of 2 answers are local" in mixed.notes["latency"]


def test_what_was_not_said_is_counted_at_its_worst_and_added_up(tmp_path: Path) -> None:
    lost = replace(ANSWER, outcome="timeout", status=None, prompt_tokens=None, completion_tokens=None)
    request = ChatRequest(
        [{"role": "user", "content": "x" * 400}], {"max_tokens": 50}, role="agent", item="a"
    )
    paths = [tmp_path / "0.jsonl", tmp_path / "1.jsonl"]
    for path in paths:
        with Ledger(path, prices=PRICES) as books:
            for attempt in (lost, ANSWER, lost):
                books.before("paid", request)
                books.after(attempt)
    found = spending(paths)
    cost = found.cost(tasks=9, correct=2)
    assert cost and (cost["usd"], cost["usd_per_correct_task"], cost["usd_per_task"]) == (
        0.0006,
        0.0003,
        0.0003,
    )
    assert cost["usd_at_most"] == pytest.approx(0.0006 + 4 * 0.0006)
    assert found.notes == {
        "cost": "usd excludes 4 requests of unknown cost; usd_at_most includes their worst case"
    }
    assert (found.ledgers, cost["tasks"]) == (2, 2)


def test_the_use_of_a_run_is_that_of_the_trials_that_have_a_ledger(tmp_path: Path) -> None:
    offline = replace(
        ANSWER, model="offline", role="generator", prompt_tokens=None, completion_tokens=None
    )  # calls of this role have one line a start
    ledgers = [tmp_path / f"{number}.jsonl" for number in range(3)]
    ledger(ledgers[0], offline, replace(offline, outcome="failed"))
    ledger(ledgers[2], offline)
    found = usage(ledgers, tasks=[1, 10, 100], correct=[2, 20, 200])
    assert found.keys() == {"cost", "latency", "notes"}
    assert (found["cost"]["tasks"], found["cost"]["requests"], found["cost"]["failures"]) == (
        101,
        3,
        {"failed": 1},
    )
    assert found["cost"]["usd_per_correct_task"] == 0.0 and found["latency"] is None
    assert found["notes"].keys() == {"latency"}
    ledger(ledgers[1], ANSWER)
    found = usage(ledgers, tasks=[1, 10, 100], correct=[0, 0, 0])
    assert (found["cost"]["tasks"], found["cost"]["usd_per_correct_task"]) == (111, None)
    assert found["latency"]["tasks"] == 1 and found["notes"] == {}
    nothing = usage([tmp_path / "none.jsonl"], tasks=[1], correct=[1])
    reason = "there is no ledger beside the predictions"
    assert nothing == {"cost": None, "latency": None, "notes": {"cost": reason, "latency": reason}}


def test_the_times_of_answers_are_apart_from_the_wait_before_them(tmp_path: Path) -> None:
    streamed = replace(
        ANSWER,
        seconds=2.0,
        first_token_seconds=1.0,
        completion_tokens=11,
        queued_seconds=9.0,
        reasoning_tokens=5,
    )
    found = spending(
        [ledger(tmp_path / "a.jsonl", streamed, replace(streamed, outcome="HTTP 500", status=500))]
    )
    cost, latency = found.cost(tasks=1, correct=1), found.latency()
    assert cost and latency
    assert latency["seconds_per_task"]["p95"] == 2.0
    assert latency["seconds_per_answer"] == {"p50": 2.0, "p95": 2.0}
    assert latency["first_token_seconds"] == {"p50": 1.0, "p95": 1.0}
    assert latency["seconds_per_output_token"] == {"p50": 0.1, "p95": 0.1}
    assert latency["queued_seconds"] == {"p50": 9.0, "p95": 9.0}
    assert (cost["completion_tokens"], cost["reasoning_tokens"]) == (22, 10)
    whole = spending([ledger(tmp_path / "b.jsonl", ANSWER)]).latency()
    assert whole and whole["first_token_seconds"] is whole["queued_seconds"] is None


def test_an_unknown_time_is_no_time(tmp_path: Path) -> None:
    batched = replace(ANSWER, item="b", seconds=None)
    alone = spending([ledger(tmp_path / "a.jsonl", batched)])
    assert alone.latency() is None
    assert alone.notes.keys() == {"latency"} and "1 of 1" in alone.notes["latency"]
    # A task with an answer of unknown time has no time; the other one counts.
    mixed = spending([ledger(tmp_path / "b.jsonl", ANSWER, batched, replace(ANSWER, item="b", seconds=9.0))])
    latency = mixed.latency()
    assert latency and latency["tasks"] == 1 and latency["seconds_per_task"]["mean"] == 0.5
    assert latency["answers_per_task"]["mean"] == 1
    assert "1 of 3 answers came in a batch" in mixed.notes["latency"]
    used = usage_by_item(tmp_path / "b.jsonl")
    assert (used["a"].seconds, used["b"].seconds) == (0.5, None) and used["b"].is_answered


def test_a_missing_journal_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no journal"):
        recorded_journal(tmp_path / "none.jsonl")
