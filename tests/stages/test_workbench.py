from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from tests.support.running import inside, lines_of
from toolassay.benchmarks.workbench.sandbox import FILE, Sandbox
from toolassay.benchmarks.workbench.workplace_stages import evaluate_results, replay
from toolassay.errors import UsageError

DELETE = 'email.delete_email.func(email_id="{}")'
LIMIT = "Agent stopped due to iteration limit or time limit."
KEYS = {
    "file", "row", "query", "correct", "unwanted_side_effects", "exact_match", "no_actions", "wrong_email",
    "end_date_minor_error", "meeting_start_time_error",
}  # fmt: skip


def build_folder(path: Path) -> Path:
    """A data folder with two tasks, and two runs of a model beside it."""
    mails = [[f"{n:08d}", "inbox", "a@b.c", f"S{n}", f"2023-11-0{n + 1} 09:00:00", "B"] for n in range(4)]
    Sandbox.of({"emails": mails}).save(path / "data" / FILE)
    tasks = [
        {"query": "Delete two", "answer": [DELETE.format("00000000"), DELETE.format("00000001")]},
        {"query": "Leave it", "answer": []},
    ]
    lines = [
        json.dumps({**task, "base_template": f"t{n}", "domains": ["email"]}) for n, task in enumerate(tasks)
    ]
    (path / "data" / "tasks.jsonl").write_text("\n".join(lines))
    one, two = [DELETE.format("00000001")], [DELETE.format("00000001"), DELETE.format("00000000")]
    write_results(path / "results/email/m_all_2024-01-01_00-00-00.csv", [(two, ""), ([], LIMIT)])
    write_results(path / "results/email/m_all_2024-01-02_00-00-00.csv", [(one, ""), ([], "")])
    return path


def write_results(path: Path, runs: list[tuple[list[str], str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerow(["query", "function_calls", "full_response", "error"])
        for query, (calls, error) in zip(("Delete two", "Leave it"), runs, strict=True):
            writer.writerow([query, str(calls), "x" * 200_000, error])


def test_result_files_are_judged_as_published(folder: Path) -> None:
    metrics = evaluate_results(folder / "data", folder / "results", out=folder / "out")
    verdicts = lines_of(folder / "out" / "verdicts.jsonl")
    assert all(set(verdict) == KEYS for verdict in verdicts)
    assert [(v["file"], v["row"], v["correct"], v["unwanted_side_effects"]) for v in verdicts] == [
        ("email/m_all_2024-01-01_00-00-00.csv", 0, True, False),
        ("email/m_all_2024-01-01_00-00-00.csv", 1, False, False),
        ("email/m_all_2024-01-02_00-00-00.csv", 0, False, True),
        ("email/m_all_2024-01-02_00-00-00.csv", 1, True, False),
    ]
    assert json.loads((folder / "out" / "metrics.json").read_text()) == metrics
    first = metrics["email/m_all_2024-01-01_00-00-00.csv"]
    assert (first["domain"], first["model"], first["tool_selection"]) == ("email", "m", "all")
    assert (first["accuracy_pct"], first["iteration_or_time_limit"]) == (50.0, 1)
    assert first["by_gt_action_count"] == {
        "0": {"n": 1, "correct": 0, "side_effects": 0},
        "2": {"n": 1, "correct": 1, "side_effects": 0},
    }


def test_strict_says_what_was_done_of_what_was_wanted(folder: Path) -> None:
    metrics = evaluate_results(folder / "data", folder / "results", out=folder / "out", mode="strict")
    unfinished = lines_of(folder / "out" / "verdicts.jsonl")[2]
    assert not unfinished["correct"] and not unfinished["unwanted_side_effects"]
    assert (unfinished["wanted_changes_made"], unfinished["made_changes_wanted"]) == (0.5, 1.0)
    assert unfinished["missing"] == [{"table": "emails", "change": "gone", "id": "00000000", "cells": {}}]
    first, second = metrics.values()
    assert first["intervals"]["accuracy"]["value"] == 0.5
    assert first["intervals"]["wanted_changes_made"]["value"] == 1.0
    chances = {name: first["repeats"][name] for name in ("pass@k", "pass^k")}
    assert {k: found["value"] for k, found in chances["pass@k"].items()} == {"1": 0.5, "2": 1.0}
    assert {k: found["value"] for k, found in chances["pass^k"].items()} == {"1": 0.5, "2": 0.0}
    assert len(first["repeats"]["files"]) == 2 and "repeats" not in second


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "has no column"),
        ("query,function_calls,error\n", "has no rows"),
        ('query,function_calls,error\nDelete two,f(),""\n', "not a list of strings"),
        ("query,function_calls,error\nWhat?,[],\n", "row 0: 'What\\?' is not a request of the data folder"),
    ],
)
def test_what_is_wrong_with_a_result_file_is_named_and_nothing_is_written(
    folder: Path, text: str, words: str
) -> None:
    (folder / "bad.csv").write_text(text)
    with pytest.raises(UsageError, match=f"bad.csv.*{words}"):
        evaluate_results(folder / "data", folder / "bad.csv", out=folder / "out")
    assert not (folder / "out").exists()


def test_sequences_are_replayed_each_on_a_fresh_sandbox(folder: Path) -> None:
    line = {"id": 7, "calls": [{"call": DELETE.format("00000003"), "note": "x"}, {"call": "nonsense"}]}
    (folder / "calls.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(line)}\n")
    assert replay(folder / "data", folder / "calls.jsonl", out=folder / "done.jsonl") == 2
    first, second = lines_of(folder / "done.jsonl")
    assert first == second and first["id"] == 7
    assert first["calls"][0] == {"call": DELETE.format("00000003"), "ret": "Email deleted successfully."}
    assert first["calls"][1]["exc"] == "ToolFailure" and "not a call" in first["calls"][1]["msg"]
    assert first["state_changes"]["email"]["gone"][0][0] == 3


@pytest.mark.parametrize("line", ["5", "{}", '{"calls": [{"call": 1}]}'])
def test_a_line_that_is_no_sequence_is_named_and_what_was_there_stays(folder: Path, line: str) -> None:
    (folder / "calls.jsonl").write_text(f'{{"calls": []}}\n{line}\n')
    (folder / "done.jsonl").write_text("old")
    with pytest.raises(UsageError, match=r"calls.jsonl:2: Expected|calls.jsonl:2: Object"):
        replay(folder / "data", folder / "calls.jsonl", out=folder / "done.jsonl")
    assert (folder / "done.jsonl").read_text() == "old"


def test_the_commands(folder: Path) -> None:
    common = ("--data_dir", folder / "data", "--out", folder / "out")
    done = inside("workbench", "evaluate", "--results", folder / "results", *common)
    assert "m_all_2024-01-01_00-00-00.csv: 1 of 2 correct (50.0 %), 0 with unwanted" in done.out
    # The published table: the files of an agent with one selection of tools together.
    assert re.search(r"m +all +4 +50.0 % +25.0 %", done.out), done.out
    failed = inside("workbench", "evaluate", "--results", folder / "none", *common)
    assert failed.code == 2 and "no result files" in failed.error
    (folder / "calls.jsonl").write_text('{"calls": []}\n')
    done = inside(
        "workbench", "replay", "--calls", folder / "calls.jsonl", *common[:3], folder / "done.jsonl"
    )
    assert done.code == 0
    assert lines_of(folder / "done.jsonl") == [{"calls": [], "state_changes": {}}]
