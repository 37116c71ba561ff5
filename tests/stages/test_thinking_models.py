"""A model that thinks apart from its answer, on all three benchmarks, over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.builders import data_folder, workbench_folder
from tests.support.running import Finished, entries_of, inside, lines_of
from toolassay.runs.journal import AnswerLine
from toolassay.testkit import FakeServer

THOUGHT = "The user wants 2 + 2."
USAGE = {"prompt_tokens": 10, "completion_tokens": 30, "total_tokens": 40}
DETAILS = {"completion_tokens_details": {"reasoning_tokens": 24}}


def sends(server: FakeServer, reason: str = "stop", **message: Any) -> None:
    """Let the server send one message to every request."""
    choice = {"message": {"role": "assistant", **message}, "finish_reason": reason}
    server.complaint = lambda body: (200, {"choices": [choice], "usage": {**USAGE, **DETAILS}})


def infer(fake_server: FakeServer, folder: Path, *more: str) -> Finished:
    where = ("--data_dir", folder, "--api_base", fake_server.base)
    return inside("infer", *where, "--llm", "m", "--limit", "2", *more)


def journal(folder: Path) -> list[dict[str, Any]]:
    return entries_of(folder / "predictions/runs/m/journal.jsonl")


def test_thoughts_are_kept_in_the_journal_of_a_plan(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data")
    plan = '{"task_steps": [], "task_nodes": [], "task_links": []}'
    sends(fake_server, content=plan, reasoning_content=THOUGHT)
    done = infer(fake_server, folder)
    assert done.code == 0 and "60 written (48 of them thinking)" in done.err
    assert [entry["reasoning"] for entry in journal(folder)] == [THOUGHT, THOUGHT]
    assert [entry["response"] for entry in journal(folder)] == [plan, plan]
    used = json.loads((folder / "predictions/runs/m/summary.json").read_text())["used"]
    assert (used["completion_tokens"], used["reasoning_tokens"]) == (60, 48)
    assert used["queued_seconds"].keys() == {"p50", "p95"}
    assert used["first_token_seconds"] is used["seconds_per_output_token"] is None


def test_thoughts_of_an_agent_are_kept_beside_what_it_said(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = workbench_folder(tmp_path / "data")
    sends(fake_server, content="Done.", reasoning=THOUGHT)
    assert infer(fake_server, folder).code == 0
    first, _ = journal(folder)
    assert first["reasoning"] == THOUGHT
    assert THOUGHT not in [message.get("content") for message in first["messages"]]
    assert first["messages"][-1]["extra"] == {"reasoning": THOUGHT}
    assert inside("verify", "--data_dir", folder, "--llm", "m").code != 1


@pytest.mark.parametrize("extra", [{}, {"a_field_of_tomorrow": 1, "reasoning": "hm"}])
def test_answers_of_other_versions_are_read_again(extra: dict[str, Any]) -> None:
    old = {"response": "yes", "finish_reason": "stop", "tool_calls": [], "cost": 0.1, **extra}
    read = msgspec.convert(old, AnswerLine)
    assert read == AnswerLine("yes", reasoning=extra.get("reasoning", ""))


def test_only_thoughts_at_the_limit_are_a_malformed_answer(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data", requests=12)
    sends(fake_server, "length", content=None, reasoning_content=THOUGHT)
    done = inside("infer", "--data_dir", folder, "--api_base", fake_server.base, "--llm", "m")
    assert done.code == 0 and "thinking used up all tokens" in done.err
    assert {line["outcome"] for line in lines_of(folder / "predictions/m.json")} == {"malformed"}
    assert {entry["reasoning"] for entry in journal(folder)} == {THOUGHT}
