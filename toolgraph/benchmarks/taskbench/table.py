"""The scores as tables for the screen: strict beside compat, in percent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.table import Table

# Column: (heading, strict key, compat key)
_COLUMNS = (
    ("R1", "rouge1", "step_rouge1"),
    ("R2", "rouge2", "step_rouge2"),
    ("RL", "rougeL", "step_rougeL"),
    ("BsF", "bertscore_f1", "step_bertscore_f1"),
    ("n-F1", "node_f1", "node_micro_f1_no_matching"),
    ("e-F1", "edge_f1", "link_binary_f1"),
    ("t-F1", "argument_name_f1", "argument_task_argname_binary_f1_no_matching"),
    ("v-F1", "argument_value_f1", "argument_task_argname_value_binary_f1_no_matching"),
    ("ED", "edit_similarity", "edit_distance"),
)
_ONLY_IF_WIDE = ("RL", "ED")
_WIDE = 96
_CAPTION = (
    "Percent; %: scored of n; ED: lower is better. "
    "strict: every labelled item counts, 0 where missing or malformed. "
    "compat: as the published evaluator counts, items it cannot read left out."
)


def model_table(
    models: Mapping[str, Mapping[str, Mapping[str, Any]]], *, group: str = "overall_overall", width: int = 120
) -> Table:
    """One group of several models.

    Args:
        models: for each model, the numbers of its groups (`Evaluation.groups`).
        group: the group shown; a model without it is left out.
        width: of the screen, in characters; narrow ones lose the less important columns.
    """
    rows = ((name, groups[group]) for name, groups in models.items() if group in groups)
    return _table(f"Scores: {group}", "model", rows, width)


def group_table(model: str, groups: Mapping[str, Mapping[str, Any]], *, width: int = 120) -> Table:
    """All groups of one model; groups without labels are left out."""
    rows = ((key, numbers) for key, numbers in groups.items() if numbers["strict"]["n_expected"])
    return _table(f"Scores of {model}", "group", rows, width)


def _table(title: str, first: str, rows: Iterable[tuple[str, Mapping[str, Any]]], width: int) -> Table:
    shown = list(rows)
    columns = [
        column
        for column in _COLUMNS
        if (width >= _WIDE or column[0] not in _ONLY_IF_WIDE)
        and any(_strict_value(numbers["strict"], column[1]) is not None for _, numbers in shown)
    ]
    table = Table(
        title=title,
        caption=_CAPTION,
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        collapse_padding=True,
        pad_edge=False,
        title_justify="left",
        caption_justify="left",
    )
    table.add_column(first, overflow="fold", min_width=12)
    table.add_column("scores", no_wrap=True)
    for heading in ("n", "%", *(heading for heading, _, _ in columns)):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, numbers in shown:
        strict = numbers["strict"]
        table.add_row(
            _escaped(name),
            "[bold]strict",
            str(strict["n_expected"]),
            _whole_percent(strict["coverage"]),
            *(f"[bold]{_percent(_strict_value(strict, key))}" for _, key, _ in columns),
        )
        compat_scored = numbers["node_supports"]
        table.add_row(
            "",
            "compat",
            str(numbers["all_samples"]),
            _whole_percent(compat_scored / numbers["all_samples"] if numbers["all_samples"] else None),
            *(_percent(numbers.get(key)) for _, _, key in columns),
        )
    return table


def _strict_value(strict: Mapping[str, Any], key: str) -> float | None:
    value: float | None = strict[key]["value"]
    return 1 - value if key == "edit_similarity" and value is not None else value


def _whole_percent(value: float | None) -> str:
    """Rounded down, so that 100 means all."""
    return "–" if value is None else str(int(100 * value))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
