"""What every command does with a folder of WorkBench that a run was made in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import workbench_folder
from tests.support.running import entries_of, files_below, lines_of, write_lines
from toolassay import evaluate, infer, leaderboard, verify
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.models import ModelOptions

TASKS = 23


def build_folder(path: Path) -> Path:
    """Some tasks of every domain."""
    return workbench_folder(path, slice(None, None, 30))


def test_models_stand_side_by_side(folder: Path) -> None:
    infer(folder, llm="offline")
    right = lines_of(folder / "predictions/offline.json")
    half = [{**line, "function_calls": [], "outcome": "answered"} for line in right[: TASKS // 2]]
    write_lines(folder / "predictions/half.json", half)
    evaluate(folder)
    board = leaderboard(folder)
    assert [row.model for row in board.rows] == ["half", "half", "offline", "offline"]
    strict, compat, first, _ = board.rows
    value, low, high = strict.score("accuracy")
    assert low is not None and value is not None and high is not None and low < value < high
    assert compat.score("accuracy").value == value
    assert (first.counted.items, first.counted.coverage) == (TASKS, 100.0)
    assert strict.counted.coverage == pytest.approx(100 * (TASKS // 2) / TASKS)
    # A task that was not run matches nothing, even where no call is wanted.
    assert strict.score("exact match").value == pytest.approx(value)
    assert compat.score("wanted made").value is None
    for format in ("terminal", "markdown", "csv", "latex"):
        text = board.text(format)
        assert "offline" in text and "side effects" in text and "n-F1" not in text
    rows = leaderboard(folder, with_published=True).rows
    published = {row.model: row.score("side effects").value for row in rows if row.kind == "published"}
    assert list(published) == ["gpt-4", "claude-2", "mistral-8x7B", "gpt-3.5", "llama2-70b"]
    assert published["gpt-4"] == 20.0
    with pytest.raises(UsageError, match="2024_all_tools"):
        leaderboard(folder, published="2025")


@pytest.mark.parametrize("agent", ["native", "react"])
def test_a_run_is_verified(folder: Path, agent: str) -> None:
    infer(folder, llm="offline", agent=agent)
    evaluate(folder, llm="offline")
    before = files_below(folder)
    told: list[str] = []
    screen = Screen(say=told.append, show=told.append)
    assert verify(folder, llm="offline", screen=screen).is_equal
    assert told == [
        f"{folder}/predictions/offline.json: {TASKS} lines re-parsed",
        "equal: predictions and scores are what the raw answers give",
    ]
    assert files_below(folder) == before

    whole = lines_of(folder / "predictions/offline.json")
    place = next(n for n, line in enumerate(whole) if line["function_calls"])
    whole[place]["function_calls"].pop()
    write_lines(folder / "predictions/offline.json", whole)
    found = verify(folder, llm="offline", screen=screen)
    assert found.lines.differing == 1 and f"'{whole[place]['id']}' function_calls" in str(
        found.lines.changed[0]
    )

    evaluate(folder, llm="offline")
    assert any("strict" in line for line in verify(folder, llm="offline").scores)


def test_a_run_with_trials_is_verified_with_its_repeats_and_its_books(folder: Path) -> None:
    infer(folder, llm="offline", limit=4, trials=3)
    evaluate(folder, llm="offline")
    before = files_below(folder)
    assert verify(folder, llm="offline").is_equal
    assert verify(folder, llm="offline", prediction_dir="predictions/trials/2").is_equal
    assert files_below(folder) == before
    (folder / "predictions/trials/1/offline.json").unlink()
    assert any("trials" in line for line in verify(folder, llm="offline").scores)


def test_a_tool_that_answers_otherwise_is_said_and_is_no_difference(folder: Path) -> None:
    infer(folder, llm="offline", limit=1)
    path = folder / "predictions/runs/offline/journal.jsonl"
    (entry,) = entries_of(path)
    results = [line["result"] for line in lines_of(path) if line.get("role") == "tool"]
    # As earlier versions wrote an entry: the results are in it, and answers have no lines of their own.
    write_lines(path, [{**entry, "observations": ["other", *results[1:]]}])
    told: list[str] = []
    assert verify(folder, llm="offline", screen=Screen(say=told.append)).is_equal
    assert told[0].startswith("in 1 task the tools answer otherwise")
    write_lines(path, [{**entry, "messages": [1]}])
    with pytest.raises(UsageError, match=r"journal\.jsonl: line of .*messages"):
        verify(folder, llm="offline")
    (folder / "predictions/runs/offline/manifest.json").unlink()
    with pytest.raises(UsageError, match="how the agent was run"):
        verify(folder, llm="offline")


@pytest.mark.parametrize("agent", ["native", "react"])
def test_a_dry_run_reports_what_would_be_sent_and_makes_no_file(folder: Path, agent: str) -> None:
    before = files_below(folder)
    told: list[str] = []
    screen, options = Screen(show=told.append), ModelOptions(api_base="http://127.0.0.1:9/v1")
    settings: dict[str, Any] = {"agent": agent, "toolkit": "domains", "max_steps": 5, "resample": 1}
    found = infer(folder, llm="gpt-4o", options=options, dry_run=True, screen=screen, **settings)
    assert (found.written, found.already) == (0, 0) and files_below(folder) == before
    text = "\n".join(told)
    assert f"requests: {TASKS} to send; 0 of {TASKS} tasks are answered" in text
    assert f"At most (--max_steps 5, --resample 1): {TASKS * 6} requests, " in text
    least, most = found.expected
    assert least.requests == TASKS and most.prompt_tokens > 6 * least.prompt_tokens
    assert f"[user] {lines_of(folder / 'tasks.jsonl')[0]['query']}" in text
    assert ("[tools] analytics__" if agent == "native" else "analytics.create_plot(") in text
