"""The connection that tools get: one call is one transaction, and none can reach out of it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

SECONDS = 10.0
"""How long the queries of one call may take."""
_OPCODES = 20_000  # between two looks at the clock

_WRITES = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_ATTACHES = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})
_CHANGES_SCHEMA = frozenset(
    {
        *(sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_ALTER_TABLE),
        *(sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_DROP_INDEX),
        *(sqlite3.SQLITE_CREATE_TRIGGER, sqlite3.SQLITE_DROP_TRIGGER),
        *(sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_DROP_VIEW),
        *(sqlite3.SQLITE_CREATE_VTABLE, sqlite3.SQLITE_DROP_VTABLE),
    }
)


class Desk(sqlite3.Connection):
    """A connection on which `commit()` waits for the end of the call, and `close()` does nothing.

    Attributes:
        denied: why the last statement that SQLite calls not authorized was none.
    """

    denied = ""

    @contextmanager
    def call(self, *, reads_only: bool) -> Iterator[None]:
        """Let a tool work: what it did is kept, or undone if it raises.

        No statement may begin or end a transaction, change the schema or attach a file; nor, if the tool only
        reads, write (but in temporary tables).
        """

        def allow(action: int, _1: str | None, _2: str | None, database: str | None, _3: str | None) -> int:
            reason = ""
            if not self.in_transaction:  # nothing could be undone any more
                reason = "a conflict or a trigger has ended the transaction of this call"
            elif action == sqlite3.SQLITE_TRANSACTION:
                reason = "a tool begins and ends no transaction (as executescript does)"
            elif action in _ATTACHES:
                reason = "a tool attaches no file"
            elif reads_only and action in _WRITES and database != "temp":
                reason = "it is marked reads_only, and writes"
            elif action in _CHANGES_SCHEMA:
                reason = "a tool changes no schema"
            self.denied = reason or self.denied
            return sqlite3.SQLITE_DENY if reason else sqlite3.SQLITE_OK

        end = time.monotonic() + SECONDS
        self.execute("BEGIN")
        self.execute("SAVEPOINT call")
        self.row_factory = sqlite3.Row
        self.set_authorizer(allow)
        self.set_progress_handler(lambda: time.monotonic() > end, _OPCODES)
        keep = False
        try:
            yield
            keep = True
        finally:
            self.set_progress_handler(None, 0)
            self.set_authorizer(None)
            self.row_factory, self.text_factory = None, str
            self._end(keep=keep)

    def _end(self, *, keep: bool) -> None:
        try:
            if keep and self.in_transaction:
                self.execute("COMMIT")
        finally:  # a deferred foreign key may have kept it from being committed; a trigger may have ended it
            if self.in_transaction:
                self.execute("ROLLBACK")

    def commit(self) -> None:
        """Nothing yet: the end of the call keeps what was done."""

    def rollback(self) -> None:
        """Undo what the call did so far."""
        self.execute("ROLLBACK TO call")

    def __enter__(self) -> Desk:
        """As `with db:` does, all of the block or nothing."""
        self.execute("SAVEPOINT block")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> Literal[False]:
        """Keep or undo the block."""
        if kind is not None:
            self.execute("ROLLBACK TO block")
        self.execute("RELEASE block")
        return False

    def close(self) -> None:
        """Nothing: other calls follow."""

    def release(self) -> None:
        """Free the memory."""
        super().close()
