"""What a data set is called and consists of, for tables and the report's page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.builders import chain, chat_folder, data_folder, scored_folder
from toolassay import build_graph
from toolassay.files.data_files import write_json
from toolassay.records.data_folder import DataFolder
from toolassay.stages import report as module
from toolassay.stages.leaderboard import data_title
from toolassay.stages.report import data_summary


def folder_of(path: Path) -> DataFolder:
    folder = scored_folder(path, {str(n): chain("a", "b") for n in range(3)}, {}, tools="abcd")
    build_graph(folder, dependency_type="resource")
    return DataFolder(folder)


def test_a_set_of_plans(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    rows = [{"gate": "id", "entering": 3, "reject": 0, "quarantine": 0, "leaving": 3}]
    write_json(
        folder.path / "funnel.json",
        {"input": 3, "levels": {}, "gates": {}, "funnel": rows, "signature": "check"},
    )
    found = data_summary(folder)
    assert found
    assert found["requests"] == 3
    assert found["tools"]["never_used"] == ["c", "d"]
    assert found["funnel"] == rows
    assert [node[0] for node in found["graph"]["nodes"]] == ["a", "b", "c", "d"]
    assert [0, 1, 3] in found["graph"]["links"]
    assert len(found["graph"]["links"]) == found["graph"]["number_of_links"] == 12


def test_of_a_large_graph_only_used_links_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path)
    monkeypatch.setattr(module, "MOST_LINKS", 5)
    found = data_summary(folder)
    assert found
    assert found["graph"]["links"] == [[0, 1, 3]]
    assert found["graph"]["every"] is False


def test_what_cannot_be_read_has_no_summary(tmp_path: Path) -> None:
    assert data_summary(DataFolder(tmp_path)) is None
    folder = folder_of(tmp_path)
    folder.data.write_text("no json\n")
    assert data_summary(folder) is None


@pytest.mark.parametrize(
    ("name", "shown", "title"),
    [
        ("data_huggingface", "data_huggingface", "TaskBench (huggingface)"),
        ("data_multimedia", "mine", "TaskBench (multimedia, mine)"),
        ("data_workbench", "data_workbench", "WorkBench"),
        ("data_workbench", "wb7", "WorkBench (wb7)"),
        ("data_classic", "data_classic", "CLASSic"),
        ("data_classic", "a/data_classic", "CLASSic (a/data_classic)"),
    ],
)
def test_bundled_data_are_called_by_their_benchmark_and_a_name_of_ones_own(
    root: Path, name: str, shown: str, title: str
) -> None:
    assert data_title(DataFolder(root / name), shown) == title


def test_a_name_alone_makes_no_benchmark(tmp_path: Path) -> None:
    own = DataFolder(data_folder(tmp_path / "data_multimedia"))
    assert data_title(own, "data_multimedia") == "data_multimedia"
    (tmp_path / "data_taskbench").mkdir()
    assert data_title(DataFolder(tmp_path / "data_taskbench"), "data_taskbench") == "data_taskbench"


def test_imported_chats_are_those_of_the_benchmark(tmp_path: Path) -> None:
    folder = chat_folder(tmp_path / "chats")
    facts = {"benchmark": "classic", "source": "the hub", "source_sha256": {"messages": "0"}}
    (folder / "benchmark.json").write_text(json.dumps(facts))
    assert data_title(DataFolder(folder), "chats") == "CLASSic (chats)"
