"""Tables in four formats (Markdown, LaTeX, CSV, terminal), their escapers and their number formats."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from toolassay.console.text_formatting import without_controls

if TYPE_CHECKING:
    import rich.table

UNKNOWN = "–"
"""The text of a cell whose value is not known."""


def number(value: float | None, digits: int = 2, *, unknown: str = UNKNOWN) -> str:
    """A number with thousands separators; -0.00 loses its sign.

    >>> number(61.5), number(1234.5, 1), number(-0.001), number(None)
    ('61.50', '1,234.5', '0.00', '–')
    """
    return unknown if value is None else f"{value:z,.{digits}f}"


def percent(share: float | None, digits: int = 1, *, sign: str = " %", unknown: str = UNKNOWN) -> str:
    """A share of 1 in percent.

    >>> percent(0.5), percent(0.1234, 2, sign=""), percent(None)
    ('50.0 %', '12.34', '–')
    """
    return unknown if share is None else number(100 * share, digits) + sign


def whole_percent(value: float | None) -> str:
    """Percent, rounded down so that 100 means all.

    >>> whole_percent(99.9), whole_percent(100 * 0.29), whole_percent(None)
    ('99', '29', '–')
    """
    # 100 * 0.29 is 28.999999999999996.
    return UNKNOWN if value is None else str(int(value + 1e-9))


def bounds(low: float | None, high: float | None) -> str:
    """The bounds of an interval; empty where there are none.

    >>> bounds(58.25, 64.0)
    '58.2–64.0'
    """
    return "" if low is None or high is None else f"{low:.1f}–{high:.1f}"


def percent_interval(low: float | None, high: float | None) -> str:
    """The interval of a share of 1 in percent; empty where there is none.

    >>> percent_interval(0.25, 0.75)
    '[25.0, 75.0]'
    """
    return "" if low is None or high is None else f"[{percent(low, sign='')}, {percent(high, sign='')}]"


def money(value: float | None, *, at_least: bool = False, small: bool = False) -> str:
    """US dollars.

    Args:
        value: the amount.
        at_least: part of the cost is unknown.
        small: the column has costs of a single item, which would round to 0.0000: below one dollar, two
            significant digits.

    >>> money(0.0421), money(12.5, at_least=True), money(None)
    ('0.0421', '≥ 12.50', '–')
    >>> money(0.0, small=True), money(0.000123, small=True), money(1234.5, small=True)
    ('0', '0.00012', '1,234.50')
    """
    if value is None:
        return UNKNOWN
    if small:
        text = f"{value:,.2f}" if value >= 1 else f"{value:.2g}"
    else:
        text = f"{value:.{2 if value >= 10 else 4}f}"
    return f"{'≥ ' if at_least else ''}{text}"


def seconds(value: float | None, *, local: bool) -> str:
    """Seconds; `local` times, of a model that runs on this machine, have four digits and are marked.

    >>> seconds(1.234, local=False), seconds(0.0041, local=True), seconds(None, local=True)
    ('1.23', '0.0041 local', '–')
    """
    if value is None:
        return UNKNOWN
    if not local:
        return f"{value:.2f}"
    return f"{value:.4f} local" if value >= 0.0001 else "<0.0001 local"


def printable(text: str) -> str:
    r"""A name in which line breaks and control characters, which would break the table, are "?".

    >>> printable("a\x1b[31mb")
    'a?[31mb'
    """
    return "".join(character if character.isprintable() else "?" for character in text)


# What Markdown may take for markup: matches the "_" of "a_b", nothing in "a-b (c)".
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#!$@])")


def markdown_escaped(text: str, *, keep_markup: bool = False) -> str:
    r"""Text for a Markdown table, on one line.

    Args:
        text: any text.
        keep_markup: leave markup such as `code` or **bold** and escape only what would end the cell: "|",
            and "\", which would escape the next character. By default every character shows as it is.

    >>> print(markdown_escaped("a_b|c"), markdown_escaped("`a_b`|\n c", keep_markup=True))
    a\_b\|c `a_b`\| c
    """
    if keep_markup:
        return " ".join(without_controls(text).replace("\\", "\\\\").replace("|", "\\|").split())
    return _MARKDOWN_SPECIAL.sub(r"\\\1", printable(text))


# Characters that LaTeX does not print as they are, and what prints them.
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≥": r"$\geq$",
    "–": "--",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def latex_escaped(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> latex_escaped("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(_LATEX_SPECIAL.get(character, character) for character in printable(text))


def csv_line(row: Sequence[object]) -> str:
    r"""A line of CSV, ending with a line feed.

    >>> csv_line(["a,b", 1, None, "c\rd"])
    '"a,b",1,,"c\rd"\n'
    """
    text = io.StringIO()
    # With this line end the writer puts quotes around a bare carriage return too, which else ends a row.
    csv.writer(text, lineterminator="\r\n").writerow(row)
    return text.getvalue().removesuffix("\r\n") + "\n"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with more than a text.

    Attributes:
        text: what it holds.
        note: an interval or the like: in brackets, small (LaTeX), or dim on the lines below (terminal).
        bold: whether a terminal shows the text in bold.
        colour: of the text in a terminal, as rich names it.
    """

    text: str
    note: str = ""
    bold: bool = False
    colour: str = ""


