"""Published tables, from a folder or the hub, as a data folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builders import chat_folder
from tests.support.hub_server import REVISION, serving
from tests.support.running import files_below, inside
from toolassay import import_classic, infer
from toolassay.benchmarks.classic.data import read_data
from toolassay.errors import ToolassayError, UsageError

CARD = """---
configs:
- config_name: messages
  data_files:
  - split: test
    path: chats/said-*.csv
- config_name: workflows
  data_files: flows.csv
---
Made up.
"""


def as_parquet(folder: Path) -> None:
    """The tables as a data set that was pushed to the hub: a folder a table, with missing cells."""
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    for path in list(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]
        for row in rows:
            if "request_idx" in row:
                row["request_idx"] = float(row["request_idx"] or 0)
        (folder / path.stem).mkdir()
        half = len(rows) // 2
        for number, part in enumerate((rows[:half], rows[half:])):
            parquet.write_table(arrow.Table.from_pylist(part), folder / path.stem / f"test-{number}.parquet")
        path.unlink()


def as_the_card_says(folder: Path) -> None:
    """Tables under other names, which the card tells; the messages in two files."""
    (folder / "README.md").write_text(CARD)
    (folder / "workflows.csv").rename(folder / "flows.csv")
    head, *rows = (folder / "messages.csv").read_text().splitlines(keepends=True)
    (folder / "messages.csv").unlink()
    (folder / "chats").mkdir()
    (folder / "chats/said-0.csv").write_text(head + "".join(rows[:2]))
    (folder / "chats/said-1.csv").write_text(head + "".join(rows[2:]))


def as_it_is(folder: Path) -> None: ...


@pytest.mark.parametrize("form", [as_it_is, as_the_card_says, as_parquet])
def test_every_form_becomes_the_same_data(tmp_path: Path, form: Callable[[Path], None]) -> None:
    expected = read_data(chat_folder(tmp_path / "downloaded"))
    form(tmp_path / "downloaded")
    folder = import_classic(tmp_path / "data", folder=tmp_path / "downloaded")
    assert read_data(folder.path) == expected
    assert folder.benchmark.benchmark == "classic" and folder.benchmark.source == "downloaded"
    assert infer(folder.path, llm="offline").written == 5
    before = files_below(folder.path)
    import_classic(tmp_path / "data", folder=tmp_path / "downloaded")
    assert files_below(folder.path) == before


def test_from_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # of this test's own server
    chat_folder(tmp_path / "repository")
    as_the_card_says(tmp_path / "repository")
    (tmp_path / "repository/other.bin").write_text("not wanted")
    with serving(tmp_path / "repository", "acme/chats") as (address, asked):
        monkeypatch.setenv("HF_ENDPOINT", address)
        folder = import_classic(tmp_path / "data", repo="acme/chats")
        with pytest.raises(ToolassayError, match="no/such cannot be fetched from the hub"):
            import_classic(tmp_path / "other", repo="no/such")
    fetched = {line.rpartition("/")[2] for line in asked if line.startswith("GET /datasets")}
    assert fetched == {"README.md", "said-0.csv", "said-1.csv", "flows.csv", "domains.csv"}
    assert folder.written_benchmark["revision"] == REVISION
    assert len(read_data(folder.path).examples) == 5
    assert not (tmp_path / "other").exists()


def test_a_malformed_row_leaves_nothing_behind(tmp_path: Path) -> None:
    path = chat_folder(tmp_path / "downloaded") / "messages.csv"
    path.write_text(path.read_text().replace("w-desk", "w-nap"))
    with pytest.raises(UsageError, match=r"downloaded/messages\.csv:5: the label 'w-nap' is not a workflow"):
        import_classic(tmp_path / "data", folder=tmp_path / "downloaded")
    assert {path.name for path in tmp_path.iterdir()} == {"downloaded"}


def test_the_command(tmp_path: Path) -> None:
    given = ("classic", "--data_dir", tmp_path / "data")
    done = inside("import", *given, "--folder", chat_folder(tmp_path / "downloaded"))
    assert "5 messages of 2 domains with 3 workflows, from downloaded" in done.out
    assert "no table 'jailbreak_prompts'" in done.err
    assert json.loads((tmp_path / "data/benchmark.json").read_text())["benchmark"] == "classic"
    assert "one source is needed" in inside("import", *given).error
    assert "no such folder" in inside("import", *given, "--folder", tmp_path / "no").error
    (tmp_path / "downloaded/domains.csv").unlink()
    assert "has no table 'domains'" in inside("import", *given, "--from", tmp_path / "downloaded").error
