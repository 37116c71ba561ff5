from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolassay.errors import UsageError
from toolassay.metrics.bertscore import model as models
from toolassay.metrics.bertscore.model import BertModel, BertScoreError, choose_model, fingerprint


def build_folder(path: Path) -> Path:
    """What looks like a model until it is loaded."""
    place = path.rename(path.with_name("my|model"))
    (place / "config.json").write_text(json.dumps({"num_hidden_layers": 6}))
    (place / "model.safetensors").write_bytes(b"weights")
    (place / "tokenizer.json").write_text("{}")
    return place


@pytest.fixture
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if torch and the packages around it were there."""
    monkeypatch.setattr(models, "_PACKAGES", {})
    monkeypatch.setattr(models, "_versions", lambda: "version=0(hug_trans=0)")


def test_missing_packages_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    with pytest.raises(BertScoreError) as caught:
        choose_model("some/model")
    assert str(caught.value) == (
        "BERTScore is left out: not installed: torch, transformers, bert-score. "
        "Fix: in the checkout: pip install '.[bert]'"
    )


@pytest.mark.usefixtures("_installed")
def test_a_folder_uses_all_its_layers_by_default(folder: Path) -> None:
    assert choose_model(folder) == BertModel("my|model", 6, folder, is_named_folder=True)
    assert choose_model(str(folder), 4).layers == 4
    with pytest.raises(BertScoreError, match="has 6 layers, not 7"):
        choose_model(folder, 7)
    (folder / "config.json").write_text("{}")
    assert choose_model(folder, 7).layers == 7
    with pytest.raises(BertScoreError, match="--bertscore_layers"):
        choose_model(folder)


@pytest.mark.usefixtures("_installed")
def test_a_folder_is_known_by_its_hash_and_never_comparable(folder: Path) -> None:
    signature = choose_model(folder).signature
    assert signature == (
        f"folder:my_model@sha256-{fingerprint(folder)[:12]}_L6_no-idf_version=0(hug_trans=0)"
        "(not comparable with roberta-large)"
    )
    named = folder.with_name("roberta-large")
    folder.rename(named)
    assert "not comparable" in choose_model(named, 17 - 11).signature


@pytest.mark.usefixtures("_installed")
def test_only_the_published_layer_of_roberta_large_is_comparable() -> None:
    names = [
        ("roberta-large", 17),
        ("FacebookAI/roberta-large", 17),
        ("roberta-large", 24),
        ("roberta-base", 10),
    ]
    signatures = [BertModel(name, layers, None).signature for name, layers in names]
    assert ["not comparable" in text for text in signatures] == [False, False, True, True]
    assert signatures[0] == "roberta-large_L17_no-idf_version=0(hug_trans=0)"


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_the_hash_is_that_of_weights_configuration_and_tokenizer(folder: Path, name: str) -> None:
    before = fingerprint(folder)
    (folder / "README.md").write_text("says nothing about the scores")
    assert fingerprint(folder) == before
    (folder / name).write_text('{"other": 1}')
    assert fingerprint(folder) != before


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_without_a_whole_model_is_a_wrong_flag(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(UsageError, match="holds no model"):
        choose_model(folder)


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize(
    "given", ["./nowhere", "/nowhere/at/all", "a/b/c", "nowhere/", "models/nowhere", Path("nowhere")]
)
def test_a_folder_that_does_not_exist_is_a_wrong_flag_with_or_without_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | Path, installed: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    monkeypatch.setattr(models, "find_spec", lambda _: installed or None)
    with pytest.raises(UsageError, match=r"no such folder\. Fix: --bertscore_model takes a folder"):
        choose_model(given)


def test_a_model_is_downloaded_once_and_then_taken_from_the_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloaded: list[str] = []

    def download(name: str) -> Path:
        downloaded.append(name)
        return folder

    monkeypatch.setattr(models, "_versions", lambda: "v")
    monkeypatch.setattr(models, "_in_hub_cache", lambda _: folder if downloaded else None)
    monkeypatch.setattr(models, "_download", download)
    model = BertModel("acme/m", 1, None)
    assert "acme/m_L1" in model.signature
    assert downloaded == []
    assert model.key.startswith(fingerprint(folder))
    assert model.files() == folder
    assert downloaded == ["acme/m"]
