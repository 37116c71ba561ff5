"""The workplace as one SQLite database in memory, copied for every task."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.workbench.sandbox.schema import JUDGED, TABLES, Layout, create_statements, quoted
from toolassay.errors import UsageError
from toolassay.files import atomic_target

if TYPE_CHECKING:
    from toolassay.benchmarks.workbench.tools.toolset import Toolset

Cell = str | int | float | None
Rows = Sequence[Sequence[Cell]]

FILE = "sandbox.sqlite"
_MOMENT = "%Y-%m-%d %H:%M:%S"


class Sandbox:
    """A company's calendar, mailbox, web visits, project boards, customers and directory, at one time.

    Args:
        connection: to a database with the tables of `schema`. The sandbox owns it.

    Attributes:
        now: the workplace's current time.
        user: the person the agent works for.
        overwrites: whether mail sent after a deletion can replace other mail, as in the published program, or
            is always appended.
        judged: the tables whose changes count.
        toolset: the tools of a user-defined workplace; None for the published tools.
        customs: house rules in the agent's prompt.

    >>> sandbox = Sandbox.of({"directory": [["ann.lee@example.com"]]})
    >>> copy = sandbox.fork()
    >>> _ = copy.connection.execute("DELETE FROM directory")
    >>> len(sandbox.rows("directory")), len(copy.rows("directory"))
    (1, 0)
    """

    judged: tuple[Layout, ...] = JUDGED
    toolset: Toolset | None = None
    customs: str = "Meetings start at 9:00 or later and end by 18:00."

    # What was computed from each table (see `reads`), and the `total_changes` for which it is valid.
    _reads: dict[str, dict[Hashable, Any]]
    _read_at: int

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._image: tuple[int, bytes] | None = None
        self._forget_reads()
        about = dict(connection.execute("SELECT key, value FROM sandbox"))
        self.now = datetime.strptime(about["now"], _MOMENT)
        self.user = about["user"]
        self.overwrites = about["overwrites"] == "1"

    @classmethod
    def of(
        cls,
        tables: Mapping[str, Rows],
        *,
        now: datetime = datetime(2023, 11, 30),
        user: str = "Sam",
        overwrites: bool = True,
    ) -> Sandbox:
        """A sandbox with the given rows.

        Args:
            tables: rows by table name, cells in the order of the columns; a missing table is empty.
            now: the workplace's current time.
            user: the person the agent works for.
            overwrites: see the class.

        Raises:
            sqlite3.Error: a row does not have as many cells as its table has columns.
        """
        connection = _connect()
        for statement in create_statements():
            connection.execute(statement)
        about = {"now": now.strftime(_MOMENT), "user": user, "overwrites": str(int(overwrites))}
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO sandbox VALUES (?, ?)", about.items())
        for table in TABLES:
            names = ", ".join(map(quoted, table.columns))
            marks = ", ".join("?" for _ in table.columns)
            connection.executemany(
                f"INSERT INTO {table.name} (label, {names}) VALUES (?, {marks})",
                ([label, *cells] for label, cells in enumerate(tables.get(table.name, ()))),
            )
        connection.execute("COMMIT")
        return cls(connection)

    @classmethod
    def load(cls, path: str | Path) -> Sandbox:
        """Load a `sandbox.sqlite`, or a folder with that file or with the published CSV files.

        Raises:
            UsageError: the file or folder does not exist or cannot be read, or the folder's `benchmark.json`
                contradicts its `sandbox.sqlite`.
        """
        from toolassay.benchmarks.workbench.sandbox.published_layout import check_stated, read_published

        path = Path(path)
        if path.is_dir():
            if not (path / FILE).exists():
                return cls.of(**read_published(path))
            sandbox = cls.load(path / FILE)
            check_stated(path, sandbox.now, sandbox.user)
            return sandbox
        try:
            return cls._from_bytes(path.read_bytes())
        except FileNotFoundError:
            raise UsageError(
                "no such file", file=path, fix="give a sandbox.sqlite, or a folder that contains one"
            ) from None
        except OSError as error:
            raise UsageError(
                f"cannot be read: {error.strerror}", file=path, fix="check its permissions"
            ) from None
        except (sqlite3.Error, KeyError, ValueError) as error:
            raise UsageError(
                f"is not a sandbox: {error}", file=path, fix="give a file written by Sandbox.save"
            ) from None

    def fork(self, *, overwrites: bool | None = None) -> Sandbox:
        """An independent copy.

        Args:
            overwrites: replaces the setting of that name in the copy; None keeps it.
        """
        image = self.image()
        copy = object.__new__(Sandbox)
        copy.connection = _connect()
        copy.connection.deserialize(image)
        copy._image = copy.connection.total_changes, image
        self._drop_outdated_reads()
        copy._reads, copy._read_at = dict(self._reads), copy.connection.total_changes
        copy.now, copy.user = self.now, self.user
        copy.overwrites = self.overwrites if overwrites is None else overwrites
        return copy

    def image(self) -> bytes:
        """The database as an SQLite file. The same object is returned until something changes."""
        if self._image is None or self._image[0] != self.connection.total_changes:
            self._image = self.connection.total_changes, self.connection.serialize()
        return self._image[1]

    def reads(self, table: str) -> dict[Hashable, Any]:
        """What was computed from a table in its present state, by any key; empty at first.

        Copies share it until one of them changes the table, so the first search in one of a thousand copies
        serves all others. Values must not be changed.
        """
        self._drop_outdated_reads()
        return self._reads[table]

    def write(self, table: str, statement: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement that changes only this table; what was read of other tables stays valid."""
        self._drop_outdated_reads()
        done = self.connection.execute(statement, parameters)
        # A trigger may change other tables. Its changes are in `total_changes` and not in `rowcount`.
        if self.connection.total_changes - self._read_at == max(done.rowcount, 0):
            self._reads[table] = {}
            self._read_at = self.connection.total_changes
        return done

    def tables_unlike(self, other: Sandbox) -> frozenset[str]:
        """The tables that may differ from those of a sandbox to which this is related by forks."""
        self._drop_outdated_reads()
        other._drop_outdated_reads()
        return frozenset(name for name, reads in self._reads.items() if reads is not other._reads[name])

    def restore(self, image: bytes, unlike: Collection[str]) -> None:
        """Replace the content.

        Args:
            image: the new content, as an SQLite file.
            unlike: the tables in which it may differ from the present content.
        """
        self.connection.deserialize(image)
        self._image = None
        self._reads |= {name: {} for name in unlike}

    def _drop_outdated_reads(self) -> None:
        """Forget what was read before a statement that did not go through `write`."""
        if self._read_at != self.connection.total_changes:
            self._forget_reads()

    def _forget_reads(self) -> None:
        self._reads = {table.name: {} for table in TABLES}
        self._read_at = self.connection.total_changes

    def save(self, path: str | Path) -> None:
        """Write the database atomically to an SQLite file."""
        with atomic_target(Path(path)) as stream:
            stream.write(self.image())

    def close(self) -> None:
        """Free the memory of the database. The sandbox cannot be used afterwards."""
        self._reads = {}
        self.connection.close()

    def rows(self, table: str) -> list[tuple[Cell, ...]]:
        """The rows of a table in order, without the columns `row` and `label`."""
        (layout,) = (known for known in TABLES if known.name == table)
        names = ", ".join(map(quoted, layout.columns))
        return self.connection.execute(f"SELECT {names} FROM {table} ORDER BY row").fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit the changes of the block, or roll them back if it raises."""
        self._drop_outdated_reads()
        before = dict(self._reads)
        self.connection.execute("BEGIN")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            # `total_changes` counts what was rolled back, too.
            self._reads, self._read_at = before, self.connection.total_changes
            raise
        self.connection.execute("COMMIT")

    @classmethod
    def _from_bytes(cls, image: bytes) -> Sandbox:
        if not image.startswith(b"SQLite format 3\0"):
            raise ValueError("not an SQLite file")
        connection = _connect()
        connection.deserialize(image)
        for table in TABLES:
            names = ", ".join(map(quoted, ("row", "label", *table.columns)))
            connection.execute(f"SELECT {names} FROM {table.name} LIMIT 1").fetchall()
        return cls(connection)


def _connect() -> sqlite3.Connection:
    # Autocommit, so that only `transaction` opens transactions. Sandboxes move between threads, but only one
    # thread at a time uses a sandbox.
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
