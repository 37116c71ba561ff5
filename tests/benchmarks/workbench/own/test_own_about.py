"""What `benchmark.json` says of a workplace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from own_workplace import sandbox, workplace
from running import Capture, inside

from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.errors import UsageError


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"now": "today"}, "'now' is 'today'. Fix: write \"now\": \"YYYY-MM-DD HH:MM:SS\""),
        ({"now": "2024-01-01T09:00:00+02:00"}, "'now' is "),
        ({"now": "2024-13-01 09:00:00"}, "'now' is "),
        ({"user": " "}, "'user' is empty"),
        ({"ignore": "notes.text"}, "'ignore' is not a list of strings"),
        ({"costums": "x"}, "unknown key 'costums'. Fix: did you mean 'customs'"),
        ({"benchmark": "wrokbench"}, "'benchmark' is 'wrokbench'. Fix: write .benchmark.: .workbench."),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, facts: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=f"w/benchmark.json: {words}"):
        sandbox(tmp_path / "w", **facts)


@pytest.mark.parametrize("text", [None, "{}"])
def test_a_folder_whose_facts_are_lost_is_still_known(
    tmp_path: Path, text: str | None, capsys: Capture
) -> None:
    folder = workplace(tmp_path / "w")
    (folder / "benchmark.json").unlink()
    if text:
        (folder / "benchmark.json").write_text(text)
    with pytest.raises(UsageError, match=r"json: has no 'tools', but the folder has tools.py. Fix: write"):
        open_workplace(folder, allow_tools=True)
    done = inside(capsys, "evaluate", "--data_dir", folder, "--allow_tools")
    assert done.code == 2 and "has no 'tools'" in done.error
