"""Scoring: found, named rightly, false alarms; with gates made up for the purpose."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from measurements.planted_defects.checking import Check
from measurements.planted_defects.examination import examine
from measurements.planted_defects.forms import EXPECTED
from measurements.planted_defects.samples import read_lines, write_lines
from measurements.planted_defects.scoring import Share
from measurements.planted_defects.table import as_json, falls_short, markdown

Verdict = Callable[[Any, dict[Any, str]], dict[str, Any]]


def gates(verdict: Verdict) -> Check:
    """A check that is told the key, and says of each sample what `verdict` says."""

    def check(folder: Path, out: Path) -> None:
        out.mkdir()
        kinds = {line["id"]: line["kind"] for line in read_lines(folder / "key.jsonl")}
        lines = [{"id": r["id"], **verdict(r["id"], kinds)} for r in read_lines(folder / "data.json")]
        write_lines(out / "gates.jsonl", lines)

    return check


def perfect(id: Any, kinds: dict[Any, str]) -> dict[str, Any]:
    if id not in kinds:
        return {
            "level": "pass",
            "findings": [{"gate": "critic", "state": "not applicable", "reason": "no model"}],
        }
    gate = EXPECTED[kinds[id]][0]
    return {"level": "reject", "findings": [{"gate": gate, "reason": "it is so", "where": "task_nodes[0]"}]}


def blind(id: Any, kinds: dict[Any, str]) -> dict[str, Any]:
    return {"level": "pass", "findings": []}


def stern(id: Any, kinds: dict[Any, str]) -> dict[str, Any]:
    return {"level": "quarantine", "findings": [{"gate": "leak", "reason": "who knows", "where": ""}]}


@pytest.fixture
def office(root: Path) -> Path:
    return root / "measurements" / "held_back" / "office"


def test_perfect_gates_find_all_and_hold_back_nothing(office: Path, tmp_path: Path) -> None:
    result = examine([office], [1, 2], tmp_path, gates(perfect))
    assert result.judged and all(line.found and line.named for line in result.judged)
    assert result.false_alarms() == Share(0, 71)
    assert falls_short(result) == []
    assert (tmp_path / "office" / "2" / "key.jsonl").exists()
    assert as_json(result)["kinds"]["unknown tool"]["count"] > 0


def test_blind_gates_miss_all_and_each_miss_is_listed(office: Path, tmp_path: Path) -> None:
    result = examine([office], [1, 2], tmp_path, gates(blind))
    assert not any(line.found or line.named for line in result.judged)
    assert len(falls_short(result)) == 8
    text = markdown(result)
    assert all(
        f"- office, seed {line.seed}, {line.planted.id}: {line.planted.kind}" in text
        for line in result.judged
    )


def test_a_clean_sample_counts_once_however_often_it_is_held_back(office: Path, tmp_path: Path) -> None:
    result = examine([office], [1, 2, 3], tmp_path, gates(stern))
    assert result.false_alarms("office") == Share(71, 71)
    assert "office: 100.0% held back" in falls_short(result)
    assert "leak: who knows (sample)" in markdown(result)
    leaked = [line.named for line in result.judged if line.planted.kind == "tool name leaked"]
    assert all(leaked) and not any(
        line.named for line in result.judged if line.planted.kind == "unknown tool"
    )


def test_unclean_samples_are_named_and_not_counted(office: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    lines = read_lines(office / "data.json")
    lines[0]["user_request"] = "Do something."
    write_lines(folder / "data.json", lines)
    (folder / "tool_desc.json").write_bytes((office / "tool_desc.json").read_bytes())
    result = examine([folder], [1], tmp_path / "out", gates(stern))
    assert list(result.unclean["mine"]) == [lines[0]["id"]]
    assert lines[0]["id"] not in result.clean["mine"]
    assert "is not in the request" in markdown(result).partition("## Not counted")[2]


def test_nothing_here_imports_the_gates(root: Path) -> None:
    modules = sorted((root / "measurements" / "planted_defects").rglob("*.py"))
    names = ["measurements.planted_defects." + p.stem for p in modules if p.parent.name == "planted_defects"]
    names = [name for name in names if not name.endswith(("__init__", "__main__"))]
    code = (
        f"import sys, {', '.join(names)}; print([m for m in sys.modules if m.startswith('toolassay.gates')])"
    )
    environment = os.environ | {"PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.replace("'", '"')) == []
