"""Executes calls of Python functions, in a process of their own with bounds on time, output and memory.

Run as a program, this module is that process: it reads a call a line and writes a result a line.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import secrets
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from toolassay.errors import UsageError
from toolassay.executors import PythonExecution
from toolassay.executors.executor import (
    CallLimits,
    CallResult,
    EnvironmentFailure,
    ExecutionContext,
    NotCalled,
    OpenExecutor,
    Refusal,
    one_line,
)
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
_PARENT_SECONDS = 0.5  # between two looks at whether the parent lives


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
    async with _OpenPython(options, context.limits).listed() as opened:
        yield opened


def _absolute(functions: str) -> str:
    """The source with an absolute path if it names a file, because the process works in another folder."""
    label, colon, name = functions.rpartition(":")
    for path, end in ((functions, ""), (label, f"{colon}{name}")):
        if path.endswith(".py") and Path(path).exists():
            return f"{Path(path).resolve()}{end}"
    return functions


class _OpenPython(PooledExecutor["_PythonEnvironment"]):
    def __init__(self, options: PythonExecution, limits: CallLimits) -> None:
        super().__init__(options.workspace, options.fresh, limits)
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


class _Source(msgspec.Struct):
    """The first message: where the functions are, the bytes of memory for them, and what begins an answer."""

    functions: str
    memory: int
    mark: str


class _FunctionCall(msgspec.Struct):
    function: str
    arguments: Arguments


class _Answer(msgspec.Struct, omit_defaults=True):
    """The names of the functions after the first message, a result, or an error in words."""

    names: list[str] = []
    result: Any = None
    error: str | None = None


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
            args=("-P", "-m", __name__),
            env={**opened.passed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            cwd=None if self.workspace is None else str(self.workspace.path),
        )
        try:
            self._server = await ServerProcess.start(config, stderr=asyncio.subprocess.DEVNULL)
            source = _Source(str(opened.functions), opened.limits.memory_bytes, self._mark)
            ready = await self._answer(source, _START_SECONDS)
            if ready.error:
                raise EnvironmentFailure(ready.error)
            self.names = ready.names
        except BaseException:
            await self.close()
            raise

    async def _answer(self, message: _Source | _FunctionCall, seconds: float) -> _Answer:
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
                return msgspec.convert(self.stored(json.loads(text.rpartition(mark)[2])), _Answer)
        except TimeoutError:
            raise EnvironmentFailure(f"the function did not return within {seconds:g} s") from None
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
        message = _FunctionCall(_function_name(tool), self.with_real_paths(arguments))
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


# The process of the functions


def main() -> None:
    """Serve the functions of a module: a call a line from the standard input, a result a line.

    The first line has the source of the functions, and the bytes of memory.
    """
    _end_with_parent()
    # What functions and their children print must not reach the results.
    results = os.dup(1)
    calls = os.fdopen(os.dup(0), encoding="utf-8", errors="surrogatepass")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    process = os.getpid()

    def answer(value: _Answer) -> None:
        if os.getpid() != process:  # a fork of a function that returned as well
            os._exit(1)
        with open(results, "wb", closefd=False) as stream:
            stream.write(f"\n{first.mark}{json.dumps(msgspec.to_builtins(value))}\n".encode())

    import psutil  # type: ignore[import-untyped]
    import pydantic  # noqa: F401  # before the limit, which is for the functions
    import pydantic_core  # noqa: F401

    from toolassay.importers.python import imported_module

    first = msgspec.convert(json.loads(calls.readline()), _Source)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limit = first.memory + psutil.Process().memory_info().vms
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    with contextlib.ExitStack() as stack:
        try:
            module = stack.enter_context(imported_module(first.functions))
        except UsageError as error:
            answer(_Answer(error=str(error)))
            return
        functions = {name: value for name, value in vars(module).items() if callable(value)}
        answer(_Answer([name for name in functions if not name.startswith("_")]))
        for line in calls:
            call = msgspec.convert(json.loads(line), _FunctionCall)
            answer(_called(functions.get(call.function), call.arguments))


def _end_with_parent() -> None:
    """End this process when its parent has ended, even while a function runs without end."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _called(function: Callable[..., Any] | None, arguments: Arguments) -> _Answer:
    """The result of a function as JSON, or its error in words."""
    from pydantic import ConfigDict, ValidationError, validate_call
    from pydantic_core import to_jsonable_python

    if function is None:
        return _Answer(error="there is no such function")
    try:
        typed = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(function)
        result = typed(**arguments)
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
        value = to_jsonable_python(result, fallback=str, inf_nan_mode="null")
        json.dumps(value)  # some values are nested too deeply for it
        return _Answer(result=value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        location = ".".join(map(str, first["loc"]))
        return _Answer(error=f"{location}: {first['msg']}")
    except MemoryError:
        os._exit(137)  # as a process that is killed for its memory
    except BaseException as error:  # also of `sys.exit`, with which functions report wrong arguments
        return _Answer(error=_shown(error))


def _shown(error: BaseException) -> str:
    """An exception in words, whose own text may fail."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


async def _awaited(result: Any) -> Any:
    return await result


if __name__ == "__main__":
    main()