Value = Cell | str | float | None
"""A cell. An integer gets thousands separators and a float two digits; None is empty. CSV keeps numbers."""

_NAME_WIDTH = 24  # characters of a name before it folds: most names of models fit
_LONGEST = 100  # characters of a value in the `repr` of a result
_UNLIMITED = 1400  # characters: wider than any table


@dataclass(frozen=True)
class Table:
    """A table, rendered by its methods.

    Attributes:
        headings: the names of the columns.
        rows: the cells of each row.
        align: a letter for each column from the left, "r" for the rest: "l" left, "r" right, "n" for names
            (of models and the like), which are left-aligned, of any length and with any characters, "t"
            for right-aligned text with any characters. In Markdown all characters of "n" and "t" are
            escaped; the other cells may hold Markdown. Only "n" folds on a narrow terminal.
        title: one line.
        captions: paragraphs below the table.

    >>> print(Table(("gate", "samples"), [("schema", 1200)]).markdown())
    | gate | samples |
    | --- | ---: |
    | schema | 1,200 |
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[Value]]
    align: str = "l"
    title: str = ""
    captions: Sequence[str] = ()

    @property
    def _alignment(self) -> str:
        return self.align.ljust(len(self.headings), "r")

    def markdown(self) -> str:
        """GitHub's Markdown, without a line break at the end; the title is a heading of level 2."""
        heads = [markdown_escaped(heading, keep_markup=True) for heading in self.headings]
        rules = ["---:" if letter in "rt" else "---" for letter in self._alignment]
        rows = [map(_markdown_cell, self._alignment, row) for row in self.rows]
        grid = "\n".join(f"| {' | '.join(line)} |" for line in (heads, rules, *rows))
        title = [f"## {markdown_escaped(self.title)}"] if self.title else []
        return "\n\n".join([*title, grid, *map(markdown_escaped, self.captions)])

    def latex(self) -> str:
        """A `table` environment for the package booktabs, ending with a line break."""
        rows = [" & ".join(map(_latex_cell, row)) for row in (self.headings, *self.rows)]
        head, *body = (rf"{row} \\" for row in rows)
        lines = [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_escaped(' '.join([self.title + '.', *self.captions]))}}}",
            rf"\begin{{tabular}}{{{self._alignment.replace('n', 'l').replace('t', 'r')}}}",
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
            r"\end{tabular}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """An HTML table; each caption is a paragraph below it."""
        cells = ([_cell(value) for value in row] for row in self.rows)
        texts = ([f"{one.text} ({one.note})" if one.note else one.text for one in row] for row in cells)
        rows = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in texts]
        head = "".join(f"<th>{escape(heading)}</th>" for heading in self.headings)
        grid = "".join(f"<tr>{row}</tr>" for row in (head, *rows))
        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        return f"<table>{title}{grid}</table>" + "".join(
            f"<p>{escape(caption)}</p>" for caption in self.captions
        )

    def csv(self) -> str:
        """CSV with a header; title, captions and notes are left out."""
        rows = ([cell.text if isinstance(cell, Cell) else cell for cell in row] for row in self.rows)
        return "".join(map(csv_line, [self.headings, *rows]))

    def terminal(self, *, padding: int = 1) -> rich.table.Table:
        """A table of rich.

        Args:
            padding: blanks to the right of each column.
        """
        from rich import box, table
        from rich.cells import cell_len
        from rich.markup import escape as markup

        shown = table.Table(
            title=markup(printable(self.title)) or None,
            caption=markup("\n".join(map(printable, self.captions))) or None,
            box=box.SIMPLE_HEAD,
            padding=(0, padding),
            collapse_padding=True,
            pad_edge=False,
            title_justify="left",
            caption_justify="left",
        )
        lines = [[_lines(value) for value in row] for row in self.rows]
        for place, (heading, letter) in enumerate(zip(self.headings, self._alignment, strict=True)):
            # Without a minimum, rich takes what a narrow terminal lacks from the columns that may fold, and
            # a column of names disappears.
            widest = max(map(cell_len, [heading, *(line for row in lines for line in row[place])]))
            if letter == "n":
                shown.add_column(heading, overflow="fold", min_width=min(widest, _NAME_WIDTH))
            else:
                justify: Literal["left", "right"] = "right" if letter in "rt" else "left"
                shown.add_column(heading, justify=justify, no_wrap=True, min_width=widest)
        for row in self.rows:
            shown.add_row(*map(_terminal_cell, row))
        return shown


class Result:
    """What a stage returns: a short `repr`, a table in notebooks, and `to_pandas`.

    A base of dataclasses with `repr=False`. By default the table has a row for each figure and path, and for
    the length of each list.
    """

    def table(self) -> Table:
        """The result as a table."""
        return Table(("figure", "value"), [(name, str(value)) for name, value in self._figures()], "ll")

    def csv(self) -> str:
        """The table as CSV, with plain numbers."""
        return self.table().csv()

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame`.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        return import_module("pandas").read_csv(io.StringIO(self.csv()))

    def _figures(self) -> Iterator[tuple[str, object]]:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Mapping):
                yield from ((f"{field.name} {key}", item) for key, item in value.items() if type(item) is int)
            elif isinstance(value, int | float | str | Path) and len(str(value)) < _LONGEST:
                yield field.name, value
            elif isinstance(value, Sequence) and not isinstance(value, str):
                yield field.name, len(value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self._figures())})"

    def _repr_html_(self) -> str:
        return self.table().html()


def fitting_width(table: rich.table.Table, width: int) -> int:
    """The width in characters, at least `width`, at which no number of a table of rich is cut off."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(width=width)
    unlimited = console.options.update(max_width=_UNLIMITED)
    return max(width, Measurement.get(console, unlimited, table).minimum)


