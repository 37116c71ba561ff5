"""A small folder of chats of our own, in the published tables."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from toolassay.benchmarks.classic.data import ChatTurn, Question, Workflow

WORKFLOWS = (
    ("w-return", "Return Goods", "Books a return and sends the label.", "shop"),
    ("w-track", "Track Parcel", "Says where a parcel is.", "shop"),
    ("w-desk", "Book a Desk", "Keeps a desk in the office for a day.", "office"),
)
MESSAGES = (
    (
        "c1",
        "my shoes are too small, I want to return them",
        "Shall I book a return?",
        "w-return",
        "",
        0,
        "shop",
    ),
    ("c1", "yes", "", "w-return", "", 1, "shop"),
    ("c1", "and where is my parcel?", "On its way.", "w-track", "", 2, "shop"),
    ("c2", "I need a desk on Friday", "Done.", "w-desk", "", 0, "office"),
    ("c3", "good morning", "Hello!", "", "", 0, "office"),
)
TABLES = {
    "workflows.csv": (("workflow_uuid", "name", "description", "domain_uuid"), WORKFLOWS),
    "messages.csv": (
        (
            *("conversation_uuid", "request_content", "response_content", "true_workflow_uuid"),
            *("true_workflow_uuid_2", "request_idx", "domain_uuid"),
        ),
        MESSAGES,
    ),
}


def chat_folder(path: Path, more_workflows: Sequence[tuple[str, str, str, str]] = ()) -> Path:
    """Write the tables into a folder."""
    path.mkdir(parents=True, exist_ok=True)
    tables = {
        **TABLES,
        "domains.csv": (("domain_uuid", "domain_name"), (("shop", "Shop"), ("office", "Office"))),
    }
    for name, (head, rows) in tables.items():
        extra = more_workflows if name == "workflows.csv" else ()
        with (path / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, *rows, *extra])
    return path


def question(*turns: str, names: Sequence[str] = ("Return Goods", "Track Parcel")) -> Question:
    """A question; what begins with "bot: " was said by the bot."""
    said = tuple(
        ChatTurn("bot", text.removeprefix("bot: ")) if text.startswith("bot: ") else ChatTurn("user", text)
        for text in turns
    )
    candidates = tuple(
        Workflow(f"w{number}", name, f"About {name}.", "d") for number, name in enumerate(names)
    )
    return Question("c--0", "d", said, candidates)
