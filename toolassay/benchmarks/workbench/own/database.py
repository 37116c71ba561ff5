"""Somebody's own SQLite file: read without touching it, and what is known of its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from toolassay.benchmarks.workbench.sandbox.schema import Layout, quoted
from toolassay.errors import UsageError

BUSY_SECONDS = 1.0
"""How long a program that writes is waited for."""
_WAL, _PLAIN = 2, b"\x01\x01"
_VERSIONS = slice(18, 20)  # where the header says which journal the file has


def read_database(path: Path) -> bytes:
    """A copy of a database, as it is after its last transaction; the file itself is only read.

    Raises:
        UsageError: no such file, no database, or it is broken or in use.
    """
    if not path.is_file():
        wrong = "is a folder, a file is needed" if path.is_dir() else "no such file"
        raise UsageError(wrong, file=path, fix="give an SQLite file")
    # Read with its log, SQLite would leave two files beside it. Where there is none, it is not needed.
    logged = path.with_name(f"{path.name}-wal").exists()
    with path.open("rb") as stream:
        waiting = stream.read(20)[_VERSIONS.start :] == bytes([_WAL, _WAL])
    mode = "immutable=1" if waiting and not logged else "mode=ro"
    try:
        source = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=BUSY_SECONDS)
        copy = sqlite3.connect(":memory:")
        try:
            # `backup` waits for a lock for ever; what is being read already it gets at once.
            source.execute("BEGIN")
            source.execute("SELECT 1 FROM sqlite_master").fetchone()
            source.backup(copy)
            (said,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            image = bytearray(copy.serialize())
        finally:
            source.close()
            copy.close()
    except sqlite3.Error as error:
        raise UsageError(
            f"cannot be read as an SQLite file: {error}",
            file=path,
            fix="close the programs that use it, or give another",
        ) from None
    if said != "ok":
        raise UsageError(f"is broken: {said}", file=path, fix="mend it, e.g. with .recover of sqlite3")
    image[_VERSIONS] = _PLAIN  # a database in memory has no log
    return bytes(image)


def layouts_of(
    connection: sqlite3.Connection,
    *,
    file: Path,
    ignore: Collection[str] = (),
    verbatim: Collection[str] = (),
) -> tuple[Layout, ...]:
    """The tables of a database that are judged: all but virtual ones and what belongs to those.

    Args:
        connection: to the database.
        file: what it was read from.
        ignore: columns that do not count, as `table.column`.
        verbatim: columns in which case counts, as `table.column`.

    Raises:
        UsageError: there are no tables, or no such column.
    """
    listed = connection.execute("PRAGMA main.table_list").fetchall()
    names = sorted(
        (name, bool(keyless))
        for _, name, kind, _, keyless, _ in listed
        if kind == "table" and not name.startswith("sqlite_")
    )
    tables = [_layout(connection, name, rowid=not keyless) for name, keyless in names]
    if not tables:
        raise UsageError("the database has no tables", file=file, fix="give one that has")
    known = {f"{table.name}.{column}" for table in tables for column in table.columns}
    for said in (*ignore, *verbatim):
        if said not in known:
            raise UsageError(
                f"there is no column {said!r}", fix="write table.column, as the database has them"
            )
    tables = [_without(table, {said.removeprefix(f"{table.name}.") for said in ignore}) for table in tables]
    generated = {table.name: table.id for table in tables if table.generated}
    return tuple(
        replace(
            table,
            verbatim=frozenset(c for c in table.columns if f"{table.name}.{c}" in verbatim),
            references=_references(connection, table.name, generated),
        )
        for table in tables
    )


def _layout(connection: sqlite3.Connection, name: str, *, rowid: bool) -> Layout:
    columns = connection.execute(f"PRAGMA main.table_info({quoted(name)})").fetchall()
    key = tuple(column for _, column, _, _, _, place in sorted(columns, key=lambda c: c[5]) if place)
    kinds = {column: kind.upper() for _, column, kind, *_ in columns}
    if _is_ambiguous(connection, name, key):
        key = ()
    made_up = rowid and len(key) == 1 and kinds[key[0]] == "INTEGER"  # SQLite gives such rows their number
    others = (column for _, column, *_ in columns if column not in key)
    return Layout(name, (*key, *others), name, key=key, generated=frozenset(key if made_up else ()))


def _is_ambiguous(connection: sqlite3.Connection, name: str, key: tuple[str, ...]) -> bool:
    """Whether several rows have one key: SQLite lets NULL be there more than once."""
    if not key:
        return False
    missing = " OR ".join(f"{quoted(column)} IS NULL" for column in key)
    found = f"WHERE {missing} GROUP BY {', '.join(map(quoted, key))} HAVING count(*) > 1"
    return bool(connection.execute(f"SELECT 1 FROM main.{quoted(name)} {found}").fetchall())


def _without(table: Layout, ignored: Iterable[str]) -> Layout:
    """Without the columns that do not count; those of the key are kept to know rows by."""
    ignored = {*ignored}
    return replace(
        table,
        columns=tuple(c for c in table.columns if c in table.key or c not in ignored),
        generated=table.generated | (ignored & {*table.key}),
    )


def _references(connection: sqlite3.Connection, name: str, generated: Mapping[str, str]) -> dict[str, str]:
    """The columns that hold the id of a row in a table whose ids are made up."""
    found = connection.execute(f"PRAGMA main.foreign_key_list({quoted(name)})")
    return {
        column: other
        for _, _, other, column, referred, *_ in found
        if other in generated and referred in (None, generated[other])
    }
