"""Agents that work on the tools of a data folder over MCP, and what is recorded of them."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from mcp.client import Client

from tests.support.builders import ROOM_TOOLS, agents_folder, imported_folder, imported_tool, write_labels
from tests.support.running import lines_of, shell, started
from toolassay import evaluate, execute, verify
from toolassay.executors import McpExecution

MAKE, LOOK = ROOM_TOOLS
TOOLS = [
    MAKE,
    {**LOOK, "annotations": {"readOnlyHint": True}},
    imported_tool("delete_room", "Deletes a room.", {"room_id": {"type": "string"}}, ["room_id"]),
]

Agent = Callable[[Client, Mapping[str, Any]], Awaitable[str]]


def rooms(path: Path) -> Path:
    """A folder with tools for rooms and three requests."""
    requests = {f"r{number}": f"Make room {number} and look at it" for number in (1, 2, 3)}
    return agents_folder(path, TOOLS, requests)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return rooms(tmp_path / "rooms")


class Serving:
    """`toolassay serve --mcp` in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self._options = folder, options
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self.process = started(
            "serve", "--mcp", "--port", "0", "--data_dir", self.folder, *self._options, cwd=self.folder
        )
        assert self.process.stdout is not None
        assert "answers MCP" in self.process.stdout.readline(), self.process.communicate()

    def end(self, by: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """End it; the exit code and all that it said after its start."""
        assert self.process is not None
        self.process.send_signal(by)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out + err

    def address(self, agent: str = "agent") -> str:
        """The address of an agent."""
        file = self.folder / "predictions_agents/runs/addresses.json"
        return str(json.loads(file.read_text())[agent])

    def predictions(self, agent: str = "agent") -> list[Any]:
        """The lines of an agent's predictions."""
        return lines_of(self.folder / f"predictions_agents/{agent}.json")


@pytest.fixture
def serve(folder: Path) -> Iterator[Callable[..., Serving]]:
    """Starts servers, which end with the test."""
    every: list[Serving] = []

    def start(*options: str) -> Serving:
        every.append(Serving(folder, *options))
        every[-1].start()
        return every[-1]

    yield start
    for one in every:
        if one.process is not None and one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server for several tests, which takes a second to start, with the agents `agent`, `one` and `two`."""
    folder = rooms(tmp_path_factory.mktemp("standing") / "rooms")
    server = Serving(folder, *("--agent", "agent"), *("--agent", "one"), *("--agent", "two"))
    server.start()
    yield server
    server.end(signal.SIGKILL)


def text_of(result: Any) -> str:
    """The text of a result."""
    return str(result.content[0].text)


async def work(address: str, agent: Agent) -> int:
    """The loop of an agent: get a request, work on it, submit, until none is left."""
    done = 0
    async with Client(address) as client:
        while True:
            request = (await client.call_tool("toolassay_get_request", {})).structured_content
            if request["id"] is None:
                return done
            answer = await agent(client, request)
            submitted = await client.call_tool("toolassay_submit", {"answer": answer})
            assert not submitted.is_error
            done += 1


async def make_and_look(client: Client, request: Mapping[str, Any]) -> str:
    """Try to make a room from nothing, make it, and look at it."""
    refused = await client.call_tool("create_room", {})
    assert refused.is_error
    made = await client.call_tool("create_room", {"title": request["request"][5:11]})
    seen = await client.call_tool("get_room", made.structured_content)
    return f"It is {seen.structured_content['room_id']}."


def created_room(line: Mapping[str, Any]) -> str:
    return str(line["calls"][1]["result"]["room_id"])


async def test_an_agent_gets_requests_calls_tools_and_submits(serve: Callable[..., Serving]) -> None:
    server = serve()
    assert await work(server.address(), make_and_look) == 3
    lines = server.predictions()
    assert [line["id"] for line in lines] == ["r1", "r2", "r3"]
    for number, line in enumerate(lines, 1):
        room = created_room(line)
        assert line["user_request"] == f"Make room {number} and look at it"
        assert line["answer"] == f"It is {room}."
        called = [(call["tool"], call["arguments"]) for call in line["calls"]]
        title = f"room {number}"
        assert called == [
            ("create_room", {}),
            ("create_room", {"title": title}),
            ("get_room", {"room_id": room}),
        ]
        assert line["calls"][0]["error"] and line["calls"][0]["result"] is None
        assert line["result"]["task_nodes"] == [
            {"task": "create_room", "arguments": [{"name": "title", "value": title}]},
            {"task": "get_room", "arguments": [{"name": "room_id", "value": "<node-0>.room_id"}]},
        ]
        assert line["result"]["task_links"] == [{"source": "create_room", "target": "get_room"}]
    code, said = server.end()
    assert code == 130
    token = server.address().rpartition("/")[2]
    assert len(token) >= 32 and token not in said
    labels = [{key: line[key] for key in ("id", "user_request")} | line["result"] for line in lines]
    write_labels(server.folder, [{**label, "type": "chain"} for label in labels])
    where = ("--data_dir", server.folder, "--prediction_dir", "predictions_agents", "--llm", "agent")
    scored = shell("evaluate", *where, cwd=server.folder)
    assert scored.code == 0
    assert scored.out.count("100.00") == 4  # the strict scores
    assert verify(server.folder, llm="agent", prediction_dir="predictions_agents").lines.is_equal


async def test_tools_are_offered_whole(standing: Serving) -> None:
    async with Client(standing.address()) as client:
        offered = {tool.name: tool for tool in (await client.list_tools()).tools}
        before = await client.call_tool("get_room", {"room_id": "x"})
    assert list(offered)[:2] == ["toolassay_get_request", "toolassay_submit"]
    for tool in TOOLS:
        one = offered[tool["id"]]
        assert (one.description, one.input_schema) == (tool["desc"], tool["input_schema"])
        assert one.output_schema == tool.get("output_schema")
    hints = offered["get_room"].annotations
    assert hints is not None and hints.read_only_hint is True
    assert before.is_error and "toolassay_get_request" in text_of(before)


async def test_agents_do_not_see_each_others_state(standing: Serving) -> None:
    async with Client(standing.address("one")) as one, Client(standing.address("two")) as two:
        for client in (one, two):
            await client.call_tool("toolassay_get_request", {})
        made = {"room_id": "RO-1001"}  # of the world that rules write
        await one.call_tool("delete_room", made)
        assert (await one.call_tool("get_room", made)).is_error
        assert not (await two.call_tool("get_room", made)).is_error
        await one.call_tool("toolassay_submit", {"answer": "gone"})
        await one.call_tool("toolassay_get_request", {})
        assert not (await one.call_tool("get_room", made)).is_error  # the next request starts anew
    assert len(standing.predictions("one")) == 1 and standing.predictions("two") == []


async def test_a_killed_server_goes_on_where_it_ended(serve: Callable[..., Serving]) -> None:
    server = serve()
    address = server.address()
    async with Client(address) as client:
        await client.call_tool("toolassay_get_request", {})
        made = (await client.call_tool("create_room", {"title": "Blue"})).structured_content
        await client.call_tool("delete_room", made)
        server.end(signal.SIGKILL)
    server.start()
    assert server.address().rpartition("/")[2] == address.rpartition("/")[2]
    async with Client(server.address()) as client:
        assert (await client.call_tool("get_room", made)).is_error  # the state is that before the kill
        request = (await client.call_tool("toolassay_get_request", {})).structured_content
        assert request["id"] == "r1"
        await client.call_tool("toolassay_submit", {"answer": "gone"})
        again = await client.call_tool("toolassay_submit", {"answer": "gone"})
        assert again.is_error
    server.end(signal.SIGKILL)
    file = server.folder / "predictions_agents/agent.json"
    file.write_text(file.read_text()[:40])  # as a kill while it is written
    server.start()
    (line,) = server.predictions()
    assert [call["tool"] for call in line["calls"]] == ["create_room", "delete_room", "get_room"]
    assert await work(server.address(), make_and_look) == 2


async def test_requests_from_elsewhere_and_large_ones_are_refused(standing: Serving) -> None:
    address = standing.address()
    base = address.rpartition("/")[0]
    assert stat.S_IMODE((standing.folder / "predictions_agents/runs").stat().st_mode) == 0o700
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=accepted) as session:

        async def status(address: str, text: str = body, **headers: str) -> int:
            async with session.post(address, data=text, headers=headers) as response:
                return response.status

        assert await status(address) == 200
        assert await status(f"{base}/guessed") == 404
        assert await status(address, Host="evil.example") == 421
        assert await status(address, Origin="http://evil.example") == 403
        assert await status(address, "x" * 2**23) == 413


def status_of(address: str) -> int:
    """The status of a listing; 0 without a connection."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
    accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body, accepted), timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


