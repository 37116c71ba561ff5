"""Agents on a data folder, end to end: run, resume, judge, compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import running_server, workbench_folder
from tests.support.evaluating import metrics_of
from tests.support.running import entries_of, inside, lines_of
from toolassay import compare, evaluate, infer, verify
from toolassay.errors import UsageError
from toolassay.models import ModelOptions, ToolCall
from toolassay.serving.completions import Received, Reply

build_folder = workbench_folder


def test_offline_agent_resumes_and_is_judged(folder: Path) -> None:
    predictions = folder / "predictions/offline.json"
    assert infer(folder, llm="offline", limit=20).written == 20
    first = predictions.read_bytes()
    again = infer(folder, llm="offline", limit=20)
    assert (again.already, again.summary.outcomes.total()) == (20, 0)
    assert predictions.read_bytes() == first
    journal = entries_of(folder / "predictions/runs/offline/journal.jsonl")
    assert [entry["key"] for entry in journal] == [line["id"] for line in lines_of(predictions)]
    assert journal[0]["messages"][1]["content"] == journal[0]["query"]
    infer(folder, llm="offline", limit=30)
    whole = lines_of(predictions)
    assert len(whole) == 30 and set(whole[0]) == {"id", "query", "function_calls", "outcome", "error"}
    result = evaluate(folder, llm="offline")
    metrics = json.loads(result.path.read_text())["overall_overall"]
    assert metrics["outcomes"] == {"answered": 30, "not run": 660}
    for mode in ("compat", "strict"):
        assert metrics[mode]["correct"] >= 25
        assert {name: found["n"] for name, found in metrics[mode]["by_group"].items()} == {"analytics": 30}
    items = lines_of(folder / "metrics/offline.items.jsonl")
    assert len(items) == 690 and set(items[-1]["scores"].values()) == {None}
    (compared,) = compare(result.path, result.path.with_suffix(".items.jsonl"), resamples=20).models
    assert (compared.n_compared, compared.n_labels, compared["correct"].difference.value) == (30, 690, 0)


def test_predictions_that_do_not_fit(folder: Path) -> None:
    infer(folder, llm="offline", limit=1)
    path = folder / "predictions/offline.json"
    (line,) = lines_of(path)
    for change, complaint in (
        ({"function_calls": "x"}, "`array`"),
        ({"query": "x"}, "has changed since"),
    ):
        path.write_text(json.dumps({**line, **change}) + "\n")
        with pytest.raises(UsageError, match=complaint):
            evaluate(folder, llm="offline")


def test_predictions_with_an_unknown_id_are_counted_and_the_others_scored(folder: Path) -> None:
    infer(folder, llm="offline", limit=2)
    known = evaluate(folder, llm="offline")
    path = folder / "predictions/offline.json"
    strange = [{**line, "id": name} for line, name in zip(lines_of(path), ("x", "y"), strict=True)]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*strange, *lines_of(path)]))
    done = inside("evaluate", "--data_dir", folder, "--llm", "offline", "-q")
    assert done.code == 3 and "2 predictions with an id that no task has" in done.err
    strict = metrics_of(folder, "offline")["strict"]
    assert strict["dropped"] == {"unknown_ids": 2}
    assert strict["correct"] == known.whole["strict"]["correct"] > 0


def test_a_context_that_overflows_is_an_outcome(folder: Path) -> None:
    async def answer(received: Received) -> Reply:
        return Reply(tool_calls=[ToolCall("c", "calendar__delete_event", '{"event_id": "00000166"}')])

    with running_server(answer) as server:
        server.behaviour = lambda prompt, number: "overflow" if "successfully" in prompt else "whole"
        given: dict[str, Any] = {"llm": "acme", "options": ModelOptions(api_base=server.base)}
        first = infer(folder, ids=["calendar-001", "calendar-002"], **given)
        assert first.summary.complete and first.summary.outcomes == {"context overflow": 2}
        asked = len(server.received)
        assert infer(folder, ids=["calendar-001", "calendar-002"], **given).already == 2
        assert len(server.received) == asked
    one, _ = lines_of(folder / "predictions/acme.json")
    assert one["function_calls"] == ['calendar.delete_event.func(event_id="00000166")']
    assert (one["outcome"], one["error"]) == ("context overflow", "Context window exceeded")
    result = evaluate(folder, llm="acme")
    assert verify(folder, llm="acme").is_equal
    for metrics in (result.whole["compat"], result.whole["strict"]):
        assert metrics is not None
        assert metrics["error_classes"]["context_overflow"] == {"n": 2, "pct": 100.0}
        assert metrics["context_window_errors"] == 2 and metrics["correct"] == 0
        assert metrics["side_effects"] == 1  # for the other request, the event was the right one
