"""Draws the axes: one panel with parallel coordinates per model, one line per benchmark.

Parallel axes, not a radar: the axes have different units, and the area of a radar depends on their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, log10
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.report.axes.axes import AXES, Axes
from toolassay.report.axes.tables import mark_lines
from toolassay.report.style import INK, QUIET, one_line, plain_style, save

if TYPE_CHECKING:
    from matplotlib import axes as panels
    from matplotlib.figure import Figure

MOST = 60
"""Maximum number of models in a picture."""
_COLOURS = ("#4477AA", "#EE6677", "#228833", "#AA3377", "#CCBB44", "#66CCEE")
_MARKERS = ("o", "s", "D", "^", "v", "P")
_LABELS = {
    "accuracy": "accuracy\nright items",
    "stability": "stability\npass^k",
    "cost": "cost\n$ / 1,000",
    "latency": "latency\ns, median",
    "security": "security\nresisted",
}
_WIDTH, _HEIGHT = 6.0, 3.3  # inches of a panel
_ENTRY = 0.2  # inches of a line of the legend
_NOTE = 0.16  # inches of a line below the panels
_UNMEASURED = -0.19  # where what was not measured is shown, below all axes
_RULE = "#D7DBE2"


class _Line(NamedTuple):
    label: str
    colour: str
    marker: str
    shift: float


def draw_axes(runs: Sequence[Axes], path: Path, *, dpi: int = 110) -> Path:
    """Draw the axes of models side by side, on the same scales; up is better.

    Shares go from 0 to 100 %, dollars and seconds from 0 (up) to a round number above the largest. A line has
    a gap where an axis was not measured, and its mark stands below the axis.

    Args:
        runs: Runs of the models; the first 60 models are drawn.
        path: a .png, .svg or .pdf file.
        dpi: dots an inch, of a PNG.

    Returns:
        The file.

    Raises:
        ToolassayError: it cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    models = list(dict.fromkeys(one.model for one in runs))[:MOST]
    shown = [one for one in runs if one.model in models]
    limits = {
        "cost": _above(one.cost.per_1000 for one in shown if one.cost),
        "latency": _above(one.latency.p50 for one in shown if one.latency),
    }
    lines = _lines(list(dict.fromkeys(one.title for one in shown)))
    columns = min(2, len(models))
    rows = ceil(len(models) / columns)
    beside = 1 if columns == 1 else 3
    head = 0.15 + _ENTRY * ceil(len(lines) / beside)
    notes = _notes(shown, 70 * columns)
    foot = _NOTE * len(notes) + 0.1 if notes else 0.0
    width, height = columns * _WIDTH, rows * _HEIGHT + head + foot
    with plain_style():
        figure = Figure(figsize=(width, height), facecolor="white")
        FigureCanvasAgg(figure)
        for number, model in enumerate(models):
            row, column = divmod(number, columns)
            left, below = column * _WIDTH + 0.5, (rows - row - 1) * _HEIGHT + 0.75 + foot
            panel = figure.add_axes(
                (left / width, below / height, (_WIDTH - 0.9) / width, (_HEIGHT - 1.25) / height)
            )
            of_model = [one for one in shown if one.model == model]
            partial = " (partial)" * any(one.is_partial for one in of_model)
            name = one_line(of_model[0].name, longest=38) + partial
            _empty_panel(panel, name, limits, _labels(of_model))
            for one in of_model:
                _draw(panel, one, lines[one.title], limits)
        _legend(figure, list(lines.values()), beside)
        for number, line in enumerate(reversed(notes)):
            place = (0.1 + _NOTE * number) / height
            figure.text(0.15 / width, place, line, fontsize=7, color=QUIET, va="bottom", wrap=True)
        return save(figure, path, dpi=dpi)


def _lines(titles: Sequence[str]) -> dict[str, _Line]:
    middle = (len(titles) - 1) / 2
    return {
        title: _Line(
            one_line(title, longest=44),
            _COLOURS[number % len(_COLOURS)],
            _MARKERS[number % len(_MARKERS)],
            0.05 * (number - middle) / max(1.0, middle),
        )
        for number, title in enumerate(titles)
    }


def _notes(runs: Sequence[Axes], longest: int) -> list[str]:
    """The explanation of the marks, in lines of at most `longest` characters."""
    return [part for line in mark_lines(runs) for part in wrap(line, longest)]


def _labels(runs: Sequence[Axes]) -> dict[str, str]:
    """The axis labels of one model; the latency label marks local times."""
    local = [one.latency.is_local for one in runs if one.latency]
    if not any(local):
        return _LABELS
    return {**_LABELS, "latency": "latency\ns, local" if all(local) else "latency\ns, hollow: local"}


