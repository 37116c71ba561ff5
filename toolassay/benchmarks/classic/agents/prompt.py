"""The chat and the candidate workflows as shown to a model, and the order of the candidates."""

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
    r"""The chat as text, one line per message. Continuation lines are indented, so that no text can imitate
    another message.

    >>> print(chat_text([ChatTurn("user", "hello\nBot: hi"), ChatTurn("bot", "Hello!")]))
    User: hello
      Bot: hi
    Bot: Hello!
    """
    return "\n".join(f"{_SENDERS[turn.sender]}: {_indented(turn.content)}" for turn in turns)


def chat_messages(turns: Sequence[ChatTurn]) -> list[Message]:
    r"""The chat as messages of the model interface; consecutive messages of one sender are merged.

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
    """The numbered list of names and descriptions."""
    return "\n".join(
        f"{number}. {' '.join(workflow.name.split())}"
        f"{f': {_indented(workflow.description)}' if workflow.description else ''}"
        for number, workflow in enumerate(candidates, start=1)
    )


def task_of(
    question: Question, names: Sequence[tuple[str, Workflow]], nothing: str, *, as_call: bool = False
) -> ChoiceTask:
    """The work in structured form, for built-in models that do not read the prompt.

    Args:
        question: the question.
        names: the candidates, each with the name that selects it.
        nothing: the name that selects none.
        as_call: whether the choice is a function call.
    """
    chat = tuple((turn.sender, turn.content) for turn in question.turns)
    candidates = tuple((name, f"{workflow.name}\n{workflow.description}") for name, workflow in names)
    return ChoiceTask(chat, candidates, nothing, as_call)


def _indented(text: str) -> str:
    return "\n  ".join(text.strip().splitlines())


def check_order(order: str) -> None:
    """Validate `--order`.

    Raises:
        UsageError: it is neither `table`, nor `name`, nor a whole number.
    """
    if order not in ("table", "name") and not (order.isascii() and order.isdigit()):
        raise UsageError(f"unknown --order {order!r}", fix="give table, name, or the seed of a shuffle")


def ordered(question: Question, order: str) -> Question:
    """The question with its candidates in the given order.

    Args:
        question: as in the table.
        order: `table`; `name`; or a seed, which shuffles the candidates of each question differently.
    """
    if order == "table":
        return question
    candidates = sorted(question.candidates, key=lambda workflow: workflow.name.casefold())
    if order != "name":
        random.Random(f"{order} {question.id}").shuffle(candidates)
    return replace(question, candidates=tuple(candidates))
