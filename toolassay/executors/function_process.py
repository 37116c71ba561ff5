"""The process in which Python functions run: it reads a call a line and writes a result a line.

It is started as a file, not as a module of its package, and imports little: one may start for every plan.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from toolassay.errors import UsageError

_PARENT_SECONDS = 0.5  # between checks whether the parent is alive


class FunctionSource(msgspec.Struct):
    """The first message: where the functions are, the bytes of memory for them, and what begins an answer."""

    functions: str
    memory: int
    mark: str


class FunctionCall(msgspec.Struct):
    function: str
    arguments: Mapping[str, Any]


class FunctionAnswer(msgspec.Struct, omit_defaults=True):
    """The names of the functions after the first message, a result, or an error in words."""

    names: list[str] = []
    result: Any = None
    error: str | None = None


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

    def answer(value: FunctionAnswer) -> None:
        if os.getpid() != process:  # a fork of a function that returned as well
            os._exit(1)
        with open(results, "wb", closefd=False) as stream:
            stream.write(f"\n{first.mark}{json.dumps(msgspec.to_builtins(value))}\n".encode())

    # Before the limit, which is for the functions, and before their folder is searched for modules: pydantic
    # imports plug-ins, and with them half of the standard library, when it is first used.
    import psutil  # type: ignore[import-untyped]
    import pydantic

    from toolassay.importers.python import imported_module

    pydantic.validate_call(main)

    first = msgspec.convert(json.loads(calls.readline()), FunctionSource)
    # Windows has no `resource`, and some systems refuse this limit: functions then run without one.
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limit = first.memory + psutil.Process().memory_info().vms
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    with contextlib.ExitStack() as stack:
        try:
            module = stack.enter_context(imported_module(first.functions))
        except UsageError as error:
            answer(FunctionAnswer(error=str(error)))
            return
        functions = {name: value for name, value in vars(module).items() if callable(value)}
        answer(FunctionAnswer([name for name in functions if not name.startswith("_")]))
        for line in calls:
            call = msgspec.convert(json.loads(line), FunctionCall)
            answer(_called(functions.get(call.function), call.arguments))


def _end_with_parent() -> None:
    """End this process when its parent has ended, even while a function runs without end."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        # `sys.exit` would end this thread only.
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _called(function: Callable[..., Any] | None, arguments: Mapping[str, Any]) -> FunctionAnswer:
    """The result of a function as JSON, or its error in words."""
    from pydantic import ConfigDict, TypeAdapter, ValidationError, validate_call

    if function is None:
        return FunctionAnswer(error="there is no such function")
    try:
        typed = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(function)
        result = typed(**arguments)
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
        as_json = TypeAdapter[Any](Any, config=ConfigDict(ser_json_inf_nan="null"))
        value = as_json.dump_python(result, mode="json", fallback=str)
        json.dumps(value)  # some values are nested too deeply for it
        return FunctionAnswer(result=value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        location = ".".join(map(str, first["loc"]))
        return FunctionAnswer(error=f"{location}: {first['msg']}")
    except MemoryError:
        os._exit(137)  # as a process that is killed for its memory
    except BaseException as error:  # also of `sys.exit`, with which functions report wrong arguments
        return FunctionAnswer(error=_shown(error))


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
