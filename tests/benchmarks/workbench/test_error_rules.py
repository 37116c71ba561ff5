"""Classes of errors, by the published rules and at a workplace of one's own."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tests.support.workplace import ANN, TABLES
from toolassay.benchmarks.workbench.judge.error_classes import (
    PUBLISHED,
    ErrorClasses,
    ErrorRules,
    addresses_in,
    classify_run,
    error_rules,
    sandbox_rules,
)
from toolassay.benchmarks.workbench.sandbox import Sandbox

SEND = 'email.send_email.func(recipient="{}", subject="s", body="b")'
LOOK = 'company_directory.find_email_address.func(name="{}")'
PLOT = 'analytics.create_plot.func(time_min="2024-02-01", time_max="{}")'
MEET = 'calendar.create_event.func(event_name="x", event_start="2024-03-04 {}")'


@pytest.fixture
def rules() -> ErrorRules:
    return sandbox_rules(Sandbox.of(TABLES, now=datetime(2024, 3, 1, 8)))


def of(
    rules: ErrorRules, calls: list[str], answer: list[str], query: str = "", *, correct: bool = False
) -> ErrorClasses:
    return classify_run(calls, answer, correct=correct, query=query, rules=rules)


def published(calls: list[str], answer: list[str], *, correct: bool = False) -> ErrorClasses:
    return of(PUBLISHED, calls, answer, correct=correct)


def test_an_address_that_stands_nowhere_is_made_up(rules: ErrorRules) -> None:
    assert of(rules, [SEND.format("ann@acme.example")], []).wrong_email
    assert of(rules, [SEND.format(ANN), SEND.format("ann@example.com")], []).wrong_email
    for known in (ANN, ANN.upper(), "dan@foxco"):
        assert not of(rules, [SEND.format(known)], []).wrong_email
    assert not of(rules, [SEND.format("new@x.org")], [], "Write to new@x.org.").wrong_email
    assert not of(rules, [SEND.format("new@x.org")], [SEND.format("new@x.org")]).wrong_email
    assert not of(rules, [LOOK.format("ann@acme")], []).wrong_email


def test_the_last_day_is_yesterday(rules: ErrorRules) -> None:
    answer = [PLOT.format("2024-02-29")]
    assert of(rules, [PLOT.format("2024-03-01")], answer).end_date_minor_error
    assert not of(rules, [PLOT.format("2024-03-02")], answer).end_date_minor_error
    assert not of(rules, [], []).end_date_minor_error


def test_a_meeting_at_any_other_hour(rules: ErrorRules) -> None:
    answer = [MEET.format("10:30:00")]
    assert of(rules, [MEET.format("16:00:00")], answer).meeting_start_time_error
    assert not of(rules, [MEET.format("16:00:00").replace("x", "y")], answer).meeting_start_time_error
    assert not of(rules, answer, answer).meeting_start_time_error
    assert not of(rules, [MEET.format("16:00:00")], [*answer, SEND.format(ANN)]).meeting_start_time_error


def test_a_folder_has_the_rules_of_its_layout(tmp_path: Path, rules: ErrorRules) -> None:
    sandbox = Sandbox.of(TABLES, now=datetime(2024, 3, 1))
    assert error_rules(tmp_path, sandbox) == PUBLISHED
    (tmp_path / "tasks.jsonl").touch()
    assert error_rules(tmp_path, sandbox) == rules


def test_a_long_text_does_not_stall_the_search_for_addresses() -> None:
    text = "a" * 200_000
    assert addresses_in([text, f"{text} bo@x.org, <cy.dee@acme.example>"]) == {
        "bo@x.org",
        "cy.dee@acme.example",
    }


def test_an_exact_match_is_of_the_calls_that_change_something() -> None:
    reading = 'calendar.search_events.func(query="x")'
    assert published([reading, SEND.format("B@c.d"), MEET], [MEET, SEND.format("b@c.d")]).exact_match
    assert not published([SEND.format("a"), SEND.format("a")], [SEND.format("a")]).exact_match
    assert published([reading], []).exact_match
    assert published(
        ["email.send_email.func(subject='a\nb')"], ["email.send_email.func(subject='a\\nb')"]
    ).exact_match
