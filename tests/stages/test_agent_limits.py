"""The limits of a WorkBench agent on a real server: time, steps, Ctrl-C."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders import data_folder, workbench_folder
from tests.support.running import entries_of, inside, lines_of, shell, started
from toolassay.files.data_files import read_json
from toolassay.models import ToolCall
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

SEARCH = ToolCall("", "calendar__search_events", "{}")


async def searches_on(received: Received) -> Reply:
    return Reply(tool_calls=[SEARCH])


server_answer = searches_on


build_folder = workbench_folder


def test_the_time_limit_ends_an_answer_and_the_calls_before_it_count(
    folder: Path, server: FakeServer
) -> None:
    server.behaviour = lambda prompt, number: "hang" if number else "whole"
    arguments = ("--data_dir", folder, "--api_base", server.base, "--limit", "1")
    done = inside("infer", *arguments, "--max_seconds", "2")
    assert done.code == 0, done.err
    (line,) = lines_of(folder / "predictions/gpt-4.json")
    assert line["function_calls"] == ["calendar.search_events.func()"]
    assert line["error"] == "Agent stopped due to iteration limit or time limit."
    run = folder / "predictions/runs/gpt-4"
    (entry,) = entries_of(run / "journal.jsonl")
    assert (entry["outcome"], entry["limit"], entry["steps"]) == ("answered", "time", 1)
    assert [line["outcome"] for line in lines_of(run / "ledger.jsonl")] == ["answered", "time limit"]
    assert read_json(run / "manifest.json")["settings"]["max_seconds"] == 2
    assert "1 lines (1 ended at a limit; 0 answered before)" in done.out
    assert done.err.count("limits ended 1 of 1 task") == done.err.count("--max_seconds 2") == 1
    assert inside("verify", "--data_dir", folder, "--llm", "gpt-4").code == 0


@pytest.mark.parametrize(("tasks", "is_said"), [(20, False), (10, True)])
def test_a_limit_that_ends_more_than_one_task_of_twenty_is_said(
    folder: Path, server: FakeServer, tasks: int, is_said: bool
) -> None:
    first = lines_of(folder / "tasks.jsonl")[0]["query"]

    async def answer(received: Received) -> Reply:
        return (
            Reply(tool_calls=[SEARCH]) if received.body["messages"][1]["content"] == first else Reply("Done.")
        )

    server.answer = answer
    arguments = ("--data_dir", folder, "--api_base", server.base, "--limit", str(tasks), "--max_steps", "2")
    done = inside("infer", *arguments)
    assert done.code == 0, done.err
    assert (f"limits ended 1 of {tasks} tasks" in done.err) is is_said


@pytest.mark.parametrize("flag", ["--max_seconds", "--max_steps"])
def test_limits_of_an_agent_are_refused_where_there_is_none(tmp_path: Path, flag: str) -> None:
    done = inside("infer", "--data_dir", data_folder(tmp_path / "data"), flag, "7")
    assert done.code == 2 and f"{flag} does not apply to --ask plan" in done.error


def test_an_agent_that_is_killed_pays_no_answer_twice(
    tmp_path: Path, folder: Path, server: FakeServer
) -> None:
    server.behaviour = lambda prompt, number: "hold" if number else "whole"
    arguments = ("--data_dir", folder, "--api_base", server.base, "--limit", "1", "--max_steps", "3")
    process = started("inference.py", *map(str, arguments), cwd=tmp_path)
    server.wait_for(2)
    process.kill()
    process.communicate(timeout=60)
    server.release()
    server.forget()
    server.behaviour = lambda prompt, number: "whole"
    done = shell("inference.py", *map(str, arguments), cwd=tmp_path)
    assert done.code == 0, done.err
    roles = [[message["role"] for message in one.body["messages"]] for one in server.received]
    assert roles[0] == ["system", "user", "assistant", "tool"]
    assert len(roles) == 2
