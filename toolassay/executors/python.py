"""Executes calls of Python functions, in a process of their own with bounds on time, output and memory.

Run as a program, this module is that process: it reads a call a line and writes a result a line.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import sys
import threading
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.executors.environment_pool import EnvironmentPool
from toolassay.executors.executor import (
    CallLimits,
    CallResult,
    Environment,
    EnvironmentFailure,
    ExecutionContext,
    Executor,
    NotCalled,
    OpenExecutor,
    Refusal,
    State,
    folder_option,
    one_line,
)
from toolassay.executors.workspace import (
    FRESH,
    WORKSPACE,
    Workspace,
    check_folder,
    copy_of,
    digest_of,
    paths_in,
    state_of,
)
from toolassay.extras import Option
from toolassay.mcp_client.server_process import has_ended
from toolassay.tools import Tool

_START_SECONDS = 60.0  # to import the module of the functions
_END_SECONDS = 5.0  # until the status of a process that was killed arrives
_LONGEST_ESCAPE = 6  # bytes in JSON for a byte of a text: "\\u0007"
_PARENT_SECONDS = 0.5  # between two looks at whether the parent lives


@dataclass(frozen=True)
class PythonExecution:
    """Options of the executor.

    Attributes:
        functions: A module or a file, as in `toolassay import python`.
        workspace: Folder that is copied; the functions run in the copy.
        fresh: "plan" or "worker": how long a process and its copy are used.
    """

    functions: str = ""
    workspace: str = ""
    fresh: str = "plan"


class PythonExecutor(Executor):
    """Functions of a Python module."""

    name = "python"
    help = "functions of a Python module (--functions)"
    options = PythonExecution
    flags = (
        Option(
            "functions",
            "python: module or file with the functions; needs --allow_tools.",
            metavar="MODULE|FILE",
        ),
        WORKSPACE,
        FRESH,
    )

    @asynccontextmanager
    async def open(self, context: ExecutionContext, options: PythonExecution) -> AsyncIterator[OpenExecutor]:
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
        source = folder_option(options.workspace)
        if source is not None:
            check_folder(source)
        functions = _absolute(options.functions)
        opened = _OpenPython(functions, source, options.fresh, context.limits)
        try:
            await opened.list_functions()
            yield opened
        finally:
            await opened.close()


EXECUTOR = PythonExecutor()


def _absolute(functions: str) -> str:
    """The source with an absolute path if it names a file, because the process works in another folder."""
    label, colon, name = functions.rpartition(":")
    for path, end in ((functions, ""), (label, f"{colon}{name}")):
        if path.endswith(".py") and Path(path).exists():
            return f"{Path(path).resolve()}{end}"
    return functions


class _OpenPython(OpenExecutor):
    def __init__(self, functions: str, source: Path | None, fresh: str, limits: CallLimits) -> None:
        self.functions, self.source, self.limits = functions, source, limits
        self._names: frozenset[str] = frozenset()
        self.is_isolated = source is not None
        self._pool = EnvironmentPool(self._made, reuses=fresh == "worker", restores=self.is_isolated)
        self.identity = {
            "functions": Path(functions).name,
            "workspace": None if source is None else digest_of(state_of(source)),
            "fresh": fresh,
        }

    async def list_functions(self) -> None:
        """Start a process and ask it for the names of its functions."""
        try:
            async with self.environment() as environment:
                assert isinstance(environment, _PythonEnvironment)
                self._names = frozenset(environment.names)
        except EnvironmentFailure as error:
            raise UsageError(str(error), fix="correct the module of --functions") from None

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[Environment]:
        """A new process and copy, or those of an earlier plan."""
        async with self._pool.taken() as environment:
            yield environment

    async def _made(self) -> _PythonEnvironment:
        workspace = None if self.source is None else await copy_of(self.source)
        environment = _PythonEnvironment(self, workspace)
        await environment.start()
        return environment

    async def close(self) -> None:
        """End the idle processes."""
        await self._pool.close()

    def missing(self, tool: Tool) -> str:
        """Whether the module has no such function."""
        name = _function_name(tool)
        return "" if name in self._names else f"the module has no function '{name}'"

    def paths(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those of the workspace."""
        return ((), ()) if self.source is None else paths_in(self.source)


