"""A Python file of tools: what is made of it, and what its functions may do."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from tests.support.own_workplace import call, sandbox
from toolassay.benchmarks.workbench.calls import run_text
from toolassay.benchmarks.workbench.own import own_sandbox
from toolassay.benchmarks.workbench.own.typed_tool import convert_value
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
        ({"text": "x", "most": "many"}, "most is a whole number, not 'many'"),
        ({"text": "x", "other": 1}, "has no argument 'other'"),
        ({"text": "x" * 10_000_000}, "text is longer than 100,000"),
    ],
)
def test_values_that_do_not_fit_are_reported(tmp_path: Path, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolFailure, match=words):
        call(sandbox(tmp_path / "w", tools=TYPED), "notes.find", **arguments)


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ('@tool("notes")\ndef act(db, x): "Act."', r"tools.py:5: act: x has no type"),
        ('@tool("notes")\ndef act(db, x: dict): "Act."', r"tools.py:5: act: x is of type dict, not str, int"),
        ('@tool("notes")\ndef act(): "Act."', "act takes no positional argument"),
        (
            '\n@tool\ndef act(db): "Act."',
            r'tools.py:6: .* without a domain: write @tool\("some_domain"\)',
        ),
        ('@tool("notes")\nasync def act(db): "Act."', "act is a coroutine or generator function"),
        (
            '@tool("notes")\ndef act(db): "Act."\n@tool("books")\ndef act(db): "Act."',
            "tools.py:7: defines the function act twice. Fix: rename one",
        ),
        ('@tool("no tes")\ndef act(db): "Act."', "'no tes' cannot be a tool's name"),
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
        ("db.execute('INSERT INTO notes VALUES (1, 2), (1, 3)')", "UNIQUE constraint failed"),
        ("db.execute('COMMIT')", "begins and ends no transaction"),
        (
            f"{ENDED}db.execute('DELETE FROM notes WHERE id = 1')\nraise KeyError",
            "a conflict or a trigger has ended the transaction",
        ),
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
    ("hint", "given", "read"),
    [
        (int, 7.0, 7),
        (int, "-7", -7),
        (float, "1.5", 1.5),
        (bool, "True", True),
        (Literal[1, 2], "2", 2),
        (str | None, None, None),
    ],
)
def test_values_are_read_as_their_type(hint: Any, given: Any, read: Any) -> None:
    found = convert_value("x", hint, given)
    assert found == read and type(found) is type(read)


@pytest.mark.parametrize(
    ("hint", "given"),
    [
        (str, None),
        (int, True),
        (int, "seven"),
        (float, float("nan")),
        (bool, 1),
        (Literal["a"], "A"),
        (list[int], [[1]]),
    ],
)
def test_values_of_another_type_are_refused(hint: Any, given: Any) -> None:
    with pytest.raises(ValueError, match=r"^x is "):
        convert_value("x", hint, given)
