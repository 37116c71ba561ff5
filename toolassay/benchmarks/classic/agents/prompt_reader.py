"""Recovers the chat and the workflows behind a request of our agents, for the offline model behind a server.

A prompt holds all that the offline model acts on, with three exceptions: a workflow whose name contains ": "
is cut there, and `--agent tools` joins successive chat messages of one sender and cuts descriptions at 1,000
characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolassay.benchmarks.classic.agents.json_agent import template, with_reference
from toolassay.models.wire_format import text_of
from toolassay.offline.model_tasks import ChoiceTask
from toolassay.prompt_templates import fields_of

_SENDERS = {"User": "user", "Bot": "bot"}
_ROLES = {"user": "user", "assistant": "bot"}
_FURTHER = "  "  # before each further line of a message or a description


def prompted_choice(body: Mapping[str, Any], shown: object = None) -> ChoiceTask | None:
    """The choice that a request asks for; None for another prompt.

    Args:
        body: of a chat-completions request, with at least one message.
        shown: ignored.
    """
    messages = body["messages"]
    try:
        return _calling(messages, body["tools"]) if body.get("tools") else _writing(messages)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # looks like ours and is not


def _writing(messages: Sequence[Mapping[str, Any]]) -> ChoiceTask | None:
    """A chat in one prompt."""
    if len(messages) != 1:
        return None
    prompt = _text(messages[0])
    for name in ("cot.txt", "reasoning.txt"):
        for reference in ("", "$reference"):
            found = fields_of(with_reference(template(name), reference), prompt)
            if found is not None:
                offered = tuple(_named(item) for item in _items(found["workflows"]))
                chat = tuple(_said(turn) for turn in _entries(found["chat"]))
                return ChoiceTask(chat, offered, found["nothing"])
    return None


def _calling(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> ChoiceTask | None:
    """A chat as messages, with a function for each workflow and one for none."""
    if messages[0].get("role") != "system" or len(messages) < 2:
        return None
    system = _text(messages[0])
    for reference in ("", "$reference"):
        found = fields_of(with_reference(template("tools.txt"), reference), system)
        if found is not None:
            functions = [(str(tool["function"]["name"]), tool["function"]["description"]) for tool in tools]
            offered = tuple((name, _named(text)[1]) for name, text in functions if name != found["nothing"])
            chat = tuple((_ROLES[message["role"]], _text(message)) for message in messages[1:])
            return ChoiceTask(chat, offered, found["nothing"], as_call=True)
    return None


def _named(text: str) -> tuple[str, str]:
    """A workflow as a candidate: its name, and name and description below each other."""
    name, _, description = text.partition(": ")
    return name, f"{name}\n{description}"


def _items(text: str) -> Iterator[str]:
    """The entries of a numbered list.

    Raises:
        ValueError: the numbers are not 1, 2, 3, …
    """
    for number, entry in enumerate(_entries(text), start=1):
        written, point, item = entry.partition(". ")
        if written != str(number) or not point:
            raise ValueError(f"no number {number}: {entry[:40]}")
        yield item


def _said(entry: str) -> tuple[str, str]:
    """The sender and the text of a message.

    Raises:
        KeyError: neither of the two senders.
    """
    sender, _, text = entry.partition(": ")
    return _SENDERS[sender], text


def _entries(text: str) -> list[str]:
    """The entries of a list; further lines of one are indented."""
    entries: list[str] = []
    for line in text.split("\n") if text else ():
        if entries and line.startswith(_FURTHER):
            entries[-1] += f"\n{line.removeprefix(_FURTHER)}"
        else:
            entries.append(line)
    return entries


def _text(message: Mapping[str, Any]) -> str:
    return text_of(message.get("content")) or ""
