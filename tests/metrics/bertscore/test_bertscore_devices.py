"""Devices, precision and shards of BERTScore, without torch; test_bertscore_real.py computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.errors import UsageError
from toolassay.metrics.bertscore import BertScore, ReferenceBertScore, encoder, scorer
from toolassay.metrics.bertscore import model as models
from toolassay.metrics.bertscore.encoder import chosen_device, pair_shards, uses_half
from toolassay.metrics.bertscore.model import BertModel

texts = st.text(alphabet="ab ", max_size=9_000)


@given(st.lists(st.tuples(texts, texts), unique=True, max_size=30))
def test_each_pair_is_in_one_shard_of_bounded_size(pairs: list[tuple[str, str]]) -> None:
    for device in ("cpu", "cuda"):
        shards = list(pair_shards(pairs, device))
        assert sorted(number for shard in shards for number in shard) == list(range(len(pairs)))
        limit = encoder._SHARD_LETTERS[device]
        assert all(
            len(shard) == 1 or sum(len(t) for n in shard for t in pairs[n]) <= limit for shard in shards
        )


def test_a_gpu_gets_larger_shards() -> None:
    pairs = [(f"{number} " + "a" * 500, "b" * 500) for number in range(500)]
    assert len(list(pair_shards(pairs, "cuda"))) < len(list(pair_shards(pairs, "cpu")))


@pytest.mark.parametrize(
    ("asked", "has_cuda", "device"),
    [(None, True, "cuda"), (None, False, "cpu"), ("cpu", True, "cpu"), ("mps", False, "mps")],
)
def test_the_device_is_cuda_where_there_is_one(asked: str | None, has_cuda: bool, device: str) -> None:
    assert chosen_device(asked, lambda: has_cuda) == device


def test_half_precision_is_for_cuda_only() -> None:
    assert [uses_half(None, device) for device in ("cuda", "cpu", "mps")] == [True, False, False]
    assert not uses_half("full", "cuda")
    assert not uses_half(None, "cuda", overflows=True)
    with pytest.raises(UsageError, match="the device is cpu, it needs cuda"):
        uses_half("half", "cpu")
    with pytest.raises(UsageError, match="this model overflows in it"):
        uses_half("half", "cuda", overflows=True)
    with pytest.raises(UsageError, match="runs in full precision"):
        PlanScoring(bertscore_backend="bert-score", bertscore_precision="half")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that passes for a model."""
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    monkeypatch.setattr(scorer, "choose_model", lambda *_: BertModel("m", 1, tmp_path))
    monkeypatch.setattr(models, "_versions", lambda: "v")
    return tmp_path


def test_scores_in_half_precision_have_another_signature_and_another_place_in_the_cache(model: Path) -> None:
    """Asked for by name, a device is not looked for, so this needs no CUDA."""
    half, full = BertScore("m", device="cuda"), BertScore("m", device="cuda", precision="full")
    assert half.name == "m_L1_no-idf_half_v(not comparable with roberta-large)"
    assert (
        full.name == BertScore("m", device="cpu").name == "m_L1_no-idf_v(not comparable with roberta-large)"
    )
    assert half._chosen().key == f"{full._chosen().key}_half"
    assert ReferenceBertScore("m", device="cuda").name == f"bert-score:{full.name}"


def test_a_t5_stays_in_full_precision(model: Path) -> None:
    (model / "config.json").write_text('{"model_type": "mt5"}')
    assert "half" not in BertScore("m", device="cuda").name
    with pytest.raises(UsageError, match="overflows"):
        _ = BertScore("m", device="cuda", precision="half").name


def test_half_precision_without_cuda_is_one_line(model: Path) -> None:
    with pytest.raises(UsageError, match="--bertscore_precision half: the device is cpu"):
        BertScore("m", device="cpu", precision="half").scores([("a", "b")])
