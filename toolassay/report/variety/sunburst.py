"""The first two words of requests as a sunburst: the first word inside, the second around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from math import cos, degrees, pi, sin
from typing import TYPE_CHECKING, Any, NamedTuple

from toolassay.report.colours import NEUTRAL
from toolassay.report.figures import INK, QUIET, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = (
    *("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377"),
    *("#44AA99", "#DDAA55", "#6F5FC4", "#999933", "#CC6677", "#882255"),
)
_LIGHT = ("#CCBB44", "#66CCEE", "#DDAA55")
_FIRST, _SECOND = 2 * len(_COLOURS), 6
"""How many first words are shown, and how many second words of each."""
_ROOM = 0.055  # the least share of a turn, times its radius, in which a word can be read
_EDGE = 150  # of a slice of this part of a turn, or a wider one, the edge is a point wide
_REST = "…"


class _Slice(NamedTuple):
    word: str
    requests: int
    colour: str
    inner: float
    width: float
    strength: float


def draw_sunburst(axes: Axes, openings: Sequence[Sequence[Any]], total: int) -> None:
    """Draw a sunburst of `[first word, second word, requests]`; what is rarer is put together.

    Args:
        axes: without axes, from -1.1 to 1.1 in both directions.
        openings: the most frequent ones, in order.
        total: how many requests there are, those with other openings too.
    """
    firsts: dict[str, dict[str, int]] = {}
    for first, second, count in openings:
        firsts.setdefault(first, {})[second] = count
    ranked = sorted(firsts.items(), key=lambda item: (-sum(item[1].values()), item[0]))[:_FIRST]
    start = 0.0
    for (first, seconds), colour in zip(ranked, cycle(_COLOURS), strict=False):
        count = sum(seconds.values())
        _draw(axes, _Slice(first, count, colour, 0.34, 0.32, 1.0), start, total)
        inner_start = start
        for second, part in _most(seconds):
            _draw(axes, _Slice(second, part, colour, 0.67, 0.33, 0.55), inner_start, total)
            inner_start += part / total
        start += count / total
    if start < 1 - 1e-9:
        rest = total - round(start * total)
        _draw(axes, _Slice(_REST, rest, NEUTRAL, 0.34, 0.32, 0.35), start, total)
    axes.text(0, 0.03, f"{total:,}", ha="center", va="bottom", size=13, color=INK, weight="bold")
    axes.text(0, -0.01, "request" if total == 1 else "requests", ha="center", va="top", size=9, color=QUIET)


def _most(seconds: Mapping[str, int]) -> list[tuple[str, int]]:
    ranked = sorted(seconds.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(count for _, count in ranked[_SECOND:])
    return [*ranked[:_SECOND], *([(_REST, rest)] if rest else [])]


def _draw(axes: Axes, piece: _Slice, start: float, total: int) -> None:
    """A slice, from the top, clockwise."""
    from matplotlib.patches import Wedge

    share = piece.requests / total
    ends = 90 - 360 * (start + share), 90 - 360 * start
    axes.add_patch(
        Wedge(
            (0, 0),
            piece.inner + piece.width,
            *ends,
            width=piece.width,
            facecolor=piece.colour,
            alpha=piece.strength,
            edgecolor="white",
            linewidth=min(1.0, share * _EDGE),  # edges of thin slices would hide them
        )
    )
    radius = piece.inner + piece.width / 2
    if share * 2 * pi * radius < _ROOM:
        return
    angle = pi / 2 - 2 * pi * (start + share / 2)
    turned = 0.0 if len(piece.word) < 3 else degrees(angle) if cos(angle) >= 0 else degrees(angle) + 180
    axes.text(
        radius * cos(angle),
        radius * sin(angle),
        one_line(piece.word, longest=11),
        rotation=turned,
        rotation_mode="anchor",
        ha="center",
        va="center",
        size=8.5,
        color="white" if piece.strength == 1 and piece.colour not in _LIGHT else INK,
    )
