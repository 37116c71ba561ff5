"""Reads metrics files: metrics by group, scores by table column, and signatures.

A signature is one line beside each score with its settings and data hashes (as in sacreBLEU; Post, 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files import read_json
from toolassay.metrics.confidence_interval import Interval
from toolassay.runs.outcomes import CHOSEN, NO_TOOLS, WORDINGS, AskedCounts, excluded_phrase
from toolassay.version import OLD_NAME


def signature_text(parts: Mapping[str, str], **more: str | int) -> str:
    """A signature: settings and data hashes in a fixed order.

    >>> signature_text({"toolassay": "1.0", "mode": "strict"}, group="chain_overall", n=7)
    'toolassay:1.0|mode:strict|group:chain_overall|n:7'
    """
    return "|".join(f"{name}:{value}" for name, value in {**parts, **more}.items())


def read_signature(text: str) -> dict[str, str]:
    """Parse a signature; the old name of the package is replaced by the current one.

    >>> read_signature("toolassay:1.0|data:0a1b")
    {'toolassay': '1.0', 'data': '0a1b'}
    >>> read_signature("toolgraph:0.1.0")
    {'toolassay': '0.1.0'}
    """
    parts = dict(part.split(":", 1) for part in text.split("|") if ":" in part)
    return {"toolassay" if name == OLD_NAME else name: value for name, value in parts.items()}


EDITION = "edition"
"""The signature part of benchmarks with several editions, whose scores are not comparable."""
# Signature parts that may differ between models, or between versions that score the same tasks.
_OF_THE_MODEL = ("predictions", "trials", "orders", "items", "bootstrap", "group", "n", WORDINGS, NO_TOOLS)


def check_editions(signed: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse scores by different editions of a benchmark.

    Args:
        signed: By model, the parts of the signature of its scores.

    Raises:
        UsageError: The editions differ.

    >>> check_editions({"a": {"n": "7", "edition": "2026"}, "b": {"n": "7"}, "c": {}})
    Traceback (most recent call last):
    toolassay.errors.UsageError: scores by different editions: a (2026), b (the first). Fix: evaluate by one
    """
    found = {name: parts.get(EDITION, "the first") for name, parts in signed.items() if parts}
    if len({*found.values()}) > 1:
        each = ", ".join(f"{name} ({edition})" for name, edition in found.items())
        raise UsageError(f"scores by different editions: {each}", fix="evaluate by one")


def differing_settings(signatures: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A warning for each part in which the signatures of models differ: data, metrics or versions.

    Args:
        signatures: By model, the parts of its signature; those without any are left out.

    >>> list(differing_settings({"a": {"data": "0a", "n": "7"}, "b": {"data": "1b", "n": "9"}, "c": {}}))
    ['warning: the scores differ in data (0a: a; 1b: b): they are not fully comparable']
    """
    signed = {name: parts for name, parts in signatures.items() if parts}
    for part in dict.fromkeys(part for parts in signed.values() for part in parts):
        by_value: dict[str, list[str]] = {}
        for name, parts in signed.items():
            by_value.setdefault(parts.get(part, "none"), []).append(name)
        if len(by_value) > 1 and part not in _OF_THE_MODEL:
            each = "; ".join(f"{value}: {', '.join(names)}" for value, names in by_value.items())
            yield f"warning: the scores differ in {part} ({each}): they are not fully comparable"


def changed_parts(parts: Mapping[str, str], now: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The parts of a signature that are something else now, with the name of their file.

    Args:
        parts: The signature.
        now: By part, the name of its file and the hash of that.

    >>> list(changed_parts({"data": "0a1b"}, {"data": ("data.json", "ffff00"), "graph": ("g.json", "12")}))
    [('data', 'data.json')]
    """
    for part, (file, value) in now.items():
        known = parts.get(part)
        if known is not None and value[: len(known)] != known:
            yield part, file


FIX = "make it with evaluate.py"
SECURITY, STABILITY, RETRIEVAL = "security", "stability", "retrieval"
RUN_KEYS = ("cost", "latency", "notes", STABILITY, SECURITY, RETRIEVAL)
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


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share + 0.0


def in_percent(share: Interval) -> Interval:
    """A share with its interval, in percent."""
    return Interval(*map(_percent, share))


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

    @classmethod
    def of_shares(
        cls, numbers: Mapping[str, Any], strict: ColumnScores | None, compat: ColumnScores | None
    ) -> Standing:
        """The scores of a group of a metrics file.

        Args:
            numbers: The metrics of the group.
            strict: Its strict scores, as shares.
            compat: Its published scores, as shares.
        """
        found = numbers.get("strict") or {}
        asked = partly_asked(found)

        def shown(one: ColumnScores | None) -> ColumnScores | None:
            if one is None:
                return None
            scores = {name: in_percent(score) for name, score in one.scores.items()}
            return ColumnScores(one.items, _percent(one.coverage), scores, asked)

        return cls(shown(strict), shown(compat), str(found.get("signature", "")), signature_of(numbers))


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


def partly_asked(strict: Mapping[str, Any]) -> str:
    """A note about a partial run, or about items chosen with --ids or --limit; else empty.

    >>> partly_asked({"n_labels": 3, "n_asked": 1, "n_scored": 1, "partial": True}), partly_asked({})
    ('1 of 3 asked', '')
    """
    counts = AskedCounts.read(strict)
    if counts is None:
        return ""
    is_chosen = CHOSEN in str(strict.get("signature", ""))
    return counts.phrase if counts.partial else f"{counts.n_labels} chosen" if is_chosen else ""
