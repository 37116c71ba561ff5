"""Agents that fail, are ended, or attack: what their runs record, send and write."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from tests.mcp_servers import is_running
from tests.support.builders import AGENT_KIT, ROOM_TOOLS, agents_folder, running_server
from tests.support.running import lines_of, started, wait_until
from toolassay import infer
from toolassay.console.screen import Screen
from toolassay.episodes.own_agent import AgentSession
from toolassay.errors import ToolassayError, UsageError
from toolassay.executors.executor import Refusal
from toolassay.models import ModelError, ModelOptions
from toolassay.runs.budget import Budget
from toolassay.serving.completions import Received, Reply

Command = Callable[[str], str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return agents_folder(tmp_path / "rooms", ROOM_TOOLS, {"a": "Make the room Blue"})


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Writes an agent, and gives its command line."""

    def write(text: str) -> str:
        (tmp_path / "agent.py").write_text(AGENT_KIT + text)
        return shlex.join([sys.executable, str(tmp_path / "agent.py")])

    return write


def journal(folder: Path) -> list[Any]:
    return lines_of(folder / "predictions_agents/runs/mine/journal.jsonl")


# A model that fails


def both(first: str, second: str) -> Callable[[str, AgentSession], Any]:
    """An agent that asks two questions at once, and answers whatever comes."""

    async def agent(text: str, session: AgentSession) -> str:
        asked = [session.chat("acme", [{"role": "user", "content": one}]) for one in (first, second)]
        await asyncio.gather(*asked, return_exceptions=True)
        await asyncio.sleep(0.2)
        return "my answer"

    return agent


@pytest.mark.parametrize("first", ["401", "500"])
def test_an_answer_does_not_make_up_for_a_request_that_failed_meanwhile(folder: Path, first: str) -> None:
    async def slow(received: Received) -> Reply:
        await asyncio.sleep(0.5)
        return Reply("Yes.")

    with running_server(slow) as server:
        server.behaviour = lambda prompt, number: first if prompt == "A" else "whole"
        options = ModelOptions(server.base, max_tries=1)
        given: dict[str, Any] = {"llm": "mine", "options": options, "agent": both("A", "B")}
        if first == "401":  # as every other request would fail
            with pytest.raises(ToolassayError):
                infer(folder, **given)
            assert not (folder / "predictions_agents/mine.json").exists()
        else:
            assert infer(folder, **given).summary.outcomes == {"provider error": 1}
        server.behaviour = lambda prompt, number: "whole"
        assert infer(folder, **given).summary.outcomes == {"answered": 1}


def test_a_request_that_is_sent_again_makes_up_for_its_failure(folder: Path) -> None:
    async def agent(text: str, session: AgentSession) -> str:
        for _ in range(2):
            try:
                await session.chat("acme", [{"role": "user", "content": "A"}])
            except ModelError:
                continue
        return "done"

    with running_server() as server:
        server.fail_first("500")
        options = ModelOptions(server.base, max_tries=1)
        assert infer(folder, llm="mine", options=options, agent=agent).summary.outcomes == {"answered": 1}


def test_an_agent_that_a_budget_ends_has_no_answer(folder: Path) -> None:
    with running_server() as server:
        given: dict[str, Any] = {"llm": "mine", "options": ModelOptions(server.base), "agent": both("A", "B")}
        stopped = infer(folder, budget=Budget(requests=1), **given)
        assert stopped.summary.outcomes == {"budget stop": 1}
        assert infer(folder, **given).summary.outcomes == {"answered": 1}
        assert len(server.received) == 2


# A function that goes on


def test_after_its_end_a_function_gets_no_call_and_no_answer(folder: Path) -> None:
    refused: list[type[Exception]] = []

    async def stubborn(text: str, session: AgentSession) -> str:
        until = time.monotonic() + 3
        while time.monotonic() < until:
            try:
                await session.call("create_room", {"title": "Blue"})
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                continue
            except Refusal as error:
                refused.append(type(error))
                try:
                    await session.chat("acme", [{"role": "user", "content": "A"}])
                except ModelError as failure:
                    refused.append(type(failure))
                    return "late"
        return "never"

    with running_server() as server:
        given: dict[str, Any] = {"llm": "mine", "agent": stubborn, "max_seconds": 0.5}
        done = infer(folder, options=ModelOptions(server.base), **given)
        assert done.summary.outcomes == {"ended at a limit": 1}
        assert not server.received
    assert refused == [Refusal, ModelError]
    lines = journal(folder)
    assert "outcome" in lines[-1]
    assert lines[-1]["calls"] == sum("result" in line for line in lines)


# What an agent started


CHILD = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid()) + '.'); time.sleep(60)"
ESCAPES = f"""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-S", "-c", {CHILD!r}, sys.argv[1]], {{}})
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]): time.sleep(0.01)
"""


def pid_in(file: Path) -> int:
    return int(file.read_text().removesuffix("."))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt")
@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("print('done')", "answered"),
        ("time.sleep(60)", "ended at a limit"),
        ("sys.exit(3)", "malformed"),
        ("os.kill(os.getpid(), 9)", "provider error"),
    ],
    ids=["ends", "is ended", "fails", "is killed"],
)
def test_a_child_ends_with_its_agent_whatever_it_has_left(
    folder: Path, command: Command, tmp_path: Path, end: str, outcome: str
) -> None:
    """It has no variables of its agent, a session of its own, and its parent has ended."""
    pids = tmp_path / "pids"
    done = infer(folder, llm="mine", agent_command=f"{command(ESCAPES + end)} {pids}", max_seconds=3)
    assert done.summary.outcomes == {outcome: 1}
    assert not is_running(pid_in(pids))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of the end of its parent")
