"""The SQLite file of a user-defined workplace: read without changing it, and the layout of its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from toolassay.benchmarks.workbench.sandbox.schema import Layout, quoted
from toolassay.errors import UsageError
from toolassay.locks import open_regular

BUSY_SECONDS = 1.0
"""Maximum wait for another program's lock, in seconds."""
_WAL, _PLAIN = 2, b"\x01\x01"
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
    logged = path.with_name(f"{path.name}-wal").exists()
    with open_regular(path) as stream:
        waiting = stream.read(20)[_VERSIONS.start :] == bytes([_WAL, _WAL])
    mode = "immutable=1" if waiting and not logged else "mode=ro"
    try:
        source = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=BUSY_SECONDS)
        copy = sqlite3.connect(":memory:")
        try:
            # `backup` retries a locked database for ever. Reading first takes the lock, or times out.
            source.execute("BEGIN")
            source.execute("SELECT 1 FROM sqlite_master").fetchone()
            source.backup(copy)
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            image = bytearray(copy.serialize())
        finally:
            source.close()
            copy.close()
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
    ignore: Collection[str] = (),
    verbatim: Collection[str] = (),
) -> tuple[Layout, ...]:
    """The layouts of a database's tables, all of which are judged. Virtual tables and their shadow tables
    are left out.

    Args:
        connection: to the database.
        file: the file it was read from, for messages.
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
            raise UsageError(f"there is no column {named!r}", fix="write table.column as in the database")
    tables = [_without(table, {named.removeprefix(f"{table.name}.") for named in ignore}) for table in tables]
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
    made_up = rowid and len(key) == 1 and kinds[key[0]] == "INTEGER"  # an alias of SQLite's rowid
    others = (column for _, column, *_ in columns if column not in key)
    return Layout(name, (*key, *others), name, key=key, generated=frozenset(key if made_up else ()))


def _is_ambiguous(connection: sqlite3.Connection, name: str, key: tuple[str, ...]) -> bool:
    """Whether several rows have the same key. In SQLite, primary keys other than the rowid may hold NULL."""
    if not key:
        return False
    missing = " OR ".join(f"{quoted(column)} IS NULL" for column in key)
    found = f"WHERE {missing} GROUP BY {', '.join(map(quoted, key))} HAVING count(*) > 1"
    return bool(connection.execute(f"SELECT 1 FROM main.{quoted(name)} {found}").fetchall())


def _without(table: Layout, ignored: Iterable[str]) -> Layout:
    """The layout without ignored columns. Ignored key columns stay, to identify rows, but are not
    compared.
    """
    ignored = {*ignored}
    return replace(
        table,
        columns=tuple(c for c in table.columns if c in table.key or c not in ignored),
        generated=table.generated | (ignored & {*table.key}),
    )


def _references(connection: sqlite3.Connection, name: str, generated: Mapping[str, str]) -> dict[str, str]:
    """The foreign-key columns that refer to a generated id."""
    found = connection.execute(f"PRAGMA main.foreign_key_list({quoted(name)})")
    return {
        column: other
        for _, _, other, column, referred, *_ in found
        if other in generated and referred in (None, generated[other])
    }
