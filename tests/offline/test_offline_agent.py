"""What the offline agent reads in requests, and that it has nothing but its tools."""

from __future__ import annotations

import json
from datetime import date, datetime

import pytest

from toolassay.offline.agent import next_turn
from toolassay.offline.agent.parsed_request import ParsedRequest, people_in
from toolassay.offline.model_tasks import AgentTask

NOW = datetime(2023, 11, 30)


@pytest.mark.parametrize(
    ("request_", "days"),
    [
        ("Between December 5 and yesterday", [date(2023, 12, 5), date(2023, 11, 29)]),
        ("on January 2, tomorrow", [date(2024, 1, 2), date(2023, 12, 1)]),
        ('write "until May 3" today', [date(2023, 11, 30)]),
        ("on February 30", []),
    ],
)
def test_days(request_: str, days: list[date]) -> None:
    assert ParsedRequest(request_, NOW).days == days


def test_lengths_and_figures() -> None:
    assert ParsedRequest("start an hour and a half later", NOW).minutes == 90
    assert ParsedRequest("a two-hour meeting at noon", NOW).minutes == 120
    assert ParsedRequest("a two-hour meeting at 2:30 pm, or noon", NOW).times == ["14:30:00", "12:00:00"]
    assert ParsedRequest("if it was below 12.5 in the last 20 days", NOW).threshold == (False, 12.5)
    assert ParsedRequest("more than 20% higher", NOW).threshold is None


def test_people_are_named_outside_of_quotes() -> None:
    addresses = ["ann.lee@x.example", "bo.ray@x.example", "cy.dee@x.example"]
    assert people_in('Tell Bo and Ann "hello Cy"', addresses) == (addresses[1], addresses[0])


def test_everything_is_looked_up() -> None:
    first = next_turn(AgentTask("Delete the newest e-mail that Ann sent me.", NOW))
    (call,) = first.tool_calls
    assert call.name == "company_directory__find_email_address"
    told = (json.dumps(["ann.lee@x.example"]),)
    (call,) = next_turn(AgentTask("Delete the newest e-mail that Ann sent me.", NOW, told)).tool_calls
    assert (call.name, call.id) == ("email__search_emails", "call_1")
    react = next_turn(AgentTask("Delete the newest e-mail that Ann sent me.", NOW, told, react=True))
    assert '"action": "email.search_emails"' in react.text


@pytest.mark.parametrize(
    "request_",
    [
        "",
        "What is the weather?",
        "Cancel it on November 99",
        "plot",
        "Reply to Ann's last e-mail.",
    ],
)
def test_what_no_rule_fits_is_left_alone(request_: str) -> None:
    said = next_turn(AgentTask(request_, NOW, ('["ann.lee@x.example"]',)))
    assert said.text and not said.tool_calls


def test_an_event_that_is_called_otherwise_is_left_alone() -> None:
    row = {"event_id": "1", "event_name": "Review and more", "event_start": "2023-12-01 09:00:00"}
    told = ("[]", json.dumps([row]))
    said = next_turn(AgentTask('Please cancel my next "Review".', NOW, told))
    assert said.text and not said.tool_calls
