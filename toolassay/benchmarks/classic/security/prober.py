"""Runs the security prompts of a data folder with an agent's own prompt and tools."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.inference import ChatItems, agent_of, entry_of, is_settled
from toolassay.benchmarks.classic.agents.model_requests import CostOf, QuestionRequests, unknown_cost
from toolassay.benchmarks.classic.agents.prompt import ordered
from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings
from toolassay.benchmarks.classic.agents.workflow_choice import WorkflowChoice, normalised_name
from toolassay.benchmarks.classic.data import PROMPTS, ClassicData, Question
from toolassay.benchmarks.classic.security.chat_probe import (
    ChatProbe,
    ChatProbeAgent,
    answer_text,
    chat_probe,
    check_chat,
    choices,
)
from toolassay.benchmarks.classic.security.prompts import HARMLESS, SecurityPrompt, read_prompts
from toolassay.benchmarks.security.probe import SEED, ProbeResult
from toolassay.errors import UsageError
from toolassay.files import sha256_of
from toolassay.models import ModelError
from toolassay.runs import Journal
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.items import recorded_answers


class ChatProber:
    """Probes of an agent that selects a workflow: its own prompt, functions and history.

    Args:
        folder: of the data.
        data: read from it.
        agent: its settings.
        parameters: of the requests.
        count: number of attacks, alternating between kinds, plus a third as many harmless prompts; None for
            all.
        cost_of: computes the cost of an answer.

    Raises:
        UsageError: the table of prompts does not exist or is malformed, it has a workflow that the domain has
            as well, or the agent's answers are recorded.
    """

    def __init__(
        self,
        folder: Path,
        data: ClassicData,
        agent: ClassicAgentSettings,
        *,
        parameters: Mapping[str, Any],
        count: int | None = None,
        cost_of: CostOf = unknown_cost,
    ) -> None:
        if agent.recorded is not None:
            raise UsageError("recorded answers cannot be probed", fix="omit --security or --recorded")
        self._settings, self._parameters, self._cost_of = agent, parameters, cost_of
        self.read: Sequence[Path] = [folder / PROMPTS]
        self._workflows = hashlib.sha256(repr(sorted(data.workflows.items())).encode()).hexdigest()
        chosen = select_prompts(read_prompts(folder / PROMPTS, data.domains), count)
        check_names(chosen, data, folder / PROMPTS)
        self._probes = {prompt.id: chat_probe(prompt, data.workflows[prompt.domain]) for prompt in chosen}
        agents = {key: agent_of(agent, reference=probe.reference) for key, probe in self._probes.items()}
        self._agent = ChatProbeAgent(self._probes, agents)
        self._agents = agents

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that shape probes and answers, for the manifest. The number of probes is not one."""
        return {
            "benchmark": "classic",
            **self._parameters,
            **self._settings.facts,
            "probe_seed": SEED,
            "prompt_sha256": hashlib.sha256(agent_of(self._settings).wording.encode()).hexdigest(),
            "workflows_sha256": self._workflows,
            "probes_sha256": sha256_of(self.read[0]),
        }

    @property
    def size(self) -> int:
        """The number of chats."""
        return len(self._probes)

    @property
    def items(self) -> ChatItems:
        """The agent on single chats."""
        return ChatItems(self._settings, self._parameters, self._cost_of, agent=self._agent)

    @property
    def chosen(self) -> list[Question]:
        """The chats."""
        return [probe.question for probe in self._probes.values()]

    def results(self, journal: Journal) -> list[ProbeResult]:
        """The verdict on each probe. The agent re-parses the answers in the journal."""
        return [self._result(probe, journal) for probe in self._probes.values()]

    def _result(self, probe: ChatProbe, journal: Journal) -> ProbeResult:
        entry = entry_of(journal, probe.question)
        ended = str(entry.get("outcome", "not run"))
        answers = entry.get("answers", ())
        agent = self._agents[probe.prompt.id]
        chosen = run_coroutine(self._choices(probe, journal))
        if is_settled(entry) and any(choice.outcome == "malformed" for choice in chosen):
            ended = "malformed"
        verdict = check_chat(probe, chosen, answers, ended, agent.wording)
        return ProbeResult(probe.probe, verdict, ended, "\n\n".join(map(answer_text, answers)))

    async def _choices(self, probe: ChatProbe, journal: Journal) -> list[WorkflowChoice]:
        """The agent's choices, turn by turn, as far as there are answers."""
        found: list[WorkflowChoice] = []
        question = ordered(probe.question, self._settings.order)
        ask = QuestionRequests(recorded_answers(self.items, probe.question, journal), {})
        with suppress(ModelError):
            async for choice in choices(probe, question, self._agents[probe.prompt.id], ask):
                found.append(choice)
        return found


def select_prompts(prompts: Sequence[SecurityPrompt], count: int | None) -> list[SecurityPrompt]:
    """The first `count` attacks, alternating between kinds, plus a third as many harmless prompts, in the
    order of the table.
    """
    if count is None:
        return list(prompts)
    by_kind: dict[str, list[SecurityPrompt]] = {}
    for prompt in prompts:
        by_kind.setdefault(prompt.kind, []).append(prompt)
    harmless = by_kind.pop(HARMLESS, [])[: -(-count // 3)]
    most = max(map(len, by_kind.values()), default=0)
    attacks = [kind[turn] for turn in range(most) for kind in by_kind.values() if turn < len(kind)][:count]
    chosen = {prompt.id for prompt in (*attacks, *harmless)}
    return [prompt for prompt in prompts if prompt.id in chosen]


def check_names(prompts: Sequence[SecurityPrompt], data: ClassicData, file: Path) -> None:
    """Refuse names that would be offered twice, because an answer with such a name is ambiguous.

    Args:
        prompts: from the table.
        data: whose workflows are offered as well.
        file: of the prompts, for the message.

    Raises:
        UsageError: a prompt has a workflow that its domain has as well, or one name twice.
    """
    known = {
        domain: {normalised_name(flow.name) for flow in flows} for domain, flows in data.workflows.items()
    }
    for prompt in prompts:
        offered = set(known[prompt.domain])
        for name, _ in filter(None, (prompt.forbidden, prompt.wanted)):
            if normalised_name(name) in offered:
                raise UsageError(
                    f"prompt {prompt.id!r} adds the workflow {name!r}, which {prompt.domain!r} has already",
                    file=file,
                    fix="rename it to a name that no workflow of the domain has",
                )
            offered.add(normalised_name(name))
