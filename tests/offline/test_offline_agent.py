"""What the offline agent reads in requests, and that it has nothing but its tools."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from toolassay.offline.agent import next_turn
from toolassay.offline.model_tasks import AgentTask

NOW = datetime(2023, 11, 30)


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
