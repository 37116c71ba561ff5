from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.models import ModelError
from toolassay.models.retry import (
    LONGEST_BACKOFF,
    LONGEST_RETRY_AFTER,
    Breaker,
    Tries,
    failed_answer,
    failure_inside,
    retry_after_seconds,
    retry_delay,
)

OVERFLOW = (
    "maximum context length is 4096 tokens. However, you requested {} tokens ({} in the messages, "
    "{} in the completion)"
)
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


def test_an_unreachable_server_is_tried_up_to_the_cap() -> None:
    assert tries([ModelError("cannot reach", transient=True, kind="unreachable")]) == 8


@pytest.mark.parametrize(
    ("status", "text", "transient", "stops", "outcome"),
    [
        (401, "wrong key", False, True, "provider error"),
        (403, "not here", False, False, "provider error"),
        (400, "temperature", False, False, "provider error"),
        (400, "maximum context length is 4096", False, False, "context overflow"),
        (400, OVERFLOW.format(5000, 4000, 1000), False, False, "context overflow"),
        (400, OVERFLOW.format(91020, 1020, 90000), False, True, "provider error"),
        (429, "slow down", True, False, "provider error"),
        (429, '{"error": {"code": "insufficient_quota", "message": "x"}}', False, True, "provider error"),
        (502, "<html>", True, False, "provider error"),
    ],
)
def test_what_a_status_means(status: int, text: str, transient: bool, stops: bool, outcome: str) -> None:
    error = failure(status, text)
    assert (error.transient, error.stops_run, error.outcome) == (transient, stops, outcome)
    assert (error.status, error.kind) == (status, f"HTTP {status}")


@given(st.integers(1, 5000))
def test_waits_grow_and_end(number: int) -> None:
    error = failure(500)
    longest = min(2 ** (number - 1), LONGEST_BACKOFF)
    assert longest / 2 <= retry_delay(number, error) <= longest


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


def test_a_restart_breaks_all_connections_and_passes() -> None:
    time = [100.0]
    breaker = Breaker(seconds=0, clock=lambda: time[0])
    broken = ModelError("reset", transient=True, kind="reset")
    assert not any(breaker.failed(broken, 99.0) for _ in range(200))


def test_failures_with_an_answer_do_not_count() -> None:
    breaker = Breaker(seconds=0)
    assert not any(breaker.failed(failure(500), float("inf")) for _ in range(100))


def test_the_wait_asked_for_has_a_tenth_of_the_backoff_on_top() -> None:
    def waits(number: int, asked: str) -> list[float]:
        return [retry_delay(number, failure(429, retry_after=asked)) for _ in range(200)]

    assert all(30 + 0.2 <= wait <= 30 + 0.4 for wait in waits(3, "30"))  # backoff: 2 to 4 s
    assert set(waits(5, "1")) == {1.1}  # backoff: 8 to 16 s, but no more than what was asked for
    assert all(LONGEST_RETRY_AFTER + 3 <= wait <= LONGEST_RETRY_AFTER + 6 for wait in waits(99, "9999"))


def test_waits_differ_within_their_bounds() -> None:
    waits = [retry_delay(3, failure(500)) for _ in range(300)]
    assert 2 <= min(waits) < 2.2 and 3.8 < max(waits) <= 4
    assert all(0.5 <= retry_delay(1, failure(500)) <= 1 for _ in range(100))


def test_the_count_restarts_when_others_are_answered() -> None:
    budget = Tries(most=3)
    assert [budget.again(failure(429), others_answered=number == 2) for number in range(1, 6)] == [
        *(True, True, True, True),
        False,
    ]
    assert budget.number == 5
    lost = Tries(most=3)
    assert [lost.again(failure(500, f"{number}"), others_answered=True) for number in range(3)] == [
        *(True, True),
        False,
    ]


def test_identical_failures_count_only_in_a_row() -> None:
    budget = Tries(most=20)
    same, other = failure(500, "same"), failure(500, "other")
    assert [budget.again(error) for error in (same, same, same, other, same, same, same, same)] == [
        *(True,) * 7,
        False,
    ]


def test_the_breaker_opens_at_the_number_and_after_the_seconds_it_is_given() -> None:
    gone = ModelError("cannot reach", transient=True, kind="unreachable")

    def opened(failures: int, seconds: float, step: float) -> int:
        time = [1000.0]
        breaker = Breaker(failures, seconds, clock=lambda: time[0])
        for number in range(1, 100):
            if breaker.failed(gone, time[0]):
                return number
            time[0] += step
        return 0

    assert opened(5, 0, 1) == 5
    assert opened(5, 10, 1) == 11
    assert opened(1, 0, 1) == 1

    time = [1000.0]
    breaker = Breaker(2, 5, clock=lambda: time[0])
    assert not breaker.failed(gone, 1000.0)
    breaker.answered()
    time[0] = 1010.0
    assert not breaker.failed(gone, 1010.0)  # the first of a new row
    time[0] = 1015.0
    assert breaker.failed(gone, 1010.0)


def test_an_error_inside_an_answer_may_cost_whatever_its_code() -> None:
    assert failure_inside({"message": "no memory", "code": 502}).may_cost
    assert not failure(502, "no memory").may_cost
