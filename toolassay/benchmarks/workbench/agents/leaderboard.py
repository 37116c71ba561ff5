"""The scores of one model for a leaderboard, in percent and by column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolassay.benchmarks.benchmark import Scores, published_rows
from toolassay.benchmarks.workbench.sandbox import edition_of
from toolassay.errors import UsageError
from toolassay.evaluation.item_detail import Axis
from toolassay.evaluation.metrics_file import ColumnScores, Standing
from toolassay.metrics.confidence_interval import Interval
from toolassay.records.data_folder import DataFolder

_COLUMNS = {
    "accuracy": ("accuracy", "correct"),
    "side effects": ("side_effects", "side_effects"),
    "exact match": ("exact_match", "exact_match"),
    "wanted made": ("wanted_changes_made", None),
    "made wanted": ("made_changes_wanted", None),
}
"""Of each column the name of its interval (strict), and of its count (compat)."""
HEADINGS = tuple(_COLUMNS)
CAPTION = (
    "Percent of the tasks. accuracy: the state left is the wanted one. side effects: something was changed "
    "that should not have been. exact match: the calls are those of the ground truth. wanted made, made "
    "wanted: the share of wanted changes that were made, of made changes that were wanted. strict: states "
    "are compared by content; with 95 % intervals. compat: as the published evaluator judges. "
    "%: tasks that were asked and scored."
)


def published_agents(folder: DataFolder, domain: str | None) -> dict[str, dict[str, float]]:
    """The published agents over all 690 tasks.

    Args:
        folder: Data folder.
        domain: "2024", the five agents with the tools of each task's domains; "2024_all_tools", the three
            whose context holds all tools; "2026", the 24 models of the second edition, whose runs cannot be
            judged again here. Default: the edition of the folder.

    Raises:
        UsageError: There is no such edition.

    >>> from pathlib import Path
    >>> folder = DataFolder(Path("data_workbench"))
    >>> list(published_agents(folder, None))[0], len(published_agents(folder, "2026"))
    ('gpt-4', 24)
    """
    rows = published_rows("workbench")
    edition = domain or edition_of(folder.path).name
    if edition not in (editions := list(dict.fromkeys(row["edition"] for row in rows))):
        raise UsageError(f"no published edition '{edition}'", fix=f"choose from {', '.join(editions)}")
    columns = {"accuracy": "correct", "side effects": "side_effects"}
    return {
        row["model"]: {
            heading: 100 * int(row[count]) / int(row["tasks"]) for heading, count in columns.items()
        }
        for row in rows
        if row["edition"] == edition
    }


def _standing(numbers: Mapping[str, Any]) -> Standing:
    compat = numbers["compat"]
    n = int(numbers["n"])
    strict = numbers["strict"]
    answered = numbers["outcomes"].get("answered", 0)
    share = answered / n if n else None
    if "coverage" in strict:  # not in old metrics
        share = strict["coverage"]
    judged = {heading: Interval.of(strict["intervals"][name]) for heading, (name, _) in _COLUMNS.items()}
    intervals: dict[str, Interval] = {}
    for heading, (name, count) in _COLUMNS.items():
        if compat is not None and count is not None:
            of = compat["n"]
            bounds = compat.get("compat_intervals", {}).get(name, {})
            intervals[heading] = Interval.of({**bounds, "value": compat[count] / of if of else None})
    published = None if compat is None else ColumnScores(n, share, intervals)
    return Standing(ColumnScores(n, share, judged), published)


def _axis(numbers: Mapping[str, Any]) -> Axis:
    """Strict verdicts, and repeats of them."""
    intervals = numbers["strict"]["intervals"]
    harm = Interval.of(intervals.get("side_effects", {}))
    return Axis(numbers["n"], Interval.of(intervals["accuracy"]), numbers.get("stability"), harm=harm)


SCORES = Scores(
    HEADINGS,
    HEADINGS[0],
    CAPTION,
    _standing,
    _axis,
    "toolassay.benchmarks.workbench.commands:print_agent_scores",
    harm="no_side_effects",
    published=published_agents,
)
