"""The choice in an answer: a JSON object with the name of a workflow, or a call of its function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Literal, NamedTuple

from toolassay.benchmarks.classic.agents.prompt import template
from toolassay.benchmarks.classic.data import Workflow
from toolassay.models import ChatResponse
from toolassay.models.json_answers import read_answer

KEY = "workflow"
"""The key of the name in a JSON object."""
Outcome = Literal["answered", "malformed", "refused", "not run"]


@dataclass(frozen=True)
class WorkflowChoice:
    """The result of a question.

    Attributes:
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
        workflows = [workflow for name, workflow in choices if read(name) == wanted]
        if len(workflows) == 1:
            return NameMatch(True, workflows[0], note)
    return NameMatch(False)


def normalised_name(text: str) -> str:
    """A name in lower case, with single blanks."""
    return " ".join(text.split()).casefold()


def _without_marks(text: str) -> str:
    """A name without list number, quotation marks and emphasis."""
    text = text.strip(_MARKS)
    return normalised_name(_LIST_NUMBER.sub("", text, count=1).strip(_MARKS).removesuffix("."))


def read_choice(response: ChatResponse, candidates: tuple[Workflow, ...], nothing: str) -> WorkflowChoice:
    """The choice in the last complete object of an answer. An object that repeats the prompt's form is no
    choice.

    >>> late = Workflow("w1", "Late Order", "", "shop")
    >>> read_choice(ChatResponse('{"workflow": "late order"}'), (late,), "none")
    WorkflowChoice(workflow='w1', outcome='answered', note='', error='')
    >>> read_choice(ChatResponse('{"workflow": "Lost Order"}'), (late,), "none").error
    "names what was not offered: 'Lost Order'"
    """
    form = {KEY: Template(_placeholder(template("reasoning"))).substitute(nothing=nothing)}
    answer = read_answer(response.text, keys={KEY}, forms=(form,), finish_reason=response.finish_reason)
    if answer.value is None or answer.problem is not None:
        return malformed(answer.problem or "no answer can be read")
    name = answer.value.get(KEY)
    if not isinstance(name, str) or not name.strip():
        return malformed(f"names no workflow, nor {nothing!r}")
    match = find_name(name, candidates, nothing)
    if not match.known:
        return malformed(f"names what was not offered: {name[:100]!r}")
    notes = [
        *(["its JSON had to be repaired"] if answer.repaired else []),
        *([match.note] if match.note else []),
    ]
    return WorkflowChoice(match.workflow.id if match.workflow else None, note="; ".join(notes))


@cache
def _placeholder(prompt: str) -> str:
    """The placeholder for the name in a prompt."""
    shown = read_answer(prompt, keys={KEY}).value
    assert shown is not None
    return str(shown[KEY])


def read_calls(response: ChatResponse, functions: dict[str, Workflow], nothing: str) -> WorkflowChoice:
    """The choice in an answer: the first call of an offered function.

    Args:
        response: the answer.
        functions: the workflows by function name.
        nothing: the function that selects none.
    """
    calls = response.tool_calls
    if not calls:
        return malformed("the answer is cut off" if response.is_cut_off else "words instead of a call")
    note = f"the first of {len(calls)} calls that is of a known function" if len(calls) > 1 else ""
    for call in calls:
        name = call.name.strip()
        if name in functions:
            return WorkflowChoice(functions[name].id, note=note)
        if name == nothing:
            return WorkflowChoice(None, note=note)
    return malformed(f"calls what was not offered: {calls[0].name[:100]!r}")
