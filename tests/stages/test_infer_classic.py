"""Agents on a folder of chats, end to end: real requests, resuming, failures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import chat_folder
from tests.support.running import lines_of
from toolassay import infer
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.models import ModelOptions, ToolCall
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

PRICES = "model,prompt_usd_per_million,completion_usd_per_million,as_of\nacme,2,4,2026-01-01\n"
RIGHT = {"return": "Return Goods", "parcel": "Track Parcel", "desk": "Book a Desk"}


def said_last(received: Received) -> str:
    """The last message of the chat, in a prompt of ours or as a message."""
    users = re.findall(r"^User: (.*)$", received.prompt, re.MULTILINE)
    return str(users[-1] if users else received.prompt)


async def answer(received: Received) -> Reply:
    name = next((name for word, name in RIGHT.items() if word in said_last(received)), "none")
    if "tools" in received.body:
        return Reply(
            tool_calls=[ToolCall("c", "no_workflow" if name == "none" else name.replace(" ", "_"), "{}")]
        )
    return Reply(json.dumps({"thinking": "so", "workflow": name}))


server_answer = answer


def build_folder(path: Path) -> Path:
    (path.parent / "prices.csv").write_text(PRICES)
    return chat_folder(path)


def ask(folder: Path, server: FakeServer, **settings: Any) -> list[dict[str, Any]]:
    """Rows of an inference."""
    given = {
        "llm": "acme",
        "options": ModelOptions(api_base=server.base),
        "prices": folder.parent / "prices.csv",
    }
    infer(folder, **{**given, **settings})
    return lines_of(folder / settings.get("prediction_dir", "predictions") / "acme.json")


def chosen(rows: list[dict[str, Any]]) -> list[str | None]:
    return [row["pred_workflow_uuid"] for row in rows]


@pytest.mark.parametrize("agent", ["cot", "reasoning", "tools"])
def test_a_served_model_chooses(folder: Path, server: FakeServer, agent: str) -> None:
    server.fail_first("429")
    rows = ask(folder, server, agent=agent, multiworker=1)
    assert chosen(rows) == ["w-return", None, "w-track", "w-desk", None]
    assert {row["outcome"] for row in rows} == {"answered"}
    assert list(rows[2]) == [
        *("example_idx", "trial_idx", "id", "conversation_uuid", "request_idx", "domain_uuid"),
        *("y_workflow_uuids", "pred_workflow_uuid", "outcome", "error", "note", "order"),
        *("time_to_pred", "time_to_first_token", "tokens_input", "tokens_output", "cost"),
    ]
    assert (rows[2]["id"], rows[2]["y_workflow_uuids"], rows[2]["domain_uuid"]) == (
        "c1--4",
        ["w-track"],
        "shop",
    )
    ledger = lines_of(folder / "predictions/runs/acme/ledger.jsonl")
    assert len(ledger) == 6 and {line["role"] for line in ledger} == {"agent"}
    booked = {line["item"]: line for line in ledger if line["outcome"] == "answered"}
    for row in rows:
        line = booked[row["id"]]
        used = line["prompt_tokens"], line["completion_tokens"]
        assert (row["tokens_input"], row["tokens_output"]) == used
        assert row["cost"] == line["cost"] == pytest.approx((2 * used[0] + 4 * used[1]) / 1e6)


def test_no_agent_sees_a_label(folder: Path, server: FakeServer) -> None:
    for agent in ("cot", "reasoning", "tools"):
        ask(folder, server, agent=agent, prediction_dir=agent)
    sent = " ".join(json.dumps(received.body) for received in server.received)
    assert "w-return" not in sent and "w-track" not in sent and "w-desk" not in sent


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("prose", "malformed"),
        ("declined", "refused"),
        ("overflow", "context overflow"),
        ("400", "provider error"),
    ],
)
def test_each_failure_is_an_outcome_of_its_own(
    folder: Path, server: FakeServer, fault: str, outcome: str
) -> None:
    first: list[str] = []

    def behaviour(prompt: str, number: int) -> str:
        first.append(prompt)
        return fault if prompt == first[0] else "whole"

    server.behaviour = behaviour
    rows = ask(folder, server, multiworker=1)
    assert rows[0]["outcome"] == outcome and rows[0]["pred_workflow_uuid"] is None and rows[0]["error"]
    assert [row["outcome"] for row in rows[1:]] == ["answered"] * 4
    # A refused request is tried in further forms, in case a parameter is what is refused.
    tries = len(server.received)
    assert tries > 5 if fault == "400" else tries == 5
    server.behaviour = lambda prompt, number: "whole"
    again = ask(folder, server, multiworker=1)
    # What the server failed at is asked again; an answer is an answer, and what is too long stays so.
    assert len(server.received) == tries + (outcome == "provider error")
    assert (again[0]["outcome"] == "answered") == (outcome == "provider error")


def test_recorded_answers_make_no_request(folder: Path) -> None:
    record = folder.parent / "record.csv"
    record.write_text(
        "conversation_uuid,request_idx,workflow,latency\nc1,0,w-return,2.5\nc3,0,none,1\nc2,0,Fly,1\nc9,2,none,1\n"
    )
    told: list[str] = []
    result = infer(folder, llm="vendor", agent="recorded", recorded=record, screen=Screen(say=told.append))
    assert f"warning: {record}:5: ignored, because the data has no message 'c9--4'" in told
    assert f"warning: {record} has no answer to 2 of 5 messages: they count as not run" in told
    assert result.summary.outcomes == {"answered": 2, "malformed": 1, "not run": 2}
    assert not result.summary.complete
    rows = lines_of(folder / "predictions/vendor.json")
    assert [row["outcome"] for row in rows] == ["answered", "not run", "not run", "malformed", "answered"]
    assert (rows[0]["time_to_pred"], rows[0]["cost"], rows[1]["time_to_pred"]) == (2.5, None, None)
    assert not (folder / "predictions/runs/vendor/ledger.jsonl").read_text()
    record.write_text(record.read_text().replace("Fly", "Book a Desk"))
    with pytest.raises(UsageError, match="recorded changed"):
        infer(folder, llm="vendor", agent="recorded", recorded=record)


def test_settings_that_do_not_fit_are_refused(folder: Path, tmp_path: Path) -> None:
    infer(folder, llm="offline", limit=1)
    with pytest.raises(UsageError, match="order: 'table' -> 'name'"):
        infer(folder, llm="offline", order="name")
    assert infer(folder, llm="offline", order="name", force=True).already == 0
    nothing = tmp_path / "nothing.csv"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"use_demos": 1}, "--use_demos does not apply to CLASSic folders"),
        ({"agent": "react"}, "unknown --agent 'react'"),
        ({"agent": "recorded"}, "require each other"),
        ({"ids": ["c9--0"]}, "no message has the id 'c9--0'"),
        ({"security": True}, r"no such file\. Fix: add a table of prompts"),
        ({"llm": "v", "agent": "recorded", "recorded": nothing}, r"no such file\. Fix: check --recorded"),
        ({"llm": "acme", "agent": "retrieval"}, "retrieval needs no model"),
    ]
    for settings, told in wrong:
        with pytest.raises(UsageError, match=told):
            infer(folder, **{"llm": "offline", **settings})


def test_a_changed_chat_is_asked_again(folder: Path) -> None:
    infer(folder, llm="offline")
    messages = folder / "messages.csv"
    messages.write_text(messages.read_text().replace("good morning", "where do I book a desk?"))
    assert infer(folder, llm="offline").already == 4
    assert chosen(lines_of(folder / "predictions/offline.json"))[-1] == "w-desk"
