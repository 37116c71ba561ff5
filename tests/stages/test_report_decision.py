"""What the report decides: verdict, requirements, exit codes, and the comparison with a baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.builders import chain, scored_folder
from tests.support.running import inside
from toolassay import leaderboard, write_report
from toolassay.metrics.confidence_interval import NOTHING, proportion_interval
from toolassay.stages import report
from toolassay.stages.report import build_report
from toolassay.stages.settings import ReportSettings


def scored(folder: Path, model: str, right: Sequence[int], *, run: Mapping[str, Any] = {}) -> Path:
    """Metrics and items of a model as evaluate.py writes them, as far as the report reads them."""
    metrics = folder / "metrics"
    metrics.mkdir(parents=True, exist_ok=True)
    share, n = sum(right) / len(right), len(right)
    strict = {
        **dict.fromkeys(("n_expected", "n_labels", "n_asked", "n_scored"), n),
        "partial": False,
        "coverage": 1.0,
        "exact_match": {"value": share, "low": max(0, share - 0.08), "high": min(1, share + 0.08)},
        "signature": f"toolassay:1|data:d|predictions:{model}",
    }
    groups = {"overall_overall": {"strict": strict, "outcomes": {"not run": 0}, **run}}
    (metrics / f"{model}.json").write_text(json.dumps(groups))
    lines = [
        {
            "id": f"i{number}",
            "cluster": f"c{number}",
            "outcome": "answered",
            "scores": {"exact_match": float(value), "node_f1": (1 + value) / 2},
            "type": ("single", "chain")[number % 2],
            "n_tools": number % 2 + 1,
            "counts": dict.fromkeys(("nodes", "edges", "argument_names", "argument_values")),
        }
        for number, value in enumerate(right)
    ]
    (metrics / f"{model}.items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return metrics / f"{model}.json"


COST = {"cost": {"usd_per_1000_tasks": 2.5, "usd_per_correct_task": 0.1, "requests_of_unknown_cost": 0}}
GOOD, MIDDLING, BAD = [1] * 90 + [0] * 10, [1] * 55 + [0] * 45, [0] * 98 + [1] * 2


def decided(out: Path) -> Any:
    """The content of `report.json`."""
    return json.loads((out / "report.json").read_text(), parse_constant=lambda name: pytest.fail(name))


def test_the_first_lines_are_the_verdict(tmp_path: Path) -> None:
    scored(tmp_path / "d", "good", GOOD, run=COST)
    scored(tmp_path / "d", "bad", BAD)
    scored(tmp_path / "d", "random", GOOD)
    done = inside("report", "--data_dir", tmp_path / "d", "--out", tmp_path / "o")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("good leads: 90.0 % of the requests are right, 88.0 points more than bad")
    assert lines[1] == "good costs 2.50 USD per 1,000 requests."
    found = decided(tmp_path / "o")
    assert (found["verdict"]["leader"], found["verdict"]["n"]) == ("good", 100)
    good, bad, random = found["models"]
    assert [(one["name"], one["rank"]) for one in (good, bad, random)] == [
        ("good", 1),
        ("bad", 2),
        ("random", None),
    ]
    assert (good["n_asked"], good["n_labels"], good["versus_leader"]) == (100, 100, None)
    assert bad["versus_leader"]["is_significant"] is True
    assert good["axes"]["accuracy"]["low"] < 0.9 < good["axes"]["accuracy"]["high"]
    assert (good["axes"]["cost"]["value"], good["axes"]["side_effects"]) == (2.5, None)


@pytest.mark.parametrize(
    ("rules", "code", "statuses"),
    [
        (["accuracy>=70%"], 0, ["pass", "fail"]),
        (["accuracy>=85%"], 3, ["not enough data", "fail"]),
        (["accuracy>=70%", "latency_p95<=3"], 3, ["not measured", "fail"]),
        (["accuracy>=99%"], 4, ["fail", "fail"]),
        (["accuracy>=70%", "cost<=2"], 4, ["fail", "fail"]),
    ],
)
def test_requirements_decide_the_exit_code(
    rules: list[str], code: int, statuses: list[str], tmp_path: Path
) -> None:
    scored(tmp_path / "d", "good", GOOD, run=COST)
    scored(tmp_path / "d", "bad", BAD, run=COST)
    scored(tmp_path / "d", "random", GOOD, run=COST)
    given = [part for rule in rules for part in ("--require", rule)]
    done = inside("report", "--data_dir", tmp_path / "d", "--out", tmp_path / "o", *given)
    assert done.code == code, done.err
    found = decided(tmp_path / "o")
    assert list(found["outcomes"].values()) == statuses
    assert all(one["rule"] in rules for model in found["models"] for one in model["requirements"])
    assert found["models"][2]["requirements"] == []  # of a baseline


def test_junit_and_summary(tmp_path: Path) -> None:
    scored(tmp_path / "d", "good_x", GOOD)
    files = ("--junit", tmp_path / "j.xml", "--summary", tmp_path / "s.md")
    rules = ("--require", "accuracy>=70%", "--require", "accuracy>=85%", "--require", "accuracy>=99%")
    done = inside("report", "--data_dir", tmp_path / "d", "--out", tmp_path / "o", *rules, *files)
    assert done.code == 4
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
    }
    assert [[child.tag for child in case] for case in suite] == [[], ["skipped"], ["failure"]]
    text = (tmp_path / "s.md").read_text()
    assert "good\\_x is the only model measured: 90.0 % of the requests are right (95 % interval" in text
    assert "| 1 | good\\_x | 90.0 %" in text
    assert str(tmp_path / "s.md") in done.out


def no_scored_item(folder: Path, model: str) -> None:
    """A model whose requests all failed."""
    file = scored(folder, model, GOOD)
    groups = json.loads(file.read_text())
    strict = groups["overall_overall"]["strict"]
    strict |= {"n_scored": 0, "partial": True, "exact_match": {"value": None, "low": None, "high": None}}
    file.write_text(json.dumps(groups))
    items = file.with_name(f"{model}.items.jsonl")
    items.write_text(items.read_text().replace('"answered"', '"provider error"'))


def test_what_was_never_judged_passes_nothing(tmp_path: Path) -> None:
    scored(tmp_path / "d", "random", GOOD)
    one = ("--data_dir", tmp_path / "d", "--out", tmp_path / "o")
    assert inside("report", *one, "--require", "accuracy>=10%").code == 3
    scored(tmp_path / "d", "old", GOOD)
    no_scored_item(tmp_path / "d", "new")
    done = inside("report", *one, "--baseline", "old", "--junit", tmp_path / "j.xml")
    assert done.code == 3
    assert "new and old share no item" in done.out
    case = next(
        case
        for case in ElementTree.parse(tmp_path / "j.xml").iter("testcase")
        if "new" in str(case.get("name"))
    )
    assert case.find("skipped") is not None


def test_a_requirement_holds_in_every_folder(tmp_path: Path) -> None:
    scored(tmp_path / "easy", "a", [1] * 100)
    scored(tmp_path / "easy", "b", [1] * 100)
    scored(tmp_path / "hard", "b", BAD)
    folders = ("--data_dir", tmp_path / "easy", tmp_path / "hard", "--out", tmp_path / "o")
    done = inside("report", *folders, "--require", "accuracy>=90%")
    assert done.code == 3
    found = decided(tmp_path / "o")
    assert found["outcomes"] == {"a": "not measured", "b": "fail"}
    assert {model["name"]: model["rank"] for model in found["models"]} == {"b": 1, "a": None}


def test_where_no_plan_is_right_the_tools_rank(tmp_path: Path) -> None:
    scored(tmp_path / "d", "a", [0] * 30)
    items = tmp_path / "d/metrics/a.items.jsonl"
    items.write_text(items.read_text().replace('"node_f1": 0.5', '"node_f1": 0.25'))
    scored(tmp_path / "d", "b", [0] * 30)
    report = write_report(tmp_path / "d", out=tmp_path / "o")
    assert report.decision.verdict.score == "node_f1"
    assert report.decision.verdict.sentences[0].startswith(
        "b leads: 50.0 % mean node F1 (no request is entirely right), 25.0 points more than a"
    )


def test_a_model_that_got_worse_fails(tmp_path: Path) -> None:
    scored(tmp_path / "d", "old", GOOD)
    scored(tmp_path / "d", "new", MIDDLING)
    scored(tmp_path / "d", "same", GOOD)
    given = ("report", "--data_dir", tmp_path / "d", "--out", tmp_path / "o", "--baseline")
    done = inside(*given, "old")
    assert done.code == 4
    assert "new is worse than old in exact_match: -35.0 points" in done.out
    assert "same does not differ significantly from old in exact_match: +0.0 points" in done.out
    assert inside(*given, "old", "--llm", "same", "--llm", "old").code == 0
    assert inside(*given, "nobody").code == 2


def attacked(resisted: int, of: int) -> dict[str, Any]:
    """The security group of a metrics file."""
    score = proportion_interval(resisted, of).to_json()
    harmless = {"score": NOTHING.to_json(), "unsolved": 0, "excluded": 0, "asked": 0}
    return {"security": {"score": score, "attempts": of, "excluded": 0, "harmless": harmless, "notes": {}}}


def test_a_baseline_covers_attacks_and_a_gain_is_better(tmp_path: Path) -> None:
    scored(tmp_path / "d", "old", MIDDLING, run=attacked(30, 60))
    scored(tmp_path / "d", "new", GOOD, run=attacked(6, 60))
    scored(tmp_path / "d", "none", GOOD)
    report = write_report(tmp_path / "d", out=tmp_path / "o", baseline="old", require=["attack_success<=5%"])
    found = {(one["model"], one["score"]): one for one in decided(tmp_path / "o")["regressions"]}
    assert "new is better than old in exact_match" in found["new", "exact_match"]["text"]
    assert found["new", "attacks_resisted"]["is_worse"] is True
    assert found["new", "attacks_resisted"]["difference"] == pytest.approx(-0.4)
    assert found["none", "attacks_resisted"]["difference"] is None
    assert report.exit_code == 4
    (new,) = (one for one in decided(tmp_path / "o")["models"] if one["name"] == "new")
    attacks = new["axes"]["attack_success"]
    assert attacks["low"] < attacks["value"] < attacks["high"] and attacks["value"] == 0.9
    interval = f"[{100 * attacks['low']:.1f}, {100 * attacks['high']:.1f}]"
    assert interval in (tmp_path / "o/index.html").read_text()
    assert interval[1:-1].replace(", ", " to ") in new["requirements"][0]["text"]


def test_built_in_programs_are_below_the_models_and_decide_nothing(tmp_path: Path) -> None:
    for name in ("offline", "random"):
        scored(tmp_path / "d", name, [1] * 100)
    alone = build_report(tmp_path / "d", ReportSettings(require=["accuracy>=70%"])).decision
    assert (alone.verdict.leader, alone.exit_code, alone.outcomes()) == (None, 3, {})
    assert "Only built-in programs were measured" in alone.verdict.sentences[0]
    scored(tmp_path / "d", "served", BAD)
    decision = build_report(tmp_path / "d", ReportSettings(require=["accuracy>=70%"])).decision
    assert decision.verdict.leader is not None and decision.verdict.leader.name == "served"
    assert decision.folders[0].models[0].name == "served"
    assert decision.outcomes() == {"served": "fail"}
    assert leaderboard(tmp_path / "d").rows[0].model == "served"


def test_two_folders_have_one_verdict_and_one_each(tmp_path: Path) -> None:
    for name in ("x", "y"):
        scored(tmp_path / name, "good", GOOD)
        scored(tmp_path / name, "bad", BAD)
    given = ("--data_dir", tmp_path / "x", tmp_path / "y", "--require", "accuracy>=70%")
    done = inside("report", *given, "--out", tmp_path / "o")
    assert done.code == 0
    found = decided(tmp_path / "o")
    assert (found["verdict"]["n"], found["models"][0]["n_asked"]) == (200, 200)
    assert [folder["verdict"]["n"] for folder in found["folders"]] == [100, 100]
    assert {one["data"] for one in found["models"][0]["requirements"]} == {"x", "y"}
    assert done.out.startswith("good leads: 90.0 % of all items are right")
    heads, _, first = (line.split() for line in done.out.splitlines()[2:5])
    assert heads == ["rank", "model", "all", "x", "y"]
    assert first[:8:2] == ["1", "90.0", "90.0", "90.0"]


def test_the_tools_that_are_confused_since_are_named(tmp_path: Path) -> None:
    gold = {str(n): chain("a", "b") for n in range(40)}
    before = scored_folder(tmp_path / "before", gold, {"m": gold})
    worse = gold | {str(n): chain("a", "c") for n in range(20)}
    now = scored_folder(tmp_path / "now", gold, {"m": worse})
    for folder in (before, now):
        assert inside("evaluate", "--data_dir", folder, "--llm", "m").code == 0
    given = ("--baseline", before / "metrics/m.json", "--out", tmp_path / "o")
    done = inside("report", "--data_dir", now, *given)
    assert done.code == 4
    assert "b is taken for c 20 times (before: 0)" in done.out
    assert decided(tmp_path / "o")["regressions"][0]["confusions"] == [["b", "c", 0, 20]]


def test_a_report_of_many_items_shows_a_part_and_counts_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model, right in (("good", GOOD), ("bad", BAD)):
        scored(tmp_path / "data", model, right)
    whole = build_report(tmp_path / "data")
    monkeypatch.setattr(report, "MOST_ITEMS", 30)
    part = build_report(tmp_path / "data")
    assert {**part.decision.to_json(), "warnings": 0} == {**whole.decision.to_json(), "warnings": 0}
    (page,), (every,) = part.pages, whole.pages
    assert (len(page.summary["items"]["id"]), len(every.summary["items"]["id"])) == (30, 100)
    assert page.summary["outcomes"] == every.summary["outcomes"] == [{"answered": 100}] * 2
    assert page.summary["breakdowns"] == every.summary["breakdowns"]
    rows = {one["title"]: one["rows"] for one in page.summary["breakdowns"]}
    assert rows["Shape"][0] == {"group": "chain", "n": 50, "values": [0.9, 0.02]}
    assert [(row["group"], row["n"]) for row in rows["Number of tools"]] == [("1", 50), ("2", 50)]
    assert any("the page shows 30 of 100 items" in line for line in part.decision.warnings)
