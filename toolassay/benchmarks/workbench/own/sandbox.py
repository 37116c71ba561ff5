"""A workplace of somebody's own: their database in memory, copied for every task."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from datetime import datetime

from toolassay.benchmarks.workbench.own.clock import Clock
from toolassay.benchmarks.workbench.own.desk import Desk
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.sandbox.schema import Layout
from toolassay.benchmarks.workbench.tools import Toolset


@dataclass(frozen=True)
class Place:
    """What all copies of a workplace have in common.

    Args:
        now: the moment it is.
        user: who the agent works for.
        toolset: what can be called.
        judged: the tables.
        customs: what agents are told of the workplace.
    """

    now: datetime
    user: str
    toolset: Toolset
    judged: tuple[Layout, ...]
    customs: str = ""
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "clock", Clock(self.now))


class OwnSandbox(Sandbox):
    """One copy of a database, and what can be done in it.

    Args:
        image: the database, as an SQLite file.
        place: the workplace.
    """

    connection: Desk

    def __init__(self, image: bytes, place: Place) -> None:
        # One thread at a time uses a sandbox; a transaction is opened by a call.
        self.connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, factory=Desk
        )
        self.connection.deserialize(image)
        self.connection.execute("PRAGMA foreign_keys = ON")
        place.clock.set(self.connection)
        self.connection.create_function("user", 0, lambda: place.user, deterministic=True)
        self._image = self.connection.total_changes, image
        self._place = place
        self.now, self.user, self.overwrites = place.now, place.user, False
        self.toolset, self.judged, self.customs = place.toolset, place.judged, place.customs

    def fork(self, *, overwrites: bool | None = None) -> OwnSandbox:
        """An independent copy."""
        return OwnSandbox(self.image(), self._place)

    def close(self) -> None:
        """Free the memory now."""
        self.connection.release()
