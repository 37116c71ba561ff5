"""The sandbox of a user-defined workplace: its database in memory, a fixed time for SQL functions, and a
connection that makes each tool call one transaction.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from toolassay.benchmarks.workbench.sandbox import Layout, Sandbox, quoted
from toolassay.benchmarks.workbench.tools import Toolset
from toolassay.errors import UsageError
from toolassay.files.locks import open_regular

BUSY_SECONDS = 1.0
"""Maximum wait for another program's lock, in seconds."""
# Values in the header of an SQLite file: WAL mode, and rollback-journal mode (write and read version).
_WAL = 2
_PLAIN = b"\x01\x01"
_VERSIONS = slice(18, 20)  # bytes of the header: write and read version, 2 in WAL mode, 1 otherwise


def read_database(path: Path) -> bytes:
    """Read a database as of its last committed transaction. The file is never changed.

    Returns:
        An SQLite file in rollback-journal mode.

    Raises:
        UsageError: the file does not exist, is not an SQLite file, is damaged, or is locked.
    """
    if not path.is_file():
        wrong = "is a folder, not a file" if path.is_dir() else "no such file"
        raise UsageError(wrong, file=path, fix="give an SQLite file")
    # Opening a database in WAL mode creates a -wal and a -shm file beside it. Without a -wal file there is
    # nothing to recover, and `immutable` opens the database without creating them.
    has_wal_file = path.with_name(f"{path.name}-wal").exists()
    with open_regular(path) as stream:
        is_wal = stream.read(20)[_VERSIONS.start :] == bytes([_WAL, _WAL])
    mode = "immutable=1" if is_wal and not has_wal_file else "mode=ro"
    try:
        source = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=BUSY_SECONDS)
        with closing(source), closing(sqlite3.connect(":memory:")) as copy:
            # `backup` retries a locked database for ever. Reading first takes the lock, or times out.
            source.execute("BEGIN")
            source.execute("SELECT 1 FROM sqlite_master").fetchone()
            source.backup(copy)
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            image = bytearray(copy.serialize())
    except sqlite3.Error as error:
        raise UsageError(
            f"cannot be read as an SQLite file: {error}",
            file=path,
            fix="close the programs that use it, or give another file",
        ) from None
    if verdict != "ok":
        raise UsageError(
            f"is damaged: {verdict}", file=path, fix="repair it, e.g. with .recover of the sqlite3 shell"
        )
    image[_VERSIONS] = _PLAIN  # `deserialize` cannot open a database in WAL mode
    return bytes(image)


def layouts_of(
    connection: sqlite3.Connection,
    *,
    file: Path,
    facts: Path | None = None,
    ignore: Collection[str] = (),
    verbatim: Collection[str] = (),
) -> tuple[Layout, ...]:
    """The layouts of a database's tables, all of which are judged. Virtual tables and their shadow tables
    are left out.

    Args:
        connection: to the database.
        file: the file it was read from, for messages.
        facts: the file that names the following columns.
        ignore: columns that are not judged, as `table.column`.
        verbatim: columns compared with case, as `table.column`.

    Raises:
        UsageError: the database has no tables, or `ignore` or `verbatim` names an unknown column.
    """
    listed = connection.execute("PRAGMA main.table_list").fetchall()
    names = sorted(
        (name, bool(keyless))
        for _, name, kind, _, keyless, _ in listed
        if kind == "table" and not name.startswith("sqlite_")
    )
    tables = [_layout(connection, name, rowid=not keyless) for name, keyless in names]
    if not tables:
        raise UsageError("the database has no tables", file=file, fix="give a database with tables")
    known = {f"{table.name}.{column}" for table in tables for column in table.columns}
    for named in (*ignore, *verbatim):
        if named not in known:
            fix = "write table.column as in the database"
            raise UsageError(f"there is no column {named!r}", file=facts, fix=fix)
    generated = {table.name: table.id for table in tables if table.generated}
    judged = []
    for table in tables:
        ignored = {column for column in table.columns if f"{table.name}.{column}" in ignore}
        judged.append(
            replace(
                table,
                # Ignored key columns stay, to identify rows, but are not compared.
                columns=tuple(c for c in table.columns if c in table.key or c not in ignored),
                generated=table.generated | (ignored & {*table.key}),
                verbatim=frozenset(c for c in table.columns if f"{table.name}.{c}" in verbatim),
                references=_references(connection, table.name, generated),
            )
        )
    return tuple(judged)