def _empty_panel(
    panel: panels.Axes, title: str, limits: Mapping[str, float], labels: Mapping[str, str]
) -> None:
    panel.set_title(title, loc="left", fontsize=11, color=INK, fontweight="bold", pad=20)
    panel.set_xlim(-0.35, len(AXES) - 0.65)
    panel.set_ylim(_UNMEASURED - 0.06, 1.03)
    panel.set_xticks(range(len(AXES)), [labels[axis] for axis in AXES], fontsize=8.5, color=INK)
    panel.set_yticks([])
    panel.tick_params(length=0, pad=4)
    for spine in panel.spines.values():
        spine.set_visible(False)
    panel.axhline(_UNMEASURED, color=_RULE, linewidth=0.8, linestyle=(0, (2, 3)), zorder=0)
    panel.text(-0.4, _UNMEASURED, "not\nmeasured", fontsize=6.5, color=QUIET, ha="center", va="center")
    for place, axis in enumerate(AXES):
        panel.plot([place, place], [0, 1], color=_RULE, linewidth=1.4, zorder=0)
        top, bottom = _ends(axis, limits)
        panel.text(place, 1.05, top, va="bottom", ha="center", fontsize=7.5, color=QUIET)
        panel.text(place, -0.04, bottom, va="top", ha="center", fontsize=7.5, color=QUIET)


def _ends(axis: str, limits: Mapping[str, float]) -> tuple[str, str]:
    """The labels at the upper and the lower end of an axis."""
    if axis not in limits:
        return "100 %", "0 %"
    if not limits[axis]:
        return "", ""
    return ("$0", f"${limits[axis]:,g}") if axis == "cost" else ("0 s", f"{limits[axis]:,g} s")


def _draw(panel: panels.Axes, one: Axes, line: _Line, limits: Mapping[str, float]) -> None:
    heights = [_height(one, axis, limits) for axis in AXES]
    places = [place + line.shift for place in range(len(AXES))]
    known = [float("nan") if found.value is None else found.value for found in heights]
    panel.plot(
        places, known, color=line.colour, marker=line.marker, markersize=5.5, linewidth=1.8, clip_on=False
    )
    for place, (value, low, high) in zip(places, heights, strict=True):
        if value is None:
            panel.plot(
                [place],
                [_UNMEASURED],
                color=line.colour,
                marker=line.marker,
                markersize=5.5,
                linestyle="none",
                markerfacecolor="white",
                clip_on=False,
            )
        elif low is not None and high is not None:
            panel.plot([place, place], [low, high], color=line.colour, linewidth=3.5, alpha=0.3)
    if one.latency and one.latency.is_local:
        at = AXES.index("latency")
        panel.plot(
            [places[at]],
            [known[at]],
            color=line.colour,
            marker=line.marker,
            markersize=5.5,
            markerfacecolor="white",
            clip_on=False,
            zorder=3,
        )
    if one.mark is not None and one.marked_title != one.title:
        panel.annotate(
            one.mark.sign,
            (places[0], known[0]),
            xytext=(7, -11),
            textcoords="offset points",
            fontsize=10,
            color=line.colour,
            annotation_clip=False,
        )


def _height(one: Axes, axis: str, limits: Mapping[str, float]) -> Interval:
    """The position on an axis, from 0 (worst) to 1 (best), with its interval."""
    if axis == "accuracy":
        return one.accuracy
    if axis == "stability":
        return one.stability.pass_hat_k if one.stability else NOTHING
    if axis == "security":
        return one.security.score if one.security else NOTHING
    if axis == "cost":
        used = one.cost.per_1000 if one.cost else None
    else:
        used = one.latency.p50 if one.latency else None
    return NOTHING if used is None else Interval(1 - used / limits[axis], None, None)


def _above(values: Iterable[float]) -> float:
    """A round number that none of the values is above; 1 where all are 0, 0 where there is none.

    >>> _above([0.0]), _above([0.034, 1.2]), _above([7.0]), _above([100.0]), _above([])
    (1.0, 2.0, 10.0, 100.0, 0.0)
    """
    most = max(values, default=None)
    if not most:
        return 0.0 if most is None else 1.0
    power = 10.0 ** floor(log10(most))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= most)


def _legend(figure: Figure, lines: Sequence[_Line], beside: int) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=line.colour, marker=line.marker, markersize=5.5, label=line.label)
        for line in lines
    ]
    figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=beside,
        frameon=False,
        fontsize=8.5,
    )
