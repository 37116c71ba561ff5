"""`--structured` for the ReAct agent of WorkBench, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.builders import workbench_folder
from tests.support.dialects import taking
from tests.support.running import infer, inside, lines_of
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

THOUGHT = "```{}``` <think> First I look."
CALL = {"thought": THOUGHT, "action": "calendar.search_events", "action_input": {"query": "x"}}
END = {"thought": THOUGHT, "action": "Final Answer", "action_input": "Done."}


async def searches_once(received: Received) -> Reply:
    """Bare objects where there is a schema, and fenced ones where there is none."""
    text = json.dumps(END if len(received.body["messages"]) > 2 else CALL)
    return Reply(text if "response_format" in received.body else f"So:\n```\n{text}\n```")


server_answer = searches_once


build_folder = workbench_folder


def sent(server: FakeServer) -> list[Any]:
    return [request.body.get("response_format") for request in server.received]


def test_it_acts_under_a_schema_of_its_tools(folder: Path, server: FakeServer) -> None:
    server.complaint = taking("json_object")
    flags = ("--agent", "react", "--limit", "1")
    done = infer(server, folder, *flags, "--structured", "auto")
    assert done.code == 0, done.err
    (line,) = lines_of(folder / "predictions/gpt-4.json")
    assert (line["function_calls"], line["error"]) == (['calendar.search_events.func(query="x")'], "")
    assert [form["type"] for form in sent(server)] == ["json_schema", "json_object", "json_object"]
    names = sent(server)[-1]["schema"]["properties"]["action"]["enum"]
    assert len(names) == 28
    assert {"calendar.search_events", "Final Answer"} <= set(names)
    run = folder / "predictions/runs/gpt-4"
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"]["structured"] == "auto"
    assert manifest["starts"][0]["clients"][0]["structured_output"]["misfits"] == 0
    done = infer(server, folder, *flags)
    assert done.code == 2
    assert "structured: auto -> None" in done.error.replace("'", "")
    assert inside("verify", "--data_dir", folder, "--llm", "gpt-4").code == 0
