"""How an agent is run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import PUBLISHED, Tool, Toolset
from toolassay.errors import UsageError
from toolassay.models.parameters import check_temperature
from toolassay.models.structured import Structured

FORMS = ("native", "react", "react_published")
TOOLKIT_CHOICES = ("all", "domains")
MAX_STEPS = 20
MAX_SECONDS = 120.0


@dataclass(frozen=True)
class AgentSettings:
    """How an agent is run; all of it shapes answers.

    Args:
        agent: `native` (tool calls of the interface), `react` (actions in text), or `react_published` (the
            same, with actions read as the published agent reads them).
        toolkit: `all` tools for every task, or those of its `domains`.
        resample: how often a run that called nothing is tried again.
        max_steps: answers of the model at most.
        max_seconds: seconds that these may take together. The time of each answer counts, from sending the
            request to the last byte, and so does a queue inside the server, which cannot be seen from here.
            The wait for a place among this client's requests, attempts that failed and tools do not count.
        resample_temperature: of the requests of such a new try: the same request would get the same answer.
        structured: whether requests of `react` carry a schema of the action: "auto" as long as the server
            takes one, True or the run ends.

    Raises:
        UsageError: an unknown choice.
    """

    agent: str = "native"
    toolkit: str = "all"
    resample: int = 0
    max_steps: int = MAX_STEPS
    max_seconds: float = MAX_SECONDS
    resample_temperature: float = 0.5
    structured: Structured = False

    def __post_init__(self) -> None:
        for flag, value, choices in (
            ("agent", self.agent, FORMS),
            ("toolkit", self.toolkit, TOOLKIT_CHOICES),
        ):
            if value not in choices:
                raise UsageError(
                    f"unknown --{flag} {value!r}", fix=f"for WorkBench choose from {', '.join(choices)}"
                )
        if self.structured and self.agent != "react":
            raise UsageError(
                f"--structured {str(self.structured).lower()}: the agent {self.agent} sends no schema",
                fix="leave it out, or choose --agent react",
            )
        if self.resample < 0 or self.max_steps < 1:
            raise UsageError("no run is that short", fix="give --max_steps 1 or more, --resample 0 or more")
        if not 0 < self.max_seconds < float("inf"):
            raise UsageError(f"--max_seconds {self.max_seconds:g} is no time", fix="give a number above 0")
        check_temperature(self.resample_temperature, flag="--resample_temperature")

    @property
    def facts(self) -> dict[str, Any]:
        """All that shapes answers, for the manifest."""
        left_out = {
            *(() if self.resample else ("resample_temperature",)),
            *(() if self.structured else ("structured",)),
        }
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    @property
    def is_structured(self) -> bool:
        """Whether requests carry a schema."""
        return bool(self.structured)

    def tools(self, task: Task, toolset: Toolset = PUBLISHED) -> list[Tool]:
        """The tools of a workplace that an agent gets for a task."""
        return toolset.of_domains(None if self.toolkit == "all" else task.domains)
