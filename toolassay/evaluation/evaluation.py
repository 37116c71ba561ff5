"""The scores of one model: what every benchmark's evaluation gives, and where it is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolassay.data_folder import DataFolder
from toolassay.dataset import RequestId
from toolassay.errors import ToolassayError
from toolassay.evaluation.groups import OVERALL_GROUP as WHOLE
from toolassay.evaluation.items import items_path, write_items
from toolassay.evaluation.places import EVERY_MODEL, metrics_folder, models_of, prediction_folder
from toolassay.evaluation.signature import Signature
from toolassay.files import refuse_to_replace, safe_name, write_json
from toolassay.runs.outcomes import MISSING
from toolassay.runs.trials import Trial, same_settings, trials_of
from toolassay.screen import DEFAULT, WARNING, Screen


@dataclass
class Evaluation:
    """The numbers of every group, and what the user should be told.

    `groups` maps "{split}_{n}" to the published keys plus `strict`. `asked` are the metrics as they were
    requested. `warnings` are those of the `notes` that report faults of the files.
    """

    groups: dict[str, dict[str, Any]]
    notes: list[str] = field(default_factory=list)
    asked: tuple[str, ...] = ("all",)
    warnings: list[str] = field(default_factory=list)

    @property
    def signature(self) -> str:
        """What the strict scores were made with, whichever the group."""
        first = next(iter(self.groups.values()), {})
        return str(first.get("strict", {}).get("signature", "")).split("|group:")[0]

    @property
    def without_links(self) -> frozenset[str]:
        """The groups in which compat found no link on either side, so that its edge F1 of 0 says nothing."""
        return frozenset(key for key, numbers in self.groups.items() if not numbers["strict"]["compat_links"])


@dataclass(frozen=True)
class FolderEvaluation:
    """The scores of one model, and the files they are in.

    Attributes:
        llm: the model.
        evaluation: its numbers.
        path: the metrics file; the file of items is beside it.
        is_new: whether it was scored now; False where its scores were up to date.
    """

    llm: str
    evaluation: Evaluation
    path: Path
    is_new: bool = True

    @property
    def runs_done(self) -> Sequence[int]:
        """Of each trial, how many items it has; empty where repeats are not measured."""
        whole = self.evaluation.groups.get(WHOLE, {})
        done: Sequence[int] = (whole.get("stability") or {}).get("requests_done", ())
        return done

    @property
    def short_trials(self) -> list[tuple[int, int, int]]:
        """The further trials that lack items of the first: number, items they have, items of the first."""
        done = self.runs_done
        return [(number, ran, done[0]) for number, ran in enumerate(done) if ran < done[0]]

    @property
    def counted(self) -> list[Mapping[str, Any]]:
        """The strict numbers of the whole, or of each group where the whole is not scored."""
        groups = self.evaluation.groups
        chosen = [groups[WHOLE]] if WHOLE in groups else list(groups.values())
        return [{"outcomes": numbers.get("outcomes"), **numbers["strict"]} for numbers in chosen]

    @property
    def coverage(self) -> float:
        """The share of the labels that the scores rest on, `n_scored / n_labels`; 1 without labels.

        Of several groups without a whole, the smallest.
        """
        shares = [numbers["coverage"] for numbers in self.counted]
        return min((share for share in shares if share is not None), default=1.0)

    @property
    def is_partial(self) -> bool:
        """Whether labels are excluded that were never asked, or met a provider error, in any trial."""
        return any(numbers["partial"] for numbers in self.counted) or bool(self.short_trials)


@dataclass(frozen=True)
class ScoringSettings:
    """What is scored, and where the metrics go.

    Attributes:
        llm: the models; "all" is every one with a prediction file.
        prediction_dir: below the data folder, or as given.
        save_dir: where `<llm>.json` and `<llm>.items.jsonl` go; None for the prediction folder's name with
            "metrics" for "predictions".
        ids: score only these items; None scores all.
        limit: score only the first N of them.
        screen: where notices and progress go.
    """

    llm: Sequence[str] = ("gpt-4",)
    prediction_dir: str | Path = "predictions"
    save_dir: str | Path | None = None
    ids: Collection[RequestId] | None = None
    limit: int | None = None
    screen: Screen = DEFAULT


class IncompleteEvaluation(ToolassayError):
    """Some of several models could not be scored.

    Args:
        errors: why, one a model.
        evaluations: the others, which are written.
    """

    def __init__(self, errors: Sequence[ToolassayError], evaluations: Sequence[FolderEvaluation]) -> None:
        super().__init__(" | ".join(dict.fromkeys(map(str, errors))))
        self.evaluations = list(evaluations)


@dataclass(frozen=True)
class ScoringPlace:
    """Where the predictions of a data folder are, whose they are, and where their metrics go.

    Args:
        folder: the data.
        settings: what is scored.

    Raises:
        UsageError: there is no prediction folder, or nothing in it where all models are asked for.
    """

    folder: DataFolder
    settings: ScoringSettings

    @property
    def models(self) -> list[str]:
        """The models to score."""
        given = list(self.settings.llm)
        return models_of(self.folder.path, self.settings.prediction_dir) if EVERY_MODEL in given else given

    @property
    def predictions(self) -> Path:
        """The prediction folder."""
        return prediction_folder(self.folder.path, Path(self.settings.prediction_dir))

    @property
    def target(self) -> Path:
        """The folder of metrics."""
        return metrics_folder(self.folder.path, self.settings.prediction_dir, self.settings.save_dir)

    def trials(self, llm: str, predictions: Path | None = None) -> list[Trial]:
        """The trials of a model that were made with the same settings; a warning names the others."""
        alike, others = same_settings(trials_of(predictions or self.predictions, llm))
        for trial in others:
            self.settings.screen.say(
                f"{WARNING}{trial.output} was made with other settings than the first run: left out"
            )
        return alike

    def metrics_file(self, llm: str, trials: Iterable[Trial]) -> Path:
        """Where the metrics of a model go.

        Raises:
            UsageError: they would replace predictions.
        """
        path = self.target / f"{safe_name(llm)}.json"
        refuse_to_replace(
            path,
            [trial.output for trial in trials],
            what="the metrics would replace the predictions",
            flag="--save_dir",
        )
        return path

    def write(
        self, path: Path, items: Iterable[Mapping[str, Any]], numbers: Mapping[str, Any], signature: Signature
    ) -> Evaluation:
        """Write the items and the metrics of a model, the strict scores with their signature first.

        Args:
            path: the metrics file.
            items: a line each.
            numbers: of the one group there is, with `n`, `outcomes` and `strict`.
            signature: of the scores, without the items.
        """
        write_items(items_path(path), items)
        signed = signature.with_items(items_path(path)).of_group(WHOLE, numbers["n"])
        strict = {"signature": signed, **numbers["strict"]}
        evaluation = Evaluation({WHOLE: {**numbers, "strict": strict}})
        write_json(path, evaluation.groups)
        return evaluation

    def report(self, llm: str, outcomes: Mapping[str, int], noun: str) -> None:
        """Say that a model was scored, and how many of its items have no prediction and count as wrong."""
        self.settings.screen.say(f"scored {llm}")
        self.settings.screen.missing(outcomes.get(MISSING, 0), sum(outcomes.values()), noun)
