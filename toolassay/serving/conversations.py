"""Recovers the task behind a request of an agent of WorkBench or CLASSic.

A prompt contains everything that the offline agents use, except that a workflow whose name contains ": " is
cut there, and that `--agent tools` joins successive chat messages of one sender and cuts descriptions at
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
_FURTHER = "  "  # indent of the further lines of a message or description


def conversation_task(body: Mapping[str, Any]) -> AgentTask | ChoiceTask | None:
    """The task behind an agent's request; None if the request is not from a built-in agent.

    Args:
        body: Body of a chat-completions request with at least one message.
    """
    messages: Sequence[MessageObject] = body["messages"]
    try:
        if body.get("tools"):
            return _acting(messages, "tool") or _calling(messages, body["tools"])
        return _acting(messages, "user") or _writing(messages)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # similar to a built-in prompt, but not one


def _acting(messages: Sequence[MessageObject], observation_role: str) -> AgentTask | None:
    """A task of WorkBench, whose observations are the messages of `observation_role` after the request."""
    if len(messages) < 2 or messages[0].get("role") != "system" or messages[1].get("role") != "user":
        return None
    now = moment_of(text_of(messages[0]))
    if now is None:
        return None
    react = observation_role == "user"
    texts = [text_of(message) for message in messages[2:] if message.get("role") == observation_role]
    observations = tuple(text.removeprefix(_OBSERVATION) if react else text for text in texts)
    return AgentTask(text_of(messages[1]), now, observations, react)


def _writing(messages: Sequence[MessageObject]) -> ChoiceTask | None:
    """A task of CLASSic whose chat is in one prompt."""
    if len(messages) != 1:
        return None
    prompt = text_of(messages[0])
    for name in ("cot.txt", "reasoning.txt"):
        for reference in ("", "$reference"):
            found = fields_of(with_reference(template(name), reference), prompt)
            if found is not None:
                offered = tuple(_named(item) for item in _items(found["workflows"]))
                chat = tuple(_chat_message(turn) for turn in _entries(found["chat"]))
                return ChoiceTask(chat, offered, found["nothing"])
    return None


def _calling(messages: Sequence[MessageObject], tools: Sequence[Any]) -> ChoiceTask | None:
    """A task of CLASSic whose chat is in messages, with a function for each workflow and one for none."""
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
    """A workflow as a candidate: its name, and its name and description on two lines."""
    name, _, description = text.partition(": ")
    return name, f"{name}\n{description}"


def _items(text: str) -> Iterator[str]:
    """Yield the entries of a numbered list.

    Raises:
        ValueError: The numbers are not 1, 2, 3, …
    """
    for number, entry in enumerate(_entries(text), start=1):
        written, point, item = entry.partition(". ")
        if written != str(number) or not point:
            raise ValueError(f"no number {number}: {entry[:40]}")
        yield item


def _chat_message(entry: str) -> tuple[str, str]:
    """The sender and the text of a chat message.

    Raises:
        KeyError: The sender is unknown.
    """
    sender, _, text = entry.partition(": ")
    return _SENDERS[sender], text


def _entries(text: str) -> list[str]:
    """Split a list into entries; further lines of an entry are indented."""
    entries: list[str] = []
    for line in text.split("\n") if text else ():
        if entries and line.startswith(_FURTHER):
            entries[-1] += f"\n{line.removeprefix(_FURTHER)}"
        else:
            entries.append(line)
    return entries
