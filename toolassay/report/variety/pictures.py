"""The pictures of a variety report, one PNG each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.report.figures import INK, plain_style, save
from toolassay.report.variety.panels import MOST_TOOLS, draw_lengths, draw_likeness, draw_sizes, draw_tools
from toolassay.report.variety.sunburst import draw_sunburst
from toolassay.words import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = ("first_words", "sizes_and_shapes", "tools", "lengths", "likeness")
_DPI = 130
_WIDTH, _HEIGHT = 7.0, 3.2  # inches


def draw_variety(figures: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw what a variety report measured; the same figures give the same bytes.

    Args:
        figures: as in `variety.json`; a part that is not applicable gets no picture.
        folder: where `first_words.png`, `sizes_and_shapes.png`, `tools.png`, `lengths.png` and
            `likeness.png` go; made if missing. A picture of an earlier report that has none now is removed.

    Returns:
        The files, in that order.

    Raises:
        ToolassayError: the folder cannot be written.
    """
    pictures: dict[str, tuple[str, float, Callable[[Axes, Any], None]]] = {
        "first_words": ("first_words", 5.8, lambda axes, part: _sunburst(axes, part, figures["requests"])),
        "sizes_and_shapes": ("sizes", 2.3, draw_sizes),
        "tools": ("tools", _tools_height(figures["tools"]), draw_tools),
        "lengths": ("lengths", _HEIGHT, draw_lengths),
        "likeness": ("likeness", _HEIGHT, draw_likeness),
    }
    made = []
    for name, (part, height, draw) in pictures.items():
        path = folder / f"{name}.png"
        if "not_applicable" in figures[part]:
            path.unlink(missing_ok=True)
        else:
            made.append(_draw(path, height, draw, figures[part]))
    return made


def _draw(path: Path, height: float, draw: Callable[[Axes, Any], None], part: Any) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with plain_style():
        figure = Figure(figsize=(_WIDTH, height), facecolor="white", layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure.subplots(), part)
        return save(figure, path, dpi=_DPI)


def _sunburst(axes: Axes, part: Mapping[str, Any], requests: int) -> None:
    axes.set_xlim(-1.04, 1.04)
    axes.set_ylim(-1.04, 1.04)
    axes.set_aspect("equal")
    axes.set_axis_off()
    title = f"How requests begin: {count_of(part['different_openings'], 'pair')} of first words"
    axes.set_title(title, loc="left", size=11, color=INK, weight="bold")
    draw_sunburst(axes, part["openings"], requests)


def _tools_height(tools: Mapping[str, Any]) -> float:
    shown = len(tools.get("uses", ()))
    return _HEIGHT if shown > MOST_TOOLS else 0.9 + 0.19 * shown
