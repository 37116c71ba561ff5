"""Executes calls on MCP servers: on a fresh copy of a folder for each plan, or on a server as it is."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from toolassay.errors import UsageError
from toolassay.executors.execution_options import McpExecution
from toolassay.executors.executor import (
    CallLimits,
    CallResult,
    Environment,
    EnvironmentFailure,
    ExecutionContext,
    ListedResource,
    NotCalled,
    OpenExecutor,
    Refusal,
    one_line,
)
from toolassay.executors.workspace import (
    PLACEHOLDER,
    CopiedEnvironment,
    PooledExecutor,
    Workspace,
    is_path,
)
from toolassay.files.data_files import read_text, unescaped_json
from toolassay.files.program_files import ProgramFiles
from toolassay.mcp_client.connection import Connection, connect
from toolassay.mcp_client.link import ServerLimits
from toolassay.mcp_client.server_config import (
    ServerConfig,
    ServerError,
    parse_address,
    parse_command,
    parse_entry,
    parse_headers,
    parse_json,
    servers_of,
)
from toolassay.models.redaction import without
from toolassay.plans.execution_record import Arguments
from toolassay.tools.argument_schemas import ArgumentValidator, Schema
from toolassay.tools.library import Tool
from toolassay.tools.results import is_refusal, parsed_text, texts_value

_LEAST_MESSAGE = 4 * 2**20  # bytes that a listing may need, whatever the bound on results
_POLL = 0.25  # seconds between checks of a server's memory
_MOST_SESSIONS = 3  # for one call
_CLOSING = 20.0  # seconds to end a server, which ends its children first
# The same in every copy, so that a commit has the same id in each.
_FIXED_ENVIRONMENT = {
    "TZ": "UTC",
    "GIT_AUTHOR_DATE": "2031-01-01T12:00:00 +0000",
    "GIT_COMMITTER_DATE": "2031-01-01T12:00:00 +0000",
}

Result = TypeVar("Result")


@asynccontextmanager
async def open_mcp(context: ExecutionContext, options: McpExecution) -> AsyncIterator[OpenExecutor]:
    """Start the servers once to see which tools they have.

    Raises:
        UsageError: No server is given, or one cannot be listed.
    """
    variables = context.folder.benchmark.environment
    configs = {
        name: replace(config, env={**variables, **config.env}) for name, config in _configs(options).items()
    }
    words = (
        (config.command, *config.args, *config.env.values(), config.cwd or "") for config in configs.values()
    )
    if not options.workspace and any(PLACEHOLDER in word for word in chain.from_iterable(words)):
        raise UsageError(f"{PLACEHOLDER} stands for a copy of a folder", fix="add --workspace FOLDER")
    async with _OpenMcp(configs, options, context.limits).listed() as opened:
        yield opened


def _configs(options: McpExecution) -> dict[str, ServerConfig]:
    """The servers by name; a single one is under the empty name."""
    if bool(options.server) == bool(options.mcp_config):
        raise UsageError(
            "the executor mcp needs a server", fix="add either --server 'COMMAND or URL' or --mcp_config FILE"
        )
    if options.server:
        if options.server.startswith(("http://", "https://")):
            return {"": parse_address(options.server, parse_headers(options.header))}
        return {"": parse_command(options.server)}
    path = Path(options.mcp_config)
    servers = servers_of(parse_json(read_text(path, fix="check --mcp_config")))
    if servers is None:
        raise UsageError("has no servers", file=path, fix='write {"mcpServers": {NAME: …}}')
    entries = {
        name: entry
        for name, entry in servers.items()
        if not (isinstance(entry, dict) and entry.get("disabled") is True)
    }
    return {name: parse_entry(name, entry) for name, entry in entries.items()}


def _absolute(word: str) -> str:
    """A word of a command line that names an existing file, with its whole path.

    The server works in another folder. A folder without a slash may be a command, such as "test".
    """
    is_file = is_path(word) and ("/" in word or Path(word).is_file())
    return str(Path(word).absolute()) if is_file else word


class _OpenMcp(PooledExecutor["_McpEnvironment"]):
    """The servers, their tools, and the environments that no plan uses at the moment."""

    sends_items = True

    def __init__(
        self, configs: Mapping[str, ServerConfig], options: McpExecution, limits: CallLimits
    ) -> None:
        super().__init__(options.workspace, options.fresh, limits)
        if any(config.url for config in configs.values()):  # an address is used as it is
            self.is_shared = True
            self.is_isolated = False
            self.starts_processes = not all(config.url for config in configs.values())
        # A server that is started here serves further plans until one writes.
        self.reuses = self.is_shared or self.source is None
        self.configs = configs
        self.keys = [key for config in configs.values() for key in config.keys]
        self._tools: dict[str, dict[str, _ListedTool]] = {}
        self.identity["servers"] = {name: config.shown for name, config in configs.items()}
        for config in configs.values():
            # Files are looked up in the folders that a command names.
            words = [config.command, *filter(None, [config.cwd]), *config.args]
            files = ProgramFiles.of_command(words, self.source or Path(os.devnull), only_scripts=True)
            self.identity |= files.settings
        if self.source is None and options.fresh != "worker":
            self.identity["fresh"] = None

    async def list_tools(self) -> None:
        """List the tools of all servers, with their own annotations."""
        try:
            async with self.environment() as environment:
                for name in self.configs:
                    listed = await environment.on(name, lambda connection: connection.list_tools())
                    self._tools[name] = {tool.name: tool for tool in _valid(listed, _ListedTool)}
        except (EnvironmentFailure, _Answered) as error:
            raise UsageError(str(error), fix="check --server and --workspace") from None

    async def new_environment(self, workspace: Workspace | None) -> _McpEnvironment:
        """Servers start when a call needs them."""
        return _McpEnvironment(self, workspace)

    async def prepare(self, environment: Environment, tool: Tool) -> None:
        """Connect to the server of the tool."""
        assert isinstance(environment, _McpEnvironment)
        if listing := self.find(tool):
            await environment.connected(listing[0])

    def config(self, server: str, workspace: Workspace | None) -> ServerConfig:
        """The configuration of a server in a workspace."""
        config = self.configs[server]
        if workspace is None:
            return config
        fill = workspace.filled_in
        return replace(
            config,
            command=_absolute(fill(config.command)),
            args=[_absolute(fill(word)) for word in config.args],
            env=_FIXED_ENVIRONMENT | {name: fill(value) for name, value in config.env.items()},
            # A relative path among arguments then leads into the copy, never to the user's own files.
            cwd=str(workspace.path) if config.cwd is None else fill(config.cwd),
        )

    def find(self, tool: Tool) -> tuple[str, str, _ListedTool] | None:
        """The server of a tool, its name there, and how the server lists it; None if no server has it."""
        name = tool.source.get("name")
        name = name if isinstance(name, str) else tool.id
        server = tool.source.get("server")
        servers = [server] if len(self._tools) > 1 and server in self._tools else list(self._tools)
        return next(
            ((server, name, self._tools[server][name]) for server in servers if name in self._tools[server]),
            None,
        )

    def _hints(self, tool: Tool) -> _ToolHints:
        listing = self.find(tool)
        return (listing[2].annotations if listing else None) or _ToolHints()

    def is_read_only(self, tool: Tool) -> bool:
        """By the server's own annotations, not by those in the folder."""
        return self._hints(tool).read_only_hint is True

    def is_idempotent(self, tool: Tool) -> bool:
        """By the server's own annotations."""
        return self._hints(tool).idempotent_hint is True or self.is_read_only(tool)

    def missing(self, tool: Tool) -> str:
        """Whether no server has the tool."""
        return "" if self.find(tool) else f"the server has no tool '{tool.id}'"

    async def resources(self) -> Sequence[ListedResource]:
        """The resources of all servers."""
        resources: list[ListedResource] = []
        async with self.environment() as environment:
            for name in self.configs:
                listed = await environment.on(name, lambda connection: connection.list_resources())
                resources += _valid(listed, ListedResource)
        return resources


