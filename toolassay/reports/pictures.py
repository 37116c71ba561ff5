"""Pictures of a check, of samples, of a ranking and of the variety of a data set."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from math import log1p
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.console.tables import UNKNOWN
from toolassay.console.text_formatting import count_of
from toolassay.graph.links import COMPLETE
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.records.data_folder import FunnelRow
from toolassay.records.dataset import Sample
from toolassay.reports.axes import AXES, Axes, mark_lines
from toolassay.reports.decision import FolderReport
from toolassay.reports.style import (
    ACCENT,
    INK,
    NEUTRAL,
    QUIET,
    blank_figure,
    new_figure,
    one_line,
    plain_style,
    save,
    type_colours,
)
from toolassay.runs.outcomes import marked

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.axis import Axis


_COLOURS = ("#4477AA", "#DDAA55", "#CC6677")
# In inches: the widths of names, of the longest bar and of counts; the heights of a row and of the legend.
_FUNNEL_NAMES = 1.6
_BAR = 5.2
_COUNTS = 2.5
_FUNNEL_ROW = 0.44
_TOP = 0.62
_FUNNEL_MARGIN = 0.2
_HALF = 0.14  # half the height of a bar


def draw_funnel(bars: Sequence[FunnelRow], path: Path) -> Path:
    """Draw the funnel as a PNG file; the same counts give the same bytes.

    Args:
        bars: from the first gate to the last.
        path: the file to write, ending in `.png`.

    Returns:
        The file.

    Raises:
        ToolassayError: the file cannot be written.
    """
    height = _TOP + len(bars) * _FUNNEL_ROW + _FUNNEL_MARGIN
    most = max((bar.entering for bar in bars), default=0) or 1
    with plain_style():
        figure, axes = blank_figure(2 * _FUNNEL_MARGIN + _FUNNEL_NAMES + _BAR + _COUNTS, height)
        left = _FUNNEL_MARGIN + _FUNNEL_NAMES
        for position, (name, colour) in enumerate(
            zip(("goes on", "quarantine", "rejected"), _COLOURS, strict=True)
        ):
            x = left + 1.3 * position
            axes.barh(height - 0.3, 0.16, 0.16, x, color=colour)
            axes.text(x + 0.24, height - 0.3, name, va="center", fontsize=9, color=INK)
        for number, bar in enumerate(bars):
            y = height - _TOP - (number + 0.5) * _FUNNEL_ROW
            axes.text(left - 0.15, y, one_line(bar.gate), ha="right", va="center", fontsize=10, color=INK)
            start = left
            for count, colour in zip((bar.leaving, bar.quarantine, bar.reject), _COLOURS, strict=True):
                axes.barh(y, count / most * _BAR, 2 * _HALF, start, color=colour)
                start += count / most * _BAR
            lost = [f"{bar.quarantine:,} quarantined"] * bool(bar.quarantine)
            lost += [f"{bar.reject:,} rejected"] * bool(bar.reject)
            text = ", ".join([f"{bar.leaving:,} go on", *lost])
            axes.text(start + 0.1, y, text, va="center", fontsize=9, color=QUIET)
        return save(figure, path, dpi=110)


# In inches.
_BOX_WIDTH = 1.5
_COLUMN = 2.35
_ROW = 0.95
_MARGIN = 0.2
_LETTERS = 19  # characters on a line of a box
_BEND = 0.5  # of a link over several columns, as a share of one: 0.6 inches in the middle


def draw_sample(sample: Sample, path: Path) -> Path:
    """Draw a sample as a PNG file; the same sample gives the same bytes.

    The columns are topological generations; a link over several of them is an arc.

    Args:
        sample: the sampled subgraph.
        path: the file to write, ending in `.png`; its folder is created if missing.

    Returns:
        `path`.

    Raises:
        ToolassayError: the file cannot be written.
    """
    import networkx

    types: dict[tuple[str, str], list[str]] = {}
    for link in sample.links:
        types.setdefault((link.source, link.target), []).append(link.type)
    graph: networkx.DiGraph[str] = networkx.DiGraph(list(types))
    graph.add_nodes_from(sample.nodes)
    columns = [list(column) for column in networkx.topological_generations(graph)]
    column_of = {tool: number for number, column in enumerate(columns) for tool in column}
    height = max(map(len, columns)) * _ROW + 2 * _MARGIN
    centres = {
        tool: (
            _MARGIN + _BOX_WIDTH / 2 + number * _COLUMN,
            height / 2 + ((len(column) - 1) / 2 - row) * _ROW,
        )
        for number, column in enumerate(columns)
        for row, tool in enumerate(column)
    }
    with plain_style():
        figure, axes = blank_figure((len(columns) - 1) * _COLUMN + _BOX_WIDTH + 2 * _MARGIN, height)
        colours = type_colours(link.type for link in sample.links if link.type != COMPLETE)
        look: dict[str, Any] = {"color": INK, "ha": "center", "va": "center"}
        box = {"boxstyle": "round", "facecolor": "#EEF2F7", "edgecolor": "#9AA5B4"}
        boxes = {
            tool: axes.text(*position, box_text(tool), fontsize=9, bbox=box, **look).get_bbox_patch()
            for tool, position in centres.items()
        }
        for (source, target), kinds in types.items():
            (ax, ay), (bx, by) = centres[source], centres[target]
            span = column_of[target] - column_of[source]
            bend = _BEND / span if span > 1 else 0
            arrow = {"arrowstyle": "-|>", "linewidth": 1.6, "mutation_scale": 13}
            arrow |= {"connectionstyle": f"arc3,rad={bend}", "color": colours.get(kinds[0], NEUTRAL)}
            arrow |= {"patchA": boxes[source], "patchB": boxes[target]}
            axes.annotate("", (bx, by), (ax, ay), arrowprops=arrow)
            if kinds != [COMPLETE]:
                # At 0.4 of the quadratic curve, nearer the source, where links to one target are still apart.
                x = (ax + bx) / 2 + bend * (by - ay)
                y = (ay + by) / 2 - bend * (bx - ax)
                x = 0.36 * ax + 0.48 * x + 0.16 * bx
                y = 0.36 * ay + 0.48 * y + 0.16 * by
                ground = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
                text = textwrap.fill(one_line(", ".join(kinds)), 12)
                axes.text(x, y, text, fontsize=8, bbox=ground, zorder=4, **look)
        return save(figure, path, dpi=110)


def box_text(name: str) -> str:
    r"""A tool's name on up to three lines of 19 characters; an underscore may end a line.

    >>> box_text("share_by_social_network")
    'share_by_social_\nnetwork'
    """
    parts = one_line(name, longest=50).replace("_", "_\u200b").replace("-", "-\u200b")
    lines: list[str] = [""]
    for word in parts.replace(" ", " \u200b").split("\u200b"):
        if lines[-1] and len((lines[-1] + word).rstrip()) > _LETTERS:
            lines.append("")
        lines[-1] += word
    broken = [piece for line in lines for piece in textwrap.wrap(line, _LETTERS)]
    return "\n".join(broken if len(broken) <= 3 else [*broken[:2], f"{broken[2][: _LETTERS - 1]}…"])


MOST = 60
"""Maximum number of models in a picture."""
_LABELS = {
    "accuracy": "right, % (95 % interval)",
    "stability": "stability: pass^k, %",
    "cost": "cost: $ / 1,000",
    "latency": "latency: s, median",
    "security": "security: resisted, %",
}
# Colours that people with colour blindness can distinguish (Okabe and Ito); baselines are also hollow.
_MODEL = "#0072B2"
_BASELINE = "#7f7f7f"
_RULE = "#d7dbe2"
# In inches; `_PANEL` of a picture of all axes.
_NAMES = 2.4
_PANEL = 2.6
_BOARD_ROW = 0.32
_REST = 0.9
_NOTE = 0.16


def draw_scoreboard(
    folders: Sequence[FolderReport], path: Path, *, axes: Sequence[str] = AXES, dpi: int = 110
) -> Path:
    """Draw axes of the first 60 models of each folder in the order of the ranking, with 95 % intervals.

    A dash means not measured, a hollow dot for a time on this machine and for a baseline.

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
    runs_of_folders = [[model.axes for model in folder.models[:MOST]] for folder in folders]
    notes = mark_lines([run for runs in runs_of_folders for run in runs]) if len(axes) > 1 else []
    width = _NAMES + (_PANEL * len(axes) if len(axes) > 1 else 4.0)
    height = sum(_REST + _BOARD_ROW * len(runs) for runs in runs_of_folders) + _NOTE * len(notes)
    with plain_style():
        figure = new_figure(width, height, "constrained")
        heights = [len(runs) + 1 for runs in runs_of_folders]
        panels = figure.subplots(len(folders), len(axes), squeeze=False, height_ratios=heights)
        for folder, runs, row in zip(folders, runs_of_folders, panels, strict=True):
            for axis, panel in zip(axes, row, strict=True):
                for row_position, run in enumerate(runs):
                    value, low, high = _measured(run, axis)
                    colour = _BASELINE if run.is_baseline else _MODEL
                    is_local = axis == "latency" and run.latency is not None and run.latency.is_local
                    face = "white" if run.is_baseline or is_local else colour
                    if value is None:
                        at = {"transform": panel.get_yaxis_transform(), "ha": "left", "va": "center"}
                        panel.text(0.02, row_position, UNKNOWN, color=QUIET, fontsize=9, **at)
                        continue
                    if low is not None and high is not None:
                        panel.plot([low, high], [row_position, row_position], color=colour, linewidth=2)
                    panel.plot(
                        [value],
                        [row_position],
                        "o",
                        color=colour,
                        markerfacecolor=face,
                        markersize=6,
                        clip_on=False,
                    )
                is_first = axis == axes[0]
                names = [one_line(marked(run.model, run.mark)) if is_first else "" for run in runs]
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


