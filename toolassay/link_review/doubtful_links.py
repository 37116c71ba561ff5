"""Which links of a schema graph a critic judges, and what its verdicts change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from toolassay.graph.dependencies import Dependency, is_pinned

DEFAULT_BAND = (0.2, 0.6)
"""Least and greatest score of a doubtful link."""
DEFAULT_LINKS = 500
"""Maximum number of links that one review judges."""
_ACCEPTED, _REJECTED = 0.85, 0.1
"""Least score of a link that a critic found sensible, and greatest score of one that it did not."""
_CONFIRMED = 3
"""Number of recorded calls from which a link needs no review."""


class Verdict(NamedTuple):
    """The verdict of a model on one link.

    Attributes:
        model: Name of the model.
        sensible: Whether the values of the link can flow in a realistic task.
        reason: Why, in the model's words; may be empty.
    """

    model: str
    sensible: bool
    reason: str


def doubtful_links(
    dependencies: Iterable[Dependency],
    *,
    band: tuple[float, float] = DEFAULT_BAND,
    most: int = DEFAULT_LINKS,
) -> list[Dependency]:
    """The links that a critic judges, the most doubtful first: those nearest to the middle of the band.

    Args:
        dependencies: The links. Those that carry no value, that a person decided on, that recorded calls
            confirm or that have a verdict are left out.
        band: Least and greatest score.
        most: Maximum number of links.
    """
    low, high = band
    found = (link for link in dependencies if _is_open(link) and low <= link.score <= high)
    # Rounded, so that 0.3 and 0.7 are equally far from 0.5.
    return sorted(
        found, key=lambda link: (round(abs(link.score - (low + high) / 2), 6), link.source, link.target)
    )[:most]


def apply_verdicts(
    dependencies: Iterable[Dependency], verdicts: Mapping[tuple[str, str], Verdict]
) -> list[Dependency]:
    """The links with their verdicts, in the same order.

    A verdict sets `origin` to "critic" and raises the score to at least 0.85, or lowers it to at most 0.1.
    Links that need no review (see `doubtful_links`) keep theirs.

    Args:
        dependencies: The links.
        verdicts: The verdicts by source and target.
    """
    return [_judged(link, verdicts.get((link.source, link.target))) for link in dependencies]


def _judged(link: Dependency, verdict: Verdict | None) -> Dependency:
    if verdict is None or not _is_open(link):
        return link
    score = max(link.score, _ACCEPTED) if verdict.sensible else min(link.score, _REJECTED)
    return replace(link, score=score, origin="critic").with_further(verdict=verdict._asdict())


def _is_open(link: Dependency) -> bool:
    """Whether a verdict counts: nothing stronger than the verdict of a model has settled the link."""
    return (
        link.kind == "dependency"
        and link.origin in ("schema", "description", "trace")
        and link.count < _CONFIRMED
        and link.verdict is None
        and not is_pinned(link)
    )
