"""WorkBench (Styles et al., 2024): agents act on a workplace and are judged by the state they leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from toolassay.benchmarks.benchmark import (
    AGENT_COMMAND,
    AGENT_VERSION,
    Benchmark,
    BenchmarkOptions,
    Entries,
    Entry,
    late,
)
from toolassay.declarations import Option
from toolassay.evaluation.item_detail import About

if TYPE_CHECKING:
    from toolassay.episodes.own_agent import AgentFunction

# Answers of a task, beyond which it ends as stopped. The longest bundled task needs 11 calls.
MAX_STEPS = 20
# Seconds of the answers of a task, beyond which it ends as stopped: a slow model must not hold up a run.
MAX_SECONDS = 120.0


_AllowTools = Annotated[bool, Option("Run the tools.py of the data folder, which is Python code.")]


@dataclass(frozen=True)
class WorkplaceOptions:
    """Options of `infer` for WorkBench folders."""

    agent: Annotated[
        str | None,
        Option(
            "Built-in agent: native (tool calls; default), react (actions in text), react_published (actions "
            "parsed as in the published agent).",
            common=True,
        ),
    ] = None
    toolkit: Annotated[
        str | None,
        Option(
            "Tools offered to the agent: all, or only those of the task's domains.",
            choices=("all", "domains"),
        ),
    ] = None
    resample: Annotated[
        int, Option("Maximum retries of a task in which the agent called no tool.", minimum=0)
    ] = 0
    resample_temperature: Annotated[float, Option("Sampling temperature of these retries.", minimum=0)] = 0.5
    max_steps: Annotated[int, Option("Maximum model answers per task.", minimum=1)] = MAX_STEPS
    max_seconds: Annotated[
        float,
        Option(
            "Maximum seconds of the model answers of one task, without queueing in this client.",
            minimum=0,
            above=True,
        ),
    ] = MAX_SECONDS
    act_without_confirmation: Annotated[
        bool, Option("Say in the prompt to act at once, without asking for confirmation.")
    ] = False
    allow_tools: _AllowTools = False
    agent_command: Annotated[str | AgentFunction | None, AGENT_COMMAND] = None
    agent_version: Annotated[str | None, AGENT_VERSION] = None


@dataclass(frozen=True)
class WorkplaceScoring:
    """Options of `evaluate` and `verify` for WorkBench folders."""

    allow_tools: _AllowTools = False


_HERE = "toolassay.benchmarks.workbench"


class WorkBench(Benchmark):
    """Folders with a sandbox of databases and tasks; also a team's own workplaces."""

    about = About(
        "workbench",
        "WorkBench",
        "task",
        "exactly the wanted changes were made",
        "data_workbench",
        "the tasks of one template",
        order=1,
    )
    options = BenchmarkOptions(
        run=WorkplaceOptions,
        scoring=WorkplaceScoring,
        verify=WorkplaceScoring,
        help_notes={"structured": "only with --agent react"},
        scores_on_engine=True,
    )
    entries = Entries(
        commands={
            "workbench": Entry(
                "Create a workplace for agents, score their results, replay calls.",
                f"{_HERE}.commands:group",
            )
        },
        executors={"workbench": f"{_HERE}.executor:EXECUTOR"},
        prompt_reader=f"{_HERE}.agents.prompt:prompted_agent_task",
    )
    data = late("workplace:FACTS")
    items = late("item_details:ITEMS")
    scores = late("agents.leaderboard:SCORES")
    work = late("work:workplace_work")
    prober = late("security:workplace_prober")
    evaluate = late("evaluation:evaluate_agents")
    verify = late("work:rerun_lines")


BENCHMARK = WorkBench()
