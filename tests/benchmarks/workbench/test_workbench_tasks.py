from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolassay.benchmarks.workbench.tasks import Task, parse_list, read_tasks
from toolassay.errors import UsageError

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


def test_an_id_names_one_task(tmp_path: Path) -> None:
    task = {"id": "a", "answer": [], "domains": ["email"]}
    write(tmp_path, {**task, "query": "One"}, {**task, "query": "Other"})
    with pytest.raises(UsageError, match="duplicate id 'a'"):
        read_tasks(tmp_path)


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ([{"answer": []}], r"tasks.jsonl:1: the task has no 'query'"),
        ([], r"tasks.jsonl: contains no tasks. Fix: write one JSON object per line"),
        ([{"query": "a", "answer": "x", "domains": []}], r"tasks.jsonl:1: 'answer' is not a list of strings"),
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
