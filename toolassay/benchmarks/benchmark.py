"""The interface of a benchmark: one folder with one entry, an instance of `Benchmark`.

Code outside `benchmarks/` uses only this interface and names no benchmark. A built-in benchmark is a folder
beside this file with a `benchmark.py` that defines `BENCHMARK`; an installed package registers its own under
the entry-point group `toolassay.benchmarks` (docs/benchmarks.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from toolassay.data_folder import DataFolder, Say
from toolassay.errors import UsageError
from toolassay.evaluation.axis import About, Axis
from toolassay.extras import NoOptions, Option
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
    from toolassay.runs.work import Inference, Work

Numbers = Mapping[str, Any]


class Entry(NamedTuple):
    """A command or an importer of a benchmark, imported on first use.

    Attributes:
        help: One line.
        target: "module:attribute" of a click command.
        continued: Its command lines that continue an interrupted run, e.g. "classic run".
    """

    help: str
    target: str
    continued: tuple[str, ...] = ()

    def load(self) -> Any:
        """Import the command."""
        return load(self.target)


class Columns(NamedTuple):
    """The score columns of a leaderboard.

    Attributes:
        headings: Column headings.
        sort_by: Heading of the main score, by which rows are sorted by default.
        caption: Explanation of the columns.
    """

    headings: Sequence[str]
    sort_by: str
    caption: str


class Benchmark(ABC):
    """A benchmark: its data folders, how models run on them, and how predictions are scored.

    Attributes:
        name: Name in `benchmark.json`.
        title: Name in messages and reports.
        noun: Singular noun of an item: "request", "task", "message".
        right: Condition for a correct item, completing "an item is right if ...".
        default_folder: Default data folder of its commands.
        order: Rank among the built-in benchmarks in lists and help.
        options: Dataclass of its `infer` options; every field has a default.
        scoring: Dataclass of its `evaluate` and `verify` options; every field has a default.
        infer_options: Fields of `options` that are command-line options.
        evaluate_options: Fields of `scoring` that are options of `evaluate`.
        verify_options: Fields of `scoring` that are options of `verify`.
        scores_on_engine: Whether `evaluate` uses `ScoringSettings.engine`; if not, `--engine` is refused.
        show_options: Options of `evaluate` for its tables, passed to `show_scores` as keywords.
        help_notes: Additions to the help of common options, by the option's name.
        security_modes: Further values of `--security`, each with its description.
        commands: Further commands of `toolassay`, by name.
        importers: Commands of `toolassay import`, by name.
        executors: Executors of `toolassay execute`, by name, as "module:attribute".
        gold_advice: How to check its gold, for the error of `toolassay check`; "{}" is the folder.
        item_scores: Scores in the file of items by which a report ranks models: the first one that is not
            0 for all of them. The very first one says whether an item is right.
        harm_score: Score in the file of items that is 0 for an item with unwanted changes; empty if
            nothing is carried out.
        cluster: Description of a cluster of dependent items, e.g. "the tasks of one template"; empty for the
            items of one sampled subgraph.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    noun: ClassVar[str]
    right: ClassVar[str]
    default_folder: ClassVar[str]
    order: ClassVar[int] = 100
    options: ClassVar[type[Any]] = NoOptions
    scoring: ClassVar[type[Any]] = NoOptions
    infer_options: ClassVar[Sequence[Option]] = ()
    evaluate_options: ClassVar[Sequence[Option]] = ()
    verify_options: ClassVar[Sequence[Option]] = ()
    scores_on_engine: ClassVar[bool] = False
    show_options: ClassVar[Sequence[Option]] = ()
    help_notes: ClassVar[Mapping[str, str]] = {}
    security_modes: ClassVar[Mapping[str, str]] = {}
    commands: ClassVar[Mapping[str, Entry]] = {}
    importers: ClassVar[Mapping[str, Entry]] = {}
    executors: ClassVar[Mapping[str, str]] = {}
    gold_advice: ClassVar[str] = ""
    item_scores: ClassVar[Sequence[str]] = ("correct",)
    harm_score: ClassVar[str] = ""
    cluster: ClassVar[str] = ""

    @property
    def about(self) -> About:
        """Names and the definition of a correct item, for reports."""
        return About(self.name, self.title, self.noun, self.right)

    # Data

    def recognises(self, folder: DataFolder) -> bool:
        """Whether the files of a folder without `benchmark.json` are those of this benchmark."""
        return False

    def near_miss(self, folder: DataFolder) -> UsageError | None:
        """The error for a folder that could be converted to a data folder; None for any other folder."""
        return None

    def library_of(self, folder: DataFolder) -> tuple[str, str] | None:
        """Title and domain of the published or bundled library in a folder; None for a team's own.

        >>> ("TaskBench", "multimedia")
        ('TaskBench', 'multimedia')
        """
        return None

    def prompted_task(self, body: Mapping[str, Any], shown: ShownGraphs) -> Any:
        """Parse a request with a built-in prompt into a task for an offline model; None for another prompt.

        Args:
            body: Body of a chat-completions request with at least one message.
            shown: Graphs of the tools that prompts may show.
        """
        return None

    # Runs

    def place(self, run: RunSettings, own: Any) -> str:
        """Path of the prediction folder, relative to the data folder."""
        return run.choices.prediction_dir or "predictions"

    @abstractmethod
    def work(self, folder: DataFolder, run: RunSettings, own: Any, trial: int) -> Work:
        """The items of one trial and how to run them.

        Args:
            folder: Data folder.
            run: Settings that all benchmarks share.
            own: Instance of `options`.
            trial: Number of the trial, from 0.

        Raises:
            UsageError: A file is missing or malformed, or the settings are not valid for this benchmark.
        """

    def prober(self, folder: DataFolder, run: RunSettings, own: Any, count: int | None) -> Prober:
        """The security probes of a folder.

        Args:
            folder: Data folder.
            run: Settings that all benchmarks share.
            own: Instance of `options`.
            count: Number of attacks; None for the default number.

        Raises:
            UsageError: The folder has no security probes.
        """
        raise UsageError(f"{self.title} has no security probes", file=folder.path, fix="omit --security")

    def probe_in_mode(
        self, mode: str, folder: DataFolder, run: RunSettings, own: Any, judge: str | None
    ) -> Inference:
        """Run one of `security_modes`.

        Raises:
            UsageError: An option does not apply to the mode, or a file is missing or malformed.
        """
        raise NotImplementedError(mode)

    # Scores

    @abstractmethod
    def evaluate(self, folder: DataFolder, scoring: ScoringSettings, own: Any) -> Sequence[FolderEvaluation]:
        """Score predictions and write metrics and items of each model.

        Args:
            folder: Data folder.
            scoring: Models, items and output folder.
            own: Instance of this class's `scoring`.

        Raises:
            UsageError: A file is missing or malformed.
            IncompleteEvaluation: Some of several models cannot be scored.
        """

    @abstractmethod
    def show_scores(self, evaluations: Sequence[Any], **options: Any) -> None:
        """Print the scores as tables; `options` are the values of `show_options`."""

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """The score columns of the leaderboard."""

    @abstractmethod
    def read_standing(self, path: Path, group: str) -> Standing:
        """The scores of a group in a metrics file, for the leaderboard.

        Raises:
            UsageError: The file is malformed or lacks the group.
        """

    def made_from(self, folder: DataFolder) -> Mapping[str, tuple[str, str]]:
        """Signature parts of the current data, each as (name for messages, hash), to detect outdated scores.

        Raises:
            UsageError: The data cannot be read.
        """
        return {}

    def fingerprint(self, predictions: Path) -> str:
        """SHA-256 of a prediction file, as in signatures."""
        return sha256_of(predictions)

    def published_rows(self, folder: DataFolder, domain: str | None) -> list[LeaderboardRow]:
        """Published rows for the leaderboard of a folder.

        Args:
            folder: Data folder.
            domain: Domain of the published data; None for that of the folder.

        Raises:
            UsageError: There are none for this folder.
        """
        raise UsageError(f"{self.title} has no published rows", fix="omit --with_published")

    @abstractmethod
    def axis(self, numbers: Numbers) -> Axis:
        """Accuracy and stability in the overall group of a metrics file.

        Raises:
            KeyError, TypeError: The metrics are of another benchmark.
        """

    def gold_plans(
        self, folder: DataFolder, *, allow_tools: bool = False, say: Say = lambda _: None
    ) -> PlanSet:
        """The gold plans of a folder, to be executed.

        Args:
            folder: Data folder.
            allow_tools: Whether code of the folder may run, where the tools are such code.
            say: Receives messages.

        Raises:
            UsageError: The folder has no plans to execute, or a file is malformed.
        """
        raise UsageError(f"{self.title} has no plans to execute", file=folder.path, fix="use another folder")

    def predicted_plans(self, folder: DataFolder, predictions: Path, *, say: Say = lambda _: None) -> PlanSet:
        """The plans in a prediction file, to be executed and judged by their outcome.

        Raises:
            UsageError: Predictions have no plans to execute, or a file is malformed.
        """
        raise UsageError(
            f"{self.title} judges predictions without this command",
            file=predictions,
            fix="use toolassay evaluate",
        )

    def item_golds(self, folder: DataFolder) -> Iterator[ItemGold]:
        """The items of a folder with their gold, for reports.

        Args:
            folder: Data folder.

        Raises:
            UsageError: A file is missing or malformed.
        """
        return iter(())

    def item_answers(
        self, folder: DataFolder, predictions: Path, llm: str, *, only: Collection[str] | None = None
    ) -> Iterator[tuple[str, ItemAnswer]]:
        """The id and the details of each predicted item of a model, for reports.

        Args:
            folder: Data folder.
            predictions: Prediction folder.
            llm: Name of the model.
            only: The ids that the report shows; None for all. Answers to others are ignored.

        Raises:
            UsageError: A file is missing or malformed.
        """
        return iter(())

    # Verification

    @abstractmethod
    def remade_lines(
        self, recorded: RecordedRun, own: Any, comparison: LineComparison
    ) -> Iterator[dict[str, Any]]:
        """The lines of the prediction file, re-parsed from the raw answers.

        Args:
            recorded: The run, its journal and a temporary folder.
            own: Instance of `scoring`.
            comparison: Counts lines that were adopted without a raw answer.

        Raises:
            UsageError: A journal entry cannot be read.
        """

    def recorded_scoring(self, groups: Mapping[str, Numbers], metrics: Path, own: Any) -> Any:
        """The `scoring` options that reproduce the scores of a metrics file.

        Raises:
            UsageError: The file does not record its options.
        """
        return own

    def beside(self, predictions: Path, llm: str) -> Sequence[Path]:
        """Further files in the prediction folder that the scores of a model depend on."""
        return ()

    def flag_of(self, field_name: str) -> str:
        """The command-line flag of an options field.

        >>> class Mine(Benchmark):
        ...     evaluate_options = (Option("metrics", "Which scores.", flag="metric"),)
        >>> Mine.flag_of(Mine, "metrics"), Mine.flag_of(Mine, "limit")
        ('metric', 'limit')
        """
        every = (*self.infer_options, *self.evaluate_options, *self.show_options)
        return next((one.flag for one in every if one.name == field_name and one.flag), field_name)


def load(target: str) -> Any:
    """Import the object that "module:attribute" names."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