def _references(connection: sqlite3.Connection, table: str, generated: Mapping[str, str]) -> dict[str, str]:
    """The columns of a table that refer to a generated key, with the table of that key.

    Args:
        connection: to the database.
        table: its name.
        generated: the key column of each table whose keys SQLite generates.
    """
    foreign_keys = connection.execute(f"PRAGMA main.foreign_key_list({quoted(table)})")
    return {
        column: target
        for _, _, target, column, target_column, *_ in foreign_keys
        # Without a column, the foreign key refers to the primary key.
        if target in generated and target_column in (None, generated[target])
    }


def _layout(connection: sqlite3.Connection, name: str, *, rowid: bool) -> Layout:
    columns = connection.execute(f"PRAGMA main.table_info({quoted(name)})").fetchall()
    key = tuple(column for _, column, _, _, _, position in sorted(columns, key=lambda c: c[5]) if position)
    kinds = {column: kind.upper() for _, column, kind, *_ in columns}
    if key:  # in SQLite, primary keys other than the rowid may hold NULL, also several times
        missing = " OR ".join(f"{quoted(column)} IS NULL" for column in key)
        repeated = f"WHERE {missing} GROUP BY {', '.join(map(quoted, key))} HAVING count(*) > 1"
        if connection.execute(f"SELECT 1 FROM main.{quoted(name)} {repeated}").fetchone():
            key = ()
    is_generated = rowid and len(key) == 1 and kinds[key[0]] == "INTEGER"  # an alias of SQLite's rowid
    others = (column for _, column, *_ in columns if column not in key)
    return Layout(name, (*key, *others), name, key=key, generated=frozenset(key if is_generated else ()))


_FUNCTIONS = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
_ZONES = frozenset({"localtime", "utc"})  # dropped: they would convert by the computer's time zone

Value = str | int | float | bytes | None


class FixedClock:
    """SQLite's date and time functions with a fixed current time, and a function `now()`.

    A row that a tool adds has the same time in every run, so that the states of two runs can be compared.

    Args:
        now: the workplace's current time.

    >>> db = sqlite3.connect(":memory:")
    >>> FixedClock(datetime(2024, 2, 28, 9, 30)).set(db)
    >>> db.execute("SELECT now(), date('now', '+2 days'), CURRENT_TIMESTAMP").fetchone()
    ('2024-02-28 09:30:00', '2024-03-01', '2024-02-28 09:30:00')
    """

    def __init__(self, now: datetime) -> None:
        self._now = now.strftime("%Y-%m-%d %H:%M:%S")
        self._sqlite = sqlite3.connect(":memory:", check_same_thread=False)

    def set(self, connection: sqlite3.Connection) -> None:
        """Install the functions on a connection."""
        for name in _FUNCTIONS:
            # With a fixed time the functions are deterministic, which indexes on expressions require.
            connection.create_function(name, -1, partial(self._at_fixed_time, name), deterministic=True)
        day, time_of_day = self._now.split(" ")
        moments = {"now": self._now, "current_timestamp": self._now}
        for name, text in {**moments, "current_date": day, "current_time": time_of_day}.items():
            connection.create_function(name, 0, lambda text=text: text, deterministic=True)

    def _at_fixed_time(self, name: str, *arguments: Value) -> Value:
        """What SQLite's function `name` returns if "now", or no time at all, is the fixed time."""
        values = [*arguments]
        time_position = int(name == "strftime")  # after the format
        if len(values) == time_position:
            values.append("now")
        if len(values) > time_position and str(values[time_position]).lower() == "now":
            modifiers = [text for text in values[time_position + 1 :] if str(text).lower() not in _ZONES]
            values[time_position:] = [self._now, *modifiers]
        marks = ", ".join("?" * len(values))
        value: Value = self._sqlite.execute(f"SELECT {name}({marks})", values).fetchone()[0]
        return value


SECONDS = 10.0
"""Maximum time for the queries of one call."""
_OPCODES = 20_000  # SQLite instructions between two checks of the time, a few milliseconds

