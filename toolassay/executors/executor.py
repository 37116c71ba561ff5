"""The interface of an executor: one file with one entry, an instance of `Executor`.

Code outside knows executors only by this interface. A built-in one is a file beside this one; benchmarks and
installed packages bring their own (`executors()`).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import msgspec

from toolassay.console.text_formatting import shortened
from toolassay.declarations import NoOptions
from toolassay.errors import Unsent
from toolassay.files.data_files import unescaped_json
from toolassay.plans.execution_record import Arguments
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.tools.results import is_refusal

TOGETHER = 4
"""Agents that work at the same time where each may have a server of its own [default]."""
State = Mapping[str, Any]
"""What an environment holds, as places with comparable JSON values: `"files/notes.txt": "sha256:…"`."""


@dataclass(frozen=True)
class CallLimits:
    """Bounds on one call.

    Attributes:
        seconds: Time.
        result_bytes: Size of the result, as UTF-8 text.
        memory_bytes: Memory of the process in which the call runs, where there is one.
    """

    seconds: float = 30.0
    result_bytes: int = 2**20
    memory_bytes: int = 2**30

    def check(self, *texts: str) -> None:
        """Check the size of a result, in each form that it has.

        Raises:
            EnvironmentFailure: It is too large.
        """
        size = max(len(text.encode(errors="surrogatepass")) for text in texts)
        if size > self.result_bytes:
            raise EnvironmentFailure(f"the result has {size:,} bytes, more than --max_result allows")


class Refusal(Exception):
    """A tool refused a call. The text is its own words, on one line."""


class EnvironmentFailure(Exception):
    """A call has no result through no fault of the plan: a hang, a crash, a lost connection, a bound.

    The text says what happened, on one line, without secrets.
    """


class NotCalled(EnvironmentFailure, Unsent):
    """A call has no result, and it did not reach its tool: it may be made again, whatever the tool does."""


class CallResult(NamedTuple):
    """What a call returned.

    Attributes:
        value: The result as JSON: structured if the tool gives structure, else its text.
        text: The result as a model reads it.
    """

    value: Any
    text: str

    @classmethod
    def of(cls, value: Any) -> CallResult:
        """The result of a JSON value.

        >>> CallResult.of({"id": 7}), CallResult.of("done")
        (CallResult(value={'id': 7}, text='{"id": 7}'), CallResult(value='done', text='done'))
        """
        return cls(value, value if isinstance(value, str) else unescaped_json(value))

    @classmethod
    def read(cls, text: str) -> CallResult:
        """The result of a text that `of` wrote.

        >>> CallResult.read('{"id": 7}').value, CallResult.read("done").value
        ({'id': 7}, 'done')
        """
        with suppress(ValueError, RecursionError):
            return cls(json.loads(text), text)
        return cls(text, text)


class ListedResource(msgspec.Struct, frozen=True):
    """A resource of a server."""

    uri: str
    name: str = ""


class Environment(Protocol):
    """A place in which the calls of a plan run, one after the other."""

    async def call(self, tool: Tool, arguments: Arguments) -> CallResult:
        """Run one call.

        Args:
            tool: The tool.
            arguments: By name, without references.

        Raises:
            Refusal: The tool refused it.
            EnvironmentFailure: It has no result; the environment is not used any more.
        """
        ...

    async def state(self) -> State | None:
        """What the environment holds; None if that cannot be seen.

        Raises:
            EnvironmentFailure: It cannot be read.
        """
        ...


@dataclass(frozen=True)
class ExecutionContext:
    """What an executor is opened for.

    Attributes:
        folder: The data folder.
        library: Its tools.
        limits: Bounds on each call.
        allow_tools: Whether code of the folder, or that an option names, may run.
        seed: Random seed.
    """

    folder: DataFolder
    library: ToolLibrary
    limits: CallLimits = field(default_factory=CallLimits)
    allow_tools: bool = False
    seed: int = 0


class Executor(ABC):
    """A way to execute calls; see the module.

    Attributes:
        name: Value of `--executor`.
        help: One sentence.
        options: Dataclass of its options (`toolassay.declarations`); every field has a default.
        is_harmless: Whether nothing outside changes, so that writes need no consent.
    """

    name: ClassVar[str]
    help: ClassVar[str]
    options: ClassVar[type[Any]] = NoOptions
    is_harmless: ClassVar[bool] = False

    @abstractmethod
    def open(self, context: ExecutionContext, options: Any) -> AbstractAsyncContextManager[OpenExecutor]:
        """Prepare it for the plans of a folder.

        Raises:
            UsageError: It cannot be used as given.
        """


class OpenExecutor(ABC):
    """An executor that is ready to run plans.

    Attributes:
        is_isolated: Whether each environment starts from the same state and nothing outlives it, so that an
            interrupted plan is simply run again.
        is_shared: Whether a process serves several plans, so that what it remembers outlives a plan.
        starts_processes: Whether each environment that is open at a time has processes of its own.
        identity: What a run's results depend on, for its manifest: JSON without secrets.
        sends_items: Whether a list arrives as its items, so that a list of one looks like its item.
        first_state: The state in which environments start, once one was seen; of the last one where they
            are not isolated.
        stock: Records that are there at the start, by thing, as far as they are known without a call.
    """

    is_isolated: bool = True
    is_shared: bool = False
    sends_items: bool = False
    starts_processes: bool = False
    identity: Mapping[str, Any] = {}
    first_state: State | None = None
    stock: Mapping[str, Sequence[Mapping[str, Any]]] = {}

    @abstractmethod
    def environment(self) -> AbstractAsyncContextManager[Environment]:
        """A place for one plan.

        Raises:
            EnvironmentFailure: It cannot be opened.
        """

    async def prepare(self, environment: Environment, tool: Tool) -> None:
        """Connect an environment of this executor to what a tool needs, before it is called.

        Raises:
            EnvironmentFailure: It cannot be reached; nothing was called.
        """
        return

    def is_read_only(self, tool: Tool) -> bool:
        """Whether a tool changes nothing, as far as its owner says."""
        return False

    def is_idempotent(self, tool: Tool) -> bool:
        """Whether a second call with the same arguments changes nothing more, as far as its owner says."""
        return False

    def missing(self, tool: Tool) -> str:
        """Why a tool cannot be called here; empty if it can."""
        return ""

    def paths(self) -> tuple[Sequence[str], Sequence[str]]:
        """The files and the folders in which calls work, as arguments name them."""
        return (), ()

    async def resources(self) -> Sequence[ListedResource]:
        """What a server lists beside its tools.

        Raises:
            EnvironmentFailure: The server does not work.
        """
        return ()


async def call_tool(environment: Environment, tool: Tool, arguments: Arguments) -> CallResult:
    """Run one call; a result that reports a failure (`is_refusal`) is a refusal.

    Raises:
        Refusal, EnvironmentFailure: As `Environment.call` does.
    """
    result = await environment.call(tool, arguments)
    if is_refusal(result.value):
        raise Refusal(one_line(result.text))
    return result


def one_line(text: object, longest: int = 300) -> str:
    r"""A message of another program on one line, printable, cut to a length.

    >>> one_line("no such\nfile\x1b[0m", 12)
    'no such fil…'
    """
    flat = " ".join("".join(character if character.isprintable() else " " for character in str(text)).split())
    return shortened(flat, longest)
