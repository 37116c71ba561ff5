from __future__ import annotations

import dataclasses
import json
from array import array
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from toolassay.console.screen import SILENT
from toolassay.errors import UsageError
from toolassay.models import Attempt, ChatRequest, ModelError
from toolassay.runs.budget import Budget
from toolassay.runs.ledger import FIRST, Ledger, LedgerLine, Totals, booked, percentiles
from toolassay.runs.prices import LOCAL, Price
from toolassay.runs.recorded_usage import spending

PRICES = {"paid": Price(1.0, 10.0, "2026-01-01"), "own": Price(0, 0, "2026-01-01")}
ANSWER = Attempt("paid", "planner", "1", 1, "answered", 200, 100, 20, 0.5, 0.1)


def asked(item: str, text: str = "x" * 400, **parameters: Any) -> ChatRequest:
    return ChatRequest([{"role": "user", "content": text}], parameters or {"max_tokens": 50}, item=item)


def opened(folder: Path, budget: Budget | None = None) -> Ledger:
    return Ledger(folder / "ledger.jsonl", prices=PRICES, budget=budget)


def test_each_attempt_is_a_line_and_the_sums_are_there_again(tmp_path: Path) -> None:
    attempts = [
        ANSWER,
        replace(ANSWER, item="2", outcome="HTTP 429", status=429, prompt_tokens=None, completion_tokens=None),
        replace(ANSWER, item="2", number=2, seconds=1.5, first_token_seconds=None),
        replace(ANSWER, item="3", outcome="timeout", status=None, prompt_tokens=None, completion_tokens=None),
        replace(ANSWER, item="3", number=2, outcome="refused"),
        replace(ANSWER, role="reformat", model="own"),
        replace(ANSWER, role="judge", model="nobody knows"),
    ]
    with opened(tmp_path) as ledger:
        for attempt in attempts:
            ledger.after(attempt)
        before = ledger.to_json()
    lines = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert [line["cost"] for line in lines] == [0.0003, 0.0, 0.0003, None, 0.0003, 0.0, None]
    assert [(line["item"], line["attempt"]) for line in lines[:3]] == [("1", 1), ("2", 1), ("2", 2)]
    assert all(line["time"] > 1e9 for line in lines)
    assert any(line["time"] % 1 for line in lines)  # to the millisecond
    assert [line.get("status") for line in lines] == [200, 429, 200, None, 200, 200, 200]
    assert [line["seconds"] for line in lines[:3]] == [0.5, 0.5, 1.5]
    assert before["requests"] == 7 and before["retries"] == 2
    assert before["outcomes"] == {"HTTP 429": 1, "answered": 4, "refused": 1, "timeout": 1}
    assert (before["prompt_tokens"], before["completion_tokens"]) == (500, 100)
    assert before["cost_usd"] == 0.0009 and before["requests_of_unknown_cost"] == 2
    assert before["seconds"] == {"p50": 0.5, "p95": 1.5}
    assert before["first_token_seconds"] == {"p50": 0.1, "p95": 0.1}
    parts = {(part["model"], part["role"]): part for part in before["by_model_and_role"]}
    assert parts["nobody knows", "judge"]["cost_usd"] is None
    assert parts["own", "reformat"]["cost_usd"] == 0
    with opened(tmp_path) as ledger:
        assert ledger.to_json() == before


def test_a_start_with_requests_shows_what_was_used_and_asked_prices(tmp_path: Path) -> None:
    said: list[str] = []
    screen = dataclasses.replace(SILENT, say=said.append)
    prices = {"paid": PRICES["paid"], "here": LOCAL}
    for count in (2, 0):
        with Ledger(tmp_path / "ledger.jsonl", prices=prices, screen=screen) as ledger:
            for _ in range(count):
                ledger.after(ANSWER)
        assert any("requests: 2 sent" in line for line in said) == bool(count)
        assert [line.split(":")[0].split()[-1] for line in said if "price of" in line] == ["paid"] * bool(
            count
        )
        said.clear()


def test_failures_are_not_among_the_first_answers_that_end_at_the_limit(tmp_path: Path) -> None:
    said: list[str] = []
    with Ledger(
        tmp_path / "ledger.jsonl", prices=PRICES, screen=dataclasses.replace(SILENT, say=said.append)
    ) as ledger:
        for number in range(FIRST - 1):
            ledger.after(replace(ANSWER, item=str(number), cut_off=True))
        ledger.after(replace(ANSWER, outcome="HTTP 429", cut_off=False))
        assert not said
        ledger.after(replace(ANSWER, cut_off=True))
        assert "--max_tokens" in said[0]