def test_all_ends_with_a_run_that_is_killed(folder: Path, command: Command, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    agent = f"{command(ESCAPES + 'time.sleep(60)')} {pids}"
    words = ("--data_dir", folder, "--llm", "mine", "--agent_command", agent)
    process = started("infer", *words, cwd=tmp_path)
    wait_until(lambda: pids.exists() and pids.read_text().endswith("."), process)
    process.kill()
    process.communicate()
    wait_until(lambda: not is_running(pid_in(pids)), seconds=10)


# What an agent can read and write


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_its_stderr_is_not_written_through_a_link(folder: Path, command: Command, kind: str) -> None:
    stderr, outside = folder / "predictions_agents/runs/mine/stderr", folder / "outside"
    stderr.parent.mkdir(parents=True)
    outside.mkdir()
    (outside / "a.log").write_text("precious")
    if kind == "folder":
        stderr.symlink_to(outside)
    else:
        stderr.mkdir()
        log = stderr / "a.log"
        log.symlink_to(outside / "a.log") if kind == "link" else os.mkfifo(log)
    told: list[str] = []
    agent = command("print('why', file=sys.stderr)")
    done = infer(folder, llm="mine", agent_command=agent, screen=Screen(told.append))
    assert done.summary.outcomes == {"answered": 1}
    assert (outside / "a.log").read_text() == "precious"
    named = stderr if kind == "folder" else stderr / "a.log"
    assert [str(named) in line for line in told if "stderr" in line] == [True]


@pytest.mark.parametrize("place", ["runs", "runs/mine", "executions"])
def test_a_folder_of_a_run_that_is_a_link_is_refused(folder: Path, command: Command, place: str) -> None:
    (folder / "outside").mkdir()
    path = folder / "predictions_agents" / place
    path.parent.mkdir(parents=True)
    path.symlink_to(folder / "outside")
    with pytest.raises(UsageError, match="link"):
        infer(folder, llm="mine", agent_command=command("print(1)"))
    assert list((folder / "outside").iterdir()) == []


KEYS = (
    *("GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY", "HF_TOKEN", "CO_API_KEY", "XAI_API_KEY"),
    *("AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK", "GROQ_API_KEY_2", "WATSONX_APIKEY"),
    *("OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "TOGETHER_API_KEY", "REPLICATE_API_TOKEN", "ZAI_API_KEY"),
)
OTHERS = ("SEARCH_KEY", "TAVILY_API_KEY", "GOOGLE_CLOUD_PROJECT", "AWS_REGION", "HF_HOME", "COMPANY_TOKEN")
SEES = """
import re
of_parent = open(f"/proc/{os.getppid()}/environ").read() if os.path.exists("/proc") else ""
print(json.dumps([dict(os.environ), re.findall("secret-[A-Za-z0-9_]+", of_parent)]))
"""


def test_an_agent_and_its_parent_have_no_key_of_a_provider(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, f"secret-{name}")
    monkeypatch.setenv("MY_COPY", "secret-HF_TOKEN")
    monkeypatch.setenv("OUR_GATEWAY", "sk-0123456789")
    monkeypatch.setenv("NVIDIA_API_KEY", "test")
    monkeypatch.setenv("STAGE", "test")
    for name in OTHERS:
        monkeypatch.setenv(name, f"plain-{name}")
    infer(folder, llm="mine", agent_command=command(SEES))
    (line,) = lines_of(folder / "predictions_agents/mine.json")
    own, of_parent = json.loads(line["answer"])
    assert [name for name, text in own.items() if text.startswith("secret-")] == [] == of_parent
    assert {"OUR_GATEWAY", "NVIDIA_API_KEY"}.isdisjoint(own) and own["STAGE"] == "test"
    assert {name: own.get(name) for name in OTHERS} == {name: f"plain-{name}" for name in OTHERS}


# A body without bound


@pytest.mark.parametrize("headers", ["both", "chunked", "length"])
@pytest.mark.parametrize("path", ["model", "mcp"])
def test_at_most_64_mib_of_a_body_are_read(folder: Path, path: str, headers: str) -> None:
    seen: list[tuple[int, float]] = []

    def send(session: AgentSession) -> int:
        url = f"{session.base_url}/chat/completions" if path == "model" else session.mcp_url
        host, _, place = url.removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=20)
        connection.putrequest("POST", f"/{place}")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Accept", "application/json, text/event-stream")
        if headers != "chunked":
            connection.putheader("Content-Length", "5" if headers == "both" else str(2**28))
        if headers != "length":
            connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        block = b" " * 2**20
        try:
            for _ in range(256):
                connection.send(block if headers == "length" else b"%x\r\n%s\r\n" % (len(block), block))
            return connection.getresponse().status
        except OSError:
            try:
                return connection.getresponse().status
            except (OSError, http.client.HTTPException):
                return 0  # the connection was closed

    async def agent(text: str, session: AgentSession) -> str:
        process = psutil.Process()
        before = most = process.memory_info().rss
        task = asyncio.create_task(asyncio.to_thread(send, session))
        while not task.done():
            most = max(most, process.memory_info().rss)
            await asyncio.sleep(0.01)
        seen.append((task.result(), (most - before) / 2**20))
        return "done"

    infer(folder, llm="mine", agent=agent)
    ((status, grown),) = seen
    assert status in {"both": (400, 0), "chunked": (413, 0), "length": (413, 0)}[headers]
    assert grown < 200
