"""A workbook is what Excel can read, keeps every text a text, and is checked when it comes back."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from toolassay.benchmarks.classic.chats.build import write_workbooks
from toolassay.benchmarks.classic.chats.workbook import (
    COLUMNS,
    NONE,
    Annotation,
    read_annotations,
    write_workbook,
)
from toolassay.benchmarks.classic.data import ClassicData, MessageRow, Workflow, read_data, write_tables
from toolassay.errors import UsageError

openpyxl = pytest.importorskip("openpyxl", reason="pip install '.[chats]'")

HOSTILE = {
    "f0": '=HYPERLINK("http://evil.example","click")',
    "f1": "+1+1",
    "f2": "-2+3",
    "f3": "@SUM(A1)",
    "long": "x" * 40_000,
    "emoji": "🔒" * 20_000,
    "control": "bell \x07 and \x0b and half \ud83d",
    "escape": '_x0041_ and </t> & "quotes"',
    "lines": "one\r\ntwo\n\nthree ",
    "zero": "007",
    "error": "#REF!",
}
XML = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture
def data(tmp_path: Path) -> ClassicData:
    rows = [
        MessageRow(name, text, text, "", "", 0, "R&D: new/old " + "x" * 30) for name, text in HOSTILE.items()
    ]
    rows += [MessageRow("two", f"message {place}", "", "", "", place, "hr") for place in range(3)]
    workflows = [
        Workflow("w1", "Leave", "=1+1", "hr"),
        Workflow("w2", "=Pay", "", "hr"),
        Workflow("w3", "Other", "", rows[0].domain),
    ]
    write_tables(tmp_path / "data", rows, workflows, {rows[0].domain: "", "hr": "", "empty": ""})
    return read_data(tmp_path / "data")


@pytest.fixture
def book(data: ClassicData, tmp_path: Path) -> Path:
    write_workbook(tmp_path / "ann.xlsx", data)
    return tmp_path / "ann.xlsx"


def fill(path: Path, cells: dict[tuple[str, int, str], Any]) -> None:
    book = openpyxl.load_workbook(path)
    for (sheet, row, column), value in cells.items():
        book[sheet].cell(row, COLUMNS.index(column) + 1).value = value
    book.save(path)


def test_the_sheets_and_what_they_offer(book: Path) -> None:
    sheets = openpyxl.load_workbook(book)
    first = "R&D_ new_old xxxxxxxxxxxxxxxxxx"
    assert sheets.sheetnames == [
        "Instructions",
        first,
        "R&D_ new_old xxxxxxxx_workflows",
        "hr",
        "hr_workflows",
    ]
    assert all(len(name) <= 31 for name in sheets.sheetnames)
    sheet = sheets["hr"]
    assert tuple(cell.value for cell in sheet[1]) == COLUMNS
    assert sheet.freeze_panes == "A2" and sheet.protection.sheet
    assert [cell.protection.locked for cell in sheet[2]] == [True] * 4 + [False] * 7
    rules = {str(rule.sqref): rule.formula1 for rule in sheet.data_validations.dataValidation}
    assert rules == {"E2:F4": "'hr_workflows'!$B$2:$B$4", "G2:K4": '"Yes,No"'}
    assert [cell.value for cell in sheets["hr_workflows"]["B"]] == ["Name", NONE, "Leave", "=Pay"]


def test_every_text_stays_a_text_for_another_reader_too(book: Path) -> None:
    with zipfile.ZipFile(book) as archive:
        sheets = [
            ElementTree.fromstring(archive.read(name))
            for name in archive.namelist()
            if name.startswith("xl/worksheets/sheet")
        ]
    assert len(sheets) == 5
    assert not [formula for sheet in sheets for formula in sheet.iter(f"{XML}f")]
    cells = [cell for sheet in sheets for cell in sheet.iter(f"{XML}c")]
    assert {cell.get("t") for cell in cells} == {"inlineStr", "n"}
    texts = ["".join(part.text or "" for part in cell.iter(f"{XML}t")) for cell in cells]
    assert {HOSTILE[name] for name in ("f0", "f1", "f2", "f3", "zero", "error")} <= set(texts)
    assert max(len(text.encode("utf-16-le")) // 2 for text in texts) == 32_767


def test_answers_read_back(book: Path, data: ClassicData) -> None:
    fill(
        book,
        {
            ("hr", 2, "Workflow 1"): "leave ",
            ("hr", 2, "Workflow 2"): "=Pay",
            ("hr", 2, "Unclear"): "yes",
            ("hr", 3, "Workflow 1"): NONE,
            ("hr", 3, "Gibberish"): "No",
            ("hr", 4, "Gibberish"): True,
        },
    )
    book_again = openpyxl.load_workbook(book)
    book_again["hr"]["F2"].data_type = "s"
    book_again.save(book)
    assert read_annotations(book, data) == {
        ("two", 0): Annotation("w1", "w2", frozenset({"unclear"})),
        ("two", 1): Annotation(""),
        ("two", 2): Annotation(None, None, frozenset({"gibberish"})),
    }


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("Workflow 1", "Holiday", r"ann.xlsx:3: sheet 'hr': Workflow 1 'Holiday' is not in the list"),
        ("User message", "changed", r"User message of 'two' differs from the sample"),
        ("conversation_uuid", "three", r"the sample has no message '1' of 'three'"),
    ],
)
def test_a_wrong_row_is_reported_with_file_sheet_and_row(
    book: Path, data: ClassicData, column: str, value: Any, told: str
) -> None:
    fill(book, {("hr", 3, column): value})
    with pytest.raises(UsageError, match=told):
        read_annotations(book, data)


def test_filled_in_workbooks_are_not_replaced(tmp_path: Path, data: ClassicData) -> None:
    (tmp_path / "ben.xlsx").write_text("work of days")
    with pytest.raises(UsageError, match="perhaps filled in"):
        write_workbooks(tmp_path / "data", ["ann", "ben"], tmp_path)
    assert not (tmp_path / "ann.xlsx").exists()
    with pytest.raises(UsageError, match="names that differ"):
        write_workbooks(tmp_path / "data", ["Ann", "ann"], tmp_path)
