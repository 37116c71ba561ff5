"""Manifests, starts and trials."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import manifest
from toolassay.console.screen import SILENT
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json
from toolassay.models import ModelOptions
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.runs.manifest import MANIFEST, open_run, recorded_settings
from toolassay.runs.record import RunRecord
from toolassay.runs.trials import Trial, same_settings, trials_of

SETTINGS = {"llm": "m", "temperature": 0.5, "demo_ids": ["1"], "prompt_sha256": "aaa"}
CONFLICT_FIX = "use another folder"


def begun(folder: Path, *, answered: bool = True) -> Path:
    open_run(folder, SETTINGS, conflict_fix=CONFLICT_FIX)
    with Journal(folder / "journal.jsonl") as journal:
        journal.append("1", ItemEntry(outcome="answered" if answered else "provider error"))
    return folder


def test_a_run_without_answers_fixes_no_settings(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run", answered=False)
    assert open_run(folder, {**SETTINGS, "temperature": 1.0}, conflict_fix=CONFLICT_FIX) is None
    assert recorded_settings(folder) == {**SETTINGS, "temperature": 1.0}


def test_force_does_not_pull_a_run_away_from_its_writer(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    with Journal(folder / "journal.jsonl"), pytest.raises(UsageError, match="another process"):
        open_run(folder, {**SETTINGS, "temperature": 1.0}, force=True, conflict_fix=CONFLICT_FIX)
    assert recorded_settings(folder) == SETTINGS


@pytest.mark.parametrize(
    "text", ["[]", "7", '{"settings": []}', '{"settings": {}, "starts": 7}', "{}", "{", ""]
)
def test_a_manifest_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UsageError, match=r"manifest\.json"):
        open_run(tmp_path, SETTINGS, conflict_fix=CONFLICT_FIX)


def made(trial: Trial, **settings: object) -> None:
    trial.folder.mkdir(parents=True, exist_ok=True)
    trial.output.write_text("")
    write_json(trial.run_folder / MANIFEST, {"settings": settings})


def test_trials_are_found_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (0, 10, 2):
        made(Trial(tmp_path, "a/b", number))
    for name in ("x", "02", "0", "-1"):
        (tmp_path / "trials" / name).mkdir()
    (tmp_path / "trials/3").mkdir()
    assert [trial.number for trial in trials_of(tmp_path, "a/b")] == [0, 2, 10]
    assert [trial.number for trial in trials_of(tmp_path, "other")] == [0]


def test_trials_with_other_settings_are_separated(tmp_path: Path) -> None:
    trials = [Trial(tmp_path, "m", number) for number in range(3)]
    made(trials[0], temperature=0)
    made(trials[1], temperature=0, seed=8)
    made(trials[2], temperature=1)
    assert same_settings(trials) == (trials[:2], trials[2:])


def test_a_seed_is_another_in_each_trial_and_stands_in_its_settings(tmp_path: Path) -> None:
    options = ModelOptions(extra_body={"seed": 7, "top_k": 3})
    first, third = Trial(tmp_path, "m"), Trial(tmp_path, "m", 2)
    assert first.options(options) is options and first.settings(options) == options.settings
    assert third.options(options).extra_body == {"seed": 9, "top_k": 3}
    assert third.settings(options) == {**options.settings, "seed": 9}
    without = ModelOptions(extra_body={"seed": None})
    assert third.options(without) is without and third.settings(without) == without.settings


ONE_MODEL = {"llm": "m"}


@contextmanager
def started(folder: Path, address: str = "http://a", **facts: Any) -> Iterator[RunRecord]:
    """A start of a run that asks "m" at an address."""
    record = RunRecord(folder, ModelOptions(api_base=address), command=None, screen=SILENT)
    record.options_of("m")
    with record.start([], facts):
        yield record


def refuse(folder: Path, address: str, change: dict[str, str | None]) -> None:
    with started(folder, address) as record:
        refusals = record.options_of("m").refusals
        assert refusals is not None
        refusals.learn(change)


def known(folder: Path, address: str, model: str = "m") -> Any:
    record = RunRecord(folder, ModelOptions(api_base=address), command=None, screen=SILENT)
    refusals = record.options_of(model).refusals
    assert refusals is not None
    return refusals.known


def test_what_is_refused_is_known_to_the_next_start_of_the_same_endpoint(tmp_path: Path) -> None:
    assert known(tmp_path, "http://a") == {}
    open_run(tmp_path, ONE_MODEL, conflict_fix="")
    for _ in range(2):
        refuse(tmp_path, "http://a", {"max_tokens": "max_completion_tokens"})
    refuse(tmp_path, "http://a", {"top_p": None})
    assert len(manifest(tmp_path)["refused_parameters"]) == 2
    assert known(tmp_path, "http://a") == {"max_tokens": "max_completion_tokens", "top_p": None}
    assert known(tmp_path, "http://b") == known(tmp_path, "http://a", "n") == {}


def test_endpoints_that_look_alike_are_kept_apart(tmp_path: Path) -> None:
    open_run(tmp_path, ONE_MODEL, conflict_fix="")
    refuse(tmp_path, "http://a/sk-1/v1", {"top_p": None})
    assert known(tmp_path, "http://a/sk-1/v1") == {"top_p": None}
    assert known(tmp_path, "http://a/sk-2/v1") == {}


def test_a_key_in_the_path_of_an_older_manifest_goes_and_what_was_refused_is_still_known(
    tmp_path: Path,
) -> None:
    address = "http://a.b/sk-123/v1"
    before = {
        "settings": ONE_MODEL,
        "starts": [{"command": ["infer", "--api_base", address], "endpoint": {"url": address}}],
        "refused_parameters": [{"model": "m", "endpoint": address, "parameter": "top_p", "instead": None}],
    }
    (tmp_path / "manifest.json").write_text(json.dumps(before))
    assert known(tmp_path, address) == {"top_p": None}
    with started(tmp_path, address):
        pass
    assert "sk-123" not in (tmp_path / "manifest.json").read_text()
    assert manifest(tmp_path)["starts"][0]["endpoint"] == {"url": "http://a.b/***/v1"}
    assert known(tmp_path, address) == {"top_p": None}


def test_other_settings_of_a_run_without_answers_keep_what_was_noted(tmp_path: Path) -> None:
    open_run(tmp_path, ONE_MODEL, conflict_fix="")
    with started(tmp_path):
        pass
    open_run(tmp_path, {"llm": "n"}, conflict_fix="")
    assert recorded_settings(tmp_path) == {"llm": "n"}
    assert len(manifest(tmp_path)["starts"]) == 1
