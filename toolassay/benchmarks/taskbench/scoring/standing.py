"""What the metrics of one model say about a group, in percent and by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.scoring.columns import COLUMNS
from toolassay.benchmarks.taskbench.scoring.recorded import FIX, read_groups, signature_of
from toolassay.errors import UsageError
from toolassay.metrics.intervals import NOTHING, Interval
from toolassay.runs.asked import CHOSEN, asked_phrase


@dataclass(frozen=True)
class Count:
    """One way of counting: items, the share that was scored, the scores by heading; in percent.

    `asked` says how many of the items were asked where the run is partial: "20 of 300 asked".
    """

    items: int | None
    coverage: float | None
    scores: Mapping[str, Interval]
    asked: str = ""


@dataclass(frozen=True)
class Standing:
    """The scores of one model.

    Attributes:
        strict: None in files of the published evaluator.
        compat: as published; None where nothing is published of such data.
        signature: of the strict scores, as text.
        parts: the same by name.
    """

    strict: Count | None
    compat: Count | None
    signature: str
    parts: Mapping[str, str]


def read_standing(path: Path, group: str) -> Standing:
    """The scores of a group in a metrics file.

    Raises:
        UsageError: it is no metrics file, or lacks the group.
    """
    groups = read_groups(path)
    if group not in groups:
        raise UsageError(
            f"has no group '{group}'", file=path, fix=f"choose from {', '.join(groups)}, or evaluate again"
        )
    numbers = groups[group]
    strict = numbers.get("strict")
    try:
        return Standing(
            None if strict is None else _strict(strict),
            _compat(numbers, strict or {}),
            "" if strict is None else str(strict.get("signature", "")),
            signature_of(numbers),
        )
    except (KeyError, TypeError, AttributeError):
        raise UsageError(f"is no metrics file: group '{group}' cannot be read", file=path, fix=FIX) from None


def _strict(numbers: Mapping[str, Any]) -> Count:
    scores = {}
    for column in COLUMNS:
        found = numbers.get(column.strict) or NOTHING.to_json()
        scores[column.heading] = Interval(*(_percent(found[name]) for name in Interval._fields))
    return Count(
        numbers.get("n_labels", numbers["n_expected"]),
        _percent(numbers["coverage"]),
        scores,
        partly_asked(numbers),
    )


def partly_asked(numbers: Mapping[str, Any]) -> str:
    """How many of the items were asked, of a partial run, or chosen with --ids or --limit; else empty.

    >>> partly_asked({"n_labels": 3, "n_asked": 1, "n_scored": 1, "partial": True}), partly_asked({})
    ('1 of 3 asked', '')
    """
    if numbers.get("partial"):
        return asked_phrase(numbers)
    return f"{numbers['n_labels']} chosen" if CHOSEN in str(numbers.get("signature", "")) else ""


def _compat(numbers: Mapping[str, Any], strict: Mapping[str, Any]) -> Count:
    """As published, except that the links of a group that has none are unknown, where the file says 0."""
    scores = {}
    for column in COLUMNS:
        is_empty = column.heading == "e-F1" and strict.get("compat_links") == 0
        value = None if is_empty else _percent(numbers.get(column.compat))
        found = strict.get("compat_intervals", {}).get(column.compat, {})
        bounds = (None if value is None else _percent(found.get(name)) for name in ("low", "high"))
        scores[column.heading] = Interval(value, *bounds)
    samples, scored = numbers.get("all_samples"), numbers.get("node_supports")
    share = 100 * scored / samples if samples and scored is not None else None
    return Count(samples, share, scores, partly_asked(strict))


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value + 0.0
