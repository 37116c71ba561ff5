"""A workplace of one's own: made, described and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.own_workplace import IMPORTS, NOTES, WRITE, database, sandbox, workplace
from tests.support.running import files_below, inside
from toolassay.benchmarks.workbench.workplace import load_own
from toolassay.benchmarks.workbench.workplace_stages import check_tasks, check_workplace, new_workplace
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
        ({"answer": []}, "required field `query`"),
        ({"query": "x", "answer": ["write('x')"]}, r"not a call: write\('x'\)"),
        ({"query": "x", "answer": ['notes.send.func(text="c")']}, "there is no tool 'notes.send'"),
        (
            {"query": "x", "answer": ["other.fail.func(days=1)"]},
            "other.fail belongs to none of the task's domains",
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


def test_what_each_task_does_is_reported(tmp_path: Path) -> None:
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
    done = inside("workbench", "check", folder, "--allow_tools")
    assert (done.code, done.out.splitlines()[-1]) == (0, "4 tasks, 1 warning")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"now": "today"}, ".*`\\$.now`"),
        ({"now": "2024-01-01T09:00:00+02:00"}, ".*`\\$.now`"),
        ({"costums": "x"}, ".*unknown field `costums`"),
        ({"benchmark": "wrokbench"}, ".*wrokbench"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, facts: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=f"w/benchmark.json: {words}"):
        sandbox(tmp_path / "w", **facts)


def test_without_files_it_is_a_small_example(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "library"
    told = inside("workbench", "new", target).out.splitlines()
    assert told[:3] == [
        "multi_domain-001: loans: 1 row new",
        "multi_domain-002: loans: 1 row new",
        "multi_domain-003: no action",
    ]
    assert told[-5] == "8 tasks, all fine" and f"toolassay workbench check {target}" in told[-3]
    assert set(files_below(target)) == {"sandbox.sqlite", "tools.py", "tasks.jsonl", "benchmark.json"}
    assert [path.name for path in target.parent.iterdir()] == ["library"]
    assert len(check_workplace(target, allow_tools=True)) == 8


def test_ones_own_files_are_copied(tmp_path: Path) -> None:
    own = database(tmp_path / "own.db", NOTES)
    (tmp_path / "t.py").write_text(IMPORTS + WRITE)
    (tmp_path / "t.jsonl").write_text('{"query": "x", "answer": [], "domains": ["notes"]}\n')
    before = files_below(tmp_path)
    (effect,) = new_workplace(
        tmp_path / "w", sandbox=own, tools=tmp_path / "t.py", tasks=tmp_path / "t.jsonl"
    )
    assert effect.summary == "notes-001: no action"
    made = files_below(tmp_path / "w")
    assert made["tools.py"] == before["t.py"] and made["tasks.jsonl"] == before["t.jsonl"]
    assert {name: data for name, data in files_below(tmp_path).items() if name in before} == before


def test_nothing_is_written_unless_all_of_it_works(tmp_path: Path) -> None:
    own, bad = database(tmp_path / "own.db", NOTES), tmp_path / "bad.py"
    bad.write_text("x = (")
    (tmp_path / "bad.jsonl").write_text("\n{")
    (tmp_path / "good.py").write_text(IMPORTS + WRITE)
    before = files_below(tmp_path)
    wrong: list[tuple[dict[str, Path], str]] = [
        ({"sandbox": own, "tools": bad}, r"bad\.py:1: is not valid Python"),
        ({"sandbox": own, "tools": tmp_path / "none.py"}, r"none\.py: cannot be read"),
        ({"sandbox": bad}, r"bad\.py: cannot be read as an SQLite file"),
        (
            {"sandbox": own, "tools": tmp_path / "good.py", "tasks": tmp_path / "bad.jsonl"},
            r"bad\.jsonl:2: ",
        ),
        ({"tools": bad}, "--tools without --sandbox"),
        ({"sandbox": own, "tasks": bad}, "--tasks without --tools"),
    ]
    for given, words in wrong:
        with pytest.raises(UsageError, match=words):
            new_workplace(tmp_path / "w", **given)  # type: ignore[arg-type]
    (tmp_path / "w").mkdir()
    with pytest.raises(UsageError, match="w: exists already"):
        new_workplace(tmp_path / "w")
    with pytest.raises(UsageError, match="the new folder has no name"):
        new_workplace("")
    assert files_below(tmp_path) == before


def test_tools_run_only_where_they_are_allowed(tmp_path: Path, root: Path) -> None:
    new_workplace(tmp_path / "w")
    with pytest.raises(UsageError, match="has its own tools, which are a program"):
        check_workplace(tmp_path / "w")
    with pytest.raises(UsageError, match="has no tools of its own"):
        check_workplace(root / "data_workbench", allow_tools=True)
    with pytest.raises(UsageError, match=r"no such folder. Fix: check its name"):
        check_workplace(tmp_path / "nowhere", allow_tools=True)
