"""Facts in results, what a result says, observed schemas, and SQL statements."""

from __future__ import annotations

import json
import random
import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.executors.executor import CallResult
from toolassay.live_values.facts import Fact, facts_of
from toolassay.live_values.results import (
    SeenCall,
    is_empty,
    is_plain_value,
    schema_of_results,
    values_with_errors,
)
from toolassay.live_values.statements import StatementTable, learn_rows, statements, table_of
from toolassay.tools.argument_schemas import ArgumentValidator
from toolassay.tools.library import Tool

LISTER = Tool("list_people", description="List people.")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def facts(value: Any, tool: Tool = LISTER, **arguments: Any) -> list[Fact]:
    result = CallResult.of(value)
    return facts_of(tool, arguments, result.value, result.text)


def test_values_of_one_object_share_a_record_and_those_of_two_do_not() -> None:
    found = {fact.value: fact.record for fact in facts([{"name": "Ann", "city": "Rome"}, {"name": "Bo"}])}
    assert found["Ann"] == found["Rome"] != found["Bo"]


@pytest.mark.parametrize("key", ["result", "items", "people"])
def test_what_a_list_contains_is_of_what_the_tool_lists(key: str) -> None:
    assert [fact.thing for fact in facts({key: [{"id": 7}]})] == [("people",)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[FILE] a.txt\n[DIR] old", ["/workspace/in/a.txt", "/workspace/in/old"]),
        ("Commit: '3f2a9c1d'\nAuthor: Ann", ["3f2a9c1d", "Ann"]),
        ("  main\n* next", ["main", "next"]),
        ("isFile: true\nnote: none", []),
        ("see /workspace/a.txt.", ["/workspace/a.txt."]),
        ('{"id": 7}', [7]),
        ("nothing of interest", []),
    ],
)
def test_lines_of_a_text_give_facts(text: str, expected: list[Any]) -> None:
    assert [fact.value for fact in facts(text, path="/workspace/in")] == expected


def test_flags_secrets_and_long_or_unprintable_texts_are_no_facts() -> None:
    value = {
        "ok": True,
        "password": "hunter22",
        "api_key": "k-1",
        "text": "x" * 500,
        "bell": "a\x07",
        "id": "p",
    }
    assert [fact.value for fact in facts(value)] == ["p"]


@given(JSON)
def test_any_result_gives_a_bounded_list_of_facts(value: Any) -> None:
    found = facts(value)
    assert len(found) <= 500
    assert all(not isinstance(fact.value, bool) for fact in found)


@given(st.lists(JSON, min_size=1, max_size=5))
def test_every_result_is_valid_against_the_schema_observed_from_it(values: list[Any]) -> None:
    validator = ArgumentValidator(schema_of_results(values))
    assert [validator.problems(value) for value in values] == [[] for _ in values]


def test_a_schema_requires_only_what_every_object_has() -> None:
    schema = schema_of_results([[{"id": 1}, {"id": 2.5, "name": None}]])
    assert schema["items"]["required"] == ["id"]
    assert schema["items"]["properties"]["id"] == {"type": "number"}


@pytest.mark.parametrize(
    "value",
    [
        *([], "", None, {}, {"a": [], "b": None}, "No results", "0 matches", "Log:\n"),
        {"count": 0, "next": None, "results": []},
        {"data": {"items": [], "more": False}, "meta": {"total": 0, "page": 1}},
    ],
)
def test_a_result_without_content_is_empty(value: Any) -> None:
    assert is_empty(CallResult.of(value))


@pytest.mark.parametrize(
    "value",
    [
        *(0, False, "No. 7", "Notes: two", {"count": 0}, [None], "Nothing else matters"),
        *({"id": 7, "tags": []}, {"total": 0, "tags": [], "name": "Ann"}, {"total": 0, "rows": [[]]}),
    ],
)
def test_a_result_with_content_is_not_empty(value: Any) -> None:
    assert not is_empty(CallResult.of(value))


def test_errors_are_found_for_the_values_that_a_text_names() -> None:
    text = CallResult.of("a.txt:\nhello\n---\nb: Error - it is a directory")
    assert values_with_errors(text, {"paths": ["a.txt", "b"], "most": 3}) == ["b"]


