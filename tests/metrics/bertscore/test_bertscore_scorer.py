from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from toolassay.engines import OneProcess
from toolassay.metrics.bertscore import BertScore, BertScoreError, scorer
from toolassay.metrics.bertscore import model as models
from toolassay.metrics.bertscore.encoder import TextPair
from toolassay.metrics.bertscore.model import BertModel

PAIRS = [("a b", "a c"), ("d", "e"), ("a b", "a c"), ("a b", " ")]


class Fake:
    """An encoder that counts what it is asked, and can fail."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.tokens_at_once = 4
        self.matched: list[TextPair] = []
        self.fails_at = fails_at

    def tokens(self, text: str) -> list[int]:
        return list(range(len(text.split())))

    def embed(self, texts: Mapping[str, list[int]]) -> dict[str, Any]:
        return dict(texts)

    def match(self, pairs: Sequence[TextPair], embedded: Mapping[str, Any]) -> NDArray[np.float64]:
        if self.fails_at is not None and len(self.matched) >= self.fails_at:
            raise MemoryError
        self.matched += pairs
        return np.array([[len(embedded[gold]), len(embedded[predicted]), 0.5] for gold, predicted in pairs])


@pytest.fixture(autouse=True)
def _any_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scorer, "choose_model", lambda *_: BertModel("m", 1, tmp_path, is_named_folder=True))
    monkeypatch.setattr(models, "_versions", lambda: "v")


def with_encoder(encoder: Fake, cache: Path) -> BertScore:
    result = BertScore("m", cache=cache)
    result._encoder = encoder
    return result


def test_each_different_pair_is_scored_once_and_stands_where_it_was_asked(tmp_path: Path) -> None:
    encoder = Fake()
    told: list[tuple[str, int]] = []

    def progress(what: str, total: int) -> Any:
        from toolassay.progress_callback import no_progress

        told.append((what, total))
        return no_progress(what, total)

    scores = with_encoder(encoder, tmp_path / "c").scores(PAIRS, progress=progress)
    assert scores.tolist() == [[2, 2, 0.5], [1, 1, 0.5], [2, 2, 0.5], [0, 0, 0]]
    assert sorted(encoder.matched) == [("a b", "a c"), ("d", "e")]
    assert told == [("BERTScore", 3)]


def test_a_second_evaluation_computes_nothing(tmp_path: Path) -> None:
    first = with_encoder(Fake(), tmp_path / "c").scores(PAIRS)
    encoder = Fake()
    assert with_encoder(encoder, tmp_path / "c").scores(PAIRS).tolist() == first.tolist()
    assert encoder.matched == []
    with_encoder(encoder, tmp_path / "c").scores([*PAIRS, ("new", "pair")])
    assert encoder.matched == [("new", "pair")]


def test_without_a_cache_all_is_computed_again(tmp_path: Path) -> None:
    for _ in range(2):
        encoder = Fake()
        score = BertScore("m", cache=False)
        score._encoder = encoder
        score.scores(PAIRS)
        assert len(encoder.matched) == 2
    assert not list(tmp_path.iterdir())


def test_other_weights_are_other_scores(tmp_path: Path) -> None:
    with_encoder(Fake(), tmp_path / "c").scores(PAIRS)
    (tmp_path / "model.safetensors").write_bytes(b"trained on")
    encoder = Fake()
    with_encoder(encoder, tmp_path / "c").scores(PAIRS)
    assert len(encoder.matched) == 2


def test_a_failure_on_the_way_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    failing = with_encoder(Fake(fails_at=1), tmp_path / "c")
    assert failing.name != "none"
    for _ in range(2):
        with pytest.raises(BertScoreError, match=r"^BERTScore is left out: m failed \(MemoryError\)$"):
            failing.scores(PAIRS)
    assert failing.name == "none"
    encoder = Fake()
    with_encoder(encoder, tmp_path / "c").scores(PAIRS)
    assert len(encoder.matched) == 1


def test_nothing_to_score_needs_no_model() -> None:
    assert BertScore("m", cache=False).scores([]).shape == (0, 3)


def test_an_engine_scores_what_the_cache_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Fake()
    monkeypatch.setattr(scorer, "_encoder", lambda *_: workers)
    here = with_encoder(Fake(), tmp_path / "c").scores(PAIRS[:1])
    scores = BertScore("m", cache=tmp_path / "c", engine=OneProcess()).scores(PAIRS)
    assert scores.tolist() == [*here.tolist(), [1, 1, 0.5], [2, 2, 0.5], [0, 0, 0]]
    assert workers.matched == [("d", "e")]
    BertScore("m", cache=tmp_path / "c", engine=OneProcess()).scores(PAIRS)
    assert workers.matched == [("d", "e")]


def test_a_worker_with_another_model_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(OneProcess):
        """Another machine: the files of the folder are others."""

        def map(self, task: Any, shards: Any) -> Any:
            (tmp_path / "model.safetensors").write_bytes(b"trained on")
            return super().map(task, shards)

    monkeypatch.setattr(scorer, "_encoder", lambda *_: Fake())
    with pytest.raises(BertScoreError, match="a worker of the engine has another m, or other packages"):
        BertScore("m", cache=False, engine=Elsewhere()).scores(PAIRS)