_WRITES = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_ATTACHES = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})
_CHANGES_SCHEMA = {sqlite3.SQLITE_ALTER_TABLE} | {
    getattr(sqlite3, f"SQLITE_{verb}_{noun}")
    for verb in ("CREATE", "DROP")
    for noun in ("TABLE", "INDEX", "TRIGGER", "VIEW", "VTABLE")
}


class ToolConnection(sqlite3.Connection):
    """The connection that a user's tools get. `commit()` is deferred to the end of the call, and `close()`
    does nothing.

    Attributes:
        denied: the reason for the last statement that SQLite reported as "not authorized".
    """

    denied = ""

    @contextmanager
    def call(self, *, reads_only: bool) -> Iterator[None]:
        """Run one tool call in the block: its changes are committed, or rolled back if it raises.

        Statements that begin or end a transaction, change the schema or attach a file are denied; so are
        writes (except to temporary tables) by a tool that only reads.
        """

        def allow(action: int, _1: str | None, _2: str | None, database: str | None, _3: str | None) -> int:
            reason = ""
            if not self.in_transaction:  # what follows could not be rolled back
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
        # `rollback()` in a tool returns to this savepoint and leaves the transaction open.
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
            self.row_factory = None
            self.text_factory = str
            try:
                if keep and self.in_transaction:
                    self.execute("COMMIT")
            finally:  # COMMIT fails on a deferred foreign key, and a trigger may end the transaction
                if self.in_transaction:
                    self.execute("ROLLBACK")

    def commit(self) -> None:
        """Do nothing: the end of the call commits."""

    def rollback(self) -> None:
        """Undo the changes that the call made so far."""
        self.execute("ROLLBACK TO call")

    def __enter__(self) -> ToolConnection:
        """Start the block of `with db:`, whose changes are kept or undone together."""
        self.execute("SAVEPOINT block")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> Literal[False]:
        """Keep the changes of the block, or undo them after an exception."""
        if kind is not None:
            self.execute("ROLLBACK TO block")
        self.execute("RELEASE block")
        return False

    def close(self) -> None:
        """Do nothing: further calls use the connection."""

    def release(self) -> None:
        """Close the connection and free its memory."""
        super().close()


@dataclass(frozen=True)
class OwnWorkplace:
    """What all copies of a user-defined workplace share.

    Attributes:
        now: the workplace's current time.
        user: the person the agent works for.
        toolset: its tools.
        judged: its tables.
        customs: house rules in the agent's prompt.
    """

    now: datetime
    user: str
    toolset: Toolset
    judged: tuple[Layout, ...]
    customs: str = ""
    clock: FixedClock = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "clock", FixedClock(self.now))


class OwnSandbox(Sandbox):
    """One copy of a user-defined workplace.

    Args:
        image: the database, as an SQLite file.
        workplace: what all copies share.
    """

    connection: ToolConnection

    def __init__(self, image: bytes, workplace: OwnWorkplace) -> None:
        # Autocommit: `call` opens the transactions. Sandboxes move between threads; one uses it at a time.
        self.connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, factory=ToolConnection
        )
        self.connection.deserialize(image)
        self.connection.execute("PRAGMA foreign_keys = ON")
        workplace.clock.set(self.connection)
        self.connection.create_function("user", 0, lambda: workplace.user, deterministic=True)
        self._image = self.connection.total_changes, image
        self._workplace = workplace
        self.now = workplace.now
        self.user = workplace.user
        self.overwrites = False
        self.toolset = workplace.toolset
        self.judged = workplace.judged
        self.customs = workplace.customs

    def fork(self, *, overwrites: bool | None = None) -> OwnSandbox:
        """An independent copy; `overwrites` has no meaning here."""
        return OwnSandbox(self.image(), self._workplace)

    def watched(self, *, overwrites: bool) -> OwnSandbox:
        """Itself: SQL of tools does not say which rows it changes."""
        return self

    @contextmanager
    def undone(self) -> Iterator[OwnSandbox]:
        """A copy for the block."""
        with closing(self.fork()) as copy:
            yield copy

    def close(self) -> None:
        """Free the memory of the database. The sandbox cannot be used afterwards."""
        self.connection.release()
