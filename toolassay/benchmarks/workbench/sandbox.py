"""The workplace as a database: its editions (WorkBench of 2024, "WorkBench Revisited" of 2026), its schema,
its published layout and its copies.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from toolassay.benchmarks.csv_tables import read_table
from toolassay.errors import UsageError
from toolassay.files.data_files import atomic_target, read_text, record_of
from toolassay.records.data_folder import DataFolder

if TYPE_CHECKING:
    from toolassay.benchmarks.workbench.tools import Toolset


@dataclass(frozen=True, eq=False)
class Edition:
    """How the published tools answer and how `compat` judges. The defaults of flags are those of 2024.

    Attributes:
        name: in `benchmark.json`, signatures, metrics and `published.csv`.
        layout: the folder below `processed/` with its tasks, which is also the ending of their files.
        task_version: the version of the tasks in that folder; others are in folders of their names below it.
        replies: what tools reply if nothing is found, and to a plot of an unknown value or type.
        texts: descriptions of arguments that differ, by "tool argument".
        gives_json: tools return JSON text, in which a missing cell is NaN, instead of Python objects.
        is_literal: searches take their text as it is, not as a pattern; that for tasks minds case and returns
            200 at most.
        searches_ends: the lower bound of a search for events is compared with their end, not their start.
        appends_mail: sent mail is always a new row, with an id of eight digits, and can be searched.
        converts_durations: an average over all visits turns their durations into numbers, for later calls.
        counts_failures: a call that is unknown or fails makes a run incorrect. Values are read as texts.
        is_ordered: order and labels of rows count.
        harmless: domains whose changes are no side effects.
        plot_end: an end of plots that counts as another one: that end and the other, as call texts.
    """

    name: str
    layout: str
    task_version: str
    replies: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)
    gives_json: bool = False
    is_literal: bool = False
    searches_ends: bool = False
    appends_mail: bool = False
    converts_durations: bool = True
    counts_failures: bool = False
    is_ordered: bool = True
    harmless: frozenset[str] = frozenset()
    plot_end: tuple[str, str] | None = None

    @property
    def facts(self) -> dict[str, str]:
        """The part of signatures, manifests and metrics; none for 2024, whose scores never named it."""
        return {} if self.name == PUBLISHED.name else {"edition": self.name}

    def result(self, value: Any) -> Any:
        """What a tool returns, as the agent gets it."""
        return json.dumps(_with_nan(value)) if self.gives_json and not isinstance(value, str) else value

    def judged_calls(self, calls: Iterable[str]) -> tuple[str, ...]:
        """Calls as `compat` replays them."""
        if self.plot_end is None:
            return tuple(calls)
        return tuple(
            text.replace(*self.plot_end) if text.startswith("analytics.create_plot") else text
            for text in calls
        )


def _with_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_nan(item) for item in value]
    if isinstance(value, dict):
        return {name: float("nan") if cell is None else cell for name, cell in value.items()}
    return value


EDITIONS = {
    edition.name: edition
    for edition in msgspec.json.decode(
        files(__package__).joinpath("editions.json").read_bytes(), type=tuple[Edition, ...]
    )
}
"""Every edition by its name; of two with one layout, the first is that of a folder that names none. In
that of 2026, since July, plots may end on the last day with data or today.
"""
PUBLISHED = EDITIONS["2024"]


@dataclass(frozen=True)
class Layout:
    """One table.

    Besides `columns`, every published table has `row`, a number that is never reused and defines the order,
    and `label`, the row's index label in the published program (pandas).

    Attributes:
        name: the table's name in the SQLite file.
        columns: in published order, key columns first; the first column is the id.
        domain: the domain whose state the table is; None for tables that are not judged.
        file: the published file below `processed/`, if there is one.
        verbatim: columns compared with case; all others are compared without.
        key: the columns that identify a row across two states; empty for tables compared by content.
        generated: columns that the database fills in for a new row; they are not compared.
        references: columns that hold a generated id of another table, with the name of that table.
    """

    name: str
    columns: tuple[str, ...]
    domain: str | None = None
    file: str | None = None
    verbatim: frozenset[str] = frozenset()
    key: tuple[str, ...] = ("row",)
    generated: frozenset[str] = frozenset()
    references: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id column."""
        return self.columns[0]

    def id_of(self, cells: Sequence[Any]) -> Any:
        """A row's id in a verdict: one key column as it is, several as a JSON list; None without a key.

        >>> Layout("loans", ("book", "member", "due"), key=("book", "member")).id_of(["b1", "m2", "2024"])
        '["b1", "m2"]'
        """
        if len(self.key) > 1:
            return json.dumps(list(cells[: len(self.key)]), ensure_ascii=False, default=str)
        return cells[0] if self.key else None


