"""WorkBench (Styles et al., 2024): agents act on a workplace and are judged by the state they leave."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from toolassay.benchmarks.benchmark import Benchmark, Columns, Entry, Numbers
from toolassay.benchmarks.workbench.options import WorkplaceOptions, WorkplaceScoring
from toolassay.data_folder import DataFolder, Say
from toolassay.errors import UsageError
from toolassay.evaluation.axis import Axis
from toolassay.extras import Option
from toolassay.files import sha256_of

if TYPE_CHECKING:
    from toolassay.benchmarks.security import Prober
    from toolassay.evaluation.evaluation import FolderEvaluation, ScoringSettings
    from toolassay.evaluation.item_detail import ItemAnswer, ItemGold
    from toolassay.evaluation.metrics_file import Standing
    from toolassay.evaluation.verification import LineComparison, RecordedRun
    from toolassay.executors.plan_run import PlanSet
    from toolassay.offline.shown_graphs import ShownGraphs
    from toolassay.report.leaderboard import LeaderboardRow
    from toolassay.runs.settings import RunSettings
    from toolassay.runs.work import Work

_ALLOW_TOOLS = Option("allow_tools", "Run the tools.py of the data folder, which is Python code.", bool)
_DATABASES = (".sqlite", ".sqlite3", ".db")


class WorkBench(Benchmark):
    """Folders with a sandbox of databases and tasks; also a team's own workplaces."""

    name = "workbench"
    title = "WorkBench"
    noun = "task"
    right = "exactly the wanted changes were made"
    default_folder = "data_workbench"
    order = 1
    options = WorkplaceOptions
    scoring = WorkplaceScoring
    infer_options: ClassVar[Sequence[Option]] = (
        Option(
            "agent",
            "native (tool calls; default), react (actions in text), react_published (actions parsed as in "
            "the published agent).",
        ),
        Option(
            "toolkit",
            "Tools offered to the agent: all, or only those of the task's domains.",
            choices=("all", "domains"),
        ),
        Option("resample", "Maximum retries of a task in which the agent called no tool.", int, minimum=0),
        Option("resample_temperature", "Sampling temperature of these retries.", float),
        Option("max_steps", "Maximum model answers per task.", int, minimum=1),
        Option(
            "max_seconds",
            "Maximum seconds of the model answers of one task, without queueing in this client.",
            float,
            minimum=0,
            above=True,
        ),
        _ALLOW_TOOLS,
    )
    evaluate_options: ClassVar[Sequence[Option]] = (_ALLOW_TOOLS,)
    scores_on_engine = True
    verify_options: ClassVar[Sequence[Option]] = (_ALLOW_TOOLS,)
    help_notes: ClassVar[Mapping[str, str]] = {"structured": "only with --agent react"}
    commands: ClassVar[Mapping[str, Entry]] = {
        "workbench": Entry(
            "Create a workplace for agents, score their results, replay calls.",
            "toolassay.benchmarks.workbench.commands:command",
        )
    }
    executors: ClassVar[Mapping[str, str]] = {"workbench": "toolassay.benchmarks.workbench.executor:EXECUTOR"}
    harm_score = "no_side_effects"
    cluster = "the tasks of one template"
    gold_advice = "its gold is checked by `toolassay workbench check {}`"

    def recognises(self, folder: DataFolder) -> bool:
        """A folder with tasks to act on."""
        from toolassay.benchmarks.workbench.tasks import holds_tasks

        return holds_tasks(folder.path)

    def near_miss(self, folder: DataFolder) -> UsageError | None:
        """A database could become a workplace."""
        databases = sorted(path for path in folder.path.glob("*") if path.suffix in _DATABASES)
        if not databases:
            return None
        return UsageError(
            f"holds no benchmark, but {databases[0].name}",
            file=folder.path,
            fix=f"make one of it with `toolassay workbench new NAME --sandbox {databases[0]}`",
        )

    def library_of(self, folder: DataFolder) -> tuple[str, str] | None:
        """The published workplace, unless the folder brings tools of its own."""
        from toolassay.benchmarks.workbench.workplace import own_tools_file

        return (self.title, "") if own_tools_file(folder.path) is None else None

    def prompted_task(self, body: Mapping[str, Any], shown: ShownGraphs) -> Any:
        """The task of an agent, with what its calls returned."""
        from toolassay.benchmarks.workbench.agents.prompt_reader import prompted_agent_task

        return prompted_agent_task(body)

    def work(self, folder: DataFolder, run: RunSettings, own: WorkplaceOptions, trial: int) -> Work:
        """An agent on each task."""
        from toolassay.benchmarks.workbench.work import WorkplaceWork

        return WorkplaceWork(folder, run, own, trial)

    def prober(
        self, folder: DataFolder, run: RunSettings, own: WorkplaceOptions, count: int | None
    ) -> Prober:
        """Tasks with a planted text in what tools return."""
        from toolassay.benchmarks.security import FOLDER
        from toolassay.benchmarks.security.probe import DEFAULT_ATTACKS
        from toolassay.benchmarks.workbench.work import workplace_prober
        from toolassay.runs.trials import Trial

        place = Trial(folder.path / self.place(run, own) / FOLDER, run.model.llm).run_folder
        return workplace_prober(folder, run, own, place, count or DEFAULT_ATTACKS)

    def evaluate(
        self, folder: DataFolder, scoring: ScoringSettings, own: WorkplaceScoring
    ) -> Sequence[FolderEvaluation]:
        """The verdicts on the states that agents left."""
        from toolassay.benchmarks.workbench.evaluation import evaluate_agents

        return evaluate_agents(folder, scoring, own)

    def show_scores(self, evaluations: Sequence[Any], **options: Any) -> None:
        """Both verdicts by group."""
        from toolassay.benchmarks.workbench.commands import print_agent_scores

        print_agent_scores(evaluations)

    @property
    def columns(self) -> Columns:
        """Accuracy, side effects, exact match, and changes."""
        from toolassay.benchmarks.workbench.agents.leaderboard import CAPTION, HEADINGS

        return Columns(HEADINGS, HEADINGS[0], CAPTION)

    def read_standing(self, path: Path, group: str) -> Standing:
        """Accuracy, side effects and exact match."""
        from toolassay.benchmarks.workbench.agents.leaderboard import read_agent_standing

        return read_agent_standing(path, group)

    def published_rows(self, folder: DataFolder, domain: str | None) -> list[LeaderboardRow]:
        """The agents of an edition."""
        from toolassay.benchmarks.workbench.agents.leaderboard import published_agent_rows

        return published_agent_rows(domain or "2024")

    def made_from(self, folder: DataFolder) -> Mapping[str, tuple[str, str]]:
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

    def axis(self, numbers: Numbers) -> Axis:
        """Strict verdicts, and repeats of them."""
        intervals = numbers["strict"]["intervals"]
        return Axis(
            numbers["n"], intervals["accuracy"], numbers.get("stability"), harm=intervals.get("side_effects")
        )

    def gold_plans(
        self, folder: DataFolder, *, allow_tools: bool = False, say: Say = lambda _: None
    ) -> PlanSet:
        """The ground-truth calls of the tasks."""
        from toolassay.benchmarks.workbench.workplace_environment import task_plans

        return task_plans(folder, allow_tools=allow_tools)

    def item_golds(self, folder: DataFolder) -> Iterator[ItemGold]:
        """As `task_golds`."""
        from toolassay.benchmarks.workbench.item_details import task_golds

        return task_golds(folder)

    def item_answers(
        self, folder: DataFolder, predictions: Path, llm: str, *, only: Collection[str] | None = None
    ) -> Iterator[tuple[str, ItemAnswer]]:
        """As `task_answers`."""
        from toolassay.benchmarks.workbench.item_details import task_answers

        return task_answers(folder, predictions, llm)

    def remade_lines(
        self, recorded: RecordedRun, own: WorkplaceScoring, comparison: LineComparison
    ) -> Iterator[dict[str, Any]]:
        """The recorded conversations gone through again, their calls carried out."""
        from toolassay.benchmarks.workbench.work import rerun_lines

        return rerun_lines(recorded, allow_tools=own.allow_tools)


BENCHMARK = WorkBench()
