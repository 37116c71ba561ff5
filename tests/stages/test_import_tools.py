"""Importing tools into a folder: what is written, refused, updated; proven with an installed importer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import Finished, inside
from tests.support.wheels import installed
from toolassay import import_tools
from toolassay.errors import UsageError
from toolassay.tools.library import ToolLibrary

ROWS = "name,description,arguments\nfind room,Finds a room.,day guests\nbook,,room\n"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    return installed(root / "tests" / "packages" / "csv_tools", tmp_path_factory.mktemp("site"))


@pytest.fixture
def sheet(tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(package))
    (tmp_path / "tools.csv").write_text(ROWS)
    return tmp_path / "tools.csv"


def run(sheet: Path, *more: str) -> Finished:
    return inside("import", "csv", sheet, "--data_dir", sheet.parent / "mine", *more)


def written(sheet: Path, name: str) -> Any:
    return json.loads((sheet.parent / "mine" / name).read_text())


def test_tools_report_and_benchmark_are_written(sheet: Path) -> None:
    done = run(sheet)
    assert done.code == 0
    assert "written (2 tools, 0 losses, 1 warning)" in done.out
    assert ToolLibrary.load(sheet.parent / "mine" / "tool_desc.json").ids == ("find_room", "book")
    report = written(sheet, "import_report.json")
    (warning,) = report.pop("warnings")
    assert (warning["tool"], warning["field"]) == ("book", "description")
    origin = {"kind": "csv", "source": str(sheet)}
    assert report == {**origin, "n_tools": 2, "skipped": [], "losses": []}
    benchmark = written(sheet, "benchmark.json")
    assert (benchmark["imported"], benchmark["dependency_type"]) == (origin, "schema")


def test_a_skipped_part_is_exit_code_3(sheet: Path) -> None:
    sheet.write_text(ROWS + ",No name.,a\n")
    done = run(sheet)
    assert done.code == 3
    assert "has no name" in done.out
    assert written(sheet, "import_report.json")["skipped"] == [{"where": "line 4", "reason": "has no name"}]


def test_the_same_import_again_changes_nothing(sheet: Path) -> None:
    run(sheet)
    before = {path: path.read_bytes() for path in (sheet.parent / "mine").iterdir()}
    done = run(sheet)
    assert (done.code, "up to date" in done.out) == (0, True)
    assert {path: path.read_bytes() for path in (sheet.parent / "mine").iterdir()} == before


def test_an_update_lists_the_changes_and_keeps_the_former_tools(sheet: Path) -> None:
    run(sheet)
    former = (sheet.parent / "mine" / "tool_desc.json").read_bytes()
    sheet.write_text("name,description,arguments\nfind room,Finds it.,day\npay,Pays.,amount\n")
    done = run(sheet, "--update")
    assert done.code == 0
    assert "added: pay\nremoved: book\nchanged: find_room (desc, parameters, input_schema)\n" in done.out
    assert [path.read_bytes() for path in (sheet.parent / "mine").glob("tool_desc.2*.json")] == [former]
    assert "no tool was added, removed or changed" in run(sheet, "--update").out


@pytest.mark.parametrize(
    ("recorded", "expected"), [("temporal", "temporal"), ("schema", "schema"), ("resource", "schema")]
)
def test_an_update_keeps_what_plans_mean_unless_the_tools_had_types(
    recorded: str, expected: str, sheet: Path
) -> None:
    run(sheet)
    benchmark = sheet.parent / "mine" / "benchmark.json"
    benchmark.write_text(json.dumps({"benchmark": "taskbench", "dependency_type": recorded}))
    sheet.write_text("name,description,arguments\npay,Pays.,amount\n")
    assert run(sheet, "--update").code == 0
    assert written(sheet, "benchmark.json")["dependency_type"] == expected


def test_force_replaces_tools_of_any_origin(sheet: Path) -> None:
    mine = sheet.parent / "mine"
    mine.mkdir()
    (mine / "tool_desc.json").write_text('{"nodes": [{"id": "mine", "desc": "Mine."}]}')
    assert run(sheet).code == 2
    assert run(sheet, "--force").code == 0
    assert [node["id"] for node in written(sheet, "tool_desc.json")["nodes"]] == ["find_room", "book"]


def test_options_of_the_importer_reach_it(sheet: Path) -> None:
    sheet.write_text(ROWS.replace(",", ";"))
    assert run(sheet, "--delimiter", ";").code == 0
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        import_tools("csv", sheet, sheet.parent / "mine", colour="red")  # type: ignore[call-arg]


def test_an_unknown_kind_and_a_missing_source_are_one_line(sheet: Path) -> None:
    with pytest.raises(UsageError, match="unknown kind 'soap'"):
        import_tools("soap", sheet, sheet.parent / "mine")
    done = inside("import", "csv", "nowhere.csv", "--data_dir", sheet.parent / "mine")
    assert (done.code, "nowhere.csv: cannot be read" in done.error) == (2, True)


def test_the_documentation_shows_this_very_importer(root: Path) -> None:
    page = (root / "docs" / "import.md").read_text(encoding="utf-8")
    source = root / "tests" / "packages" / "csv_tools" / "csv_tools.py"
    assert page.split("```python\n")[1].split("```")[0] == source.read_text(encoding="utf-8")
