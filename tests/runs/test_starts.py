from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolassay.models import ModelOptions
from toolassay.runs import Start, open_run, recorded_settings
from toolassay.runs.starts import refused_before, version_path_before

SETTINGS = {"llm": "m"}


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())


def test_each_start_is_added_and_the_settings_stay(tmp_path: Path) -> None:
    for number in range(3):
        open_run(tmp_path, SETTINGS, conflict_fix="")
        start = Start(tmp_path, {"number": number})
        assert "ended" not in manifest(tmp_path)["starts"][number]
        start.end({"clients": []})
    starts = manifest(tmp_path)["starts"]
    assert [start["number"] for start in starts] == [0, 1, 2]
    assert all(start["time"] <= start["ended"] for start in starts)
    assert recorded_settings(tmp_path) == SETTINGS


def test_what_is_refused_is_known_to_the_next_start_of_the_same_endpoint(tmp_path: Path) -> None:
    assert refused_before(tmp_path, "m", "http://a") == {}
    open_run(tmp_path, SETTINGS, conflict_fix="")
    start = Start(tmp_path, {})
    for _ in range(2):
        start.refused("m", "http://a", "max_tokens", "max_completion_tokens")
    start.refused("m", "http://a", "top_p", None)
    assert len(manifest(tmp_path)["refused_parameters"]) == 2
    assert refused_before(tmp_path, "m", "http://a") == {"max_tokens": "max_completion_tokens", "top_p": None}
    assert refused_before(tmp_path, "m", "http://b") == refused_before(tmp_path, "n", "http://a") == {}


def test_endpoints_that_look_alike_are_kept_apart(tmp_path: Path) -> None:
    open_run(tmp_path, SETTINGS, conflict_fix="")
    start = Start(tmp_path, {})
    start.refused("m", "http://a/***/v1", "top_p", None, fingerprint="1")
    start.versioned("http://b", "/v1")
    assert refused_before(tmp_path, "m", "http://a/***/v1", "1") == {"top_p": None}
    assert refused_before(tmp_path, "m", "http://a/***/v1", "2") == {}
    assert version_path_before(tmp_path, "http://b") == "/v1"
    assert version_path_before(tmp_path, "http://b", "1") is None


def test_a_key_in_the_path_of_an_older_manifest_goes_and_what_was_refused_is_still_known(
    tmp_path: Path,
) -> None:
    address = "http://a.b/sk-123/v1"
    before = {
        "settings": SETTINGS,
        "starts": [{"command": ["infer", "--api_base", address], "endpoint": {"url": address}}],
        "refused_parameters": [{"model": "m", "endpoint": address, "parameter": "top_p", "instead": None}],
    }
    (tmp_path / "manifest.json").write_text(json.dumps(before))
    options = ModelOptions(api_base=address)
    known = (tmp_path, "m", options.endpoint, options.endpoint_fingerprint)
    assert refused_before(*known) == {"top_p": None}
    Start(tmp_path, {}).end({})
    assert "sk-123" not in (tmp_path / "manifest.json").read_text()
    assert manifest(tmp_path)["starts"][0]["endpoint"] == {"url": "http://a.b/***/v1"}
    assert refused_before(*known) == {"top_p": None}


def test_a_manifest_of_before_and_one_edited_by_hand_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({"settings": SETTINGS, "starts": 7, "refused_parameters": ["x"], "mine": 1}))
    assert refused_before(tmp_path, "m", "http://a") == {}
    Start(tmp_path, {}).end({})
    assert len(manifest(tmp_path)["starts"]) == 1 and manifest(tmp_path)["mine"] == 1


def test_other_settings_of_a_run_without_answers_keep_what_was_noted(tmp_path: Path) -> None:
    open_run(tmp_path, SETTINGS, conflict_fix="")
    Start(tmp_path, {}).end({})
    open_run(tmp_path, {"llm": "n"}, conflict_fix="")
    assert recorded_settings(tmp_path) == {"llm": "n"}
    assert len(manifest(tmp_path)["starts"]) == 1
