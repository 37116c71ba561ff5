"""The evaluate stage: data.json and predictions -> metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from toolassay.benchmarks.classic.data import is_classic
from toolassay.benchmarks.classic.evaluation import evaluate_classic
from toolassay.benchmarks.security import figure_lines
from toolassay.benchmarks.taskbench.scoring.evaluation import Choices
from toolassay.benchmarks.taskbench.scoring.folder_evaluation import (
    EVERY_MODEL,
    FolderEvaluation,
    chosen_labels,
    evaluate_folder,
    models_of,
)
from toolassay.benchmarks.taskbench.scoring.parallel_scorer import cores
from toolassay.benchmarks.workbench.evaluation import AgentEvaluation, evaluate_workbench
from toolassay.benchmarks.workbench.work import is_workbench
from toolassay.data_folder import DataFolder
from toolassay.errors import ToolassayError, UsageError
from toolassay.evaluation.line_index import Keep
from toolassay.metrics.bertscore import BertScore
from toolassay.requests import read_ids
from toolassay.runs.outcomes import asked_phrase, excluded_phrase
from toolassay.screen import DEFAULT, WARNING, Screen, once
from toolassay.stages.agent_run import refuse_settings
from toolassay.stages.leaderboard import keep_leaderboard
from toolassay.stages.security import SECURITY

_WHOLE = "overall_overall"


class IncompleteEvaluation(ToolassayError):
    """Some of several models could not be scored.

    Args:
        errors: why, one a model.
        evaluations: the others, which are written.
    """

    def __init__(self, errors: Sequence[ToolassayError], evaluations: Sequence[FolderEvaluation]) -> None:
        super().__init__(" | ".join(dict.fromkeys(map(str, errors))))
        self.evaluations = list(evaluations)


def evaluate(
    data_dir: str | Path = "data_huggingface",
    *,
    llm: str | Sequence[str] = "gpt-4",
    prediction_dir: str | Path = "predictions",
    save_dir: str | Path | None = None,
    alignment: str | None = None,
    splits: Sequence[str] = ("overall",),
    n_tools: Sequence[str] = ("overall",),
    mode: str = "add",
    metrics: Sequence[str] = ("all",),
    dependency_type: str | None = None,
    prompting: str = "cot",
    keep: Keep = "last",
    rouge_median: bool = False,
    compat: Literal["published"] | None = None,
    bertscore_model: str | Path | None = None,
    bertscore_layers: int | None = None,
    bertscore_device: str | None = None,
    bertscore_cache: bool = True,
    allow_tools: bool = False,
    orders: Sequence[str | Path] = (),
    ids: Path | Collection[str | int] | None = None,
    limit: int | None = None,
    screen: Screen = DEFAULT,
) -> list[FolderEvaluation]:
    """Score the predictions of one or several models.

    In a folder of WorkBench what agents called is judged, in one of CLASSic what they chose; the settings of
    plans are not for them.

    Args:
        data_dir: holds `data.json` and the tools, or the sandbox and its tasks.
        llm: the model, or several; "all" is every model with a prediction file, of which those whose data,
            predictions and choices have not changed since are not scored again.
        prediction_dir: below `data_dir`, or as given.
        save_dir: where metrics go; default the prediction folder's name with "metrics" for "predictions".
        alignment: score only what these critics let pass; "train", "dev" and "test": only that split.
        splits: overall, single, chain, dag, or all.
        n_tools: overall, 1 to 10, or all.
        mode: "add" (each split, then each number of tools) or "mul" (their product).
        metrics: f1, ed, link, argument, rouge, bertscore, installed ones, or all.
        dependency_type: resource or temporal; default what the folder says.
        prompting: other than "cot" leaves the metrics of steps out.
        keep: which of several lines with one id counts, "first" or "last"; "error" stops at them.
        rouge_median: add the median of bootstrapped means, which the published file holds, to each ROUGE.
        compat: "published" gives the published numbers also where they say nothing of the library: of
            resource tools with an underscore in their names.
        bertscore_model: the model of BERTScore: a folder, or a name of the Hugging Face hub, which may then
            be downloaded; default roberta-large if it is on this disk.
        bertscore_layers: how many of its layers are run; default what suits a known model, all of a folder's.
        bertscore_device: "cpu", "cuda" or "mps"; default cuda where there is one.
        bertscore_cache: keep BERTScores in the user's cache folder, and take them from there.
        allow_tools: of WorkBench: run the tools that the folder brings, which are a program.
        orders: of CLASSic: more prediction folders of the same models, of another order of workflows.
        ids: score only these items, given as `infer` takes them.
        limit: score only the items that `infer` asks with this limit.
        screen: who listens.

    Returns:
        One evaluation a model: its numbers by group, and the file they are in; of WorkBench, each an
        `AgentEvaluation`, of CLASSic a `ClassicEvaluation`.

    Raises:
        UsageError: files missing or malformed.
        IncompleteEvaluation: some of several models cannot be scored; it carries the scores of the others.
    """
    folder = DataFolder(Path(data_dir))
    only = read_ids(ids) if isinstance(ids, Path) else ids
    benchmark = "CLASSic" if is_classic(folder) else "WorkBench" if is_workbench(folder) else None
    if orders and benchmark != "CLASSic":
        raise UsageError("--orders is for a folder of CLASSic", fix="leave it out")
    if benchmark is not None:
        refuse_settings(
            benchmark,
            alignment=alignment,
            splits=[name for name in splits if name != "overall"],
            n_tools=[name for name in n_tools if name != "overall"],
            metric=[name for name in metrics if name != "all"],
            dependency_type=dependency_type,
            rouge_median=rouge_median,
            compat=compat,
            bertscore_model=bertscore_model,
        )
        places: dict[str, Any] = {"llm": llm, "prediction_dir": prediction_dir, "save_dir": save_dir}
        places |= {"ids": only, "limit": limit}
        found: Sequence[FolderEvaluation]
        if benchmark == "CLASSic":
            found = evaluate_classic(data_dir, **places, orders=orders, screen=screen)
        else:
            found = evaluate_workbench(data_dir, **places, allow_tools=allow_tools, screen=screen)
        _keep_leaderboard(data_dir, prediction_dir, found, screen)
        _warn_of_partial(found, screen)
        return list(found)
    refuse_settings("TaskBench", allow_tools=allow_tools)
    given = [llm] if isinstance(llm, str) else list(llm)
    names = models_of(data_dir, prediction_dir) if EVERY_MODEL in given else given
    choices = Choices(
        tuple(metrics),
        tuple(splits),
        tuple(n_tools),
        mode,
        alignment,
        prompting,
        keep,
        rouge_median=rouge_median,
        compat=compat,
    )
    bertscore = BertScore(
        bertscore_model,
        layers=bertscore_layers,
        device=bertscore_device,
        cache=bertscore_cache,
        threads=cores(),
    )
    chosen = chosen_labels(folder.require(), only, limit)
    evaluations: list[FolderEvaluation] = []
    errors: list[ToolassayError] = []
    say = once(screen.say)
    for name in names:
        try:
            result = evaluate_folder(
                data_dir,
                name,
                choices,
                prediction_dir=prediction_dir,
                save_dir=save_dir,
                dependency_type=dependency_type,
                chosen_ids=chosen,
                bertscore=bertscore,
                only_if_changed=EVERY_MODEL in given,
                progress=screen.progress,
                say=say,
            )
        except ToolassayError as error:
            errors.append(error)
            continue
        screen.say(f"scored {name}" if result.is_new else f"{name} is up to date")
        for note in result.evaluation.notes:
            screen.say(f"{WARNING if note in result.evaluation.warnings else '  '}{note}")
        if security := result.evaluation.groups.get(_WHOLE, {}).get(SECURITY):
            for line in figure_lines(name, security):
                screen.say(line)
        evaluations.append(result)
    _keep_leaderboard(data_dir, prediction_dir, evaluations, screen)
    _warn_of_partial(evaluations, screen)
    if errors:
        if not evaluations and len(set(map(str, errors))) == 1:
            raise errors[0]  # nothing about one of the models
        raise IncompleteEvaluation(errors, evaluations) from errors[0]
    return evaluations


def _keep_leaderboard(
    data_dir: str | Path, prediction_dir: str | Path, evaluations: Sequence[FolderEvaluation], screen: Screen
) -> None:
    if evaluations and (board := keep_leaderboard(data_dir, prediction_dir, evaluations[0].path.parent)):
        screen.say(f"leaderboard: {board}")


def coverage(evaluation: FolderEvaluation) -> float:
    """The share of the labels that the scores rest on, `n_scored / n_labels`; 1 where nothing is labelled.

    Of several groups without a whole, the smallest.
    """
    shares = [numbers["coverage"] for numbers in _counted(evaluation)]
    return min((share for share in shares if share is not None), default=1.0)


def is_partial(evaluation: FolderEvaluation) -> bool:
    """Whether labels are excluded that were never asked, or met a provider error, in any trial."""
    return any(numbers["partial"] for numbers in _counted(evaluation)) or bool(_short_trials(evaluation))


def _short_trials(evaluation: FolderEvaluation) -> list[tuple[int, int, int]]:
    """The further trials that lack items of the first: number, items they have, items of the first."""
    whole = evaluation.evaluation.groups.get(_WHOLE, {})
    done = (whole.get("stability") or {}).get("requests_done", ())
    if isinstance(evaluation, AgentEvaluation):
        done = evaluation.scores.tasks_done
    return [(number, ran, done[0]) for number, ran in enumerate(done) if ran < done[0]]


def _counted(evaluation: FolderEvaluation) -> list[Mapping[str, Any]]:
    """The strict numbers of the whole, or of each group where the whole is not scored."""
    groups = evaluation.evaluation.groups
    chosen = [groups[_WHOLE]] if _WHOLE in groups else list(groups.values())
    return [{"outcomes": numbers.get("outcomes"), **numbers["strict"]} for numbers in chosen]


def _warn_of_partial(evaluations: Iterable[FolderEvaluation], screen: Screen) -> None:
    for evaluation in evaluations:
        if note := evaluation.evaluation.groups.get(_WHOLE, {}).get("notes", {}).get("answers"):
            screen.say(f"{evaluation.llm}: {note}")
        for number, ran, first in _short_trials(evaluation):
            screen.say(
                f"{WARNING}{evaluation.llm}: trial {number} has {ran} of {first} items: figures of repeats "
                "rest on fewer runs; the same inference.py asks the rest"
            )
        for numbers in _counted(evaluation):
            if numbers["partial"]:
                screen.say(
                    f"{WARNING}{evaluation.llm}: {asked_phrase(numbers)} (excluded: "
                    f"{excluded_phrase(numbers['outcomes'])}); the scores are of these alone. The same "
                    "inference.py asks the rest; evaluate.py --limit N or --ids FILE scores a chosen part"
                )
                break
