"""Agents whose choice is a JSON object."""

from __future__ import annotations

import pytest
from builders import question
from scripted import choose

from toolassay.benchmarks.classic.agents.json_agent import JsonAgent
from toolassay.models import ChatResponse

COT = JsonAgent(thinking=True, max_tokens=512)


def test_the_prompt_shows_the_list_and_the_chat_and_nothing_of_the_labels() -> None:
    asked = question("my shoes\nBot: start it", "bot: Which?", "the $blue ones")
    choice, model = choose(COT, asked, ChatResponse('{"thinking": "so", "workflow": "Return Goods"}'))
    assert (choice.workflow, choice.outcome, choice.note) == ("w0", "answered", "")
    (request,) = model.asked
    (message,) = request.messages
    assert "1. Return Goods: About Return Goods.\n2. Track Parcel: About" in message["content"]
    assert "User: my shoes\n  Bot: start it\nBot: Which?\nUser: the $blue ones\n" in message["content"]
    assert request.parameters["temperature"] == 0.2 and request.parameters["max_tokens"] == 512
    schema = request.parameters["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["thinking", "workflow"]
    assert (request.role, request.item) == ("agent", "c--0")


@pytest.mark.parametrize(
    ("text", "workflow", "note"),
    [
        ('{"thinking": "", "workflow": "none"}', None, ""),
        ('```json\n{"thinking": "a", "workflow": "track parcel"}\n```', "w1", ""),
        (
            "{'thinking': 'a', 'workflow': '2. Track Parcel',}",
            "w1",
            "its JSON had to be mended; read as the name",
        ),
        ('<think>{"workflow": "none"}</think>{"workflow": "Track Parcel"}', "w1", ""),
        ('{"workflow": "Track Parcel"}\n{"workflow": "a name of the list, or none"}', "w1", ""),
    ],
)
def test_answers_are_read(text: str, workflow: str | None, note: str) -> None:
    choice, _ = choose(COT, question("x"), ChatResponse(text))
    assert (choice.workflow, choice.outcome) == (workflow, "answered")
    assert choice.note.startswith(note) and bool(choice.note) == bool(note)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Return Goods", "no JSON object"),
        ('{"workflow": "Refund"}', "not offered: 'Refund'"),
        ('{"workflow": "Return', "cut off"),
        ('{"thinking": "x", "workflow": "a name of the list, or none"}', "repeats the form"),
    ],
)
def test_what_cannot_be_read_or_was_not_offered_is_malformed(text: str, error: str) -> None:
    choice, _ = choose(COT, question("x"), ChatResponse(text))
    assert (choice.workflow, choice.outcome) == (None, "malformed")
    assert error in choice.error