TABLES = msgspec.json.decode(files(__package__).joinpath("tables.json").read_bytes(), type=tuple[Layout, ...])
"""The published tables."""
CALENDAR, EMAILS, VISITS, PLOTS, TASKS, CUSTOMERS, DIRECTORY = TABLES
JUDGED = tuple(table for table in TABLES if table.domain is not None)


def quoted(name: str) -> str:
    """Quote a column name for SQL.

    >>> quoted("inbox/outbox")
    '"inbox/outbox"'
    """
    return '"' + name.replace('"', '""') + '"'


def create_statements() -> list[str]:
    """The SQL statements that create the empty tables."""
    statements = [
        "CREATE TABLE sandbox (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        # Columns that a tool added to the calendar. Their cells are JSON in calendar_events.added: agents
        # choose the names, and a name in the schema would have to be quoted and checked everywhere.
        "CREATE TABLE added_columns (number INTEGER PRIMARY KEY, name NOT NULL UNIQUE)",
    ]
    for table in TABLES:
        columns = ["row INTEGER PRIMARY KEY AUTOINCREMENT", "label INTEGER NOT NULL"]
        columns += [quoted(name) for name in table.columns]
        if table is CALENDAR:
            columns.append("added TEXT")
        if table is EMAILS:
            # 1 if a tool wrote `sent_datetime`: the published program then holds a timestamp, not a text.
            columns.append("moment INTEGER NOT NULL DEFAULT 0")
        statements.append(f"CREATE TABLE {table.name} ({', '.join(columns)})")
    return statements


# The moment and the user of the published tasks, which name days relative to it.
NOW = datetime(2023, 11, 30)
USER = "Sam"
ADDRESSES = Path("raw", "email_addresses.csv")

