"""The date of a set, from the pipeline to the model under test: in prompts, for server and agent."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import command_of
from tests.support.builders import AGENT_KIT, running_server
from tests.support.running import Finished, inside, lines_of
from toolassay import apply_review, check, execute, infer, verify
from toolassay.episodes.own_agent import AgentSession
from toolassay.errors import UsageError
from toolassay.executors import McpExecution
from toolassay.files.data_files import read_json, write_json
from toolassay.gates.rubric import CRITERIA
from toolassay.models import ModelOptions, ToolCall
from toolassay.serving.completions import Received, Reply

TODAY = "2034-11-30"
LINE = "Today is Thursday, 30 November 2034.\n\n"
SERVER = command_of("visits")
MCP = McpExecution(server=SERVER)
REQUEST = "Somebody visits us on 1 December 2034. Who is it? I have to prepare the room."
AGENT = f"""{AGENT_KIT}
visit = call("find_visit", day="2034-12-01")["structuredContent"]
print(os.environ.get("TOOLASSAY_TODAY"), visit["asked_on"])
"""


async def answered(received: Received) -> Reply:
    """Writes, judges, plans and acts."""
    prompt = received.prompt
    call = {"tool": "find_visit", "arguments": [{"name": "day", "value": "2034-12-01"}]}
    value: dict[str, Any] = {"returns": [], "links": []}
    if "# WHO ASKS #" in prompt:
        value = {"goal": "know the guest", "calls": [call], "declined": ""}
    elif "were carried out" in prompt:
        value = {"user_request": REQUEST, "task_steps": ["Step 1: find_visit"], "declined": ""}
    elif "# YOUR JUDGEMENT #" in prompt:
        value = {name: {"why": "", "yes": True} for name in CRITERIA}
    elif "# REQUEST #" in prompt:
        node = {"task": "find_visit", "arguments": call["arguments"]}
        value = {"task_steps": ["Step 1"], "task_nodes": [node], "task_links": []}
    elif received.body.get("tools"):
        is_first = received.body["messages"][-1]["role"] == "user"
        calls = [ToolCall("c", "find_visit", '{"day": "2034-11-29"}')] if is_first else []
        return Reply("" if calls else "Ada Brook.", calls)
    return Reply(json.dumps(value))


def pipeline(folder: Path, base: str, *more: str) -> Finished:
    models = ("--llm", "writer", "--critic", "judge", "--api_base", base)
    return inside(
        "pipeline", "--data_dir", folder, "--server", SERVER, "--number_of_samples", "1", *models, *more
    )


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A released set with a date."""
    folder = tmp_path_factory.mktemp("dated") / "set"
    with running_server(answered) as server:
        done = pipeline(folder, server.base, "--today", TODAY)
        assert done.code == 0, done.err
        prompts = [str(request.body["messages"][0]["content"]) for request in server.received]
    written = [text for text in prompts if "# WHO ASKS #" in text]
    judged = [text for text in prompts if "# YOUR JUDGEMENT #" in text]
    assert written and judged
    assert all(text.startswith(LINE) for text in (*written, *judged))
    return folder


def test_the_server_has_the_date_when_the_set_is_made(dated: Path) -> None:
    assert read_json(dated / "benchmark.json")["today"] == TODAY
    (label,) = lines_of(dated / "data.json")
    assert label["user_request"] == REQUEST
    (execution,) = lines_of(dated / "executions.jsonl")
    assert execution["calls"][0]["result"]["asked_on"] == TODAY
    assert read_json(dated / "execution" / "manifest.json")["settings"]["today"] == TODAY
    collected = read_json(dated / "results.json")["find_visit"]
    assert {json.loads(call["result"])["asked_on"] for call in collected} == {TODAY}
    assert all(TODAY < call["arguments"]["day"] < "2036" for call in collected)


@pytest.mark.parametrize("ask", ["plan", "calls", "tools", "react"])
def test_a_model_under_test_reads_the_date(dated: Path, ask: str) -> None:
    with running_server(answered) as server:
        acts = {} if ask in ("plan", "calls") else {"executor": "mcp", "executor_options": MCP}
        infer(dated, llm="acme", ask=ask, options=ModelOptions(server.base), **acts)  # type: ignore[arg-type]
        text = str(server.received[0].body["messages"][0]["content"])
    assert text.startswith(LINE) and LINE.strip() not in text.removeprefix(LINE)
    if ask == "tools":
        (execution,) = lines_of(dated / "predictions_tools" / "executions" / "acme.jsonl")
        assert execution["calls"][0]["error"].endswith(f"2034-11-29 is before {TODAY}")
    if ask != "plan":
        assert verify(dated, llm="acme", prediction_dir=f"predictions_{ask}").lines.is_equal


def test_an_agent_and_its_server_have_the_date(dated: Path, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    command = shlex.join([sys.executable, str(tmp_path / "agent.py")])

    async def function(request: str, session: AgentSession) -> str:
        visit = await session.call("find_visit", {"day": "2034-12-01"})
        return f"{session.today} {visit['asked_on']}"

    agents: dict[str, dict[str, Any]] = {
        "program": {"agent_command": command},
        "function": {"agent": function},
    }
    for name, agent in agents.items():
        infer(dated, llm=name, **agent, executor="mcp", executor_options=MCP)
        (line,) = lines_of(dated / "predictions_agents" / f"{name}.json")
        assert line["answer"] == f"{TODAY} {TODAY}"


def test_a_check_and_a_review_keep_the_date(dated: Path, tmp_path: Path) -> None:
    check(dated, out=tmp_path / "checked")
    apply_review(dated, tmp_path / "reviewed", keep_undecided=True)
    for name in ("checked", "reviewed"):
        assert read_json(tmp_path / name / "benchmark.json")["today"] == TODAY


def test_another_date_is_refused(dated: Path) -> None:
    before = {path.name: path.read_bytes() for path in dated.iterdir() if path.is_file()}
    for command in (("pipeline", "--server", SERVER), ("generate", "--llm", "writer")):
        done = inside(*command, "--data_dir", dated, "--today", "2034-12-01")
        assert done.code == 2
        assert f"today is {TODAY}, --today says 2034-12-01" in done.error
    assert {path.name: path.read_bytes() for path in dated.iterdir() if path.is_file()} == before


def test_gold_is_executed_again_on_another_date(dated: Path) -> None:
    kept = read_json(dated / "benchmark.json")
    write_json(dated / "benchmark.json", {**kept, "today": "2034-12-01"})
    try:
        with pytest.raises(UsageError, match="today: '2034-11-30' -> '2034-12-01'"):
            execute(dated, executor="mcp", options=MCP)
    finally:
        write_json(dated / "benchmark.json", kept)
