from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from test_tables import markdown_cells

from toolassay.benchmarks.taskbench.scoring.leaderboard import (
    DOMAINS,
    HEADINGS,
    domain_of_tools,
    published_plans,
)
from toolassay.data_folder import DataFolder
from toolassay.evaluation.metrics_file import ColumnScores
from toolassay.metrics.confidence_interval import Interval
from toolassay.report.leaderboard import (
    Board,
    Kind,
    LeaderboardRow,
    csv_table,
    latex_table,
    markdown_table,
    ordered_rows,
    terminal_text,
)
from toolassay.runs.outcomes import BASELINE, LOCAL, RULES_AT_HAND, RowMark
from toolassay.runs.recorded_usage import RecordedUsage
from toolassay.tools import ToolLibrary

NAME = "we|ird_*[red]x*_\\50%&<b>\n\x1b[31m"
PRINTED = "we|ird_*[red]x*_\\50%&<b>??[31m"


def interval(value: float) -> Interval:
    return Interval(value, value - 1, value + 1)


def row(
    name: str,
    kind: Kind = "strict",
    scores: Mapping[str, Interval] = {},
    usage: RecordedUsage | None = None,
    mark: RowMark | None = None,
) -> LeaderboardRow:
    return LeaderboardRow(name, kind, ColumnScores(300, 99.7, scores), usage, "toolassay:1|data:ab", mark)


def published(domain: str) -> list[list[LeaderboardRow]]:
    return [
        [row(model, "published", {name: Interval(value, None, None) for name, value in scores.items()})]
        for model, scores in published_plans(DataFolder(Path("d")), domain).items()
    ]


def board(*, usage: RecordedUsage | None = None, name: str = NAME) -> Board:
    scores = {heading: interval(50.0 + number) for number, heading in enumerate(HEADINGS) if heading != "BsF"}
    bare = {heading: Interval(one.value, None, None) for heading, one in scores.items()}
    rows = [row(name, "strict", scores, usage), row(name, "compat", bare, usage)]
    return Board("d: overall_overall", rows, HEADINGS, "Percent.", ["a remark"])


def test_markdown_shows_a_name_as_it_is() -> None:
    head, strict, compat = markdown_cells(markdown_table(board()))
    assert strict[:4] == [PRINTED, "strict", "300", "99"]
    assert compat[:4] == ["", "compat", "300", "99"]
    assert dict(zip(head, strict, strict=True))["n-F1"] == "53.00 (52.0–54.0)"
    assert dict(zip(head, compat, strict=True))["n-F1"] == "53.00"
    assert "a remark" in markdown_table(board())


def test_the_unknown_is_a_dash_and_never_zero() -> None:
    head, strict, _ = markdown_cells(markdown_table(board()))
    row = dict(zip(head, strict, strict=True))
    assert [row[name] for name in ("BsF", "$ / 1,000", "$", "s (median)")] == ["–"] * 4
    usage = RecordedUsage(None, 7, 300, 1.25)
    head, strict, _ = markdown_cells(markdown_table(board(usage=usage)))
    assert strict[-3:] == ["–", "–", "1.25"]


def test_a_cost_that_is_known_in_part_is_a_lower_bound() -> None:
    _, strict, _ = markdown_cells(markdown_table(board(usage=RecordedUsage(0.6, 1, 300, 2.0))))
    assert strict[-3:] == ["≥ 2.0000", "≥ 0.6000", "2.00"]
    _, strict, _ = markdown_cells(markdown_table(board(usage=RecordedUsage(0.0, 0, 300, 2.0))))
    assert strict[-3:] == ["0.0000", "0.0000", "2.00"]


def test_csv_holds_numbers_and_bounds() -> None:
    usage = RecordedUsage(0.6, 1, 300, 2.0)
    strict, compat = csv.DictReader(io.StringIO(csv_table(board(usage=usage))))
    assert strict["model"] == PRINTED
    assert [float(strict[f"n-F1{part}"]) for part in ("", "_low", "_high")] == [53.0, 52.0, 54.0]
    assert (compat["n-F1"], compat["n-F1_low"], compat["BsF"]) == ("53.0", "", "")
    assert (strict["cost_usd"], strict["requests_of_unknown_cost"]) == ("0.6", "1")
    assert strict["signature"] == "toolassay:1|data:ab"
    (first, *_) = csv.DictReader(io.StringIO(csv_table(board())))
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
    usages = {
        "dear": RecordedUsage(3.0, 0, 10, 0.1),
        "cheap": RecordedUsage(1.0, 0, 10, 0.3),
        "local": RecordedUsage(0.0, 0, 10, 0.001, is_local=True),
        "none": None,
    }
    models = [[row(name, usage=usage)] for name, usage in usages.items()]
    assert [one.model for one in ordered_rows(models, "cost", {})] == ["local", "cheap", "dear", "none"]
    assert [one.model for one in ordered_rows(models, "latency", {})] == ["dear", "cheap", "local", "none"]


def marked_board() -> Board:
    """A model whose rules were written with the requests at hand, a baseline, and a served model."""
    local = RecordedUsage(0.0, 0, 300, 0.0041, is_local=True)
    rows = [
        [row("offline", usage=local, mark=RULES_AT_HAND)],
        [row("random", usage=local, mark=BASELINE)],
        [row("acme", usage=RecordedUsage(1.0, 0, 9, 2.0))],
    ]
    return Board("d", ordered_rows(rows, "n-F1", {}), HEADINGS, "Percent.")


@pytest.mark.parametrize(
    ("render", "dagger"), [(terminal_text, "†"), (markdown_table, "†"), (latex_table, r"\dag{}")]
)
def test_every_table_marks_the_rows_of_built_in_models_and_says_why(
    render: Callable[[Board], str], dagger: str
) -> None:
    text = " ".join(render(marked_board()).split())
    assert f"offline {dagger}" in text and "random (baseline)" in text and f"acme {dagger}" not in text
    for line in (RULES_AT_HAND.note.replace("%", r"\%") if "tabular" in text else RULES_AT_HAND.note, LOCAL):
        assert line in text
    assert BASELINE.note in text
    assert "0.0041 local" in text and "2.00 local" not in text


@pytest.mark.parametrize("column", [*HEADINGS, "coverage", "cost", "latency", "model"])
def test_a_baseline_is_not_ranked_by_any_column(column: str) -> None:
    free = RecordedUsage(0.0, 0, 10, 0.0001, is_local=True)
    best = {heading: interval(99.0) for heading in HEADINGS}
    rows = [[row("a baseline", "strict", best, free, BASELINE)], [row("model")], *published("multimedia")]
    assert ordered_rows(rows, column, {})[-1].model == "a baseline"
