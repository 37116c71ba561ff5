"""Against `bert_score.BERTScorer`, with tiny random models made on the spot; needs the extra "bert"."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_cluster import dask_cluster, killed_at
from numpy.typing import NDArray
from running import environment

pytest.importorskip("torch", reason="torch is not installed: pip install -r requirements-all.txt")
pytest.importorskip("bert_score", reason="bert-score is not installed: pip install -r requirements-all.txt")

from toolassay.metrics.bertscore import BertScore, BertScoreError, ReferenceBertScore
from toolassay.metrics.bertscore import model as models
from toolassay.metrics.bertscore.encoder import BertEncoder, TextPair, scored_blocks
from toolassay.testkit.environment import setting

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


def roberta(place: Path, steps: list[str]) -> Path:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast, set_seed

    place.mkdir()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = ByteLevelBPETokenizer()
    words.train_from_iterator(steps, vocab_size=600, special_tokens=special, show_progress=False)
    words.save(str(place / "words.json"))
    tokenizer = RobertaTokenizerFast(tokenizer_file=str(place / "words.json"), model_max_length=64)
    set_seed(0)
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    }
    config = RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=66, **sizes)
    RobertaModel(config).save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> Path:
    return bert(tmp_path_factory.mktemp("models") / "tiny", steps)


def copied(model: Path, place: Path) -> Path:
    return Path(shutil.copytree(model, place))


def published(folder: Path, layers: int, pairs: list[TextPair]) -> NDArray[np.float64]:
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=str(folder), num_layers=layers, device="cpu")
    found = scorer.score([predicted for _, predicted in pairs], [gold for gold, _ in pairs])
    return np.stack([part.numpy() for part in found], axis=1).astype(np.float64)


def ours(folder: Path, pairs: list[TextPair], **options: Any) -> NDArray[np.float64]:
    return BertScore(folder, device="cpu", cache=False, threads=1, **options).scores(pairs)


def test_scores_equal_those_of_bert_score(tiny: Path, pairs: list[TextPair]) -> None:
    assert np.abs(ours(tiny, pairs) - published(tiny, LAYERS, pairs)).max() < 1e-5


def test_the_reference_backend_gives_the_scores_of_bert_score(tiny: Path, pairs: list[TextPair]) -> None:
    found = ReferenceBertScore(tiny, device="cpu").scores(pairs)
    assert np.abs(found - published(tiny, LAYERS, pairs)).max() < 1e-5


def test_fewer_layers_equal_those_of_bert_score(tiny: Path, pairs: list[TextPair]) -> None:
    some = pairs[:20]
    one_layer = ours(tiny, some, layers=1)
    assert np.abs(one_layer - published(tiny, 1, some)).max() < 1e-5
    assert np.abs(one_layer - ours(tiny, some)).max() > 1e-5


def test_a_roberta_equals_bert_score(tmp_path: Path, steps: list[str], pairs: list[TextPair]) -> None:
    folder = roberta(tmp_path / "tiny-roberta", steps)
    assert np.abs(ours(folder, pairs) - published(folder, LAYERS, pairs)).max() < 1e-5


def test_real_weights_equal_bert_score(pairs: list[TextPair]) -> None:
    folder = setting("BERT_MODEL")
    if not folder:
        pytest.skip("TOOLASSAY_BERT_MODEL names no folder with a model")
    layers = json.loads(Path(folder, "config.json").read_text())["num_hidden_layers"]
    some = [*pairs[:10], *pairs[40:50], *pairs[-4:]]
    assert np.abs(ours(Path(folder), some) - published(Path(folder), layers, some)).max() < 1e-5


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("kind", ["local:2", "dask", "dask, files by way of a storage"])
def test_workers_compute_the_same_bits(
    tiny: Path, pairs: list[TextPair], tmp_path: Path, kind: str, killed: bool
) -> None:
    """The workers load the model themselves, and one may die."""
    (tmp_path / "script.py").write_text(ON_ENGINE, encoding="utf-8")
    (tmp_path / "pairs.json").write_text(json.dumps(pairs), encoding="utf-8")
    embed = "toolassay.metrics.bertscore.encoder:BertEncoder.embed"
    dies = killed_at(embed, 1, tmp_path / "marker") if killed else {}
    one = scores_on("none", "one", tiny, tmp_path)
    if kind == "local:2":
        many = scores_on(kind, "many", tiny, tmp_path, **dies)
    else:
        pytest.importorskip("distributed")
        storage = tmp_path / "storage"
        with dask_cluster(tmp_path / "cluster", **dies) as engine:
            by_way = f"?files={storage.as_uri()}" if "files" in kind else ""
            many = scores_on(f"{engine}{by_way}", "many", tiny, tmp_path)
        assert storage.exists() == ("files" in kind)
    assert (tmp_path / "marker").exists() == killed
    assert np.array_equal(one, many)
    assert np.abs(one - ours(tiny, pairs)).max() < 1e-5


def scores_on(engine: str, name: str, model: Path, place: Path, **variables: str) -> NDArray[np.float64]:
    """The scores of `pairs.json` by a process of its own."""
    arguments = [sys.executable, str(place / "script.py"), str(model), str(place), engine, name]
    subprocess.run(arguments, env=environment(**variables), check=True, timeout=300)
    found: NDArray[np.float64] = np.load(place / f"{name}.npy")
    return found


ON_ENGINE = """
import json, sys
from pathlib import Path
from typing import Any
import numpy as np
from toolassay.engines import open_engine
from toolassay.metrics.bertscore import BertScore, encoder

