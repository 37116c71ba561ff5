"""Agents of users: real processes and functions on the tools of a folder, with a recorded model."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import aiohttp
import msgspec
import pytest

from tests.mcp_servers import HERE, is_running
from tests.mcp_servers.notes_server import SEED
from tests.support.builders import AGENT_KIT, ROOM_TOOLS, agents_folder, running_server
from tests.support.evaluating import metrics_of
from tests.support.running import command_of, environment, lines_of
from toolassay import SILENT, build_graph, evaluate, import_tools, infer, verify
from toolassay.episodes.model_relay import WireExchange
from toolassay.episodes.own_agent import AgentSession
from toolassay.errors import ToolassayError, UsageError
from toolassay.executors.executor import EnvironmentFailure
from toolassay.executors.plan_run import CallPlace
from toolassay.files.data_files import read_json, write_json, write_json_lines
from toolassay.models import ModelOptions, ToolCall
from toolassay.runs.budget import Budget
from toolassay.serving.completions import Received, Reply
from toolassay.stages.export import export_trajectories
from toolassay.testkit import FakeServer

PLAN = [
    {"task": "create_room", "arguments": [{"name": "title", "value": "Blue"}]},
    {"task": "get_room", "arguments": [{"name": "room_id", "value": "<node-0>.room_id"}]},
]
LINKS = [{"source": "create_room", "target": "get_room"}]
PAGE = (Path(__file__).parents[3] / "docs/own-agent.md").read_text(encoding="utf-8")
FUNCTION, LIVE, OPENAI = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ONLY_TOOLS = f"""{AGENT_KIT}
made = call("create_room", title="Blue")
call("get_room", **made["structuredContent"])
print("made for:", os.environ["TOOLASSAY_REQUEST"])
"""

THREE = f"""{AGENT_KIT}
first = not os.path.exists(sys.argv[1])
print(*map(ask, "ABA" if first else "BAA"))
if first:
    open(sys.argv[1], "w")
    sys.exit(75)
"""


def rooms(path: Path, names: str) -> Path:
    """A folder with two tools and a request of each name, with a gold plan."""
    requests = {name: f"Make the room Blue ({name}) and look at it" for name in names}
    calls = ("create_room", {"title": "Blue"}), ("get_room", {"room_id": "<node-0>.room_id"})
    return agents_folder(path, ROOM_TOOLS, requests, *calls)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two requests."""
    return rooms(tmp_path / "rooms", "ab")


@pytest.fixture
def command(tmp_path: Path) -> Callable[[str], str]:
    """Writes an agent, and gives its command line."""

    def write(text: str) -> str:
        (tmp_path / "agent.py").write_text(text)
        return shlex.join([sys.executable, str(tmp_path / "agent.py")])

    return write


class Model:
    """Makes the room, looks at it, and ends."""

    def __init__(self) -> None:
        self.seen: list[Received] = []

    async def __call__(self, received: Received) -> Reply:
        self.seen.append(received)
        results = [json.loads(one["content"]) for one in received.body["messages"] if one["role"] == "tool"]
        calls = [("create_room", {"title": "Blue"}), *(("get_room", one) for one in results[:1]), None]
        call = calls[len(results)]
        if call is None:
            return Reply("Made it.")
        return Reply("", [ToolCall("c", call[0], json.dumps(call[1]))])


def predictions(folder: Path) -> list[Any]:
    return lines_of(folder / "predictions_agents/mine.json")


def trajectories(folder: Path) -> list[Any]:
    out = folder / "out"
    export_trajectories(folder, predictions="mine", out=out)
    return lines_of(out / "trajectories.jsonl")


def ledger(folder: Path) -> list[Any]:
    return lines_of(folder / "predictions_agents/runs/mine/ledger.jsonl")


def test_an_agent_on_openais_package_is_measured(tmp_path: Path, command: Callable[[str], str]) -> None:
    model, folder = Model(), rooms(tmp_path / "rooms", "a")  # a start of the program takes 1.6 s
    with running_server(model) as server:
        options = ModelOptions(server.base, api_key="sk-the-real-key-of-us")
        done = infer(folder, llm="mine", agent_command=command(OPENAI), options=options)
    assert done.summary.complete and len(model.seen) == 3
    (line,) = predictions(folder)
    assert (line["result"]["task_nodes"], line["result"]["task_links"]) == (PLAN, LINKS)
    assert line["answer"] == "Made it."
    assert [call["tool"] for call in line["calls"]] == ["create_room", "get_room"]
    assert {one.key for one in model.seen} == {"sk-the-real-key-of-us"}
    used = ledger(folder)
    assert [one["item"] for one in used].count('"a"') == 3
    assert all(one["model"] == "mine" and one["prompt_tokens"] > 0 and one["seconds"] > 0 for one in used)
    evaluate(folder, llm="mine")
    overall = metrics_of(folder, "mine", "metrics_agents")
    assert overall["strict"]["exact_match"]["value"] == 1 and "ask:agents" in overall["strict"]["signature"]
    assert verify(folder, llm="mine").lines.is_equal
    (talk,) = trajectories(folder)
    assert talk["right"]
    assert [len(one.get("tool_calls", [])) for one in talk["messages"]] == [0, 1, 0, 1, 0, 0]
    assert talk["messages"][-1] == {"role": "assistant", "content": "Made it."}
    assert [one["function"]["name"] for one in talk["tools"]] == ["create_room", "get_room"]


