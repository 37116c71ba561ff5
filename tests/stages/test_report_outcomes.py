"""Executed predictions: outcomes decide in reports, comparisons and leaderboards."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import NOTE_FUNCTIONS, write_labels, write_predictions
from tests.support.running import inside, shell
from toolassay import compare, evaluate, execute, leaderboard, write_report
from toolassay.console.screen import SILENT
from toolassay.files.data_files import write_json
from toolassay.stages.report import build_report

COUNT = 14


def written(*names: str) -> dict[str, Any]:
    arguments = [[{"name": "name", "value": name}, {"name": "text", "value": "x"}] for name in names]
    nodes = [{"task": "write_note", "arguments": one} for one in arguments]
    return {"task_steps": ["Write."] * len(names), "task_nodes": nodes, "task_links": []}


ITEMS = [f"r{number}" for number in range(COUNT)]
PLANS: Mapping[str, Mapping[str, Any]] = {
    "twice": {name: written(name, name) for name in ITEMS},  # another plan, the same outcome
    "astray": {name: written(name, f"{name}{name}") for name in ITEMS},  # the same plan scores, harm
    "half": {name: None if name == "r0" else written(name, name) for name in ITEMS[: COUNT // 2]},
}


def run(folder: Path, model: str | None = None, executor: str = "python", **more: Any) -> None:
    place = folder.parent
    own: dict[str, Any] = {
        "functions": str(place / "notes.py"),
        "workspace": str(place / "seed"),
        "fresh": "worker",
    }
    given = {**own, "allow_tools": True, "allow_writes": True} if executor == "python" else {}
    execute(folder, executor=executor, predictions=model, screen=SILENT, **given, **more)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with real functions, executed gold plans and three models, of which two were executed."""
    place = tmp_path_factory.mktemp("outcomes")
    (place / "notes.py").write_text(NOTE_FUNCTIONS)
    (place / "seed").mkdir()
    (place / "seed/old.txt").write_text("old")
    folder = place / "data"
    imported = shell("import", "python", "notes.py", "--data_dir", "data", "--allow_tools", cwd=place)
    assert imported.code == 0, imported.err
    nothing = {
        **written(),
        "task_nodes": [{"task": "read_note", "arguments": [{"name": "name", "value": "?"}]}],
    }
    gold = {name: written(name) for name in ITEMS} | {"refused": nothing}
    write_labels(folder, [{"id": name, "user_request": "r", **plan} for name, plan in gold.items()])
    for model, plans in PLANS.items():
        write_predictions(folder, model, plans)
    evaluate(folder, screen=SILENT)
    run(folder)
    for model in ("twice", "astray"):
        run(folder, model)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(made.parent, tmp_path / "copy")
    return tmp_path / "copy/data"


def decided(folder: Path, **more: Any) -> dict[str, Any]:
    report = write_report(folder, out=folder.parent / "o", screen=SILENT, **more)
    found: dict[str, Any] = json.loads((folder.parent / "o/report.json").read_text())
    return {**found, "code": report.exit_code, "page": (folder.parent / "o/index.html").read_text()}


def test_outcomes_rank_where_plan_scores_are_equal(folder: Path) -> None:
    found = decided(folder, llm=["twice", "astray"], require=["accuracy>=60%", "side_effects<=30%"])
    verdict, (first, second) = found["verdict"], found["models"]
    assert (verdict["leader"], verdict["is_significant"], verdict["is_by_outcome"]) == ("twice", True, True)
    assert "14 of 15 requests count" in verdict["sentences"][-1]
    assert first["axes"]["plan_accuracy"]["value"] == second["axes"]["plan_accuracy"]["value"] == 0.0
    assert [one["axes"]["accuracy"]["value"] for one in (first, second)] == [1.0, 0.0]
    assert [one["axes"]["side_effects"]["value"] for one in (first, second)] == [0.0, 1.0]
    assert first["axes"]["accuracy"]["low"] < 0.8 < second["axes"]["side_effects"]["value"]
    assert found["outcomes"] == {"twice": "pass", "astray": "fail"} and found["code"] == 0
    axes = {one["model"]: one for one in json.loads((folder.parent / "o/axes.json").read_text())["runs"]}
    shares = ("value", "low", "high")
    assert all(axes["twice"]["accuracy"][end] == first["axes"]["accuracy"][end] for end in shares)
    assert "right outcome, 95" in found["page"] and "plan equals the gold" not in found["page"]
    done = inside("report", "--data_dir", folder, "--llm", "twice", "--out", folder.parent / "p")
    assert "100.0 % of the requests have the right outcome" in done.out and "gold plan" in done.out
    rows = leaderboard(folder).rows
    assert [row.model for row in rows if row.kind == "strict"] == ["twice", "astray", "half"]
    assert rows[0].score("outcome").low == pytest.approx(100 * first["axes"]["accuracy"]["low"])
    (other,) = compare("twice", "astray", data_dir=folder, screen=SILENT).models
    assert (other["outcome"].verdict, other["no_unwanted_changes"].verdict) == ("worse", "worse")
    assert other["exact_match"].verdict == "no difference found"


