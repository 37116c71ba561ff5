"""The workflow that an agent chose, the `Agent` protocol, and matching a name in an answer to a workflow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from toolassay.benchmarks.classic.agents.model_requests import QuestionRequests
from toolassay.benchmarks.classic.data import Question, Workflow

Outcome = Literal["answered", "malformed", "refused", "not run"]


@dataclass(frozen=True)
class WorkflowChoice:
    """How a question ended.

    Args:
        workflow: its id; None where the agent chose none, or nothing that can be read.
        outcome: `answered` without a workflow is the choice of none.
        note: what was passed over in reading the answer; empty for most.
        error: why there is no choice; empty where there is one.
    """

    workflow: str | None
    outcome: Outcome = "answered"
    note: str = ""
    error: str = ""


REFUSED = WorkflowChoice(None, "refused", error="the model declined")


def malformed(error: str) -> WorkflowChoice:
    """The end of a question whose answer cannot be read, or names what was not offered."""
    return WorkflowChoice(None, "malformed", error=error)


class Agent(Protocol):
    """Chooses for a question. Given the same answers it does the same again."""

    @property
    def wording(self) -> str:
        """All that is fixed in what it sends, for a fingerprint."""
        ...

    async def choose(self, question: Question, ask: QuestionRequests) -> WorkflowChoice:
        """Choose.

        Raises:
            ModelError: no answer.
        """
        ...


_LIST_NUMBER = re.compile(r"(?:\(?\d{1,4}[.):]|#\d{1,4}[.):]?)\s*")
_MARKS = "\"'`“”„‘’«»*_ "


class NameMatch(NamedTuple):
    """Whether a name is one of those offered; `workflow` None of a known name is the choice of none."""

    known: bool
    workflow: Workflow | None = None
    note: str = ""


def word_for_none(candidates: Sequence[Workflow]) -> str:
    """The name by which none of the candidates is chosen, and which none of them has.

    >>> word_for_none([])
    'none'
    """
    names = {plain(workflow.name) for workflow in candidates}
    word = "none"
    while word in names:
        word = f"{word} of these"
    return word


def find_name(text: str, candidates: Sequence[Workflow], nothing: str) -> NameMatch:
    r"""Which candidate a name names.

    Blanks around it and upper or lower case make no difference. Quotes, marks and the number of the list
    are passed over with a note, where it then is the name of exactly one.

    >>> late = Workflow("w1", "Late Order", "", "shop")
    >>> find_name(" late order ", [late], "none").workflow.id
    'w1'
    >>> find_name('2. "Late Order"', [late], "none").note
    'read as the name: \'2. "Late Order"\''
    >>> find_name("NONE", [late], "none"), find_name("Lost Order", [late], "none").known
    (NameMatch(known=True, workflow=None, note=''), False)
    """
    choices: list[tuple[str, Workflow | None]] = [(workflow.name, workflow) for workflow in candidates]
    choices.append((nothing, None))
    for read, note in (
        (str.casefold, ""),
        (plain, ""),
        (_without_marks, f"read as the name: {text[:100]!r}"),
    ):
        wanted = read(text.strip())
        found = [workflow for name, workflow in choices if read(name) == wanted]
        if len(found) == 1:
            return NameMatch(True, found[0], note)
    return NameMatch(False)


def plain(text: str) -> str:
    """A name in lower case, with single blanks."""
    return " ".join(text.split()).casefold()


def _without_marks(text: str) -> str:
    """A name without number and marks around it."""
    text = text.strip(_MARKS)
    return plain(_LIST_NUMBER.sub("", text, count=1).strip(_MARKS).removesuffix("."))
