"""What a benchmark is: one folder with one entry, an instance of `Benchmark`.

Everything outside `benchmarks/` works through this interface and knows no benchmark by name. The built-in
benchmarks are the folders beside this file that hold a `benchmark.py` with a `BENCHMARK`; an installed
package registers its own under the entry-point group `toolassay.benchmarks` (docs/benchmarks.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.evaluation.axis import About, Axis
from toolassay.files import sha256_of

if TYPE_CHECKING:
    from toolassay.benchmarks.security import Prober
    from toolassay.evaluation.evaluation import FolderEvaluation, ScoringSettings
    from toolassay.evaluation.metrics_file import Standing
    from toolassay.evaluation.verification import LineComparison, RecordedRun
    from toolassay.offline.shown_graphs import ShownGraphs
    from toolassay.report.leaderboard import LeaderboardRow
    from toolassay.runs.settings import RunSettings
    from toolassay.runs.work import Inference, Work

Numbers = Mapping[str, Any]


@dataclass(frozen=True)
class NoOptions:
    """The options of a benchmark that has none."""


@dataclass(frozen=True)
class Option:
    """One option of a benchmark on the command line; its default is that of the options object.

    Attributes:
        name: of the field.
        help: one sentence.
        type: what its text is read as: str, int, float, bool or Path.
        choices: the values there are; empty for any.
        minimum: smallest number; None for any.
        above: the number must be above `minimum`, not at it.
        metavar: shown in the help instead of the type.
        multiple: whether it may be repeated.
        listed: whether its text holds several names with commas between.
        short: a one-letter spelling.
        flag: its spelling where that differs from the field's name.
    """

    name: str
    help: str
    type: type = str
    choices: Sequence[str] = ()
    minimum: float | None = None
    above: bool = False
    metavar: str | None = None
    multiple: bool = False
    listed: bool = False
    short: str = ""
    flag: str = ""


class Entry(NamedTuple):
    """A command or an importer that a benchmark brings; imported when it is used.

    Attributes:
        help: one line.
        target: "module:attribute", a click command.
        continued: the command lines under it that continue an interrupted run, e.g. "classic run".
    """

    help: str
    target: str
    continued: tuple[str, ...] = ()

    def load(self) -> Any:
        """The command itself."""
        return load(self.target)


class Columns(NamedTuple):
    """The scores that a leaderboard shows.

    Attributes:
        headings: of the columns of scores.
        sort_by: the heading that rows are sorted by unless another is named.
        caption: what the columns mean.
    """

    headings: Sequence[str]
    sort_by: str
    caption: str


class Benchmark(ABC):
    """A benchmark: data folders of one kind, how models work on them, and how the work is scored.

    Attributes:
        name: as `benchmark.json` says it.
        title: as people write it.
        noun: of one item, in the singular: "request", "task", "message".
        right: when an item is right, strictly.
        default_folder: the data folder of its commands where none is named.
        order: its place among the built-in benchmarks in lists and help.
        options: dataclass of its own options of `infer`; every field has a default.
        scoring: dataclass of its own options of `evaluate` and `verify`, likewise.
        infer_options: those of `options` that the command line has.
        evaluate_options: those of `scoring` that `evaluate` has.
        verify_options: those of `scoring` that `verify` has.
        show_options: options of `evaluate` for what is shown, which `show_scores` takes as keywords.
        help_notes: what the help of a common option adds for this benchmark, by the option's name.
        security_modes: modes of `--security` beside a number and true, each with what it is.
        commands: further commands of `toolassay`, by name.
        importers: kinds of `toolassay import`, by name.
        gold_advice: how its gold is checked, for those who try `toolassay check`; "{}" is the folder.
        cluster: what the items of one cluster share, e.g. "the tasks of one template"; empty for a sample.
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
    show_options: ClassVar[Sequence[Option]] = ()
    help_notes: ClassVar[Mapping[str, str]] = {}
    security_modes: ClassVar[Mapping[str, str]] = {}
    commands: ClassVar[Mapping[str, Entry]] = {}
    importers: ClassVar[Mapping[str, Entry]] = {}
    gold_advice: ClassVar[str] = ""
    cluster: ClassVar[str] = ""

    @property
    def about(self) -> About:
        """What reports call it, and when an item is right."""
        return About(self.name, self.title, self.noun, self.right)

    # Data

    def recognises(self, folder: DataFolder) -> bool:
        """Whether a folder without `benchmark.json` is of this benchmark, by its files."""
        return False

    def near_miss(self, folder: DataFolder) -> UsageError | None:
        """What to say of a folder that is no data folder yet, but holds what one could be made of."""
        return None

    def library_of(self, folder: DataFolder) -> tuple[str, str] | None:
        """The published or bundled library that a folder holds, and its domain; None for a team's own.

        >>> ("TaskBench", "multimedia")
        ('TaskBench', 'multimedia')
        """
        return None

    def prompted_task(self, body: Mapping[str, Any], shown: ShownGraphs) -> Any:
        """The work of an offline model behind a request with one of our prompts; None for another prompt.

        Args:
            body: of a chat-completions request, with at least one message.
            shown: graphs of the tools that prompts may show.
        """
        return None

    # Runs

    def place(self, run: RunSettings, own: Any) -> str:
        """The prediction folder below the data folder."""
        return run.choices.prediction_dir or "predictions"

    @abstractmethod
    def work(self, folder: DataFolder, run: RunSettings, own: Any, trial: int) -> Work:
        """What one trial of a run asks a model.

        Args:
            folder: the data.
            run: what the start shares with every benchmark.
            own: an instance of `options`.
            trial: number of the trial, from 0.

        Raises:
            UsageError: files missing or malformed, or settings that do not fit.
        """

    def prober(self, folder: DataFolder, run: RunSettings, own: Any, count: int | None) -> Prober:
        """The security probes of a folder.

        Args:
            folder: the data.
            run: what the start shares with every benchmark.
            own: an instance of `options`.
            count: attacks; None for the usual number.

        Raises:
            UsageError: the folder cannot be probed.
        """
        raise UsageError(f"{self.title} has no security probes", file=folder.path, fix="leave --security out")

    def probe_in_mode(
        self, mode: str, folder: DataFolder, run: RunSettings, own: Any, judge: str | None
    ) -> Inference:
        """A run of one of `security_modes`.

        Raises:
            UsageError: options that do not go with the mode, files missing or malformed.
        """
        raise NotImplementedError(mode)

    # Scores

    @abstractmethod
    def evaluate(self, folder: DataFolder, scoring: ScoringSettings, own: Any) -> Sequence[FolderEvaluation]:
        """Score predictions; metrics and items of each model are written.

        Args:
            folder: the data.
            scoring: which models and items, and where metrics go.
            own: an instance of `scoring` of this class.

        Raises:
            UsageError: files missing or malformed.
            IncompleteEvaluation: some of several models cannot be scored.
        """

    @abstractmethod
    def show_scores(self, evaluations: Sequence[Any], **options: Any) -> None:
        """Print the scores as tables; `options` are those of `show_options`."""

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """The scores that a leaderboard shows."""

    @abstractmethod
    def read_standing(self, path: Path, group: str) -> Standing:
        """The scores of a group in a metrics file, for a leaderboard.

        Raises:
            UsageError: it is no such file, or lacks the group.
        """

    def made_from(self, folder: DataFolder) -> Mapping[str, tuple[str, str]]:
        """Parts of a signature as they would be now, each with what to call it, to notice stale scores.

        Raises:
            UsageError: the data cannot be read.
        """
        return {}

    def fingerprint(self, predictions: Path) -> str:
        """SHA-256 of a prediction file, as signatures have it."""
        return sha256_of(predictions)

    def published_rows(self, folder: DataFolder, domain: str | None) -> list[LeaderboardRow]:
        """Published rows to show beside a team's models.

        Args:
            folder: the data.
            domain: of the published data, if named.

        Raises:
            UsageError: there are none for this folder.
        """
        raise UsageError(f"no published rows are known of {self.title}", fix="leave --with_published out")

    @abstractmethod
    def axis(self, numbers: Numbers) -> Axis:
        """Accuracy and repeats, by the numbers of the whole in a metrics file.

        Raises:
            KeyError, TypeError: the numbers are of another benchmark.
        """

    # Verification

    @abstractmethod
    def remade_lines(
        self, recorded: RecordedRun, own: Any, comparison: LineComparison
    ) -> Iterator[dict[str, Any]]:
        """The lines of the prediction file, parsed again from the raw answers.

        Args:
            recorded: the run, its journal and a folder to work in.
            own: an instance of `scoring`.
            comparison: counts lines that were taken over without a raw answer.

        Raises:
            UsageError: an entry of the journal cannot be read.
        """

    def recorded_scoring(self, groups: Mapping[str, Numbers], metrics: Path, own: Any) -> Any:
        """The options of `scoring` that give the scores of a metrics file again.

        Raises:
            UsageError: the file does not say how it was made.
        """
        return own

    def beside(self, predictions: Path, llm: str) -> Sequence[Path]:
        """Further files of a model in its prediction folder that its scores are made of."""
        return ()

    def flag_of(self, field_name: str) -> str:
        """How the command line spells a field of the options.

        >>> class Mine(Benchmark):
        ...     evaluate_options = (Option("metrics", "Which scores.", flag="metric"),)
        >>> Mine.flag_of(Mine, "metrics"), Mine.flag_of(Mine, "limit")
        ('metric', 'limit')
        """
        every = (*self.infer_options, *self.evaluate_options, *self.show_options)
        return next((one.flag for one in every if one.name == field_name and one.flag), field_name)


def load(target: str) -> Any:
    """What "module:attribute" names."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