class _PythonEnvironment:
    def __init__(self, opened: _OpenPython, workspace: Workspace | None) -> None:
        self._opened, self.workspace = opened, workspace
        self._process: Process | None = None
        self.names: list[str] = []
        self._has_failed = False

    @property
    def is_usable(self) -> bool:
        """Whether every call returned and the process runs."""
        return not self._has_failed and self._process is not None and not has_ended(self._process)

    async def start(self) -> None:
        """Start the process and wait until it has imported the module.

        Raises:
            EnvironmentFailure: It cannot be imported.
        """
        limits = self._opened.limits
        try:
            self._process = await asyncio.create_subprocess_exec(
                # -P: a file of the workspace must not be found in place of a module of the same name.
                *(sys.executable, "-P", "-m", __name__, self._opened.functions, str(limits.memory_bytes)),
                stdin=PIPE,
                stdout=PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=None if self.workspace is None else self.workspace.path,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                limit=_LONGEST_ESCAPE * limits.result_bytes + 2**16,
                start_new_session=True,
            )
            ready = await self._read(_START_SECONDS)
            if "names" not in ready:
                raise EnvironmentFailure(str(ready.get("error", "the process did not start")))
            self.names = list(ready["names"])
        except BaseException:
            await self.close()
            raise

    async def _read(self, seconds: float) -> dict[str, Any]:
        """A line of the process."""
        assert self._process is not None and self._process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                line = await self._process.stdout.readline()
        except TimeoutError:
            raise EnvironmentFailure(f"the function did not return within {seconds:g} s") from None
        except ValueError:
            raise EnvironmentFailure("the result is larger than --max_result allows") from None
        if not line.endswith(b"\n"):
            how = "closed its output"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    how = _end_of(await self._process.wait())
            raise EnvironmentFailure(f"the process of the functions {how}")
        value: dict[str, Any] = json.loads(line)
        return value

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        """See `Environment.call`."""
        assert self._process is not None and self._process.stdin is not None
        given: Any = dict(arguments)
        if self.workspace is not None:
            given = self.workspace.with_real_paths(given)
        self._has_failed = True  # until there is an answer
        if has_ended(self._process):
            raise NotCalled("the process of the functions ended before the call")
        message = json.dumps({"function": _function_name(tool), "arguments": given})
        self._process.stdin.write(message.encode(errors="surrogatepass") + b"\n")
        answer = await self._read(self._opened.limits.seconds)
        self._has_failed = False
        if self.workspace is not None:
            answer = self.workspace.with_names(answer)
        if "error" in answer:
            raise Refusal(one_line(answer["error"]))
        result = CallResult.of(answer["result"])
        size = len(result.text.encode(errors="surrogatepass"))
        if size > self._opened.limits.result_bytes:
            raise EnvironmentFailure(f"the result has {size:,} bytes, more than --max_result allows")
        return result

    async def restore(self) -> None:
        """Give the workspace its first content again."""
        if self.workspace is not None:
            await asyncio.to_thread(self.workspace.restore)

    async def state(self) -> State | None:
        """The files of the workspace."""
        return None if self.workspace is None else await asyncio.to_thread(self.workspace.state)

    async def close(self) -> None:
        """End the process with its children and delete the copy."""
        try:
            if self._process is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, 9)
                # It also waits for the pipes, which a child that has left the group may hold.
                with contextlib.suppress(ProcessLookupError, TimeoutError):
                    async with asyncio.timeout(_END_SECONDS):
                        await self._process.wait()
        finally:
            transport = getattr(self._process, "_transport", None)
            if transport is not None:  # it stays open while such a child has a pipe
                with contextlib.suppress(PermissionError, ProcessLookupError):
                    transport.close()
            if self.workspace is not None:
                self.workspace.remove()


def _end_of(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit status {code}"


def _function_name(tool: Tool) -> str:
    name = tool.source.get("function")
    return name if isinstance(name, str) else tool.id


# The process of the functions


def main(arguments: list[str]) -> None:
    """Serve the functions of a module on the standard streams.

    Args:
        arguments: The source of the functions, and the bytes of memory.
    """
    source, memory = arguments[0], int(arguments[1])
    _end_with_parent()
    # What functions print must not reach the results.
    results = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogatepass")
    calls = os.fdopen(os.dup(0), encoding="utf-8", errors="surrogatepass")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)

    def answer(value: Mapping[str, Any]) -> None:
        results.write(json.dumps(value, ensure_ascii=True) + "\n")
        results.flush()

    import pydantic  # noqa: F401  # before the limit, which is for the functions
    import pydantic_core  # noqa: F401

    from toolassay.importers.python import imported_module

    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limit = memory + _address_space()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    with contextlib.ExitStack() as stack:
        try:
            module = stack.enter_context(imported_module(source))
        except UsageError as error:
            answer({"error": str(error)})
            return
        functions = {name: value for name, value in vars(module).items() if callable(value)}
        answer({"names": [name for name in functions if not name.startswith("_")]})
        for line in calls:
            call = json.loads(line)
            answer(_called(functions.get(call["function"]), call["arguments"]))


def _end_with_parent() -> None:
    """End this process when its parent has ended, even while a function runs without end."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _address_space() -> int:
    """Bytes that the interpreter and its libraries use already; 0 where that cannot be seen."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _called(function: Callable[..., Any] | None, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a function as JSON, or its error in words."""
    from pydantic import ConfigDict, ValidationError, validate_call
    from pydantic_core import to_jsonable_python

    if function is None:
        return {"error": "there is no such function"}
    try:
        typed = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(function)
        result = typed(**arguments)
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
        value = to_jsonable_python(result, fallback=str, inf_nan_mode="null")
        json.dumps(value)  # some values are nested too deeply for it
        return {"result": value}
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        return {"error": f"{place}: {first['msg']}"}
    except MemoryError:
        os._exit(137)  # as a process that is killed for its memory
    except BaseException as error:  # also of `sys.exit`, with which functions report wrong arguments
        return {"error": _shown(error)}


def _shown(error: BaseException) -> str:
    """An exception in words, whose own text may fail."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


async def _awaited(result: Any) -> Any:
    return await result


if __name__ == "__main__":
    main(sys.argv[1:])
