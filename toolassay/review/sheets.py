"""Review sheets in Excel or CSV: write one for a reviewer, read it, and save its decisions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from toolassay.errors import UsageError
from toolassay.files.data_files import unescaped_json
from toolassay.files.spreadsheets import (
    Choices,
    SheetRow,
    Workbook,
    cell_text,
    fits_cell,
    read_rows,
    rows_error,
    write_csv,
)
from toolassay.plans.gold import Gold
from toolassay.review.decision import (
    COMMENT,
    DECISIONS,
    FIXES,
    Log,
    Record,
    RequestedDecision,
    decision_record,
    edited,
)
from toolassay.review.samples import Part, Parts, ReviewSample
from toolassay.review.session import Findings, Session

READ_ONLY = ("id", "fingerprint", "request", "steps", "plan", "findings")
EDITS: Mapping[str, Part] = {
    "edited_request": "user_request",
    "edited_steps": "task_steps",
    "edited_nodes": "task_nodes",
    "edited_links": "task_links",
    "edited_facts": "facts",
    "edited_alternatives": "alternatives",
}
"""The columns for fixes, and the part of the label in each: one text, the others as JSON."""

EDITABLE = ("decision", "note", *EDITS)
COLUMNS = (*READ_ONLY, *EDITABLE)
# Widths in characters, in the order of `COLUMNS`: texts are wide, ids and choices narrow.
WIDTHS = dict(zip(COLUMNS, (12, 18, 60, 50, 60, 40, 16, 30, 50, 40, 50, 40, 40, 40), strict=True))


class SheetForm(NamedTuple):
    """The columns of a sheet of review.

    Attributes:
        widths: by column, in characters; "id" and "fingerprint" are among them.
        editable: the columns that people fill in; the first is for the decision.
        decisions: what it may hold.
    """

    widths: Mapping[str, int]
    editable: Sequence[str]
    decisions: Sequence[str]


SAMPLE_FORM = SheetForm(WIDTHS, EDITABLE, DECISIONS)


def rows_of(samples: tuple[ReviewSample, ...], findings: Findings, log: Log) -> Iterator[dict[str, str]]:
    """The rows of one reviewer's sheet, by column, with the reviewer's decisions so far.

    The columns of `EDITS` hold the parts of the label, with the reviewer's earlier edits: a cell that is
    changed there is an edit.
    """
    standing = log.standing("reviewer")
    for sample in samples:
        record = standing.get(sample.id)
        if record is not None and record.fingerprint != sample.fingerprint:
            record = None
        gold = sample.gold
        checked = findings.of(sample)
        finding_lines = (f"{item.gate} ({item.state}): {item.reason}" for item in checked.findings)
        yield {
            "id": id_text(sample.id),
            "fingerprint": sample.fingerprint,
            "request": gold.request,
            "steps": "\n".join(gold.steps),
            "plan": plan_text(gold),
            "findings": "\n".join([checked.level, *finding_lines]),
            "decision": record.action if record else "",
            "note": log.notes.get(("reviewer", sample.id), ""),
            **edit_cells(sample, record),
        }


def edit_cells(sample: ReviewSample, record: Record | None) -> dict[str, str]:
    """The cells of the columns `EDITS`."""
    label = (edited(sample.gold, record.parts) if record else sample.gold).record
    return {column: part_text(part, label.get(part)) for column, part in EDITS.items()}


def part_text(part: str, value: Any) -> str:
    """A part of a label in its cell: the request as it is, everything else as JSON in ASCII."""
    return value if part == "user_request" and isinstance(value, str) else json.dumps(value)


def id_text(sample: str | int) -> str:
    """An id in its cell: a number as it is, a text in quotes where a spreadsheet would change it.

    >>> id_text(12), id_text("12"), id_text("a-12")
    ('12', '"12"', 'a-12')
    """
    if isinstance(sample, int):
        return str(sample)
    return json.dumps(sample) if sample.lstrip("-").isdigit() or sample != sample.strip() else sample


def plan_text(gold: Gold) -> str:
    """A plan for people: one line for each call, then one for each link."""
    lines = [
        f"{node.place}. {node.tool}({', '.join(map(_argument, node.arguments or ()))})" for node in gold.nodes
    ]
    return "\n".join([*lines, *(f"{source} -> {target}" for source, target in gold.links)])


def _argument(argument: Any) -> str:
    if isinstance(argument, Mapping) and "name" in argument:
        return f"{argument['name']}={unescaped_json(argument.get('value'))}"
    return argument if isinstance(argument, str) else unescaped_json(argument)


_EXTRA = "review"
_SHEET = "Review"


def write_sheet(path: Path, rows: Iterable[Mapping[str, str]], form: SheetForm = SAMPLE_FORM) -> int:
    """Write the rows to an `.xlsx` or a `.csv` file; a text that begins as a formula does stays a text.

    Args:
        path: the file.
        rows: the cells by column.
        form: the columns.

    Returns:
        The number of rows.

    Raises:
        UsageError: another kind of file, openpyxl is missing, or a text is too long for a cell of Excel.
    """
    kind = kind_of(path)
    listed_rows = list(rows)
    cells = ([row[column] for column in form.widths] for row in listed_rows)
    if kind == ".csv":
        write_csv(path, list(form.widths), cells)
        return len(listed_rows)
    for row in listed_rows:
        long = next((column for column in form.editable if not fits_cell(row[column])), None)
        if long is not None:
            raise UsageError(
                f"the {long} of sample {row['id']} is too long for a cell of Excel",
                file=path,
                fix="export a .csv, or review this one in the browser",
            )
    choices = Choices(form.editable[:1], f'"{",".join(form.decisions)}"', "a decision")
    book = Workbook(_EXTRA)
    book.add_sheet(_SHEET, form.widths, cells, unlocked=form.editable, choices=[choices], freeze="B2")
    book.save(path)
    return len(listed_rows)


def kind_of(path: Path) -> str:
    """The ending of a sheet's name, in lower case.

    Raises:
        UsageError: it is neither `.xlsx` nor `.csv`.
    """
    kind = path.suffix.lower()
    if kind not in (".xlsx", ".csv"):
        raise UsageError("is not a sheet", file=path, fix="name it .xlsx or .csv")
    return kind


def read_sheet(path: Path, form: SheetForm = SAMPLE_FORM) -> list[SheetRow]:
    """The filled rows of a sheet, in order.

    Raises:
        UsageError: the file is missing or not a sheet, a column is missing, or a cell is a formula.
    """
    kind_of(path)
    needed = ("id", "fingerprint", *form.editable)
    rows = [*read_rows(path, needed, extra=_EXTRA, option="--import", sheet=_SHEET, apostrophes=True)]
    if not rows:
        raise UsageError("holds no rows", file=path, fix="use the file that --export wrote")
    return rows


def take_sheet(session: Session, rows: Sequence[SheetRow], reviewer: str, path: Path) -> int:
    """Save the decisions and comments of a sheet, all or none; the same sheet again changes nothing.

    Args:
        session: the review.
        rows: the rows of the sheet.
        reviewer: the reviewer who filled it in.
        path: of the sheet, for messages.

    Returns:
        The number of new decisions and comments.

    Raises:
        UsageError: rows cannot be read (the message names them).
        ToolassayError: the decisions cannot be written.
    """
    by_id = {id_text(sample.id): sample for sample in session.samples}
    prints = Counter(sample.fingerprint for sample in session.samples)
    by_print = {sample.fingerprint: sample for sample in session.samples}
    saved: list[Record] = []

    def make(log: Log) -> list[Record]:
        problems: list[tuple[SheetRow, str]] = []
        seen_ids: set[str] = set()
        for row in rows:
            try:
                sample = by_id.get(row.cells["id"].strip())
                mark = row.cells["fingerprint"].strip()
                if sample is None and prints[mark] == 1:  # spreadsheets turn ids into dates and numbers
                    sample = by_print[mark]
                if sample is None:
                    raise UsageError(f"there is no sample {row.cells['id'][:40]!r} (column 'id')")
                if id_text(sample.id) in seen_ids:
                    raise UsageError(f"sample {sample.id!r} occurs twice")
                seen_ids.add(id_text(sample.id))
                record = _record(session, sample, row, reviewer, log)
            except UsageError as error:
                problems.append((row, error.reason))
                continue
            if record is not None:
                saved.append(record)
        if problems:
            raise rows_error(path, problems)
        return saved

    session.store.append(reviewer, make)
    return len(saved)


def _record(session: Session, sample: ReviewSample, row: SheetRow, reviewer: str, log: Log) -> Record | None:
    """The decision or comment that a row adds to the earlier ones; None where it adds nothing.

    Raises:
        UsageError: the row cannot be read, or the fix is rejected.
    """
    cells = row.cells
    if cells["fingerprint"].strip() != sample.fingerprint:
        raise UsageError(f"sample {sample.id!r} has changed since the sheet was written: export it again")
    before = log.standing("reviewer").get(sample.id)
    if before is not None and before.fingerprint != sample.fingerprint:
        before = None
    old_note = log.notes.get(("reviewer", sample.id), "")
    note = old_note if _same_text(cells["note"], old_note) else cells["note"]
    action = "_".join(cells["decision"].casefold().split())
    if action not in ("", *DECISIONS):
        decision = cells["decision"].strip()[:40]
        raise UsageError(f"decision '{decision}' is none of {', '.join(DECISIONS)}")
    parts = _parts(sample, before, cells)
    if not action:
        if any(value != sample.gold.record.get(part) for part, value in parts.items()) and before is None:
            raise UsageError("is edited, and has no decision (column 'decision')")
        if note == old_note:
            return None
    if action not in FIXES and before is not None and parts == dict(before.parts):
        parts = {}  # the edits of an earlier fix, which the sheet still shows
    requested = RequestedDecision(
        number=sample.number,
        fingerprint=sample.fingerprint,
        action=action or COMMENT,
        parts=parts if action else {},
        note=note,
        insist=before is not None and bool(before.insisted),
    )
    record = decision_record(sample, reviewer, "reviewer", requested, session.gates)
    if record.same_as(before) and note == old_note:
        return None
    return msgspec.structs.replace(record, note=note)


def _parts(sample: ReviewSample, before: Record | None, cells: Mapping[str, str]) -> Parts:
    """The parts of the label that a row changes; an emptied cell changes nothing.

    Raises:
        UsageError: a cell is not JSON.
    """
    old = {**sample.parts, **(before.parts if before else {})}
    parts: dict[Part, Any] = {}
    written_cells = edit_cells(sample, before)
    for column, part in EDITS.items():
        cell = cells[column]
        if not cell.strip():
            continue
        if _same_text(cell, written_cells[column]):
            value = old[part]
        elif part == "user_request":
            value = cell if "\r" in str(old[part]) else _plain(cell)
        else:
            try:
                value = json.loads(cell)
            except (ValueError, RecursionError):
                raise UsageError(f"{column} is not JSON") from None
        if value != sample.gold.record.get(part):
            parts[part] = value
    return parts


def _same_text(read: str, written: str) -> bool:
    """Whether a cell still has the written text, apart from line ends, which spreadsheets change."""
    return read == written or _plain(read) == _plain(cell_text(written))


def _plain(text: str) -> str:
    # Excel writes a carriage return as "_x000D_".
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("_x000D_", "")
