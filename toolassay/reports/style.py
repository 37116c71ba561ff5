"""The style of all pictures: colours, fonts, and files with the same bytes every time.

The colours of resource types are those of Paul Tol's schemes "bright" and "muted" (Colour Schemes,
SRON/EPS/TN/09-002), which most colour-blind readers can distinguish on light and dark backgrounds.
"""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolassay.files.data_files import atomic_target
from toolassay.graph import ToolGraph
from toolassay.tools.library import Tool, ToolLibrary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK = "#1F2430"
QUIET = "#5B6270"

# Dates and versions of matplotlib would make the bytes of a file differ.
_NO_METADATA: dict[str, dict[str, None]] = {
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
}
# Fonts of Linux, Windows and macOS with Chinese, Japanese and Korean characters, for what DejaVu Sans lacks.
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
    """Draw with matplotlib's defaults, not the user's settings, and without warnings of missing glyphs."""
    import matplotlib.style

    with (
        matplotlib.style.context(
            [
                "default",
                {"font.family": list(_fonts()), "text.parse_math": False, "svg.hashsalt": "toolassay"},
                {"pdf.fonttype": 42},  # publishers reject the fonts of type 3 that are the default
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


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    """An empty white figure; the size is in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white", layout=layout)
    FigureCanvasAgg(figure)
    return figure


def blank_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure with axes in inches from the lower left corner."""
    figure = new_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    return figure, axes


def save(figure: Figure, path: Path, *, dpi: int) -> Path:
    """Write a figure as PNG, SVG or PDF (by the suffix), all or nothing, without date or version.

    Raises:
        ToolassayError: the file cannot be written.
    """
    with atomic_target(path) as stream:
        figure.savefig(stream, format=path.suffix[1:], dpi=dpi, metadata=_NO_METADATA[path.suffix])
    return path


def one_line(text: str, *, longest: int = 36) -> str:
    r"""A name on one line of at most `longest` characters; the middle of a longer one is left out.

    >>> one_line("a  very\nlong name", longest=9)
    'a ve…name'
    """
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    if len(plain) <= longest:
        return plain
    tail = (longest - 1) // 2
    return f"{plain[: longest - 1 - tail]}…{plain[len(plain) - tail :]}"


def text_width(text: str, size: float) -> float:
    """The width of a text in inches; approximate where a fallback font draws it.

    Args:
        text: the text.
        size: in points.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text, size=size, prop=FontProperties(family=list(_fonts())))
    # Control points of glyphs are within their extent, which `get_extents` takes 40 ms a text to compute.
    across = path.vertices[path.codes != path.CLOSEPOLY][:, 0]
    return float(across.max() - across.min()) / 72


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
    """A colour for each type, in the given order; `NEUTRAL` for no type and after the last colour.

    >>> type_colours(["text", "table", ""])
    {'text': '#4477AA', 'table': '#66CCEE', '': '#8A8F98'}
    """
    free = iter(_OTHERS)
    return {
        kind: NEUTRAL if kind == NO_TYPE else _USUAL.get(kind) or next(free, NEUTRAL)
        for kind in dict.fromkeys(types)
    }


def given_type(tool: Tool) -> str:
    """The type of a tool's colour: its first output type, or `NO_TYPE`."""
    return tool.outputs[0] if tool.outputs else NO_TYPE


def types_by_use(library: ToolLibrary) -> list[str]:
    """The resource types of a library, those of the most tools first, then by name."""
    uses = Counter(kind for tool in library for kind in dict.fromkeys((*tool.inputs, *tool.outputs)))
    return sorted(uses, key=lambda kind: (-uses[kind], kind))


def is_complete(graph: ToolGraph) -> bool:
    """Whether every tool can follow every other."""
    size = len(graph)
    return graph.dependency_type == "temporal" and graph.number_of_links == size * (size - 1)