def test_a_torn_last_line_is_cut_off_and_a_broken_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with opened(tmp_path) as ledger:
        ledger.after(ANSWER)
        ledger.after(ANSWER)
    path.write_bytes(path.read_bytes()[:-5])
    with opened(tmp_path) as ledger:
        assert ledger.totals.requests == 1
        ledger.after(ANSWER)
    assert len(path.read_text().splitlines()) == 2
    path.write_text('{"model": 7}\n' + path.read_text())
    with pytest.raises(UsageError, match=r"ledger\.jsonl:1: broken line in a ledger"), opened(tmp_path):
        pass


def test_an_answer_of_a_built_in_model_is_free_and_timed(tmp_path: Path) -> None:
    for start, name in enumerate(("offline", "nothing", "random"), start=1):
        with opened(tmp_path) as ledger:
            ledger.after(Attempt(name, "planner", "1", 1, "answered", seconds=0.25))
            assert ledger.totals.requests == len(ledger.totals.seconds) == start
            assert ledger.totals.known_cost == ledger.totals.unknown_tokens == 0
    lines = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert [(line["item"], line["seconds"], line["cost"]) for line in lines] == [("1", 0.25, 0.0)] * 3
    assert not any("count" in line for line in lines)


def test_the_offline_model_writes_one_line_a_start_for_all_that_it_generates(tmp_path: Path) -> None:
    offline = Attempt("offline", "generator", "1", 1, "answered")
    for start in range(1, 4):
        with opened(tmp_path) as ledger:
            ledger.after(offline)
            ledger.after(replace(offline, item="2"))
            ledger.after(replace(offline, item="3", outcome="failed"))
            assert ledger.totals.requests == 3 * start
            assert ledger.totals.outcomes == {"answered": 2 * start, "failed": start}
            assert ledger.totals.known_cost == ledger.totals.unknown_tokens == 0
    lines = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert [(line["outcome"], line["count"]) for line in lines] == [("answered", 2), ("failed", 1)] * 3
    assert {(line["item"], line["attempt"], line["cost"]) for line in lines} == {("", 1, 0.0)}
    with opened(tmp_path, Budget(requests=10)) as ledger:
        ledger.before("offline", asked("4"))
        with pytest.raises(ModelError, match="max_requests"):
            ledger.before("offline", asked("5"))
    assert len((tmp_path / "ledger.jsonl").read_text().splitlines()) == len(lines)


def test_cached_tokens_cost_less_and_are_in_the_sums(tmp_path: Path) -> None:
    prices = {"paid": Price(1.0, 10.0, "2026-01-01", cached=0.1)}
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, prices=prices) as ledger:
        ledger.after(replace(ANSWER, cached_tokens=60))
        ledger.after(ANSWER)
        before = ledger.to_json()
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert (first["cost"], second["cost"]) == (0.000246, 0.0003)
    assert first["cached_tokens"] == before["cached_tokens"] == 60 and "cached_tokens" not in second
    assert "$0.1 cached" in before["prices"]["paid"]
    with Ledger(path, prices=prices) as ledger:
        assert ledger.to_json() == before


