"""Recovers the task behind a request of an agent of WorkBench or CLASSic.

A prompt holds all that the offline agents act on, with three exceptions: a workflow whose name contains ":
" is cut there, and `--agent tools` joins successive chat messages of one sender and cuts descriptions at
1,000 characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolassay.benchmarks.classic.agents.json_agent import template, with_reference
from toolassay.benchmarks.workbench.agents.native_and_react import moment_of
from toolassay.offline.model_tasks import AgentTask, ChoiceTask
from toolassay.serving.completions import text_of
from toolassay.serving.prompt_reader import fields_of

MessageObject = Mapping[str, Any]

_OBSERVATION = "Observation: "
_SENDERS = {"User": "user", "Bot": "bot"}
_ROLES = {"user": "user", "assistant": "bot"}
_FURTHER = "  "  # before each further line of a message or a description


def conversation_task(body: Mapping[str, Any]) -> AgentTask | ChoiceTask | None:
    """The work behind a request of an agent; None where it is none of ours.

    Args:
        body: of a chat-completions request, with at least one message.
    """
    messages: Sequence[MessageObject] = body["messages"]
    try:
        if body.get("tools"):
            return _acting(messages, "tool") or _calling(messages, body["tools"])
        return _acting(messages, "user") or _writing(messages)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # looks like ours and is not


def _acting(messages: Sequence[MessageObject], told_by: str) -> AgentTask | None:
    """A task of WorkBench; its observations are the messages of one role that follow the request."""
    if len(messages) < 2 or messages[0].get("role") != "system" or messages[1].get("role") != "user":
        return None
    now = moment_of(text_of(messages[0]))
    if now is None:
        return None
    react = told_by == "user"
    told = [text_of(message) for message in messages[2:] if message.get("role") == told_by]
    observations = tuple(text.removeprefix(_OBSERVATION) if react else text for text in told)
    return AgentTask(text_of(messages[1]), now, observations, react)


def _writing(messages: Sequence[MessageObject]) -> ChoiceTask | None:
    """A chat of CLASSic in one prompt."""
    if len(messages) != 1:
        return None
    prompt = text_of(messages[0])
    for name in ("cot.txt", "reasoning.txt"):
        for reference in ("", "$reference"):
            found = fields_of(with_reference(template(name), reference), prompt)
            if found is not None:
                offered = tuple(_named(item) for item in _items(found["workflows"]))
                chat = tuple(_said(turn) for turn in _entries(found["chat"]))
                return ChoiceTask(chat, offered, found["nothing"])
    return None


def _calling(messages: Sequence[MessageObject], tools: Sequence[Any]) -> ChoiceTask | None:
    """A chat of CLASSic as messages, with a function for each workflow and one for none."""
    if messages[0].get("role") != "system" or len(messages) < 2:
        return None
    system = text_of(messages[0])
    for reference in ("", "$reference"):
        found = fields_of(with_reference(template("tools.txt"), reference), system)
        if found is not None:
            functions = [(str(tool["function"]["name"]), tool["function"]["description"]) for tool in tools]
            offered = tuple((name, _named(text)[1]) for name, text in functions if name != found["nothing"])
            chat = tuple((_ROLES[message["role"]], text_of(message)) for message in messages[1:])
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