def _measured(run: Axes, axis: str) -> Interval:
    """The value on an axis: percent, dollars or seconds."""
    if axis == "cost":
        return Interval(run.cost.per_1000, None, None) if run.cost else NOTHING
    if axis == "latency":
        return Interval(run.latency.p50, None, None) if run.latency else NOTHING
    shares = {
        "accuracy": run.accuracy,
        "stability": run.stability.pass_hat_k if run.stability else NOTHING,
        "security": run.security.score if run.security else NOTHING,
    }
    return Interval(*(None if value is None else 100 * value for value in shares[axis]))


MOST_TOOLS = 40  # bars with legible names; a larger library is drawn as a curve
MOST_SIZES = 24  # columns of the heat map
_WARNING = "#EE6677"


def tidy(axes: Plot, title: str, x: str, y: str) -> None:
    """Set the title at the left and the names of the axes, and remove the box."""
    axes.set_title(title, loc="left", size=11, color=INK, weight="bold")
    axes.set_xlabel(x, color=QUIET, size=9)
    axes.set_ylabel(y, color=QUIET, size=9)
    axes.tick_params(colors=QUIET, labelsize=8, length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#D7DBE2")


def _whole_ticks(axis: Axis) -> None:
    """Put ticks at integers only; a small set would have half requests on its axis."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))


def draw_tools(axes: Plot, tools: Mapping[str, Any]) -> None:
    """The number of plans that use each tool: bars, or a curve for a large library."""
    uses = tools["uses"]
    title = f"{tools['used']:,} of {tools['tools']:,} tools are used"
    if len(uses) > MOST_TOOLS:
        axes.fill_between(range(1, len(uses) + 1), list(uses.values()), color=ACCENT, alpha=0.85, lw=0)
        axes.set_xlim(1, len(uses))
        axes.set_ylim(bottom=0)
        _whole_ticks(axes.yaxis)
        tidy(axes, title, "tools, most used first", "plans")
        return
    names = [one_line(name, longest=34) for name in uses]
    # Bars are placed by number, as two names may be equal once they are shortened.
    colours = [ACCENT if count else _WARNING for count in uses.values()]
    axes.barh(range(len(names)), list(uses.values()), color=colours, height=0.72)
    for position, count in enumerate(uses.values()):
        axes.text(count, position, f" {count:,}", va="center", size=7.5, color=QUIET if count else _WARNING)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    _whole_ticks(axes.xaxis)
    tidy(axes, title, "plans", "")


def draw_sizes(axes: Plot, sizes: Mapping[str, Mapping[str, int]]) -> None:
    """The number of plans of each shape and size, as a heat map."""
    columns = sorted({int(size) for counts in sizes.values() for size in counts})
    shown_columns = columns[:MOST_SIZES]
    rows: list[Sequence[int]] = [
        [counts.get(str(size), 0) for size in shown_columns] for counts in sizes.values()
    ]
    most = log1p(max(map(max, rows)))
    shades = [[log1p(count) / most for count in row] for row in rows]
    axes.imshow(shades, cmap="Blues", vmin=0, vmax=1.25, aspect="auto")
    for y, row in enumerate(rows):
        for x, count in enumerate(row):
            # Colours are on a logarithmic scale, so that rare sizes are visible beside frequent ones.
            colour = INK if count else NEUTRAL
            if log1p(count) / most > 0.7:
                colour = "white"
            axes.text(x, y, f"{count:,}" if count else "·", ha="center", va="center", size=8.5, color=colour)
    axes.set_xticks(range(len(shown_columns)), [str(size) for size in shown_columns])
    axes.set_yticks(range(len(rows)), list(sizes))
    total = sum(sum(counts.values()) for counts in sizes.values())
    more = (
        f" (larger ones, up to {columns[-1]:,}, are not shown)" if len(columns) > len(shown_columns) else ""
    )
    tidy(axes, f"{count_of(total, 'plan')} by shape and size{more}", "tools in the plan", "")
    axes.spines["bottom"].set_visible(False)


PICTURES = ("sizes_and_shapes", "tools")


def draw_variety(figures: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the pictures of a variety report; the same figures give the same bytes.

    Args:
        figures: as in `variety.json`; a part that is not applicable has no picture.
        folder: where the files of `PICTURES` are written; created if missing. The picture of a part that is
            not applicable any more is removed.

    Returns:
        The files, in the order of `PICTURES`.

    Raises:
        ToolassayError: the folder cannot be written.
    """
    shown = len(figures["tools"].get("uses", ()))
    high = 3.2 if shown > MOST_TOOLS else 0.9 + 0.19 * shown
    parts = (("sizes", 2.3, draw_sizes), ("tools", high, draw_tools))
    paths = []
    for name, (part, height, draw) in zip(PICTURES, parts, strict=True):
        path = folder / f"{name}.png"
        if "not_applicable" in figures[part]:
            path.unlink(missing_ok=True)
            continue
        with plain_style():
            figure = new_figure(7.0, height, "constrained")
            draw(figure.subplots(), figures[part])
            paths.append(save(figure, path, dpi=130))
    return paths
