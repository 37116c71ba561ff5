"""BERTScore with a fake package `bert_score`; test_bertscore_real.py compares the numbers of the real one."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from toolassay.engines import OneProcess
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json
from toolassay.metrics import bertscore
from toolassay.metrics.bertscore import BertModel, BertScore, BertScoreError, choose_model, fingerprint

PAIRS = [("a b", "a"), ("c", "d e f"), ("a b", "a"), ("a b", " ")]
SCORES = [[1, 2, 0.5], [3, 1, 0.5], [1, 2, 0.5], [0, 0, 0]]


class FakeScorer:
    """Precision: words of the candidate; recall: words of the reference; F1: 0.5."""

    made: ClassVar[list[dict[str, Any]]]
    calls: ClassVar[list[tuple[list[str], list[str]]]]
    failure: ClassVar[Exception | None] = None

    def __init__(self, **options: Any) -> None:
        self.made.append(options)

    def score(self, candidates: Sequence[str], references: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        if self.failure is not None:
            raise self.failure
        self.calls.append((list(candidates), list(references)))
        columns = [[len(text.split()) for text in side] for side in (candidates, references)]
        return tuple(np.array(column, dtype=np.float32) for column in (*columns, [0.5] * len(candidates)))


def _module(monkeypatch: pytest.MonkeyPatch, name: str, **contents: Any) -> None:
    module = ModuleType(name)
    vars(module).update(contents)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeScorer]:
    FakeScorer.made, FakeScorer.calls = [], []
    FakeScorer.failure = None
    ignore = lambda *_: None  # noqa: E731
    _module(monkeypatch, "torch", set_num_threads=ignore, get_num_threads=lambda: 1)
    _module(monkeypatch, "transformers.utils")
    _module(
        monkeypatch,
        "transformers.utils",
        logging=type("Logging", (), {"set_verbosity_error": ignore, "disable_progress_bar": ignore}),
    )
    _module(monkeypatch, "bert_score", BERTScorer=FakeScorer)
    _module(monkeypatch, "bert_score.utils", model2layers={"roberta-large": 17})
    monkeypatch.setattr(bertscore, "_PACKAGES", {})
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "0")
    return FakeScorer


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    write_json(folder / "config.json", {"num_hidden_layers": 3})
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).write_text("{}")
    return folder


def test_bert_scorer_gets_each_distinct_pair_once(fake: type[FakeScorer], model: Path) -> None:
    score = BertScore(model, layers=2, device="cpu", cache=False)
    assert score.scores(PAIRS).tolist() == SCORES
    assert fake.made == [{"model_type": str(model.resolve()), "num_layers": 2, "device": "cpu"}]
    assert fake.calls == [(["d e f", "a"], ["c", "a b"])]
    assert score.scores([]).shape == (0, 3)


def test_a_second_evaluation_computes_what_the_cache_lacks(fake: type[FakeScorer], model: Path) -> None:
    cache = model.with_name("cache") / "c.sqlite3"
    for _ in range(2):
        assert BertScore(model, cache=cache).scores(PAIRS).tolist() == SCORES
    BertScore(model, cache=cache, engine=OneProcess()).scores([*PAIRS, ("new", "pair")])
    assert [len(candidates) for candidates, _ in fake.calls] == [2, 1]
    (model / "model.safetensors").write_text("trained on")
    BertScore(model, cache=cache).scores(PAIRS)
    assert len(fake.calls) == 3


def test_a_failure_is_one_line_and_remembered(fake: type[FakeScorer], model: Path) -> None:
    fake.failure = RuntimeError("index out of range\nmore")
    score = BertScore(model, cache=False)
    assert score.name != "none"
    for _ in range(2):
        with pytest.raises(BertScoreError, match=r"tiny failed \(index out of range\)$"):
            score.scores(PAIRS)
    assert score.name == "none"
    assert len(fake.made) == 1


def test_a_worker_with_another_model_is_one_line(fake: type[FakeScorer], model: Path) -> None:
    class Elsewhere(OneProcess):
        """Another machine: the files of the folder are others."""

        def map(self, task: Any, shards: Any) -> Any:
            (model / "model.safetensors").write_text("trained on")
            return super().map(task, shards)

    with pytest.raises(BertScoreError, match="a worker of the engine has another tiny, or other packages"):
        BertScore(model, cache=False, engine=Elsewhere()).scores(PAIRS)


def test_missing_packages_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bertscore, "find_spec", lambda _: None)
    with pytest.raises(BertScoreError, match=r"not installed: torch, transformers, bert-score\. .*\[bert\]"):
        choose_model("some/model")


def test_the_model_of_a_folder_and_of_the_hub(
    fake: type[FakeScorer], model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose_model(model) == BertModel("tiny", 3, model.resolve())
    assert choose_model("FacebookAI/roberta-large").layers == 17
    with pytest.raises(BertScoreError, match="--bertscore_layers"):
        choose_model("acme/new")
    monkeypatch.setattr(bertscore, "is_on_disk", lambda _: False)
    with pytest.raises(BertScoreError, match="roberta-large is not downloaded"):
        choose_model()
    (model / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match="holds no model"):
        choose_model(model)


@pytest.mark.parametrize("given", ["./nowhere", "/nowhere/at/all", "a/b/c", Path("nowhere")])
def test_a_folder_that_does_not_exist_is_a_wrong_flag(given: str | Path) -> None:
    with pytest.raises(UsageError, match=r"no such folder\. Fix: --bertscore_model takes a folder"):
        choose_model(given)


def test_only_the_published_layer_of_roberta_large_is_comparable(fake: type[FakeScorer], model: Path) -> None:
    models = [BertModel("roberta-large", 17), BertModel("FacebookAI/roberta-large", 17)]
    models += [BertModel("roberta-large", 24), BertModel("roberta-base", 10), choose_model(model)]
    signatures = [one.signature for one in models]
    assert ["not comparable" in text for text in signatures] == [False, False, True, True, True]
    assert signatures[0] == "roberta-large_L17_no-idf_version=0(hug_trans=0)"
    assert signatures[4].startswith(f"folder:tiny@sha256-{fingerprint(model)[:12]}_L3_no-idf_")
    (model / "README.md").write_text("says nothing about the scores")
    assert choose_model(model).signature == signatures[4]
