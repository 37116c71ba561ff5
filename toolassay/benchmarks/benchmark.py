"""The interface of a benchmark: one folder with one entry, an instance of `Benchmark`.

Code outside `benchmarks/` uses only this interface and names no benchmark. A built-in benchmark is a folder
beside this file with a `benchmark.py` that defines `BENCHMARK`; an installed package registers its own under
the entry-point group `toolassay.benchmarks` (docs/benchmarks.md).

Six members are records: names, options, entries, and functions on a data folder, its items and its scores.
Six are methods: defaults by folder, where a run writes, what it asks, security probes, scoring, and
re-parsing of raw answers.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import msgspec

from toolassay.declarations import NoOptions, Option
from toolassay.errors import UsageError
from toolassay.evaluation.item_detail import About, Axis
from toolassay.files.data_files import sha256_of
from toolassay.records.data_folder import DataFolder

if TYPE_CHECKING:
    from toolassay.benchmarks.security.probe import Prober
    from toolassay.evaluation.evaluation import FolderEvaluation, ScoringSettings
    from toolassay.evaluation.item_detail import ItemAnswer, ItemGold, RecordedTrajectory
    from toolassay.evaluation.metrics_file import MetricsGroup, Standing
    from toolassay.evaluation.verification import LineComparison, RecordedRun
    from toolassay.executors.plan_run import PlanSet
    from toolassay.runs.settings import RunSettings
    from toolassay.runs.work import Work

Numbers = Mapping[str, Any]

AGENT_COMMAND = Option(
    "Run your own agent instead of a model, e.g. 'python my_agent.py'. --llm names its predictions, in "
    "predictions_agents.",
    metavar="COMMAND",
    common=True,
)
AGENT_VERSION = Option(
    "Your name for the state of the agent, e.g. a commit, instead of the content of its files. A run goes on "
    "with the same agent only.",
    metavar="TEXT",
)


class Entry(NamedTuple):
    """A command, an importer or a mode of a benchmark, imported on first use.

    Attributes:
        help: One line.
        target: "module:attribute" of a click command, or of the function of a security mode.
        continued: Its command lines that continue an interrupted run, e.g. "classic run".
    """

    help: str
    target: str
    continued: tuple[str, ...] = ()

    def load(self) -> Any:
        """Import the command."""
        return load(self.target)


class BenchmarkOptions(msgspec.Struct, frozen=True):
    """The options of a benchmark, declared as in `toolassay.declarations`.

    Attributes:
        run: Dataclass of its `infer` options; every field has a default.
        scoring: Dataclass of its `evaluate` options; every field has a default.
        verify: Dataclass of its `verify` options: that of `scoring`, or none.
        show: Dataclass of the options of `evaluate` for its tables, passed to `Scores.show` as keywords.
        help_notes: Its defaults of common options, by the option's name, for the help.
        security_modes: Further values of `--security`; the target is called with folder, run, options and
            judge.
        scores_on_engine: Whether `evaluate` uses `ScoringSettings.engine`; if not, `--engine` is refused.
    """

    run: type[Any] = NoOptions
    scoring: type[Any] = NoOptions
    verify: type[Any] = NoOptions
    show: type[Any] = NoOptions
    help_notes: Mapping[str, str] = {}
    security_modes: Mapping[str, Entry] = {}
    scores_on_engine: bool = False


class Entries(msgspec.Struct, frozen=True):
    """What other parts of Toolassay load by name.

    Attributes:
        commands: Further commands of `toolassay`, by name.
        importers: Commands of `toolassay import`, by name.
        executors: Executors of `toolassay execute`, by name, as "module:attribute".
        prompt_reader: "module:attribute" of a function that parses a chat-completions request with a built-in
            prompt (its body, and the graphs of the tools that prompts may show) into a task for an offline
            model; None for another prompt. Empty without one.
    """

    commands: Mapping[str, Entry] = {}
    importers: Mapping[str, Entry] = {}
    executors: Mapping[str, str] = {}
    prompt_reader: str = ""


class FolderFacts(msgspec.Struct, frozen=True):
    """Facts of a data folder.

    Attributes:
        recognises: Whether the files of a folder without `benchmark.json` are those of this benchmark.
        domain: Domain of the published or bundled library in a folder, "" if there is only one; None for a
            team's own. Raises UsageError if the data are elsewhere.
        made_from: Signature parts of the current data, each as (name for messages, hash), to detect outdated
            scores. Raises UsageError if the data cannot be read.
        gold_advice: How to check its gold, for the error of `toolassay check`; "{}" is the folder.
    """

    recognises: Callable[[DataFolder], bool] = lambda folder: False
    domain: Callable[[DataFolder], str | None] = lambda folder: None
    made_from: Callable[[DataFolder], Mapping[str, tuple[str, str]]] = lambda folder: {}
    gold_advice: str = ""


class AnswerReader(Protocol):
    """Reads the id and the details of each predicted item of a model; `only` has the ids to read, or None."""

    def __call__(
        self, folder: DataFolder, predictions: Path, llm: str, only: Collection[str] | None, /
    ) -> Iterator[tuple[str, ItemAnswer]]: ...


class GoldPlanReader(Protocol):
    """Reads the gold plans of a folder; runs Python code of it only with `allow_tools`."""

    def __call__(self, folder: DataFolder, allow_tools: bool, say: Callable[[str], None], /) -> PlanSet: ...


class PredictedPlanReader(Protocol):
    """Reads the plans in a prediction file."""

    def __call__(self, folder: DataFolder, file: Path, say: Callable[[str], None], /) -> PlanSet: ...


class TrajectoryReader(Protocol):
    """Reads the conversations of an agent in the prediction folder of a trial."""

    def __call__(
        self, folder: DataFolder, predictions: Path, llm: str, /
    ) -> Iterator[RecordedTrajectory]: ...


class Items(msgspec.Struct, frozen=True):
    """The items of a data folder. All raise UsageError if a file is missing or malformed.

    Attributes:
        golds: The items with their gold, for reports.
        answers: The answers of a model, for reports.
        gold_plans: The gold plans, to be executed; None without plans.
        predicted_plans: Predicted plans, to be executed and judged by their outcome; None if predictions are
            judged otherwise.
        trajectories: The conversations of an agent, for training; None without agents.
    """

    golds: Callable[[DataFolder], Iterator[ItemGold]] = lambda folder: iter(())
    answers: AnswerReader = lambda folder, predictions, llm, only: iter(())
    gold_plans: GoldPlanReader | None = None
    predicted_plans: PredictedPlanReader | None = None
    trajectories: TrajectoryReader | None = None


def published_rows(name: str) -> list[dict[str, str]]:
    """The rows of the published scores of a built-in benchmark."""
    path = files("toolassay.benchmarks").joinpath(name, "published.csv")
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


class Scores(msgspec.Struct, frozen=True):
    """How scores are read from metrics, ranked and shown.

    Attributes:
        headings: Columns of the leaderboard.
        sort_by: Heading of the main score.
        caption: Explanation of the columns.
        standing: The columns in a group of a metrics file, as shares. `axis` and it may raise KeyError or
            TypeError for metrics of another benchmark.
        axis: Accuracy and stability in the overall group of a metrics file.
        show: "module:attribute" of the function that prints evaluations; its keywords are
            `BenchmarkOptions.show`.
        ranked_by: Scores in the file of items by which models are ranked: the first one that is not 0 for all
            of them. The very first one says whether an item is right.
        harm: Score in the file of items that is 0 for an item with unwanted changes; empty if nothing is
            executed.
        published: Published scores in percent by model and heading, for the leaderboard of a folder; the
            domain is None for that of the folder. Raises UsageError if there are none for it.
        recorded: The `scoring` options that reproduce the scores of a metrics file, by its groups and its
            path; None for those given to `verify`.
        fingerprint: SHA-256 of a prediction file, as in signatures.
    """

    headings: Sequence[str]
    sort_by: str
    caption: str
    standing: Callable[[Numbers], Standing]
    axis: Callable[[Numbers], Axis]
    show: str
    ranked_by: Sequence[str] = ("correct",)
    harm: str = ""
    published: Callable[[DataFolder, str | None], Mapping[str, Mapping[str, float]]] | None = None
    recorded: Callable[[Mapping[str, MetricsGroup], Path], Any] | None = None
    fingerprint: Callable[[Path], str] = sha256_of


class Benchmark(ABC):
    """A benchmark: its data folders, how models run on them, and how predictions are scored."""

    about: ClassVar[About]
    options: ClassVar[BenchmarkOptions] = BenchmarkOptions()
    entries: ClassVar[Entries] = Entries()

    @property
    def name(self) -> str:
        """Name in `benchmark.json`."""
        return self.about.name

    @property
    def data(self) -> FolderFacts:
        """Facts of a data folder."""
        return FolderFacts()

    @property
    def items(self) -> Items:
        """The items of a data folder."""
        return Items()

    @property
    @abstractmethod
    def scores(self) -> Scores:
        """How scores are read, ranked and shown."""

    def settled(self, folder: DataFolder, run: RunSettings, own: Any) -> Any:
        """Fill in the defaults of `infer` options that depend on the folder or the model; show notices."""
        return own

    def place(self, run: RunSettings, own: Any) -> str:
        """Path of the prediction folder, relative to the data folder. A user's agent has its own."""
        default = "predictions_agents" if getattr(own, "agent_command", None) else "predictions"
        return run.choices.prediction_dir or default

    @abstractmethod
    def work(self, folder: DataFolder, run: RunSettings, own: Any, trial: int) -> Work:
        """The items of one trial and how to run them.

        Args:
            folder: Data folder.
            run: Settings that all benchmarks share.
            own: Instance of `options.run`.
            trial: Number of the trial, from 0.

        Raises:
            UsageError: A file is missing or malformed, or the settings are not valid for this benchmark.
        """

    def prober(self, folder: DataFolder, run: RunSettings, own: Any, count: int | None) -> Prober:
        """The security probes of a folder; `count` is the number of attacks, None for the default.

        Raises:
            UsageError: The folder has no security probes.
        """
        raise UsageError(
            f"{self.about.title} has no security probes", file=folder.path, fix="omit --security"
        )

    @abstractmethod
    def evaluate(self, folder: DataFolder, scoring: ScoringSettings, own: Any) -> Sequence[FolderEvaluation]:
        """Score predictions and write metrics and items of each model.

        Args:
            folder: Data folder.
            scoring: Models, items and output folder.
            own: Instance of `options.scoring`.

        Raises:
            UsageError: A file is missing or malformed.
            IncompleteEvaluation: Some of several models cannot be scored.
        """

    @abstractmethod
    def verify(self, recorded: RecordedRun, own: Any, comparison: LineComparison) -> Iterator[object]:
        """The lines of the prediction file, as records or JSON, re-parsed from the raw answers.

        Args:
            recorded: The run, its journal and a temporary folder.
            own: Instance of `options.scoring`.
            comparison: Counts lines that were adopted without a raw answer.

        Raises:
            UsageError: A journal entry cannot be read.
        """


def load(target: str) -> Any:
    """Import the object that "module:attribute" names."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def late(target: str) -> Any:
    """A member of a benchmark that is imported on first use, so that commands start fast.

    Args:
        target: "module:attribute" of a function, a class or a record; the module is below the folder of the
            benchmark.
    """
    return _Late(target)


class _Late:
    def __init__(self, target: str) -> None:
        self._target = target

    def __get__(self, benchmark: Benchmark | None, owner: type[Benchmark]) -> Any:
        package = owner.__module__.rpartition(".")[0]
        return self if benchmark is None else load(f"{package}.{self._target}")
