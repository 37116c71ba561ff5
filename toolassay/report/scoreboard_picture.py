"""The scoreboard as a figure for papers: a panel a data folder and axis, a row a model, the best on top.

Dots, not a radar: the axes have different units, and the area of a radar depends on their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.report.axes import AXES, Axes, mark_lines
from toolassay.report.decision import FolderReport
from toolassay.report.style import INK, QUIET, one_line, plain_style, save
from toolassay.runs.outcomes import marked
from toolassay.tables import UNKNOWN

MOST = 60
"""Maximum number of models in a picture."""
_LABELS = {
    "accuracy": "right, % (95 % interval)",
    "stability": "stability: pass^k, %",
    "cost": "cost: $ / 1,000",
    "latency": "latency: s, median",
    "security": "security: resisted, %",
}
_MODEL, _BASELINE, _RULE = "#0072B2", "#7f7f7f", "#d7dbe2"  # of Okabe and Ito; baselines are hollow, too
_NAMES, _PANEL, _ROW, _REST, _NOTE = 2.4, 2.6, 0.32, 0.9, 0.16  # inches; `_PANEL` of a picture of all axes


def draw_scoreboard(
    folders: Sequence[FolderReport], path: Path, *, axes: Sequence[str] = AXES, dpi: int = 110
) -> Path:
    """Draw axes of the first 60 models of each folder in the order of the ranking, with 95 % intervals.

    A dash stands for what was not measured, a hollow dot for a time on this machine and for a baseline.

    Args:
        folders: Data folders with at least one model each.
        path: A .png, .svg or .pdf file.
        axes: Names of the axes.
        dpi: Dots an inch, of a PNG.

    Returns:
        The file.

    Raises:
        ToolassayError: It cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = [[model.axes for model in folder.models[:MOST]] for folder in folders]
    notes = mark_lines([one for runs in shown for one in runs]) if len(axes) > 1 else []
    width = _NAMES + (_PANEL * len(axes) if len(axes) > 1 else 4.0)
    height = sum(_REST + _ROW * len(runs) for runs in shown) + _NOTE * len(notes)
    with plain_style():
        figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        heights = [len(runs) + 1 for runs in shown]
        panels = figure.subplots(len(folders), len(axes), squeeze=False, height_ratios=heights)
        for folder, runs, row in zip(folders, shown, panels, strict=True):
            for axis, panel in zip(axes, row, strict=True):
                for place, one in enumerate(runs):
                    value, low, high = _measured(one, axis)
                    colour = _BASELINE if one.is_baseline else _MODEL
                    is_local = axis == "latency" and one.latency is not None and one.latency.is_local
                    face = "white" if one.is_baseline or is_local else colour
                    if value is None:
                        at = {"transform": panel.get_yaxis_transform(), "ha": "left", "va": "center"}
                        panel.text(0.02, place, UNKNOWN, color=QUIET, fontsize=9, **at)
                        continue
                    if low is not None and high is not None:
                        panel.plot([low, high], [place, place], color=colour, linewidth=2)
                    panel.plot(
                        [value], [place], "o", color=colour, markerfacecolor=face, markersize=6, clip_on=False
                    )
                names = (
                    [one_line(marked(one.model, one.mark)) for one in runs]
                    if axis == axes[0]
                    else [""] * len(runs)
                )
                panel.set_yticks(range(len(runs)), names)
                panel.set_ylim(len(runs) - 0.5, -0.5)
                panel.set_xlim(*((0, None) if axis in ("cost", "latency") else (-4, 104)))
                panel.grid(axis="x", color=_RULE, linewidth=0.6)
                panel.tick_params(colors=INK, labelsize=9, length=0)
                panel.locator_params(axis="x", nbins=4 if axis in ("cost", "latency") else 5)
                panel.spines[:].set_visible(False)
                panel.set_xlabel(_LABELS[axis], fontsize=9, color=QUIET)
            row[0].set_title(one_line(folder.title, longest=60), loc="left", fontsize=10, color=INK)
        if notes:
            figure.supxlabel("\n".join(notes), x=0.01, ha="left", fontsize=7, color=QUIET)
        return save(figure, path, dpi=dpi)


def _measured(one: Axes, axis: str) -> Interval:
    """The value on an axis: percent, dollars or seconds."""
    if axis == "cost":
        return Interval(one.cost.per_1000, None, None) if one.cost else NOTHING
    if axis == "latency":
        return Interval(one.latency.p50, None, None) if one.latency else NOTHING
    shares = {
        "accuracy": one.accuracy,
        "stability": one.stability.pass_hat_k if one.stability else NOTHING,
        "security": one.security.score if one.security else NOTHING,
    }
    return Interval(*(None if value is None else 100 * value for value in shares[axis]))
