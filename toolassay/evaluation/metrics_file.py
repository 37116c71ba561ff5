"""Reads and writes metrics files: metrics by group, scores by table column, and signatures.

A signature is one line beside each score with its settings and data hashes (as in sacreBLEU; Post, 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from toolassay.errors import UsageError, made_by
from toolassay.files.data_files import read_json, write_json
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


STRICT_MODE = "strict-3"
"""The part `mode` of signatures: strict scores are means over all trials. In earlier versions ("strict-2", or
without that part) they were of the first trial, unless the benchmark measures agreement between trials."""
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
    editions = {name: parts.get(EDITION, "the first") for name, parts in signed.items() if parts}
    if len({*editions.values()}) > 1:
        listing = ", ".join(f"{name} ({edition})" for name, edition in editions.items())
        raise UsageError(f"scores by different editions: {listing}", fix="evaluate by one")


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
            listing = "; ".join(f"{value}: {', '.join(names)}" for value, names in by_value.items())
            yield f"warning: the scores differ in {part} ({listing}): they are not fully comparable"


def changed_parts(parts: Mapping[str, str], now: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The parts of a signature that are something else now, with the name of their file.

    Args:
        parts: The signature.
        now: By part, the name of its file and the hash of that.

    >>> list(changed_parts({"data": "0a1b"}, {"data": ("data.json", "ffff00"), "graph": ("g.json", "12")}))
    [('data', 'data.json')]
    """
    for part, (file, value) in now.items():
        signed = parts.get(part)
        if signed is not None and value[: len(signed)] != signed:
            yield part, file


SECURITY = "security"
STABILITY = "stability"
RETRIEVAL = "retrieval"
RUN_KEYS = ("cost", "latency", "notes", STABILITY, SECURITY, RETRIEVAL)
"""Keys of a group about the run, in addition to its scores."""


class MetricsGroup(dict[str, Any]):
    """The metrics of one group: a mapping like the JSON object in the file, with what is read from it."""

    @property
    def numbers(self) -> dict[str, Any]:
        """The JSON object, with what its benchmark defines and keys that users add."""
        return self

    @property
    def strict(self) -> Mapping[str, Any]:
        """The strict scores; empty in files of the published evaluator."""
        return self.numbers.get("strict") or {}

    @property
    def compat(self) -> Mapping[str, Any]:
        """The published scores: under their own key, or beside the keys of the run and the strict scores."""
        if "compat" in self:
            return self["compat"] or {}
        return {name: value for name, value in self.items() if name not in (*RUN_KEYS, "strict")}

    @property
    def signature(self) -> str:
        """The signature of the strict scores; empty without one."""
        return str(self.strict.get("signature", ""))

    @property
    def parts(self) -> dict[str, str]:
        """The parts of the signature.

        >>> MetricsGroup({"strict": {"signature": "toolassay:1.0|n:7"}}).parts
        {'toolassay': '1.0', 'n': '7'}
        """
        return read_signature(self.signature)

    @property
    def counts(self) -> AskedCounts | None:
        """How many items were asked and scored; None in files of earlier versions."""
        return msgspec.convert(self.strict, AskedCounts) if "n_labels" in self.strict else None

    @property
    def asked(self) -> str:
        """A note about a partial run, or about items chosen with --ids or --limit; else empty.

        >>> counts = {"n_labels": 3, "n_asked": 1, "n_scored": 1, "partial": True}
        >>> MetricsGroup({"strict": counts}).asked, MetricsGroup().asked
        ('1 of 3 asked', '')
        """
        counts = self.counts
        is_chosen = CHOSEN in self.signature
        if counts is None or not (counts.partial or is_chosen):
            return ""
        return counts.phrase if counts.partial else f"{counts.n_labels} chosen"

    @property
    def excluded(self) -> str:
        """The outcomes of the items that were not scored, e.g. "2 provider error"; else empty."""
        return excluded_phrase(self.strict.get("outcomes") or self.numbers.get("outcomes") or {})


def read_groups(path: Path) -> dict[str, MetricsGroup]:
    """The groups of a metrics file, also of the published evaluator (without `strict`).

    Raises:
        UsageError: The file is missing, or not a metrics file.
    """
    groups = read_json(path, fix=made_by("evaluate"))
    if not isinstance(groups, dict) or not groups:
        raise UsageError("is not a metrics file: it has no groups", file=path, fix=made_by("evaluate"))
    for key, numbers in groups.items():
        if not isinstance(numbers, dict) or not isinstance(numbers.get("strict", {}), dict):
            raise UsageError(
                f"is not a metrics file: group '{key}' has no metrics", file=path, fix=made_by("evaluate")
            )
    return {key: MetricsGroup(numbers) for key, numbers in groups.items()}


def write_groups(path: Path, groups: Mapping[str, MetricsGroup]) -> None:
    """Write a metrics file; an existing one is replaced."""
    write_json(path, {key: group.numbers for key, group in groups.items()})


def file_parts(path: Path) -> dict[str, str]:
    """The parts of the signature of a metrics file's first group; empty without the file."""
    return next(iter(read_groups(path).values())).parts if path.is_file() else {}


class ColumnScores(msgspec.Struct, frozen=True):
    """The strict or the published scores of a model.

    Attributes:
        items: Number of items.
        coverage: Share of scored items.
        scores: Scores by column heading.
        asked: Note about a partial run, e.g. "20 of 300 asked"; else empty.
    """

    items: int | None
    coverage: float | None
    scores: Mapping[str, Interval]
    asked: str = ""


class Standing(msgspec.Struct, frozen=True):
    """The scores of one model: shares, as a benchmark reads them, or in percent (`standing_of`).

    Attributes:
        strict: Strict scores; None in files of the published evaluator.
        compat: Published scores; None for data without published metrics.
        signature: Signature of the strict scores.
        parts: Its parts, by name.
        excluded: Outcomes of the items that were not scored, e.g. "2 provider error".
    """

    strict: ColumnScores | None
    compat: ColumnScores | None
    signature: str = ""
    parts: Mapping[str, str] = {}
    excluded: str = ""


def standing_of(path: Path, group: str, read: Callable[[Mapping[str, Any]], Standing]) -> Standing:
    """The scores of a group in a metrics file, in percent.

    Args:
        path: Metrics file.
        group: Name of the group.
        read: The shares in the numbers of the group.

    Raises:
        UsageError: The file is not a metrics file, or lacks the group.
    """
    groups = read_groups(path)
    if group not in groups:
        raise UsageError(
            f"has no group '{group}'", file=path, fix=f"choose from {', '.join(groups)}, or evaluate again"
        )
    try:
        chosen = groups[group]
        standing = read(groups[group].numbers)
        strict, compat = (
            shares
            and ColumnScores(
                shares.items,
                _percent(shares.coverage),
                {name: in_percent(share) for name, share in shares.scores.items()},
                chosen.asked,
            )
            for shares in (standing.strict, standing.compat)
        )
        return Standing(strict, compat, chosen.signature, chosen.parts, chosen.excluded)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise UsageError(
            f"is not a metrics file: group '{group}' cannot be read", file=path, fix=made_by("evaluate")
        ) from None


def in_percent(share: Interval) -> Interval:
    """A share with its interval, in percent."""
    return Interval(*map(_percent, share))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share + 0.0
