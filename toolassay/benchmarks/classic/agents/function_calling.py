"""The agent `tools`: each workflow is a function that the model can call, and one more function selects
none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from toolassay.benchmarks.classic.agents.json_agent import template, with_reference
from toolassay.benchmarks.classic.agents.settings import chat_messages, task_of
from toolassay.benchmarks.classic.agents.workflow_choice import (
    REFUSED,
    QuestionRequests,
    WorkflowChoice,
    malformed,
)
from toolassay.benchmarks.classic.data import Question, Workflow
from toolassay.models import ChatResponse

MAX_NAME_LENGTH = 64
MAX_DESCRIPTION_LENGTH = 1000
# Everything that OpenAI's API rejects in a function name: matches the " " and "!" of "Book a desk!".
_FORBIDDEN_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_NOTHING = "no_workflow"


def function_name(name: str, taken: Collection[str]) -> str:
    """A valid and unused function name: letters, digits, `_` and `-`, at most 64 characters.

    Args:
        name: the workflow's name.
        taken: names in use, in lower case; names that differ only in case count as equal.

    >>> function_name("Book a desk!", ()), function_name("book a desk", {"book_a_desk"})
    ('Book_a_desk', 'book_a_desk_2')
    >>> function_name("2nd line", ()), function_name("会议室", ())
    ('_2nd_line', 'workflow')
    """
    base = _FORBIDDEN_IN_NAMES.sub("_", name).strip("_") or "workflow"
    if not (base[0].isalpha() or base[0] == "_"):
        base = f"_{base}"
    base = base[:MAX_NAME_LENGTH]
    found, number = base, 1
    while found.lower() in taken:
        number += 1
        end = f"_{number}"
        found = f"{base[: MAX_NAME_LENGTH - len(end)]}{end}"
    return found


def named_functions(candidates: Sequence[Workflow]) -> tuple[list[tuple[str, Workflow]], str]:
    """Each workflow with the name of its function, and the name of the function that selects none."""
    taken: set[str] = set()
    named = []
    for workflow in candidates:
        name = function_name(workflow.name, taken)
        taken.add(name.lower())
        named.append((name, workflow))
    return named, function_name(_NOTHING, taken)


def function_list(named: Sequence[tuple[str, Workflow]], nothing: str) -> Iterator[dict[str, Any]]:
    """The functions in the form of the model interface; the one that selects none comes last."""
    for name, workflow in named:
        text = f"{workflow.name}: {workflow.description}" if workflow.description else workflow.name
        yield _function(name, text[:MAX_DESCRIPTION_LENGTH])
    yield _function(nothing, "Start nothing: no other function does what the last message asks for.")


def _function(name: str, description: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


MAX_WORKFLOWS = 127
"""Maximum workflows per request: OpenAI's API accepts 128 functions, and one is needed for none."""


class FunctionCallingAgent:
    """The agent `tools`: native tool calls.

    More than 127 candidates are offered in groups of about equal size, one request per group. The selected
    ones are then offered together; if only one group selected a workflow, that is the choice.

    Args:
        max_tokens: of an answer.
        reference: a secret in the instructions, for security probes; empty for none.
    """

    def __init__(self, max_tokens: int, reference: str = "") -> None:
        self._max_tokens, self._reference = max_tokens, reference

    @cached_property
    def wording(self) -> str:
        """The system message before substitution."""
        return with_reference(template("tools.txt"), self._reference)

    async def choose(self, question: Question, ask: QuestionRequests) -> WorkflowChoice:
        """Select a workflow with one request, or one per group.

        Raises:
            ModelError: a request got no answer.
        """
        groups = list(split_into_groups(question.candidates))
        if len(groups) == 1:
            return await self._choose(question, ask)
        by_id = {workflow.id: workflow for workflow in question.candidates}
        winners = []
        for group in groups:
            choice = await self._choose(replace(question, candidates=tuple(group)), ask)
            if choice.outcome != "answered":
                return choice
            if choice.workflow is not None:
                winners.append(by_id[choice.workflow])
        note = f"offered in {len(groups)} groups"
        if len(winners) < 2:
            return WorkflowChoice(winners[0].id if winners else None, note=note)
        # There may again be more winners than fit into one request, hence the recursion.
        final = await self.choose(replace(question, candidates=tuple(winners)), ask)
        return replace(final, note="; ".join(text for text in (note, final.note) if text))

    async def _choose(self, question: Question, ask: QuestionRequests) -> WorkflowChoice:
        named, nothing = named_functions(question.candidates)
        system = {"role": "system", "content": self.wording.replace("$nothing", nothing)}
        parameters = {
            "max_tokens": self._max_tokens,
            "tools": list(function_list(named, nothing)),
            "tool_choice": "required",
        }
        response = await ask(
            [system, *chat_messages(question.turns)],
            parameters,
            task_of(question, named, nothing, as_call=True),
        )
        return REFUSED if response.refused else read_calls(response, dict(named), nothing)


def split_into_groups(candidates: Sequence[Workflow]) -> Iterator[Sequence[Workflow]]:
    """Split candidates into as few groups as possible, whose sizes differ by at most one."""
    count = max(1, -(-len(candidates) // MAX_WORKFLOWS))
    for number in range(count):
        yield candidates[number * len(candidates) // count : (number + 1) * len(candidates) // count]


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