def test_a_local_address_costs_nothing_and_fits_every_limit(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    lost = replace(ANSWER, outcome="timeout", status=None, prompt_tokens=None, completion_tokens=None)
    for start in (1, 2):
        with Ledger(path, prices={"paid": LOCAL}, budget=Budget(cost=0)) as ledger:
            ledger.before("paid", asked("1"))
            ledger.after(ANSWER)
            ledger.after(lost)
            assert ledger.totals.known_cost == 0 and ledger.totals.unknown_cost == 0
            assert ledger.totals.local == 2 * start
    assert {json.loads(line)["local"] for line in path.read_text().splitlines()} == {True}
    used = spending([path])
    assert used.notes["cost"].startswith("local, no price")
    cost = used.cost(tasks=1, correct=1)
    assert cost is not None and cost["usd"] == 0


def test_nothing_known_is_no_zero() -> None:
    totals = Totals()
    totals.add(LedgerLine.of(replace(ANSWER, prompt_tokens=None), None))
    assert totals.known_cost is None
    assert totals.to_json()["cost_usd"] is None
    assert totals.unknown_tokens == 1
    totals.add(LedgerLine.of(replace(ANSWER, completion_tokens=None), None))
    totals.add(LedgerLine.of(ANSWER, None))
    assert (totals.unknown_tokens, totals.unknown_cost, totals.tokens) == (2, 3, 20 + 100 + 120)


@pytest.mark.parametrize(
    ("budget", "allowed"),
    [
        (Budget(requests=3), 3),
        (Budget(tokens=450), 3),  # 100 tokens of prompt, 50 of answer
        (Budget(tokens=449), 2),
        (Budget(cost=0.0018), 3),  # 0.0001 + 0.0005 dollars each
        (Budget(cost=0.0017), 2),
        (Budget(cost=0), 0),
    ],
)
def test_what_is_in_flight_is_reserved_at_its_worst(tmp_path: Path, budget: Budget, allowed: int) -> None:
    with opened(tmp_path, budget) as ledger:
        for number in range(allowed):
            ledger.before("paid", asked(str(number)))
        with pytest.raises(ModelError, match="leaves no room") as caught:
            ledger.before("paid", asked("more"))
        assert caught.value.outcome == "budget stop"


def test_an_answer_gives_back_what_it_did_not_use(tmp_path: Path) -> None:
    with opened(tmp_path, Budget(tokens=200)) as ledger:
        ledger.before("paid", asked("1"))
        with pytest.raises(ModelError):
            ledger.before("paid", asked("2"))
        ledger.after(replace(ANSWER, prompt_tokens=40, completion_tokens=10))
        # 400 characters were 40 tokens: the next prompt is reserved at that ratio.
        ledger.before("paid", asked("2", max_tokens=110))
        ledger.after(replace(ANSWER, item="2", prompt_tokens=40, completion_tokens=10))
        with pytest.raises(ModelError):
            ledger.before("paid", asked("3", max_tokens=61))
    with opened(tmp_path, Budget(tokens=200)) as ledger:  # the sums hold over starts
        with pytest.raises(ModelError):
            ledger.before("paid", asked("3", max_tokens=1))  # 100 + 100 + 1
        ledger.before("paid", asked("3", max_completion_tokens=0))


def test_what_may_have_been_billed_counts_after_a_restart_too(tmp_path: Path) -> None:
    unknown = replace(ANSWER, outcome="timeout", status=None, prompt_tokens=None, completion_tokens=None)
    for budget in (None, Budget(tokens=300)):  # 150 each; the first start had no limit at all
        with opened(tmp_path, budget) as ledger:
            ledger.before("paid", asked("1"))
            ledger.after(unknown)
    with opened(tmp_path, Budget(tokens=300)) as ledger, pytest.raises(ModelError):
        ledger.before("paid", asked("1", text="", max_tokens=1))
    with opened(tmp_path, Budget(cost=0.0012)) as ledger, pytest.raises(ModelError):
        ledger.before("paid", asked("1", text="", max_tokens=1))
    with opened(tmp_path) as ledger:
        assert ledger.to_json()["requests_of_unknown_cost"] == 2


def test_what_never_went_out_costs_nothing(tmp_path: Path) -> None:
    nobody = replace(ANSWER, outcome="unreachable", status=None, prompt_tokens=None, completion_tokens=None)
    with opened(tmp_path, Budget(tokens=150)) as ledger:
        for _ in range(5):
            ledger.before("paid", asked("1"))
            ledger.after(nobody)
        assert ledger.to_json()["cost_usd"] == 0
        assert ledger.to_json()["requests_of_unknown_cost"] == 0


@pytest.mark.parametrize("more", [{"prompt_tokens": "many"}, {"cost": []}, {"outcome": 7}])
def test_a_line_of_something_else_is_named(tmp_path: Path, more: dict[str, Any]) -> None:
    path = tmp_path / "ledger.jsonl"
    with opened(tmp_path) as ledger:
        ledger.after(ANSWER)
    line = json.loads(path.read_text())
    path.write_text("".join(json.dumps(one) + "\n" for one in (line, line | more, line)))
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"ledger\.jsonl:2: broken line in a ledger"), opened(tmp_path):
        pass
    assert path.read_bytes() == before


def attempts_in(path: Path) -> list[Attempt]:
    """The attempts of a ledger, without what they cost."""
    names = Attempt.__struct_fields__
    return [Attempt(*(getattr(line, name) for name in names)) for line in booked(path)]


