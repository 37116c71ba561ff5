"""`toolassay noise`: what is chance in the scores of a set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.running import inside
from toolassay import noise
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, write_json

QUIET = Screen(show=lambda _: None, table=lambda _: None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the metrics of a steady, a wavering and a once-run model."""
    (tmp_path / "metrics").mkdir()
    write_json(tmp_path / "tool_desc.json", {"nodes": [{"id": "a", "desc": "", "input_schema": {}}]})
    runs = {
        "steady": [[1, 1, 1]] * 30 + [[0, 0, 0]] * 10,
        "wavering": [[1, 1, 0]] * 20 + [[0, 1, 0]] * 20,
        "once": [[1]] * 30 + [[0]] * 10,
    }
    for model, scored in runs.items():
        lines = [
            {
                "id": f"i{number}",
                "cluster": f"i{number}",
                "outcome": "answered",
                "scores": {"exact_match": sum(values) / len(values)},
                "type": "single",
                "n_tools": 1,
                "trials": [
                    {"trial": trial, "outcome": "answered", "scores": {"exact_match": float(value)}}
                    for trial, value in enumerate(values)
                ],
            }
            for number, values in enumerate(scored)
        ]
        (tmp_path / "metrics" / f"{model}.items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path


def test_pass_k_in_both_conventions_and_the_share_of_runs(folder: Path) -> None:
    found = noise("steady", "wavering", data_dir=folder, save=folder / "noise.json", screen=QUIET)
    by_name = {(one.model, one.k): [one.drawn, one.power] for one in found.pass_k}
    assert by_name["steady", 3] == pytest.approx([0.75, 0.75**3])
    assert by_name["wavering", 2] == pytest.approx([20 / 3 / 40, 0.25])
    assert by_name["wavering", 3] == pytest.approx([0, 0.125])
    assert found.models["steady"].of_runs == 0
    assert found.models["wavering"].of_runs == 1, "the items do not differ more than their runs do"
    (pair,) = found.pairs
    assert pair.difference == pytest.approx(-0.25) and pair.smallest > 0
    written = read_json(folder / "noise.json")
    assert written["models"]["steady"]["standard_error"] == found.models["steady"].standard_error
    assert [one["items"] for one in written["rankings"]] == [10, 20]


def test_one_run_of_one_model_says_what_it_can(folder: Path) -> None:
    found = noise("once", data_dir=folder, screen=QUIET)
    assert (found.pass_k, found.pairs, found.rankings) == ([], [], [])
    assert found.models["once"].within is None
    shown = inside("noise", "once", "--data_dir", folder)
    assert shown.code == 0 and "items, 5 runs each" in shown.out


def test_what_is_missing_is_said(folder: Path) -> None:
    with pytest.raises(UsageError, match="no model is named"):
        noise(data_dir=folder, screen=QUIET)
    with pytest.raises(UsageError, match="no such file of items"):
        noise("other", data_dir=folder, screen=QUIET)
