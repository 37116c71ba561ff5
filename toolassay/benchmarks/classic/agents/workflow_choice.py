"""The workflow that an agent selected, the protocol `Agent`, and matching of a name to a workflow."""

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
    """The result of a question.

    Args:
        workflow: the id of the selected workflow; None if the agent selected none or its answer is
            unreadable.
        outcome: `answered` without a workflow means that the agent selected none.
        note: what was ignored while parsing the answer; usually empty.
        error: why there is no choice; empty if there is one.
    """

    workflow: str | None
    outcome: Outcome = "answered"
    note: str = ""
    error: str = ""


REFUSED = WorkflowChoice(None, "refused", error="the model declined")


def malformed(error: str) -> WorkflowChoice:
    """The result of an answer that cannot be parsed, or that names a workflow that was not offered."""
    return WorkflowChoice(None, "malformed", error=error)


class Agent(Protocol):
    """Selects a workflow for a question. Given the same answers of the model, it makes the same choice."""

    @property
    def wording(self) -> str:
        """Everything that is the same in all its requests, for a hash in the manifest."""
        ...

    async def choose(self, question: Question, ask: QuestionRequests) -> WorkflowChoice:
        """Select a workflow, sending requests with `ask`.

        Raises:
            ModelError: a request got no answer.
        """
        ...


# The number of a list item: matches "2. ", "(2) " and "#2"; not "2 ", which may start a name.
_LIST_NUMBER = re.compile(r"(?:\(?\d{1,4}[.):]|#\d{1,4}[.):]?)\s*")
_MARKS = "\"'`“”„‘’«»*_ "  # quotation marks and Markdown emphasis


class NameMatch(NamedTuple):
    """Whether a name is one of those offered; a known name without a `workflow` selects none."""

    known: bool
    workflow: Workflow | None = None
    note: str = ""


def word_for_none(candidates: Sequence[Workflow]) -> str:
    """The name that selects no workflow; different from all names of candidates.

    >>> word_for_none([])
    'none'
    """
    names = {normalised_name(workflow.name) for workflow in candidates}
    word = "none"
    while word in names:
        word = f"{word} of these"
    return word


def find_name(text: str, candidates: Sequence[Workflow], nothing: str) -> NameMatch:
    r"""The candidate that a text names.

    Blanks around the name and its case are ignored. Quotation marks, emphasis and a list number are ignored,
    with a note, if exactly one candidate then matches.

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
        (normalised_name, ""),
        (_without_marks, f"read as the name: {text[:100]!r}"),
    ):
        wanted = read(text.strip())
        found = [workflow for name, workflow in choices if read(name) == wanted]
        if len(found) == 1:
            return NameMatch(True, found[0], note)
    return NameMatch(False)


def normalised_name(text: str) -> str:
    """A name in lower case, with single blanks."""
    return " ".join(text.split()).casefold()


def _without_marks(text: str) -> str:
    """A name without list number, quotation marks and emphasis."""
    text = text.strip(_MARKS)
    return normalised_name(_LIST_NUMBER.sub("", text, count=1).strip(_MARKS).removesuffix("."))
