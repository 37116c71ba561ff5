"""Annotation workbooks: their layout, writing one for an annotator, and reading the annotations."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData, Example, Workflow
from toolassay.errors import UsageError
from toolassay.excel import cell_text, offer_choices, unlock, wrapped, write_head, write_row
from toolassay.extras import needed
from toolassay.files import atomic_target

__all__ = ["read_annotations", "write_workbook"]


NONE = "None of these"
"""The choice of no workflow; an empty cell means that no choice was made."""

READ_ONLY = ("conversation_uuid", "request_idx", "User message", "Bot reply")
LABELS = ("Workflow 1", "Workflow 2")
FLAGS = {
    "gibberish": "Gibberish",
    "personal_data": "Personal data left",
    "profanity": "Profanity",
    "human": "Wants a human",
    "unclear": "Unclear",
}
"""Reasons to leave out a conversation, with the titles of their columns."""

COLUMNS = (*READ_ONLY, *LABELS, *FLAGS.values())
WORKFLOW_COLUMNS = ("workflow_uuid", "Name", "Description")
INSTRUCTIONS = "Instructions"
YES, NO = "Yes", "No"

_LONGEST_SHEET_NAME = 31
# Characters that Excel rejects in sheet names: matches the ":" and "/" of "R&D: new/old"; not "&".
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
# Excel's escape of a character that XML cannot contain. Matches "_x000D_"; not "_x0D_". In a user's text it
# would be read back as that character.
_EXCEL_ESCAPE = re.compile(r"_x[0-9A-Fa-f]{4}_")


def sheet_name(wanted: str, taken: Collection[str], ending: str = "") -> str:
    r"""A valid name for a sheet that no other sheet has, ignoring case.

    >>> sheet_name("R&D: new/old " + "x" * 40, [], "_workflows")
    'R&D_ new_old xxxxxxxx_workflows'
    >>> sheet_name("HR", ["hr"])
    'HR~2'
    """
    clean = _FORBIDDEN_IN_NAMES.sub("_", wanted).strip(" '") or "_"
    used = {name.casefold() for name in (*taken, "History", INSTRUCTIONS)}
    number, more = 1, ""
    while True:
        name = clean[: _LONGEST_SHEET_NAME - len(ending) - len(more)] + more + ending
        if name.casefold() not in used:
            return name
        number += 1
        more = f"~{number}"


def comparable_name(text: str) -> str:
    """The form of a name in which spellings are compared: single blanks, case-folded.

    >>> comparable_name("Book  Leave ") == comparable_name("book leave")
    True
    """
    return " ".join(cell_text(text).split()).casefold()


def is_same_text(written: str, read: str) -> bool:
    r"""Whether a cell still has its original text. Spreadsheet programs may change line ends and spaces.

    >>> is_same_text("one\r\ntwo ", "one\ntwo"), is_same_text("one", "One")
    (True, False)
    """
    return _without_escapes(cell_text(written)) == _without_escapes(read)


def _without_escapes(text: str) -> str:
    return " ".join(_EXCEL_ESCAPE.sub(" ", text).split())


_WIDTHS = dict(zip(COLUMNS, (18, 8, 60, 60, 28, 28, *(11,) * len(FLAGS)), strict=True))
_WORKFLOW_WIDTHS = dict(zip(WORKFLOW_COLUMNS, (24, 32, 90), strict=True))
_INSTRUCTIONS_TEXT = f"""Which workflow should start?
Each sheet holds the conversations of one domain. For each user message, read the conversation up to it.
Workflow 1: choose the workflow that fits best; "{NONE}" if none does. Leave it empty only to skip the row.
Workflow 2: if a second workflow would be right as well, choose it; otherwise leave it empty.
The sheet <domain>_workflows says what each workflow does.
Gibberish: the message makes no sense.
Personal data left: a name, address, number or the like was not replaced by a placeholder such as <PERSON_1>.
Profanity: the message has offensive words.
Wants a human: the user asks for a person.
Unclear: the message cannot be understood, also with what was said before.
These five take {YES} or {NO}; empty means {NO}. The other columns are locked: do not change them."""


def write_workbook(path: Path, data: ClassicData, *, shuffle: str | None = None) -> None:
    """Write the workbook of one annotator.

    Texts are never interpreted as formulas. The workflow that the bot started is not shown.

    Args:
        path: an `.xlsx` file.
        data: the sample.
        shuffle: a seed for the order of the conversations; None keeps the order.

    Raises:
        UsageError: openpyxl is not installed, or a workflow has the name of the choice of none.
    """
    excel = needed("openpyxl", "a workbook", "chats")
    book = excel.Workbook()
    sheet = book.active
    sheet.title = INSTRUCTIONS
    sheet.column_dimensions["A"].width = 120
    for line in _INSTRUCTIONS_TEXT.split("\n"):
        sheet.append([line])
    for (cell,) in sheet.iter_rows():
        cell.alignment = wrapped(excel)
    sheet["A1"].font = excel.styles.Font(bold=True)
    sheet.protection.sheet = True
    for domain, workflows in data.workflows.items():
        examples = [example for example in data.examples if example.domain == domain]
        if examples:
            _add_domain(excel, book, domain, workflows, _ordered(examples, shuffle, domain))
    with atomic_target(path) as stream:
        book.save(stream)


def _ordered(examples: Sequence[Example], seed: str | None, domain: str) -> list[Example]:
    chats: dict[str, list[Example]] = {}
    for example in examples:
        chats.setdefault(example.conversation, []).append(example)
    names = list(chats)
    if seed is not None:
        random.Random(f"{seed}/{domain}").shuffle(names)
    return [
        example for name in names for example in sorted(chats[name], key=lambda example: example.request_idx)
    ]


def _add_domain(
    excel: Any, book: Any, domain: str, workflows: Sequence[Workflow], examples: Sequence[Example]
) -> None:
    taken = book.sheetnames
    sheet = book.create_sheet(sheet_name(domain, taken))
    choices = book.create_sheet(sheet_name(domain, [*taken, sheet.title], "_workflows"))
    write_head(excel, choices, _WORKFLOW_WIDTHS)
    write_row(excel, choices, 2, ("", NONE, "No workflow of this domain fits."))
    for number, workflow in enumerate(workflows, start=3):
        if comparable_name(workflow.name) == comparable_name(NONE):
            raise UsageError(
                f"the workflow {workflow.id!r} has the name {workflow.name!r}, which means no workflow here",
                fix="choose another name for it",
            )
        write_row(excel, choices, number, (workflow.id, workflow.name, workflow.description))
    write_head(excel, sheet, _WIDTHS)
    for number, example in enumerate(examples, start=2):
        texts = (example.question.turns[-1].content, example.response)
        write_row(excel, sheet, number, (example.conversation, example.request_idx, *texts))
        for column in range(len(READ_ONLY) + 1, len(COLUMNS) + 1):
            unlock(excel, sheet.cell(number, column))
    last = len(examples) + 1
    quoted = choices.title.replace("'", "''")
    names = f"'{quoted}'!$B$2:$B${len(workflows) + 2}"
    offer_choices(
        excel,
        sheet,
        names,
        "a workflow of the list",
        range(len(READ_ONLY) + 1, 1 + len(READ_ONLY + LABELS)),
        last,
    )
    flags = range(len(READ_ONLY + LABELS) + 1, len(COLUMNS) + 1)
    offer_choices(excel, sheet, f'"{YES},{NO}"', f"{YES} or {NO}", flags, last)


MessageKey = tuple[str, int]
"""A message: its conversation and its `request_idx`."""


@dataclass(frozen=True)
class Annotation:
    """The annotations of one row.

    Args:
        first: id of a workflow, an empty string for the choice of none, None if no choice was made.
        second: id of another correct workflow.
        flags: reasons to leave out the conversation.
    """

    first: str | None
    second: str | None = None
    flags: frozenset[str] = frozenset()


_INDEX = re.compile("[0-9]{1,9}")  # `str.isdigit` would also accept "²"
_HEADER_SEARCH_ROWS = 20  # rows searched for a header that is not in the first row
_YES_NO = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False, "": False}


@dataclass(frozen=True)
class _WorkbookRow:
    sheet: str
    line: int
    cells: Mapping[str, str]


def read_annotations(path: Path, data: ClassicData) -> dict[MessageKey, Annotation]:
    """Read the annotations in one workbook, or in a CSV file with the same columns.

    Args:
        path: `.xlsx` or `.csv`.
        data: the sample that was annotated.

    Returns:
        The annotations of each row that has any, by message.

    Raises:
        UsageError: the file does not exist or is not such a table; or a row is invalid (with file, sheet and
            row): an unknown or duplicate message, a changed text, a label that is not in the list.
    """
    examples = {(example.conversation, example.request_idx): example for example in data.examples}
    names = {
        domain: {comparable_name(flow.id): flow.id for flow in these}
        | {comparable_name(flow.name): flow.id for flow in these}
        for domain, these in data.workflows.items()
    }
    answers: dict[MessageKey, Annotation] = {}
    problems: list[tuple[_WorkbookRow, str]] = []
    seen: set[MessageKey] = set()
    for row in _rows_of_csv(path) if path.suffix.lower() == ".csv" else _rows_of_excel(path):
        try:
            example = _example(row, examples)
            key = example.conversation, example.request_idx
            if key in seen:
                raise _Wrong(f"duplicate message {key[1]} of {key[0]!r}")
            seen.add(key)
            answer = _annotation(row, names[example.domain])
        except _Wrong as wrong:
            problems.append((row, str(wrong)))
            continue
        if answer is not None:
            answers[key] = answer
    if problems:
        row, problem = problems[0]
        more = f" (and {len(problems) - 1} more such rows)" if len(problems) > 1 else ""
        where = f"sheet {row.sheet!r}: " if row.sheet else ""
        raise UsageError(f"{where}{problem}{more}", file=path, line=row.line, fix="correct it in the file")
    if not seen:
        raise UsageError(
            "no sheet has rows of messages",
            file=path,
            fix="give the file that 'classic build workbook' wrote",
        )
    return answers


class _Wrong(Exception):
    """A row is invalid; the message says why."""


def _example(row: _WorkbookRow, examples: Mapping[MessageKey, Example]) -> Example:
    name, place = row.cells["conversation_uuid"], row.cells["request_idx"].removesuffix(".0")
    example = examples.get((name, int(place))) if _INDEX.fullmatch(place) else None
    if example is None:
        raise _Wrong(f"the sample has no message {place[:20]!r} of {name[:60]!r}")
    for column, text in zip(
        READ_ONLY[2:], (example.question.turns[-1].content, example.response), strict=True
    ):
        if not is_same_text(text, row.cells[column]):
            raise _Wrong(f"{column} of {name!r} differs from the sample")
    return example


def _annotation(row: _WorkbookRow, names: Mapping[str, str]) -> Annotation | None:
    first, second = (_label(row.cells[column], column, names) for column in LABELS)
    flags = frozenset(flag for flag, column in FLAGS.items() if _yes(row.cells[column], column))
    if second is not None and first is None:
        raise _Wrong("Workflow 2 is filled in, but Workflow 1 is not")
    if second and not first:
        raise _Wrong(f"Workflow 1 is {NONE!r}, but Workflow 2 names a workflow")
    if first is None and not any(row.cells[column] for column in FLAGS.values()):
        return None
    return Annotation(first, second if second and second != first else None, flags)


def _label(text: str, column: str, names: Mapping[str, str]) -> str | None:
    """An id, an empty string for the choice of none, None if no choice was made."""
    wanted = comparable_name(text)
    if not wanted:
        return None
    if wanted == comparable_name(NONE):
        return ""
    if wanted not in names:
        raise _Wrong(f"{column} {text[:60]!r} is not in the list")
    return names[wanted]


def _yes(text: str, column: str) -> bool:
    try:
        return _YES_NO[text.casefold()]
    except KeyError:
        raise _Wrong(f"{column} {text[:60]!r} is neither Yes nor No") from None


def _rows_of_csv(path: Path) -> Iterator[_WorkbookRow]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            _check_header(header, path, "")
            for cells in reader:
                if any(cells):
                    yield _WorkbookRow("", reader.line_num, _named(header, cells))
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --workbooks") from None
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"not a CSV table: {error}", file=path, fix="save it as CSV, UTF-8") from None


def _rows_of_excel(path: Path) -> Iterator[_WorkbookRow]:
    excel = needed("openpyxl", "a workbook", "chats")
    try:
        with path.open("rb") as stream, path.open("rb") as again:
            book = excel.load_workbook(stream, read_only=True, data_only=True)
            written = excel.load_workbook(again, read_only=True)
            for sheet, same in zip(book.worksheets, written.worksheets, strict=True):
                yield from _rows_of_sheet(path, sheet, same)
    except UsageError:
        raise
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --workbooks") from None
    except Exception as error:  # openpyxl raises many types for a damaged file, e.g. KeyError, BadZipFile
        raise UsageError(f"not an Excel workbook: {error}", file=path, fix="save it as .xlsx") from None


def _rows_of_sheet(path: Path, sheet: Any, written: Any) -> Iterator[_WorkbookRow]:
    """The rows of one sheet; none if it has no messages.

    Args:
        path: of the workbook.
        sheet: with the values.
        written: the same sheet with formulas, to distinguish a formula without a computed value from an empty
            cell.
    """
    lines = sheet.iter_rows(values_only=True)
    header = [_cell_text(value) for value in next(lines, ())]
    if COLUMNS[0] not in header:
        if any(_is_header(cells) for cells in (header, *islice(lines, _HEADER_SEARCH_ROWS))):
            _check_header([], path, sheet.title)
        return
    _check_header(header, path, sheet.title)
    formulas = written.iter_rows(min_row=2, values_only=True)
    for line, (cells, source) in enumerate(zip_longest(lines, formulas, fillvalue=()), start=2):
        for value, formula, name in zip_longest(cells, source, header):
            if value is None and formula is not None and name in COLUMNS:
                raise UsageError(
                    f"sheet {sheet.title!r}: {name} is a formula without a value",
                    file=path,
                    line=line,
                    fix="write the value instead",
                )
        if any(cell is not None for cell in cells):
            yield _WorkbookRow(sheet.title, line, _named(header, [_cell_text(cell) for cell in cells]))


def _is_header(cells: Iterable[object]) -> bool:
    return len(set(COLUMNS) & {_cell_text(cell).strip() for cell in cells}) > 1


def _cell_text(value: Any) -> str:
    return "" if value is None else str(value)


def _check_header(header: list[str], path: Path, sheet: str) -> None:
    for column in COLUMNS:
        if header.count(column) != 1:
            where = f"sheet {sheet!r}: " if sheet else ""
            raise UsageError(
                f"{where}the first row has no column {column!r}, or has it twice",
                file=path,
                line=1,
                fix="restore the header in the first row",
            )


def _named(header: list[str], cells: list[str]) -> dict[str, str]:
    return {name: cell.strip() for name, cell in zip(header, [*cells, *[""] * len(header)], strict=False)}
