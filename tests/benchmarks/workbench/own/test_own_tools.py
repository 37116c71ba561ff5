"""A Python file of tools: what is made of it, and what its functions may do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from own_workplace import call, sandbox

from toolassay.benchmarks.workbench.calls import parse_call, run_text
from toolassay.benchmarks.workbench.own import own_sandbox
from toolassay.benchmarks.workbench.records import difference
from toolassay.benchmarks.workbench.tools import ToolFailure, listing, toolset_of
from toolassay.errors import UsageError

TYPED = '''
@tool("notes", reads_only=True)
def find(
    db, text: str, kind: Literal["a", "b"] = "a", most: int = 5, ids: list[int] | None = None
) -> list[str]:
    """Find notes.

    However many.

    Args:
        text: What is in it,
            word by word.
        most (int): At most.

    Returns:
        Notes: of all kinds.
    """
    return [text, kind, most, ids]
'''


def tool_text(body: str, mark: str = '"notes"') -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f'@tool({mark})\ndef act(db, text: str = "x"):\n    "Act."\n{lines}\n'


def test_a_function_becomes_a_tool(tmp_path: Path) -> None:
    place = sandbox(tmp_path / "w", tools=TYPED)
    (found,) = toolset_of(place).tools.values()
    assert found.to_openai()["function"] == {
        "name": "notes__find",
        "description": "Find notes. However many.",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "What is in it, word by word."},
                "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
                "most": {"type": "integer", "description": "At most.", "default": 5},
                "ids": {
                    "anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}],
                    "default": None,
                },
            },
            "required": ["text"],
            "additionalProperties": False,
        },
    }
    assert listing([found]).splitlines() == [
        "notes.find(text, kind=None, most=None, ids=None) - Find notes. However many.",
        "  text: What is in it, word by word. Text.",
        '  kind: One of "a", "b". Default: "a".',
        "  most: At most. A whole number. Default: 5.",
        "  ids: A list, of each: a whole number or null. Default: null.",
    ]
    assert call(place, "notes.find", text="x", most="7", ids=None) == ["x", "a", 7, None]
    assert run_text(place, 'notes.find.func("x", kind="b", ids=[1])') == ["x", "b", 5, [1]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "notes.find needs text"),
        ({"text": "x", "kind": "c"}, 'kind is one of "a", "b", not'),
        ({"text": "x", "most": "many"}, "most is a whole number, not 'many'"),
        ({"text": "x", "other": 1}, "has no argument 'other'"),
        ({"text": "x" * 10_000_000}, "text is longer than 100,000"),
        ({"text": None}, "text is text, not"),
    ],
)
def test_values_that_do_not_fit_are_reported(tmp_path: Path, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolFailure, match=words):
        call(sandbox(tmp_path / "w", tools=TYPED), "notes.find", **arguments)


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ("x = (", r"tools.py:\d+: is not valid Python"),
        ("\nraise RuntimeError('no luck')", r"tools.py:6: cannot be executed: RuntimeError: no luck"),
        ("import sys\nsys.exit(3)", r"tools.py:6: cannot be executed: SystemExit: 3"),
        ("def act(db): pass", "defines no tools"),
        ('@tool("notes")\ndef act(db, x): "Act."', r"tools.py:5: act: x has no type"),
        ('@tool("notes")\ndef act(db, x: dict): "Act."', r"tools.py:5: act: x is of type dict, not str, int"),
        ('@tool("notes")\ndef act(db, *x: int): "Act."', "act: x stands for several arguments"),
        (
            '@tool("notes")\ndef act(db, x: int = "a"): "Act."',
            "act: the default of x is a whole number, not 'a'",
        ),
        ('@tool("notes")\ndef act(db): pass', "act has no docstring"),
        ('@tool("notes")\ndef act(): "Act."', "act takes no positional argument"),
        ('@tool("notes")\ndef act(*, x: int): "Act."', "act takes no positional argument"),
        (
            '@tool("notes")\ndef act(text: str, db: sqlite3.Connection): "Act."',
            r"tools.py:5: act: the first argument must be the database, not text; write db: ",
        ),
        (
            '\n@tool\ndef act(db): "Act."',
            r'tools.py:6: .* without a domain. Fix: write @tool\("some_domain"\)',
        ),
        ('@tool()\ndef act(db): "Act."', r"tools.py:5: a tool without a domain"),
        (
            tool_text("pass") + tool_text("return 1"),
            r"tools.py:5: the tool notes.act is hidden by a later definition of act. Fix: rename one",
        ),
        ("from no_such_helper import x", "Fix: install the package, or move"),
        ('@tool("notes")\nasync def act(db): "Act."', "act is a coroutine or generator function"),
        ('@tool("no tes")\ndef act(db): "Act."', "'no tes' cannot be a tool's name"),
        ('@tool("class")\ndef act(db): "Act."', "'class' cannot be a tool's name"),
        (f'@tool("{"n" * 70}")\ndef act(db): "Act."', "is longer than 63 characters"),
        (tool_text("pass") + "a = act\n" + tool_text("pass"), "defines the tool notes.act twice"),
    ],
)
def test_what_is_wrong_with_a_file_of_tools_is_named(tmp_path: Path, tools: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sandbox(tmp_path / "w", tools=tools)


# A conflict that ends the transaction, and a tool that does not mind.
ENDED = """
try:
    db.execute("INSERT INTO notes VALUES (3, 'x')")
    db.execute("INSERT OR ROLLBACK INTO notes VALUES (3, 'y')")
