"""The scores of one model, as every benchmark returns and stores them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Result, Table
from toolassay.engines import Engine
from toolassay.errors import ToolassayError, UnknownNameError
from toolassay.evaluation.groups import OVERALL_GROUP as WHOLE
from toolassay.evaluation.items import ScoredItem, items_path, write_items
from toolassay.evaluation.metrics_file import STRICT_MODE, MetricsGroup, signature_text, write_groups
from toolassay.evaluation.places import EVERY_MODEL, metrics_folder, models_of, prediction_folder
from toolassay.files.data_files import refuse_to_replace, safe_name, sha256_of
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import RequestId
from toolassay.runs.outcomes import MISSING, tools_part
from toolassay.runs.record import refused_part
from toolassay.runs.tool_arrival import tools_missing
from toolassay.runs.trials import Trial, fingerprint, same_settings, trials_of
from toolassay.version import __version__


def run_parts(trials: Iterable[Trial]) -> dict[str, str]:
    """The parts of a signature that name what did not reach the model: its tools, or a parameter.

    Raises:
        UsageError: A manifest cannot be read.
    """
    folders = [trial.run_folder for trial in trials]
    return {**tools_part(any(map(tools_missing, folders))), **refused_part(folders)}


def run_signature(benchmark: str, parts: Mapping[str, str], trials: Sequence[Trial]) -> dict[str, str]:
    """The parts of the signature of scores of whole prediction files.

    Args:
        benchmark: Its name.
        parts: The data, and what was chosen of them.
        trials: The scored runs.

    Raises:
        UsageError: A manifest cannot be read.
    """
    return {
        "toolassay": __version__,
        "benchmark": benchmark,
        "mode": STRICT_MODE,
        **parts,
        **run_parts(trials),
        "predictions": sha256_of(trials[0].output)[:12],
        "trials": fingerprint([trial.output for trial in trials]),
    }


@dataclass
class Evaluation:
    """The metrics of every group.

    Attributes:
        groups: By "{split}_{n}".
        notes: Messages for the user.
        asked: The requested metrics.
        warnings: The notes that report faults of the files.
    """

    groups: dict[str, MetricsGroup]
    notes: list[str] = field(default_factory=list)
    asked: tuple[str, ...] = ("all",)
    warnings: list[str] = field(default_factory=list)

    @property
    def signature(self) -> str:
        """The signature of the strict scores, without the group."""
        return next((group.signature for group in self.groups.values()), "").split("|group:")[0]


Named = TypeVar("Named")


class ByName(dict[str, Named]):
    """Scores or groups by name.

    >>> ByName({"node_f1": 0.5})["node_f2"]
    Traceback (most recent call last):
    toolassay.errors.UnknownNameError: there is no 'node_f2'. Fix: choose from node_f1
    """

    def __missing__(self, name: str) -> Named:
        raise UnknownNameError(f"there is no {name!r}", fix=f"choose from {', '.join(self)}")


@dataclass(frozen=True)
class GroupScores:
    """The scores of a group of items, by name: shares, counts, and what else the metrics file has.

    Attributes:
        strict: What we believe: every item that was asked counts.
        compat: As the published evaluator counts; empty without published scores.
    """

    strict: ByName[Any]
    compat: ByName[Any]


@dataclass(frozen=True, repr=False)
class FolderEvaluation(Result):
    """The scores of one model and their file.

        evaluate("mine", llm="acme/one").strict["node_f1"]

    Attributes:
        llm: Name of the model.
        evaluation: Its metrics.
        path: Metrics file; the file of items is beside it.
        runs_done: Number of items of each trial; empty if stability is not measured.
    """

    llm: str
    evaluation: Evaluation
    path: Path
    runs_done: Sequence[int] = ()

    @property
    def groups(self) -> ByName[GroupScores]:
        """The scores of each group of items; that of all items is "overall_overall"."""
        return ByName(
            {
                name: GroupScores(ByName(group.strict), ByName(group.compat))
                for name, group in self.evaluation.groups.items()
            }
        )

    @property
    def strict(self) -> ByName[Any]:
        """The strict scores of all items."""
        return self.groups[WHOLE].strict

    @property
    def compat(self) -> ByName[Any]:
        """The published scores of all items."""
        return self.groups[WHOLE].compat

    def __getitem__(self, index: int) -> FolderEvaluation:
        """The result itself: `evaluate` returned a list for one model, too."""
        warnings.warn("evaluate returns one result for one model: omit [0]", DeprecationWarning, stacklevel=2)
        if index:
            raise IndexError(index)
        return self

    def table(self) -> Table:
        """The strict metrics, overall or by group."""
        return Evaluations([self]).table()

    @property
    def whole(self) -> Mapping[str, Any]:
        """The metrics of the group of all items, with cost and latency by the ledger; empty if not scored."""
        groups = self.evaluation.groups
        return groups[WHOLE].numbers if WHOLE in groups else {}

    @property
    def short_trials(self) -> list[tuple[int, int, int]]:
        """Trials with fewer items than another: (place of the trial, its items, the most of a trial)."""
        most = max(self.runs_done, default=0)
        return [(number, ran, most) for number, ran in enumerate(self.runs_done) if ran < most]

    @property
    def counted(self) -> list[MetricsGroup]:
        """The overall group, or every group if that is not scored."""
        groups = self.evaluation.groups
        return [groups[WHOLE]] if WHOLE in groups else list(groups.values())

    @property
    def coverage(self) -> float:
        """Share of the labels that are scored, `n_scored / n_labels`; 1 without labels.

        Without an overall group, it is the minimum over the groups.
        """
        shares = [group.strict["coverage"] for group in self.counted]
        return min((share for share in shares if share is not None), default=1.0)

    @property
    def is_partial(self) -> bool:
        """Whether a trial excludes labels that were never sent or ended with a provider error."""
        return any(group.strict["partial"] for group in self.counted) or bool(self.short_trials)


class Evaluations(list[FolderEvaluation], Result):
    """The scores of several models."""

    def table(self) -> Table:
        """The strict metrics of each model, overall or by group."""
        models = [
            (evaluation.llm, _figures(group.strict)) for evaluation in self for group in evaluation.counted
        ]
        names = dict.fromkeys(name for _, figures in models for name in figures)
        rows = [[llm, *map(figures.get, names)] for llm, figures in models]
        return Table(("model", *names), rows, "n")


def _figures(numbers: Mapping[str, Any]) -> dict[str, float | None]:
    """The numbers of strict scores, and the values of their intervals."""
    values = (
        (name, number.get("value", {}) if isinstance(number, dict) else number)
        for name, number in numbers.items()
    )
    return {name: value for name, value in values if value is None or type(value) in (int, float)}


@dataclass(frozen=True)
class ScoringSettings:
    """Which predictions to score, and where to write the metrics.

    Attributes:
        llm: Names of the models; "all" is every model with a prediction file.
        prediction_dir: Prediction folder, below the data folder or as a path.
        save_dir: Output folder of `<llm>.json` and `<llm>.items.jsonl`; None for the name of the prediction
            folder with "metrics" in place of "predictions".
        ids: Score only these items; None for all.
        limit: Score only the first N of them; None for all.
        screen: Receives messages and progress.
        engine: Where the items are scored; None lets the benchmark decide.
    """

    llm: Sequence[str] = (EVERY_MODEL,)
    prediction_dir: str | Path = "predictions"
    save_dir: str | Path | None = None
    ids: Collection[RequestId] | None = None
    limit: int | None = None
    screen: Screen = DEFAULT
    engine: Engine | None = None


class IncompleteEvaluation(ToolassayError):
    """Some of several models could not be scored.

    Args:
        errors: One error per model.
        evaluations: Scores of the other models, which are written.
    """

    def __init__(self, errors: Sequence[ToolassayError], evaluations: Sequence[FolderEvaluation]) -> None:
        super().__init__(" | ".join(dict.fromkeys(map(str, errors))))
        self.evaluations = list(evaluations)


@dataclass(frozen=True)
class ScoringPlace:
    """The paths and models of an evaluation.

    Attributes:
        folder: Data folder.
        settings: Which predictions to score.

    Raises:
        UsageError: There is no prediction folder, or it is empty and all models are requested.
    """

    folder: DataFolder
    settings: ScoringSettings

    @property
    def models(self) -> list[str]:
        """The models to score."""
        llms = list(self.settings.llm)
        return models_of(self.folder.path, self.settings.prediction_dir) if EVERY_MODEL in llms else llms

    @property
    def predictions(self) -> Path:
        """The prediction folder."""
        return prediction_folder(self.folder.path, Path(self.settings.prediction_dir))

    @property
    def target(self) -> Path:
        """The output folder of the metrics."""
        return metrics_folder(self.folder.path, self.settings.prediction_dir, self.settings.save_dir)

    def trials(self, llm: str, predictions: Path | None = None) -> list[Trial]:
        """The trials of a model with the settings of the first one; a warning names the others."""
        alike, others = same_settings(trials_of(predictions or self.predictions, llm))
        for trial in others:
            self.settings.screen.say(
                f"{WARNING}{trial.output} was made with other settings than the first run: left out"
            )
        return alike

    def write(
        self,
        llm: str,
        trials: Sequence[Trial],
        items: Iterable[ScoredItem],
        numbers: Mapping[str, Any],
        signature: Mapping[str, str],
        noun: str,
        runs_done: Sequence[int] = (),
    ) -> FolderEvaluation:
        """Write the items and the metrics of a model that has only the overall group, and report both.

        Args:
            llm: Name of the model.
            trials: Its runs.
            items: Lines of the file of items.
            numbers: Metrics of the group, with `n`, `outcomes` and `strict`.
            signature: Parts of the signature of the scores, without the hash of the items.
            noun: What an item is called; missing predictions are reported and count as wrong.
            runs_done: Number of items of each trial.

        Raises:
            UsageError: The metrics would replace predictions.
        """
        path = self.target / f"{safe_name(llm)}.json"
        outcomes = numbers["outcomes"]
        refuse_to_replace(
            path,
            [trial.output for trial in trials],
            what="the metrics would replace the predictions",
            flag="--save_dir",
        )
        write_items(items_path(path), items)
        signed = signature_text(
            signature, items=sha256_of(items_path(path))[:12], group=WHOLE, n=numbers["n"]
        )
        strict = {"signature": signed, **numbers["strict"]}
        evaluation = Evaluation({WHOLE: MetricsGroup({**numbers, "strict": strict})})
        write_groups(path, evaluation.groups)
        self.settings.screen.say(f"scored {llm}")
        self.settings.screen.missing(outcomes.get(MISSING, 0), sum(outcomes.values()), noun)
        return FolderEvaluation(llm, evaluation, path, runs_done)
