from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import chat_folder, data_folder

from toolassay.data_folder import DataFolder
from toolassay.stages.scored_folder import data_title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("data_multimedia", "TaskBench (multimedia)"),
        ("data_huggingface", "TaskBench (huggingface)"),
        ("data_dailylifeapis", "TaskBench (dailylifeapis)"),
        ("data_workbench", "WorkBench"),
        ("data_classic", "CLASSic"),
    ],
)
def test_bundled_data_are_called_by_their_benchmark(root: Path, name: str, title: str) -> None:
    assert data_title(DataFolder(root / name), name) == title


def test_a_library_in_a_folder_of_another_name_has_both(root: Path) -> None:
    assert data_title(DataFolder(root / "data_multimedia"), "mine") == "TaskBench (multimedia, mine)"
    assert data_title(DataFolder(root / "data_workbench"), "wb7") == "WorkBench (wb7)"
    assert data_title(DataFolder(root / "data_classic"), "a/data_classic") == "CLASSic (a/data_classic)"


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
