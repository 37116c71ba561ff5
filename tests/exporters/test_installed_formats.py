"""An export format that another package installs, from its wheel to the files of an export."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.support.gold_samples import some_labels, write_folder
from tests.support.running import inside, lines_of
from tests.support.wheels import installed
from toolassay import export
from toolassay.errors import UsageError
from toolassay.exporters.formats import formats

PACKAGE = Path("tests") / "packages" / "pairs_export"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    return installed(root / PACKAGE, tmp_path_factory.mktemp("site"))


def test_it_is_listed_and_writes_files_and_a_card(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = write_folder(tmp_path / "data", some_labels()), tmp_path / "out"
    with pytest.raises(UsageError, match="unknown format 'pairs'"):
        export(folder, to="pairs", out=out)
    last = formats()[-1]
    assert "pairs:" not in inside("export", "--help").out
    monkeypatch.syspath_prepend(str(package))
    listed = " ".join(inside("export", "--help").out.split())
    assert f"{last.name}: {last.help}; pairs: prompts and completions" in listed

    export(folder, to="jsonl", out=tmp_path / "rows", splits="none")
    rows = lines_of(tmp_path / "rows" / "train.jsonl")
    done = inside("export", "--data_dir", folder, "--to", "pairs", "--out", out, "--splits", "none")
    assert done.code == 0
    assert lines_of(out / "train.jsonl") == [
        {"prompt": row["request"], "completion": ", ".join(call["tool"] for call in row["calls"])}
        for row in rows
    ]
    assert {path.name for path in out.iterdir()} == {"train.jsonl", "README.md", "export.json"}
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "One pair per line." in card and "the tools in order" in card and "dataset_info" not in card


def test_a_format_without_chats_refuses_recoveries(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(package))
    folder = write_folder(tmp_path / "data", some_labels())
    with pytest.raises(UsageError, match="use --to openai or sharegpt"):
        export(folder, to="pairs", out=tmp_path / "out", results="executed", recoveries=0.5)


def test_the_documentation_shows_this_very_format(root: Path) -> None:
    page = (root / "docs" / "export.md").read_text(encoding="utf-8")
    source = root / PACKAGE / "pairs_export.py"
    assert page.split("```python\n")[1].split("```")[0] == source.read_text(encoding="utf-8")


def test_the_table_of_the_documentation_loads_as_it_was_written(
    tmp_path: Path, package: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.syspath_prepend(str(package))
    page = (root / "docs" / "export.md").read_text(encoding="utf-8")
    example: dict[str, Any] = {}
    exec(compile(page.split("```python\n")[2].split("```")[0], "export.md", "exec"), example)
    monkeypatch.setattr("toolassay.exporters.formats.formats", lambda: (example["PairsTable"](),))
    folder, out = write_folder(tmp_path / "data", some_labels()), tmp_path / "out"
    export(folder, to="pairs-tsv", out=out, splits="none")
    with (out / "train.tsv").open(encoding="utf-8", newline="") as stream:
        pairs = list(csv.DictReader(stream, delimiter="\t"))
    requests = [label["user_request"] for label in lines_of(folder / "data.json")]
    assert [pair["prompt"] for pair in pairs] == requests
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))
    assert list(loaded["train"]) == pairs
