"""The evaluate stage: data.json and predictions -> metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.data import is_classic
from toolassay.benchmarks.security import figure_lines
from toolassay.benchmarks.taskbench.scoring.evaluation import Choices
from toolassay.benchmarks.taskbench.scoring.folder import (
    EVERY_MODEL,
    FolderEvaluation,
    evaluate_folder,
    models_of,
)
from toolassay.benchmarks.taskbench.scoring.line_index import Keep
from toolassay.benchmarks.taskbench.scoring.parts import cores
from toolassay.errors import ToolassayError, UsageError
from toolassay.folder import DataFolder
from toolassay.metrics.bertscore import BertScore
from toolassay.stages.agent_run import refuse_settings
from toolassay.stages.evaluate_classic import ClassicEvaluation, evaluate_classic
from toolassay.stages.evaluate_workbench import AgentEvaluation, evaluate_workbench
from toolassay.stages.infer_workbench import is_workbench
from toolassay.stages.leaderboard import keep_leaderboard
from toolassay.stages.screen import SILENT, Screen, once
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
    llm: str | Sequence[str] = "gpt-3.5-turbo",
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
    bertscore_model: str | Path | None = None,
    bertscore_layers: int | None = None,
    bertscore_device: str | None = None,
    bertscore_cache: bool = True,
    allow_tools: bool = False,
    orders: Sequence[str | Path] = (),
    screen: Screen = SILENT,
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
        bertscore_model: the model of BERTScore: a folder, or a name of the Hugging Face hub, which may then
            be downloaded; default roberta-large if it is on this disk.
        bertscore_layers: how many of its layers are run; default what suits a known model, all of a folder's.
        bertscore_device: "cpu", "cuda" or "mps"; default cuda where there is one.
        bertscore_cache: keep BERTScores in the user's cache folder, and take them from there.
        allow_tools: of WorkBench: run the tools that the folder brings, which are a program.
        orders: of CLASSic: more prediction folders of the same models, of another order of workflows.
        screen: who listens.

    Returns:
        One evaluation a model: its numbers by group, and the file they are in; of WorkBench, each an
        `AgentEvaluation`, of CLASSic a `ClassicEvaluation`.

    Raises:
        UsageError: files missing or malformed.
        IncompleteEvaluation: some of several models cannot be scored; it carries the scores of the others.
    """
    folder = DataFolder(Path(data_dir))
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
            bertscore_model=bertscore_model,
        )
        places: dict[str, Any] = {"llm": llm, "prediction_dir": prediction_dir, "save_dir": save_dir}
        found: Sequence[FolderEvaluation]
        if benchmark == "CLASSic":
            found = evaluate_classic(data_dir, **places, orders=orders, screen=screen)
        else:
            found = evaluate_workbench(data_dir, **places, allow_tools=allow_tools, screen=screen)
        _keep_leaderboard(data_dir, prediction_dir, found, screen)
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
    )
    bertscore = BertScore(
        bertscore_model,
        layers=bertscore_layers,
        device=bertscore_device,
        cache=bertscore_cache,
        threads=cores(),
    )
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
            screen.say(f"  {note}")
        if security := result.evaluation.groups.get(_WHOLE, {}).get(SECURITY):
            for line in figure_lines(name, security):
                screen.say(line)
        evaluations.append(result)
    _keep_leaderboard(data_dir, prediction_dir, evaluations, screen)
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
    """The share of the labelled items with a readable plan; of several groups without a whole, the smallest.

    1 where nothing is labelled. Of WorkBench, the share of the tasks that an agent ended; of CLASSic, of the
    messages that it answered.
    """
    if isinstance(evaluation, AgentEvaluation | ClassicEvaluation):
        return evaluation.scores.coverage
    groups = evaluation.evaluation.groups
    chosen = [groups[_WHOLE]] if _WHOLE in groups else list(groups.values())
    shares = [numbers["strict"]["coverage"] for numbers in chosen]
    return min((share for share in shares if share is not None), default=1.0)
