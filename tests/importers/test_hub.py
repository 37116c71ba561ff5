"""The hub, through the real client against a real server on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.hub_rows import TOOLS, hub_row, repository_row, write_rows
from tests.support.hub_server import NAME, REVISION, serving
from toolassay import import_taskbench
from toolassay.errors import ToolassayError, UsageError


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    write_rows(folder / "data_multimedia" / "data.json", [hub_row(number) for number in range(3)])
    (folder / "data_multimedia" / "tool_desc.json").write_text(json.dumps(TOOLS))
    (folder / "README.md").write_text("# TaskBench")
    return folder


def test_only_what_is_wanted_is_fetched(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # of this test's own server
    with serving(repository) as (address, asked):
        monkeypatch.setenv("HF_ENDPOINT", address)
        folder = import_taskbench(tmp_path / "data", domain="multimedia", hub=NAME)
        with pytest.raises(UsageError, match="holds no labels of huggingface"):
            import_taskbench(tmp_path / "other", domain="huggingface", hub=NAME)
        with pytest.raises(ToolassayError, match="no/such cannot be fetched from the hub"):
            import_taskbench(tmp_path / "other", domain="multimedia", hub="no/such")
    fetched = {line.rpartition("/")[2] for line in asked if line.startswith("GET /datasets")}
    assert fetched == {"data.json", "tool_desc.json"}
    labels = [json.loads(line) for line in folder.data.read_text().splitlines()]
    assert labels == [repository_row(number) for number in range(3)]
    assert folder.written_benchmark["revision"] == REVISION
    assert folder.written_benchmark["source"].startswith(f"data_multimedia/data.json of {NAME} on ")
    assert not (tmp_path / "other").exists()
