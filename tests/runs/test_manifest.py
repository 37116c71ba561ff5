from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolassay.errors import UsageError
from toolassay.runs import Journal, open_run, recorded_settings

SETTINGS = {"llm": "m", "temperature": 0.5, "demo_ids": ["1"], "prompt_sha256": "aaa"}
CONFLICT_FIX = "use another folder"


def begun(folder: Path, *, answered: bool = True) -> Path:
    open_run(folder, SETTINGS, conflict_fix=CONFLICT_FIX)
    with Journal(folder / "journal.jsonl") as journal:
        journal.append(
            "1", {"outcome": "answered", "response": "x"} if answered else {"outcome": "provider error"}
        )
    return folder


def test_the_same_settings_continue(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    before = (folder / "manifest.json").read_bytes()
    assert open_run(folder, dict(SETTINGS), conflict_fix=CONFLICT_FIX) is None
    assert (folder / "manifest.json").read_bytes() == before
    assert recorded_settings(folder) == SETTINGS


def test_what_changed_is_named_and_nothing_is_touched(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    before = (folder / "manifest.json").read_bytes()
    changed = {**SETTINGS, "temperature": 1.0, "prompt_sha256": "bbb", "seed": 3}
    with pytest.raises(UsageError) as caught:
        open_run(folder, changed, conflict_fix=CONFLICT_FIX)
    words = str(caught.value)
    assert "temperature: 0.5 -> 1.0; prompt changed; seed: None -> 3" in words
    assert "bbb" not in words
    assert words.endswith(f"Fix: {CONFLICT_FIX}")
    assert (folder / "manifest.json").read_bytes() == before


def test_force_keeps_the_old_run_each_time(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    kept = []
    for temperature in (1.0, 2.0, 3.0):
        old = open_run(
            folder, {**SETTINGS, "temperature": temperature}, force=True, conflict_fix=CONFLICT_FIX
        )
        assert old is not None
        kept.append(old)
        with Journal(folder / "journal.jsonl") as journal:
            journal.append("1", {"response": "x"})
    assert len(set(kept)) == 3
    assert recorded_settings(kept[0]) == SETTINGS
    assert all((old / "journal.jsonl").exists() for old in kept)


def test_a_run_without_answers_fixes_no_settings(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run", answered=False)
    assert open_run(folder, {**SETTINGS, "temperature": 1.0}, conflict_fix=CONFLICT_FIX) is None
    assert recorded_settings(folder) == {**SETTINGS, "temperature": 1.0}


def test_force_does_not_pull_a_run_away_from_its_writer(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    with Journal(folder / "journal.jsonl"), pytest.raises(UsageError, match="another process"):
        open_run(folder, {**SETTINGS, "temperature": 1.0}, force=True, conflict_fix=CONFLICT_FIX)
    assert recorded_settings(folder) == SETTINGS


@pytest.mark.parametrize("text", ["[]", "7", '{"settings": []}', "{}", "{", ""])
def test_a_manifest_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UsageError, match=r"manifest\.json"):
        open_run(tmp_path, SETTINGS, conflict_fix=CONFLICT_FIX)


def test_no_run_no_settings(tmp_path: Path) -> None:
    assert recorded_settings(tmp_path / "none") is None


def test_the_manifest_says_the_version(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    assert json.loads((folder / "manifest.json").read_text())["toolassay"]
