from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from toolassay.benchmarks.registry import benchmark_of
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json
from toolassay.records.data_folder import DataFolder, find_file
from toolassay.tools.library import Parameter, Tool, ToolLibrary

TYPED = ToolLibrary([Tool("a", inputs=("text",))])
UNTYPED = ToolLibrary([Tool("a", parameters=(Parameter("day"),))])


def test_the_flag_wins_and_a_contradiction_is_said(tmp_path: Path) -> None:
    write_json(tmp_path / "benchmark.json", {"dependency_type": "temporal"})
    told: list[str] = []
    assert DataFolder(tmp_path).dependency_type("resource", say=told.append) == "resource"
    assert len(told) == 1
    assert "temporal" in told[0]


def test_then_benchmark_json_then_resource(tmp_path: Path) -> None:
    assert DataFolder(tmp_path).dependency_type(None, library=TYPED) == "resource"
    write_json(tmp_path / "benchmark.json", {"dependency_type": "temporal"})
    assert DataFolder(tmp_path).dependency_type(None, library=TYPED) == "temporal"


def test_a_library_without_types_is_taken_as_temporal_and_that_is_said(tmp_path: Path) -> None:
    told: list[str] = []
    assert DataFolder(tmp_path).dependency_type(None, library=UNTYPED, say=told.append) == "temporal"
    assert told


def test_an_unknown_dependency_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="resource, temporal or schema"):
        DataFolder(tmp_path).dependency_type("spatial")


def test_the_date_is_that_of_the_folder_unless_the_flag_names_one(tmp_path: Path) -> None:
    assert DataFolder(tmp_path).today(None) is None
    assert DataFolder(tmp_path).benchmark.environment == {}
    assert DataFolder(tmp_path).today("2026-11-30") == date(2026, 11, 30)
    write_json(tmp_path / "benchmark.json", {"today": "2026-12-01"})
    assert DataFolder(tmp_path).today(None) == DataFolder(tmp_path).today("2026-12-01") == date(2026, 12, 1)
    assert DataFolder(tmp_path).benchmark.environment == {"TOOLASSAY_TODAY": "2026-12-01"}


def test_another_date_than_that_of_the_samples_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data_raw.json").touch()
    with pytest.raises(UsageError, match="today is not set, --today says 2026-11-30"):
        DataFolder(tmp_path).today("2026-11-30")
    write_json(tmp_path / "benchmark.json", {"today": "2026-12-01"})
    with pytest.raises(UsageError, match="today is 2026-12-01, --today says 2026-11-30"):
        DataFolder(tmp_path).today(date(2026, 11, 30))
    assert DataFolder(tmp_path).today("2026-11-30", force=True) == date(2026, 11, 30)


@pytest.mark.parametrize("text", ["2026-02-30", "30.11.2026", "20261130", "today", ""])
def test_what_is_no_date_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="write YYYY-MM-DD"):
        DataFolder(tmp_path).today(text)
    write_json(tmp_path / "benchmark.json", {"today": text})
    with pytest.raises(UsageError, match="today"):
        DataFolder(tmp_path).require()


def test_describing_a_folder_keeps_what_was_known(tmp_path: Path) -> None:
    write_json(tmp_path / "benchmark.json", {"benchmark": "workbench", "source": "ours"})
    folder = DataFolder(tmp_path)
    folder.update_benchmark(dependency_type="temporal")
    expected = {"benchmark": "workbench", "source": "ours", "dependency_type": "temporal"}
    assert folder.written_benchmark == DataFolder(tmp_path).written_benchmark == expected


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("workbnch", 'write "workbench"'),
        ("mine", "write one of taskbench, workbench, classic"),
    ],
)
def test_an_unknown_benchmark_is_refused_with_the_nearest_name(tmp_path: Path, name: str, fix: str) -> None:
    write_json(tmp_path / "benchmark.json", {"benchmark": name})
    with pytest.raises(UsageError) as caught:
        benchmark_of(DataFolder(tmp_path).require())
    place = tmp_path / "benchmark.json"
    assert str(caught.value).startswith(f"{place}: unknown benchmark {name!r}. Fix: {fix}")


def test_a_file_is_looked_up_as_given_then_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inside = tmp_path / "data" / "tool_desc.json"
    inside.parent.mkdir()
    inside.write_text("inside")
    assert find_file("tool_desc.json", tmp_path / "data") == inside
    (tmp_path / "tool_desc.json").write_text("here")
    assert find_file("tool_desc.json", tmp_path / "data").read_text() == "here"
    with pytest.raises(UsageError, match="no such file"):
        find_file("other.json", tmp_path / "data")
