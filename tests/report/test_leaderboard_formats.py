from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.markdown_tables import markdown_cells
from toolassay.benchmarks.taskbench.scoring.leaderboard import (
    DOMAINS,
    HEADINGS,
    domain_of_tools,
    published_plans,
)
from toolassay.evaluation.metrics_file import ColumnScores
from toolassay.metrics.confidence_interval import Interval
from toolassay.records.data_folder import DataFolder
from toolassay.reports.axes import Cost, Latency
from toolassay.reports.leaderboard import Board, Kind, LeaderboardRow, ordered_rows
from toolassay.runs.outcomes import BASELINE, LOCAL, RULES_AT_HAND, RowMark
from toolassay.tools.library import ToolLibrary

NAME = "we|ird_*[red]x*_\\50%&<b>\n\x1b[31m"
FREE, FAST, LOCAL_TIME = Cost(0.0, None, usd=0.0), Latency(2.0, 3.0), Latency(0.0041, 0.02, is_local=True)
PRINTED = "we|ird_*[red]x*_\\50%&<b>??[31m"


def interval(value: float) -> Interval:
    return Interval(value, value - 1, value + 1)


def row(
    name: str,
    kind: Kind = "strict",
    scores: Mapping[str, Interval] = {},
    cost: Cost | None = None,
    latency: Latency | None = None,
    mark: RowMark | None = None,
) -> LeaderboardRow:
    counted = ColumnScores(300, 99.7, scores)
    return LeaderboardRow(name, kind, counted, cost, latency, "toolassay:1|data:ab", mark)


def published(domain: str) -> list[list[LeaderboardRow]]:
    return [
        [row(model, "published", {name: Interval(value, None, None) for name, value in scores.items()})]
        for model, scores in published_plans(DataFolder(Path("d")), domain).items()
    ]


def board(cost: Cost | None = None, latency: Latency | None = None) -> Board:
    scores = {heading: interval(50.0 + number) for number, heading in enumerate(HEADINGS) if heading != "BsF"}
    bare = {heading: Interval(one.value, None, None) for heading, one in scores.items()}
    rows = [row(NAME, "strict", scores, cost, latency), row(NAME, "compat", bare, cost, latency)]
    return Board("d: overall_overall", rows, HEADINGS, "Percent.", ["a remark"])


def test_markdown_shows_a_name_as_it_is() -> None:
    head, strict, compat = markdown_cells(board().text("markdown"))
    assert strict[:4] == [PRINTED, "strict", "300", "99"]
    assert compat[:4] == ["", "compat", "300", "99"]
    assert dict(zip(head, strict, strict=True))["n-F1"] == "53.00 (52.0–54.0)"
    assert dict(zip(head, compat, strict=True))["n-F1"] == "53.00"
    assert "a remark" in board().text("markdown")


def test_the_unknown_is_a_dash_and_never_zero() -> None:
    head, *_ = markdown_cells(board().text("markdown"))
    assert not {"BsF", "$ / 1,000", "$", "s (median)"} & {*head}, "a column without any number is left out"
    part = Board("d", [row("a", scores={"R1": interval(1.0)}), row("b", latency=FAST)], ("R1",), "Percent.")
    head, first, second = markdown_cells(part.text("markdown"))
    assert (head[-2:], first[-1], second[-2:]) == (["R1", "s (median)"], "–", ["–", "2.00"])


def test_a_cost_that_is_known_in_part_is_a_lower_bound() -> None:
    known = Cost(2.0, None, is_at_least=True, usd=0.6)
    _, strict, _ = markdown_cells(board(known, FAST).text("markdown"))
    assert strict[-3:] == ["≥ 2.0000", "≥ 0.6000", "2.00"]
    _, strict, _ = markdown_cells(board(FREE, FAST).text("markdown"))
    assert strict[-3:] == ["0.0000", "0.0000", "2.00"]