def test_the_function_of_the_page_works_as_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    monkeypatch.chdir(folder.rename(folder.with_name("mine")).parent)
    with running_server(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base)
        exec(compile(FUNCTION, "page", "exec"), {})
    for line in lines_of(Path("mine/predictions_agents/my-agent.json")):
        assert line["result"]["task_nodes"] == PLAN
        assert line["answer"] == "Made it."
    assert {one.body["model"] for one in model.seen} == {"MODEL"}


def test_the_function_of_the_page_calls_a_real_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("notes_server.py", "standard_streams.py"):
        shutil.copy(HERE / name, tmp_path / name)
    write_json(tmp_path / "notes/notes.json", SEED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    import_tools("mcp", "python notes_server.py notes/notes.json", "mine", screen=SILENT)
    build_graph("mine", screen=SILENT)
    write_json_lines(Path("mine/user_requests.json"), [{"id": "a", "user_request": "Start a note for Ada."}])

    async def model(received: Received) -> Reply:
        if received.body["messages"][-1]["role"] == "tool":
            return Reply(f"It says: {json.loads(received.body['messages'][-1]['content'])}")
        note = {"title": "Garden", "owner": "Ada"}
        return Reply("", [ToolCall("c", "create_note", json.dumps(note))])

    with running_server(model) as server:
        named: dict[str, Any] = {}
        exec(FUNCTION[: FUNCTION.index("infer(")], named)
        exec(LIVE.replace("http://127.0.0.1:8000/v1", server.base), named)
        assert [one.key for one in server.received] == ["sk-of-your-model"] * 2
    (line,) = lines_of(Path("mine/predictions_agents/my-agent-live.json"))
    assert "Created Garden" in line["answer"]
    assert read_json(Path("notes/notes.json")) == SEED, "the server works on a copy"


def test_an_agent_without_a_model_needs_tools_only(folder: Path, command: Callable[[str], str]) -> None:
    done = infer(folder, llm="mine", agent_command=command(ONLY_TOOLS))
    assert done.summary.complete and ledger(folder) == []
    for line in predictions(folder):
        assert line["result"]["task_nodes"] == PLAN
        assert line["answer"] == f"made for: {line['user_request']}"


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("sys.exit(3)", "malformed"),
        ("sys.exit(75)", "provider error"),
        ("os.kill(os.getpid(), 9)", "provider error"),
        ("sys.exit(137)", "provider error"),
        ("print('x' * 2**21)", "ended at a limit"),
        ("time.sleep(60)", "ended at a limit"),
        ("os.fork() and sys.exit(0); time.sleep(60)", "answered"),
        ("bytearray(2**33)", "malformed"),
    ],
    ids=["fails", "asks again", "killed", "killed in a shell", "prints much", "hangs", "a child", "memory"],
)
def test_how_an_agent_ends_is_its_outcome(
    folder: Path, command: Callable[[str], str], tmp_path: Path, end: str, outcome: str
) -> None:
    start = f"import os, sys, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))"
    script = f"{start}\nprint('why', file=sys.stderr, flush=True)\n{end}"
    began = time.monotonic()
    done = infer(folder, llm="mine", agent_command=command(script), ids=["a"], max_seconds=3)
    assert done.summary.outcomes == {outcome: 1}
    assert time.monotonic() - began < 30
    assert not is_running(int((tmp_path / "pid").read_text()))
    assert "why" in (folder / "predictions_agents/runs/mine/stderr/a.log").read_text()
    if outcome == "provider error":  # no answer of the agent's: nothing is scored, and it is run again
        assert not (folder / "predictions_agents/mine.json").exists()
        again = infer(folder, llm="mine", agent_command=command(script), ids=["a"], max_seconds=3)
        assert again.summary.outcomes == {outcome: 1}
    elif outcome == "malformed":
        assert predictions(folder)[0]["result"] is None


