"""Executes calls of Python functions, in a process of their own with bounds on time, output and memory."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from toolassay.errors import UsageError
from toolassay.executors import function_process
from toolassay.executors.execution_options import PythonExecution
from toolassay.executors.executor import (
    CallResult,
    EnvironmentFailure,
    ExecutionContext,
    NotCalled,
    OpenExecutor,
    Refusal,
    one_line,
)
from toolassay.executors.function_process import FunctionAnswer, FunctionCall, FunctionSource
from toolassay.executors.workspace import (
    CopiedEnvironment,
    PooledExecutor,
    Workspace,
)
from toolassay.mcp_client.server_config import ServerConfig
from toolassay.mcp_client.server_process import ServerProcess, has_ended
from toolassay.plans.execution_record import Arguments
from toolassay.tools.library import Tool

_START_SECONDS = 60.0  # to import the module of the functions
_END_SECONDS = 5.0  # until the status of a process that was killed arrives
_LONGEST_ESCAPE = 6  # bytes in JSON for a byte of a text: "\\u0007"
_READ = 2**16  # bytes at once


@asynccontextmanager
async def open_python(context: ExecutionContext, options: PythonExecution) -> AsyncIterator[OpenExecutor]:
    """Import the module once, in a process, to see which functions it has.

    Raises:
        UsageError: There is no consent, or the module cannot be imported.
    """
    if not options.functions:
        raise UsageError("the executor python needs functions", fix="add --functions MODULE or FILE")
    if not context.allow_tools:
        raise UsageError(
            "importing the module runs it",
            file=options.functions,
            fix="read the code, then add --allow_tools if you trust it",
        )
    for name in options.pass_env:
        if name not in os.environ:
            raise UsageError(f"the variable {name} is not set", fix=f"export {name}=…, or omit --pass_env")
    async with _OpenPython(context, options).listed() as opened:
        yield opened


def _absolute(functions: str) -> str:
    """The source with an absolute path if it names a file, because the process works in another folder."""
    label, colon, name = functions.rpartition(":")
    for path, end in ((functions, ""), (label, f"{colon}{name}")):
        if path.endswith(".py") and Path(path).exists():
            return f"{Path(path).resolve()}{end}"
    return functions


class _OpenPython(PooledExecutor["_PythonEnvironment"]):
    def __init__(self, context: ExecutionContext, options: PythonExecution) -> None:
        super().__init__(options.workspace, options.fresh, context.limits)
        self.variables = context.folder.benchmark.environment
        self.functions = _absolute(options.functions)
        self.passed = {name: os.environ[name] for name in sorted(options.pass_env)}
        self.keys = ServerConfig(env=self.passed).keys
        self._names: frozenset[str] = frozenset()
        self.identity["functions"] = Path(self.functions).name
        if self.passed:
            self.identity["pass_env"] = list(self.passed)

    async def list_tools(self) -> None:
        """Start a process and ask it for the names of its functions."""
        try:
            async with self.environment() as environment:
                self._names = frozenset(environment.names)
        except EnvironmentFailure as error:
            raise UsageError(str(error), fix="correct the module of --functions, or --pass_env") from None

    async def new_environment(self, workspace: Workspace | None) -> _PythonEnvironment:
        """Start a process."""
        environment = _PythonEnvironment(self, workspace)
        await environment.start()
        return environment

    def missing(self, tool: Tool) -> str:
        """Whether the module has no such function."""
        name = _function_name(tool)
        return "" if name in self._names else f"the module has no function '{name}'"


class _PythonEnvironment(CopiedEnvironment):
    def __init__(self, opened: _OpenPython, workspace: Workspace | None) -> None:
        super().__init__(workspace, opened.keys)
        self._opened = opened
        self._server: ServerProcess | None = None
        self._mark = secrets.token_hex(16)  # before each answer of the process
        self.names: list[str] = []

    @property
    def is_usable(self) -> bool:
        """Whether every call returned and the process runs."""
        return not self.has_failed and self._server is not None and not has_ended(self._server.process)

    async def start(self) -> None:
        """Start the process and wait until it has imported the module.

        Raises:
            EnvironmentFailure: It cannot be imported.
        """
        opened = self._opened
        config = ServerConfig(
            name="functions",
            command=sys.executable,
            # -P: a file of the workspace must not be found in place of a module of the same name.
            args=("-P", function_process.__file__),
            env={**opened.variables, **opened.passed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            cwd=None if self.workspace is None else str(self.workspace.path),
        )
        try:
            self._server = await ServerProcess.start(config, stderr=asyncio.subprocess.DEVNULL)
            source = FunctionSource(str(opened.functions), opened.limits.memory_bytes, self._mark)
            ready = await self._answer(source, _START_SECONDS)
            if ready.error:
                raise EnvironmentFailure(ready.error)
            self.names = ready.names
        except BaseException:
            await self.close()
            raise

    async def _answer(self, message: FunctionSource | FunctionCall, seconds: float) -> FunctionAnswer:
        """Send a message; the answer."""
        assert self._server is not None
        calls = self._server.process.stdin
        results = self._server.process.stdout
        assert calls is not None and results is not None
        text = bytearray()
        piece = b""
        mark = self._mark.encode()
        longest = _LONGEST_ESCAPE * self._opened.limits.result_bytes + 2**16
        calls.write(json.dumps(msgspec.to_builtins(message)).encode(errors="surrogatepass") + b"\n")
        try:
            async with asyncio.timeout(seconds):
                while not (piece.endswith(b"\n") and mark in text) and (piece := await results.read(_READ)):
                    text += piece
                    if len(text) > longest:
                        raise EnvironmentFailure("the result is larger than --max_result allows")
            if piece:
                # What functions write to the stream themselves comes before the answer and has no mark.
                return msgspec.convert(self.stored(json.loads(text.rpartition(mark)[2])), FunctionAnswer)
        except TimeoutError:
            raise EnvironmentFailure(f"the function did not return within {seconds:g} s") from None
        # The output ends before the process does, and its status gives the reason.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await self._server.ended()
        how = self._server.status or "closed its output"
        raise EnvironmentFailure(f"the process of the functions {how}")

    async def call(self, tool: Tool, arguments: Arguments) -> CallResult:
        """See `Environment.call`."""
        assert self._server is not None
        self.has_failed = True  # until there is an answer
        if has_ended(self._server.process):
            raise NotCalled("the process of the functions ended before the call")
        message = FunctionCall(_function_name(tool), self.with_real_paths(arguments))
        answer = await self._answer(message, self._opened.limits.seconds)
        self.has_failed = False
        if answer.error is not None:
            raise Refusal(one_line(answer.error))
        result = CallResult.of(answer.result)
        self._opened.limits.check(result.text)
        return result

    async def close(self) -> None:
        """End the process with its children and delete the copy."""
        try:
            if self._server is not None:
                await self._server.stop(0)
        finally:
            if self.workspace is not None:
                self.workspace.remove()


def _function_name(tool: Tool) -> str:
    name = tool.source.get("function")
    return name if isinstance(name, str) else tool.id
