"""The scores as tables for the terminal: strict beside compat, in percent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.table import Table

from toolassay.benchmarks.taskbench.scoring.leaderboard import COLUMNS, Column
from toolassay.benchmarks.taskbench.scoring.strict import RATES, SCORES
from toolassay.evaluation.evaluation import Evaluation
from toolassay.evaluation.signature import read_signature
from toolassay.metrics import legend
from toolassay.runs.outcomes import asked_phrase


class _ScoreRow(NamedTuple):
    name: str
    numbers: Mapping[str, Any]
    has_links: bool


_ONLY_IF_WIDE = ("RL", "ED")
_WIDE = 96
_NAME = 16  # minimum width of the name column, in characters


def model_table(
    models: Mapping[str, Evaluation],
    *,
    group: str = "overall_overall",
    width: int = 120,
    with_caption: bool = True,
) -> Table:
    """One group of several models.

    Args:
        models: the scores of each model.
        group: the group to show; models without it are left out.
        width: of the terminal, in characters. If it is narrow, less important columns are left out unless
            they were requested by name.
        with_caption: whether to add a caption that explains the columns.
    """
    rows = [
        _ScoreRow(name, scores.groups[group], group not in scores.without_links)
        for name, scores in models.items()
        if group in scores.groups
    ]
    columns = _columns(rows, {metric for scores in models.values() for metric in scores.asked}, width)
    caption = _caption(columns, rows) if with_caption else None
    return _table(f"Scores: {group}", "model", columns, rows, caption, width)


def group_table(model: str, evaluation: Evaluation, *, width: int = 120, with_caption: bool = True) -> Table:
    """All groups of one model; groups without labels are left out. Arguments as in `model_table`."""
    rows = [
        _ScoreRow(key, numbers, key not in evaluation.without_links)
        for key, numbers in evaluation.groups.items()
        if numbers["strict"]["n_labels"] or numbers["all_samples"]
    ]
    columns = _columns(rows, set(evaluation.asked), width)
    table = _table(
        f"Scores of {model}", "group", columns, rows, _caption(columns, rows) if with_caption else None, width
    )
    table.columns[0].no_wrap, table.columns[0].max_width = True, None
    return table


def _columns(rows: Sequence[_ScoreRow], asked: Collection[str], width: int) -> list[Column]:
    """The columns that have a number in any row, and fit the width or were requested by name.

    BERTScore is kept even without numbers if it was requested by name, to show that its model is missing.
    """
    chosen = []
    for column in (*COLUMNS, *_installed(rows)):
        by_name = any(metric in asked for metric in column.asked_by)
        is_roomy = width >= _WIDE or column.heading not in _ONLY_IF_WIDE
        has_numbers = any(
            _strict_value(row.numbers["strict"], column.strict) is not None or column.compat in row.numbers
            for row in rows
        )
        is_kept_empty = by_name and column.heading == "BsF"
        if is_kept_empty or (has_numbers and (by_name or ("all" in asked and is_roomy))):
            chosen.append(column)
    return chosen


def _installed(rows: Sequence[_ScoreRow]) -> list[Column]:
    """A column for each metric from another package, under its own name; compat has no value for it."""
    names = dict.fromkeys(
        name
        for row in rows
        for name, value in row.numbers["strict"].items()
        if isinstance(value, dict) and "value" in value and name not in (*SCORES, *RATES)
    )
    return [Column(name, name, "", (name,)) for name in names]


def _table(
    title: str,
    first: str,
    columns: Sequence[Column],
    rows: Sequence[_ScoreRow],
    caption: str | None,
    width: int,
) -> Table:
    headings = [column.heading for column in columns]
    longest = max([12, *(len(row.name) for row in rows)])
    # Besides the names, the table takes 22 characters + 8 per column with padding, 19 + 7 without, and more
    # if a heading is longer than its numbers.
    more = sum(max(0, len(heading) - 6) for heading in headings)
    is_roomy = width >= longest + 22 + 8 * len(columns) + more
    table = Table(
        title=_escaped(title),
        caption=caption,
        box=box.SIMPLE_HEAD,
        padding=(0, 1 if is_roomy else 0),
        collapse_padding=True,
        pad_edge=False,
        title_justify="left",
        caption_justify="left",
    )
    room = None if is_roomy else max(_NAME, width - 19 - 7 * len(columns) - more)
    table.add_column(first, overflow="fold", min_width=12, max_width=room)
    table.add_column("scores", no_wrap=True)
    for heading in ("n", "%", *headings):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        strict = row.numbers["strict"]
        table.add_row(
            _escaped(row.name),
            "[bold]strict",
            asked_phrase(strict),
            _whole_percent(strict["coverage"]),
            *(f"[bold]{_percent(_strict_value(strict, column.strict))}" for column in columns),
        )
        scored, samples = row.numbers["node_supports"], row.numbers["all_samples"]
        table.add_row(
            "",
            "compat",
            str(samples),
            _whole_percent(scored / samples if samples else None),
            *(_percent(_compat_value(row, column.compat)) for column in columns),
        )
    return table


def _caption(columns: Sequence[Column], rows: Sequence[_ScoreRow]) -> str:
    by_model = ""
    if any(column.heading == "BsF" for column in columns):
        names = {read_signature(row.numbers["strict"]["signature"]).get("bertscore", "none") for row in rows}
        by_model = f" BsF: {', '.join(sorted(names))}."
    return (
        "Percent; %: scored of the labels. "
        "strict: every item that was asked counts, 0 where malformed or refused. "
        "compat: as the published evaluator counts, items it cannot read left out."
        f"{_escaped(by_model)}\n{legend(column.heading for column in columns)}"
    )


def _compat_value(row: _ScoreRow, key: str) -> float | None:
    """The published number; None for the links of a group without links, for which the file says 0."""
    if key == "link_binary_f1" and not row.has_links:
        return None
    value: float | None = row.numbers.get(key)
    return value


def _strict_value(strict: Mapping[str, Any], key: str) -> float | None:
    value: float | None = strict.get(key, {}).get("value")  # absent if this model was scored without it
    return 1 - value if key == "edit_similarity" and value is not None else value


def _whole_percent(value: float | None) -> str:
    """Rounded down, so that 100 is shown only for all."""
    return "–" if value is None else str(int(100 * value))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
