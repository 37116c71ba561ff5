"""Against `bert_score.BERTScorer`, with tiny random models made on the spot; needs the extra "bert"."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.hub_server import serving

pytest.importorskip("torch", reason="torch is not installed: pip install -r requirements-all.txt")
pytest.importorskip("bert_score", reason="bert-score is not installed: pip install -r requirements-all.txt")

from toolassay.engines.processes import Processes
from toolassay.metrics import bertscore
from toolassay.metrics.bertscore import DEFAULT, BertScore
from toolassay.metrics.rouge import TextPair

pytestmark = pytest.mark.slow

LAYERS = 2
LONG = "use the image tool and then the text tool " * 40


@pytest.fixture(scope="module")
def steps(root: Path) -> list[str]:
    lines = (root / "data_multimedia" / "data.json").read_text(encoding="utf-8").splitlines()
    return ["\n".join(json.loads(line)["task_steps"]) for line in lines]


@pytest.fixture(scope="module")
def pairs(steps: list[str]) -> list[TextPair]:
    """Real steps against others and against themselves with words swapped; and what is awkward."""
    edited = [" ".join(reversed(text.split(" ", 2))) for text in steps]
    awkward = [
        ("naïve 中文 текст 🙂", "naive 中文 text"),
        (LONG, LONG[100:]),
        ("a", "a"),
        ("\n\tUse it ", "Use it"),
        ("", "x"),
    ]
    return [
        *zip(steps[:40], edited[:40], strict=True),
        *zip(steps[:40], steps[40:80], strict=True),
        *awkward[:4],
    ]


def bert(place: Path, steps: list[str]) -> Path:
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast, set_seed

    place.mkdir()
    words = BertWordPieceTokenizer()
    words.train_from_iterator([*steps, "naïve 中文 текст"], vocab_size=600, show_progress=False)
    words.save(str(place / "words.json"))
    tokenizer = BertTokenizerFast(tokenizer_file=str(place / "words.json"), model_max_length=64)
    set_seed(0)
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    }
    BertModel(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **sizes)).save_pretrained(
        place
    )
    tokenizer.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> Path:
    return bert(tmp_path_factory.mktemp("models") / "tiny", steps)


def published(folder: Path, layers: int, pairs: list[TextPair]) -> NDArray[np.float64]:
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=str(folder), num_layers=layers, device="cpu")
    found = scorer.score([predicted for _, predicted in pairs], [gold for gold, _ in pairs])
    return np.stack([part.numpy() for part in found], axis=1).astype(np.float64)


def ours(folder: Path, pairs: list[TextPair], **options: Any) -> NDArray[np.float64]:
    return BertScore(folder, device="cpu", cache=False, threads=1, **options).scores(pairs)


def test_scores_equal_those_of_bert_score(tiny: Path, pairs: list[TextPair]) -> None:
    assert np.abs(ours(tiny, pairs) - published(tiny, LAYERS, pairs)).max() < 1e-5


def test_an_engine_computes_the_same_scores(tiny: Path, pairs: list[TextPair]) -> None:
    """The workers load the model themselves."""
    with Processes(2) as engine:
        assert np.abs(ours(tiny, pairs, engine=engine) - ours(tiny, pairs)).max() < 1e-5


def test_the_table_of_bert_score_has_the_published_layer() -> None:
    from bert_score.utils import model2layers

    assert model2layers[DEFAULT] == bertscore._DEFAULT_LAYERS


def test_a_folder_never_asks_the_hub(tiny: Path, root: Path) -> None:
    script = """
import sys
from toolassay.metrics.bertscore import BertScore
print(BertScore(sys.argv[1], cache=False).scores([("Use it", "Use it")]).shape)
"""
    with serving(tiny) as (address, asked):
        environment = {**os.environ, "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": address, "PYTHONPATH": str(root)}
        done = subprocess.run(
            [sys.executable, "-c", script, str(tiny)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout == "(1, 3)\n"
    assert done.stderr == ""
    assert asked == []
