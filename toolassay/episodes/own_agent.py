"""Runs an agent of the user's, a command or a function, on a request with tools.

Each request has an MCP server with the tools, an address of the model, and an environment of its own. The
agent's calls and the answers of its model are recorded as those of agents of Toolassay are.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from toolassay.console.screen import WARNING
from toolassay.episodes import agent_supervisor
from toolassay.episodes.agent_supervisor import hidden_process
from toolassay.episodes.agent_tools import (
    AgentServer,
    SessionEntry,
    ToolSession,
    functions_of,
    mcp_server,
    new_token,
)
from toolassay.episodes.model_relay import ModelRelay, WireRequest, relay_options
from toolassay.errors import UsageError
from toolassay.executors.executor import TOGETHER, CallResult, Refusal, one_line
from toolassay.executors.plan_run import result_of
from toolassay.extras import needed
from toolassay.files.data_files import safe_name
from toolassay.files.locks import open_regular, refuse_links
from toolassay.files.program_files import VERSION, ProgramFiles, file_of
from toolassay.mcp_client.server_config import ServerConfig
from toolassay.mcp_client.server_process import ServerProcess
from toolassay.models import ModelError
from toolassay.models.client import Client
from toolassay.models.redaction import is_model_key
from toolassay.models.refused_parameters import Default
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import Request
from toolassay.runs.items import Ask, ItemWork, answer_items
from toolassay.runs.ledger import prices_within
from toolassay.runs.settings import RunSettings
from toolassay.runs.work import OpenRun
from toolassay.tools.library import ToolLibrary

AgentFunction = Callable[[str, Any], Awaitable[str]]
"""An agent in Python: gets the text of a request and its `AgentSession`, and returns the final answer."""
_MOST_OUTPUT = 2**20  # bytes of an answer
_KEPT_ERRORS = 2**16  # bytes of the end of its stderr
_MEMORY = 4 * 2**30  # bytes of each process of an agent, where the platform can bound them
_SHORTEST_KEY = 8  # characters of a key that no other variable has by chance
_LONGEST_VARIABLE = 100_000  # bytes; the system refuses a longer one
_TEMPORARY = 75  # EX_TEMPFAIL: the agent asks to be run again
_SIGNALLED = range(129, 160)  # how shells report a child that a signal ended
# Seconds between checks whether the agent has ended or is over a limit.
_POLL = 0.05


class AgentEnd(NamedTuple):
    """How an agent ended.

    Attributes:
        answer: Its final answer.
        problem: Why it has none; empty if it has one.
        limit: The limit that ended it: "time" or "output".
    """

    answer: str = ""
    problem: str = ""
    limit: str | None = None


@dataclass
class AgentSession:
    """What an agent has for one request.

    Attributes:
        request: The request.
        tools: The tools, as entries of `tools` in a chat request.
        mcp_url: Address of an MCP server (streamable HTTP) with the tools.
        base_url: Address of the model for clients of OpenAI's APIs; that of Anthropic's lacks the `/v1`.
        token: Stands for the key of the model.
        today: Date of the set.
    """

    request: Request
    tools: Sequence[Mapping[str, Any]]
    mcp_url: str
    base_url: str
    token: str
    today: date | None
    _names: Mapping[str, str]
    _calls: ToolSession
    _relay: ModelRelay
    _later: Sequence[Mapping[str, Any]] | None = None

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool, by its name in `tools` or its id; its result as JSON.

        Raises:
            Refusal: The tool refused the call.
        """
        return (await self._called(self._names.get(name, name), arguments)).value

    async def _called(self, tool: str, arguments: Mapping[str, Any]) -> CallResult:
        call = await self._calls.call(tool, arguments)
        self.tools = self.tools if self._later is None else self._later
        if call.error is not None:
            raise Refusal(call.error)
        return result_of(call)

    async def chat(self, model: str, messages: Sequence[Mapping[str, Any]], **parameters: Any) -> Any:
        """Send a chat completion to the model; the JSON of its answer.

        Raises:
            ModelError: There is no answer.
        """
        body = json.dumps({"model": model, "messages": messages, **parameters})
        wire = WireRequest("chat", body, {"content-type": "application/json"})
        return json.loads((await self._relay.send(wire, model)).answer)