LONG = "http://127.0.0.1:4000/mcp/" + "a" * 32


@pytest.mark.parametrize(
    "planted", [{"a": "x", "b": LONG, "c": 5, "d": None}, {"a": LONG, "(file)": 1}, ["x"], 7]
)
def test_tokens_that_came_with_a_folder_are_not_served(
    serve: Callable[..., Serving], folder: Path, planted: Any
) -> None:
    file = folder / "predictions_agents/runs/addresses.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(planted))
    server = serve(*(word for name in "abcd" for word in ("--agent", name)))
    base = server.address("a").rpartition("/")[0]
    for name in "abcd":
        token = server.address(name).rpartition("/")[2]
        assert len(token) == 32 and token != "a" * 32
        assert status_of(server.address(name)) == 200
    assert [status_of(f"{base}/{one}") for one in ("x", "5", "None", "a" * 32)] == [404] * 4


def test_the_tokens_of_a_copied_folder_are_not_served(standing: Serving, tmp_path: Path) -> None:
    copy = Serving(Path(shutil.copytree(standing.folder, tmp_path / "copy")))
    copy.start()
    assert copy.address().rpartition("/")[2] != standing.address().rpartition("/")[2]
    copy.end(signal.SIGKILL)


@pytest.mark.parametrize("place", ["runs", "runs/agent"])
def test_a_folder_that_is_a_link_is_not_served(folder: Path, place: str) -> None:
    (folder / "outside").mkdir()
    path = folder / "predictions_agents" / place
    path.parent.mkdir(parents=True)
    path.symlink_to(folder / "outside")
    assert "link" in shell("serve", "--mcp", "--port", "0", "--data_dir", folder, cwd=folder).error
    assert list((folder / "outside").iterdir()) == []