def test_csv_holds_numbers_and_bounds() -> None:
    cost = Cost(2.0, None, is_at_least=True, usd=0.6)
    strict, compat = csv.DictReader(io.StringIO(board(cost=cost).csv()))
    assert strict["model"] == PRINTED
    assert [float(strict[f"n-F1{part}"]) for part in ("", "_low", "_high")] == [53.0, 52.0, 54.0]
    assert (compat["n-F1"], compat["n-F1_low"], compat["BsF"]) == ("53.0", "", "")
    assert (strict["cost_usd"], strict["cost_is_at_least"]) == ("0.6", "True")
    assert strict["signature"] == "toolassay:1|data:ab"
    (first, *_) = csv.DictReader(io.StringIO(board().csv()))
    assert (first["cost_usd"], first["seconds_p50"]) == ("", "")


def test_all_51_published_rows_are_those_of_the_reference(reference: Path) -> None:
    with (reference / "taskbench" / "published_leaderboard.csv").open(encoding="utf-8") as stream:
        expected = {
            (line["domain"], line["llm"]): [float(line[name.replace("-", "_")]) for name in HEADINGS]
            for line in csv.DictReader(stream)
        }
    found = {
        (domain, first.model): [first.score(heading).value for heading in HEADINGS]
        for domain in DOMAINS
        for (first,) in published(domain)
    }
    assert found == expected and len(found) == 51


def test_a_domain_is_known_by_its_tools(root: Path) -> None:
    for domain in DOMAINS:
        ids = ToolLibrary.load(root / f"data_{domain}" / "tool_desc.json").ids
        assert domain_of_tools(ids) == domain
        assert domain_of_tools(ids[1:]) is None


def test_the_cheapest_stands_first_and_the_unknown_last_and_local_times_below_those_of_servers() -> None:
    models = [
        [row("dear", cost=Cost(3.0, None), latency=Latency(0.1, 1.0))],
        [row("cheap", cost=Cost(1.0, None), latency=Latency(0.3, 1.0))],
        [row("local", cost=FREE, latency=LOCAL_TIME)],
        [row("none")],
    ]
    assert [one.model for one in ordered_rows(models, "cost", {})] == ["local", "cheap", "dear", "none"]
    assert [one.model for one in ordered_rows(models, "latency", {})] == ["dear", "cheap", "local", "none"]


def marked_board() -> Board:
    """A model whose rules were written with the requests at hand, a baseline, and a served model."""
    rows = [
        [row("offline", latency=LOCAL_TIME, mark=RULES_AT_HAND)],
        [row("random", latency=LOCAL_TIME, mark=BASELINE)],
        [row("acme", latency=FAST)],
    ]
    return Board("d", ordered_rows(rows, "n-F1", {}), HEADINGS, "Percent.")


@pytest.mark.parametrize(("format", "dagger"), [("terminal", "†"), ("markdown", "†"), ("latex", r"\dag{}")])
def test_every_table_marks_the_rows_of_built_in_models_and_says_why(format: str, dagger: str) -> None:
    text = " ".join(marked_board().text(format).split())
    assert f"offline {dagger}" in text and "random (baseline)" in text and f"acme {dagger}" not in text
    for line in (RULES_AT_HAND.note.replace("%", r"\%") if "tabular" in text else RULES_AT_HAND.note, LOCAL):
        assert line in text
    assert BASELINE.note in text
    assert "0.0041 local" in text and "2.00 local" not in text


@pytest.mark.parametrize("column", [*HEADINGS, "coverage", "cost", "latency", "model"])
def test_a_baseline_is_not_ranked_by_any_column(column: str) -> None:
    best = {heading: interval(99.0) for heading in HEADINGS}
    rows = [
        [row("a baseline", "strict", best, FREE, LOCAL_TIME, BASELINE)],
        [row("model")],
        *published("multimedia"),
    ]
    assert ordered_rows(rows, column, {})[-1].model == "a baseline"