class _McpEnvironment(CopiedEnvironment):
    """The connections of one plan, or of one worker."""

    def __init__(self, opened: _OpenMcp, workspace: Workspace | None) -> None:
        super().__init__(workspace, opened.keys)
        self._opened = opened
        self._sessions: dict[str, _Session] = {}
        self._has_written = False

    @property
    def is_usable(self) -> bool:
        """Whether no call failed or wrote for this plan only, and all connections live."""
        if self._has_written and not self._opened.is_shared:
            return False
        return not self.has_failed and all(session.is_alive for session in self._sessions.values())

    async def call(self, tool: Tool, arguments: Arguments) -> CallResult:
        """See `Environment.call`."""
        listing = self._opened.find(tool)
        if listing is None:
            raise Refusal(self._opened.missing(tool))
        server, name, listed = listing
        self._has_written |= not self._opened.is_read_only(tool)
        sent_arguments = self.with_real_paths(arguments)
        limits = self._opened.limits
        try:
            answer = await self.on(
                server,
                lambda connection: connection.call_tool(name, dict(sent_arguments), seconds=limits.seconds),
            )
        except _Answered as error:
            raise Refusal(self._shown(error)) from None
        try:
            return _result(self.stored(answer), listed, limits, self._opened.configs[server].secrets)
        except EnvironmentFailure:
            self.has_failed = True
            raise

    async def connected(self, server: str) -> _Session:
        """The connection to a server, which is started when it is first needed.

        Raises:
            NotCalled: It cannot be started or reached.
        """
        session = self._sessions.get(server)
        if session is not None:
            return session
        session = _Session(self._opened.config(server, self.workspace), self._opened.limits)
        self._sessions[server] = session
        try:
            await session.start()
        except ServerError as error:
            self.has_failed = True
            raise NotCalled(self._shown(f"{error.file}: {error.reason}")) from None
        except BaseException:
            # A cancelled start also leaves a server in an unknown state.
            self.has_failed = True
            raise
        if self._opened.is_shared and not self._has_written:
            await self.keep_additions()
        return session

    async def on(
        self, server: str, work: Callable[[Connection], Awaitable[Result]], *, sessions: int = _MOST_SESSIONS
    ) -> Result:
        """Do something on the connection to a server; if an address has lost the session, in another one.

        Args:
            server: Its name.
            work: What is done; again only if it did not reach the server.
            sessions: How many sessions are tried.

        Raises:
            NotCalled: It did not reach the server.
            EnvironmentFailure: The connection failed, or the server exceeds a bound.
            _Answered: The server answered with an error.
        """
        session = await self.connected(server)
        try:
            return await session.do(work)
        except ServerError as error:
            if error.code is not None:
                raise _Answered(error.reason) from None
            if error.is_unsent and sessions > 1 and self._opened.configs[server].url:
                await self._sessions.pop(server).close(at_once=True)
                return await self.on(server, work, sessions=sessions - 1)
            self.has_failed = True
            failure = NotCalled if error.is_unsent else EnvironmentFailure
            raise failure(self._shown(f"{error.file}: {error.reason}")) from None
        except BaseException:
            # A cancelled call may have changed the server.
            self.has_failed = True
            raise

    def _shown(self, text: object) -> str:
        return one_line(self.stored(str(text)))

    async def close(self) -> None:
        """End the servers and delete the copy."""
        cancelled: asyncio.CancelledError | None = None
        for session in self._sessions.values():
            try:
                await session.close(at_once=self.has_failed or cancelled is not None)
            except asyncio.CancelledError as error:
                cancelled = error
        if self.workspace is not None:
            self.workspace.remove()
        if cancelled is not None:
            raise cancelled


