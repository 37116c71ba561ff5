from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from own_workplace import WRITE, workplace

from toolassay.benchmarks.workbench.own.new_workplace import check_tasks
from toolassay.benchmarks.workbench.workplace import load_own
from toolassay.cli.main import cli, run
from toolassay.errors import UsageError

GOOD = {"query": "Hi", "answer": ['notes.write.func(text="c")']}
OTHER = '''
@tool("other")
def fail(db, days: int) -> None:
    """Fail."""
    raise ToolError("not today")

@tool("other")
def roll(db) -> None:
    """Write what nobody knows."""
    db.execute("INSERT INTO notes (text) VALUES (random())")
'''


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ({"query": "Hi"}, "duplicate request 'Hi'"),
        ({"answer": []}, "the task has no 'query'"),
        ({"query": "x", "answer": "notes.write"}, "'answer' is not a list of strings"),
        ({"query": "x", "domains": 5}, "'domains' is not a list of strings"),
        ({"query": "x", "domains": ["mail"]}, "unknown domain 'mail'. Fix: choose from notes, other"),
        ({"query": "x", "answer": ["write('x')"]}, r"not a call: write\('x'\)"),
        ({"query": "x", "answer": ['notes.send.func(text="c")']}, "there is no tool 'notes.send'"),
        ({"query": "x", "answer": ['notes.write.func(note="c")']}, "has no argument 'note'"),
        ({"query": "x", "answer": ["notes.write.func()"]}, "notes.write needs text"),
        (
            {"query": "x", "answer": ["other.fail.func(days=1)"]},
            "other.fail belongs to none of the task's domains",
        ),
        (
            {"query": "x", "answer": ['other.fail.func(days="a")'], "domains": ["other"]},
            "days is a whole number",
        ),
        ({"query": "x", "answer": ["other.fail.func(1)"], "domains": ["other"]}, "fails: .* not today"),
        (
            {"query": "x", "answer": ["other.roll.func()"], "domains": ["other"]},
            "leave different rows in the table notes",
        ),
    ],
)
def test_what_is_wrong_with_a_task_is_named_with_its_line(
    tmp_path: Path, task: dict[str, Any], words: str
) -> None:
    folder = workplace(tmp_path / "w", tools=WRITE + OTHER, tasks=[GOOD, task])
    with pytest.raises(UsageError, match=f"tasks.jsonl:2: .*{words}"):
        check_tasks(load_own(folder), folder)


def test_what_each_task_does_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = 'notes.write.func(text="c")'
    tasks = [GOOD, {"query": "Twice", "answer": [again, again]}, {"query": "Nothing", "id": "n"}]
    tasks.append({"query": "Idle", "answer": ["notes.look.func()"]})
    look = '@tool("notes", reads_only=True)\ndef look(db) -> None: "Look."\n'
    folder = workplace(tmp_path / "w", tools=WRITE + look, tasks=tasks)
    effects = check_tasks(load_own(folder), folder)
    assert [effect.summary for effect in effects] == [
        "notes-001: notes: 1 row new",
        "notes-002: notes: 2 rows new",
        "n: no action",
        "notes-004: warning: its answer has calls, and changes nothing",
    ]
    assert effects[0].task.base_template == "Hi"
    assert run(cli, ["workbench", "check", str(folder), "--allow_tools"], "toolassay") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "4 tasks, 1 warning"


def test_a_column_that_a_tool_makes_up_can_be_ignored(tmp_path: Path) -> None:
    tasks = [{"query": "x", "answer": ["other.roll.func()"], "domains": ["other"]}]
    folder = workplace(tmp_path / "w", tools=OTHER, tasks=tasks, ignore=["notes.text"])
    assert len(check_tasks(load_own(folder), folder)[0].changes) == 1