@pytest.mark.parametrize(
    ("value", "word", "expected"),
    [
        ("BK-2041", "id", True),
        ("Nora Hughes", "name", True),
        ("Created a.txt", "path", False),
        ("  main\n* next", "branch", False),
        ({"id": 1}, "name", False),
        ("a long text\nof two lines", "content", True),
        (7, "count", True),
    ],
)
def test_only_a_value_fills_the_place_of_a_value(value: Any, word: str, expected: bool) -> None:
    assert is_plain_value(value, frozenset({word})) is expected


def shop() -> tuple[sqlite3.Connection, dict[str, StatementTable]]:
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    base.executescript(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, product TEXT, amount REAL);"
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, note TEXT);"
        "INSERT INTO orders VALUES (1, 'lamp', 9.5), (2, 'desk', 80);"
        "INSERT INTO people VALUES (7, 'Ann', 'it''s \"x\"'), (8, 'Bo', NULL);"
    )
    tables: dict[str, StatementTable] = {}
    for name in ("orders", "people"):
        described = [dict(row) for row in base.execute(f"PRAGMA table_info({name})")]
        table = table_of(name, described)
        assert table is not None
        tables[name] = table
        learn_rows(
            tables, f"SELECT * FROM {name}", [dict(row) for row in base.execute(f"SELECT * FROM {name}")]
        )
    return base, tables


READ = Tool("read_query", description="Execute a SELECT query on the SQL database.")
WRITE = Tool("write_query", description="Execute an INSERT, UPDATE or DELETE statement in SQL.")
CREATE = Tool("create_table", description="Create a table in the SQL database.")


@pytest.mark.parametrize("tool", [READ, WRITE, CREATE])
@pytest.mark.parametrize("seed", range(3))
def test_every_statement_runs_on_its_database(tool: Tool, seed: int) -> None:
    base, tables = shop()
    found = statements(tool, "", tables, random.Random(seed), may_write=True)
    assert found
    for one in found:
        changes = base.total_changes
        base.execute(one).fetchall()
        assert (base.total_changes > changes) is (tool is WRITE), one
        base.rollback()


def test_statements_are_about_each_table_from_the_first_on() -> None:
    found = statements(READ, "", shop()[1], random.Random(1), may_write=False)
    assert {"orders", "people"} == {
        word for one in found[:2] for word in one.split() if word in ("orders", "people")
    }


def test_a_description_that_warns_of_writes_gets_no_statement_that_writes() -> None:
    tool = Tool("query", description="Runs SQL. INSERT, UPDATE, DELETE and CREATE TABLE are not allowed.")
    found = statements(tool, "", shop()[1], random.Random(1), may_write=False)
    assert {one.split()[0] for one in found} == {"SELECT"}


def test_names_that_need_quotation_marks_are_left_out() -> None:
    assert table_of("my orders", [{"name": "id", "type": "int"}]) is None
    table = table_of("t", [{"name": "id", "type": "int"}, {"name": "x; DROP TABLE t", "type": "text"}])
    assert table is not None and [name for name, _ in table.columns] == ["id"]


def test_a_deeply_nested_text_is_no_fact() -> None:
    assert facts(json.dumps(["x"] * 3)[:-1] + "[" * 5000) == []


def test_a_kept_result_has_no_secrets_and_is_bounded() -> None:
    rows = {"people": [{"name": "Ann", "access_token": "t-1"}]}
    for value in (rows, json.dumps(rows), {"result": json.dumps(rows)}, "name: Ann\naccess token: t-1\n"):
        seen = SeenCall.of({"name": "Ann", "password": "t-1"}, CallResult.of(value))
        assert "Ann" in seen.result and "t-1" not in seen.result + json.dumps(seen.arguments)
    assert len(SeenCall.of({}, CallResult.of(["x" * 90] * 90)).result) <= 1_500
    late = SeenCall.of({}, CallResult.of({"rows": ["x" * 90] * 90, "total": 90})).result
    assert json.loads(late)["total"] == 90
    assert SeenCall.of({"rows": "[1,2]"}, CallResult.of("a\n# B\x07")) == SeenCall({"rows": "[1,2]"}, "a # B")
