"""Raw chats, read from CSV or JSON Lines with configurable column names and checked row by row."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from toolassay.benchmarks.classic.chats.chat import FIGURES, Chat, RawMessage, count_greetings, exchanges_of
from toolassay.benchmarks.classic.chats.settings import ChatSampling
from toolassay.benchmarks.classic.data import Workflow
from toolassay.benchmarks.csv_tables import CsvRow, read_table
from toolassay.errors import UsageError
from toolassay.files.data_files import package_data, read_json_lines

RAW_COLUMNS: Mapping[str, Sequence[str]] = package_data(__package__, "columns.json")
"""The fields that are read, and the column names searched for if none is configured."""


# A measurement, or an empty cell: matches "0.25", "3" and "1e-3"; not "-1" or "nan".
_AMOUNT = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?|")


def read_raw(path: Path, settings: ChatSampling, needed: Sequence[str], used: set[str]) -> Iterator[CsvRow]:
    """The rows of a table, with cells under the names of `RAW_COLUMNS`, without blanks around all but texts.

    Args:
        path: CSV with a header, or `.jsonl`, `.json` with one object per line.
        settings: how it is read. A configured column that this table lacks is ignored, because several tables
            share the configuration.
        needed: fields that the table must have, besides the domain.
        used: receives the fields whose configured column was found.

    Raises:
        UsageError: the file does not exist or is malformed (with the line), or a field is unknown or
            has no column.
    """
    named = dict(settings.columns)
    if unknown := set(named) - RAW_COLUMNS.keys():
        raise UsageError(
            f"--column: unknown field {min(unknown)!r}", fix=f"choose from {', '.join(RAW_COLUMNS)}"
        )
    for row in _rows(path):
        columns = {
            what: column
            for what, usual in RAW_COLUMNS.items()
            if (
                column := next(
                    (candidate for candidate in (named.get(what, ""), *usual) if candidate in row.cells), None
                )
            )
        }
        given = {"domain"} if settings.domain else set[str]()
        if missing := [what for what in (*needed, "domain") if what not in columns.keys() | given]:
            flags = " ".join(f"--column {what}=NAME" for what in missing)
            listed = ", ".join(row.cells)
            raise row.error(f"no column for {', '.join(missing)}; the columns are {listed}", f"add {flags}")
        used.update(what for what, column in columns.items() if named.get(what) == column)
        cells = {what: row[column].strip() for what, column in columns.items()}
        if "text" in columns:
            cells["text"] = row[columns["text"]]
        cells["domain"] = settings.domain or cells["domain"]
        yield CsvRow(cells, row.file, row.line)


def _rows(path: Path) -> Iterator[CsvRow]:
    if path.suffix.lower() == ".csv":
        yield from read_table(path, ())
        return
    if path.suffix.lower() not in (".jsonl", ".json"):
        raise UsageError("is neither CSV nor JSON Lines", file=path, fix="save it as .csv or .jsonl")
    for line, value in read_json_lines(path):
        if not isinstance(value, dict) or any(isinstance(cell, dict | list) for cell in value.values()):
            raise UsageError(
                "not an object of strings and numbers", file=path, line=line, fix="write one object per line"
            )
        yield CsvRow({key: "" if cell is None else str(cell) for key, cell in value.items()}, path, line)


@dataclass(frozen=True)
class RawChats:
    """Raw chats, read and checked.

    Attributes:
        chats: in the order in which they start in the table.
        workflows: that can be started.
        rows: number of rows, by kind.
    """

    chats: tuple[Chat, ...]
    workflows: tuple[Workflow, ...]
    rows: Mapping[str, int]


def find_source(raw: Path) -> tuple[Path, Path | None]:
    """The tables of messages and workflows: the given file, or those in the given folder.

    Raises:
        UsageError: the folder has no table of messages.
    """
    if not raw.is_dir():
        return raw, None
    paths = [
        [path for ending in ("csv", "jsonl", "json") if (path := raw / f"{name}.{ending}").is_file()]
        for name in ("messages", "workflows")
    ]
    messages, workflows = (next(iter(some), None) for some in paths)
    if messages is None:
        raise UsageError("has no messages.csv or messages.jsonl", file=raw, fix="give the file as --raw")
    return messages, workflows


def read_chats(messages_path: Path, settings: ChatSampling) -> RawChats:
    """Read and check raw chats.

    Bot messages before the first user message cannot be represented in the tables; they are only counted.

    Raises:
        UsageError: a file does not exist or is malformed, or a row is invalid (with its line): unknown sender
            or workflow, invalid `order`, a chat in two domains, an invalid measurement.
    """
    lists = {"user": settings.user_is, "bot": settings.bot_is, "human": settings.human_is}
    senders = {name.casefold(): kind for kind, names in lists.items() for name in names}
    rows = {"rows": 0, "user": 0, "bot": 0, "human": 0, "without_conversation": 0, "greetings": 0}
    messages: dict[str, list[RawMessage]] = {}
    used: set[str] = set()
    for row in read_raw(messages_path, settings, ("conversation", "order", "sender", "text"), used):
        rows["rows"] += 1
        sender = senders.get(row["sender"].casefold())
        if sender is None:
            raise row.error(
                f"unknown sender {row['sender']!r}",
                "add it to --user_is, --bot_is or --human_is, each of which replaces its default list: "
                f"users {', '.join(settings.user_is)}; bots {', '.join(settings.bot_is)}; "
                f"people {', '.join(settings.human_is)}",
            )
        rows[sender] += 1
        if not (name := row["conversation"]):
            rows["without_conversation"] += 1
            continue
        for figure in FIGURES:
            problem = f"{figure} {row.get(figure)[:40]!r} is not a number from 0"
            fix = "correct it, or leave the cell empty"
            row.refuse_if(not _AMOUNT.fullmatch(row.get(figure)), problem, fix)
        row.refuse_if(not row["domain"], "domain is empty", "fill it in")
        chat = messages.setdefault(name, [])
        chat.append(RawMessage(_position(row), sender, row))
        differs = row["domain"] != chat[0].row["domain"]
        problem = f"the chat {name!r} is in two domains"
        row.refuse_if(differs, problem, "write the same domain in all its rows")
        differs = chat[0].position[0] != chat[-1].position[0]
        problem = "one chat has both times and numbers under order"
        row.refuse_if(differs, problem, "use either in all its rows")
    if not messages:
        raise UsageError("no chats", file=messages_path, fix="write one row per message")
    workflows = _workflows(settings, messages, used)
    if unused := [f"{what}={column}" for what, column in settings.columns if what not in used]:
        raise UsageError(
            f"no table has the column of --column {unused[0]}", fix="correct the name, or omit it"
        )
    chats = []
    for name, chat in messages.items():
        chat.sort(key=lambda message: message.position)
        rows["greetings"] += count_greetings(chat)
        chats.append(Chat(name, chat[0].row["domain"], tuple(exchanges_of(chat))))
    return RawChats(tuple(chats), workflows, rows)


def _position(row: CsvRow) -> tuple[str, float]:
    text = row["order"]
    try:
        number = float(text)
        if math.isfinite(number):
            return "number", number
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
            return "time", (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            pass
    raise row.error(f"order {text[:40]!r} is neither a number nor a time", "write 3, or 2026-01-31T09:30:00")


def _workflows(
    settings: ChatSampling, messages: Mapping[str, list[RawMessage]], used: set[str]
) -> tuple[Workflow, ...]:
    """The workflows of the table, or those that the bot started. Every started one must be in the table."""
    known: dict[str, Workflow] = {}
    if settings.workflows is not None:
        for row in read_raw(settings.workflows, settings, ("workflow", "name"), used):
            name = row["workflow"]
            if not name or name in known:
                raise row.error(f"the workflow id {name!r} is empty or duplicate", "write a unique id")
            known[name] = Workflow(name, row["name"], row.get("description"), row["domain"])
    for message in (message for chat in messages.values() for message in chat):
        started = message.row.get("workflow")
        domain = message.row["domain"]
        if not started:
            continue
        if settings.workflows is None:
            known.setdefault(started, Workflow(started, started, "", domain))
        if started not in known or known[started].domain != domain:
            raise message.row.error(
                f"the workflow {started!r} is not one of the domain {domain!r}",
                "list it in the table of workflows, or leave the cell empty",
            )
    if not known:
        raise UsageError("no workflows", fix="list them in a table, --workflows FILE")
    return tuple(known.values())
