"""A run several times over, end to end."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import data_folder
from running import infer as infer_of
from running import lines_of

from toolassay import infer
from toolassay.errors import UsageError
from toolassay.evaluation.places import models_of
from toolassay.testkit import FakeServer


def test_trials_are_runs_of_their_own_and_are_resumed(tmp_path: Path) -> None:
    folder = data_folder(tmp_path, 5)
    assert infer(folder, llm="offline", trials=3, limit=2).written == 6
    first = (folder / "predictions/offline.json").read_bytes()
    for number in (1, 2):
        place = folder / f"predictions/trials/{number}"
        assert (place / "offline.json").read_bytes() == first
        assert {file.name for file in (place / "runs/offline").iterdir()} >= {
            *("journal.jsonl", "ledger.jsonl", "manifest.json", "summary.json", "wording.json")
        }
    again = infer(folder, llm="offline", trials=3)
    assert (again.already, again.written) == (6, 15)
    assert infer(folder, llm="offline", prediction_dir="predictions/trials/2").already == 5
    assert models_of(folder) == ["offline"]
    with pytest.raises(UsageError, match="0 trials"):
        infer(folder, llm="offline", trials=0)


def test_limits_hold_over_all_trials_and_starts(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path, 4)
    done = infer_of(fake_server, folder, "--trials", "3", "--max_requests", "6")
    assert done.code == 3 and len(fake_server.received) == 6
    assert "the budget leaves nothing for 1 more of the 3 trials" in done.err
    assert infer_of(fake_server, folder, "--trials", "3", "--max_requests", "9").code == 3
    assert len(fake_server.received) == 9
    assert infer_of(fake_server, folder, "--trials", "3", "--max_requests", "12").code == 0
    assert len(fake_server.received) == 12
    assert len(lines_of(folder / "predictions/trials/2/gpt-4.json")) == 4
