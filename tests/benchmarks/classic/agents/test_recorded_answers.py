"""Recorded answers, given again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from answering import ask_of
from builders import question
from scripted import Scripted

from toolassay.benchmarks.classic.agents.recorded_answers import RecordedAnswers
from toolassay.benchmarks.classic.agents.workflow_choice import QuestionRequests
from toolassay.errors import UsageError

HEAD = "conversation_uuid,request_idx,workflow,time_to_pred,tokens_input,tokens_output,cost\n"


def replay(path: Path, **settings: Any) -> tuple[str, str | None, QuestionRequests]:
    ask = QuestionRequests(ask_of(Scripted()), {})
    choice = asyncio.run(RecordedAnswers(path, **settings).choose(question("x"), ask))
    return choice.outcome, choice.workflow, ask


@pytest.mark.parametrize(
    ("cell", "outcome", "workflow"),
    [
        ("w1", "answered", "w1"),
        ("track parcel", "answered", "w1"),
        ("None", "answered", None),
        ("", "malformed", None),
        ("nan", "malformed", None),
        ("Refund", "malformed", None),
    ],
)
def test_ids_and_names_are_found_and_none_is_what_was_declared(
    tmp_path: Path, cell: str, outcome: str, workflow: str | None
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{HEAD}c,0,{cell},1.5,10,2,0.001\n", encoding="utf-8")
    found = replay(path)
    assert found[:2] == (outcome, workflow)
    (answer,) = found[2].answers
    assert (answer["seconds"], answer["prompt_tokens"], answer["completion_tokens"]) == (1.5, 10, 2)
    assert answer["cost"] == 0.001


def test_a_question_without_a_row_was_not_run(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{HEAD}c,1,w1,,,,\n", encoding="utf-8")
    outcome, _, ask = replay(path)
    assert (outcome, ask.answers) == ("not run", [])


@pytest.mark.parametrize("listed", [True, False])
def test_a_prediction_file_is_one(tmp_path: Path, listed: bool) -> None:
    rows: list[dict[str, Any]] = [
        {"conversation_uuid": "c", "request_idx": 0, "trial_idx": 0, "pred_workflow_uuid": "w1"},
        {"conversation_uuid": "c", "request_idx": 0, "trial_idx": 1, "pred_workflow_uuid": None},
        {
            "conversation_uuid": "c",
            "request_idx": 0,
            "trial_idx": 2,
            "pred_workflow_uuid": None,
            "outcome": "answered",
        },
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows) if listed else "\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert [replay(path, trial=trial)[:2] for trial in range(4)] == [
        *(("answered", "w1"), ("malformed", None)),
        *(("answered", None), ("not run", None)),
    ]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "conversation_uuid,request_idx\nc,0\n", "a.csv:2: has no 'workflow'"),
        ("a.csv", f"{HEAD}c,0,w1,,,,\nc,0,w0,,,,\n", "a.csv:3: a second answer to 'c--0'"),
        ("a.csv", f"{HEAD}c,zero,w1,,,,\n", "a.csv:2: is not a recorded answer"),
        ("a.csv", f"{HEAD}c,0,w1,-1,,,\n", "a.csv:2: is not a recorded answer"),
        ("a.csv", f"{HEAD}c,0,w1,,1.5,,\n", "a.csv:2: is not a recorded answer"),
        ("a.jsonl", "[1]", "a.jsonl:1: is not a JSON object"),
        (
            "a.json",
            '[\n{"conversation_uuid": "c", "request_idx": 0, "workflow": 1}]',
            "a.json:2: is not a recorded",
        ),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        RecordedAnswers(tmp_path / name)
    with pytest.raises(UsageError, match="no such file"):
        RecordedAnswers(tmp_path / f"no-{name}")
