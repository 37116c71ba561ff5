"""How the answers of an agent are read, in each form, and those of the published agents as published."""

from __future__ import annotations

import ast
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.episodes.call_formats import (
    AgentTurn,
    CallFormat,
    PublishedReact,
    React,
)
from toolassay.models import ChatResponse

ACTION = {"action": "email.delete_email", "action_input": {"email_id": "00000001"}}
WANTED = [("email.delete_email", {"email_id": "00000001"})]
TEXT = json.dumps(ACTION)
DRAFT = json.dumps({"action": "email.send_email", "action_input": {"body": "a draft"}})
SHOWN = '{"action": "NAME OF A TOOL", "action_input": {"name of an argument": "its value"}}'
FINAL = json.dumps({"action": "Final Answer", "action_input": "Done so."})


def read(text: str) -> AgentTurn:
    return React().read(ChatResponse(text), 3)


def calls(turn: AgentTurn) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.asked]


def unreadable(turn: AgentTurn) -> bool:
    return [call.name for call in turn.asked] == [""] and turn.final is None


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"Thought: so.\nAction:\n```\n{TEXT}\n```",
        f"```python\n{ACTION}\n```",
        "{'action': 'email.delete_email', 'action_input': {'email_id': '00000001'}} // so",
        f"{DRAFT}\nNo, rather:\n{TEXT}",
        f"{TEXT}\nObservation: done.\n{DRAFT}",
        f"```\n{TEXT}\n``` Observation: done. Action:\n```\n{DRAFT}\n```",
        f"Well.\nObservation shows that it is there.\n{TEXT}",
        f"```\n{DRAFT}\n```\n</think>\n\n```\n{TEXT}\n```",
        f"{TEXT}\n{SHOWN}",
    ],
)
def test_an_action_is_read(text: str) -> None:
    turn = read(text)
    assert calls(turn) == WANTED
    assert turn.final is None and not turn.is_prose


@pytest.mark.parametrize(
    "text",
    [
        TEXT[:-2],
        '{"action": "a.b", "action_input": {"x": {"action": "c.d", "action_input": {}}, "y": "cut',
        '{"action": {"name": "a.b"}, "action_input": {}}',
        SHOWN,
        "```\nemail.delete_email(email_id='00000001')\n```",
    ],
)
def test_an_action_that_cannot_be_read_is_a_call_of_no_tool(text: str) -> None:
    assert unreadable(read(text))


@pytest.mark.parametrize(
    ("text", "final"),
    [
        ("All is done.", "All is done."),
        ('I deleted {"email_id": "00000001"}.', 'I deleted {"email_id": "00000001"}.'),
        (f"<think>{DRAFT}</think>\nAll is done.", "All is done."),
        (f"So {DRAFT} it is. </think> All is done.", "All is done."),
        (f"<think>{DRAFT}</think>", None),
        ("", None),
    ],
)
def test_words_without_an_action_are_the_last_word(text: str, final: str | None) -> None:
    turn = read(text)
    assert (turn.asked, turn.final, turn.is_prose) == ((), final, True)


def test_the_final_answer_ends_a_task() -> None:
    turn = read(f"{DRAFT}\n```\n{FINAL}\n```")
    assert (turn.asked, turn.final, turn.is_prose) == ((), "Done so.", False)


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([TEXT, DRAFT[:30], "```", "\n", "<think>", "'"])).map("".join)
)
def test_an_answer_acts_ends_or_is_nothing(text: str) -> None:
    turn = read(text)
    assert len(turn.asked) <= 1
    assert not (turn.asked and turn.final is not None)
    assert read(str(turn.message["content"])).asked == turn.asked  # a stored conversation is read alike


def test_published_reading_is_strict_and_takes_the_first_block() -> None:
    form = PublishedReact()

    def published(text: str) -> AgentTurn:
        return form.read(ChatResponse(text), 1)

    fenced = f"```\n{TEXT}\n```"
    assert calls(published(f"{fenced}\n```\n{DRAFT}\n```")) == WANTED
    assert calls(published(f"<think>\n{fenced}\n</think>\nDone.")) == WANTED
    assert calls(published(f"```json\n[{TEXT}, {DRAFT}]\n```")) == WANTED
    for text in (TEXT, f"```JSON\n{TEXT}\n```", f"```{TEXT}```", f"```\n{TEXT}"):
        assert (published(text).final, published(text).is_prose) == (text, True)
    assert unreadable(published(f"```\n{ACTION}\n```"))
    assert published(f"```\n{FINAL}\n```").final == "Done so."


EVERY = 3  # of the published runs of a file, which hold some 7,200 actions together


class Written(NamedTuple):
    """What a model wrote, and the action that the published agent carried out."""

    text: str
    name: str
    given: Any


def published(folder: Path) -> Iterator[Written]:
    """The actions in the published results, from the Python text in which these hold them."""
    for path in sorted(folder.rglob("*.csv")):
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [row["full_response"] for row in csv.DictReader(stream)]
        for text in rows[::EVERY]:
            for node in ast.walk(ast.parse(text.replace(": nan", ": None"), mode="eval")) if text else ():
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "AgentAction":
                    made = {str(item.arg): ast.literal_eval(item.value) for item in node.keywords}
                    yield Written(made["log"], made["tool"], made["tool_input"])


def read_action(form: CallFormat, text: str) -> tuple[str, Any]:
    (call,) = form.read(ChatResponse(text), 1).asked or (None,)
    if call is None:
        return "", None
    try:
        given = json.loads(call.arguments)
    except ValueError:
        given = call.arguments
    return call.name, given


@pytest.fixture(scope="module")
def actions(reference: Path) -> list[Written]:
    csv.field_size_limit(sys.maxsize)
    found = list(published(reference / "workbench" / "results"))
    assert len(found) > 500
    return found


def test_published_actions_are_read_as_published(actions: list[Written]) -> None:
    for text, name, wanted in actions:
        found, arguments = read_action(PublishedReact(), text)
        assert found == name
        assert (
            (arguments or "") == (wanted or "") or json.dumps(arguments) == wanted or str(arguments) == wanted
        )


def test_published_actions_are_read_alike_where_there_is_one(actions: list[Written]) -> None:
    single = [text for text, _, _ in actions if text.count('"action"') == 1]
    assert len(single) > 0.8 * len(actions)
    for text in single:
        assert read_action(React(), text) == read_action(PublishedReact(), text)
