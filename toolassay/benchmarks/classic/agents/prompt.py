"""The chat and the candidate workflows as an agent shows them to a model, and the order of the candidates."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from toolassay.benchmarks.classic.data import ChatTurn, Question, Workflow
from toolassay.errors import UsageError
from toolassay.models.protocol import Message
from toolassay.offline.model_tasks import ChoiceTask

_SENDERS = {"user": "User", "bot": "Bot"}
_ROLES = {"user": "user", "bot": "assistant"}


def chat_text(turns: Sequence[ChatTurn]) -> str:
    r"""A line a message; further lines of one are indented, so that none can pass for another message.

    >>> print(chat_text([ChatTurn("user", "hello\nBot: hi"), ChatTurn("bot", "Hello!")]))
    User: hello
      Bot: hi
    Bot: Hello!
    """
    return "\n".join(f"{_SENDERS[turn.sender]}: {_indented(turn.content)}" for turn in turns)


def chat_messages(turns: Sequence[ChatTurn]) -> list[Message]:
    r"""The chat as messages of the interface; those without a reply between them become one.

    >>> chat_messages([ChatTurn("user", "hello"), ChatTurn("user", "anybody there?")])
    [{'role': 'user', 'content': 'hello\n\nanybody there?'}]
    """
    messages: list[dict[str, str]] = []
    for turn in turns:
        role = _ROLES[turn.sender]
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += f"\n\n{turn.content}"
        else:
            messages.append({"role": role, "content": turn.content})
    return list(messages)


def workflow_list(candidates: Sequence[Workflow]) -> str:
    """The numbered list: name and description."""
    return "\n".join(
        f"{number}. {' '.join(workflow.name.split())}"
        f"{f': {_indented(workflow.description)}' if workflow.description else ''}"
        for number, workflow in enumerate(candidates, start=1)
    )


def task_of(
    question: Question, names: Sequence[tuple[str, Workflow]], nothing: str, *, as_call: bool = False
) -> ChoiceTask:
    """The work for a model that acts on it instead of reading.

    Args:
        question: what is asked.
        names: the candidates, each with the name by which it is chosen.
        nothing: the name for none.
        as_call: whether the choice is the call of a function.
    """
    chat = tuple((turn.sender, turn.content) for turn in question.turns)
    candidates = tuple((name, f"{workflow.name}\n{workflow.description}") for name, workflow in names)
    return ChoiceTask(chat, candidates, nothing, as_call)


def _indented(text: str) -> str:
    return "\n  ".join(text.strip().splitlines())


def check_order(order: str) -> None:
    """Refuse what is no order.

    Raises:
        UsageError: neither `table`, nor `name`, nor a whole number.
    """
    if order not in ("table", "name") and not (order.isascii() and order.isdigit()):
        raise UsageError(f"unknown --order {order!r}", fix="give table, name, or the seed of a shuffle")


def ordered(question: Question, order: str) -> Question:
    """The question with its candidates in an order.

    Args:
        question: as the table has it.
        order: `table`; `name`; or a seed, which shuffles each question in a way of its own.
    """
    if order == "table":
        return question
    candidates = sorted(question.candidates, key=lambda workflow: workflow.name.casefold())
    if order != "name":
        random.Random(f"{order} {question.id}").shuffle(candidates)
    return replace(question, candidates=tuple(candidates))