def test_a_restarted_server_listens_when_all_addresses_answer(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(f"import time\ntime.sleep(1.5)\n{LEDGER}")
    tools = [imported_tool(name, f"Does {name}.", {}) for name in ("look", "add", "wait")]
    imported_folder(folder, {"nodes": tools})
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    slow = ("--server", f"{sys.executable} {tmp_path / 'slow.py'} ledger.txt", "--allow_writes")
    words = ("--mcp", "--port", port, "--data_dir", folder, "--executor", "mcp", *slow)
    known = folder / "predictions_agents/runs/addresses.json"
    for _ in range(2):
        process, codes = started("serve", *words, cwd=tmp_path), [0]
        while codes[-1] != 200:
            assert process.poll() is None
            if known.exists():
                codes.append(status_of(json.loads(known.read_text())["agent"]))
            time.sleep(0.02)
        process.kill()
        process.communicate()
        assert set(codes) == {0, 200}


def wait_for(file: Path) -> None:
    """Wait until a file exists."""
    until = time.monotonic() + 30
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.05)


LEDGER = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    names = ["look", "add", "wait"]
    tools = [{"name": one, "inputSchema": {"type": "object"},
              "annotations": {"readOnlyHint": one == "look"}} for one in names]
    result = {"tools": tools, "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
              "serverInfo": {"name": "ledger", "version": "1"}}
    if request.get("method") == "tools/call":
        name = request["params"]["name"]
        if name != "look":
            with open(sys.argv[1], "a") as file:
                file.write("x")
        if name == "wait":
            time.sleep(60)
        size = os.path.getsize(sys.argv[1]) if os.path.exists(sys.argv[1]) else 0
        result = {"content": [{"type": "text", "text": f"{size} lines"}]}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


@pytest.fixture
def ledger(folder: Path, tmp_path: Path) -> str:
    """The command of a server that appends to a file, whose tools the folder has."""
    (tmp_path / "ledger.py").write_text(LEDGER)
    tools = [imported_tool(name, f"Does {name}.", {}) for name in ("look", "add", "wait")]
    imported_folder(folder, {"nodes": tools})
    return f"python {tmp_path / 'ledger.py'}"


