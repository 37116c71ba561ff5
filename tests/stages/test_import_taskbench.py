from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import inside
from toolassay import evaluate, import_taskbench, infer
from toolassay.benchmarks.taskbench import importing as stage
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json, write_json_lines

TYPES = {"input-type": ["text"], "output-type": ["text"]}
TOOLS = {"nodes": [{"id": name, "desc": f"{name}.", **TYPES} for name in ("Summariser", "Translator")]}
LINKS = [{"source": "Summariser", "target": "Translator", "type": "text"}]


def row(number: int) -> dict[str, Any]:
    nodes = [{"task": "Summariser", "arguments": ["x"]}, {"task": "Translator", "arguments": ["<node-0>"]}]
    links = [{"source": "Summariser", "target": "Translator"}]
    return {
        "id": str(number),
        "instruction": f"Sum 'x{number}' up in English.",
        "tool_steps": json.dumps(["Sum up", "Translate"]),
        "tool_nodes": json.dumps(nodes),
        "tool_links": json.dumps(links),
        "type": "chain",
    }


@pytest.fixture
def downloaded(tmp_path: Path) -> Path:
    """Files of the hub, as they lie in a download."""
    folder = tmp_path / "downloaded"
    place = folder / "data_multimedia"
    write_json_lines(place / "data.json", [row(number) for number in range(3)])
    write_json(place / "tool_desc.json", TOOLS)
    write_json(place / "graph_desc.json", {**TOOLS, "links": LINKS})
    write_json(place / "alignment_ids.json", {})
    return folder


def take(downloaded: Path, target: Path, **options: Any) -> list[str]:
    told: list[str] = []
    screen = Screen(say=told.append, show=told.append)
    import_taskbench(target, **{"domain": "multimedia", "folder": downloaded, "screen": screen, **options})
    return told


def test_every_stage_works_on_what_was_imported(downloaded: Path, tmp_path: Path) -> None:
    target = tmp_path / "data"
    told = take(downloaded, target)
    assert told == [f"{target}: 3 requests with gold plans, from data_multimedia/data.json of downloaded"]
    assert sorted(path.name for path in target.iterdir()) == [
        *("alignment_ids.json", "benchmark.json", "data.json", "graph_desc.json", "tool_desc.json"),
        "user_requests.json",
    ]
    assert json.loads((target / "benchmark.json").read_text())["domain"] == "multimedia"
    infer(target, llm="offline")
    result = evaluate(target, llm="offline")
    assert result.evaluation.groups["overall_overall"].strict["n_expected"] == 3


def test_importing_again_changes_nothing_and_other_data_are_refused(downloaded: Path, tmp_path: Path) -> None:
    target = tmp_path / "data"
    take(downloaded, target)
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    take(downloaded, target)
    write_json_lines(downloaded / "data_multimedia" / "data.json", [row(9)])
    with pytest.raises(UsageError, match="already exists with other content"):
        take(downloaded, target)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before
    assert {path.name for path in tmp_path.iterdir()} == {"data", "downloaded"}


def test_a_malformed_row_leaves_nothing_behind(downloaded: Path, tmp_path: Path) -> None:
    rows = [row(0), {**row(1), "tool_nodes": "[{"}]
    write_json_lines(downloaded / "data_multimedia" / "data.json", rows)
    with pytest.raises(UsageError, match=r"data\.json:2: .*task_nodes"):
        take(downloaded, tmp_path / "data")
    assert {path.name for path in tmp_path.iterdir()} == {"downloaded"}


def test_where_the_tools_come_from_is_said(
    downloaded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (downloaded / "data_multimedia" / "tool_desc.json").unlink()
    assert any("data_multimedia/tool_desc.json" in line for line in take(downloaded, tmp_path / "bundled"))
    write_json(tmp_path / "mine.json", TOOLS)
    told = take(downloaded, tmp_path / "given", tools=tmp_path / "mine.json")
    assert f"the tools are those of {tmp_path / 'mine.json'}" in told
    monkeypatch.setattr(stage, "_CHECKOUT", tmp_path)
    told = take(downloaded, tmp_path / "without")
    assert any(line.startswith(f"{tmp_path / 'without' / 'tool_desc.json'} is needed") for line in told)


def test_the_command(downloaded: Path, tmp_path: Path) -> None:
    given = ("import", "taskbench", "--from", downloaded, "--data_dir", tmp_path / "data", "--domain")
    assert "3 requests" in inside(*given, "multimedia").out
    assert "holds no labels of huggingface" in inside(*given, "huggingface").error
