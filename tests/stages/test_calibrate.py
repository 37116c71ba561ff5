"""A critic is compared with labels, and the comparison is stated where the critic judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import labelled_folder, running_server
from tests.support.checking import label
from tests.support.running import inside, write_lines
from toolassay import calibrate
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json
from toolassay.gates.calibration import Calibration, read_calibrations
from toolassay.gates.rubric import CRITERIA
from toolassay.serving.completions import Received, Reply


def judged(number: int, *faults: str) -> dict[str, Any]:
    """A labelled sample."""
    answers = {name: int(name not in faults) for name in CRITERIA}
    return label(number) | answers | {"labelled_by": "ann" if number else "acme/reader"}


async def _critic(received: Received) -> Reply:
    """Finds the plan of streets 1 and 2 wrong, and says nothing readable about street 4."""
    if "street 4 " in received.prompt or "requested JSON" in received.prompt:  # asked again
        return Reply("Hm.")
    wrong = "street 1 " in received.prompt or "street 2 " in received.prompt
    answers = {name: {"why": "So.", "yes": name != "plan" or not wrong} for name in CRITERIA}
    return Reply(json.dumps(answers))


def folder_of(path: Path, *samples: dict[str, Any]) -> Path:
    folder = labelled_folder(path, [label(0)])
    write_lines(folder / "judged.jsonl", list(samples))
    return folder / "judged.jsonl"


def test_agreement_by_question(tmp_path: Path) -> None:
    samples = [judged(0), judged(1, "plan"), judged(2), judged(3, "plan", "values"), judged(4, "plan")]
    labels, out = folder_of(tmp_path / "data", *samples), tmp_path / "out"
    with running_server(_critic) as server:
        arguments: list[str | Path] = ["--critic", "acme/judge", "--api_base", server.base, "--out", out]
        done = inside("check", "--calibrate", labels, *arguments)
        assert done.code == 0, done.err
    (found,) = read_calibrations([out / "calibration.json"]).values()
    assert (found.critic, found.samples, found.unanswered) == ("acme/judge", 5, 1)
    assert found.labelled_by == ("acme/reader", "ann") and "acme/reader, ann" in found.line
    rows = {one.criterion: one for one in found.agreement}
    plan = rows["plan"]
    assert (plan.both_no, plan.critic_no, plan.people_no, plan.both_yes) == (1, 1, 1, 1)
    assert (plan.precision.value, plan.recall.value, plan.kappa.value) == (0.5, 0.5, 0.0)
    assert plan.precision.low is not None and plan.precision.low < 0.1
    assert rows["natural"].kappa.value is None, "nobody says no"
    assert rows["values"].recall.value == 0 and rows["publishable"].both_no == 1
    assert "plan" in done.out and "50%" in done.out


def test_an_offline_critic_and_the_python_function(tmp_path: Path) -> None:
    labels = folder_of(tmp_path / "data", judged(0), judged(1, "natural"))
    found, complete = calibrate(labels, critic="offline", out=tmp_path / "out")
    assert complete and isinstance(found, Calibration)
    assert "2 samples" in found.line


@pytest.mark.parametrize("fault", [{"plan": None}, {"plan": "no"}])
def test_a_question_without_an_answer_is_refused(tmp_path: Path, fault: dict[str, Any]) -> None:
    labels = folder_of(tmp_path / "data", judged(0), judged(1) | fault)
    with pytest.raises(UsageError, match=r"judged.jsonl:2.*'plan'"):
        calibrate(labels, critic="offline", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_no_calibration_is_refused(tmp_path: Path) -> None:
    (tmp_path / "calibration.json").write_text('{"critic": "judge"}')
    with pytest.raises(UsageError, match=r"calibration\.json: .*labels"):
        read_calibrations([tmp_path / "calibration.json"])
    assert read_json(tmp_path / "calibration.json")
