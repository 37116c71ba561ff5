"""Offers the tools of a data folder to any agent over MCP (streamable HTTP), and records what it calls.

Each agent has an address with its own token. It takes one request of the folder after the other, and works
on each in an environment of its own. A call is in the journal before its result is sent, so a server that is
started again goes on where the last one ended, whatever ended it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.registry import benchmark_executors
from toolassay.console.screen import DEFAULT, Screen
from toolassay.episodes.agent_tools import (
    TOKEN,
    AgentServer,
    SessionEntry,
    ToolSession,
    mcp_server,
    new_token,
)
from toolassay.executors import executor_named
from toolassay.executors.executor import CallResult, ExecutionContext, OpenExecutor, Refusal
from toolassay.executors.plan_run import result_of
from toolassay.extras import needed
from toolassay.files.data_files import (
    atomic_target,
    indented_json,
    read_json,
    safe_name,
    sha256_of,
    unescaped_json,
    write_json_lines,
)
from toolassay.files.locks import open_regular, refuse_links
from toolassay.plans.execution_record import WORLD
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import Request
from toolassay.records.requests import Requests, key_of, request_fingerprint
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.items import ENDED, IN_DOUBT, Ask, no_model
from toolassay.runs.journal import CallLine, Journal, LineAddress
from toolassay.runs.manifest import JOURNAL, open_run
from toolassay.tools.library import ToolLibrary

if TYPE_CHECKING:
    import mcp_types

GET_REQUEST = "toolassay_get_request"
SUBMIT = "toolassay_submit"
_NUMBER = "(file)"
"""Key of `addresses.json` with the number that the file has on its disk: it shows that it was made here."""
# An address that this command wrote: "http://127.0.0.1:4000/mcp/TOKEN"; not that of another host.
_ADDRESS = re.compile(rf"http://127\.0\.0\.1:\d+/mcp/{TOKEN}")
_GIVEN = "request"  # role of the journal's line that says that the agent has the request


@dataclass
class AgentQueue:
    """The work of one agent: request after request, each in an environment of its own.

    Attributes:
        journal: Of the agent.
        predictions: Its file of predictions; `executions/` beside it has what its calls did.
        remaining: The requests of the folder.
        library: The tools.
        executor: Makes the calls.
        executor_name: Its name.
        may_write: Whether tools that are not marked read-only may be called.
    """

    journal: Journal
    predictions: Path
    remaining: Iterator[Request]
    library: ToolLibrary
    executor: OpenExecutor
    executor_name: str
    may_write: bool
    _request: Request | None = None
    _again: int = 0
    _session: ToolSession | None = None

    @property
    def executions(self) -> Path:
        """Its file of executions."""
        return self.predictions.parent / "executions" / f"{self.predictions.stem}.jsonl"

    def write_answered(self, requests: Requests) -> None:
        """Write the requests that have an answer, also those that a killed server did not write."""
        entries = ((request, self.journal.entry(key_of(request.id), SessionEntry)) for request in requests)
        answered = [(request, entry) for request, entry in entries if entry.plan is not None]
        write_json_lines(self.predictions, (entry.prediction(request) for request, entry in answered))
        lines = (entry.execution(request, self.executor_name) for request, entry in answered)
        write_json_lines(self.executions, lines)

    async def advance(self) -> None:
        """Go to the first request that has no answer, with what is recorded of it."""
        await self.close()
        self._session = None
        entries = (
            (request, self.journal.entry(key_of(request.id), SessionEntry)) for request in self.remaining
        )
        unfinished = (
            (request, entry) for request, entry in entries if entry.outcome not in (*ENDED, IN_DOUBT)
        )
        self._request, entry = next(unfinished, (None, SessionEntry()))
        self._again = entry.asked_again + 1 if entry.outcome else 0
        if self._request is not None and self.journal.call(self._request_address):
            await self._begin(self._request)

    @property
    def _request_address(self) -> LineAddress:
        assert self._request is not None
        return LineAddress(key_of(self._request.id), _GIVEN, 0, self._again)

    async def _begin(self, request: Request) -> None:
        key = key_of(request.id)
        ask = Ask(key, self.journal, no_model, again=self._again)
        self._session = ToolSession(self.library, self.executor, ask, may_write=self.may_write)
        await self._session.resume(self.journal.calls(key, self._again))

    async def get_request(self) -> dict[str, Any]:
        """The current request; the same one until an answer is submitted. An id of None: none is left."""
        if self._request is None:
            return {"id": None, "request": None}
        if self._session is None:
            self.journal.add_answer(self._request_address, CallLine())
            await self._begin(self._request)
        return {"id": self._request.id, "request": self._request.text}

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallResult:
        """Make a call of the agent.

        Raises:
            Refusal: The tool refused it, or there is no current request.
        """
        if name == GET_REQUEST:
            return CallResult.of(await self.get_request())
        if self._session is None:
            raise Refusal(f"there is no current request: call {GET_REQUEST}")
        if name == SUBMIT:
            return CallResult.of(await self.submit(self._session, str(arguments.get("answer", ""))))
        call = await self._session.call(name, arguments)
        if call.error is not None:
            raise Refusal(call.error)
        return result_of(call)

    async def submit(self, session: ToolSession, answer: str) -> dict[str, Any]:
        """Finish the current request; one whose environment failed is given again by the next server."""
        request = self._request
        assert request is not None
        entry = await session.entry(request.text, answer)
        if session.failure:
            entry = SessionEntry(outcome=session.failure.outcome, problem=str(session.failure))
        entry.request = request_fingerprint(request.text)
        entry.asked_again = self._again
        self.journal.append(key_of(request.id), entry)
        if not session.failure:
            executed = entry.execution(request, self.executor_name)
            for file, line in ((self.predictions, entry.prediction(request)), (self.executions, executed)):
                with open_regular(file, "a", encoding="utf-8") as stream:
                    stream.write(unescaped_json(line) + "\n")
        await self.advance()
        return {"submitted": request.id}

    async def close(self) -> None:
        """Close the environment."""
        if self._session is not None:
            await self._session.close()


def _known_addresses(path: Path) -> dict[str, str]:
    """The addresses of earlier servers, not of a file copied with the folder: others know its tokens."""
    addresses = read_json(path) if path.exists() else None
    # A copy has another number.
    if not isinstance(addresses, dict) or addresses.pop(_NUMBER, None) != path.lstat().st_ino:
        return {}
    return {
        name: text for name, text in addresses.items() if isinstance(text, str) and _ADDRESS.fullmatch(text)
    }


def _write_addresses(path: Path, addresses: Mapping[str, str]) -> None:
    path.parent.chmod(0o700)  # before there are tokens
    with atomic_target(path) as stream:
        inode_note = {_NUMBER: os.fstat(stream.fileno()).st_ino}
        stream.write(indented_json({**addresses, **inode_note}).encode())


def _queue_tools() -> list[mcp_types.Tool]:
    """The tools by which an agent takes a request from its queue and ends its work on it."""
    import mcp_types

    answer = {"type": "string", "description": "The final answer to the user."}
    return [
        mcp_types.Tool(
            name=GET_REQUEST,
            description=f"Returns the user's request. Call it first, and after {SUBMIT}. Id null: no more.",
            input_schema={"type": "object"},
        ),
        mcp_types.Tool(
            name=SUBMIT,
            description="Ends the work on the current request.",
            input_schema={"type": "object", "properties": {"answer": answer}, "required": ["answer"]},
        ),
    ]


def serve_mcp(
    data_dir: str | Path,
    *,
    executor: str = WORLD,
    options: Any = None,
    agents: Sequence[str] = ("agent",),
    port: int = 4000,
    allow_writes: bool = False,
    allow_tools: bool = False,
    seed: int = 0,
    screen: Screen = DEFAULT,
) -> None:
    """Offer the tools and requests of a folder over MCP on 127.0.0.1 until interrupted.

    Args:
        data_dir: Data folder with tools and requests.
        executor: Name of the executor that runs the calls.
        options: Its options object.
        agents: Names of the agents, one address each.
        port: Port; 0 selects a free one.
        allow_writes: Permit tools that are not marked read-only.
        allow_tools: Permit running code of the folder, or that an option names.
        seed: Random seed of a world by rules.
        screen: Receives the file of the addresses once the server listens.

    Raises:
        UsageError: The executor cannot be used as given, a file is missing or malformed, an agent has
            predictions made with other settings, or the port is in use.
        KeyboardInterrupt: At Ctrl-C.
    """
    needed("mcp", "serve --mcp", "mcp")

    folder = DataFolder(Path(data_dir)).require()
    library = folder.library(say=screen.say)
    requests = Requests(folder.user_requests)
    chosen = executor_named(executor, benchmark_executors())
    context = ExecutionContext(folder, library, allow_tools=allow_tools, seed=seed)
    predictions_folder = folder.path / "predictions_agents"
    addresses = predictions_folder / "runs" / "addresses.json"  # with tokens
    refuse_links(addresses.parent, *(addresses.parent / safe_name(name) for name in agents))
    known_addresses = _known_addresses(addresses)
    facts = {
        "ask": "agents",
        "dependency_type": "schema",
        "executor": chosen.name,
        "allow_writes": allow_writes,
        "tools_sha256": sha256_of(folder.tool_desc),
    }

    async def run() -> None:
        async with AsyncExitStack() as stack:
            server = AgentServer(port)
            opened = await stack.enter_async_context(chosen.open(context, options or chosen.options()))
            for name in agents:
                run_folder = predictions_folder / "runs" / safe_name(name)
                settings = json.loads(json.dumps({"llm": name, **facts, **opened.identity}))
                open_run(run_folder, settings, conflict_fix="use another --agent name")
                journal = stack.enter_context(Journal(run_folder / JOURNAL))
                file = predictions_folder / f"{safe_name(name)}.json"
                may_write = allow_writes or chosen.is_harmless
                queue = AgentQueue(journal, file, iter(requests), library, opened, executor, may_write)
                queue.write_answered(requests)
                stack.push_async_callback(queue.close)
                await queue.advance()
                token = known_addresses.get(name, "").rpartition("/")[2] or new_token()
                offered = server.offered(mcp_server(library, queue.call, _queue_tools()), token)
                known_addresses[name] = await stack.enter_async_context(offered)
            _write_addresses(addresses, known_addresses)
            serving = await stack.enter_async_context(server.listening())
            screen.show(f"{server.base} answers MCP; the addresses of the agents are in {addresses}")
            await serving

    run_coroutine(run())