def test_a_line_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    attempts = [
        replace(ANSWER, number=3, status=201, seconds=1.23456, first_token_seconds=0.25),
        replace(ANSWER, model="own", role="judge", item="half \ud800", outcome="timeout", status=None),
        replace(ANSWER, seconds=None, custom_id="a-1"),
    ]
    with opened(tmp_path) as ledger:
        for attempt in attempts:
            ledger.after(attempt)
    read = list(booked(tmp_path / "ledger.jsonl"))
    assert attempts_in(tmp_path / "ledger.jsonl") == [replace(attempts[0], seconds=1.2346), *attempts[1:]]
    assert [(line.cost, line.at_most, line.count) for line in read] == [
        (0.0003, None, None),
        (0.0, None, None),
        (0.0003, None, None),
    ]


def test_an_older_line_says_less(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"model": "m", "role": "r", "item": "i", "outcome": "answered", "attempt": 0}\n')
    assert attempts_in(path) == [Attempt("m", "r", "i", 1, "answered")]
    path.write_text('{"model": "m", "role": "r", "item": "i", "outcome": "answered"}\n')
    assert attempts_in(path) == [Attempt("m", "r", "i", 1, "answered")]
    assert list(booked(tmp_path / "none.jsonl")) == []


def test_ledgers_beside_count_in_the_budget_alone(tmp_path: Path) -> None:
    unknown = replace(ANSWER, outcome="timeout", status=None, prompt_tokens=None, completion_tokens=None)
    beside = tmp_path / "beside"
    beside.mkdir()
    with opened(beside) as ledger:
        ledger.before("paid", asked("1"))
        ledger.after(unknown)  # 150 tokens at most
        ledger.after(Attempt("offline", "planner", "1", 1, "answered"))
    for budget, fits in (
        (Budget(tokens=300), True),
        (Budget(tokens=299), False),
        (Budget(requests=3), True),
        (Budget(requests=2), False),
    ):
        other = [beside / "ledger.jsonl"]
        with Ledger(tmp_path / "own.jsonl", prices=PRICES, budget=budget, beside=other) as ledger:
            assert ledger.totals.requests == 0
            if fits:
                ledger.before("paid", asked("2"))
            else:
                with pytest.raises(ModelError, match="leaves no room"):
                    ledger.before("paid", asked("2"))


def test_a_free_model_that_is_counted_uses_no_tokens_either(tmp_path: Path) -> None:
    with opened(tmp_path, Budget(requests=2, tokens=0, cost=0)) as ledger:
        ledger.before("offline", asked("1", max_tokens=50))
        ledger.before("offline", asked("2", max_tokens=50))
        with pytest.raises(ModelError, match="max_requests 2 leaves"):
            ledger.before("offline", asked("3"))


def test_percentiles_are_values_from_above() -> None:
    values = array("f", [5, 1, 4, 2, 3])
    assert percentiles(values) == {"p50": 3.0, "p95": 5.0}
    assert percentiles(values, (20, 21, 100)) == {"p20": 1.0, "p21": 2.0, "p100": 5.0}
    assert percentiles(array("d", [1 / 3])) == {"p50": 0.3333, "p95": 0.3333}
    assert percentiles(array("f")) is None


def test_thinking_and_queueing_are_in_the_sums_and_old_lines_lack_them(tmp_path: Path) -> None:
    thought = replace(ANSWER, reasoning_tokens=15, queued_seconds=2.0, seconds=2.0, completion_tokens=20)
    spent = replace(thought, item="2", cut_off=True, only_thinking=True, first_token_seconds=None)
    with opened(tmp_path) as ledger:
        ledger.after(ANSWER)
        ledger.after(thought)
        ledger.after(spent)
        sums = ledger.to_json()
    plain, *rest = (json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines())
    assert not {"reasoning_tokens", "queued_seconds", "cut_off", "only_thinking"} & plain.keys()
    assert [line.get("cut_off") for line in rest] == [None, True]
    assert (sums["reasoning_tokens"], sums["answers_cut_off"]) == (30, 1)
    assert sums["queued_seconds"] == {"p50": 2.0, "p95": 2.0}
    assert sums["seconds_per_output_token"] == {"p50": 0.021053, "p95": 0.1}  # (0.5 - 0.1) / 19, 1.9 / 19
    assert attempts_in(tmp_path / "ledger.jsonl") == [ANSWER, thought, spent]
    with opened(tmp_path) as again:
        assert again.to_json() == sums
