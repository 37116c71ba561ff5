"""The leaderboard stage: ranks the models of a data folder, optionally beside published rows."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.benchmarks.registry import benchmark_of
from toolassay.data_folder import BY_RULES, DataFolder
from toolassay.errors import UsageError
from toolassay.evaluation.groups import OVERALL_GROUP, ScoreGroup
from toolassay.evaluation.items import items_path
from toolassay.evaluation.metrics_file import ColumnScores, Standing, read_groups
from toolassay.evaluation.places import find_metrics_folder, model_name, prediction_folder, recorded_model
from toolassay.evaluation.signature import changed_parts
from toolassay.files import write_text
from toolassay.metrics.confidence_interval import Interval
from toolassay.models.registry import BASELINES
from toolassay.report.axes.axes import Outcomes
from toolassay.report.axes.from_metrics import outcomes_of
from toolassay.report.leaderboard import Board, LeaderboardRow, csv_table, latex_table, markdown_table
from toolassay.report.leaderboard.ranking import OTHER_SORTS, Kind, in_order
from toolassay.runs.marks import NO_TOOLS, WORDINGS, RowMark, mark_of
from toolassay.runs.recorded_usage import RecordedUsage, recorded_usage

Mode = Literal["both", "strict", "compat"]
MODES: tuple[Mode, ...] = ("both", "strict", "compat")
FORMATS = ("terminal", "markdown", "csv", "latex")
FILE = "leaderboard.md"
_NAMED = 5
_OUTCOMES = ("outcome", "unwanted")
_SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".csv": "csv", ".tex": "latex", ".txt": "terminal"}
_OWN = (
    "predictions",
    "trials",
    "orders",
    "items",
    "n",
    WORDINGS,
    NO_TOOLS,
)  # parts of a signature in which models differ by nature


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
    """Rank the models of a folder; the remarks name omitted models and rows that are not comparable.

    Args:
        data_dir: Data folder of any benchmark.
        prediction_dir: Prediction folder, below `data_dir` or as a path; its runs have cost and latency, and
            its name determines the metrics folder.
        metrics_dir: Metrics folder, below `data_dir` or as a path.
        group: Group of the metrics, e.g. "overall_overall".
        mode: Rows to show: "strict", "compat" or "both".
        sort_by: A column heading, "coverage", "cost", "latency" or "model"; strict scores are used if there
            are any. Default: "outcome" where predictions were executed, else the main score of the benchmark.
        with_published: Add the published rows of the folder's domain.
        published: Domain of the published rows, if the folder does not name it.

    Raises:
        UsageError: There are no metrics, or the group, mode, column or domain is unknown.
    """
    folder = DataFolder(Path(data_dir)).require()
    _check("mode", mode, MODES)
    benchmark = benchmark_of(folder)
    columns, made_from = benchmark.columns, benchmark.made_from(folder)
    others = benchmark.published_rows(folder, published) if with_published or published else []
    place = find_metrics_folder(folder.path, prediction_dir, metrics_dir)
    files = sorted(place.glob("*.json")) if place.is_dir() else []
    if not files:
        raise UsageError("holds no metrics", file=place, fix=_where_metrics_are(folder))
    try:
        predictions: Path | None = prediction_folder(folder.path, Path(prediction_dir))
    except UsageError:
        predictions = None
    remarks: list[str] = []
    standings: dict[str, Standing] = {}
    models: list[list[LeaderboardRow]] = []
    outcomes: dict[str, Outcomes] = {}
    for file in files:
        try:
            standing = benchmark.read_standing(file, group)
            name = file.stem if predictions is None else model_name(predictions, file.stem)
        except UsageError as error:
            remarks.append(f"left out: {error}")
            continue
        usage = None
        if predictions is not None:
            remarks += _stale(benchmark, made_from, name, standing, predictions / file.name)
            try:
                usage = recorded_usage(predictions / "runs" / file.stem)
            except UsageError as error:
                remarks.append(f"cost and time of {name} are unknown: {error}")
        if standing.strict is not None and standing.strict.asked:
            why = f" ({standing.excluded})" if standing.excluded else ""
            remarks.append(f"{name}: {standing.strict.asked}{why}: below the complete runs, without a rank")
        standings[name] = standing
        mark = mark_of(recorded_model(predictions, file.stem), standing.parts)
        models.append(list(_rows(name, standing, usage, mode, mark)))
        if (found := outcomes_of(items_path(file), ScoreGroup(*group.partition("_")[::2]))) is not None:
            outcomes[name] = found
    if not standings:
        raise UsageError(f"no model to show: {'; '.join(remarks)}", file=place)
    remarks += _compared(standings)
    if without := sorted(BASELINES - standings.keys()):
        flags = " ".join(f"--llm {name}" for name in without)
        remarks.append(
            f"baselines not run yet: run inference.py with each of {flags}, then evaluate.py --llm all"
        )
    headings, default = columns.headings, columns.sort_by
    if any(not one.problem for one in outcomes.values()):
        headings, default = (*_OUTCOMES, *headings), _OUTCOMES[0]
        models = [[_judged(row, outcomes.get(row.model)) for row in rows] for rows in models]
    remarks += _not_ranked(standings, outcomes)
    sort_by = default if sort_by is None else sort_by
    _check("column to sort by", sort_by, (*headings, *OTHER_SORTS))
    models += [[row] for row in others]
    title = f"{folder.path.resolve().name}: {group}"
    remarks += _signature(standings)
    remarks += [f"the data set is {BY_RULES}"] if folder.is_by_rules else []
    return Board(title, in_order(models, sort_by), remarks, headings, columns.caption)


def render(board: Board, format: str) -> str:
    """The leaderboard as text in one of `FORMATS`.

    Raises:
        UsageError: The format is unknown.
    """
    from toolassay.report.leaderboard.tables import terminal_text

    _check("format", format, FORMATS)
    renderers: dict[str, Callable[[Board], str]] = {
        "terminal": terminal_text,
        "markdown": markdown_table,
        "csv": csv_table,
        "latex": latex_table,
    }
    return renderers[format](board)


def format_of(path: Path) -> str:
    """The format that the suffix of a file name stands for.

    Raises:
        UsageError: The suffix is unknown.

    >>> format_of(Path("board.tex"))
    'latex'
    """
    found = _SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise UsageError(
            "has an unknown suffix", file=path, fix="use .md, .csv, .tex or .txt, or add --format"
        )
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


def _rows(
    name: str, standing: Standing, usage: RecordedUsage | None, mode: Mode, mark: RowMark | None
) -> Iterator[LeaderboardRow]:
    counts: list[tuple[Kind, ColumnScores | None]] = [
        ("strict", standing.strict),
        ("compat", standing.compat),
    ]
    for kind, count in counts:
        if count is not None and mode in ("both", kind):
            yield LeaderboardRow(
                name,
                kind,
                count.scores,
                count.items,
                count.coverage,
                usage,
                standing.signature if kind == "strict" else "",
                count.asked,
                mark,
            )


def _judged(row: LeaderboardRow, found: Outcomes | None) -> LeaderboardRow:
    """A strict row with its outcomes, in percent."""
    if row.kind != "strict" or found is None or found.problem:
        return row
    shares = {
        heading: Interval(*(None if value is None else 100 * value for value in share))
        for heading, share in zip(_OUTCOMES, (found.right, found.harm), strict=True)
    }
    return replace(row, scores={**shares, **row.scores})


def _not_ranked(standings: Iterable[str], outcomes: Mapping[str, Outcomes]) -> Iterator[str]:
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


def _stale(
    benchmark: Benchmark,
    made_from: Mapping[str, tuple[str, str]],
    name: str,
    standing: Standing,
    predictions: Path,
) -> Iterator[str]:
    """Warnings that data or predictions changed since a model was scored."""
    if standing.strict is None:
        yield f"{name} has no strict scores: evaluate it again"
    now = dict(made_from)
    if predictions.is_file():
        now["predictions"] = predictions.name, benchmark.fingerprint(predictions)
    for part, what in changed_parts(standing.parts, now):
        yield f"warning: {name} was scored with other {part} than {what} has: evaluate it again"


def _compared(standings: dict[str, Standing]) -> Iterator[str]:
    """Warnings of signature parts in which the models differ."""
    signed = {name: standing.parts for name, standing in standings.items() if standing.parts}
    for part in dict.fromkeys(part for parts in signed.values() for part in parts):
        by_value: dict[str, list[str]] = {}
        for name, parts in signed.items():
            by_value.setdefault(parts.get(part, "none"), []).append(name)
        if len(by_value) > 1 and part not in _OWN:
            each = "; ".join(f"{value}: {', '.join(names)}" for value, names in by_value.items())
            yield f"warning: rows differ in {part} ({each}) and are not fully comparable"


def _signature(standings: dict[str, Standing]) -> Iterator[str]:
    """The signature parts that all strict scores share."""
    signed = [standing.parts for standing in standings.values() if standing.parts]
    if signed:
        common = [
            f"{part}:{value}"
            for part, value in signed[0].items()
            if all(parts.get(part) == value for parts in signed)
        ]
        yield f"signature: {'|'.join(common)}"


def _where_metrics_are(folder: DataFolder) -> str:
    """Advice for an empty metrics folder: the folders in and beside `folder` that have metrics."""
    inside = _metrics_folders(folder.path)
    if inside:
        named = ", ".join(path.relative_to(folder.path).as_posix() for path in inside[:_NAMED])
        return f"choose with --metrics_dir; folders with metrics in {folder.path}: {named}"
    home = folder.path.resolve().parent
    data_folders = {
        file.parent for name in ("data.json", "benchmark.json") for file in home.glob(f"*/{name}")
    }
    beside = [path for path in sorted(data_folders) if _metrics_folders(path, depth=1)]
    if beside:
        named = ", ".join(str(folder.path.parent / path.name) for path in beside[:_NAMED])
        return f"choose with --data_dir; folders with metrics: {named}; or run evaluate.py --llm all"
    return "make them with evaluate.py --llm all"


def _metrics_folders(path: Path, *, depth: int = 2) -> list[Path]:
    """The folders below `path` with a metrics file."""
    found = {file.parent for level in range(1, depth + 1) for file in path.glob("*/" * level + "*.json")}
    return [folder for folder in sorted(found) if any(map(_is_metrics, sorted(folder.glob("*.json"))))]


def _is_metrics(file: Path) -> bool:
    try:
        return any({"strict", "all_samples"} & numbers.keys() for numbers in read_groups(file).values())
    except (UsageError, OSError):
        return False


def _check(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise UsageError(f"unknown {what} '{given}'", fix=f"choose from {', '.join(known)}")
