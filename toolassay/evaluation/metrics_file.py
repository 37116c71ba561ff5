"""Reads metrics files: metrics by group, signatures, and scores by table column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.evaluation.signature import read_signature
from toolassay.files import read_json
from toolassay.metrics.confidence_interval import Interval
from toolassay.runs.outcomes import CHOSEN, excluded_phrase, scored_phrase

FIX = "make it with evaluate.py"
SECURITY, STABILITY = "security", "stability"
RUN_KEYS = ("cost", "latency", "notes", STABILITY, SECURITY)
"""Keys of a group about the run, in addition to its scores."""


def read_groups(path: Path) -> dict[str, dict[str, Any]]:
    """The metrics of each group in a metrics file, also of the published evaluator (without `strict`).

    Raises:
        UsageError: The file is missing, or not a metrics file.
    """
    groups = read_json(path, fix=FIX)
    if not isinstance(groups, dict) or not groups:
        raise UsageError("is not a metrics file: it has no groups", file=path, fix=FIX)
    for key, numbers in groups.items():
        if not isinstance(numbers, dict) or not isinstance(numbers.get("strict", {}), dict):
            raise UsageError(f"is not a metrics file: group '{key}' has no metrics", file=path, fix=FIX)
    return groups


def signature_of(numbers: Mapping[str, Any]) -> dict[str, str]:
    """The parts of the signature of a group; empty without a signature.

    >>> signature_of({"strict": {"signature": "toolassay:1.0|n:7"}})
    {'toolassay': '1.0', 'n': '7'}
    """
    text = numbers.get("strict", {}).get("signature")
    return read_signature(text) if isinstance(text, str) else {}


@dataclass(frozen=True)
class ColumnScores:
    """The strict or the published scores of a model.

    Attributes:
        items: Number of items.
        coverage: Share of scored items, in percent.
        scores: Scores by column heading, in percent.
        asked: Note about a partial run, e.g. "20 of 300 asked"; else empty.
    """

    items: int | None
    coverage: float | None
    scores: Mapping[str, Interval]
    asked: str = ""


@dataclass(frozen=True)
class Standing:
    """The scores of one model.

    Attributes:
        strict: Strict scores; None in files of the published evaluator.
        compat: Published scores; None for data without published metrics.
        signature: Signature of the strict scores.
        parts: Its parts, by name.
        excluded: Outcomes of the items that were not scored, e.g. "2 provider error".
    """

    strict: ColumnScores | None
    compat: ColumnScores | None
    signature: str
    parts: Mapping[str, str]
    excluded: str = ""


def standing_of(path: Path, group: str, read: Callable[[Mapping[str, Any]], Standing]) -> Standing:
    """The scores of a group in a metrics file.

    Args:
        path: Metrics file.
        group: Name of the group.
        read: Converts the metrics of the group.

    Raises:
        UsageError: The file is not a metrics file, or lacks the group.
    """
    groups = read_groups(path)
    if group not in groups:
        raise UsageError(
            f"has no group '{group}'", file=path, fix=f"choose from {', '.join(groups)}, or evaluate again"
        )
    try:
        return replace(read(groups[group]), excluded=excluded_of(groups[group]))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise UsageError(
            f"is not a metrics file: group '{group}' cannot be read", file=path, fix=FIX
        ) from None


def excluded_of(numbers: Mapping[str, Any]) -> str:
    """The outcomes of the items of a group that were not scored, e.g. "2 provider error"; else empty."""
    return excluded_phrase(numbers.get("strict", {}).get("outcomes") or numbers.get("outcomes", {}))


def partly_asked(numbers: Mapping[str, Any]) -> str:
    """A note about a partial run, or about items chosen with --ids or --limit; else empty.

    >>> partly_asked({"n_labels": 3, "n_asked": 1, "n_scored": 1, "partial": True}), partly_asked({})
    ('1 of 3 asked', '')
    """
    if numbers.get("partial"):
        return scored_phrase(numbers)
    return f"{numbers['n_labels']} chosen" if CHOSEN in str(numbers.get("signature", "")) else ""