def plain_text(table: rich.table.Table, *, width: int) -> str:
    """A table of rich as lines without colours, at least `width` characters wide and never cut off."""
    from rich.console import Console

    console = Console(width=fitting_width(table, width), color_system=None)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def _cell(value: Value) -> Cell:
    if isinstance(value, Cell):
        return value
    if value is None or isinstance(value, str):
        return Cell(value or "")
    return Cell(f"{value:,}" if isinstance(value, int) else number(value))


def _markdown_cell(letter: str, value: Value) -> str:
    cell = _cell(value)
    text = markdown_escaped(cell.text, keep_markup=letter not in "nt")
    return f"{text} ({'; '.join(cell.note.splitlines())})" if cell.note else text


def _latex_cell(value: Value) -> str:
    cell = _cell(value)
    text = latex_escaped(cell.text)
    note = latex_escaped("; ".join(cell.note.splitlines()))
    return rf"{text} {{\scriptsize {note}}}" if note else text


def _lines(value: Value) -> list[str]:
    cell = _cell(value)
    return [printable(cell.text), *cell.note.splitlines()]


def _terminal_cell(value: Value) -> str:
    from rich.markup import escape as markup

    cell = _cell(value)
    text, *notes = map(markup, _lines(cell))
    style = f"{'bold ' * cell.bold}{cell.colour}"
    return "\n".join([f"[{style}]{text}[/]" if style else text, *(f"[dim]{note}[/]" for note in notes)])
