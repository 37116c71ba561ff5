"""What an agent does to its sandbox, over turns between which the sandbox takes no memory."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolassay.benchmarks.workbench.agents.episode import ToolExecutor
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import TOOLS, tools_for
from toolassay.models import ToolCall

MAIL = {"recipient": "ann.lee@acme.example", "subject": "Hello", "body": "x" * 9_000}


def do(hands: ToolExecutor, name: str, **arguments: Any) -> str:
    return hands.execute(ToolCall("c", name, json.dumps(arguments)))


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[Sandbox]:
    """Every copy that is made."""
    made: list[Sandbox] = []
    fork = Sandbox.fork

    def counted(self: Sandbox, **given: Any) -> Sandbox:
        made.append(fork(self, **given))
        return made[-1]

    monkeypatch.setattr(Sandbox, "fork", counted)
    return made


def test_a_copy_is_made_for_the_first_call_carried_out(sandbox: Sandbox, forks: list[Sandbox]) -> None:
    hands = ToolExecutor(sandbox, tools_for(["calendar"]))
    do(hands, "email.send_email", **MAIL)
    do(hands, "calendar.fly")
    hands.execute(ToolCall("c", "calendar.delete_event", "no JSON"))
    assert not forks and hands.calls == ["calendar.fly.func()"]
    assert do(hands, "calendar.delete_event", event_id="00000000") == "Event deleted successfully."
    assert len(forks) == 1


def test_what_was_done_is_there_after_a_rest(sandbox: Sandbox) -> None:
    before = sandbox.image()
    hands = ToolExecutor(sandbox, TOOLS.values())
    made = [do(hands, "email.send_email", **MAIL) for _ in range(3)]
    hands.set_aside()
    event = {"event_name": "Talk", "participant_email": "a@b.c", "event_start": "2023-12-01 09:00:00"}
    number = do(hands, "calendar.create_event", **event, duration="30")
    hands.set_aside()
    assert "Talk" in do(hands, "calendar.search_events", query="talk")
    hands.set_aside()
    changed = do(hands, "calendar.update_event", event_id=number, field="event_name", new_value="Walk")
    hands.set_aside()
    assert "Walk" in do(hands, "calendar.search_events", query="walk")
    assert len(made) == 3 and changed == "Event updated successfully."
    assert do(hands, "email.search_emails", query="hello").count('"subject": "Hello"') == 3
    hands.close()
    assert sandbox.image() is before
