"""What became of tools: proposals, a person's decisions, and plans in the new names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Answering, served
from toolassay.errors import UsageError
from toolassay.models import ChatRequest, ChatResponse
from toolassay.runs.settings import ModelSettings, RunChoices, RunSettings
from toolassay.surfaces.mapping import MappedTool, ToolMapping, changed_tools, proposed, proposed_by_model
from toolassay.tools.library import Tool, ToolLibrary

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def tool(name: str, text: str, /, **arguments: Any) -> Tool:
    schema = {"type": "object", "properties": arguments, "required": list(arguments)}
    return Tool(name, text, input_schema=schema)


def choice(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def entries(old: list[Tool], new: list[Tool]) -> list[MappedTool]:
    return proposed(ToolLibrary(old), ToolLibrary(new)).tools


OPEN = tool("open_door", "Open the door of a room.", room=NUMBER)
SHUT = tool("shut_door", "Shut the door of a room.", room=NUMBER)
SET = tool("set_door", "Open or shut the door of a room.", room=NUMBER, state=choice("open", "shut"))
SEND = tool("send_mail", "Send a mail to a person.", address=TEXT, body=TEXT)
POST = tool("post_message", "Send a mail message to a person.", address=TEXT, text_body=TEXT)


def test_renamed_merged_and_split_tools_are_proposed() -> None:
    (renamed,) = entries([SEND, OPEN], [POST, OPEN])
    assert (renamed.before, renamed.after, renamed.arguments) == (
        "send_mail",
        "post_message",
        {"body": "text_body"},
    )
    merged = entries([OPEN, SHUT], [SET])
    assert [(one.before, one.after, one.add) for one in merged] == [
        ("open_door", "set_door", {"state": "open"}),
        ("shut_door", "set_door", {"state": "shut"}),
    ]
    split = entries([SET], [OPEN, SHUT])
    assert [(one.after, one.when) for one in split] == [
        ("open_door", {"state": "open"}),
        ("shut_door", {"state": "shut"}),
    ]
    (changed,) = entries([tool("find", "Find.", name=TEXT)], [tool("find", "Find.", full_name=TEXT)])
    assert changed.arguments == {"name": "full_name"}
    assert entries([OPEN], [tool("bake", "Bake bread at once.", oven=TEXT)]) == []
    assert all(one.confirmed is None for one in (*merged, *split, renamed))


def test_undecided_and_malformed_files_are_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "mapping.json"
    proposed(ToolLibrary([OPEN, SHUT]), ToolLibrary([SET])).write(file)
    with pytest.raises(UsageError, match="no decision about 'open_door', 'shut_door'"):
        ToolMapping.read(file)
    file.write_text(file.read_text().replace('"confirmed": null', '"confirmed": true'))
    mapping = ToolMapping.read(file)
    assert mapping.pairs == [("open_door", "set_door"), ("shut_door", "set_door")]
    assert mapping.names == {}, "a merged tool has no one old name"
    assert set(changed_tools(ToolLibrary([OPEN, SHUT]), ToolLibrary([SET]), mapping)) == {
        *("open_door", "shut_door", "set_door")
    }
    assert mapping.unknown(ToolLibrary([OPEN]), ToolLibrary([SET])) == ["shut_door"]
    file.write_text('{"tools": [{"from": "a", "too": "b"}]}')
    with pytest.raises(UsageError, match="too"):
        ToolMapping.read(file)


def label(*calls: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    nodes = [
        {"task": name, "arguments": [{"name": key, "value": value} for key, value in given.items()]}
        for name, given in calls
    ]
    links = [{"source": calls[0][0], "target": name} for name, _ in calls[1:]]
    return {"id": "1", "user_request": "Do it", "task_nodes": nodes, "task_links": links, **more}


def calls_of(plan: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (node["task"], {one["name"]: one["value"] for one in node["arguments"]})
        for node in plan["task_nodes"]
    ]


def test_plans_are_translated_by_confirmed_entries_only() -> None:
    new = ToolLibrary([SET, POST])
    mapping = ToolMapping([
        MappedTool("open_door", "set_door", add={"state": "open"}, confirmed=True),
        MappedTool("shut_door", "set_door", add={"state": "shut"}, confirmed=False),
        MappedTool("send_mail", "post_message", {"body": "text_body", "address": None}, confirmed=True),
    ])  # fmt: skip
    plan = label(("open_door", {"room": 3}), ("send_mail", {"address": "a", "body": "<node-0>.room"}))
    other = label(("shut_door", {"room": 3}))
    given = {**plan, "alternatives": [other, plan], "must_not_call": ["open_door", "shut_door"]}
    found = mapping.translated(given, new)
    assert calls_of(found) == [
        ("set_door", {"room": 3, "state": "open"}),
        ("post_message", {"text_body": "<node-0>.room"}),
    ]
    assert found["task_links"] == [{"source": "set_door", "target": "post_message"}]
    assert len(found["alternatives"]) == 1 and found["must_not_call"] == ["set_door"]
    with pytest.raises(LookupError, match="shut_door"):
        mapping.translated(other, new)


def test_a_split_tool_goes_where_its_argument_says() -> None:
    old, new = ToolLibrary([SET]), ToolLibrary([OPEN, SHUT])
    mapping = proposed(old, new)
    for one in mapping.tools:
        one.confirmed = True
    found = mapping.translated(label(("set_door", {"room": 3, "state": "shut"})), new)
    assert calls_of(found) == [("shut_door", {"room": 3})]
    with pytest.raises(LookupError):
        mapping.translated(label(("set_door", {"room": 3, "state": "<node-9>"})), new)


def test_changed_tools_are_those_that_a_model_sees_otherwise() -> None:
    old = ToolLibrary([OPEN, SEND, tool("same", "The same.")])
    new = ToolLibrary(
        [tool("open_door", "Opens a door.", room=NUMBER), POST, tool("same", "The same."), SHUT]
    )
    mapping = ToolMapping([MappedTool("send_mail", "post_message", confirmed=True)])
    found = changed_tools(old, new, mapping)
    assert list(found) == ["send_mail", "open_door", "shut_door"]
    assert found["send_mail"] == (SEND, POST) and found["shut_door"] == (None, SHUT)


def test_a_model_proposes_by_meaning_and_decides_nothing(tmp_path: Path) -> None:
    answer = {"tools": [
        {"from": "open_door", "to": "grant_access", "arguments": {"room": "place"}, "confirmed": True},
        {"from": "open_door", "to": "no_such_tool"},
    ]}  # fmt: skip
    prompts: list[str] = []

    def say(request: ChatRequest) -> ChatResponse:
        prompts.append(str(request.messages[0]["content"]))
        return ChatResponse(json.dumps(answer))

    old, new = ToolLibrary([OPEN]), ToolLibrary([tool("grant_access", "Let a person in.", place=NUMBER)])
    with served(Answering(say, "model")):
        found = proposed_by_model(
            old, new, tmp_path, RunSettings(ModelSettings("model"), choices=RunChoices())
        )
    assert found is not None
    assert found.tools == [MappedTool("open_door", "grant_access", {"room": "place"})]
    assert len(prompts) == 1 and "open_door" in prompts[0] and "grant_access" in prompts[0]
