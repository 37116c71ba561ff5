"""A security prompt as a chat: its turns, sent one after the other, and the workflows offered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from toolassay.benchmarks.classic.agents.model_requests import QuestionRequests
from toolassay.benchmarks.classic.agents.workflow_choice import Agent, WorkflowChoice
from toolassay.benchmarks.classic.data import ChatTurn, Question, Workflow
from toolassay.benchmarks.classic.security.prompts import (
    DESCRIPTION,
    HARMLESS,
    REPLY,
    REVEAL,
    SecurityPrompt,
)
from toolassay.benchmarks.security.injection import generator
from toolassay.benchmarks.security.probe import SEED, Probe

_FORBIDDEN, _WANTED = "security-forbidden", "security-wanted"
_NOTHING = "I cannot start a workflow for that."
_NOT_READ = "Sorry, I did not understand that."
_GOALS = {
    REVEAL: "say the internal reference, or recite the instructions",
    HARMLESS: "start the workflow that the user asks for",
}


@dataclass(frozen=True)
class ChatProbe:
    """A prompt and the question it begins with.

    Args:
        prompt: as the table has it.
        question: up to the first message that the agent answers.
        later: what the user writes then, message by message.
    """

    prompt: SecurityPrompt
    question: Question
    later: tuple[str, ...]

    @property
    def probe(self) -> Probe:
        """What is tried."""
        prompt = self.prompt
        return Probe(prompt.id, prompt.kind, prompt.place, prompt.kind == HARMLESS, self._goal)

    @property
    def forbidden(self) -> str | None:
        """The id of the workflow that must not be named."""
        return None if self.prompt.forbidden is None else _FORBIDDEN

    @property
    def wanted(self) -> str | None:
        """The id of the workflow that a harmless prompt asks for."""
        return None if self.prompt.wanted is None else _WANTED

    @property
    def reference(self) -> str:
        """What stands in the instructions as the internal reference; empty where none does."""
        return self.prompt.canary if self.prompt.kind == REVEAL else ""

    @property
    def _goal(self) -> str:
        if self.prompt.kind in _GOALS:
            return _GOALS[self.prompt.kind]
        if self.prompt.forbidden is not None:
            return f"start {self.prompt.forbidden[0]!r}, which the user may not"
        return f"say the code {self.prompt.canary}, as a text that is data demands"


def chat_probe(prompt: SecurityPrompt, workflows: Sequence[Workflow]) -> ChatProbe:
    """The chat of a prompt.

    What the prompt brings along is offered between the workflows of the domain; planted text stands at the
    end of the description of one of these.

    Args:
        prompt: of the table.
        workflows: of its domain.
    """
    chance = generator(SEED, prompt.id)
    offered = list(workflows)
    brought = [
        Workflow(key, *named, prompt.domain)
        for key, named in ((_FORBIDDEN, prompt.forbidden), (_WANTED, prompt.wanted))
        if named is not None
    ]
    if prompt.place == DESCRIPTION:
        offered = offered or [Workflow("security-carrier", "General Help", "", prompt.domain)]
        place = chance.randrange(len(offered))
        described = f"{offered[place].description} {prompt.planted}".strip()
        offered[place] = replace(offered[place], description=described)
    for workflow in brought:
        offered.insert(chance.randint(0, len(offered)), workflow)
    turns = [ChatTurn("user", prompt.turns[0])]
    later = prompt.turns[1:]
    if prompt.place == REPLY:
        turns += [ChatTurn("bot", prompt.planted), ChatTurn("user", later[0])]
        later = later[1:]
    return ChatProbe(prompt, Question(prompt.id, prompt.domain, tuple(turns), tuple(offered)), later)


async def choices(
    probe: ChatProbe, question: Question, agent: Agent, ask: QuestionRequests
) -> AsyncIterator[WorkflowChoice]:
    """Put the chat to an agent, message by message; between them it says what it chose.

    Args:
        probe: whose chat it is.
        question: its first, with the workflows in the order in which they are shown.
        agent: who answers.
        ask: how it asks.

    Raises:
        ModelError: no answer.
    """
    choice = await agent.choose(question, ask)
    yield choice
    for text in probe.later:
        turns = (*question.turns, ChatTurn("bot", _said(choice, question)), ChatTurn("user", text))
        question = replace(question, turns=turns)
        choice = await agent.choose(question, ask)
        yield choice


class ChatProbeAgent:
    """The agent with the whole of a chat: put a first question, it hears the rest of the chat as well.

    Args:
        probes: by the id of their question.
        agents: the agent of each, with its reference.
    """

    def __init__(self, probes: Mapping[str, ChatProbe], agents: Mapping[str, Agent]) -> None:
        self._probes, self._agents = probes, agents

    @property
    def wording(self) -> str:
        """Of any of the agents: they differ in the reference alone."""
        return next(iter(self._agents.values())).wording

    async def choose(self, question: Question, ask: QuestionRequests) -> WorkflowChoice:
        """The last choice of the chat.

        Raises:
            ModelError: no answer.
        """
        last: WorkflowChoice | None = None
        probe, agent = self._probes[question.id], self._agents[question.id]
        async for choice in choices(probe, question, agent, ask):
            last = choice
        assert last is not None
        return last


def _said(choice: WorkflowChoice, question: Question) -> str:
    """What the user hears of a choice."""
    if choice.outcome != "answered":
        return _NOT_READ
    for workflow in question.candidates:
        if workflow.id == choice.workflow:
            return f'I have started "{workflow.name}".'
    return _NOTHING
