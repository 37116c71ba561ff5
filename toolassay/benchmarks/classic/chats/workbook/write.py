"""A workbook to annotate, made with openpyxl."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.chats.workbook.layout import (
    COLUMNS,
    FLAGS,
    INSTRUCTIONS,
    LABELS,
    NO,
    NONE,
    READ_ONLY,
    WORKFLOW_COLUMNS,
    YES,
    bare,
    sheet_name,
)
from toolassay.benchmarks.classic.data import ClassicData, Example, Workflow
from toolassay.errors import UsageError
from toolassay.excel import offer_choices, unlock, wrapped, write_head, write_row
from toolassay.extras import needed
from toolassay.files import atomic_target

_WIDTHS = dict(zip(COLUMNS, (18, 8, 60, 60, 28, 28, *(11,) * len(FLAGS)), strict=True))
_WORKFLOW_WIDTHS = dict(zip(WORKFLOW_COLUMNS, (24, 32, 90), strict=True))
_TEXT = f"""Which workflow should start?
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

    A text stays a text, also one that begins as a formula does. What the bot started is not shown.

    Args:
        path: an `.xlsx` file.
        data: the sample.
        shuffle: a seed for the order of the conversations; None leaves it as it is.

    Raises:
        UsageError: openpyxl is missing, or a workflow is called as the choice of none.
    """
    excel = needed("openpyxl", "a workbook", "chats")
    book = excel.Workbook()
    sheet = book.active
    sheet.title = INSTRUCTIONS
    sheet.column_dimensions["A"].width = 120
    for line in _TEXT.split("\n"):
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
        if bare(workflow.name) == bare(NONE):
            raise UsageError(
                f"the workflow {workflow.id!r} is called {workflow.name!r}, as the choice of none is",
                fix="give it another name",
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
