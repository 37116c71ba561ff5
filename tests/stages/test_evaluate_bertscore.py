from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.builders import plan, scored_folder
from tests.support.running import inside
from toolassay import evaluate
from toolassay.benchmarks.taskbench.evaluation import evaluate_folder
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.console.screen import Progress, no_progress
from toolassay.evaluation.items import items_path, read_items
from toolassay.metrics import bertscore as models
from toolassay.metrics.bertscore import BertScore, BertScoreError
from toolassay.metrics.rouge import TextPair
from toolassay.records.data_folder import DataFolder

WHOLE = "overall_overall"
NOTHING = {"value": None, "low": None, "high": None}


def build_folder(path: Path) -> Path:
    """Four requests; two models answer the first three, every second one wrongly."""
    answers = {str(n): plan("ab"[n % 2]) for n in range(3)}
    gold = dict.fromkeys("0123", plan("a"))
    return scored_folder(path, gold, {"m": answers, "n": answers}, tools="ab", type="single")


class Scorer(BertScore):
    """1, 1 and 1 for equal texts, else 0.5, 0.25 and 0.3; or the failure it is given."""

    name = "fake_L1"

    def __init__(self, failure: BertScoreError | None = None) -> None:
        self.failure = failure
        self.calls: list[list[TextPair]] = []

    def scores(self, pairs: Sequence[TextPair], *, progress: Progress = no_progress) -> NDArray[np.float64]:
        self.calls.append(list(pairs))
        if self.failure is not None:
            raise self.failure
        return np.array([[1.0, 1.0, 1.0] if a == b else [0.5, 0.25, 0.3] for a, b in pairs])


def test_steps_that_rouge_cannot_read_have_a_bertscore(tmp_path: Path) -> None:
    gold = {key: {**plan("a"), "task_steps": ["翻译文本"]} for key in "01"}
    folder = scored_folder(tmp_path / "d", gold, {"m": {"0": gold["0"]}}, tools="ab", type="single")
    result = evaluate_folder(DataFolder(folder), "m", PlanScoring(), bertscore=Scorer())
    strict = result.evaluation.groups[WHOLE].strict
    assert (strict["rouge1"]["value"], strict["bertscore_f1"]["value"]) == (None, 0.5)


def test_every_group_and_item_takes_its_numbers_from_one_pass(folder: Path) -> None:
    scorer = Scorer()
    choices = PlanScoring(splits=("all",), n_tools=("all",))
    result = evaluate_folder(DataFolder(folder), "m", choices, bertscore=scorer)
    assert len(result.evaluation.groups) == 14
    assert [set(call) for call in scorer.calls] == [{("Use a", "Use a"), ("Use a", "Use b")}]
    numbers = result.evaluation.groups[WHOLE].numbers
    assert numbers["step_bertscore_precision"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert numbers["step_bertscore_recall"] == pytest.approx((1 + 0.25 + 1) / 3)
    assert numbers["step_bertscore_f1"] == pytest.approx((1 + 0.3 + 1) / 3)
    assert numbers["strict"]["bertscore_f1"]["value"] == pytest.approx((1 + 0.3 + 1 + 0) / 4)
    assert "|bertscore:fake_L1|" in numbers["strict"]["signature"]
    scores = [item.scores["bertscore_f1"] for item in read_items(items_path(result.path))]
    assert scores == [1.0, 0.3, 1.0, 0.0]


def test_an_evaluation_goes_on_where_bertscore_fails(folder: Path) -> None:
    scorer = Scorer(BertScoreError("m failed (out of memory)"))
    evaluation = evaluate_folder(DataFolder(folder), "m", bertscore=scorer).evaluation
    numbers = evaluation.groups[WHOLE].numbers
    assert "BERTScore is left out: m failed (out of memory)" in evaluation.notes
    assert numbers["strict"]["bertscore_f1"] == NOTHING
    assert numbers["strict"]["node_f1"]["value"] == pytest.approx(0.5)
    assert "step_bertscore_f1" not in numbers
    assert "|bertscore:none|" in numbers["strict"]["signature"]


@pytest.mark.parametrize("metric", ["all", "bertscore"])
def test_without_the_packages_the_column_is_empty_and_a_line_says_what_to_install(
    folder: Path, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    said = inside("evaluate", "--data_dir", folder, "--llm", "m", "-m", metric)
    assert said.code == 0
    assert said.err.count("BERTScore is left out: not installed: torch, transformers, bert-score") == 1
    assert "pip install '.[bert]'" in said.err
    assert "Traceback" not in said.err
    result = evaluate(folder, llm="m", metrics=[metric])
    assert result.evaluation.groups[WHOLE].strict["bertscore_f1"] == NOTHING
