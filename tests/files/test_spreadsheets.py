"""Sheets that people fill in: what is written is read back, and what is wrong is named with its place."""

from __future__ import annotations

import csv
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.errors import UsageError
from toolassay.files.spreadsheets import (
    Choices,
    SheetRow,
    Workbook,
    cell_text,
    fits_cell,
    read_rows,
    write_csv,
)

openpyxl = pytest.importorskip("openpyxl", reason="pip install '.[review]'")

COLUMNS = ("id", "note", "decision")
KINDS = ("xlsx", "csv")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
FORMULAS = st.text("=+-@'\t＝a1", max_size=5)


def write(path: Path, *rows: Sequence[Any], title: str = "Sheet") -> Path:
    """A file as another program makes it: the rows as they are, the header among them."""
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(rows)
        return path
    book = openpyxl.load_workbook(path) if path.exists() else openpyxl.Workbook()
    sheet = book.create_sheet(title) if path.exists() else book.active
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    book.save(path)
    return path


def edit_xml(path: Path, before: bytes, after: bytes) -> None:
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    assert any(before in part for part in parts.values())
    with zipfile.ZipFile(path, "w") as packed:
        for name, part in parts.items():
            packed.writestr(name, part.replace(before, after))


def read(path: Path, columns: Sequence[str] = COLUMNS, **settings: Any) -> list[SheetRow]:
    return list(read_rows(path, columns, extra="review", option="--import", **settings))


@given(st.lists(st.tuples(TEXTS | FORMULAS, TEXTS | FORMULAS), max_size=4))
def test_csv_is_read_back_exactly_and_holds_no_formula(rows: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        write_csv(path, ("id", "note"), rows)
        found = read(path, ("id", "note"), apostrophes=True)
        with path.open(encoding="utf-8-sig", newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
    assert [tuple(row.cells.values()) for row in found] == [row for row in rows if "".join(row).strip()]
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@＝\t"))]


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"]), max_size=20) | FORMULAS,
        max_size=3,
    )
)
def test_a_workbook_is_read_back_as_texts(texts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.xlsx")
        book = Workbook("review")
        book.add_sheet("Sheet", {"id": 10, "note": 10}, [(text, "x") for text in texts])
        book.save(path)
        assert [row.cells["id"] for row in read(path, ("id", "note"))] == texts


@given(st.text(max_size=30), st.sampled_from([1, 1_000, 20_000]))
def test_the_text_of_a_cell_fits_and_stays_the_same_the_second_time(text: str, times: int) -> None:
    clean = cell_text(text * times)
    assert fits_cell(clean) and cell_text(clean) == clean
    assert clean.isascii() or clean.encode("utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_both_formats_read_alike(tmp_path: Path, kind: str) -> None:
    rows = [
        ("own", " Decision ", "ID", "note", "own"),
        ("x", "yes", 7, "two\nlines", ""),
        ("only my own",),
        (),
        ("", "", "a"),
    ]
    path = write(tmp_path / f"a.{kind}", *rows)
    found = read(path)
    assert [row.line for row in found] == [2, 5]
    assert [dict(row.cells) for row in found] == [
        {"id": "7", "note": "two\nlines", "decision": "yes"},
        {"id": "a", "note": "", "decision": ""},
    ]
    assert {row.sheet for row in found} == {"" if kind == "csv" else "Sheet"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ([("id", "note")], "no column 'decision', or has it twice"),
        ([("id", "note", "decision", "NOTE")], "no column 'note', or has it twice"),
        ([("read me",), COLUMNS, ("a", "b", "c")], "no column 'id', or has it twice.*into the first row"),
    ],
)
def test_a_header_that_is_not_whole_is_refused(
    tmp_path: Path, kind: str, rows: list[tuple[str, ...]], wrong: str
) -> None:
    with pytest.raises(UsageError, match=rf"a\.{kind}:1: .*{wrong}"):
        read(write(tmp_path / f"a.{kind}", *rows))


def test_all_sheets_are_read_or_the_one_of_a_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", ("read me",), title="Help")
    for title in ("one", "two"):
        write(path, COLUMNS, (title, "", ""), title=title)
    assert [(row.sheet, row.cells["id"]) for row in read(path)] == [("one", "one"), ("two", "two")]
    assert [row.sheet for row in read(path, sheet="two")] == ["two"]
    assert read(path, sheet="three") == []  # the first sheet, which has no header


def test_a_formula_is_refused_or_read_as_its_value(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", COLUMNS, ("a", "=1+1", ""), title="S")
    with pytest.raises(UsageError, match=r"a\.xlsx:2: sheet 'S': note is a formula\. Fix: write the value"):
        read(path)
    with pytest.raises(UsageError, match=r"a\.xlsx:2: sheet 'S': note is a formula without a value"):
        read(path, computed=True)
    # Excel writes the value that it computed beside the formula; openpyxl leaves it empty.
    edit_xml(path, b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
    assert [row.cells["note"] for row in read(path, computed=True)] == ["2"]
    with pytest.raises(UsageError, match="note is a formula"):
        read(path)


@pytest.mark.parametrize(("encoding", "delimiter"), [("utf-8", ";"), ("utf-16", "\t"), ("utf-8-sig", ",")])
def test_csv_of_spreadsheets_in_other_countries(tmp_path: Path, encoding: str, delimiter: str) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([COLUMNS, ("é", "a, b; c\td", "")])
    assert [dict(row.cells) for row in read(path)] == [{"id": "é", "note": "a, b; c\td", "decision": ""}]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_missing_or_damaged_is_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    with pytest.raises(UsageError, match=r"no such file\. Fix: check --import"):
        read(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"a\.(csv: not a CSV table|xlsx: is not an Excel workbook)"):
        read(path)


def test_people_can_fill_in_only_the_columns_to_fill_in(tmp_path: Path) -> None:
    book = Workbook("review")
    choices = [Choices(["note", "decision"], '"yes,no"', "yes or no")]
    rows = [("a",), ("b", "", "yes")]
    book.add_sheet("S", {"id": 9, "note": 20, "decision": 7}, rows, unlocked=["decision"], choices=choices)
    assert book.titles == ["S"]
    book.save(tmp_path / "a.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["S"]
    assert sheet.protection.sheet and sheet.freeze_panes == "A2"
    assert [[cell.protection.locked for cell in row] for row in sheet.iter_rows()] == [
        [True, True, True],
        [True, True, False],
        [True, True, False],
    ]
    assert [cell.value for cell in sheet[3]] == ["b", None, "yes"]
    assert sheet.column_dimensions["B"].width == 20 and sheet["A1"].font.bold
    (rule,) = sheet.data_validations.dataValidation
    assert (str(rule.sqref), rule.formula1) == ("B2:C3", '"yes,no"')
    assert rule.error == "Choose yes or no, or leave the cell empty."


def test_without_openpyxl_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UsageError, match=r"needs the package openpyxl.*\[chats\]"):
        Workbook("chats")
    with pytest.raises(UsageError, match=r"needs the package openpyxl.*\[review\]"):
        read(tmp_path / "a.xlsx")
    assert read(write(tmp_path / "a.csv", COLUMNS)) == []
