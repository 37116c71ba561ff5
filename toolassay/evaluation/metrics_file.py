"""Reads a metrics file: numbers by group, how they were made, and the scores of a model by table column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.evaluation.signature import read_signature
from toolassay.files import read_json
from toolassay.metrics.confidence_interval import Interval
from toolassay.runs.outcomes import CHOSEN, scored_phrase

FIX = "make it with evaluate.py"
SECURITY, STABILITY = "security", "stability"
RUN_KEYS = ("cost", "latency", "notes", STABILITY, SECURITY)
"""What a metrics file holds of a run beside its scores."""


def read_groups(path: Path) -> dict[str, dict[str, Any]]:
    """The numbers of each group in a metrics file, ours or the published evaluator's (without `strict`).

    Raises:
        UsageError: missing, or no metrics file.
    """
    groups = read_json(path, fix=FIX)
    if not isinstance(groups, dict) or not groups:
        raise UsageError("is no metrics file: it has no groups", file=path, fix=FIX)
    for key, numbers in groups.items():
        if not isinstance(numbers, dict) or not isinstance(numbers.get("strict", {}), dict):
            raise UsageError(f"is no metrics file: group '{key}' holds no numbers", file=path, fix=FIX)
    return groups


def signature_of(numbers: Mapping[str, Any]) -> dict[str, str]:
    """The parts of the signature of a group; none where the file has none.

    >>> signature_of({"strict": {"signature": "toolassay:1.0|n:7"}})
    {'toolassay': '1.0', 'n': '7'}
    """
    text = numbers.get("strict", {}).get("signature")
    return read_signature(text) if isinstance(text, str) else {}


@dataclass(frozen=True)
class ColumnScores:
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

    strict: ColumnScores | None
    compat: ColumnScores | None
    signature: str
    parts: Mapping[str, str]


def standing_of(path: Path, group: str, read: Callable[[Mapping[str, Any]], Standing]) -> Standing:
    """The scores of a group in a metrics file.

    Args:
        path: the file.
        group: of it.
        read: makes the standing of the group's numbers.

    Raises:
        UsageError: it is no metrics file, or lacks the group.
    """
    groups = read_groups(path)
    if group not in groups:
        raise UsageError(
            f"has no group '{group}'", file=path, fix=f"choose from {', '.join(groups)}, or evaluate again"
        )
    try:
        return read(groups[group])
    except (KeyError, TypeError, AttributeError, ValueError):
        raise UsageError(f"is no metrics file: group '{group}' cannot be read", file=path, fix=FIX) from None


def partly_asked(numbers: Mapping[str, Any]) -> str:
    """How many of the items were asked, of a partial run, or chosen with --ids or --limit; else empty.

    >>> partly_asked({"n_labels": 3, "n_asked": 1, "n_scored": 1, "partial": True}), partly_asked({})
    ('1 of 3 asked', '')
    """
    if numbers.get("partial"):
        return scored_phrase(numbers)
    return f"{numbers['n_labels']} chosen" if CHOSEN in str(numbers.get("signature", "")) else ""
