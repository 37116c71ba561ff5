from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.models import ModelError
from toolassay.models.failures import failed_answer, retry_after_seconds
from toolassay.models.retry import LONGEST_BACKOFF, LONGEST_RETRY_AFTER, Breaker, Tries, wait_before

PLACE = "http://host/v1/chat/completions"


def failure(status: int, text: str = "no", retry_after: str | None = None) -> ModelError:
    return failed_answer(status, text, retry_after, PLACE)


def tries(errors: list[ModelError], **caps: int) -> int:
    """How many tries meeting these failures takes, the last one again and again."""
    budget = Tries(**caps)
    number = 0
    while budget.again(errors[min(number, len(errors) - 1)]):
        number += 1
    return budget.number


@pytest.mark.parametrize(("status", "expected"), [(429, 8), (500, 4), (503, 4), (408, 4), (400, 1), (422, 1)])
def test_how_often_a_status_is_tried(status: int, expected: int) -> None:
    assert tries([failure(status)]) == expected


def test_failures_that_differ_are_tried_until_the_cap() -> None:
    assert tries([failure(500, f"request {number}") for number in range(20)]) == 8
    assert tries([failure(500, f"request {number}") for number in range(20)], most=3) == 3


def test_nobody_there_is_tried_until_the_cap() -> None:
    assert tries([ModelError("cannot reach", transient=True, kind="unreachable")]) == 8


@pytest.mark.parametrize(
    ("status", "text", "transient", "stops", "outcome"),
    [
        (401, "wrong key", False, True, "provider error"),
        (402, "pay", False, True, "provider error"),
        (403, "not here", False, False, "provider error"),
        (404, "no such model", False, True, "provider error"),
        (400, "temperature", False, False, "provider error"),
        (422, "temperature", False, False, "provider error"),
        (400, "maximum context length is 4096", False, False, "context overflow"),
        (400, "exceeds the maximum input length", False, False, "context overflow"),
        (429, "slow down", True, False, "provider error"),
        (429, '{"error": {"code": "insufficient_quota", "message": "x"}}', False, True, "provider error"),
        (502, "<html>", True, False, "provider error"),
    ],
)
def test_what_a_status_means(status: int, text: str, transient: bool, stops: bool, outcome: str) -> None:
    error = failure(status, text)
    assert (error.transient, error.stops_run, error.outcome) == (transient, stops, outcome)
    assert (error.status, error.kind) == (status, f"HTTP {status}")


@given(st.integers(1, 60))
def test_waits_grow_and_end(number: int) -> None:
    error = failure(500)
    longest = min(2.0 ** (number - 1), LONGEST_BACKOFF)
    assert longest / 2 <= wait_before(number, error) <= longest


def test_thousands_of_tries_are_no_overflow() -> None:
    assert wait_before(5000, failure(500)) <= LONGEST_BACKOFF


@given(st.floats(0, 1e9), st.integers(1, 20))
def test_the_server_says_how_long_to_wait(asked: float, number: int) -> None:
    waited = wait_before(number, failure(429, retry_after=repr(asked)))
    assert min(asked, LONGEST_RETRY_AFTER) <= waited <= min(asked, LONGEST_RETRY_AFTER) + 6.1


def test_retry_after_as_a_date() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=30)
    seconds = retry_after_seconds(format_datetime(soon, usegmt=True))
    assert seconds is not None
    assert 28 < seconds <= 30
    assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


@given(st.text())
def test_any_retry_after_is_a_wait_or_nothing(text: str) -> None:
    seconds = retry_after_seconds(text)
    assert seconds is None or 0 <= seconds < float("inf")


def test_a_dead_server_is_noticed() -> None:
    time = [0.0]
    breaker = Breaker(clock=lambda: time[0])
    gone = ModelError("cannot reach", transient=True, kind="unreachable")
    opened = []
    for number in range(40):
        time[0] = float(number)
        opened.append(breaker.failed(gone, time[0]))
    assert opened.index(True) == 30  # over 20 failures, but not before 30 s


def test_a_restart_breaks_all_connections_and_passes() -> None:
    time = [100.0]
    breaker = Breaker(seconds=0, clock=lambda: time[0])
    broken = ModelError("reset", transient=True, kind="reset")
    assert not any(breaker.failed(broken, 99.0) for _ in range(200))


def test_one_answer_in_between_is_enough() -> None:
    breaker = Breaker(seconds=0)
    gone = ModelError("cannot reach", transient=True, kind="unreachable")
    for number in range(100):
        if number % 15 == 0:
            breaker.heard()
        assert not breaker.failed(gone, float("inf"))


def test_failures_with_an_answer_do_not_count() -> None:
    breaker = Breaker(seconds=0)
    assert not any(breaker.failed(failure(500), float("inf")) for _ in range(100))
