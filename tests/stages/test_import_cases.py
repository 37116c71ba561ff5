"""Own cases come in from YAML, JSON Lines and CSV, and stay in the data set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import ROOM_TOOLS, agents_folder
from tests.support.running import lines_of, shell
from toolassay import import_cases
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.records.cases import CaseFact

CALLS = ("create_room", {"title": "Blue"}), ("get_room", {"room_id": "<node-0>.room_id"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return agents_folder(tmp_path / "rooms", ROOM_TOOLS, {"a": "Make the room Blue."}, *CALLS)


def written(folder: Path) -> dict[str, dict[str, Any]]:
    return {line["id"]: line for line in lines_of(folder / "data.json")}


def test_a_case_is_a_line_of_the_data_set(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("- {id: x, request: Which one?, facts: [{value: 2026-12-03}]}")
    import_cases(tmp_path / "c.yaml", folder)
    assert list(written(folder)) == ["a", "x"]
    case = written(folder)["x"]
    assert case["origin"] == "case" and case["facts"] == [{"value": "2026-12-03"}]
    assert [case[key] for key in ("type", "n_tools", "task_nodes", "task_links")] == [None] * 4
    assert [line["id"] for line in lines_of(folder / "user_requests.json")] == ["a", "x"]


def test_calls_are_a_plan_with_links(folder: Path, tmp_path: Path) -> None:
    calls = [{"tool": tool, "arguments": arguments} for tool, arguments in CALLS]
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "x", "request": "Go", "calls": calls}) + "\n{}\n")
    import_cases(tmp_path / "c.jsonl", folder)
    case = written(folder)["x"]
    assert (case["type"], case["n_tools"]) == ("chain", 2)
    assert case["task_links"] == [{"source": "create_room", "target": "get_room"}]


def test_a_bad_case_is_named_and_the_others_come_in(folder: Path, tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "c.yaml").write_text(
        "- {request: Fine, must_not_call: [get_room]}\n"
        "- {request: Nothing}\n"
        "- {request: Odd, facts: [{value: 1, unt: kg}]}\n"
        "- {request: Gone, must_not_call: [no_tool]}\n"
        "- {request: Wrong, calls: [{tool: get_room, arguments: {rom: 3}}]}\n"
    )
    done = import_cases(tmp_path / "c.yaml", folder, screen=Screen(say=told.append))
    assert [case.request for case in done.cases] == ["Fine"]
    places = [problem.removeprefix(f"{tmp_path}/c.yaml: ") for problem in done.problems]
    assert places[0].startswith("case 2: has nothing to judge")
    assert places[1].startswith("case 3: facts[0]: ") and "unt" in places[1]
    assert places[2] == "case 4: must_not_call: there is no tool 'no_tool'"
    assert places[3].startswith("case 5: calls: ") and "'rom'" in places[3]
    finished = shell("import", "cases", tmp_path / "c.yaml", "--data_dir", folder, cwd=tmp_path)
    assert finished.code == 3


def test_a_file_without_a_good_case_changes_nothing(folder: Path, tmp_path: Path) -> None:
    before = (folder / "data.json").read_bytes()
    (tmp_path / "c.yaml").write_text("- {request: Nothing}")
    with pytest.raises(UsageError, match="case 1"):
        import_cases(tmp_path / "c.yaml", folder)
    assert (folder / "data.json").read_bytes() == before


def test_csv_has_bare_facts_and_names(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(
        'request,facts,must_not_call\nHow many?,2,"get_room, create_room"\nWho?,Zoë,\n'
    )
    first, second = import_cases(tmp_path / "c.csv", folder).cases
    assert (first.facts, first.must_not_call) == ([CaseFact(2)], ["get_room", "create_room"])
    assert second.facts == [CaseFact("Zoë")]


def test_a_case_with_an_old_id_replaces_it(folder: Path, tmp_path: Path) -> None:
    for value in (1, 2):
        (tmp_path / "c.yaml").write_text(f"- {{id: x, request: How many?, facts: [{{value: {value}}}]}}")
        import_cases(tmp_path / "c.yaml", folder)
    assert written(folder)["x"]["facts"] == [{"value": 2}]
    assert len(written(folder)) == 2


def test_a_check_keeps_cases(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("- {id: x, request: How many?, facts: [{value: 2}]}")
    import_cases(tmp_path / "c.yaml", folder)
    done = shell("check", "--data_dir", folder, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "x" in written(tmp_path / "out")
    assert (tmp_path / "out/cases.jsonl").read_text() == (folder / "cases.jsonl").read_text()