async def test_calls_are_relayed_to_copies_with_consent_to_writes(
    serve: Callable[..., Serving], ledger: str, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    relayed = ("--executor", "mcp", "--server", f"{ledger} ledger.txt", "--workspace", str(tmp_path / "data"))
    server = serve(*relayed, "--agent", "careful")
    async with Client(server.address("careful")) as client:
        await client.call_tool("toolassay_get_request", {})
        refused = await client.call_tool("add", {})
        assert refused.is_error and "--allow_writes" in text_of(refused)
        assert text_of(await client.call_tool("look", {})) == "0 lines"
    code, said = server.end(signal.SIGTERM)
    assert code == 130 and "Traceback" not in said
    server = serve(*relayed, "--agent", "one", "--agent", "two", "--allow_writes")
    async with Client(server.address("one")) as one, Client(server.address("two")) as two:
        for client in (one, two):
            await client.call_tool("toolassay_get_request", {})
        assert text_of(await one.call_tool("add", {})) == "1 lines"
        assert text_of(await one.call_tool("add", {})) == "2 lines"
        assert text_of(await two.call_tool("look", {})) == "0 lines"
    server.end(signal.SIGKILL)
    server.start()
    async with Client(server.address("one")) as one:
        assert text_of(await one.call_tool("look", {})) == "2 lines"
    assert list((tmp_path / "data").iterdir()) == []


async def test_an_agent_is_judged_by_what_its_calls_did(
    serve: Callable[..., Serving], ledger: str, folder: Path, tmp_path: Path
) -> None:
    workspace = tmp_path / "data"
    workspace.mkdir()
    nodes = [{"task": "add", "arguments": []}]
    gold = {"type": "single", "task_steps": ["Add"], "task_nodes": nodes, "task_links": []}
    write_labels(folder, [{"id": name, "user_request": "Add a line", **gold} for name in ("one", "two")])
    given = McpExecution(server=f"{ledger} ledger.txt", workspace=str(workspace))
    execute(folder, executor="mcp", options=given, allow_writes=True)
    server = serve(
        "--executor", "mcp", "--server", given.server, "--workspace", given.workspace, "--allow_writes"
    )

    async with Client(server.address()) as client:
        for calls in (1, 2):
            await client.call_tool("toolassay_get_request", {})
            for _ in range(calls):
                await client.call_tool("add", {})
            await client.call_tool("toolassay_submit", {"answer": "Added."})
    server.end(signal.SIGKILL)
    (folder / "predictions_agents/executions/agent.jsonl").unlink()  # the journal has what it had
    server.start()
    evaluate(folder, llm="agent")
    evaluate(folder, llm="agent")
    judged = json.loads((folder / "metrics_agents/outcomes/agent.json").read_text())
    assert (judged["judged"], judged["correct"]) == (2, 1)


async def test_a_call_without_a_result_is_not_repeated_on_a_live_server(
    serve: Callable[..., Serving], ledger: str, tmp_path: Path
) -> None:
    file = tmp_path / "ledger.txt"
    server = serve("--executor", "mcp", "--server", f"{ledger} {file}", "--allow_writes")
    async with aiohttp.ClientSession(headers={"Accept": "application/json, text/event-stream"}) as session:
        calls = [
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}}}
            for name in ("toolassay_get_request", "wait")
        ]
        await session.post(server.address(), json=calls[0])
        waiting = asyncio.create_task(session.post(server.address(), json=calls[1]))
        await asyncio.to_thread(wait_for, file)
        server.end(signal.SIGKILL)
        with pytest.raises(aiohttp.ClientError):
            await waiting
    for expected in ("r1", "r2"):  # a request in doubt is not given again
        server.start()
        async with Client(server.address()) as client:
            request = (await client.call_tool("toolassay_get_request", {})).structured_content
            assert request["id"] == expected
            refused = await client.call_tool("wait", {}) if expected == "r1" else None
            assert refused is None or (refused.is_error and "unknown" in text_of(refused))
            await client.call_tool("toolassay_submit", {"answer": "?"})
        server.end(signal.SIGKILL)
    assert [line["id"] for line in server.predictions()] == ["r2"]
    entries = lines_of(server.folder / "predictions_agents/runs/agent/journal.jsonl")
    ended = {line["key"]: line["outcome"] for line in entries if "outcome" in line}
    assert ended == {'"r1"': "in doubt", '"r2"': "answered"}
    assert file.read_text() == "x"
