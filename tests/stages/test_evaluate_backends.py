"""Scores by the reference package: `--rouge_backend rouge-score`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.scoring import Score

from tests.support.builders import plan, scored_folder
from tests.support.running import inside
from toolassay import evaluate, infer, verify
from toolassay.console.screen import Screen
from toolassay.evaluation.metrics_file import MetricsGroup, read_groups
from toolassay.metrics.rouge import NAMES

WHOLE = "overall_overall"
RELEASE = "rouge-score-0.1.2"
TOOLS = ("Summariser", "Translator", "Painter")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Requests that the offline planner has answered; nothing is scored yet."""
    gold = {str(n): plan(TOOLS[n % 3], arguments=[f"text {n}"]) for n in range(6)}
    scored_folder(tmp_path, gold, {}, tools=TOOLS, request="Use the Painter on 'text 2'.", type="single")
    infer(tmp_path, llm="offline")
    return tmp_path


def without_rouge_score(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rouge_score", "rouge_score.rouge_scorer"):
        monkeypatch.setitem(sys.modules, name, None)


def evaluate_by_command(folder: Path, *options: str) -> int:
    return inside("evaluate", "--data_dir", folder, "--llm", "offline", *options).code


def scored(folder: Path) -> MetricsGroup:
    return read_groups(folder / "metrics" / "offline.json")[WHOLE]


def test_the_flag_scores_with_rouge_score(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RougeScorer, "score", lambda *_: {name: Score(0.25, 0.25, 0.25) for name in NAMES})
    assert evaluate_by_command(folder, "--rouge_backend", "rouge-score") == 0
    numbers = scored(folder).numbers
    assert [numbers[f"step_{name}"] for name in NAMES] == [0.25] * 4
    assert numbers["strict"]["rougeL"]["value"] == 0.25
    assert evaluate_by_command(folder, "--rouge_backend", "builtin") == 0
    assert scored(folder).numbers["step_rouge1"] != 0.25


def test_the_signature_names_rouge_score_only_where_it_computed(folder: Path) -> None:
    def signature(**options: Any) -> list[tuple[str, str]]:
        """The parts in order, without the hash of the items, whose last digit may differ."""
        evaluate(folder, llm="offline", **options)
        return [part for part in scored(folder).parts.items() if part[0] != "items"]

    built_in = signature()
    assert signature(rouge_backend="builtin") == built_in
    assert "rouge" not in dict(built_in)
    by_package = signature(rouge_backend="rouge-score")
    assert ("rouge", RELEASE) in by_package
    assert [part for part in by_package if part[0] != "rouge"] == built_in
    assert "rouge" not in dict(signature(rouge_backend="rouge-score", metrics=["f1"]))


def test_scores_by_rouge_score_are_verified_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(folder, llm="offline", rouge_backend="rouge-score")
    lines: list[str] = []
    assert verify(folder, llm="offline", screen=Screen(say=lines.append, show=lines.append)).is_equal, lines
    without_rouge_score(monkeypatch)
    done = inside("verify", "--data_dir", folder, "--llm", "offline")
    assert done.code == 2 and "pip install '.[rouge-score]'" in done.err
