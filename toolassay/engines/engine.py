"""Where shards of CPU-bound work run: in this process, on processes of this machine, or on a Dask cluster.

A stage cuts its items into shards, in file order. An engine works on them anywhere and gives the results back
in that order, so that the output has the same bytes on one process and on a hundred machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, Self, TypeVar

from toolassay.errors import ToolassayError
from toolassay.files.locks import Closable

Shard = TypeVar("Shard")
Result = TypeVar("Result")
ShardIn = TypeVar("ShardIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)

AHEAD = 3
"""Shards in work or waiting for each worker: results that cannot be merged yet stay in memory."""
MOST_DEATHS = 3
"""Workers that may die while one result is waited for."""


class ShardTask(Protocol[ShardIn, ResultOut]):
    """Work on shards.

    A task is sent to every worker: it holds paths and settings, never a key, an open file or the data.
    """

    def start(self) -> Callable[[ShardIn], ResultOut]:
        """Prepare a process; returns the function that works on a shard. Called once per process."""
        ...


class Engine(Protocol):
    """Runs tasks on shards."""

    @property
    def workers(self) -> int:
        """The number of shards that run at the same time."""
        ...

    def map(self, task: ShardTask[Shard, Result], shards: Iterable[Shard]) -> Iterator[Result]:
        """The result of each shard, in the order of the shards.

        A shard whose worker dies runs again elsewhere. Its result is used once.

        Raises:
            ToolassayError: the task raised it for a shard, or workers keep dying.
        """
        ...

    def close(self) -> None:
        """End the workers that this engine started."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


class OneProcess(Closable):
    """Runs every shard in this process.

    >>> class Doubled:
    ...     def start(self):
    ...         return lambda shard: 2 * shard
    >>> list(OneProcess().map(Doubled(), [1, 2]))
    [2, 4]
    """

    workers = 1

    def map(self, task: ShardTask[Shard, Result], shards: Iterable[Shard]) -> Iterator[Result]:
        return map(task.start(), shards)

    def close(self) -> None:
        pass


def too_many_deaths(where: str) -> ToolassayError:
    """The error if workers keep dying."""
    return ToolassayError(
        f"{MOST_DEATHS + 1} workers died one after the other {where}",
        fix="give them more memory, or start fewer; the same command begins again",
    )
