"""One question to an agent: the model requests, the chosen workflow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, Protocol

from toolassay.benchmarks.classic.data import Question, Workflow
from toolassay.models import ChatRequest, ChatResponse
from toolassay.models.protocol import Message
from toolassay.offline.model_tasks import ChoiceTask
from toolassay.runs.items import Ask

CostOf = Callable[[int | None, int | None, int | None], float | None]
"""The cost of an answer in US dollars, from its prompt, completion and cached tokens; None if unknown."""


def unknown_cost(
    prompt_tokens: int | None, completion_tokens: int | None, cached_tokens: int | None
) -> float | None:
    """The cost if no price is known: None."""
    return None


class QuestionRequests:
    """Sends the requests of one question and keeps each answer as JSON for the entry of the question.

    Args:
        ask: gives the answers.
        parameters: of each request (temperature, top_p, …), besides those of the agent.
        cost_of: computes the cost of an answer.
    """

    def __init__(self, ask: Ask, parameters: Mapping[str, Any], cost_of: CostOf = unknown_cost) -> None:
        self._ask, self._parameters, self._cost_of = ask, parameters, cost_of
        self.answers: list[Mapping[str, Any]] = []

    async def __call__(
        self, messages: Sequence[Message], parameters: Mapping[str, Any], task: ChoiceTask
    ) -> ChatResponse:
        """Send one request.

        Args:
            messages: of the request.
            parameters: of this request; those of the run take precedence.
            task: the same work in structured form, for built-in models.

        Raises:
            ModelError: the request got no answer.
        """
        request = ChatRequest(messages, {**parameters, **self._parameters}, None, task, role="agent")
        response = await self._ask(request)
        tokens = response.prompt_tokens, response.completion_tokens, response.cached_tokens
        self.keep(response, self._cost_of(*tokens))
        return response

    def keep(self, response: ChatResponse, cost: float | None) -> None:
        """Record an answer. Some fields are recorded only if there is something in them.

        No answer is sent back to the model, so what the server requires then is not recorded.
        """
        answer = {**asdict(response), "cost": cost}
        for part in (answer, *answer["tool_calls"]):
            del part["extra"]
        for name in ("reasoning", "reasoning_tokens", "leaked"):
            if not answer[name]:
                del answer[name]
        self.answers.append(answer)


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