if __name__ == "__main__":
    model, place, engine_name, name = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]
    encoder._SHARD_LETTERS["cpu"] = 3_000  # several shards for each worker
    pairs = list(map(tuple, json.loads((place / "pairs.json").read_text(encoding="utf-8"))))
    chosen = None if engine_name == "none" else engine_name
    with open_engine(chosen) as engine:
        score = BertScore(model, device="cpu", cache=False, engine=engine if chosen else None)
        np.save(place / f"{name}.npy", score.scores(pairs))
"""


def test_half_precision_is_within_a_thousandth(tiny: Path, pairs: list[TextPair]) -> None:
    """On the CPU, which computes in half precision too, only slowly."""
    half, full = (
        dict(scored(BertEncoder(tiny, LAYERS, device="cpu", half=half), pairs)) for half in (True, False)
    )
    differences = [np.abs(half[number] - full[number]).max() for number in full]
    assert 0 < max(differences) < 1e-3


def scored(model: BertEncoder, pairs: list[TextPair]) -> Iterator[tuple[int, NDArray[np.float64]]]:
    for numbers, rows in scored_blocks(model, pairs):
        yield from zip(numbers, rows, strict=True)


def test_blank_texts_score_nothing(tiny: Path) -> None:
    scores = ours(tiny, [("", "Use it"), ("Use it", " \n"), ("", ""), ("Use it", "Use it")])
    assert scores[:3].tolist() == [[0.0] * 3] * 3
    assert scores[3] == pytest.approx([1, 1, 1])


def test_half_a_surrogate_pair_is_no_reason_to_fail(tiny: Path) -> None:
    assert np.isfinite(ours(tiny, [("Use \ud83d it", "Use it")])).all()


def test_a_tokenizer_without_a_limit_cuts_where_the_model_ends(
    tiny: Path, tmp_path: Path, pairs: list[TextPair]
) -> None:
    unlimited = copied(tiny, tmp_path / "unlimited")
    path = unlimited / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    assert settings.pop("model_max_length") == 64
    path.write_text(json.dumps(settings))
    assert np.abs(ours(unlimited, pairs) - ours(tiny, pairs)).max() < 1e-5


def test_a_path_may_hold_any_letters(tiny: Path, tmp_path: Path) -> None:
    place = copied(tiny, tmp_path / "t5-like")
    some = [("Use it", "Use that")]
    assert np.abs(ours(place, some) - ours(tiny, some)).max() < 1e-6


def test_broken_weights_are_one_line(tiny: Path, tmp_path: Path) -> None:
    place = copied(tiny, tmp_path / "broken")
    (place / "model.safetensors").write_bytes(b"none")
    with pytest.raises(BertScoreError, match=r"^BERTScore is left out: broken failed"):
        ours(place, [("Use it", "Use that")])


def test_a_device_that_is_not_there_is_one_line(tiny: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a cuda device")
    with pytest.raises(BertScoreError, match="the device cuda is not available"):
        BertScore(tiny, device="cuda", cache=False).scores([("a", "b")])


def test_the_table_of_bert_score_has_the_published_layer() -> None:
    from bert_score.utils import model2layers

    assert model2layers[models.DEFAULT] == models._DEFAULT_LAYERS


def test_without_a_model_on_disk_the_default_says_how_to_get_one() -> None:
    score = BertScore(cache=False)
    assert score.name == "none"
    with pytest.raises(BertScoreError, match=r"roberta-large is not downloaded.*--bertscore_model"):
        score.scores([("a", "b")])


def test_a_model_of_the_hub_without_a_network_is_one_line() -> None:
    score = BertScore("roberta-base", cache=False)
    assert score.name.startswith("roberta-base_L10_no-idf_version=")
    with pytest.raises(BertScoreError, match="roberta-base is not in the cache and cannot be downloaded"):
        score.scores([("a", "b")])


def test_a_model_of_the_hub_without_a_known_layer_needs_one() -> None:
    with pytest.raises(BertScoreError, match="--bertscore_layers"):
        BertScore("acme/new-model", cache=False).scores([("a", "b")])


@pytest.mark.parametrize("name", ["bad name", "a--b"])
def test_what_is_no_name_of_the_hub_is_one_line(name: str) -> None:
    with pytest.raises(BertScoreError, match=r"^BERTScore is left out"):
        BertScore(name, layers=2, cache=False).scores([("a", "b")])


def test_a_folder_never_asks_the_hub(tiny: Path, root: Path) -> None:
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_HEAD = do_POST = do_GET

    script = """
import sys
from toolassay.metrics.bertscore import BertScore
print(BertScore(sys.argv[1], cache=False).scores([("Use it", "Use it")]).shape)
"""
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as hub:
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{hub.server_port}"
        environment = {**os.environ, "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": address, "PYTHONPATH": str(root)}
        done = subprocess.run(
            [sys.executable, "-c", script, str(tiny)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        hub.shutdown()
    assert done.stdout == "(1, 3)\n"
    assert done.stderr == ""
    assert asked == []


def test_a_model_downloaded_before_is_found_without_a_network(tiny: Path, tmp_path: Path, root: Path) -> None:
    home = tmp_path / "models--roberta-large"
    snapshot = home / "snapshots" / "abc"
    copied(tiny, snapshot)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("abc")
    script = """
from toolassay.metrics.bertscore import BertScore
score = BertScore(layers=2, cache=False)
print(score.name, score.scores([("Use it", "Use it")]).round(3).tolist())
"""
    environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path), "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("roberta-large_L2_no-idf_version=")
    assert done.stdout.endswith("(not comparable with roberta-large) [[1.0, 1.0, 1.0]]\n")
    assert done.stderr == ""
