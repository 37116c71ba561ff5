"""The three tables of a set, written so that `read_data` reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from toolassay.benchmarks.classic.data import ClassicData, Workflow
from toolassay.benchmarks.classic.data.folder import (
    DOMAIN_COLUMNS,
    DOMAINS,
    MESSAGE_COLUMNS,
    MESSAGES,
    WORKFLOW_COLUMNS,
    WORKFLOWS,
)
from toolassay.benchmarks.classic.data.table import write_table
from toolassay.errors import UsageError


class MessageRow(NamedTuple):
    """A row of `messages.csv`."""

    conversation: str
    user: str
    bot: str
    label: str
    second_label: str
    request_idx: int
    domain: str


def message_rows(data: ClassicData) -> list[MessageRow]:
    """The rows of a set, in the order of its table."""
    rows = []
    for example in data.examples:
        label, second = (*example.labels, "", "")[:2]
        user = example.question.turns[-1].content
        place, domain = example.request_idx, example.domain
        rows.append(MessageRow(example.conversation, user, example.response, label, second, place, domain))
    return rows


def write_tables(
    folder: Path, messages: Iterable[MessageRow], workflows: Sequence[Workflow], domains: Mapping[str, str]
) -> None:
    """Write messages, workflows and domains; messages last, so that a folder with them is whole."""
    write_table(folder / DOMAINS, DOMAIN_COLUMNS, domains.items())
    write_table(
        folder / WORKFLOWS,
        WORKFLOW_COLUMNS,
        ([workflow.id, workflow.name, workflow.description, workflow.domain] for workflow in workflows),
    )
    write_table(folder / MESSAGES, MESSAGE_COLUMNS, messages)


def check_empty(folder: Path, *, force: bool) -> None:
    """Refuse a folder in which something lies already.

    Raises:
        UsageError: so it is, and `force` is not given.
    """
    if not force and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            "is not empty", file=folder, fix="name another folder, or say --force true to replace files"
        )
