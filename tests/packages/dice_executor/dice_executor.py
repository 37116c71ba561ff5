"""An executor of a package beside toolassay: every call rolls a die."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from toolassay.declarations import Option
from toolassay.executors.executor import (
    CallResult,
    Environment,
    ExecutionContext,
    Executor,
    OpenExecutor,
    Refusal,
    State,
)
from toolassay.tools.library import Tool


@dataclass(frozen=True)
class DiceOptions:
    """Options: the number of sides."""

    sides: Annotated[int, Option("dice: number of sides.", minimum=1)] = 6


class Dice(Executor):
    """A die instead of a server."""

    name = "dice"
    help = "a die"
    options = DiceOptions
    is_harmless = True

    @asynccontextmanager
    async def open(self, context: ExecutionContext, options: DiceOptions) -> AsyncIterator[OpenExecutor]:
        """Take the die out."""
        yield _Opened(context.seed, options.sides)


class _Opened(OpenExecutor):
    def __init__(self, seed: int, sides: int) -> None:
        self._seed, self._sides = seed, sides
        self.identity = {"sides": sides, "seed": seed}

    @asynccontextmanager
    async def environment(self, tools: Sequence[Tool] = ()) -> AsyncIterator[Environment]:
        """A hand with a die."""
        yield _Environment(self._seed, self._sides)


class _Environment:
    def __init__(self, seed: int, sides: int) -> None:
        self._dice, self._sides = random.Random(seed), sides
        self._rolls = 0

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        if self._sides < 2:
            raise Refusal("a die with one side does not roll")
        self._rolls += 1
        return CallResult.of(self._dice.randrange(1, self._sides + 1))

    async def state(self) -> State:
        return {"rolls": self._rolls}


EXECUTOR = Dice()
