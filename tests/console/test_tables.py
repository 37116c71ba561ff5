"""A table says the same in every format, whatever its cells hold."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Span, Text

from tests.support.markdown_tables import markdown_cells
from toolassay.console.tables import (
    Cell,
    Table,
    latex_escaped,
    number,
    percent,
    plain_text,
    printable,
    whole_percent,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
MARKUP = st.text("ab1 _*`[](){}<>|~&#!$@\\^%\n\t\x1b–≥†", max_size=20)
SCORES = Table(
    ("model", "scores", "n", "F1"),
    [
        ("we|ird_[red]x", Cell("strict", bold=True), 1200, Cell("53.00", "52.0–54.0")),
        ("", "compat", None, 53.126),
    ],
    align="nl",
    title="a_b",
    captions=["50 % of *it*"],
)


def shown(table: Table, width: int) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(table.terminal())
    return captured.get()


def test_markdown_has_a_title_a_grid_and_captions() -> None:
    assert SCORES.markdown().split("\n") == [
        r"## a\_b",
        "",
        "| model | scores | n | F1 |",
        "| --- | --- | ---: | ---: |",
        r"| we\|ird\_\[red\]x | strict | 1,200 | 53.00 (52.0–54.0) |",
        "|  | compat |  | 53.13 |",
        "",
        r"50 % of \*it\*",
    ]


def test_a_cell_that_is_no_name_may_hold_markdown() -> None:
    (_, row) = markdown_cells(Table(("field", "type"), [("`a_b`", "**all** | more")]).markdown())
    assert row == ["a_b", "all | more"]


@given(st.lists(MARKUP | TEXTS, min_size=1, max_size=3))
def test_markdown_shows_every_name_as_it_is(names: list[str]) -> None:
    _, *rows = markdown_cells(Table(("name", "n"), [(name, 1) for name in names], align="n").markdown())
    assert rows == [[printable(name).strip(), "1"] for name in names]


@given(st.lists(st.tuples(MARKUP | TEXTS, MARKUP), max_size=3))
def test_no_text_adds_a_row_or_a_cell_to_markdown(rows: list[tuple[str, str]]) -> None:
    lines = Table(("a", "b"), rows, align="lr").markdown().split("\n")
    assert len(lines) == 2 + len(rows)
    # A bar counts unless an odd number of backslashes precedes it.
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines)


def test_latex_aligns_escapes_and_makes_notes_small() -> None:
    lines = SCORES.latex().splitlines()
    assert r"\caption{a\_b. 50 \% of *it*}" in lines
    assert r"\begin{tabular}{llrr}" in lines
    assert r"we\textbar{}ird\_[red]x & strict & 1,200 & 53.00 {\scriptsize 52.0--54.0} \\" in lines
    assert r" & compat &  & 53.13 \\" in lines


@given(MARKUP | TEXTS)
def test_latex_text_has_no_commands_of_its_own(text: str) -> None:
    words = {
        "textbackslash{}": "\\",
        "textasciitilde{}": "~",
        "textasciicircum{}": "^",
        "textless{}": "<",
        "textgreater{}": ">",
        "textbar{}": "|",
        "dag{}": "†",
        "ddag{}": "‡",
        **{character: character for character in "&%$#_{}"},
    }
    escaped = latex_escaped(text).replace(r"$\geq$", "≥").replace("--", "–")
    command = re.compile(r"\\(" + "|".join(map(re.escape, words)) + ")")
    assert not set("\\~^<>|&%$#_{}") & set(command.sub("", escaped))
    plain = command.sub(lambda match: words[match[1]], escaped)
    assert plain == printable(text).replace("--", "–")


@given(st.lists(st.tuples(TEXTS, st.integers() | st.none()), max_size=4))
def test_csv_keeps_texts_and_numbers(rows: list[tuple[str, int | None]]) -> None:
    text = Table(("name", "n"), [(Cell(name, "not in CSV"), count) for name, count in rows]).csv()
    head, *read = csv.reader(io.StringIO(text, newline=""))
    assert head == ["name", "n"]
    assert read == [[name, "" if count is None else str(count)] for name, count in rows]


def test_a_terminal_shows_markup_as_text_and_a_note_below() -> None:
    text = shown(SCORES, 100)
    lines = text.splitlines()
    place = next(at for at, line in enumerate(lines) if "we|ird_[red]x" in line)
    assert lines[place].split() == ["we|ird_[red]x", "strict", "1,200", "53.00"]
    assert lines[place + 1].split() == ["52.0–54.0"]
    assert "a_b" in text and "50 % of *it*" in text
    styles = {
        span.style for column in SCORES.terminal().columns for cell in column.cells for span in _spans(cell)
    }
    assert {str(style) for style in styles} == {"bold", "dim"}


def _spans(cell: object) -> list[Span]:
    return Text.from_markup(str(cell)).spans


LONG = Table(("model", "score"), [("x" * 60, "0.123456789")], align="n")


@pytest.mark.parametrize("width", [40, 60, 100])
def test_a_narrow_terminal_folds_names_and_no_number(width: int) -> None:
    text = shown(LONG, width)
    assert text.count("0.123456789") == 1 and "…" not in text
    assert text.count("x") == 60
    assert len([line for line in text.splitlines() if "x" in line]) == {40: 3, 60: 2, 100: 1}[width]


@pytest.mark.parametrize("width", [5, 100])
def test_a_text_file_is_as_wide_as_its_table(width: int) -> None:
    assert f"{'x' * 60}  0.123456789\n" in plain_text(LONG.terminal(), width=width)


@given(st.floats(0, 100))
def test_whole_percent_is_100_only_for_all(value: float) -> None:
    assert (whole_percent(value) == "100") == (value >= 100 - 1e-9)


def test_numbers_that_are_not_known_or_nearly_zero() -> None:
    assert [number(None), number(None, unknown="-"), percent(None, unknown="")] == ["–", "-", ""]
    assert [number(-0.004), percent(-0.0001, 1), percent(0.12345, 2, sign="")] == ["0.00", "0.0 %", "12.35"]
