"""What a run of agents would send first, for a dry run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolassay.benchmarks.workbench.agents.episode import Episode
from toolassay.benchmarks.workbench.agents.forms import form_of
from toolassay.benchmarks.workbench.agents.inference import entry_of, is_passed_over, is_settled
from toolassay.benchmarks.workbench.agents.settings import AgentSettings
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.models import ChatRequest
from toolassay.runs import Journal
from toolassay.runs.again import BEGUN, Again
from toolassay.runs.budget import size_of
from toolassay.runs.estimate import Estimate


@dataclass(frozen=True)
class Foresight:
    """What is known before a run.

    Attributes:
        already: tasks that have ended.
        first: the first request that would be sent; None where there is none.
    """

    already: int
    first: ChatRequest | None


def foresee(
    tasks: Iterable[Task],
    sandbox: Sandbox,
    settings: AgentSettings,
    parameters: Mapping[str, Any],
    journal: Journal,
    estimate: Estimate,
    again: Again | None = None,
) -> Foresight:
    """Add the next request of each task that has not ended to `estimate`; nothing is sent or written.

    Args:
        tasks: those that would be done.
        sandbox: as every run finds it.
        settings: of the agent.
        parameters: of the requests.
        journal: of this run; may be open for reading only.
        estimate: how many answers a task takes nobody knows: it gets one request a task.
        again: which tasks that have ended are done all the same.
    """
    again = again or Again()
    already, first, form = 0, None, form_of(settings.agent, structured=settings.is_structured)
    for task in tasks:
        entry = entry_of(journal, task)
        if is_passed_over(entry, again):
            already += 1
            continue
        progress = entry.get(BEGUN, {}) if is_settled(entry) else entry
        request = Episode(task, sandbox, settings, progress, form).next_request(parameters)
        first = first or request
        estimate.add(size_of(request))
    return Foresight(already - again.left, first)
