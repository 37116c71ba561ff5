from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolassay.runs import Start, open_run, recorded_settings
from toolassay.runs.starts import refused_before

SETTINGS = {"llm": "m"}


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())


def test_each_start_is_added_and_the_settings_stay(tmp_path: Path) -> None:
    for number in range(3):
        open_run(tmp_path, SETTINGS, ways_on="")
        start = Start(tmp_path, {"number": number})
        assert "ended" not in manifest(tmp_path)["starts"][number]
        start.end({"clients": []})
    starts = manifest(tmp_path)["starts"]
    assert [start["number"] for start in starts] == [0, 1, 2]
    assert all(start["time"] <= start["ended"] for start in starts)
    assert recorded_settings(tmp_path) == SETTINGS


def test_what_is_refused_is_known_to_the_next_start_of_the_same_endpoint(tmp_path: Path) -> None:
    assert refused_before(tmp_path, "m", "http://a") == {}
    open_run(tmp_path, SETTINGS, ways_on="")
    start = Start(tmp_path, {})
    for _ in range(2):
        start.refused("m", "http://a", "max_tokens", "max_completion_tokens")
    start.refused("m", "http://a", "top_p", None)
    assert len(manifest(tmp_path)["refused_parameters"]) == 2
    assert refused_before(tmp_path, "m", "http://a") == {"max_tokens": "max_completion_tokens", "top_p": None}
    assert refused_before(tmp_path, "m", "http://b") == refused_before(tmp_path, "n", "http://a") == {}


def test_a_manifest_of_before_and_one_edited_by_hand_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({"settings": SETTINGS, "starts": 7, "refused_parameters": ["x"], "mine": 1}))
    assert refused_before(tmp_path, "m", "http://a") == {}
    Start(tmp_path, {}).end({})
    assert len(manifest(tmp_path)["starts"]) == 1 and manifest(tmp_path)["mine"] == 1


def test_other_settings_of_a_run_without_answers_keep_what_was_noted(tmp_path: Path) -> None:
    open_run(tmp_path, SETTINGS, ways_on="")
    Start(tmp_path, {}).end({})
    open_run(tmp_path, {"llm": "n"}, ways_on="")
    assert recorded_settings(tmp_path) == {"llm": "n"}
    assert len(manifest(tmp_path)["starts"]) == 1
