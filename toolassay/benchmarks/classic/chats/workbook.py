"""The annotation workbook of one annotator, written from a sample and read back."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.classic.data import INDEX, ClassicData, Example, Workflow
from toolassay.errors import UsageError
from toolassay.files.spreadsheets import Choices, SheetRow, Workbook, cell_text, read_rows, rows_error
from toolassay.prompts.templates import template_file

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
"""Reasons to leave a conversation out, and their columns."""

COLUMNS = (*READ_ONLY, *LABELS, *FLAGS.values())
_EXTRA = "chats"
WORKFLOW_COLUMNS = ("workflow_uuid", "Name", "Description")
INSTRUCTIONS = "Instructions"
YES = "Yes"
NO = "No"

_LONGEST_SHEET_NAME = 31  # the limit of Excel
# The characters that Excel refuses in the name of a sheet: matches the ":" of "R&D: new", nothing in "R&D".
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
# How Excel writes a character that XML cannot hold. Excel reads a message that contains "_x0041_" itself as
# "A", so the comparison ignores them all: matches "_x0041_", not "_x41_".
_EXCEL_ESCAPE = re.compile(r"_x[0-9A-Fa-f]{4}_")


def sheet_name(wanted: str, taken: Collection[str], ending: str = "") -> str:
    r"""A sheet name that Excel allows and that is unique among `taken`, ignoring case.

    >>> sheet_name("R&D: new/old " + "x" * 40, [], "_workflows")
    'R&D_ new_old xxxxxxxx_workflows'
    >>> sheet_name("HR", ["hr"])
    'HR~2'
    """
    # Excel keeps the name "History" for itself.
    clean = _FORBIDDEN_IN_NAMES.sub("_", wanted).strip(" '") or "_"
    used = {name.casefold() for name in (*taken, "History", INSTRUCTIONS)}
    number = 1
    more = ""
    while True:
        name = clean[: _LONGEST_SHEET_NAME - len(ending) - len(more)] + more + ending
        if name.casefold() not in used:
            return name
        number += 1
        more = f"~{number}"


def comparable_name(text: str) -> str:
    """A name without differences of case and spacing.

    >>> comparable_name("Book  Leave ") == comparable_name("book leave")
    True
    """
    return " ".join(cell_text(text).split()).casefold()


def is_same_text(written: str, read: str) -> bool:
    r"""Whether a cell still has the written text, apart from line ends and spaces, which programs change.

    >>> is_same_text("one\r\ntwo ", "one\ntwo"), is_same_text("one", "One")
    (True, False)
    """
    return _without_escapes(cell_text(written)) == _without_escapes(read)


def _without_escapes(text: str) -> str:
    return " ".join(_EXCEL_ESCAPE.sub(" ", text).split())


# Widths in characters: messages are wide, columns of yes or no narrow.
_WIDTHS = dict(zip(COLUMNS, (18, 8, 60, 60, 28, 28, *(11,) * len(FLAGS)), strict=True))
_WORKFLOW_WIDTHS = dict(zip(WORKFLOW_COLUMNS, (24, 32, 90), strict=True))


def write_workbook(path: Path, data: ClassicData, *, shuffle: str | None = None) -> None:
    """Write the workbook of one annotator, without the workflows that the bot started.

    Args:
        path: an `.xlsx` file.
        data: the sample.
        shuffle: a seed for the order of the conversations; None keeps the order of the sample.

    Raises:
        UsageError: openpyxl is missing, or a workflow has the name of the choice of none.
    """
    book = Workbook(_EXTRA)
    text = template_file("benchmarks/classic/chats", "instructions").format(none=NONE, yes=YES, no=NO)
    question, *instructions = text.splitlines()
    book.add_sheet(INSTRUCTIONS, {question: 120}, [(line,) for line in instructions])
    for domain, workflows in data.workflows.items():
        examples = [example for example in data.examples if example.domain == domain]
        if examples:
            _add_domain(book, domain, workflows, _ordered(examples, shuffle, domain))
    book.save(path)


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
    book: Workbook, domain: str, workflows: Sequence[Workflow], examples: Sequence[Example]
) -> None:
    for workflow in workflows:
        if comparable_name(workflow.name) == comparable_name(NONE):
            raise UsageError(
                f"the workflow {workflow.id!r} has the name of the choice of none, {workflow.name!r}",
                fix="give it another name",
            )
    taken = book.titles
    title = sheet_name(domain, taken)
    list_title = sheet_name(domain, [*taken, title], "_workflows")
    quoted = list_title.replace("'", "''")
    choices = [
        Choices(LABELS, f"'{quoted}'!$B$2:$B${len(workflows) + 2}", "a workflow of the list"),
        Choices([*FLAGS.values()], f'"{YES},{NO}"', f"{YES} or {NO}"),
    ]
    messages = [
        (example.conversation, example.request_idx, example.question.turns[-1].content, example.response)
        for example in examples
    ]
    book.add_sheet(title, _WIDTHS, messages, unlocked=[*LABELS, *FLAGS.values()], choices=choices)
    offered = [(workflow.id, workflow.name, workflow.description) for workflow in workflows]
    book.add_sheet(list_title, _WORKFLOW_WIDTHS, [("", NONE, "No workflow of this domain fits."), *offered])


MessageKey = tuple[str, int]
"""A message: the id of its conversation and its number in it."""


@dataclass(frozen=True)
class Annotation:
    """What an annotator chose for one message.

    Attributes:
        first: id of a workflow, an empty text for the choice of none, None for no choice.
        second: id of another workflow that would be right too.
        flags: reasons to leave the conversation out.
    """

    first: str | None
    second: str | None = None
    flags: frozenset[str] = frozenset()


_YES_NO = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False, "": False}


def read_annotations(path: Path, data: ClassicData) -> dict[MessageKey, Annotation]:
    """Read the answers from a workbook, or from a CSV file with the same columns.

    Args:
        path: `.xlsx` or `.csv`.
        data: the sample that was annotated.

    Returns:
        The annotations of the rows with any answer, by message.

    Raises:
        UsageError: the file is missing or has no such table; or a row has an unknown message, a message that
            occurs twice, a changed text, or a label that is not in the list (the first such row is named).
    """
    examples = {(example.conversation, example.request_idx): example for example in data.examples}
    names = {
        domain: {comparable_name(flow.id): flow.id for flow in these}
        | {comparable_name(flow.name): flow.id for flow in these}
        for domain, these in data.workflows.items()
    }
    answers: dict[MessageKey, Annotation] = {}
    problems: list[tuple[SheetRow, str]] = []
    seen: set[MessageKey] = set()
    for row in read_rows(path, COLUMNS, extra=_EXTRA, option="--workbooks", computed=True):
        row = row._replace(cells={column: text.strip() for column, text in row.cells.items()})
        try:
            example = _example(row, examples)
            key = example.conversation, example.request_idx
            if key in seen:
                raise _RowError(f"message {key[1]} of {key[0]!r} occurs twice")
            seen.add(key)
            answer = _annotation(row, names[example.domain])
        except _RowError as wrong:
            problems.append((row, str(wrong)))
            continue
        if answer is not None:
            answers[key] = answer
    if problems:
        raise rows_error(path, problems)
    if not seen:
        raise UsageError(
            "no sheet has rows of messages",
            file=path,
            fix="give the file that 'classic build workbook' wrote",
        )
    return answers


class _RowError(Exception):
    """A row that cannot be read."""


def _example(row: SheetRow, examples: Mapping[MessageKey, Example]) -> Example:
    name = row.cells["conversation_uuid"]
    index = row.cells["request_idx"]
    number = index.removesuffix(".0")
    example = examples.get((name, int(number))) if INDEX.fullmatch(index) else None
    if example is None:
        raise _RowError(f"the sample has no message {number[:20]!r} of {name[:60]!r}")
    for column, text in zip(
        READ_ONLY[2:], (example.question.turns[-1].content, example.response), strict=True
    ):
        if not is_same_text(text, row.cells[column]):
            raise _RowError(f"{column} of {name!r} differs from the sample")
    return example


def _annotation(row: SheetRow, names: Mapping[str, str]) -> Annotation | None:
    first, second = (_label(row.cells[column], column, names) for column in LABELS)
    answers = {flag: _YES_NO.get(row.cells[column].casefold()) for flag, column in FLAGS.items()}
    if wrong := [FLAGS[flag] for flag, answer in answers.items() if answer is None]:
        raise _RowError(f"{wrong[0]} {row.cells[wrong[0]][:60]!r} is neither Yes nor No")
    flags = frozenset(flag for flag, answer in answers.items() if answer)
    if second is not None and first is None:
        raise _RowError("Workflow 2 is filled in, but Workflow 1 is not")
    if second and not first:
        raise _RowError(f"Workflow 1 is {NONE!r}, but Workflow 2 names one")
    if first is None and not any(row.cells[column] for column in FLAGS.values()):
        return None
    return Annotation(first, second if second and second != first else None, flags)


def _label(text: str, column: str, names: Mapping[str, str]) -> str | None:
    """The id of a workflow, an empty text for the choice of none, None for no choice."""
    wanted = comparable_name(text)
    if not wanted:
        return None
    if wanted == comparable_name(NONE):
        return ""
    if wanted not in names:
        raise _RowError(f"{column} {text[:60]!r} is not in the list")
    return names[wanted]
