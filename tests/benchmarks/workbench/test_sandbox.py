"""Sandboxes and tasks: files of ours and the published layout."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from toolassay.benchmarks.workbench.sandbox import FILE, TABLES, Sandbox
from toolassay.benchmarks.workbench.tasks import Task, parse_list, read_tasks
from toolassay.benchmarks.workbench.tools import call
from toolassay.errors import UsageError


def test_a_fork_is_independent_and_so_is_a_fork_of_a_fork(sandbox: Sandbox) -> None:
    first = sandbox.fork()
    call(first, "email.delete_email", {"email_id": "00000000"})
    second = first.fork()
    call(second, "email.delete_email", {"email_id": "00000001"})
    assert [len(box.rows("emails")) for box in (sandbox, first, second)] == [3, 2, 1]


def test_what_a_sandbox_is_survives_a_file(tmp_path: Path) -> None:
    made = Sandbox.of({"plots": [["a.png"]]}, now=datetime(2030, 1, 2, 3), user="Kim", overwrites=False)
    made.save(tmp_path / FILE)
    for path in (tmp_path, tmp_path / FILE):
        read = Sandbox.load(path)
        assert (read.now, read.user, read.overwrites) == (datetime(2030, 1, 2, 3), "Kim", False)
        assert read.rows("plots") == [("a.png",)]
        assert read.image() == made.image()


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.write_bytes(b"hello"), "not an SQLite file"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 5000), "is not a sandbox"),
        (
            lambda path: sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close(),
            "no such table",
        ),
    ],
)
def test_what_is_no_sandbox_is_refused(tmp_path: Path, write: Callable[[Path], object], words: str) -> None:
    write(tmp_path / FILE)
    with pytest.raises(UsageError, match=words):
        Sandbox.load(tmp_path / FILE)


def build_folder(path: Path) -> Path:
    """The published layout with one row a table."""
    (path / "processed").mkdir()
    (path / "raw").mkdir()
    (path / "raw" / "email_addresses.csv").write_text("ann@acme.example\nbo@acme.example\n")
    for table in TABLES:
        if table.file is not None:
            with (path / "processed" / table.file).open("w", newline="") as stream:
                csv.writer(stream).writerows([table.columns, [f"{name} é, 1" for name in table.columns]])
    return path


def test_every_table_is_read_as_text(folder: Path) -> None:
    sandbox = Sandbox.load(folder)
    assert sandbox.rows("tasks") == [
        tuple(f"{name} é, 1" for name in next(t for t in TABLES if t.name == "tasks").columns)
    ]
    assert sandbox.rows("directory") == [("ann@acme.example",), ("bo@acme.example",)]
    assert (sandbox.now, sandbox.user) == (datetime(2023, 11, 30), "Sam")


def test_an_empty_cell_is_missing_and_so_is_what_pandas_takes_for_missing(folder: Path) -> None:
    path = folder / "processed" / "customer_relationship_manager_data.csv"
    header = path.read_text().splitlines()[0]
    path.write_text(f"{header}\n0,a,Nan,b,,NaN,None,null,none,NA \n")
    assert Sandbox.load(folder).rows("customers") == [
        ("0", "a", "Nan", "b", None, None, None, None, "none", "NA ")
    ]


@pytest.mark.parametrize(
    ("stated", "complaint"),
    [
        (
            {"now": "2024-03-01 09:00:00"},
            "'now' is '2024-03-01 09:00:00', but sandbox.sqlite, .* '2023-11-30",
        ),
        ({"now": "soon"}, "`\\$.now`"),
        ({"user": "Kim"}, "'user' is 'Kim', but sandbox.sqlite, .* 'Sam'. Fix: write \"user\": \"Sam\""),
    ],
)
def test_a_moment_or_user_that_the_tasks_were_not_made_for_is_refused(
    folder: Path, stated: dict[str, str], complaint: str
) -> None:
    Sandbox.load(folder).save(folder / "sandbox.sqlite")
    (folder / "benchmark.json").write_text(json.dumps(stated))
    with pytest.raises(UsageError, match=complaint):
        Sandbox.load(folder)


def test_other_columns_are_refused_with_the_right_ones(folder: Path) -> None:
    (folder / "processed" / "emails.csv").write_text("id,text\n1,2\n")
    with pytest.raises(UsageError, match=r"emails.csv: has the columns id, text. Fix: name them email_id"):
        Sandbox.load(folder)


CALL = 'email.delete_email.func(email_id="1")'


def write(folder: Path, *tasks: object) -> Path:
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return folder


def test_tasks_of_our_own(tmp_path: Path) -> None:
    base = {"base_template": "b", "chosen_template": "c"}
    write(
        tmp_path,
        {"query": "Delete it ", "answer": [CALL], "domains": ["email"], **base},
        {"query": "Do both", "answer": [], "domains": ["email", "calendar"], **base},
    )
    assert read_tasks(tmp_path) == [
        Task("Delete it ", (CALL,), "b", "c", ("email",), "email", "email-001"),
        Task("Do both", (), "b", "c", ("email", "calendar"), "multi_domain", "multi_domain-002"),
    ]


def test_published_tasks_keep_the_spaces_around_them(tmp_path: Path) -> None:
    folder = tmp_path / "processed" / "queries_and_answers"
    folder.mkdir(parents=True)
    doubled = CALL.replace('"', '""')
    (folder / "email_queries_and_answers.csv").write_text(
        '"query","answer","base_template","chosen_template","domains"\n'
        f'" Delete it ","[\'{doubled}\']","b","c","[\'email\']"\n'
        '"Nothing","[]","b","c","[\'email\', \'crm\']"\n'
    )
    assert read_tasks(tmp_path) == [
        Task(" Delete it ", (CALL,), "b", "c", ("email",), "email", "email-001"),
        Task("Nothing", (), "b", "c", ("email", "crm"), "email", "email-002"),
    ]


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ([{"answer": []}], r"tasks.jsonl:1: .*required field `query`"),
        ([], r"tasks.jsonl: contains no tasks. Fix: write one JSON object per line"),
        ([{"query": "a", "answer": "x", "domains": []}], r"tasks.jsonl:1: .*`\$.answer`"),
        ([{"query": "a", "answer": [], "domains": []}] * 2, r"tasks.jsonl:2: duplicate request 'a'"),
    ],
)
def test_what_is_wrong_with_a_task_is_named(tmp_path: Path, tasks: list[object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_tasks(write(tmp_path, *tasks))


@pytest.mark.parametrize("text", ["{}", "f()", "[" * 5000])
def test_what_is_no_list_of_texts_is_refused_and_not_run(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="not a list of strings"):
        parse_list(text, tmp_path / "f.csv", 3)
