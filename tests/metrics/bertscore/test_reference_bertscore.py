"""`ReferenceBertScore` with a fake package `bert_score`: what is passed to it and where its numbers go.

The numbers of the real package are compared in `test_bertscore_real.py`, where it is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from toolassay import evaluate
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.evaluation.metrics_file import read_groups, signature_of
from toolassay.files import write_json, write_json_lines
from toolassay.metrics.bertscore import BertScore, BertScoreError, ReferenceBertScore, encoder
from toolassay.metrics.bertscore import model as models

PAIRS = [("a b", "a"), ("c", "d e f"), ("a b", "a")]


class FakeScorer:
    """Precision: words of the candidate; recall: words of the reference; F1: 0.5."""

    made: ClassVar[list[dict[str, Any]]] = []
    calls: ClassVar[list[tuple[list[str], list[str]]]] = []
    failure: ClassVar[Exception | None] = None

    def __init__(self, **options: Any) -> None:
        self.made.append(options)

    def score(self, candidates: Sequence[str], references: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        if self.failure is not None:
            raise self.failure
        self.calls.append((list(candidates), list(references)))
        columns = [[len(text.split()) for text in side] for side in (candidates, references)]
        return tuple(np.array(column, dtype=np.float32) for column in (*columns, [0.5] * len(candidates)))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeScorer]:
    class Scorer(FakeScorer):
        made: ClassVar[list[dict[str, Any]]] = []
        calls: ClassVar[list[tuple[list[str], list[str]]]] = []

    @contextmanager
    def quiet() -> Iterator[None]:
        yield

    module = ModuleType("bert_score")
    vars(module)["BERTScorer"] = Scorer
    monkeypatch.setitem(sys.modules, "bert_score", module)
    monkeypatch.setattr(encoder, "_quiet", quiet)
    monkeypatch.setattr(models, "_PACKAGES", {})
    monkeypatch.setattr(models, "_versions", lambda: "version=0(hug_trans=0)")
    return Scorer


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    write_json(folder / "config.json", {"num_hidden_layers": 3})
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).write_text("{}")
    return folder


def test_bert_scorer_gets_each_distinct_pair_once(fake: type[FakeScorer], model: Path) -> None:
    score = ReferenceBertScore(model, layers=2, device="cpu")
    assert score.scores(PAIRS).tolist() == [[1, 2, 0.5], [3, 1, 0.5], [1, 2, 0.5]]
    assert fake.made == [{"model_type": str(model.resolve()), "num_layers": 2, "device": "cpu"}]
    assert fake.calls == [(["a", "d e f"], ["a b", "c"])]


def test_the_model_is_loaded_once_and_nothing_is_cached(
    fake: type[FakeScorer], model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    score = ReferenceBertScore(model)
    assert score.scores(PAIRS).tolist() == score.scores(PAIRS).tolist()
    assert (len(fake.made), len(fake.calls)) == (1, 2)
    assert not (tmp_path / "cache").exists()
    assert score.scores([]).shape == (0, 3)


def test_the_signature_names_the_backend(fake: type[FakeScorer], model: Path) -> None:
    assert ReferenceBertScore(model).name == f"bert-score:{BertScore(model).name}"


def test_a_failure_of_the_package_leaves_bertscore_out(
    fake: type[FakeScorer], model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake, "failure", RuntimeError("index out of range\nmore"))
    with pytest.raises(BertScoreError, match=r"tiny failed \(index out of range\)"):
        ReferenceBertScore(model).scores(PAIRS)


def test_the_option_selects_it(fake: type[FakeScorer], model: Path) -> None:
    assert type(PlanScoring().bertscore_on(None)) is BertScore
    assert type(PlanScoring(bertscore_backend="bert-score").bertscore_on(None)) is ReferenceBertScore
    assert PlanScoring(bertscore_backend="bert-score", with_bertscore=False).bertscore_on(None) is None


def test_an_evaluation_takes_its_numbers(fake: type[FakeScorer], model: Path, tmp_path: Path) -> None:
    plan = {"task_steps": ["one two"], "task_nodes": [{"task": "a", "arguments": ["t"]}], "task_links": []}
    tool = {"id": "a", "desc": "", "input-type": ["text"], "output-type": ["text"]}
    write_json(tmp_path / "tool_desc.json", {"nodes": [tool]})
    write_json_lines(tmp_path / "data.json", [{"id": "1", "type": "single", "user_request": "r", **plan}])
    result = {**plan, "task_steps": ["one two three"]}
    write_json_lines(tmp_path / "predictions" / "m.json", [{"id": "1", "result": result}])

    def is_new(backend: str) -> bool:
        options: dict[str, Any] = {
            "bertscore_model": model,
            "bertscore_backend": backend,
            "bertscore_cache": False,
        }
        (found,) = evaluate(tmp_path, llm="all", metrics=["bertscore"], **options)
        return found.is_new

    assert is_new("bert-score")
    numbers = read_groups(tmp_path / "metrics" / "m.json")["overall_overall"]
    assert [numbers[f"step_bertscore_{name}"] for name in ("precision", "recall", "f1")] == [3, 2, 0.5]
    assert numbers["strict"]["bertscore_f1"]["value"] == 0.5
    assert signature_of(numbers)["bertscore"] == ReferenceBertScore(model).name
    assert not is_new("bert-score")
    assert is_new("builtin")
