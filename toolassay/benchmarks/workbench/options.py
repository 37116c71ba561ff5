"""The options of `infer` and `evaluate` in a folder of WorkBench."""

from __future__ import annotations

from dataclasses import dataclass

MAX_STEPS = 20
MAX_SECONDS = 120.0


@dataclass(frozen=True)
class WorkplaceOptions:
    """The options of `infer` in a folder of WorkBench.

    Attributes:
        agent: "native" (tool calls; None), "react" (actions in text) or "react_published" (the same, read as
            the published agent reads them).
        toolkit: "all" tools (None), or those of a task's "domains".
        resample: how often a run that called nothing is tried again.
        resample_temperature: of such a new try.
        max_steps: maximum answers a task.
        max_seconds: maximum seconds of a task's answers together; see `WorkbenchAgentSettings`.
        allow_tools: run the tools that the folder brings, which are a program.
    """

    agent: str | None = None
    toolkit: str | None = None
    resample: int = 0
    resample_temperature: float = 0.5
    max_steps: int = MAX_STEPS
    max_seconds: float = MAX_SECONDS
    allow_tools: bool = False


@dataclass(frozen=True)
class WorkplaceScoring:
    """The options of `evaluate` and `verify` in a folder of WorkBench.

    Attributes:
        allow_tools: run the tools that the folder brings, which are a program.
    """

    allow_tools: bool = False
