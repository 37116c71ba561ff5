from __future__ import annotations

import pytest

from toolassay.benchmarks.workbench.judge.error_classes import ErrorClasses, classify_run

PLOT = 'analytics.create_plot.func(time_min="2023-11-01", time_max="{}")'
MEET = 'calendar.create_event.func(event_start="2023-12-01 {}")'
SEND = 'email.send_email.func(recipient="{}")'


def of(calls: list[str], answer: list[str], *, correct: bool = False) -> ErrorClasses:
    return classify_run(calls, answer, correct=correct)


def test_an_exact_match_is_of_the_calls_that_change_something() -> None:
    reading = 'calendar.search_events.func(query="x")'
    assert of([reading, SEND.format("B@c.d"), MEET], [MEET, SEND.format("b@c.d")]).exact_match
    assert not of([SEND.format("a"), SEND.format("a")], [SEND.format("a")]).exact_match
    assert of([reading], []).exact_match
    assert of(
        ["email.send_email.func(subject='a\nb')"], ["email.send_email.func(subject='a\\nb')"]
    ).exact_match


def test_no_actions() -> None:
    assert of([], [], correct=True).no_actions
    assert not of(["nonsense"], []).no_actions


@pytest.mark.parametrize(
    ("address", "correct", "wrong"),
    [("sam@example.com", False, True), ("sam@example.com", True, False), ("a@atlas.com", False, False)],
)
def test_a_wrong_address(address: str, correct: bool, wrong: bool) -> None:
    assert of([SEND.format(address)], [], correct=correct).wrong_email is wrong
    assert not of([SEND.format(address), SEND.format("a@atlas.com")], []).wrong_email


def test_a_period_that_ends_a_day_late() -> None:
    answer = [PLOT.format("2023-11-29")]
    assert of([PLOT.format("2023-11-30"), "more"], answer).end_date_minor_error
    assert not of([PLOT.format("2023-11-30")], [*answer, SEND]).end_date_minor_error
    assert not of([PLOT.format("2023-11-28")], answer).end_date_minor_error
    assert not of([PLOT.format("2023-11-30")], answer, correct=True).end_date_minor_error
    assert not of(["x"], []).end_date_minor_error
