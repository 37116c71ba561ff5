"""Any SQLite file as a workplace: read without touching it, compared by content."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.support.own_workplace import NOTES, call, database, sandbox
from toolassay.benchmarks.workbench.judge.strict import StrictJudge
from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox, read_database
from toolassay.benchmarks.workbench.records import difference
from toolassay.errors import UsageError

SHOP = """
CREATE TABLE goods (sku TEXT PRIMARY KEY, name TEXT COLLATE NOCASE, left INT, twice INT AS (left * 2));
CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, who TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE lines (
    order_id INT REFERENCES orders, sku TEXT REFERENCES goods, count INT, PRIMARY KEY (order_id, sku)
) WITHOUT ROWID;
CREATE TABLE log (said TEXT, data BLOB);
CREATE VIEW empty AS SELECT * FROM goods WHERE left = 0;
CREATE INDEX by_day ON orders (date(at));
CREATE VIRTUAL TABLE words USING fts5(text);
CREATE TRIGGER taken AFTER INSERT ON lines BEGIN
    UPDATE goods SET left = left - new.count WHERE sku = new.sku;
    INSERT INTO log VALUES ('taken ' || new.sku, x'00ff');
END;
INSERT INTO goods VALUES ('a', 'Apple', 5), ('b', 'Bread', 3), (NULL, 'Odd', 1);
INSERT INTO orders (who, at) VALUES ('Ann', '2024-01-01');
INSERT INTO log VALUES ('x', NULL), ('x', NULL), ('y', NULL);
"""
RUN = '''
@tool("notes")
def run(db, sql: str) -> int:
    """Run SQL."""
    return db.execute(sql).rowcount
'''


def after(place: OwnSandbox, *statements: str) -> OwnSandbox:
    copy = place.fork()
    for sql in statements:
        call(copy, "notes.run", sql=sql)
    return copy


def test_any_table_is_compared(tmp_path: Path) -> None:
    place = sandbox(tmp_path / "w", sql=SHOP, tools=RUN)
    copy = after(
        place,
        "INSERT INTO orders (who) VALUES ('Bo')",
        "INSERT INTO lines VALUES (2, 'a', 2)",
        "UPDATE goods SET name = 'BREAD' WHERE sku = 'b'",
        "DELETE FROM goods WHERE sku IS NULL",
        "DELETE FROM log WHERE rowid = 1",
        "INSERT INTO words VALUES ('something')",
    )
    found = {name: table.to_json() for name, table in difference(place, copy).items()}
    assert found == {
        "goods": {
            "gone": [[None, "Odd", 1]],
            "new": [],
            "changed": [{"id": "a", "column": "left", "old": 5, "new": 3}],
        },
        "lines": {"gone": [], "new": [{"order_id": 2, "sku": "a", "count": 2}], "changed": []},
        "log": {"gone": [["x", None]], "new": [{"said": "taken a", "data": "00ff"}], "changed": []},
        "orders": {
            "gone": [],
            "new": [{"id": 2, "who": "Bo", "at": "2024-02-28 09:30:00"}],
            "changed": [],
        },
    }


@pytest.mark.parametrize(
    ("facts", "answer", "made", "right"),
    [
        ({}, "UPDATE notes SET text = 'New'", "UPDATE notes SET text = 'new'", True),
        (
            {"verbatim": ["notes.text"]},
            "UPDATE notes SET text = 'New'",
            "UPDATE notes SET text = 'new'",
            False,
        ),
        ({"ignore": ["notes.text"]}, "UPDATE notes SET text = 'c'", "UPDATE notes SET text = 'd'", True),
        ({}, "UPDATE notes SET text = 'c'", "SELECT 1", False),
        ({"verbatim": ["notes.text"]}, "SELECT 1", "UPDATE notes SET text = upper(text)", False),
    ],
)
def test_what_counts(tmp_path: Path, facts: dict[str, Any], answer: str, made: str, right: bool) -> None:
    place = sandbox(tmp_path / "w", tools=RUN, **facts)
    calls = [f'notes.run.func(sql="{sql}")' for sql in (answer, made)]
    assert StrictJudge(place).verdict(calls[1:], (calls[0],)).correct is right


@pytest.mark.parametrize("logged", [False, True])
def test_a_file_is_only_read(tmp_path: Path, logged: bool) -> None:
    path = database(tmp_path / "own.db", f"PRAGMA journal_mode = WAL; {NOTES}")
    if logged:  # in use: the last transaction is not in the file yet
        user = sqlite3.connect(path)
        user.execute("INSERT INTO notes (text) VALUES ('c')")
        user.commit()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
    copy = sqlite3.connect(":memory:")
    copy.deserialize(read_database(path))
    assert copy.execute("SELECT count(*) FROM notes").fetchone() == (2 + logged,)
    copy.execute("DELETE FROM notes")
    after = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
    assert before == after


def test_what_is_wrong_with_a_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello" * 1000)
    broken = bytearray(database(tmp_path / "own.db", NOTES).read_bytes())
    broken[4096:] = b"\xff" * len(broken[4096:])
    (tmp_path / "broken").write_bytes(broken)
    for name in ("nothing", "text", "broken"):
        with pytest.raises(UsageError, match=name):
            read_database(tmp_path / name)
    with pytest.raises(UsageError, match=r"sandbox.sqlite: the database has no tables"):
        sandbox(tmp_path / "w", sql="CREATE VIEW v AS SELECT 1")
    for key in ("ignore", "verbatim"):
        with pytest.raises(UsageError, match=r"there is no column 'notes.nothing'"):
            sandbox(tmp_path / key, **{key: ["notes.nothing"]})