except sqlite3.IntegrityError:
    pass
"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("1 / 0", "notes.act: ZeroDivisionError"),
        ("raise ToolError('not today')", "^not today$"),
        ("raise SystemExit", "SystemExit"),
        ("with db:\n    pass\ndb.commit()\ndb.close()\nraise KeyError('k')", "KeyError: 'k'"),
        ("return {1, 2}", "returns set, which is no JSON"),
        ("return float('nan')", "notes.act: ValueError"),
        ("def f(): f()\nf()", "RecursionError"),
        ("db.execute('SELECT * FROM nowhere')", "no such table: nowhere"),
        ("db.execute('INSERT INTO notes VALUES (1, 2), (1, 3)')", "UNIQUE constraint failed"),
        ("db.execute('COMMIT')", "begins and ends no transaction"),
        ("db.executescript('SELECT 1')", "begins and ends no transaction"),
        (
            f"{ENDED}db.execute('DELETE FROM notes WHERE id = 1')\nraise KeyError",
            "a conflict or a trigger has ended the transaction",
        ),
        ("db.execute('DROP TABLE notes')", "changes no schema"),
        ("db.execute('ALTER TABLE notes ADD x')", "changes no schema"),
        ("db.execute(\"ATTACH '/tmp/x.db' AS x\")", "a tool attaches no file"),
    ],
)
def test_a_call_that_fails_changes_nothing(tmp_path: Path, body: str, words: str) -> None:
    place = sandbox(tmp_path / "w", tools=tool_text(f"db.execute('DELETE FROM notes')\n{body}"))
    copy = place.fork()
    with pytest.raises(ToolFailure, match=words):
        call(copy, "notes.act")
    assert difference(place, copy) == {}
    assert not copy.connection.in_transaction


def test_a_call_is_one_transaction_with_blocks_in_it(tmp_path: Path) -> None:
    body = """
db.execute("DELETE FROM notes WHERE id = 2")
try:
    with db:
        db.execute("DELETE FROM notes")
        raise KeyError
except KeyError:
    pass
with db:
    db.execute("INSERT INTO notes (text) VALUES ('c')")
db.commit()
return db.execute("SELECT * FROM notes").fetchall()"""
    copy = sandbox(tmp_path / "w", tools=tool_text(body)).fork()
    assert call(copy, "notes.act") == [{"id": 1, "text": "a"}, {"id": 2, "text": "c"}]
    undone = sandbox(tmp_path / "v", tools=tool_text('db.execute("DELETE FROM notes")\ndb.rollback()')).fork()
    assert call(undone, "notes.act") is None
    assert undone.connection.execute("SELECT count(*) FROM notes").fetchone() == (2,)


def test_a_tool_that_only_reads_cannot_write(tmp_path: Path) -> None:
    body = "db.execute('CREATE TEMP TABLE t(a)')\ndb.execute('INSERT INTO t VALUES (1)')\n"
    marks = '"notes", reads_only=True'
    assert call(sandbox(tmp_path / "v", tools=tool_text(body, marks)), "notes.act") is None
    place = sandbox(tmp_path / "w", tools=tool_text("db.execute('DELETE FROM notes')", marks))
    with pytest.raises(ToolFailure, match="it is marked reads_only, and writes"):
        call(place, "notes.act")


def test_a_query_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_sandbox, "SECONDS", 0.01)
    body = (
        "db.execute('WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT sum(x) FROM n')"
    )
    place = sandbox(tmp_path / "w", tools=tool_text(body))
    for _ in range(2):
        with pytest.raises(ToolFailure, match=r"notes\.act: it took too long"):
            call(place, "notes.act")


@pytest.mark.parametrize(
    "text",
    [
        "'); DROP TABLE notes; --",
        '") or __import__("os").system("x") or ("',
        "a\nb\\n\0",
        "\ud83d\ude00",
        "{}%s",
    ],
)
def test_values_are_data(tmp_path: Path, text: str) -> None:
    copy = sandbox(tmp_path / "w").fork()
    assert call(copy, "notes.write", text=text) == 3
    written = text.encode("utf-16", "surrogatepass").decode("utf-16")
    assert copy.connection.execute("SELECT text FROM notes WHERE id = 3").fetchone() == (written,)


def test_a_recorded_call_is_read_and_never_run(tmp_path: Path) -> None:
    place = sandbox(tmp_path / "w")
    assert parse_call("notes.write.func(text=open('x'))", toolset_of(place)) is None
    with pytest.raises(ToolFailure, match="not a call of a tool"):
        run_text(place, "notes.write.func(text=open('x'))")
    with pytest.raises(ToolFailure, match=r"there is no tool 'email.delete_email'; tools are: notes.write"):
        run_text(place, 'email.delete_email.func(email_id="1")')
