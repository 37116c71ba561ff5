"""Sheets for reviewers without a browser: out and in again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.support.reviewing import actions, folder_of, label, say, session_of
from toolassay.errors import UsageError
from toolassay.review.session import Session
from toolassay.review.sheets import COLUMNS, read_sheet, rows_of, take_sheet, write_sheet

KINDS = ("xlsx", "csv")


def export(session: Session, path: Path) -> Path:
    write_sheet(path, rows_of(tuple(session.samples), session.findings, session.store.log("Ann")))
    return path


def take(session: Session, path: Path, reviewer: str = "Ann", **settings: Any) -> int:
    return take_sheet(session, read_sheet(path), reviewer, path, **settings)


def fill(path: Path, changes: dict[int, dict[str, str]]) -> None:
    """Write into the cells of rows (the header is row 1), as people do."""
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        sheet = book.active
        for row, cells in changes.items():
            for column, text in cells.items():
                sheet.cell(row, COLUMNS.index(column) + 1).value = text
        book.save(path)
        return
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    for row, cells in changes.items():
        for column, text in cells.items():
            rows[row - 1][COLUMNS.index(column)] = text
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream).writerows(rows)


def files(session: Session) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in session.store.folder.glob("*")}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sheet_goes_out_is_filled_in_and_comes_back(session: Session, tmp_path: Path, kind: str) -> None:
    sheet = export(session, tmp_path / f"r.{kind}")
    nodes = [{"task": "Summariser", "arguments": ["bonjour 2"]}]
    rows = {
        2: {"decision": "correct", "note": "good"},
        3: {"decision": "discard"},
        4: {"decision": "fix_graph", "edited_nodes": json.dumps(nodes)},
        5: {"decision": "fix_instruction", "edited_request": "- paint\nit"},
        6: {"note": "not sure"},
    }
    fill(sheet, rows)
    assert take(session, sheet) == 5
    standing = session.store.log("Ann").standing("reviewer")
    decided = {0: "correct", "s1": "discard", 2: "fix_graph", "s3": "fix_instruction"}
    assert {key: record.action for key, record in standing.items()} == decided
    assert standing[0].note == "good"
    assert standing[2].parts == {"task_nodes": nodes}
    assert standing["s3"].parts == {"user_request": "- paint\nit"}
    assert session.show(4, "Ann", "all").note == "not sure"
    before = files(session)
    assert take(session, sheet) == take(session, export(session, tmp_path / f"again.{kind}")) == 0
    assert files(session) == before


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_in_a_sheet_comes_back_exactly(tmp_path: Path, kind: str) -> None:
    labels = [label(number) for number in range(4)]
    texts = ["=1+1\n@x", "+49\t'quoted'", '-a, "b"; c\r\nd', "@é😀 _x0041_ ＝2"]
    for made, text in zip(labels, texts, strict=True):
        made["user_request"] = text
        made["task_nodes"][0]["arguments"] = [text, "\x07\ud800"]
        made["task_steps"] = [text]
    labels[0]["id"], labels[1]["id"] = "12", "=HYPERLINK(1)"
    session = session_of(folder_of(tmp_path / "d", labels))
    for number, text in enumerate(texts):
        say(session, "Ann", number, "fix_syntax", note=text, parts={"task_steps": [text, "x"]})
    before = files(session)
    sheet = export(session, tmp_path / f"r.{kind}")
    assert (take(session, sheet), take(session, sheet, "Bob")) == (0, 4)
    ann, bob = (session.store.log(name).standing("reviewer") for name in ("Ann", "Bob"))
    assert [record.parts for record in ann.values()] == [record.parts for record in bob.values()]
    assert files(session)["Ann.jsonl"] == before["Ann.jsonl"]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"decision": "maybe"}, "decision 'maybe' is none of"),
        ({"id": "nobody", "fingerprint": "s1"}, r"there is no sample 'nobody' \(column 'id'\)"),
        ({"id": "0"}, "sample 0 occurs twice"),
        ({"fingerprint": "0000"}, "sample 2 has changed since"),
        ({"decision": "fix_graph", "edited_nodes": "[{"}, "edited_nodes is not JSON"),
        ({"edited_request": "Hi"}, "is edited, and has no decision"),
        ({"decision": "fix_graph", "edited_nodes": '[{"task": "Paintr"}]'}, "rejected: schema: 'Paintr'"),
    ],
)
def test_a_wrong_row_is_named_and_nothing_is_taken(
    session: Session, tmp_path: Path, change: dict[str, str], wrong: str
) -> None:
    sheet = export(session, tmp_path / "r.xlsx")
    fill(sheet, {2: {"decision": "correct"}, 4: change})
    with pytest.raises(UsageError, match=rf"r\.xlsx:4: sheet 'Review': {wrong}"):
        take(session, sheet)
    assert not any(files(session).values())


def test_a_whole_sheet_is_one_line_of_the_file(session: Session, tmp_path: Path) -> None:
    sheet = export(session, tmp_path / "r.csv")
    fill(sheet, {row: {"decision": "correct"} for row in range(2, 8)})
    assert take(session, sheet) == 6
    path = session.store.path("Ann")
    assert path.read_bytes().count(b"\n") == 1
    assert len(list(actions(path))) == 6
    path.write_bytes(path.read_bytes()[:-9])  # a crash in the middle: nothing of it counts
    assert session_of(tmp_path / "d").store.log("Ann").standing("reviewer") == {}


@pytest.mark.parametrize(
    ("encoding", "comma", "end"),
    [("utf-16", "\t", "\r\n"), ("utf-16-le", ";", "\n"), ("utf-8-sig", ";", "\r\n"), ("utf-8", ",", "\r")],
)
def test_csv_saved_by_excel_in_its_ways(
    session: Session, tmp_path: Path, encoding: str, comma: str, end: str
) -> None:
    sheet = export(session, tmp_path / "r.csv")
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = [[*row, "own"] for row in csv.reader(stream)]
    rows[2][COLUMNS.index("decision")] = " Fix Instruction "
    rows[2][COLUMNS.index("edited_request")] = "Say\r\n'bonjour 1' — paint it."
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    with sheet.open("w", encoding=encoding, newline="") as stream:
        stream.write(mark)
        writer = csv.writer(stream, delimiter=comma, lineterminator=end, quoting=csv.QUOTE_ALL)
        writer.writerows([*rows, [""] * 5, [""] * 13])
    assert take(session, sheet) == 1
    record = session.store.log("Ann").standing("reviewer")["s1"]
    assert record.parts == {"user_request": "Say\n'bonjour 1' — paint it."}
    assert take(session, sheet) == 0


def test_an_id_that_excel_made_a_date_is_found_by_its_fingerprint(tmp_path: Path) -> None:
    labels = [label(number) for number in range(4)]
    labels[1]["id"] = "3-00012"
    labels[3] = {**labels[2], "id": "again"}  # the same words under two ids: nothing tells them apart
    session = session_of(folder_of(tmp_path / "d", labels))
    sheet = export(session, tmp_path / "r.csv")
    fill(sheet, {3: {"id": "Mrz 12", "decision": "correct"}})
    assert take(session, sheet) == 1
    assert list(session.store.log("Ann").standing("reviewer")) == ["3-00012"]
    fill(sheet, {5: {"id": "1E+17", "decision": "correct"}})
    with pytest.raises(UsageError, match=r"r\.csv:5: there is no sample '1E\+17' \(column 'id'\)"):
        take(session, sheet)


def test_columns_and_sheets_of_ones_own_are_let_be(session: Session, tmp_path: Path) -> None:
    sheet = export(session, tmp_path / "r.xlsx")
    book = openpyxl.load_workbook(sheet)
    own = len(COLUMNS) + 1
    book.active.cell(1, own).value, book.active.cell(2, own).value = "count", "=1+1"
    book.active.cell(3, own).value = 7
    book.active.cell(2, COLUMNS.index("decision") + 1).value = "Correct"
    book.active.cell(2, COLUMNS.index("request") + 1).value = "=A1"  # read by people only
    book.create_sheet("Mine", 0)
    book.save(sheet)
    assert take(session, sheet) == 1


def test_files_that_are_no_sheets(tmp_path: Path) -> None:
    for name, content, wrong in (
        ("a.ods", b"", "is not a sheet"),
        ("b.csv", b"id,note\n1,2\n", "no column 'fingerprint'"),
        ("c.csv", b"", "holds no rows"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UsageError, match=wrong):
            read_sheet(tmp_path / name)
