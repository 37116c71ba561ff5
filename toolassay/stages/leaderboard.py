"""The leaderboard stage: the models of a folder in the report's order, optionally beside published rows."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from toolassay.data_folder import BY_RULES
from toolassay.errors import UsageError
from toolassay.evaluation.groups import OVERALL_GROUP, ScoreGroup
from toolassay.evaluation.items import items_path
from toolassay.evaluation.metrics_file import ColumnScores, Standing, standing_of
from toolassay.evaluation.places import recorded_model
from toolassay.files import write_text
from toolassay.metrics.confidence_interval import Interval
from toolassay.models.registry import BASELINES
from toolassay.report.axes import Outcomes, outcomes_of
from toolassay.report.leaderboard import (
    OTHER_SORTS,
    Board,
    LeaderboardRow,
    csv_table,
    in_order,
    latex_table,
    markdown_table,
    terminal_text,
)
from toolassay.runs.outcomes import NO_TOOLS, WORDINGS, mark_of
from toolassay.runs.recorded_usage import recorded_usage
from toolassay.stages.scored_folder import ScoredFolder

Mode = Literal["both", "strict", "compat"]
MODES: tuple[Mode, ...] = ("both", "strict", "compat")
FILE = "leaderboard.md"
_FORMATS: dict[str, Callable[[Board], str]] = {
    "terminal": terminal_text,
    "markdown": markdown_table,
    "csv": csv_table,
    "latex": latex_table,
}
_SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".csv": "csv", ".tex": "latex", ".txt": "terminal"}
_NAMED = 5
_OUTCOMES = ("outcome", "unwanted")
# Parts of a signature in which models differ by nature.
_OWN = ("predictions", "trials", "orders", "items", "n", WORDINGS, NO_TOOLS)


def leaderboard(
    data_dir: str | Path = "data_huggingface",
    *,
    prediction_dir: str | Path = "predictions",
    metrics_dir: str | Path | None = None,
    group: str = OVERALL_GROUP,
    mode: Mode = "both",
    sort_by: str | None = None,
    with_published: bool = False,
    published: str | None = None,
) -> Board:
    """The models of a folder in the report's order; remarks name omitted models and rows that do not compare.

    Args:
        data_dir: Data folder of any benchmark.
        prediction_dir: Prediction folder, below `data_dir` or as a path; its runs have cost and latency, and
            its name determines the metrics folder.
        metrics_dir: Metrics folder, below `data_dir` or as a path.
        group: Group of the metrics, e.g. "overall_overall".
        mode: Rows to show: "strict", "compat" or "both".
        sort_by: A column heading, "coverage", "cost", "latency" or "model"; strict scores are used if there
            are any. Default: the ranking of the report, then models without ranked items by the main score.
        with_published: Add the published rows of the folder's domain.
        published: Domain of the published rows, if the folder does not name it.

    Raises:
        UsageError: There are no metrics, or the group, mode, column or domain is unknown.
    """
    place = ScoredFolder.at(data_dir, prediction_dir, metrics_dir)
    _check("mode", mode, MODES)
    scores, title = place.benchmark.scores, place.benchmark.about.title
    others: Mapping[str, Mapping[str, float]] = {}
    if with_published or published:
        if scores.published is None:
            raise UsageError(f"{title} has no published rows", fix="omit --with_published")
        others = scores.published(place.folder, published)
    files = sorted(place.metrics.glob("*.json")) if place.metrics.is_dir() else []
    if not files:
        raise UsageError("holds no metrics", file=place.metrics, fix=_where_metrics_are(place.folder.path))
    remarks: list[str] = []
    standings: dict[str, Standing] = {}
    models: dict[str, list[LeaderboardRow]] = {}
    outcomes: dict[str, Outcomes] = {}
    part = ScoreGroup(*group.partition("_")[::2])
    for file in files:
        try:
            standing, name = standing_of(file, group, scores.standing), place.model(file.stem)
        except UsageError as error:
            remarks.append(f"left out: {error}")
            continue
        usage = None
        if place.predictions is not None:
            if standing.strict is None:
                remarks.append(f"{name} has no strict scores: evaluate it again")
            for changed, what in place.changed_since(name, standing.parts):
                remarks.append(
                    f"warning: {name} was scored with other {changed} than {what} has: evaluate it again"
                )
            try:
                usage = recorded_usage(place.predictions / "runs" / file.stem)
            except UsageError as error:
                remarks.append(f"cost and time of {name} are unknown: {error}")
        if standing.strict is not None and standing.strict.asked:
            why = f" ({standing.excluded})" if standing.excluded else ""
            remarks.append(f"{name}: {standing.strict.asked}{why}: below the complete runs, without a rank")
        standings[name] = standing
        if (found := outcomes_of(items_path(file), part)) is not None:
            outcomes[name] = found
        mark = mark_of(recorded_model(place.predictions, file.stem), standing.parts)
        strict, compat = standing.strict, standing.compat
        rows = [
            LeaderboardRow(name, "strict", strict, usage, standing.signature, mark) if strict else None,
            LeaderboardRow(name, "compat", compat, usage, "", mark) if compat else None,
        ]
        models[name] = [row for row in rows if row is not None and mode in ("both", row.kind)]
    if not standings:
        raise UsageError(f"no model to show: {'; '.join(remarks)}", file=place.metrics)
    remarks += _compared(standings)
    if without := sorted(BASELINES - standings.keys()):
        flags = " ".join(f"--llm {name}" for name in without)
        remarks.append(
            f"baselines not run yet: run inference.py with each of {flags}, then evaluate.py --llm all"
        )
    headings, column = scores.headings, scores.sort_by
    if any(not one.problem for one in outcomes.values()):
        headings, column = (*_OUTCOMES, *headings), _OUTCOMES[0]
        models = {name: [_judged(row, outcomes.get(name)) for row in rows] for name, rows in models.items()}
    remarks += _not_ranked(standings, outcomes)
    _check("column to sort by", sort_by or column, (*headings, *OTHER_SORTS))
    published_rows = [
        [
            LeaderboardRow(
                name,
                "published",
                ColumnScores(
                    None, None, {heading: Interval(value, None, None) for heading, value in row.items()}
                ),
            )
        ]
        for name, row in others.items()
    ]
    rows_in_order = in_order(
        [*models.values(), *published_rows],
        sort_by or column,
        {} if sort_by else _ranking(place, standings, part),
    )
    remarks += _signature(standings)
    remarks += [f"the data set is {BY_RULES}"] if place.folder.is_by_rules else []
    return Board(f"{place.name}: {group}", rows_in_order, headings, scores.caption, remarks)


def _ranking(place: ScoredFolder, models: Mapping[str, Standing], part: ScoreGroup) -> dict[str, int]:
    """The positions in the report's ranking; empty if no models can be ranked together."""
    if len(models) < 2:
        return {}
    runs = []
    for model in models:
        with suppress(UsageError):
            runs.append(place.read(model))
    try:
        return place.having(runs).positions(part)
    except UsageError:
        return {}


