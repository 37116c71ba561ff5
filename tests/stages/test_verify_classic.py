"""A run of CLASSic made anew from its journal, and its place on a leaderboard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.builders import chat_folder
from tests.support.evaluating import changed, verified
from tests.support.running import files_below, inside
from toolassay import evaluate, infer, leaderboard
from toolassay.errors import UsageError
from toolassay.models import ModelOptions, ToolCall
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer


async def parcels(received: Received) -> Reply:
    """Calls where tools are offered, writes else; sometimes neither fits."""
    if "desk" in received.prompt:
        return Reply("no idea")
    if "tools" in received.body:
        return Reply(tool_calls=[ToolCall("c", "Track_Parcel", "{}")])
    return Reply(json.dumps({"thinking": "so", "workflow": "2. Track Parcel"}))


server_answer = parcels


def build_folder(path: Path) -> Path:
    """A folder with two trials of the offline agent, scored with another order."""
    chat_folder(path)
    infer(path, llm="offline", trials=2)
    infer(path, llm="offline", order="7", prediction_dir="predictions_7")
    evaluate(path, llm="offline", orders=["predictions_7"])
    return path


def test_an_untouched_run_is_equal_and_nothing_is_written(folder: Path) -> None:
    before = files_below(folder)
    equal, text = verified(folder, orders=["predictions_7"])
    assert equal, text
    assert "5 lines re-parsed" in text
    equal, text = verified(folder, prediction_dir="predictions/trials/1")
    assert equal, text
    assert files_below(folder) == before


def test_scores_of_another_order_are_not_taken_for_those_without(folder: Path) -> None:
    equal, text = verified(folder)
    assert not equal and "orders" in text


@pytest.mark.parametrize("agent", ["cot", "reasoning", "tools"])
def test_what_a_model_said_is_read_again(folder: Path, server: FakeServer, agent: str) -> None:
    infer(folder, llm="acme", agent=agent, options=ModelOptions(api_base=server.base), multiworker=1)
    evaluate(folder, llm="acme")
    asked = len(server.received)
    equal, text = verified(folder, "acme")
    assert equal, text
    assert len(server.received) == asked
    changed(folder / "predictions/acme.json", '"w-track"', '"w-return"')
    equal, text = verified(folder, "acme")
    assert not equal
    assert "'w-return' -> 'w-track'" in text or '"w-return" -> "w-track"' in text


def test_a_raw_answer_that_gives_another_choice_is_found(folder: Path, server: FakeServer) -> None:
    infer(folder, llm="acme", options=ModelOptions(api_base=server.base), multiworker=1)
    journal = folder / "predictions/runs/acme/journal.jsonl"
    changed(journal, '"workflow": "w-track"', '"workflow": "w-return"')
    assert verified(folder, "acme")[0]  # the raw answers count, not what was made of them
    changed(journal, r"\"2. Track Parcel", r"\"1. Return Goods")
    assert not verified(folder, "acme")[0]
    changed(journal, '"answers": [', '"answers": [7, ')
    with pytest.raises(UsageError, match="answers"):
        verified(folder, "acme")


def test_recorded_answers_are_taken_as_the_journal_has_them(folder: Path) -> None:
    infer(folder, llm="vendor", agent="recorded", recorded=folder / "predictions/offline.json")
    evaluate(folder, llm="vendor")
    equal, text = verified(folder, "vendor")
    assert equal, text
    assert "taken as the journal has them" in text


def test_agents_are_compared_side_by_side_and_outdated_scores_are_reported(folder: Path) -> None:
    infer(folder, llm="vendor", agent="recorded", recorded=folder / "predictions/offline.json")
    evaluate(folder, llm="vendor")
    board = leaderboard(folder, with_published=True)
    assert board.headings[0] == "accuracy"
    by_kind = {(row.model, row.kind): row for row in board.rows}
    strict, compat = by_kind["offline", "strict"], by_kind["offline", "compat"]
    assert strict.score("accuracy").low is not None and strict.score("stability").value == 100.0
    assert compat.score("accuracy").value == pytest.approx(strict.score("accuracy").value)
    assert by_kind["GPT-4o", "published"].score("accuracy").value is not None
    assert not any("evaluate it again" in remark for remark in board.remarks)
    changed(folder / "predictions/offline.json", '"pred_workflow_uuid": null', '"pred_workflow_uuid": ""')
    changed(folder / "messages.csv", "good morning", "good evening")
    remarks = leaderboard(folder).remarks
    for part in ("data", "predictions"):
        assert any(remark.startswith(f"warning: offline was scored with other {part}") for remark in remarks)
    assert (
        inside("report", "--only", "leaderboard", "--data_dir", folder, "--save", folder / "board.csv").code
        == 0
    )
    assert "accuracy" in (folder / "board.csv").read_text().splitlines()[0]
    assert inside("verify", "--data_dir", folder, "--llm", "offline").code == 1
