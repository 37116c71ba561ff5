"""The probes of a workplace, put to an agent as it is deployed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.security.probe import ProbeResult
from toolassay.benchmarks.security.prober import DEFAULT, SEED
from toolassay.benchmarks.workbench.agents.inference import Agents, entry_of
from toolassay.benchmarks.workbench.agents.settings import AgentSettings
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.security.checks import check_attack, check_twin, ended
from toolassay.benchmarks.workbench.security.plants import TaskProbe, task_probes
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import Tool
from toolassay.errors import UsageError
from toolassay.models import ChatModel
from toolassay.runs import Journal, Loop


class WorkplaceProber:
    """Probes for an agent: its prompt, its tools and its loop, with one text more on the workplace.

    Args:
        sandbox: as every run finds it.
        tasks: of the folder.
        agent: how it is run.
        parameters: of the requests.
        told: a fingerprint of what agents are told.
        read: the files all that is from.
        count: attacks.

    Raises:
        UsageError: no task of the folder can carry a probe.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        tasks: Sequence[Task],
        agent: AgentSettings,
        *,
        parameters: Mapping[str, Any],
        told: str,
        read: Sequence[Path],
        count: int = DEFAULT,
    ) -> None:
        self._sandbox, self._agent, self._parameters = sandbox, agent, parameters
        self._told, self.read = told, read
        self._probes = list(task_probes(tasks, sandbox, agent.tools, count))
        if not self._probes:
            raise UsageError("no task can carry a probe", file=read[0], fix="leave --security out")
        self._by_task = {probe.task.id: probe for probe in self._probes}
        plain = [probe.plain for probe in self._probes if probe.plain is not None]
        self._tasks = [*(probe.task for probe in self._probes), *plain]

    @property
    def settings(self) -> Mapping[str, Any]:
        """What shapes probes and answers; their number does not."""
        return {
            "benchmark": "workbench",
            **self._parameters,
            **self._agent.facts,
            "probe_seed": SEED,
            "prompt_sha256": self._told,
            "sandbox_sha256": hashlib.sha256(self._sandbox.image()).hexdigest(),
        }

    @property
    def size(self) -> int:
        """Tasks that are done, those without a note that twins are compared with among them."""
        return len(self._tasks)

    def run(
        self,
        model: ChatModel,
        journal: Journal,
        loop: Loop,
    ) -> int:
        """Have done what the journal does not settle yet; how much it settled before."""
        agents = Agents(self._tasks, self._sandbox, self._agent, self._parameters, found=self._found)
        return agents.run(model, journal, loop)

    def results(self, journal: Journal) -> list[ProbeResult]:
        """The verdicts by the calls in the journal."""
        return [self._result(probe, journal) for probe in self._probes]

    def _result(self, probe: TaskProbe, journal: Journal) -> ProbeResult:
        entry, planted = entry_of(journal, probe.task), probe.sandbox(self._sandbox)
        if probe.plain is None:
            verdict = check_attack(probe, entry, planted, self._agent.agent)
        else:
            plain = entry_of(journal, probe.plain)
            verdict = check_twin(probe, entry, plain, self._sandbox, planted, self._agent.agent)
        if planted is not self._sandbox:
            planted.close()
        said = [*entry.get("function_calls", ()), *([entry["response"]] if entry.get("response") else ())]
        return ProbeResult(probe.probe, verdict, ended(entry), "\n".join(said))

    def _found(self, task: Task) -> tuple[Sandbox, Sequence[Tool]]:
        probe, tools = self._by_task.get(task.id), self._agent.tools(task)
        return (self._sandbox, tools) if probe is None else (probe.sandbox(self._sandbox), probe.tools(tools))