class OwnAgent:
    """An agent of the user's, and what it needs from a run.

    Args:
        run: Settings of the run; its model names the agent, and has the address of the agent's models.
        own: Options of the benchmark: `agent_command` and `agent_version`, and `max_seconds` for a request.
        data: The data folder.
        unfit: Names of options that do not concern an agent.

    Attributes:
        opened: The run; set before the first item.
        models: By name, the models that the agent asked.
        program: Its files, or its version instead of them; its fingerprint in settings of a run.

    Raises:
        UsageError: The command is not found, or an option is given that does not concern an agent.
    """

    def __init__(self, run: RunSettings, own_options: Any, data: Path, *unfit: str) -> None:
        needed("mcp", "an agent of your own", "mcp")
        self.agent: str | AgentFunction = own_options.agent_command
        self.run = run
        self.seconds = own_options.max_seconds
        self.benchmark = DataFolder(data).benchmark
        self.opened: OpenRun | None = None
        self.models: dict[str, Any] = {}
        model = run.model
        options = run.endpoint
        refused = {
            "temperature": type(model.temperature) is not Default,
            "top_p": type(model.top_p) is not Default,
            "max_tokens": model.max_tokens is not None,
            "extra_body": bool(options.extra_body),
            "stream": options.stream,
            "client": options.client != "aiohttp",
            "batch": options.batch is not None,
            "dry_run": run.choices.dry_run,
            "engine": run.choices.engine is not None,
            **{name: getattr(own_options, name) != getattr(type(own_options), name) for name in unfit},
        }
        for name in (name for name, is_given in refused.items() if is_given):
            raise UsageError(f"--{name}: what an agent sends is its own", fix="omit it")
        if isinstance(self.agent, str) and not shutil.which((shlex.split(self.agent) or [""])[0]):
            raise UsageError(f"--agent_command: '{self.agent}' is not found", fix="write a program's path")
        if own_options.agent_version is not None:
            self.program = ProgramFiles([], data)
            self.program.settings[VERSION] = own_options.agent_version
        elif isinstance(self.agent, str):
            self.program = ProgramFiles.of_command(shlex.split(self.agent), data)
        else:
            self.program = ProgramFiles.of_function(self.agent, data)

    @property
    def name(self) -> str:
        """The agent as the settings of a run have it."""
        if isinstance(self.agent, str):
            return self.agent
        return str(getattr(self.agent, "__qualname__", type(self.agent).__qualname__))

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """The server of the agents, and the models that they ask."""
        watching = asyncio.create_task(self._watch())
        self._server = AgentServer()
        hidden = hidden_process() if isinstance(self.agent, str) else contextlib.nullcontext()
        async with self._server.listening():
            try:
                with hidden:
                    yield
            finally:
                watching.cancel()
                await asyncio.wait([watching])
                for model in self.models.values():
                    await model.close()

    async def _watch(self) -> None:
        """Until this is cancelled, keep the time of the journal, which says how long a process lived that was
        killed; then record the files that the agent wrote.
        """
        assert self.opened is not None
        try:
            while True:
                os.utime(self.opened.journal.path)
                await asyncio.sleep(_POLL)
        finally:
            self.opened.record.leave_out(self.program.changed(scripts=False))

    def answer(self, run: OpenRun, items: ItemWork[Any], chosen: Iterable[Any]) -> int:
        """Let the agent work on what has no answer yet; how many requests had one."""
        self.opened = run
        loop = replace(run.loop, concurrency=run.loop.concurrency or TOGETHER)
        return answer_items(items, chosen, run.model, self.models, run.journal, loop)

    def _model(self, name: str) -> None:
        """Make the model of a name, with its price."""
        if name not in self.models:
            assert self.opened is not None
            limits = self.run.limits
            ledger = self.opened.ledger
            options = self.run.endpoint
            prices = prices_within([name], limits.budget, limits.prices, options)
            cast(dict[str, Any], ledger.prices).update(prices)
            self.models[name] = Client(name, relay_options(options), ledger)

    async def work(
        self,
        request: Request,
        ask: Ask,
        calls: ToolSession,
        later: ToolLibrary | None = None,
    ) -> SessionEntry:
        """Let the agent work on a request.

        Args:
            request: The request.
            ask: Records the answers of its models.
            calls: Makes its calls; is closed at the end.
            later: The tools as they are after the first call; None where they stay.

        Returns:
            How it ended, and its calls.

        Raises:
            ModelError: It has no end of its own, or a script of it was edited.
        """
        async with AsyncExitStack() as stack:
            stack.push_async_callback(calls.close)
            if calls.failure is not None:  # a call of an earlier start is in doubt
                raise calls.failure
            relay = ModelRelay(ask, self.seconds, self._model)
            stack.push_async_callback(relay.close)
            session = await self._offered(request, calls, relay, stack, later)
            run = self._command if isinstance(self.agent, str) else self._function
            end = await run(session, relay, calls)
            entry = await calls.entry(request.text, end.answer)
        if isinstance(self.agent, str) and (edited := self.program.changed(scripts=True)):
            error = ModelError(f"{file_of(edited[0])} was edited during the run", stops_run=True)
            error.fix = "undo that and start again, or start a new run with --force true"
            raise error
        if relay.failure is not None:
            raise relay.failure
        if calls.failure is not None:
            raise calls.failure
        entry.steps = relay.answers
        entry.limit = end.limit or ""
        entry.problem = end.problem or None
        return entry

    async def _offered(
        self,
        item: Request,
        calls: ToolSession,
        relay: ModelRelay,
        stack: AsyncExitStack,
        later: ToolLibrary | None,
    ) -> AgentSession:
        """The session of a request; its addresses answer until `stack` is closed."""
        from starlette.routing import Route

        token = new_token()
        names = {function.name: tool for tool, function in functions_of(calls.library)}
        base = f"{self._server.base}/model/{token}/v1"
        offered = _entries(calls.library)
        after = None if later is None else _entries(later)
        session = AgentSession(
            item, offered, "", base, token, self.benchmark.today, names, calls, relay, after
        )
        server = mcp_server(calls.library, session._called, later=lambda: later if calls.calls else None)
        route = Route(f"/model/{token}/v1/{{path:path}}", relay.answer, methods=["POST"])
        session.mcp_url = await stack.enter_async_context(self._server.offered(server, token, route))
        return session

    async def _function(self, session: AgentSession, relay: ModelRelay, calls: ToolSession) -> AgentEnd:
        """Run a function; an exception is a failure of the agent."""
        agent = self.agent
        assert not isinstance(agent, str)

        async def work() -> str:
            return await agent(session.request.text, session)

        task = asyncio.create_task(work())
        try:
            limit = await _limit(task.done, relay, calls)
            if not task.done():
                return AgentEnd(limit=limit)
            error = None if task.cancelled() else task.exception()
            if error is None and not task.cancelled() and isinstance(task.result(), str):
                return AgentEnd(task.result())
            return AgentEnd(problem=f"the agent ended without a text: {one_line(repr(error))}")
        finally:
            task.cancel()
            await asyncio.wait([task], timeout=1)

    async def _command(self, session: AgentSession, relay: ModelRelay, calls: ToolSession) -> AgentEnd:
        """Run a command; its exit code says how it ended.

        Raises:
            ModelError: A signal ended it, or it asks to be run again.
        """
        assert isinstance(self.agent, str)
        command, *arguments = shlex.split(self.agent)
        if os.name == "posix":
            bounded = [agent_supervisor.__file__, str(os.getpid()), str(_MEMORY)]
            arguments = ["-I", "-S", *bounded, command, *arguments]
            command = sys.executable
        process = await ServerProcess.start(
            ServerConfig("agent", command, arguments, self._environment(session))
        )
        streams = process.process
        assert streams.stdin and streams.stdout and streams.stderr
        output = bytearray()
        errors = bytearray()
        readers = [
            asyncio.create_task(_kept(streams.stdout, output)),
            asyncio.create_task(_kept(streams.stderr, errors, _KEPT_ERRORS)),
        ]
        try:
            request = {"id": session.request.id, "request": session.request.text}
            streams.stdin.write(json.dumps(request).encode() + b"\n")
            streams.stdin.close()
            limit = await _limit(lambda: bool(process.status) or len(output) > _MOST_OUTPUT, relay, calls)
            if process.status:  # its children may still have its output
                await asyncio.wait(readers, timeout=1)
        finally:
            code = streams.returncode
            await process.stop(0)
            for reader in readers:
                reader.cancel()
            self._log(session.request, errors)
        if len(output) > _MOST_OUTPUT:
            return AgentEnd(limit="output")
        if code is None:
            return AgentEnd(limit=limit)
        last_line = one_line(errors.decode(errors="replace").strip().rpartition("\n")[2])
        how = f"the agent {process.status}{f': {last_line}' if last_line else ''}"
        if code == _TEMPORARY or code < 0 or code in _SIGNALLED:
            raise ModelError(how)
        return AgentEnd(problem=how) if code else AgentEnd(output.decode(errors="replace").strip())

    def _environment(self, session: AgentSession) -> dict[str, str]:
        """The variables of an agent: those of this process without keys of models, and the addresses."""
        replaced = ("OPENAI_", "ANTHROPIC_", "AZURE_OPENAI_")
        keys = {name: text for name, text in os.environ.items() if is_model_key(name, text)}
        # Others have such a key too, but also the word "test".
        copied = {text for text in keys.values() if len(text) >= _SHORTEST_KEY}
        copied |= {*self.run.endpoint.credentials}
        agent_variables = {
            name: text
            for name, text in os.environ.items()
            if not (name.startswith(replaced) or name in keys or text in copied)
        }
        text = session.request.text.replace("\0", "")
        return {
            **agent_variables,
            **self.benchmark.environment,
            **({"TOOLASSAY_REQUEST": text} if len(text.encode()) < _LONGEST_VARIABLE else {}),
            "TOOLASSAY_MCP_URL": session.mcp_url,
            "TOOLASSAY_MODEL": self.run.model.llm,
            "OPENAI_BASE_URL": session.base_url,
            "OPENAI_API_KEY": session.token,
            "ANTHROPIC_BASE_URL": session.base_url.removesuffix("/v1"),
            "ANTHROPIC_API_KEY": session.token,
        }

    def _log(self, request: Request, errors: bytearray) -> None:
        """Keep the end of what an agent wrote to stderr; without it the run goes on."""
        assert self.opened is not None
        path = self.opened.journal.path.parent / "stderr" / f"{safe_name(str(request.id))}.log"
        try:
            if errors:
                refuse_links(path.parent)
                path.parent.mkdir(exist_ok=True)
                with open_regular(path, "wb") as stream:
                    stream.write(errors[-_KEPT_ERRORS:])
        except (OSError, UsageError) as error:
            self.run.screen.say(f"{WARNING}the stderr of an agent is not kept: {error}")


def _entries(library: ToolLibrary) -> list[dict[str, Any]]:
    """The tools as entries of `tools` in a chat request."""
    return [
        {"type": "function", "function": msgspec.to_builtins(function)}
        for _, function in functions_of(library)
    ]


async def _limit(ended: Callable[[], bool], relay: ModelRelay, calls: ToolSession) -> str | None:
    """Wait until an agent has ended or must end; the limit that ends it."""
    while not ended():
        if relay.seconds_left <= 0:
            return "time"
        if relay.over.is_set() or calls.failure:
            return None
        await asyncio.sleep(_POLL)
    return None


async def _kept(stream: asyncio.StreamReader, into: bytearray, most: int | None = None) -> None:
    """Read a stream to its end, or until it has more than an answer may have; keep the last `most` bytes."""
    # The pipe of a killed process may break; what it wrote before counts.
    with contextlib.suppress(OSError):
        while chunk := await stream.read(2**16):
            into += chunk
            if most is not None:
                del into[:-most]
            elif len(into) > _MOST_OUTPUT:
                return
