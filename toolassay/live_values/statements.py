"""SQL statements on the tables that a server has, with values of their rows."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolassay.graph.derive.fields import name_words, words_of
from toolassay.tools.library import Tool
from toolassay.tools.type_names import read_type, types_of

_NEW_TABLES = {
    "suppliers": "name TEXT, phone TEXT, city TEXT",
    "visits": "visitor TEXT, day TEXT, minutes INTEGER",
    "invoices": "number TEXT, amount REAL, paid INTEGER",
    "notes": "title TEXT, body TEXT, written TEXT",
    "reviews": "author TEXT, stars INTEGER, comment TEXT",
    "shipments": "carrier TEXT, sent TEXT, weight REAL",
}
_NAME = re.compile(r"[A-Za-z_]\w{0,40}")  # needs no quotation marks: "orders"; not "my orders"
# The statement from whose result the rows of a table are known: "SELECT * FROM orders".
_ALL_ROWS = re.compile(r"SELECT \* FROM (?P<table>[A-Za-z_]\w*)", re.IGNORECASE)
# Rows of a table that are remembered: statements only need some values that are there.
_MOST_ROWS = 50


@dataclass
class StatementTable:
    """A table.

    Attributes:
        columns: Name and type of each column.
        rows: Some of its rows; none until they are read.
    """

    columns: Sequence[tuple[str, str]]
    rows: Sequence[Mapping[str, Any]] = field(default=())


def table_of(name: str, description: Any) -> StatementTable | None:
    """The table that a result describes, a list of objects with `name` and `type`; None if it is none.

    >>> table_of("orders", [{"name": "id", "type": "INTEGER"}])
    StatementTable(columns=[('id', 'INTEGER')], rows=())
    """
    rows = description if isinstance(description, list) else []
    columns = [
        (row["name"], row["type"])
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("name"), str) and isinstance(row.get("type"), str)
    ]
    columns = [column for column in columns if _NAME.fullmatch(column[0])]
    return StatementTable(columns) if columns and _NAME.fullmatch(name) else None


def learn_rows(tables: Mapping[str, StatementTable], statement: str, result: Any) -> None:
    """Remember the rows of a table if a statement has read all of it."""
    query = _ALL_ROWS.fullmatch(statement.strip())
    table = tables.get(query["table"]) if query else None
    if table is not None and isinstance(result, list):
        table.rows = [row for row in result[:_MOST_ROWS] if isinstance(row, dict)]


def statements(
    tool: Tool, description: str, tables: Mapping[str, StatementTable], rng: random.Random, *, may_write: bool
) -> list[str]:
    """Statements of the kind that a tool's description names, on tables that are there, in random order.

    Args:
        tool: The tool.
        description: Of the argument.
        tables: The tables.
        rng: Random numbers.
        may_write: Whether statements may change something. "No DELETE" in a description is no consent.
    """
    words = {*words_of(description), *words_of(tool.description), *name_words(tool)}
    if may_write and "create" in words and "table" in words:
        return [
            f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, {columns})"
            for name, columns in rng.sample(sorted(_NEW_TABLES.items()), len(_NEW_TABLES))
            if name not in tables
        ]
    write = _writing if may_write and {"insert", "update", "delete", "write"} & words else _reading
    # One statement of each table in turn, so that the first ones are not all about one table.
    lists = [[*write(name, table, rng)] for name, table in tables.items()]
    for statements_of_table in lists:
        rng.shuffle(statements_of_table)
    rng.shuffle(lists)
    longest = max(map(len, lists), default=0)
    return [
        statements_of_table[number]
        for number in range(longest)
        for statements_of_table in lists
        if number < len(statements_of_table)
    ]


def _reading(name: str, table: StatementTable, rng: random.Random) -> Iterator[str]:
    if not table.rows:
        yield f"SELECT * FROM {name}"
        return
    names = [column for column, _ in table.columns]
    numbers = _numbers(table)
    texts = _texts(table)
    yield f"SELECT COUNT(*) FROM {name}"
    yield f"SELECT {', '.join(_picked(names, 2, rng))} FROM {name}"
    for column in _picked(numbers, 1, rng):
        yield f"SELECT {rng.choice(('MAX', 'MIN', 'AVG', 'SUM'))}({column}) FROM {name}"
        order = f"{rng.choice(('DESC', 'ASC'))} LIMIT {rng.randrange(1, 4)}"
        yield f"SELECT * FROM {name} ORDER BY {column} {order}"
        if (value := _value(table, column, rng)) is not None:
            yield f"SELECT * FROM {name} WHERE {column} >= {value}"
    for column in _picked(texts, 2, rng):
        yield f"SELECT DISTINCT {column} FROM {name}"
        yield f"SELECT {column}, COUNT(*) FROM {name} GROUP BY {column}"
        if (value := _value(table, column, rng)) is not None:
            yield f"SELECT * FROM {name} WHERE {column} = {value}"


def _writing(name: str, table: StatementTable, rng: random.Random) -> Iterator[str]:
    if not table.rows:
        return
    key = table.columns[0][0]
    row = rng.choice(table.rows)
    here = _literal(row.get(key))
    if here is not None:
        yield f"DELETE FROM {name} WHERE {key} = {here}"
        for column in _picked([*_numbers(table), *_texts(table)], 2, rng):
            value = _value(table, column, rng)
            if column != key and value not in (None, _literal(row.get(column))):
                yield f"UPDATE {name} SET {column} = {value} WHERE {key} = {here}"
    given_columns = [column for column, _ in table.columns[1:]]
    values = [_value(table, column, rng) for column in given_columns]
    if given_columns and None not in values:
        yield f"INSERT INTO {name} ({', '.join(given_columns)}) VALUES ({', '.join(map(str, values))})"


def _picked(items: Sequence[str], most: int, rng: random.Random) -> list[str]:
    return rng.sample(list(items), min(most, len(items)))


def _numbers(table: StatementTable) -> list[str]:
    """Columns with numbers that measure something: "amount", not "id" or "customer_id"."""
    return [
        name
        for name, kind in table.columns
        if {*types_of(read_type(kind) or {})} & {"integer", "number"} and words_of(name)[-1:] != ("id",)
    ]


def _texts(table: StatementTable) -> list[str]:
    return [name for name, kind in table.columns if "char" in kind.lower() or "text" in kind.lower()]


def _value(table: StatementTable, column: str, rng: random.Random) -> str | None:
    """A value that some row has in a column, as SQL; None if there is none that a request could name."""
    literals = [literal for row in table.rows if (literal := _literal(row.get(column))) is not None]
    return rng.choice(literals) if literals else None


def _literal(value: Any) -> str | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str) and 0 < len(value) <= 40 and value.isprintable() and not {*"'\""} & {*value}:
        return f"'{value}'"
    return None
