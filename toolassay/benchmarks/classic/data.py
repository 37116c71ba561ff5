"""The tables of a CLASSic data folder: reading and writing CSV, questions, workflows, labels."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from toolassay.benchmarks.benchmark import FolderFacts
from toolassay.benchmarks.csv_tables import CsvRow, read_table, write_table
from toolassay.errors import UsageError
from toolassay.files.data_files import sha256_of
from toolassay.records.data_folder import DataFolder


@dataclass(frozen=True)
class Workflow:
    """A workflow that an agent may start.

    Attributes:
        id: of `workflow_uuid`.
        name: unique within a domain, ignoring case.
        description: may be empty.
        domain: of `domain_uuid`.
    """

    id: str
    name: str
    description: str
    domain: str


@dataclass(frozen=True)
class ChatTurn:
    """A message of a chat, by the user or by the recorded bot."""

    sender: Literal["user", "bot"]
    content: str


@dataclass(frozen=True)
class Question:
    """Everything that an agent sees.

    Attributes:
        id: of the message to answer: conversation, two hyphens, position of the message in the chat.
        domain: of the chat.
        turns: the chat up to and including the user message to answer.
        candidates: the workflows of the domain, in the order of the table.
    """

    id: str
    domain: str
    turns: tuple[ChatTurn, ...]
    candidates: tuple[Workflow, ...]


@dataclass(frozen=True)
class Example:
    """A question with its labels.

    Attributes:
        number: its position in the table of messages, from 0 (`example_idx`).
        conversation: of `conversation_uuid`.
        request_idx: the position of the user message among those of its chat, from the table.
        question: what the agent sees.
        labels: ids of the correct workflows, the primary one first; empty if none is correct.
        response: the bot's recorded reply to the message; the agent sees it only in later questions.
    """

    number: int
    conversation: str
    request_idx: int
    question: Question
    labels: tuple[str, ...]
    response: str = ""

    @property
    def id(self) -> str:
        """The id of the question."""
        return self.question.id

    @property
    def domain(self) -> str:
        """The domain of the chat."""
        return self.question.domain

    def accepts(self, workflow: str | None) -> bool:
        """Whether this choice is correct; None means no workflow."""
        return workflow in self.labels if workflow is not None else not self.labels


MESSAGES = "messages.csv"
WORKFLOWS = "workflows.csv"
DOMAINS = "domains.csv"
PROMPTS = "jailbreak_prompts.csv"
_TABLES_FIX = "see docs/classic.md for the tables of a data folder"
_UNIQUE = "write a unique id"
_LABEL_COLUMNS = ("true_workflow_uuid", "true_workflow_uuid_2")
MESSAGE_COLUMNS = (
    *("conversation_uuid", "request_content", "response_content"),
    *(*_LABEL_COLUMNS, "request_idx", "domain_uuid"),
)
DOMAIN_COLUMNS = ("domain_uuid", "domain_name")
WORKFLOW_COLUMNS = ("workflow_uuid", "name", "description", "domain_uuid")
# The published tables list "None" among the workflows. It is neither a workflow nor a label.
_NO_WORKFLOW = ("", "None")


@dataclass(frozen=True)
class ClassicData:
    """The content of a folder.

    Attributes:
        domains: names by id, in the order of the table.
        workflows: by domain, in the order of the table.
        examples: one per user message, in the order of the table.
    """

    domains: Mapping[str, str]
    workflows: Mapping[str, tuple[Workflow, ...]]
    examples: tuple[Example, ...]


# The first digits of the SHA-256 of the sorted workflow ids of data_classic, one a line.
_BUNDLED_WORKFLOWS = "701dec47fe93f16f"


def holds_chats(folder: Path) -> bool:
    """Whether a folder has the tables of this benchmark."""
    return (folder / MESSAGES).is_file() and (folder / WORKFLOWS).is_file()


def has_known_chats(folder: DataFolder) -> bool:
    """Whether the chats were imported, or have the workflows of the bundled set.

    Raises:
        UsageError: the table of workflows is missing or malformed.
    """
    if "source_sha256" in folder.written_benchmark:  # made by `toolassay import`
        return True
    ids = sorted(row["workflow_uuid"] for row in read_table(folder.path / WORKFLOWS, WORKFLOW_COLUMNS))
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16] == _BUNDLED_WORKFLOWS


def data_fingerprint(folder: Path) -> str:
    """The SHA-256 of the tables that scores depend on, as hexadecimal digits."""
    names = (DOMAINS, WORKFLOWS, MESSAGES)
    return hashlib.sha256("".join(sha256_of(folder / name) for name in names).encode()).hexdigest()


def read_data(folder: Path) -> ClassicData:
    """Read and check the tables of a folder.

    All cells are strings; only an empty cell is missing. An example without labels has an empty tuple.

    Raises:
        UsageError: a table is missing or malformed (with the line), e.g. an unknown domain or label, two
            workflows of one domain with one name, a duplicate message, a chat in two domains.
    """
    domains = _read_domains(folder / DOMAINS)
    workflows = _read_workflows(folder / WORKFLOWS, domains)
    examples = _read_examples(folder / MESSAGES, workflows)
    if not examples:
        raise UsageError("no messages", file=folder / MESSAGES, fix="write one row per user message")
    return ClassicData(domains, workflows, examples)


# At most 9 digits, as int() refuses more than 4,300: matches "12" and "12.0", not "-1" or "1.5".
INDEX = re.compile(r"[0-9]{1,9}(?:\.0)?")
"""A request_idx."""


def _read_domains(path: Path) -> dict[str, str]:
    domains: dict[str, str] = {}
    for row in read_table(path, DOMAIN_COLUMNS, fix=_TABLES_FIX):
        name = row["domain_uuid"]
        row.refuse_if(not name or name in domains, f"domain_uuid {name!r} is empty or duplicate", _UNIQUE)
        domains[name] = row["domain_name"] or name
    return domains


def _read_workflows(path: Path, domains: Mapping[str, str]) -> dict[str, tuple[Workflow, ...]]:
    by_domain: dict[str, dict[str, Workflow]] = {domain: {} for domain in domains}
    ids: set[str] = set()
    for row in read_table(path, WORKFLOW_COLUMNS, fix=_TABLES_FIX):
        name = row["name"].strip()
        if row["workflow_uuid"] in _NO_WORKFLOW and name in _NO_WORKFLOW:
            continue
        workflow = Workflow(row["workflow_uuid"], name, row["description"].strip(), row["domain_uuid"])
        offered = by_domain.get(workflow.domain, {})
        key = workflow.id
        known = " ".join(name.split()).casefold()  # answers are matched with names in this form
        problem = f"unknown domain {workflow.domain!r}"
        row.refuse_if(workflow.domain not in by_domain, problem, f"list it in {DOMAINS}")
        row.refuse_if(not key or key in ids, f"workflow_uuid {key!r} is empty or duplicate", _UNIQUE)
        problem = f"the name {name!r} is empty, or duplicate in the domain {workflow.domain!r}"
        row.refuse_if(not name or known in offered, problem, "give each workflow of a domain a unique name")
        ids.add(key)
        offered[known] = workflow
    return {domain: tuple(workflows.values()) for domain, workflows in by_domain.items()}


def _read_examples(path: Path, workflows: Mapping[str, tuple[Workflow, ...]]) -> tuple[Example, ...]:
    known = {domain: {workflow.id for workflow in these} for domain, these in workflows.items()}
    chats: dict[str, dict[int, tuple[int, CsvRow]]] = {}
    for number, row in enumerate(read_table(path, MESSAGE_COLUMNS, fix=_TABLES_FIX)):
        name = row["conversation_uuid"]
        domain = row["domain_uuid"]
        index = row["request_idx"]
        chat = chats.setdefault(name, {})
        text = row["request_content"].strip()
        row.refuse_if(domain not in known, f"unknown domain {domain!r}", f"list it in {DOMAINS}")
        problem = "conversation_uuid or request_content is empty"
        row.refuse_if(not name or not text, problem, "fill it in, or remove the row")
        others = {other["domain_uuid"] for _, other in chat.values()} - {domain}
        row.refuse_if(bool(others), f"the chat {name!r} is in two domains", "write the same domain_uuid")
        problem = f"request_idx {index!r} is not a whole number"
        row.refuse_if(not INDEX.fullmatch(index), problem, "count from 0")
        number_in_chat = int(index.removesuffix(".0"))
        problem = f"duplicate request_idx {number_in_chat} in the chat {name!r}"
        row.refuse_if(number_in_chat in chat, problem, "number the user messages of a chat 0, 1, 2, ...")
        unknown = next((label for label in _labels(row) if label not in known[domain]), "")
        problem = f"the label {unknown!r} is not a workflow of the domain {domain!r}"
        fix = f"list it in {WORKFLOWS}, or leave the cell empty if no workflow fits"
        row.refuse_if(bool(unknown), problem, fix)
        chat[number_in_chat] = number, row
    examples = [example for name, chat in chats.items() for example in _examples_of(name, chat, workflows)]
    return tuple(sorted(examples, key=lambda example: example.number))


def _labels(row: CsvRow) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row[column] for column in _LABEL_COLUMNS if row[column] not in _NO_WORKFLOW))


def _examples_of(
    conversation: str, chat: Mapping[int, tuple[int, CsvRow]], workflows: Mapping[str, Sequence[Workflow]]
) -> list[Example]:
    turns: list[ChatTurn] = []
    examples = []
    for request_idx, (number, row) in sorted(chat.items()):
        turns.append(ChatTurn("user", row["request_content"]))
        domain = row["domain_uuid"]
        question = Question(f"{conversation}--{2 * request_idx}", domain, (*turns,), tuple(workflows[domain]))
        reply = row["response_content"]
        examples.append(Example(number, conversation, request_idx, question, _labels(row), reply))
        if reply:
            turns.append(ChatTurn("bot", reply))
    return examples


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
    """The rows of `messages.csv`, in the order of the table."""
    rows = []
    for example in data.examples:
        label, second = (*example.labels, "", "")[:2]
        user = example.question.turns[-1].content
        index = example.request_idx
        rows.append(
            MessageRow(example.conversation, user, example.response, label, second, index, example.domain)
        )
    return rows


def write_tables(
    folder: Path, messages: Iterable[MessageRow], workflows: Sequence[Workflow], domains: Mapping[str, str]
) -> None:
    """Write domains, workflows and messages; messages last, so that a folder with them is complete."""
    write_table(folder / DOMAINS, DOMAIN_COLUMNS, domains.items())
    write_table(
        folder / WORKFLOWS,
        WORKFLOW_COLUMNS,
        ([workflow.id, workflow.name, workflow.description, workflow.domain] for workflow in workflows),
    )
    write_table(folder / MESSAGES, MESSAGE_COLUMNS, messages)


def check_empty(folder: Path, *, force: bool) -> None:
    """Refuse a folder that is not empty.

    Raises:
        UsageError: it is not empty, and `force` is False.
    """
    if not force and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            "is not empty", file=folder, fix="name another folder, or add --force true to replace files"
        )


FACTS = FolderFacts(
    lambda folder: not folder.benchmark_file.exists() and holds_chats(folder.path),
    lambda folder: "" if has_known_chats(folder) else None,
    lambda folder: {"data": (folder.path.resolve().name, data_fingerprint(folder.path))},
    "its labels are made sound by `toolassay classic build`, with its own funnel",
)