def render(board: Board, format: str) -> str:
    """The leaderboard as text: "terminal", "markdown", "csv" or "latex".

    Raises:
        UsageError: The format is unknown.
    """
    _check("format", format, tuple(_FORMATS))
    return _FORMATS[format](board)


def format_of(path: Path) -> str:
    """The format that the suffix of a file name stands for.

    Raises:
        UsageError: The suffix is unknown.

    >>> format_of(Path("board.tex"))
    'latex'
    """
    if (found := _SUFFIXES.get(path.suffix.lower())) is None:
        fix = "use .md, .csv, .tex or .txt, or add --format"
        raise UsageError("has an unknown suffix", file=path, fix=fix)
    return found


def keep_leaderboard(data_dir: str | Path, prediction_dir: str | Path, metrics: Path) -> Path | None:
    """Write `leaderboard.md` to a metrics folder and return its path; None with fewer than two models."""
    try:
        board = leaderboard(data_dir, prediction_dir=prediction_dir, metrics_dir=metrics.absolute())
    except UsageError:
        return None
    if len({row.model for row in board.rows}) < 2:
        return None
    write_text(metrics / FILE, markdown_table(board))
    return metrics / FILE


def _judged(row: LeaderboardRow, found: Outcomes | None) -> LeaderboardRow:
    """A strict row with its outcomes, in percent."""
    if row.kind != "strict" or found is None or found.problem:
        return row
    shares = {
        heading: Interval(*(None if value is None else 100 * value for value in share))
        for heading, share in zip(_OUTCOMES, (found.right, found.harm), strict=True)
    }
    return replace(row, counted=replace(row.counted, scores={**shares, **row.counted.scores}))


def _not_ranked(standings: Mapping[str, Standing], outcomes: Mapping[str, Outcomes]) -> Iterator[str]:
    """Where predictions were executed: what the columns mean, and which models have no outcome, and why."""
    if not outcomes:
        return
    yield (
        "outcome: the plan ran, answers and leaves the state as the gold plan; unwanted: it changed "
        "something else"
    )
    for name in standings:
        if name not in outcomes:
            yield f"{name} was not executed: run toolassay execute --predictions {shlex.quote(name)}"
        elif outcomes[name].note:
            yield f"{name}: {outcomes[name].note}"


def _compared(standings: Mapping[str, Standing]) -> Iterator[str]:
    """Warnings of signature parts in which the models differ."""
    signed = {name: standing.parts for name, standing in standings.items() if standing.parts}
    for part in dict.fromkeys(part for parts in signed.values() for part in parts):
        by_value: dict[str, list[str]] = {}
        for name, parts in signed.items():
            by_value.setdefault(parts.get(part, "none"), []).append(name)
        if len(by_value) > 1 and part not in _OWN:
            each = "; ".join(f"{value}: {', '.join(names)}" for value, names in by_value.items())
            yield f"warning: rows differ in {part} ({each}) and are not fully comparable"


def _signature(standings: Mapping[str, Standing]) -> Iterator[str]:
    """The signature parts that all strict scores share."""
    if signed := [standing.parts for standing in standings.values() if standing.parts]:
        common = [pair for pair in signed[0].items() if all(pair in parts.items() for parts in signed)]
        yield f"signature: {'|'.join(map(':'.join, common))}"


def _where_metrics_are(path: Path) -> str:
    """Advice for an empty metrics folder: the folders in the data folder that have metrics."""
    files = (file for pattern in ("*/*.items.jsonl", "*/*/*.items.jsonl") for file in path.glob(pattern))
    folders = sorted(
        {file.parent.relative_to(path).as_posix() for file in files if file.parent.name != "outcomes"}
    )
    if folders:
        return f"choose with --metrics_dir; folders with metrics in {path}: {', '.join(folders[:_NAMED])}"
    return "make them with evaluate.py --llm all"


def _check(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise UsageError(f"unknown {what} '{given}'", fix=f"choose from {', '.join(known)}")
