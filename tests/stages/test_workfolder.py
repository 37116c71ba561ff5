"""A folder of another benchmark, given to the stages that plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.own_workplace import NOTES, database
from tests.support.running import inside


@pytest.mark.parametrize("command", ["pipeline", "generate", "sample", "graph", "split", "check", "export"])
@pytest.mark.parametrize(
    ("data", "words"), [("workbench", "a WorkBench folder"), ("classic", "a CLASSic folder")]
)
def test_it_is_named(root: Path, tmp_path: Path, command: str, data: str, words: str) -> None:
    before = sorted((root / f"data_{data}").iterdir())
    more: dict[str, list[str | Path]] = {
        "check": ["--out", tmp_path / "o"],
        "export": ["--to", "jsonl", "--out", tmp_path / "o"],
    }
    done = inside(command, "--data_dir", root / f"data_{data}", *more.get(command, []))
    assert done.code == 2 and f"data_{data}: is {words}" in done.error
    assert sorted((root / f"data_{data}").iterdir()) == before and not (tmp_path / "o").exists()


def test_what_a_workplace_can_be_made_of_is_pointed_at(tmp_path: Path) -> None:
    database(tmp_path / "own.db", NOTES)
    done = inside("infer", "--data_dir", tmp_path, "--llm", "offline")
    assert done.code == 2
    assert f"toolassay workbench new NAME --sandbox {tmp_path / 'own.db'}" in done.error


def test_tools_are_allowed_only_where_there_are_some(root: Path) -> None:
    for command, what in (("infer", "--ask plan"), ("evaluate", "TaskBench folders")):
        done = inside(command, "--data_dir", root / "data_multimedia", "--allow_tools")
        assert done.code == 2 and f"--allow_tools does not apply to {what}" in done.error
