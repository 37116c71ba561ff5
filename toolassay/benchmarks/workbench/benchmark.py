"""WorkBench (Styles et al., 2024): agents act on a workplace and are judged by the state they leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolassay.benchmarks.benchmark import Benchmark, BenchmarkOptions, Entries, Entry, late
from toolassay.evaluation.item_detail import About
from toolassay.extras import Option

if TYPE_CHECKING:
    from toolassay.episodes.own_agent import AgentFunction

MAX_STEPS = 20
MAX_SECONDS = 120.0


@dataclass(frozen=True)
class WorkplaceOptions:
    """Options of `infer` for WorkBench folders.

    Attributes:
        agent: "native" (tool calls), "react" (actions in text) or "react_published" (actions parsed as in the
            published agent); None for "native".
        toolkit: Tools offered to the agent: "all", or those of the task's "domains"; None for "all".
        resample: Maximum retries of a task in which the agent called no tool.
        resample_temperature: Sampling temperature of these retries.
        max_steps: Maximum model answers per task.
        max_seconds: Maximum seconds of all answers of a task; see `WorkbenchAgentSettings`.
        act_without_confirmation: Say in the prompt not to ask for confirmation.
        allow_tools: Run the `tools.py` of the data folder, which is Python code.
        agent_command: Command line of an agent to run instead of a model, or an `AgentFunction`.
        agent_version: Name of the state of the agent, which stands for the content of its files; None for
            that.
    """

    agent: str | None = None
    toolkit: str | None = None
    resample: int = 0
    resample_temperature: float = 0.5
    max_steps: int = MAX_STEPS
    max_seconds: float = MAX_SECONDS
    act_without_confirmation: bool = False
    allow_tools: bool = False
    agent_command: str | AgentFunction | None = None
    agent_version: str | None = None


@dataclass(frozen=True)
class WorkplaceScoring:
    """Options of `evaluate` and `verify` for WorkBench folders.

    Attributes:
        allow_tools: Run the `tools.py` of the data folder, which is Python code.
    """

    allow_tools: bool = False


_HERE = "toolassay.benchmarks.workbench"
_ALLOW_TOOLS = Option("allow_tools", "Run the tools.py of the data folder, which is Python code.", bool)


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
        infer=(
            Option(
                "agent",
                "native (tool calls; default), react (actions in text), react_published (actions parsed as "
                "in the published agent).",
            ),
            Option(
                "toolkit",
                "Tools offered to the agent: all, or only those of the task's domains.",
                choices=("all", "domains"),
            ),
            Option(
                "resample", "Maximum retries of a task in which the agent called no tool.", int, minimum=0
            ),
            Option("resample_temperature", "Sampling temperature of these retries.", float),
            Option("max_steps", "Maximum model answers per task.", int, minimum=1),
            Option(
                "max_seconds",
                "Maximum seconds of the model answers of one task, without queueing in this client.",
                float,
                minimum=0,
                above=True,
            ),
            Option(
                "act_without_confirmation",
                "Say in the prompt to act at once, without asking for confirmation.",
                bool,
            ),
            _ALLOW_TOOLS,
        ),
        evaluate=(_ALLOW_TOOLS,),
        verify=(_ALLOW_TOOLS,),
        help_notes={"structured": "only with --agent react"},
        scores_on_engine=True,
    )
    entries = Entries(
        commands={
            "workbench": Entry(
                "Create a workplace for agents, score their results, replay calls.",
                f"{_HERE}.commands:command",
            )
        },
        executors={"workbench": f"{_HERE}.workplace_environment:EXECUTOR"},
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
