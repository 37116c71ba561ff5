"""The ranking as a figure for papers: the accuracy of each model with its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolassay.report.decision.decision import FolderReport
from toolassay.report.style import INK, QUIET, one_line, plain_style, save

_ACCURACY, _BASELINE = "#0072B2", "#7f7f7f"  # of Okabe and Ito; baselines are hollow, too
_WIDTH, _ROW, _REST = 6.4, 0.32, 0.9  # inches


def draw_ranking(folders: Sequence[FolderReport], path: Path, *, dpi: int = 110) -> Path:
    """Draw the accuracy of the models, a panel per data folder, the best model on top.

    Args:
        folders: Data folders with at least one model each.
        path: A .png, .svg or .pdf file.
        dpi: Dots an inch, of a PNG.

    Returns:
        The file.

    Raises:
        ToolassayError: It cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = [len(folder.models) for folder in folders]
    with plain_style():
        figure = Figure(figsize=(_WIDTH, sum(_REST + _ROW * count for count in rows)), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(len(folders), 1, squeeze=False, height_ratios=[count + 1 for count in rows])
        for folder, axes in zip(folders, panels[:, 0], strict=True):
            for place, model in enumerate(folder.models):
                value, low, high = model.measured["accuracy"].interval
                colour = _BASELINE if model.axes.is_baseline else _ACCURACY
                if value is None:
                    continue
                if low is not None and high is not None:
                    axes.plot([100 * low, 100 * high], [place, place], color=colour, linewidth=2)
                face = "white" if model.axes.is_baseline else colour
                axes.plot([100 * value], [place], "o", color=colour, markerfacecolor=face, markersize=6)
            axes.set_yticks(range(len(folder.models)), [one_line(one.axes.name) for one in folder.models])
            axes.set_ylim(len(folder.models) - 0.5, -0.5)
            axes.set_xlim(-2, 102)
            axes.set_title(one_line(folder.title, longest=60), loc="left", fontsize=10, color=INK)
            axes.grid(axis="x", color="#d7dbe2", linewidth=0.6)
            axes.tick_params(colors=INK, labelsize=9, length=0)
            axes.spines[:].set_visible(False)
        panels[-1, 0].set_xlabel("right, % (95 % interval)", fontsize=9, color=QUIET)
        return save(figure, path, dpi=dpi)