def test_kinds_are_never_ranked_together(folder: Path) -> None:
    found = decided(folder, require=["accuracy>=60%"])
    (half,) = (one for one in found["models"] if one["name"] == "half")
    assert (half["rank"], half["axes"]["accuracy"]["value"]) == (None, None)
    assert found["outcomes"]["half"] == "not measured"
    assert any("--predictions half" in line for line in found["verdict"]["sentences"])
    run(folder, "half")
    (half,) = (one for one in decided(folder)["models"] if one["name"] == "half")
    # An answer without a plan is wrong, and so is a request that the model left out.
    assert half["axes"]["accuracy"]["value"] == pytest.approx((COUNT // 2 - 1) / COUNT)
    assert (half["executions"]["judged"], half["executions"]["requests"]) == (COUNT, COUNT)
    plans = folder.parent / "plans"
    shutil.copytree(folder, plans)
    shutil.rmtree(plans / "metrics/outcomes")
    verdict = build_report([folder, plans], screen=SILENT).decision.verdict
    assert "Outcomes and plans are not ranked together" in verdict.sentences[0] and not verdict.places


def unjudged(folder: Path) -> None:
    """The environment failed for one request."""
    path = folder / "metrics/outcomes/twice.json"
    first, *rest = path.with_suffix(".items.jsonl").read_text().splitlines(keepends=True)
    path.with_suffix(".items.jsonl").write_text("".join(rest))
    write_json(path, {**json.loads(path.read_text()), "unjudged": [json.loads(first)["id"]]})


def predicted_again(folder: Path) -> None:
    write_predictions(folder, "twice", {**PLANS["twice"], "r0": written("r0")})
    evaluate(folder, llm="twice", screen=SILENT)


def executed_again(folder: Path) -> None:
    path = folder / "executions.jsonl"
    path.write_text(path.read_text().replace("wrote r0", "wrote it"))


def judged_before(folder: Path) -> None:
    path = folder / "metrics/outcomes/twice.json"
    write_json(path, {**json.loads(path.read_text()), "signature": "outcome|toolassay:0.2|n:14|of:14"})


def simulated(folder: Path) -> None:
    """As the simulator of an earlier version left it."""
    path = folder / "metrics/outcomes/twice.json"
    content = json.loads(path.read_text())
    signature = content["signature"].replace("executor:python", "executor:simulate")
    write_json(path, {**content, "signature": signature})


@pytest.mark.parametrize(
    ("change", "words", "leader"),
    [
        (unjudged, "13 of 14 judged", "twice"),
        (predicted_again, "other predictions", "astray"),
        (executed_again, "other executions of the gold plans", None),
        (judged_before, "earlier version", "astray"),
        (simulated, "simulated", "astray"),
    ],
)
def test_outcomes_that_do_not_fit_are_shown_and_do_not_rank(
    change: Any, words: str, leader: str | None, folder: Path
) -> None:
    change(folder)
    found = decided(folder, llm=["twice", "astray"])
    assert found["verdict"]["is_by_outcome"] == (leader is not None)
    assert found["verdict"]["leader"] in ([leader] if leader else ["twice", "astray"])
    (warnings,) = (one["warnings"] for one in found["models"] if one["name"] == "twice")
    assert any(words in line for line in warnings)
    assert any(words in line for line in leaderboard(folder).remarks)


def test_a_baseline_is_compared_by_outcome_and_harm(folder: Path) -> None:
    found = decided(folder, llm="astray", baseline="twice")
    assert [(one["score"], one["is_worse"]) for one in found["regressions"]] == [
        ("outcome", True),
        ("no_unwanted_changes", True),
    ]
    assert found["code"] == 4
    better = decided(folder, llm="twice", baseline="astray")["regressions"]
    assert all("twice is better than astray" in one["text"] for one in better)
    (apart,) = decided(folder, llm="half", baseline="twice")["regressions"]
    assert (apart["score"], apart["difference"]) == ("outcome", None)
