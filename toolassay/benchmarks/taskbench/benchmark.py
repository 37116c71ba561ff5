"""TaskBench (Shen et al., 2024): a request and a tool graph -> a plan, compared with the gold plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from toolassay.benchmarks.benchmark import Benchmark, Columns, Entry, Numbers
from toolassay.benchmarks.taskbench.options import ROUGE_BACKENDS, PlanOptions, PlanScoring
from toolassay.data_folder import DataFolder, Say
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

_DEPENDENCY_TYPE = Option(
    "dependency_type",
    "Type of the links between tools [default: the one in benchmark.json, else resource].",
    metavar="resource|temporal|schema",
)


class TaskBench(Benchmark):
    """Folders with tools, a graph, and requests with gold plans."""

    name = "taskbench"
    title = "TaskBench"
    noun = "request"
    right = "the whole plan is that of the gold: tools, links, arguments"
    default_folder = "data_huggingface"
    item_scores = ("exact_match", "node_f1")
    order = 0
    options = PlanOptions
    scoring = PlanScoring
    infer_options: ClassVar[Sequence[Option]] = (
        _DEPENDENCY_TYPE,
        Option("use_demos", "Number of demonstrations in the prompt.", int, minimum=0),
        Option("demo_ids", "Ids of the labels to show as demonstrations, separated by commas.", listed=True),
        Option("reformat", "Let a model rewrite answers that cannot be parsed as strict JSON.", bool),
        Option("reformat_by", "Model for --reformat; self is the model under test."),
        Option("tag", "Add demonstrations and reformatting to the name of the prediction folder.", bool),
        Option("log_first_detail", "Print the first prompt and its answer.", bool),
        Option(
            "prompt",
            "Built-in prompt. 'example' shows a short worked example instead of placeholders, "
            "for small models.",
            choices=("default", "example", "published"),
            metavar="default|example",
        ),
        Option("prompt_template", "File with your own prompt template.", Path),
    )
    evaluate_options: ClassVar[Sequence[Option]] = (
        Option(
            "alignment",
            "Score only the items that these critics accept (alignment_ids.json), or one split: "
            "train, dev, test.",
        ),
        Option("splits", "Shapes to report: overall, single, chain, dag, all.", multiple=True, short="s"),
        Option("n_tools", "Numbers of tools to report: overall, 1 to 10, all.", multiple=True, short="n"),
        Option(
            "mode", "Groups to report. add: each split, then each number of tools; mul: every combination."
        ),
        Option(
            "metrics",
            "Metrics: f1, ed, link, argument, rouge, bertscore, all.",
            multiple=True,
            short="m",
            flag="metric",
        ),
        _DEPENDENCY_TYPE,
        Option(
            "prompting", "Prompting method of the predictions; any other than cot skips the metrics of steps."
        ),
        Option(
            "keep",
            "Line to score if an id has several; error: stop.",
            choices=("first", "last", "error"),
        ),
        Option(
            "rouge_backend",
            "Implementation of ROUGE: built in, or the package rouge-score.",
            choices=ROUGE_BACKENDS,
        ),
        Option("rouge_median", "Add ROUGE as published: the median of bootstrapped means.", bool),
        Option(
            "compat",
            "Compute published numbers also where they are not meaningful: "
            "resource tools with '_' in a name.",
            choices=("published",),
        ),
        Option(
            "bertscore_model",
            "Model of BERTScore: a folder, or a name on the Hugging Face hub, which may be downloaded "
            "[default: roberta-large if on this disk].",
        ),
        Option(
            "bertscore_layers",
            "Layers of the model to run [default: the known best number, or all].",
            int,
            minimum=1,
        ),
        Option(
            "bertscore_device",
            "Device for BERTScore [default: cuda if available, else cpu].",
            choices=("cpu", "cuda", "mps"),
        ),
        Option("bertscore_cache", "Cache BERTScores on disk.", bool),
    )
    scores_on_engine = True
    help_notes: ClassVar[Mapping[str, str]] = {
        "max_tokens": "2000",
        "structured": "false, to be comparable with published figures",
    }
    importers: ClassVar[Mapping[str, Entry]] = {
        "taskbench": Entry(
            "TaskBench, from its repository or the Hugging Face hub.",
            "toolassay.benchmarks.taskbench.commands:import_command",
        )
    }

    def library_of(self, folder: DataFolder) -> tuple[str, str] | None:
        """A published domain, as the import recorded it or as the tools are."""
        from toolassay.benchmarks.taskbench.published import DOMAINS, domain_of_tools
        from toolassay.tools import ToolLibrary

        domain = folder.benchmark.get("domain")
        if domain not in DOMAINS:
            domain = domain_of_tools(ToolLibrary.load(folder.tool_desc).ids)
        return None if domain is None else (self.title, str(domain))

    def prompted_task(self, body: Mapping[str, Any], shown: ShownGraphs) -> Any:
        """The plan that a prompt asks for, or the rewriting of an answer."""
        from toolassay.benchmarks.taskbench.prompt_reader import prompted_plan

        return prompted_plan(body, shown)

    def place(self, run: RunSettings, own: PlanOptions) -> str:
        """The published name of the folder where --tag is given."""
        from toolassay.benchmarks.taskbench.work import tagged

        return run.choices.prediction_dir or tagged(own.demo_count, own.rewriter, tag=own.tag)

    def work(self, folder: DataFolder, run: RunSettings, own: PlanOptions, trial: int) -> Work:
        """A plan for each request."""
        from toolassay.benchmarks.taskbench.work import PlanWork

        return PlanWork(folder, run, own, trial)

    def prober(self, folder: DataFolder, run: RunSettings, own: PlanOptions, count: int | None) -> Prober:
        """Requests and tool descriptions with a planted text."""
        from toolassay.benchmarks.security.probe import DEFAULT_ATTACKS, refuse_beside_security
        from toolassay.benchmarks.taskbench.inference import PARAMETERS
        from toolassay.benchmarks.taskbench.security import PlanProber
        from toolassay.benchmarks.taskbench.work import PlanSource
        from toolassay.models.refused_parameters import without_default

        refuse_beside_security(
            reformat=own.reformat,
            log_first_detail=own.log_first_detail,
            structured=run.model.structured,
        )
        source, limit = PlanSource(folder, own, run.screen), run.model.max_tokens
        limited = {} if limit is None else without_default({"max_tokens": limit}, PARAMETERS)
        return PlanProber(
            folder.user_requests,
            source.requests,
            source.graph,
            demos=source.demos,
            wording=source.wording,
            template=own.prompt_template,
            parameters={**run.model.parameters, **limited},
            count=count or DEFAULT_ATTACKS,
        )

    def evaluate(
        self, folder: DataFolder, scoring: ScoringSettings, own: PlanScoring
    ) -> Sequence[FolderEvaluation]:
        """Published and strict scores of plans."""
        from toolassay.benchmarks.taskbench.evaluation import evaluate_plans

        return evaluate_plans(folder, scoring, own)

    def show_scores(self, evaluations: Sequence[FolderEvaluation], **options: Any) -> None:
        """The models side by side, or each with its groups."""
        from toolassay.benchmarks.taskbench.commands import print_scores, print_stability

        print_scores(evaluations)
        print_stability(evaluations)

    @property
    def columns(self) -> Columns:
        """The published columns."""
        from toolassay.report.leaderboard.ranking import CAPTION, HEADINGS

        return Columns(HEADINGS, "n-F1", CAPTION)

    def read_standing(self, path: Path, group: str) -> Standing:
        """Published files, which have no strict scores, are read too."""
        from toolassay.benchmarks.taskbench.scoring.leaderboard import read_plan_standing

        return read_plan_standing(path, group)

    def made_from(self, folder: DataFolder) -> Mapping[str, tuple[str, str]]:
        """The labels."""
        return {"data": (folder.data.name, sha256_of(folder.data))} if folder.data.is_file() else {}

    def published_rows(self, folder: DataFolder, domain: str | None) -> list[LeaderboardRow]:
        """Those of the folder's domain."""
        from toolassay.benchmarks.taskbench.published import domain_of, published_rows

        return published_rows(domain_of(folder, domain))

    def axis(self, numbers: Numbers) -> Axis:
        """Exact matches, and repeats of them."""
        strict = numbers["strict"]
        items = strict.get("n_labels", strict["n_expected"])
        return Axis(items, strict["exact_match"], numbers.get("stability"))

    def gold_plans(
        self, folder: DataFolder, *, allow_tools: bool = False, say: Say = lambda _: None
    ) -> PlanSet:
        """The labels of `data.json`."""
        from toolassay.benchmarks.taskbench.executable_plans import labelled_plans

        return labelled_plans(folder, say)

    def predicted_plans(self, folder: DataFolder, predictions: Path, *, say: Say = lambda _: None) -> PlanSet:
        """The plans of a prediction file, with the requests of the labels."""
        from toolassay.benchmarks.taskbench.executable_plans import predicted_plans

        return predicted_plans(folder, predictions, say)

    def item_golds(self, folder: DataFolder) -> Iterator[ItemGold]:
        """As `plan_golds`."""
        from toolassay.benchmarks.taskbench.item_details import plan_golds

        return plan_golds(folder)

    def item_answers(
        self, folder: DataFolder, predictions: Path, llm: str, *, only: Collection[str] | None = None
    ) -> Iterator[tuple[str, ItemAnswer]]:
        """As `plan_answers`."""
        from toolassay.benchmarks.taskbench.item_details import plan_answers

        return plan_answers(folder, predictions, llm, only)

    def remade_lines(
        self, recorded: RecordedRun, own: PlanScoring, comparison: LineComparison
    ) -> Iterator[dict[str, Any]]:
        """The plans in the raw answers."""
        from toolassay.benchmarks.taskbench.work import remade_plans

        return remade_plans(recorded, comparison)

    def recorded_scoring(self, groups: Mapping[str, Numbers], metrics: Path, own: PlanScoring) -> PlanScoring:
        """The choices in the signature; BERTScore is not computed again."""
        from toolassay.benchmarks.taskbench.evaluation import recorded_plan_scoring

        return recorded_plan_scoring(groups, metrics)


BENCHMARK = TaskBench()
