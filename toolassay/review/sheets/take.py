"""The decisions in a sheet, checked row by row and taken in at once or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.excel import cell_text
from toolassay.review.deciding import Wanted, record_of
from toolassay.review.decision import COMMENT, DECISIONS, FIXES, Record
from toolassay.review.samples import ReviewSample
from toolassay.review.session import Session
from toolassay.review.sheets.read import SheetRow
from toolassay.review.sheets.rows import EDITS, edit_cells, id_text
from toolassay.review.store import Log

_SHOWN = 5


def take_sheet(
    session: Session, rows: Sequence[SheetRow], reviewer: str, path: Path, *, insist: bool = False
) -> int:
    """Save what a sheet says; how many decisions and comments are new. The same sheet again changes nothing.

    Args:
        session: the review.
        rows: of the sheet.
        reviewer: whose it is.
        path: of the sheet, for complaints.
        insist: save fixes that gates reject, which is noted.

    Raises:
        UsageError: rows are wrong (tells which); nothing is saved then.
        ToolassayError: it cannot be written.
    """
    find = _Finder(session.samples)
    saved: list[Record] = []

    def make(log: Log) -> list[Record]:
        problems: list[tuple[int, str]] = []
        seen: set[str] = set()
        for row in rows:
            try:
                sample = find.sample(row)
                if id_text(sample.id) in seen:
                    raise UsageError(f"sample {sample.id!r} is there twice")
                seen.add(id_text(sample.id))
                record = _record(session, sample, row, reviewer, log, insist=insist)
            except UsageError as error:
                problems.append((row.line, str(error).split(". Fix: ")[0]))
                continue
            if record is not None:
                saved.append(record)
        if problems:
            raise _complaint(path, problems)
        return saved

    session.store.append(reviewer, make)
    return len(saved)


class _Finder:
    """The sample of a row: by its id; where a spreadsheet made something else of that (a date, a number with
    an exponent), by the fingerprint, if only one sample has it.
    """

    def __init__(self, samples: Sequence[ReviewSample]) -> None:
        self._by_id = {id_text(sample.id): sample for sample in samples}
        self._by_print: dict[str, list[ReviewSample]] = {}
        for sample in samples:
            self._by_print.setdefault(sample.fingerprint, []).append(sample)

    def sample(self, row: SheetRow) -> ReviewSample:
        """It.

        Raises:
            UsageError: there is none.
        """
        sample = self._by_id.get(row.cells["id"].strip())
        if sample is not None:
            return sample
        alike = self._by_print.get(row.cells["fingerprint"].strip(), [])
        if len(alike) != 1:
            raise UsageError(f"there is no sample {row.cells['id'][:40]!r} (column 'id')")
        return alike[0]


def _record(
    session: Session, sample: ReviewSample, row: SheetRow, reviewer: str, log: Log, *, insist: bool
) -> Record | None:
    """What a row adds to what the person said before; None where it adds nothing.

    Raises:
        UsageError: something is wrong with the row.
    """
    cells = row.cells
    if cells["fingerprint"].strip() != sample.fingerprint:
        raise UsageError(f"sample {sample.id!r} has changed since the sheet was written: export it anew")
    before = log.standing("reviewer").get(sample.id)
    if before is not None and before.fingerprint != sample.fingerprint:
        before = None
    old_note = log.notes.get(("reviewer", sample.id), "")
    note = old_note if _same_text(cells["note"], old_note) else cells["note"]
    action = "_".join(cells["decision"].casefold().split())
    if action not in ("", *DECISIONS):
        said = cells["decision"].strip()[:40]
        raise UsageError(f"decision '{said}' is none of {', '.join(DECISIONS)}")
    parts = _parts(sample, before, cells)
    if not action:
        if any(value != sample.record.get(part) for part, value in parts.items()) and before is None:
            raise UsageError("is edited, and has no decision (column 'decision')")
        if note == old_note:
            return None
    if action not in FIXES and before is not None and parts == dict(before.parts):
        parts = {}  # the edits of an earlier fix, left standing in the sheet
    wanted = Wanted(
        number=sample.number,
        fingerprint=sample.fingerprint,
        action=action or COMMENT,
        parts=parts if action else {},
        note=note,
        insist=insist or (before is not None and bool(before.insisted)),
    )
    record = record_of(sample, reviewer, "reviewer", wanted, session.gates)
    if record.same_as(before) and note == old_note:
        return None
    return replace(record, note=note)


def _parts(sample: ReviewSample, before: Record | None, cells: Any) -> dict[str, Any]:
    """The parts that differ from the sample's; a cell that was emptied is no edit.

    Raises:
        UsageError: a cell is no JSON.
    """
    old = {**sample.parts, **(before.parts if before else {})}
    parts: dict[str, Any] = {}
    written = edit_cells(sample, before)
    for column, part in EDITS.items():
        cell = cells[column]
        if not cell.strip():
            continue
        if _same_text(cell, written[column]):
            value = old[part]
        elif part == "user_request":
            value = cell if "\r" in str(old[part]) else _plain(cell)
        else:
            try:
                value = json.loads(cell)
            except (ValueError, RecursionError):
                raise UsageError(f"{column} is no JSON") from None
        if value != sample.record.get(part):
            parts[part] = value
    return parts


def _same_text(read: str, written: str) -> bool:
    """Whether a cell says what was written; spreadsheets have their own line ends."""
    return read == written or _plain(read) == _plain(cell_text(written))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("_x000D_", "")


def _complaint(path: Path, problems: Sequence[tuple[int, str]]) -> UsageError:
    line, problem = problems[0]
    others = ", ".join(str(other) for other, _ in problems[1 : _SHOWN + 1])
    more = f" (rows {others}{', …' if len(problems) > _SHOWN + 1 else ''} are wrong too)" if others else ""
    return UsageError(f"{problem}{more}", file=path, line=line, fix="mend the sheet; nothing was saved")
