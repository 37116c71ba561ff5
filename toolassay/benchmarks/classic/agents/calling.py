"""The agent that calls functions: one a workflow, and one for none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from toolassay.benchmarks.classic.agents.asking import Asking
from toolassay.benchmarks.classic.agents.chat import chat_messages, task_of
from toolassay.benchmarks.classic.agents.choice import REFUSED, Choice, malformed
from toolassay.benchmarks.classic.agents.functions import function_list, named_functions
from toolassay.benchmarks.classic.agents.written import template, with_reference
from toolassay.benchmarks.classic.data import Question, Workflow
from toolassay.models import ChatResponse

MOST = 127
"""Workflows of one request: interfaces take 128 functions, and one is for none."""


class Calling:
    """Native tool calls.

    More than 127 candidates are offered in groups as equal as can be, one request after the other; those
    that were chosen are then offered together. Where only one group named a workflow, it is the choice.

    Args:
        max_tokens: of an answer.
        reference: a text in the instructions that is not to be repeated; empty for none.
    """

    def __init__(self, max_tokens: int, reference: str = "") -> None:
        self._max_tokens, self._reference = max_tokens, reference

    @cached_property
    def wording(self) -> str:
        """The first message without what is filled in."""
        return with_reference(template("tools.txt"), self._reference)

    async def choose(self, question: Question, ask: Asking) -> Choice:
        """Ask once, or group by group.

        Raises:
            ModelError: no answer.
        """
        groups = list(grouped(question.candidates))
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
            return Choice(winners[0].id if winners else None, note=note)
        final = await self.choose(replace(question, candidates=tuple(winners)), ask)
        return replace(final, note="; ".join(text for text in (note, final.note) if text))

    async def _choose(self, question: Question, ask: Asking) -> Choice:
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


def grouped(candidates: Sequence[Workflow]) -> Iterator[Sequence[Workflow]]:
    """Candidates in as few groups as will do, their sizes at most one apart; one group of none or few."""
    count = max(1, -(-len(candidates) // MOST))
    for number in range(count):
        yield candidates[number * len(candidates) // count : (number + 1) * len(candidates) // count]


def read_calls(response: ChatResponse, functions: dict[str, Workflow], nothing: str) -> Choice:
    """The choice in the calls of an answer: the first of a function that was offered.

    Args:
        response: the answer.
        functions: the workflows by the names of their functions.
        nothing: the function for none.
    """
    calls = response.tool_calls
    if not calls:
        return malformed("the answer is cut off" if response.is_cut_off else "words instead of a call")
    note = f"the first of {len(calls)} calls that is of a known function" if len(calls) > 1 else ""
    for call in calls:
        name = call.name.strip()
        if name in functions:
            return Choice(functions[name].id, note=note)
        if name == nothing:
            return Choice(None, note=note)
    return malformed(f"calls what was not offered: {calls[0].name[:100]!r}")
