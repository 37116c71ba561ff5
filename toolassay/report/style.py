"""What every picture shares: colours, fonts, the same bytes every time.

The colours of resource types are those of Paul Tol's schemes "bright" and "muted" (Colour Schemes,
SRON/EPS/TN/09-002): distinguishable for most colour-blind readers, on a light and on a dark background.
"""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from toolassay.files import atomic_target
from toolassay.graph import ToolGraph
from toolassay.tools import Tool, ToolLibrary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK = "#1F2430"
QUIET = "#5B6270"

_NOTHING_TOLD: dict[str, dict[str, None]] = {
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
}
_FAMILIES = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
    "Arial Unicode MS",
)


@contextlib.contextmanager
def plain_style() -> Iterator[None]:
    """Draw with matplotlib's own defaults, not the user's; a letter no font has is no warning."""
    import matplotlib.style

    with (
        matplotlib.style.context(
            [
                "default",
                {"font.family": list(_fonts()), "text.parse_math": False, "svg.hashsalt": "toolassay"},
            ]
        ),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


@cache
def _fonts() -> tuple[str, ...]:
    from matplotlib.font_manager import get_font_names

    present = set(get_font_names())
    return ("DejaVu Sans", *(family for family in _FAMILIES if family in present))


def blank_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure whose axes are measured in inches, from the lower left corner."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    return figure, axes


def save(figure: Figure, path: Path, *, dpi: int) -> Path:
    """Write a figure as PNG, SVG or PDF (by the suffix), whole or not at all, without date or version.

    Raises:
        ToolassayError: the file cannot be written.
    """
    with atomic_target(path) as stream:
        figure.savefig(stream, format=path.suffix[1:], dpi=dpi, metadata=_NOTHING_TOLD[path.suffix])
    return path


def one_line(text: str, *, longest: int = 36) -> str:
    r"""A name on one line, its middle left out where it is too long.

    >>> one_line("a  very\nlong name", longest=9)
    'a ve…name'
    """
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    if len(plain) <= longest:
        return plain
    tail = (longest - 1) // 2
    return f"{plain[: longest - 1 - tail]}…{plain[len(plain) - tail :]}"


def text_width(text: str, size: float) -> float:
    """The width of a text at a size in points, in inches (near enough where a fallback font draws it)."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text, size=size, prop=FontProperties(family=list(_fonts())))
    return max(0.0, float(path.get_extents().width)) / 72


NO_TYPE = ""
NEUTRAL = "#8A8F98"
ACCENT = "#4477AA"

_USUAL = {"text": "#4477AA", "image": "#EE6677", "audio": "#228833", "video": "#AA3377", "url": "#CCBB44"}
_OTHERS = (
    "#66CCEE",
    "#CC6677",
    "#44AA99",
    "#882255",
    "#999933",
    "#6F5FC4",
    "#DDAA55",
    "#117733",
    "#AA4499",
    "#88CCEE",
)


def type_colours(types: Iterable[str]) -> dict[str, str]:
    """A colour for every type, in the given order; neutral where the colours run out, or for no type.

    >>> type_colours(["text", "table", ""])
    {'text': '#4477AA', 'table': '#66CCEE', '': '#8A8F98'}
    """
    free = iter(_OTHERS)
    return {
        kind: NEUTRAL if kind == NO_TYPE else _USUAL.get(kind) or next(free, NEUTRAL)
        for kind in dict.fromkeys(types)
    }


def given_type(tool: Tool) -> str:
    """The type a tool is coloured by: the first one it gives, or `NO_TYPE`."""
    return tool.outputs[0] if tool.outputs else NO_TYPE


def types_by_use(library: ToolLibrary) -> list[str]:
    """Every resource type of a library, the one most tools touch first, then by name."""
    uses = Counter(kind for tool in library for kind in dict.fromkeys((*tool.inputs, *tool.outputs)))
    return sorted(uses, key=lambda kind: (-uses[kind], kind))


def is_complete(graph: ToolGraph) -> bool:
    """Whether every tool can follow every other."""
    size = len(graph)
    return graph.dependency_type == "temporal" and graph.number_of_links == size * (size - 1)
