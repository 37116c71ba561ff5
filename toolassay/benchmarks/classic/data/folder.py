"""A data folder of chats: its tables, checked, as examples."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.classic.data.examples import Example, Question, Turn, Workflow
from toolassay.benchmarks.classic.data.table import Row, read_table
from toolassay.errors import UsageError
from toolassay.files import sha256_of
from toolassay.folder import DataFolder

MESSAGES, WORKFLOWS, DOMAINS, PROMPTS = (
    *("messages.csv", "workflows.csv", "domains.csv"),
    "jailbreak_prompts.csv",
)
_FIX = "see docs/classic.md for the tables of a data folder"
_LABELS = ("true_workflow_uuid", "true_workflow_uuid_2")
MESSAGE_COLUMNS = (
    *("conversation_uuid", "request_content", "response_content"),
    *(*_LABELS, "request_idx", "domain_uuid"),
)
DOMAIN_COLUMNS = ("domain_uuid", "domain_name")
WORKFLOW_COLUMNS = ("workflow_uuid", "name", "description", "domain_uuid")
# The published tables have a row for "none fits": it is no workflow, and no label.
_NO_WORKFLOW = ("", "None")


@dataclass(frozen=True)
class ClassicData:
    """What a folder holds.

    Args:
        domains: names by id, in the order of the table.
        workflows: by domain, in the order of the table.
        examples: one for each user message, in the order of the table.
    """

    domains: Mapping[str, str]
    workflows: Mapping[str, tuple[Workflow, ...]]
    examples: tuple[Example, ...]


def holds_chats(folder: Path) -> bool:
    """Whether a folder holds tables of this benchmark."""
    return (folder / MESSAGES).is_file() and (folder / WORKFLOWS).is_file()


def is_classic(folder: DataFolder) -> bool:
    """Whether a folder is of this benchmark: `benchmark.json` says so, or where there is none its tables."""
    return folder.benchmark["benchmark"] == "classic" or (
        not folder.benchmark_file.exists() and holds_chats(folder.path)
    )


def fingerprint(folder: Path) -> str:
    """Of the tables that scores depend on: SHA-256, in hexadecimal."""
    names = (DOMAINS, WORKFLOWS, MESSAGES)
    return hashlib.sha256("".join(sha256_of(folder / name) for name in names).encode()).hexdigest()


def read_data(folder: Path) -> ClassicData:
    """Read and check the tables of a folder.

    A cell is text; only an empty one is missing. No label is an empty list.

    Raises:
        UsageError: a table is missing or malformed (with the line): an unknown domain or label, two workflows
            of one domain with one name, a message twice, a chat over two domains.
    """
    domains = _read_domains(folder / DOMAINS)
    workflows = _read_workflows(folder / WORKFLOWS, domains)
    examples = _read_examples(folder / MESSAGES, workflows)
    if not examples:
        raise UsageError("no messages", file=folder / MESSAGES, fix="give it a row a user message")
    return ClassicData(domains, workflows, examples)


def _read_domains(path: Path) -> dict[str, str]:
    domains: dict[str, str] = {}
    for row in read_table(path, DOMAIN_COLUMNS, fix=_FIX):
        if not row["domain_uuid"] or row["domain_uuid"] in domains:
            raise row.error(
                f"domain_uuid {row['domain_uuid']!r} is empty or there twice", "give each its own"
            )
        domains[row["domain_uuid"]] = row["domain_name"] or row["domain_uuid"]
    return domains


def _read_workflows(path: Path, domains: Mapping[str, str]) -> dict[str, tuple[Workflow, ...]]:
    found: dict[str, dict[str, Workflow]] = {domain: {} for domain in domains}
    ids: set[str] = set()
    for row in read_table(path, WORKFLOW_COLUMNS, fix=_FIX):
        name = row["name"].strip()
        if row["workflow_uuid"] in _NO_WORKFLOW and name in _NO_WORKFLOW:
            continue
        workflow = Workflow(row["workflow_uuid"], name, row["description"].strip(), row["domain_uuid"])
        if workflow.domain not in found:
            raise row.error(f"unknown domain {workflow.domain!r}", f"list it in {DOMAINS}")
        if not workflow.id or workflow.id in ids:
            raise row.error(f"workflow_uuid {workflow.id!r} is empty or there twice", "give each its own")
        known = " ".join(name.split()).casefold()  # as lists show it, and answers are read
        if not name or known in found[workflow.domain]:
            raise row.error(
                f"the name {name!r} is empty, or there twice in the domain {workflow.domain!r}",
                "give each workflow of a domain a name of its own",
            )
        ids.add(workflow.id)
        found[workflow.domain][known] = workflow
    return {domain: tuple(workflows.values()) for domain, workflows in found.items()}


def _read_examples(path: Path, workflows: Mapping[str, tuple[Workflow, ...]]) -> tuple[Example, ...]:
    known = {domain: {workflow.id for workflow in these} for domain, these in workflows.items()}
    chats: dict[str, dict[int, tuple[int, Row]]] = {}
    for number, row in enumerate(read_table(path, MESSAGE_COLUMNS, fix=_FIX)):
        chat = chats.setdefault(row["conversation_uuid"], {})
        if row["domain_uuid"] not in known:
            raise row.error(f"unknown domain {row['domain_uuid']!r}", f"list it in {DOMAINS}")
        if not row["conversation_uuid"] or not row["request_content"].strip():
            raise row.error(
                "conversation_uuid or request_content is empty", "fill it in, or leave the row out"
            )
        if chat and next(iter(chat.values()))[1]["domain_uuid"] != row["domain_uuid"]:
            raise row.error(f"the chat {row['conversation_uuid']!r} is in two domains", "give it one")
        place = _place(row)
        if place in chat:
            raise row.error(
                f"request_idx {place} of the chat {row['conversation_uuid']!r} is there twice",
                "number the user messages of a chat 0, 1, 2, ...",
            )
        chat[place] = number, row
        _check_labels(row, known[row["domain_uuid"]])
    examples = [example for name, chat in chats.items() for example in _examples_of(name, chat, workflows)]
    return tuple(sorted(examples, key=lambda example: example.number))


def _place(row: Row) -> int:
    text = row["request_idx"].removesuffix(".0")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise row.error(f"request_idx {row['request_idx']!r} is no whole number", "count from 0")
    return int(text)


def _labels(row: Row) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row[column] for column in _LABELS if row[column] not in _NO_WORKFLOW))


def _check_labels(row: Row, known: set[str]) -> None:
    for label in _labels(row):
        if label not in known:
            raise row.error(
                f"the label {label!r} is no workflow of the domain {row['domain_uuid']!r}",
                f"list it in {WORKFLOWS}, or leave the cell empty where no workflow fits",
            )


def _examples_of(
    conversation: str, chat: Mapping[int, tuple[int, Row]], workflows: Mapping[str, Sequence[Workflow]]
) -> list[Example]:
    turns: list[Turn] = []
    examples = []
    for place, (number, row) in sorted(chat.items()):
        turns.append(Turn("user", row["request_content"]))
        domain = row["domain_uuid"]
        question = Question(f"{conversation}--{2 * place}", domain, (*turns,), tuple(workflows[domain]))
        reply = row["response_content"]
        examples.append(Example(number, conversation, place, question, _labels(row), reply))
        if reply:
            turns.append(Turn("bot", reply))
    return examples
