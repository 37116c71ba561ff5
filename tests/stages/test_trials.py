"""Every trial counts, in every stage and for every benchmark: an item's score is the mean over its runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.evaluating import metrics_of
from tests.support.known_trials import KINDS, KnownTrials, agents, plans
from tests.support.running import inside, lines_of, write_lines
from toolassay import compare, evaluate, leaderboard
from toolassay.evaluation.items import items_path
from toolassay.metrics.confidence_interval import Interval
from toolassay.stages.report import build_report

SCORE = {"plans": "exact_match", "agents": "correct", "chats": "correct"}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def known(kind: str, tmp_path: Path) -> KnownTrials:
    return KINDS[kind](tmp_path / "known")


def accuracy_of(kind: str, metrics: Mapping[str, Any]) -> Interval:
    strict = metrics["strict"]
    place = {"plans": ("exact_match",), "agents": ("intervals", "accuracy")}.get(
        kind, ("accuracy", "domain:all", "messages")
    )
    for name in place:
        strict = strict[name]
    return Interval.of(strict)


def choose(kind: str, known: KnownTrials) -> dict[str, Any]:
    """The items with predictions: the bundled chats have more."""
    return {"ids": known.ids} if kind == "chats" else {}


def test_a_lucky_first_trial_does_not_lead(kind: str, known: KnownTrials, tmp_path: Path) -> None:
    known.write_shares("lucky", 70, 50, 50)
    known.write_shares("steady", 60, 60, 60)
    evaluate(known.folder, **choose(kind, known))
    report = build_report([known.folder])
    assert report.decision is not None
    places = {place.name: place for place in report.decision.verdict.places}
    assert list(places) == ["steady", "lucky"]
    assert [place.score for place in places.values()] == pytest.approx([0.6, 170 / 300])
    assert places["lucky"].difference.value == pytest.approx(-10 / 300)
    assert not places["lucky"].differs and places["lucky"].may_be_best
    metrics = accuracy_of(kind, metrics_of(known.folder, "lucky"))
    assert metrics.value == pytest.approx(170 / 300)
    (axes,) = (one for one in report.runs if one.model == "lucky")
    assert axes.accuracy == metrics
    rows = {row.model: row for row in leaderboard(known.folder, mode="strict").rows}
    assert list(rows) == ["steady", "lucky"]
    if kind != "plans":  # no column shows the exact matches of plans
        shown = rows["lucky"].score("accuracy")
        assert shown == pytest.approx([100 * (one or 0) for one in metrics])
    (compared,) = compare("lucky", "steady", data_dir=known.folder, metrics=[SCORE[kind]]).models
    assert compared[SCORE[kind]].difference.value == pytest.approx(10 / 300)
    assert compared[SCORE[kind]].verdict == "no difference found"
    assert compared[SCORE[kind]].test == "randomisation"


def test_a_requirement_is_checked_against_the_mean(kind: str, known: KnownTrials, tmp_path: Path) -> None:
    known.write_shares("m", 95, 55, 45)
    evaluate(known.folder, llm="m", **choose(kind, known))
    done = inside("report", "--data_dir", known.folder, "--out", tmp_path / "r", "--require", "accuracy>=80%")
    assert done.code == 4
    decided = json.loads((tmp_path / "r/report.json").read_text())
    (check,) = decided["models"][0]["requirements"]
    assert (check["status"], check["n"]) == ("fail", 100)
    assert check["value"] == pytest.approx(0.65)


def test_a_line_of_an_item_has_means_and_its_trials(kind: str, known: KnownTrials) -> None:
    first, second, third = known.ids[:3]
    known.write("m", 0, {first, second})
    known.write("m", 1, {first}, without={third})
    known.write("m", 2, {first, third})
    evaluate(known.folder, llm="m", **choose(kind, known))
    lines = {line["id"]: line for line in lines_of(items_path(known.folder / "metrics/m.json"))}
    score = SCORE[kind]
    assert [lines[one]["scores"][score] for one in (first, second)] == pytest.approx([1.0, 1 / 3])
    # What a trial did not ask is no run of it.
    assert lines[third]["scores"][score] == 0.5
    runs = [(run["trial"], run["outcome"], run["scores"][score]) for run in lines[third]["trials"]]
    assert runs == [(0, "answered", 0.0), (2, "answered", 1.0)]
    assert [run["unwanted"] for run in lines[second]["trials"]] == (
        [0, 1, 1] if kind == "agents" else [None] * 3
    )
    assert "mode:strict-3" in metrics_of(known.folder)["strict"]["signature"]
    assert "trials:3-" in metrics_of(known.folder)["strict"]["signature"]


def test_one_trial_has_a_trial_too(kind: str, known: KnownTrials) -> None:
    known.write("m", 0, known.ids)
    evaluate(known.folder, llm="m", **choose(kind, known))
    line = lines_of(items_path(known.folder / "metrics/m.json"))[0]
    assert [run["trial"] for run in line["trials"]] == [0]
    assert {**line["scores"], "agreement": None} == {**line["trials"][0]["scores"], "agreement": None}
    assert "trials:1-" in metrics_of(known.folder)["strict"]["signature"]
    metrics, (axes,) = metrics_of(known.folder), build_report([known.folder]).runs
    # All of 100 are right: Wilson's bound, the same in every place.
    assert accuracy_of(kind, metrics) == axes.accuracy == Interval(1.0, 0.963, 1.0)


def test_harm_is_counted_over_all_runs(tmp_path: Path) -> None:
    known = agents(tmp_path / "known")
    known.write("late", 0, known.ids)
    known.write("late", 1, ())
    known.write("late", 2, ())
    evaluate(known.folder, llm="late")
    done = inside(
        "report", "--data_dir", known.folder, "--out", tmp_path / "r", "--require", "side_effects<=20%"
    )
    assert done.code == 4
    (model,) = json.loads((tmp_path / "r/report.json").read_text())["models"]
    harm = model["axes"]["side_effects"]
    assert (harm["value"], harm["n"]) == (pytest.approx(2 / 3), 100)
    assert "email.delete_email (200)" in done.out


def test_the_counts_of_plans_are_sums_and_published_numbers_are_of_the_first_trial(tmp_path: Path) -> None:
    known = plans(tmp_path / "known")
    known.write("m", 0, known.ids)
    evaluate(known.folder, llm="m")
    alone = metrics_of(known.folder)
    line = lines_of(items_path(known.folder / "metrics/m.json"))[0]
    known.write("m", 1, ())
    evaluate(known.folder, llm="m")
    both = metrics_of(known.folder)
    assert {name: both[name] for name in alone if name not in ("strict", "stability")} == {
        name: value for name, value in alone.items() if name != "strict"
    }
    assert both["strict"]["node_f1"]["value"] < alone["strict"]["node_f1"]["value"] == 1.0
    again = lines_of(items_path(known.folder / "metrics/m.json"))[0]
    right, extra, absent = line["counts"]["nodes"]
    assert again["counts"]["nodes"] == [2 * right - 1, extra + 1, absent + 1]


def test_a_baseline_of_the_last_version_is_compared_on_the_first_trial(
    kind: str, known: KnownTrials, tmp_path: Path
) -> None:
    known.write("m", 0, known.ids)
    evaluate(known.folder, llm="m", **choose(kind, known))
    metrics = known.folder / "metrics"
    text = (metrics / "m.json").read_text().replace("mode:strict-3", "mode:strict-2")
    (tmp_path / "before.json").write_text(text)
    lines = lines_of(items_path(metrics / "m.json"))
    before = [{name: value for name, value in line.items() if name != "trials"} for line in lines]
    write_lines(tmp_path / "before.items.jsonl", before)
    known.write("m", 1, ())
    evaluate(known.folder, llm="m", **choose(kind, known))
    base = tmp_path / "before.json"
    result = compare(base, metrics / "m.json", metrics=[SCORE[kind]])
    assert result.models[0][SCORE[kind]].difference.value == 0.0
    assert "first trial" in result.models[0].basis
    done = inside("report", "--data_dir", known.folder, "--out", tmp_path / "r", "--baseline", base)
    assert done.code == 0 and "first trial" in done.out


def test_calls_of_a_tool_are_counted_over_all_runs(tmp_path: Path) -> None:
    known = agents(tmp_path / "known")
    known.write("m", 0, known.ids)
    known.write("m", 1, known.ids[3:])
    evaluate(known.folder, llm="m")
    given = "report", "--data_dir", known.folder, "--out", tmp_path / "r", "--require"
    deletions = sum(
        call.startswith("email.delete_email")
        for row in lines_of(known.folder / "tasks.jsonl")
        for call in row["answer"]
    )
    assert inside(*given, f"calls(email.delete_email)<={2 * deletions + 3}").code == 0
    assert inside(*given, f"calls(email.delete_email)<={2 * deletions + 2}").code == 4
    (model,) = json.loads((tmp_path / "r/report.json").read_text())["models"]
    (check,) = model["requirements"]
    assert (check["value"], check["low"], check["n"]) == (2 * deletions + 3, None, 200)
    refused = inside(*given, "calls<=1")
    assert refused.code == 2 and "calls(TOOL)" in refused.error
    refused = inside(*given, "accuracy(x)>=1%")
    assert refused.code == 2


def test_a_tool_that_no_list_has_is_not_measured(tmp_path: Path) -> None:
    known = plans(tmp_path / "known")
    known.write("m", 0, known.ids)
    evaluate(known.folder, llm="m")
    done = inside(
        "report", "--data_dir", known.folder, "--out", tmp_path / "r", "--require", "calls(Txt Search)<=0"
    )
    assert done.code == 3 and "no such tool" in done.out
    done = inside(
        "report", "--data_dir", known.folder, "--out", tmp_path / "r", "--require", "calls(Text Search)<=0"
    )
    assert done.code in (0, 4)


def test_undecided_requirements_pass_on_request(tmp_path: Path) -> None:
    known = plans(tmp_path / "known")
    known.write_shares("m", 80)
    evaluate(known.folder, llm="m")
    given = "report", "--data_dir", known.folder, "--out", tmp_path / "r", "--require", "accuracy>=79%"
    assert inside(*given).code == 3
    done = inside(*given, "--undecided", "pass")
    assert done.code == 0 and "not enough data" in done.out
    assert inside(*given[:-1], "accuracy>=99%", "--undecided", "pass").code == 4


def test_a_model_that_is_named_is_found_in_any_prediction_folder(tmp_path: Path) -> None:
    known = plans(tmp_path / "known")
    known.write("plain", 0, known.ids)
    path = known.write("tagged", 0, known.ids)
    place = known.folder / "predictions_new/tagged.json"
    place.parent.mkdir()
    path.rename(place)
    evaluate(known.folder, llm="plain")
    evaluate(known.folder, llm="tagged", prediction_dir="predictions_new")
    report = inside("report", "--data_dir", known.folder, "--out", tmp_path / "r", "--llm", "tagged")
    assert report.code == 0, report.err
    both = inside(
        "report", "--data_dir", known.folder, "--out", tmp_path / "r", "--llm", "tagged", "--llm", "plain"
    )
    decided = json.loads((tmp_path / "r/report.json").read_text())
    assert both.code == 0
    assert [(one["data"], [model["name"] for model in one["models"]]) for one in decided["folders"]] == [
        ("known", ["plain"]),
        ("known (predictions_new)", ["tagged"]),
    ]


def test_a_baseline_that_was_copied_without_its_items_says_which_file_is_missing(tmp_path: Path) -> None:
    known = plans(tmp_path / "known")
    known.write("m", 0, known.ids)
    evaluate(known.folder, llm="m")
    (tmp_path / "before.json").write_text((known.folder / "metrics/m.json").read_text())
    done = inside(
        "report", "--data_dir", known.folder, "--out", tmp_path / "r", "--baseline", tmp_path / "before.json"
    )
    assert done.code == 2
    assert "before.items.jsonl" in done.error and "copy" in done.error
