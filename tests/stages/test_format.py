from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import text_tools
from toolassay import format_data
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, write_json, write_json_lines


def raw(number: int) -> dict[str, Any]:
    return {
        "id": f"0-{number:05d}",
        "seed": 0,
        "sampled_nodes": [{"id": "a"}],
        "sampled_links": [],
        "result": {
            "task_steps": ["Step 1"],
            "user_request": f"Request {number}: text",
            "invoking_graph": {"nodes": [{"id": "a", "input": ["text"]}], "links": []},
        },
    }


def build_folder(path: Path) -> Path:
    write_json(path / "tool_desc.json", text_tools("ab"))
    write_json(path / "benchmark.json", {"dependency_type": "resource"})
    write_json_lines(path / "data_raw.json", [raw(number) for number in range(3)])
    return path


def test_a_wrong_dependency_type_destroys_nothing(folder: Path) -> None:
    format_data(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(UsageError, match=r"benchmark\.json.*resource.*temporal.*--force") as caught:
        format_data(folder, dependency_type="temporal")
    assert caught.value.exit_code == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_force_takes_the_flag_and_leaves_the_record(folder: Path) -> None:
    for line in (records := [raw(number) for number in range(3)]):
        line["result"]["invoking_graph"]["nodes"][0]["input"] = [{"name": "day", "value": "Monday"}]
    write_json_lines(folder / "data_raw.json", records)
    told: list[str] = []
    result = format_data(folder, dependency_type="temporal", force=True, screen=Screen(say=told.append))
    assert result.kept == 3
    assert any("temporal" in notice for notice in told)
    assert read_json(folder / "benchmark.json")["dependency_type"] == "resource"


def test_a_missing_dependency_type_is_filled_in(folder: Path) -> None:
    (folder / "benchmark.json").unlink()
    format_data(folder, dependency_type="resource")
    assert read_json(folder / "benchmark.json")["dependency_type"] == "resource"


def test_an_unknown_critic_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="unknown critics 'nobody'"):
        format_data(folder, critics="nobody")
