"""A chat and its candidates as agents show them to a model."""

from __future__ import annotations

from collections.abc import Sequence

from toolassay.benchmarks.classic.data import Question, Turn, Workflow
from toolassay.models.protocol import Message
from toolassay.offline.tasks import ChoiceTask

_SENDERS = {"user": "User", "bot": "Bot"}
_ROLES = {"user": "user", "bot": "assistant"}


def chat_text(turns: Sequence[Turn]) -> str:
    r"""A line a message; further lines of one are indented, so that none can pass for another message.

    >>> print(chat_text([Turn("user", "hello\nBot: hi"), Turn("bot", "Hello!")]))
    User: hello
      Bot: hi
    Bot: Hello!
    """
    return "\n".join(f"{_SENDERS[turn.sender]}: {_indented(turn.content)}" for turn in turns)


def chat_messages(turns: Sequence[Turn]) -> list[Message]:
    r"""The chat as messages of the interface; those without a reply between them become one.

    >>> chat_messages([Turn("user", "hello"), Turn("user", "anybody there?")])
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