class _Answered(Exception):
    """A server answered a request with an error of JSON-RPC."""


class _Session:
    """A connection that a task of its own opens and ends, as the scopes of the SDK need."""

    def __init__(self, config: ServerConfig, limits: CallLimits) -> None:
        self._config = config
        self._limits = limits
        self._ready: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._is_busy = True  # connecting, or doing something

    @property
    def is_alive(self) -> bool:
        """Whether the connection can be used, as far as is known here."""
        if self._task is None or self._task.done() or not self._ready.done():
            return False
        return self._ready.exception() is None and self._ready.result().is_alive

    async def start(self) -> None:
        """Connect.

        Raises:
            ServerError: The server cannot be started or reached.
        """
        self._task = asyncio.create_task(self._serve())
        await asyncio.shield(self._ready)

    async def _serve(self) -> None:
        message = max(self._limits.result_bytes + 2**16, _LEAST_MESSAGE)
        limits = ServerLimits(message_bytes=message, total_bytes=4 * message)
        try:
            async with connect(self._config, limits) as connection:
                self._ready.set_result(connection)
                self._is_busy = False
                await self._ending.wait()
        except Exception as error:
            self._failure = error
            if not self._ready.done():
                self._ready.set_exception(error)
        finally:
            self._ready.cancel()

    async def do(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """Do something with the connection; the memory of the server is watched meanwhile."""
        if self._task is None or self._task.done():
            raise NotCalled("the connection ended")
        connection = self._ready.result()
        self._is_busy = True
        job = asyncio.ensure_future(work(connection))
        job.add_done_callback(lambda job: job.cancelled() or job.exception())  # asyncio reports unread ones
        try:
            while not (await asyncio.wait({job}, timeout=_POLL))[0]:
                used = connection.memory_bytes
                if used > self._limits.memory_bytes:
                    raise EnvironmentFailure(
                        f"the server uses {used / 2**20:,.0f} MiB of memory, more than --max_memory allows"
                    )
                if self._task.done():
                    raise self._failure or EnvironmentFailure("the connection ended")
            self._is_busy = False
            return job.result()
        finally:
            job.cancel()

    async def close(self, *, at_once: bool = False) -> None:
        """End the server.

        Args:
            at_once: Without the seconds that it has to end by itself.
        """
        if self._task is None:
            return
        self._ending.set()
        try:
            if not at_once and not self._is_busy:
                await asyncio.wait({self._task}, timeout=_CLOSING)
        finally:  # also if the caller is cancelled, which must reach it
            if not self._task.done():
                self._task.cancel()
                await asyncio.wait({self._task}, timeout=_CLOSING)
            if self._ready.done() and not self._ready.cancelled():
                self._ready.exception()  # asyncio reports one that is never read


class _ToolHints(msgspec.Struct, rename="camel"):
    read_only_hint: bool | None = None
    idempotent_hint: bool | None = None


class _ListedTool(msgspec.Struct, rename="camel"):
    name: str
    annotations: _ToolHints | None = None
    output_schema: Schema | None = None


class _Content(msgspec.Struct, rename="camel"):
    """A block of content, or a resource in one."""

    type: str | None = None
    text: str | None = None
    mime_type: str | None = None
    uri: str | None = None
    data: str | None = None
    blob: str | None = None
    resource: _Content | None = None

    @property
    def seen(self) -> str:
        """What plans and models see: a text, an address, or a hash of the bytes."""
        if self.text is not None:
            return self.text
        if self.resource is not None:
            return self.resource.seen
        kind = self.mime_type or self.type or "content"
        data = self.data or self.blob
        return f"[{kind} {_hash_of(data)}]" if data else self.uri or f"[{kind}]"


def _hash_of(data: str) -> str:
    """A hash of bytes that are written in base64, or of another text."""
    content = data.encode()
    with suppress(ValueError):
        content = base64.b64decode(content)
    return f"sha256:{hashlib.sha256(content).hexdigest()[:16]}"


class _ToolAnswer(msgspec.Struct, rename="camel"):
    """A result of `tools/call`."""

    content: list[_Content] | None = None
    structured_content: Any = None
    is_error: bool | None = None


Listed = TypeVar("Listed")


def _valid(listed: Iterable[Any], kind: type[Listed]) -> Iterator[Listed]:
    """The entries of a listing that have the form of the protocol."""
    for entry in listed:
        with suppress(msgspec.ValidationError):
            yield msgspec.convert(entry, kind)


def _result(answer: Any, listed: _ListedTool, limits: CallLimits, secrets: Sequence[str]) -> CallResult:
    """The result of a call, checked against what the server says of the tool.

    Args:
        answer: What the server answered.
        listed: The tool as the server lists it.
        limits: Bounds on the result.
        secrets: Texts that no message may repeat, such as passwords in the variables of the server.

    Raises:
        Refusal: The tool reports an error.
        EnvironmentFailure: It is no result of MCP, too large, or not as the tool's output schema says.
    """
    try:
        tool_answer = msgspec.convert(answer, _ToolAnswer)
    except msgspec.ValidationError:
        tool_answer = _ToolAnswer()
    structured = tool_answer.structured_content
    if tool_answer.content is None and structured is None:
        raise EnvironmentFailure("the server answered tools/call with something else than a result")
    blocks = tool_answer.content or []
    seen = [block.seen for block in blocks]
    text = "\n".join(seen)
    is_mixed = len({block.type for block in blocks}) > 1
    value = structured
    if value is None:
        value = texts_value([text] if is_mixed else seen)
    if tool_answer.is_error or is_refusal(value):
        words = one_line(without(secrets, text or CallResult.of(value).text))
        raise Refusal(words or "the tool reports an error without a text")
    if listed.output_schema is not None and (problem := _mismatch(structured, listed.output_schema)):
        problem = one_line(without(secrets, problem))
        raise EnvironmentFailure(f"the result is not as its output schema says: {problem}")
    wrapped = structured.get("result") if isinstance(structured, dict) and len(structured) == 1 else None
    if isinstance(wrapped, str):
        value = {"result": parsed_text(wrapped)}  # SDKs wrap the text of a function, which may be JSON
    result = CallResult(value, text or CallResult.of(value).text)
    limits.check(result.text, "" if structured is None else unescaped_json(structured))
    return result


def _mismatch(structured: Any, schema: Schema) -> str:
    if structured is None:
        return "there is no structured content"
    try:
        problems = ArgumentValidator(schema).problems(structured)
    except ValueError:
        return ""  # a schema that is not valid says nothing
    return f"{problems[0].path} {problems[0].reason}".strip() if problems else ""