# The published program reads these cells as missing: the default `na_values` of pandas.read_csv.
_MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"}
    | {"N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)


Moment = Annotated[datetime, msgspec.Meta(tz=False)]
"""In `benchmark.json`: a time without a zone, as "2024-05-14 10:00:00"."""
Facts = TypeVar("Facts", bound=msgspec.Struct)


class StatedPlace(msgspec.Struct, frozen=True):
    """What the `benchmark.json` of a folder with the published tools may state.

    Attributes:
        now: the workplace's current time.
        user: the person the agent works for.
        edition: the name of the edition.
        task_version: the folder with the tasks, below those of the edition of 2026, e.g. "v1".
    """

    now: Moment | None = None
    user: str | None = None
    edition: str | None = None
    task_version: str = ""


def read_facts(folder: DataFolder, kind: type[Facts]) -> Facts:
    """What `benchmark.json` states, as a record.

    Raises:
        UsageError: a value has the wrong form, a required one is missing, or the record refuses a key.
    """
    fix = "write it as docs/workbench.md and docs/own-workplace.md show"
    return record_of(folder.written_benchmark, kind, file=folder.benchmark_file, fix=fix)


def edition_of(folder: Path) -> Edition:
    """The edition that a folder states, or that of its published tasks, or that of 2024.

    Raises:
        UsageError: the stated one is unknown.
    """
    about = DataFolder(folder)
    if (name := read_facts(about, StatedPlace).edition) is None:
        named = (one for one in EDITIONS.values() if (folder / "processed" / one.layout).is_dir())
        return next(named, PUBLISHED)
    if name not in EDITIONS:
        fix = f"choose from {', '.join(EDITIONS)}"
        raise UsageError(f"unknown edition '{name}'", file=about.benchmark_file, fix=fix)
    return EDITIONS[name]


def read_published(folder: Path) -> Sandbox:
    """The sandbox of a folder in the published layout.

    Without `now` and `user` in its `benchmark.json`, the published ones apply: 2023-11-30 and Sam.

    Raises:
        UsageError: a file is missing or has other columns.
    """
    tables: dict[str, list[list[str | int | None]]] = {}
    for table in TABLES:
        rows = () if table.file is None else read_csv(path := folder / "processed" / table.file)
        for row in rows:
            if tuple(row) != table.columns:
                fix = f"name them {', '.join(table.columns)}"
                raise UsageError(f"has the columns {', '.join(row)}", file=path, fix=fix)
            tables.setdefault(table.name, []).append(list(row.values()))
    lines = read_text(folder / ADDRESSES, fix="write one e-mail address per line").splitlines()
    tables[DIRECTORY.name] = [[line.strip()] for line in lines if line.strip()]
    engaged = VISITS.columns.index("user_engaged")
    for visit in tables.get(VISITS.name, ()):
        visit[engaged] = int(visit[engaged] == "True")
    stated = read_facts(DataFolder(folder), StatedPlace)
    return Sandbox.of(tables, now=stated.now or NOW, user=USER if stated.user is None else stated.user)


def check_stated(folder: Path, sandbox: Sandbox) -> None:
    """Refuse a `benchmark.json` that states another time or user than the `sandbox.sqlite` beside it.

    The time cannot be changed there: requests ("tomorrow") and ground truth were made for the sandbox's time
    and would no longer agree.

    Raises:
        UsageError: the time or the user differs.
    """
    stated = read_facts(DataFolder(folder), StatedPlace)
    for key in ("now", "user"):
        value = getattr(stated, key)
        held = getattr(sandbox, key)
        if value not in (None, held):
            raise UsageError(
                f"'{key}' is '{value}', but sandbox.sqlite, which the tasks were made for, has '{held}'",
                file=folder / "benchmark.json",
                fix=f'write "{key}": "{held}"',
            )


_RENAMED = {"task": "query", "outcome": "answer"}  # since 2026; here the columns keep their first names


def read_csv(path: Path) -> Iterator[dict[str, str | None]]:
    """The rows of a CSV file with a header, by column; it may be compressed (`.gz`).

    A cell that pandas reads as missing is None. Columns have the names of 2024.

    Raises:
        UsageError: the file does not exist, is not UTF-8 CSV, or has a row with more cells than the header.
    """
    fix = "give --data_dir a published folder or one with sandbox.sqlite"
    for row in read_table(path, (), fix=fix):
        yield {
            _RENAMED.get(name, name): None if cell in _MISSING else cell for name, cell in row.cells.items()
        }


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
        edition: how the published tools answer, and how compat judges.
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

    edition: Edition = PUBLISHED
    judged: tuple[Layout, ...] = JUDGED
    toolset: Toolset | None = None
    customs: str = "Meetings start at 9:00 or later and end by 18:00."

    _is_watched = False
    # What was computed from the tables (see `reads`), and the `total_changes` for which it is valid.
    _reads: dict[Hashable, Any]
    _read_at = -1

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._image: tuple[int, bytes] | None = None
        about = dict(connection.execute("SELECT key, value FROM sandbox"))
        self.now = datetime.strptime(about["now"], _MOMENT)
        self.user = about["user"]
        self.overwrites = about["overwrites"] == "1"

    @classmethod
    def of(
        cls,
        tables: Mapping[str, Rows],
        *,
        now: datetime = NOW,
        user: str = USER,
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
        path = Path(path)
        if path.is_dir():
            if (path / FILE).exists():
                sandbox = cls.load(path / FILE)
                check_stated(path, sandbox)
            else:
                sandbox = read_published(path)
            sandbox.edition = edition_of(path)
            return sandbox
        try:
            if not (image := path.read_bytes()).startswith(b"SQLite format 3\0"):
                raise ValueError("not an SQLite file")
            connection = _connect()
            connection.deserialize(image)
            for table in TABLES:
                names = ", ".join(map(quoted, ("row", "label", *table.columns)))
                connection.execute(f"SELECT {names} FROM {table.name} LIMIT 1").fetchall()
            return cls(connection)
        except OSError as error:
            fix = "give a sandbox.sqlite, or a folder that contains one"
            raise UsageError(f"cannot be read: {error.strerror}", file=path, fix=fix) from None
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
        copy._reads = self.reads()
        copy._read_at = copy.connection.total_changes
        copy.now = self.now
        copy.user = self.user
        copy.edition = self.edition
        copy.overwrites = self.overwrites if overwrites is None else overwrites
        return copy

    def watched(self, *, overwrites: bool) -> Sandbox:
        """A copy that notes which rows change (`touched`), for a judge that tries thousands of runs on it.

        Args:
            overwrites: as in `fork`.
        """
        copy = self.fork(overwrites=overwrites)
        copy.connection.execute("CREATE TABLE touched (name TEXT, number INTEGER)")
        for table in copy.judged:
            for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
                copy.connection.execute(
                    f"CREATE TRIGGER {event}_{table.name} AFTER {event} ON {table.name} "
                    f"BEGIN INSERT INTO touched VALUES ('{table.name}', {row}.row); END"
                )
        copy._is_watched = True
        return copy

    def touched(self, table: Layout) -> str | None:
        """The numbers of the rows of a table that changed, "7, 501"; None if that is not noted."""
        if not self._is_watched:
            return None
        noted = self.connection.execute("SELECT DISTINCT number FROM touched WHERE name = ?", [table.name])
        return ", ".join(str(number) for (number,) in noted)

    @contextmanager
    def undone(self) -> Iterator[Sandbox]:
        """The sandbox, whose state is at the end that of the beginning."""
        reads = self.reads()
        self.connection.execute("SAVEPOINT undone")
        try:
            yield self
        finally:
            self.connection.execute("ROLLBACK TO undone")
            self.connection.execute("RELEASE undone")
            self._reads = reads
            self._read_at = self.connection.total_changes

    def image(self) -> bytes:
        """The database as an SQLite file. The same object is returned until something changes."""
        if self._image is None or self._image[0] != self.connection.total_changes:
            self._image = self.connection.total_changes, self.connection.serialize()
        return self._image[1]

    @property
    def sha256(self) -> str:
        """The hash of the image."""
        return hashlib.sha256(self.image()).hexdigest()

    def reads(self) -> dict[Hashable, Any]:
        """What was computed from the tables in their present state, by any key; empty at first.

        Copies share it until they change, so the first search in one of a thousand copies serves all others.
        Values must not be changed.
        """
        if self._read_at != self.connection.total_changes:
            self._reads = {}
            self._read_at = self.connection.total_changes
        return self._reads

    def restore(self, image: bytes) -> None:
        """Replace the content by an SQLite file."""
        self.connection.deserialize(image)
        self._image = None
        self._read_at = -1

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
        self.connection.execute("SAVEPOINT call")
        try:
            yield
        except BaseException:
            # Ctrl-C and a cancelled task also leave no part of a call.
            self.connection.execute("ROLLBACK TO call")
            self._read_at = -1  # what was read of the changes before they were undone
            raise
        finally:
            self.connection.execute("RELEASE call")


def _connect() -> sqlite3.Connection:
    # Autocommit, so that only `transaction` opens transactions. Sandboxes move between threads, but only one
    # thread at a time uses a sandbox.
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
