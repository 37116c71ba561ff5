"""What a request is counted with before and after it is sent."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from toolassay.models import Attempt, ChatRequest, ModelError
from toolassay.models.protocol import OfferedTools
from toolassay.runs.budget import (
    COMPLETION,
    Budget,
    BudgetKeeper,
    Outstanding,
    Use,
    completion_limit,
    size_of,
)
from toolassay.runs.prices import Price

ANSWER = Attempt("paid", "planner", "1", 1, "answered", 200, 100, 20, 0.5, 0.1)
LOST = replace(ANSWER, outcome="timeout", status=None, prompt_tokens=None, completion_tokens=None)
TOOLS = [{"type": "function", "function": {"name": "ä"}}]


def asked(text: str, **parameters: Any) -> ChatRequest:
    return ChatRequest(
        [{"role": "user", "content": text}], parameters or {"max_tokens": 50}, role="planner", item="1"
    )


def keeper(**limits: float) -> BudgetKeeper:
    budget = Budget(**limits)  # type: ignore[arg-type]
    return BudgetKeeper(budget, {"paid": Price(1.0, 10.0, "2026-01-01")})


def figures(use: Use | None) -> tuple[float, ...]:
    assert use is not None
    return (use.requests, use.tokens, use.cost)


@pytest.mark.parametrize(
    ("messages", "parameters", "size"),
    [
        ([{"role": "user", "content": "four"}], {}, 4),
        ([{"role": "user", "content": "fünf"}, {"role": "user", "content": "图"}], {}, 5 + 3),
        ([{"role": "user", "content": "\ud800"}], {}, 1),
        ([{"role": "user", "content": ["ä"]}], {}, len('{"role": "user", "content": ["ä"]}') + 1),
        (
            [{"role": "user", "content": "ä", "name": "x"}],
            {},
            len('{"role": "user", "content": "ä", "name": "x"}') + 1,
        ),
        ([], {"tools": TOOLS}, len('[{"type": "function", "function": {"name": "ä"}}]') + 1),
        ([], {"tools": OfferedTools(TOOLS)}, len('[{"type": "function", "function": {"name": "ä"}}]') + 1),
        ([{"role": "user", "content": "four"}], {"tools": []}, 4),
        ([{"role": "user", "content": "four"}], {"tools": OfferedTools(TOOLS)}, 4 + 50),
    ],
)
def test_the_bytes_of_a_prompt(messages: list[dict[str, Any]], parameters: dict[str, Any], size: int) -> None:
    assert size_of(ChatRequest(messages, parameters)) == size


@pytest.mark.parametrize(
    ("parameters", "tokens"),
    [
        ({}, COMPLETION),
        ({"max_tokens": 0}, 0),
        ({"max_tokens": 5, "max_completion_tokens": 3}, 5),
        ({"max_tokens": 5, "n": 3}, 15),
        ({"max_tokens": 5, "n": 0}, 5),
        ({"max_tokens": 5, "n": "3"}, 5),
        ({"max_tokens": 5.5}, COMPLETION),
        ({"max_tokens": False}, COMPLETION),
    ],
)
def test_the_longest_answer(parameters: dict[str, Any], tokens: int) -> None:
    assert completion_limit(parameters) == tokens


def test_a_request_is_reserved_until_it_is_settled() -> None:
    books = keeper(tokens=1000, cost=1)
    books.reserve("paid", asked("x" * 400))
    assert books.settle(ANSWER, 0.0003) is None
    assert books.spent == Use(1, 120, 0.0003)
    books.reserve("paid", asked("x" * 400))
    assert figures(books.settle(LOST, None)) == pytest.approx((1, 150, 0.0006))
    assert figures(books.spent) == pytest.approx((2, 270, 0.0009))
    assert books.settle(replace(LOST, status=500), None) is None
    assert books.settle(LOST, None) is None
    assert books.settle(LOST, None, Use(1, 7, 0.5)) == Use(1, 7, 0.5)
    assert figures(books.spent) == pytest.approx((5, 277, 0.5009))
    books.settle(ANSWER, None)
    assert figures(books.spent) == pytest.approx((6, 397, 0.5009))
    books.reserve("paid", asked("x" * 400, max_tokens=503))  # nothing else is reserved any more
    with pytest.raises(ModelError, match="--max_tokens_total 1000 leaves no room"):
        books.reserve("paid", asked("x", max_tokens=0))


def test_answers_without_all_their_tokens_are_counted_at_the_worst() -> None:
    books = keeper(tokens=1000)
    for attempt in (replace(ANSWER, prompt_tokens=None), replace(ANSWER, completion_tokens=None)):
        books.reserve("paid", asked("x" * 400))
        worst = books.settle(attempt, None)
        assert worst is not None and worst.tokens == 150
    assert books.spent.tokens == 300


def test_a_model_without_a_price_costs_nothing_in_advance() -> None:
    books = keeper(cost=0.0001)
    books.reserve("own", asked("x" * 10_000))
    assert books.settle(replace(LOST, model="own"), None) == Use(1, 2550, 0.0)


def test_what_a_token_is_long_is_learned_by_model_and_role() -> None:
    def reserved(books: BudgetKeeper, text: str, model: str = "paid") -> float:
        books.reserve(model, asked(text, max_tokens=0))
        worst = books.settle(replace(LOST, model=model), None)
        assert worst is not None
        return worst.tokens

    books = keeper()
    assert reserved(books, "x" * 8) == 2
    books.reserve("paid", asked("x" * 100))
    books.settle(replace(ANSWER, prompt_tokens=50), None)
    assert reserved(books, "x" * 8) == 4
    assert reserved(books, "x" * 8, "other") == 2
    books.reserve("paid", asked(""))
    books.settle(replace(ANSWER, prompt_tokens=50), None)  # nothing is learned of an empty prompt
    books.reserve("paid", asked("x" * 8))
    books.settle(replace(ANSWER, prompt_tokens=0), None)
    assert reserved(books, "x" * 8) == 4
    books.reserve("paid", asked("x"))
    books.settle(replace(ANSWER, prompt_tokens=1), None)
    assert reserved(books, "x" * 8) == 8


def test_no_limit_is_no_budget() -> None:
    assert not Budget()
    assert Budget(cost=0) and Budget(tokens=0) and Budget(requests=0)


def test_what_was_sent_before_is_reserved_whatever_the_limit_is() -> None:
    budget = keeper(requests=2)
    for _ in range(3):
        budget.commit("paid", Outstanding("planner", "1", 4, 50))
    with pytest.raises(ModelError, match="--max_requests 2 leaves no room"):
        budget.reserve("paid", asked("four"))
    for _ in range(3):
        budget.settle(ANSWER, 0.1)
    assert figures(budget.spent) == pytest.approx((3, 360, 0.3))
    assert figures(budget._reserved) == pytest.approx((0, 0, 0))
