from __future__ import annotations

import pytest

from toolassay.runs.budget import Estimate
from toolassay.runs.prices import Price

PRICE = Price(1.0, 10.0, "2026-01-01")


def test_without_answers_four_characters_are_a_token_and_answers_are_as_long_as_they_may_be() -> None:
    estimate = Estimate(limit=50)
    for characters in (400, 800):
        estimate.add(characters)
    assert (estimate.requests, estimate.prompt_tokens) == (2, 300)
    assert (estimate.most_completion_tokens, estimate.likely_completion_tokens) == (100, None)
    assert estimate.cost(PRICE, most=True) == pytest.approx((300 + 100 * 10) / 1e6)
    assert estimate.cost(PRICE, most=False) == estimate.cost(PRICE, most=True)


def test_answers_teach_both() -> None:
    estimate = Estimate(limit=50)
    estimate.add(400)
    estimate.answered(400, 200, 10)
    estimate.answered(200, 100, 20)
    estimate.answered(10**6, None, 7)
    estimate.answered(10**6, 0, 7)
    assert (estimate.answers, estimate.prompt_tokens, estimate.likely_completion_tokens) == (2, 200, 15)
    assert estimate.cost(PRICE, most=False) == pytest.approx((200 + 150) / 1e6)


def test_prompts_that_were_not_measured_are_like_the_others() -> None:
    estimate = Estimate()
    assert estimate.prompt_tokens == 0
    estimate.add(100)
    estimate.add(300)
    estimate.add()
    assert (estimate.requests, estimate.prompt_tokens) == (3, 150)


def test_a_price_that_rises_with_the_prompt_is_taken_request_by_request() -> None:
    class Steps:
        words, local = "steps", False

        def of(self, prompt: float, completion: float, cached: int | None = None) -> float:
            return prompt * (1.0 if prompt <= 100 else 2.0)

    estimate = Estimate(limit=10)
    for _ in range(5):
        estimate.add(400)
    assert estimate.cost(Steps(), most=True) == 500
    assert estimate.expected(Steps()).cost == 500


def test_an_agent_repeats_the_conversation_in_each_request() -> None:
    estimate = Estimate(limit=10)
    estimate.add(400)
    estimate.add(400)
    most = estimate.expected(PRICE, answers=3)
    assert (most.requests, most.completion_tokens) == (6, 60)
    assert most.prompt_tokens == 2 * (100 + 110 + 120)
    assert most.cost == pytest.approx(660 * 1e-6 + 60 * 10e-6)
    assert estimate.expected(None).cost is None
    assert Estimate().expected(PRICE).cost == 0
