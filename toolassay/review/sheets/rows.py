"""What stands in the sheet of a review: a row a sample."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolassay.gold import Gold
from toolassay.review.decision import Record
from toolassay.review.editing import edited
from toolassay.review.findings import Findings
from toolassay.review.samples import ReviewSample
from toolassay.review.store import Log

READ_ONLY = ("id", "fingerprint", "request", "steps", "plan", "findings")
EDITS = {
    "edited_request": "user_request",
    "edited_steps": "task_steps",
    "edited_nodes": "task_nodes",
    "edited_links": "task_links",
}
"""The columns to mend a sample in, and the part of the label each holds: text, and three of JSON."""

COLUMNS = (*READ_ONLY, "decision", "note", *EDITS)
WIDTHS = dict(zip(COLUMNS, (12, 18, 60, 50, 60, 40, 16, 30, 50, 40, 50, 40), strict=True))


def rows_of(samples: tuple[ReviewSample, ...], findings: Findings, log: Log) -> Iterator[dict[str, str]]:
    """The rows of one person's sheet, by column; decisions made before stand in it.

    The columns of edits hold the parts as they are (or as the person left them): what is changed in them is
    an edit.
    """
    standing = log.standing("reviewer")
    for sample in samples:
        record = standing.get(sample.id)
        if record is not None and record.fingerprint != sample.fingerprint:
            record = None
        gold, (level, found) = sample.gold, findings.of(sample)
        yield {
            "id": id_text(sample.id),
            "fingerprint": sample.fingerprint,
            "request": gold.request,
            "steps": "\n".join(gold.steps),
            "plan": plan_text(gold),
            "findings": "\n".join([level, *(f"{item.gate} ({item.state}): {item.reason}" for item in found)]),
            "decision": record.action if record else "",
            "note": log.notes.get(("reviewer", sample.id), ""),
            **edit_cells(sample, record),
        }


def edit_cells(sample: ReviewSample, record: Record | None) -> dict[str, str]:
    """The columns of edits."""
    label = edited(sample.record, record.parts) if record else sample.record
    return {column: part_text(part, label.get(part)) for column, part in EDITS.items()}


def part_text(part: str, value: Any) -> str:
    """A part of a label in its cell: a text as it is, everything else as JSON in plain ASCII."""
    return value if part == "user_request" and isinstance(value, str) else json.dumps(value)


def id_text(sample: str | int) -> str:
    """An id in its cell: a number as JSON writes it, a text as it is unless it could be taken for a number.

    >>> id_text(12), id_text("12"), id_text("a-12")
    ('12', '"12"', 'a-12')
    """
    if isinstance(sample, int):
        return str(sample)
    return json.dumps(sample) if sample.lstrip("-").isdigit() or sample != sample.strip() else sample


def plan_text(gold: Gold) -> str:
    """A plan as people read it: a line a call, then the links."""
    lines = [f"{node.place}. {node.tool}({_arguments(node.arguments)})" for node in gold.nodes]
    return "\n".join([*lines, *(f"{source} -> {target}" for source, target in gold.links)])


def _arguments(arguments: tuple[Any, ...] | None) -> str:
    return ", ".join(map(_argument, arguments or ()))


def _argument(argument: Any) -> str:
    if isinstance(argument, Mapping) and "name" in argument:
        return f"{argument['name']}={json.dumps(argument.get('value'), ensure_ascii=False)}"
    return argument if isinstance(argument, str) else json.dumps(argument, ensure_ascii=False)
