"""Generation until enough samples pass, and coverage after the gates."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import ROOT
from tests.support.running import inside
from toolassay import generate
from toolassay.cli.main import load, run
from toolassay.console.screen import Screen
from toolassay.records.data_folder import DataFolder
from toolassay.runs.budget import Budget
from toolassay.stages.generate import Passing, passing


def multimedia(path: Path) -> Path:
    path.mkdir(parents=True)
    for name in ("tool_desc.json", "graph_desc.json"):
        shutil.copy(ROOT / "data_multimedia" / name, path / name)
    return path


def lines(folder: Path) -> int:
    return len((folder / "data_raw.json").read_text(encoding="utf-8").splitlines())


def test_with_cover_every_tool_has_a_sample_that_passes(tmp_path: Path) -> None:
    said: list[str] = []
    folder = multimedia(tmp_path / "d")
    _, reached = generate(
        folder, llm="offline", until=5, cover="tools", seed=3, screen=Screen(say=said.append)
    )
    assert reached
    assert any(line.startswith("40 of 40 tools") for line in said)
    assert DataFolder(folder).written_benchmark["rounds"][0] == {"start": 0, "end": 5}


def test_an_interrupted_command_goes_on_in_the_same_way(tmp_path: Path) -> None:
    whole, parted = multimedia(tmp_path / "a"), multimedia(tmp_path / "b")
    generate(whole, llm="offline", until=5, cover="tools", seed=3)
    generate(parted, llm="offline", until=5, cover="tools", seed=3, budget=Budget(requests=9))
    assert lines(parted) < lines(whole)
    generate(parted, llm="offline", until=5, cover="tools", seed=3)
    assert (parted / "data_raw.json").read_bytes() == (whole / "data_raw.json").read_bytes()


def test_where_hardly_any_passes_it_gives_up_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def few(*rest: Any) -> Passing:
        found = passing(*rest)
        return replace(found, passed=1, held={"leak": found.samples - 1})

    monkeypatch.setattr("toolassay.stages.generate.passing", few)
    said: list[str] = []
    folder = multimedia(tmp_path / "d")
    screen = Screen(say=said.append)
    _, reached = generate(folder, llm="offline", until=10, seed=1, screen=screen)
    assert not reached
    assert any("1 of 10 samples pass: too few pass (the gate 'leak' holds back" in line for line in said)
    assert lines(folder) < 1_000


@pytest.mark.parametrize("words", [["7"], ["7", "passed"]])
def test_the_command_takes_the_number_with_or_without_the_word(tmp_path: Path, words: list[str]) -> None:
    folder = multimedia(tmp_path / "d")
    arguments = ["--data_dir", str(folder), "--llm", "offline", "--seed", "1", "--until", *words]
    assert run(load("generate"), arguments, "generate") == 0
    assert lines(folder) == 7


def test_coverage_names_tools_without_a_sample_and_why(tmp_path: Path) -> None:
    from toolassay import check, format_data

    folder = multimedia(tmp_path / "d")
    generate(folder, llm="offline", number_of_samples=6, seed=1)
    format_data(folder)
    said: list[str] = []
    check(folder, out=tmp_path / "checked", screen=Screen(say=said.append))
    found = json.loads((tmp_path / "checked" / "funnel.json").read_text())["coverage"]
    assert found["tools"]["total"] == 40
    assert found["tools"]["with_passing"] + len(found["tools"]["without"]) == 40
    assert set(found["tools"]["without"].values()) == {"no sample has it"}
    assert "tools without a passing sample:" in said
    assert any("more (funnel.json)" in line for line in said)


def test_a_dry_run_names_what_it_does_not_count(tmp_path: Path) -> None:
    folder = multimedia(tmp_path / "d")
    one = ("generate", "--data_dir", folder, "--number_of_samples", "5", "--seed", "1", "--dry_run")
    served = ("--rewrite", "2", "--critic", "gpt-4o", "--api_base", "http://127.0.0.1:9/v1")
    assert "money: none, it costs nothing" in inside(*one, "--llm", "offline").out
    free = inside(*one, "--llm", "offline", *served)
    assert "money: none, offline costs nothing; what gpt-4o costs is not counted" in free.out
    paid = inside(*one, "--llm", "gpt-4o-mini", *served)
    assert "not counted: tries after a failure; rewrites (--rewrite); reviews (--critic)" in paid.out