def test_an_environment_that_cannot_be_read_at_the_end_is_no_fault_of_the_agent(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def agent(request: str, session: AgentSession) -> str:
        await session.call("create_room", {"title": "Blue"})
        return "Made it."

    async def unreadable(place: CallPlace) -> NoReturn:
        raise EnvironmentFailure("it is gone")

    monkeypatch.setattr(CallPlace, "recorded_states", unreadable)
    assert infer(folder, llm="mine", agent=agent, ids=["a"]).summary.outcomes == {"provider error": 1}
    monkeypatch.undo()
    assert infer(folder, llm="mine", agent=agent, ids=["a"]).summary.outcomes == {"answered": 1}


def test_an_agent_sees_no_key(
    folder: Path, command: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "MY_COPY_OF_IT"):
        monkeypatch.setenv(name, "sk-the-real-key-of-us")
    monkeypatch.setenv("SEARCH_KEY", "of the agent")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    infer(
        folder,
        llm="mine",
        agent_command=command("import json, os; print(json.dumps(dict(os.environ)))"),
    )
    seen = json.loads(predictions(folder)[0]["answer"])
    assert "sk-the-real-key-of-us" not in seen.values() and seen["SEARCH_KEY"] == "of the agent"
    assert seen["OPENAI_BASE_URL"] == f"{seen['ANTHROPIC_BASE_URL']}/v1"
    assert seen["OPENAI_API_KEY"] in seen["TOOLASSAY_MCP_URL"]


BODIES: Mapping[str, Mapping[str, Any]] = {
    "chat/completions": {"messages": [{"role": "user", "content": "Hi"}]},
    "responses": {"input": [{"role": "user", "content": "Hi"}]},
    "messages": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 50},
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", BODIES)
def test_what_is_recorded_equals_the_wire(folder: Path, path: str, *, stream: bool) -> None:
    body = json.dumps({"model": "acme", "stream": stream, **BODIES[path]})
    got: list[tuple[int, str, str]] = []

    async def agent(text: str, session: AgentSession) -> str:
        async with (
            aiohttp.ClientSession(headers={"Content-Type": "application/json"}) as http,
            http.post(f"{session.base_url}/{path}", data=body) as response,
        ):
            got.append((response.status, response.content_type, await response.text()))
        return "done"

    async def say(received: Received) -> Reply:
        return Reply("Hello to you.")

    with running_server(say) as server:
        infer(folder, llm="mine", agent=agent, ids=["a"], options=ModelOptions(server.base))
    lines = lines_of(folder / "predictions_agents/runs/mine/journal.jsonl")
    (line,) = (one for one in lines if one.get("role") == "agent")
    wire = msgspec.convert(line["extra"]["wire"], WireExchange)
    assert (wire.request, line["response"]) == (body, "Hello to you.")
    assert got == [(200, "text/event-stream" if stream else "application/json", wire.answer)]
    assert wire.type.startswith(got[0][1])
    (talk,) = trajectories(folder)
    said = {"user": "Hi", "assistant": "Hello to you."}
    assert talk["messages"] == [{"role": role, "content": text} for role, text in said.items()]
    (used,) = ledger(folder)
    assert used["model"] == "acme" and ("first_token_seconds" in used) == stream
    # A chat stream has token counts only if the agent asks for them.
    assert ("completion_tokens" not in used) == (stream and path == "chat/completions")


async def make_room(text: str, session: AgentSession) -> str:
    """An agent in Python."""
    made = await session.call("create_room", {"title": "Blue"})
    answer = await session.chat("acme", [{"role": "user", "content": text}])
    await session.call("get_room", made)
    return str(answer["choices"][0]["message"]["content"])


def test_the_trials_of_an_agent_are_measured(folder: Path) -> None:
    with running_server() as server:
        done = infer(folder, llm="mine", agent=make_room, trials=2, options=ModelOptions(server.base))
        assert done.summary.complete and len(server.received) == 4  # 2 trials of 2 requests
    evaluate(folder, llm="mine")
    overall = metrics_of(folder, "mine", "metrics_agents")
    assert overall["strict"]["exact_match"]["value"] == 1
    assert overall["stability"]["pass^k"]["2"]["value"] == 1
    assert verify(folder, llm="mine").lines.is_equal
    talks = trajectories(folder)
    assert len(talks) == 4 and all(one["right"] for one in talks[:2])


def test_a_failure_of_the_server_is_no_answer_of_the_agent(folder: Path) -> None:
    with running_server() as server:
        server.fail_first("500", "500", "500", "500")

        async def careless(text: str, session: AgentSession) -> str:
            try:
                return await make_room(text, session)
            except Exception:
                return "I could not."

        given: dict[str, Any] = {"llm": "mine", "ids": ["a"], "options": ModelOptions(server.base)}
        done = infer(folder, agent=careless, **given)
        assert done.summary.outcomes == {"provider error": 1}
        again = infer(folder, agent=careless, **given)
    assert again.summary.outcomes == {"answered": 1}
    assert predictions(folder)[0]["result"]["task_nodes"] == PLAN


def test_a_wrong_request_is_the_agents_own_failure(folder: Path) -> None:
    with running_server() as server:
        server.fail_first("overflow")
        given: dict[str, Any] = {"ids": ["a"], "options": ModelOptions(server.base)}
        done = infer(folder, llm="mine", agent=make_room, **given)
        assert len(server.received) == 1
    assert done.summary.outcomes == {"malformed": 1}


def test_the_budget_stops_an_agent_which_goes_on_without_paying_twice(folder: Path) -> None:
    async def two(text: str, session: AgentSession) -> str:
        await make_room(text, session)
        return await make_room(text, session)

    with running_server() as server:
        given: dict[str, Any] = {"llm": "mine", "agent": two, "options": ModelOptions(server.base)}
        stopped = infer(folder, budget=Budget(requests=3), multiworker=1, **given)
        assert not stopped.summary.complete and len(server.received) == 3
        done = infer(folder, **given)
        assert done.summary.complete and len(server.received) == 4
    assert [len(line["calls"]) for line in predictions(folder)] == [4, 4]


def test_options_that_do_not_concern_an_agent_are_refused(folder: Path) -> None:
    for given in ({"temperature": 0.5}, {"max_tokens": 5}, {"max_steps": 3}, {"dry_run": True}):
        with pytest.raises(UsageError, match=next(iter(given))):
            infer(folder, llm="mine", agent=make_room, **given)
    with pytest.raises(UsageError, match="not found"):
        infer(folder, llm="mine", agent_command="no-such-program-here x")


def test_a_run_is_of_one_agent(folder: Path, command: Callable[[str], str]) -> None:
    infer(folder, llm="mine", agent_command=command(ONLY_TOOLS), ids=["a"])
    with pytest.raises(UsageError, match="agent"):
        infer(folder, llm="mine", agent_command="true")


def test_a_model_that_cannot_be_reached_ends_the_run(folder: Path) -> None:
    with pytest.raises(ToolassayError, match="cannot reach"):
        infer(folder, llm="mine", agent=make_room, options=ModelOptions("http://127.0.0.1:9/v1"))


def test_requests_in_another_order_are_not_paid_twice(
    folder: Path, command: Callable[[str], str], tmp_path: Path
) -> None:
    texts: list[str] = []

    async def numbered(received: Received) -> Reply:
        texts.append(received.prompt)
        return Reply(f"{received.prompt}{len(texts)}")

    with running_server(numbered) as server:
        agent = f"{command(THREE)} {tmp_path / 'mark'}"
        given: dict[str, Any] = {"agent_command": agent, "limit": 1, "options": ModelOptions(server.base)}
        assert infer(folder, llm="mine", **given).summary.complete is False
        assert infer(folder, llm="mine", **given).summary.complete
    assert texts == ["A", "B", "A"]
    assert predictions(folder)[0]["answer"] == "B2 A1 A3"


@pytest.mark.slow
def test_killed_in_the_middle_nothing_is_paid_twice(
    folder: Path, command: Callable[[str], str], tmp_path: Path
) -> None:
    model, marks = Model(), tmp_path / "marks"
    marks.touch()
    slow = OPENAI.replace(
        "                text = result",
        f"                open({str(marks)!r}, 'a').write('x'); import time; time.sleep(0.5)\n"
        "                text = result",
    )
    with running_server(model) as server:
        assert isinstance(server, FakeServer)
        words = ["--data_dir", folder, "--llm", "mine", "--agent_command", command(slow)]
        words += ["--api_base", server.base, "--multiworker", "1"]
        line = [*command_of("infer"), *map(str, words)]
        for kills in (1, 2, 3):
            process = subprocess.Popen(line, env=environment(), cwd=tmp_path)
            until = time.monotonic() + 30
            while len(marks.read_text()) < kills and time.monotonic() < until:
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            marks.write_text("")
        subprocess.run(line, env=environment(), cwd=tmp_path, check=True, timeout=60)
    assert len(model.seen) == 6
    assert [line["result"]["task_nodes"] for line in predictions(folder)] == [PLAN, PLAN]
