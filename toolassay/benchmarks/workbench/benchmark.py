"""WorkBench (Styles et al., 2024): agents act on a workplace and are judged by the state they leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from toolassay.benchmarks.benchmark import Benchmark, BenchmarkOptions, Entries, Entry, FolderFacts, late
from toolassay.benchmarks.workbench.options import WorkplaceOptions, WorkplaceScoring
from toolassay.data_folder import DataFolder
from toolassay.evaluation.item_detail import About
from toolassay.extras import Option
from toolassay.files import sha256_of

if TYPE_CHECKING:
    from toolassay.benchmarks.security.probe import Prober
    from toolassay.evaluation.verification import LineComparison, RecordedRun
    from toolassay.runs.settings import RunSettings


_HERE = "toolassay.benchmarks.workbench"
_ALLOW_TOOLS = Option("allow_tools", "Run the tools.py of the data folder, which is Python code.", bool)


def _holds_tasks(folder: DataFolder) -> bool:
    from toolassay.benchmarks.workbench.tasks import holds_tasks

    return holds_tasks(folder.path)


def _domain(folder: DataFolder) -> str | None:
    """The published workplace, unless the folder brings tools of its own."""
    from toolassay.benchmarks.workbench.workplace import own_tools_file

    return "" if own_tools_file(folder.path) is None else None


def _made_from(folder: DataFolder) -> Mapping[str, tuple[str, str]]:
    """The tasks, and the tables or the tools of the folder."""
    import hashlib

    from toolassay.benchmarks.workbench.sandbox import Sandbox
    from toolassay.benchmarks.workbench.tasks import fingerprint, read_tasks
    from toolassay.benchmarks.workbench.workplace import own_tools_file

    name, tools = folder.path.resolve().name, own_tools_file(folder.path)
    made_from = {"tasks": (name, fingerprint(read_tasks(folder.path)))}
    if tools is None:
        made_from["sandbox"] = name, hashlib.sha256(Sandbox.load(folder.path).image()).hexdigest()
    else:  # the workplace itself is not opened: that would run its tools
        made_from["tools"] = tools.name, sha256_of(tools)
    return made_from


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
    data = FolderFacts(
        _holds_tasks, _domain, _made_from, "its gold is checked by `toolassay workbench check {}`"
    )
    items = late("item_details:ITEMS")
    scores = late("agents.leaderboard:SCORES")
    work = late("work:workplace_work")
    evaluate = late("evaluation:evaluate_agents")

    def prober(
        self, folder: DataFolder, run: RunSettings, own: WorkplaceOptions, count: int | None
    ) -> Prober:
        """Tasks with a planted text in what tools return."""
        from toolassay.benchmarks.security.probe import DEFAULT_ATTACKS, FOLDER
        from toolassay.benchmarks.workbench.security import workplace_prober
        from toolassay.runs.trials import Trial

        place = Trial(folder.path / self.place(run, own) / FOLDER, run.model.llm).run_folder
        return workplace_prober(folder, run, own, place, count or DEFAULT_ATTACKS)

    def verify(
        self, recorded: RecordedRun, own: WorkplaceScoring, comparison: LineComparison
    ) -> Iterator[object]:
        """The recorded conversations gone through again, their calls carried out."""
        from toolassay.benchmarks.workbench.work import rerun_lines

        return rerun_lines(recorded, allow_tools=own.allow_tools)


BENCHMARK = WorkBench()
