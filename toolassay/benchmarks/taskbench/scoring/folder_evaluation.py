"""Scores the predictions of one model in a data folder (`evaluate_folder`)."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from toolassay.benchmarks.taskbench.scoring.cost_and_stability import add_axes
from toolassay.benchmarks.taskbench.scoring.evaluation import (
    Choices,
    PairScorer,
    PlanEvaluator,
    dropped_lines,
)
from toolassay.data_folder import DataFolder, Say
from toolassay.engines import Engine
from toolassay.errors import UsageError
from toolassay.evaluation.evaluation import Evaluation, FolderEvaluation
from toolassay.evaluation.items import items_path
from toolassay.evaluation.places import metrics_folder, prediction_file
from toolassay.files import read_json, safe_name, write_json
from toolassay.graph import DependencyType, ToolFilesDiffer, ToolGraph
from toolassay.progress_callback import Progress, no_progress
from toolassay.requests import Chosen, Requests, read_ids
from toolassay.runs import recorded_settings
from toolassay.tools import ToolLibrary

_KEY_ENDING = "_alignment_id"
_SPLITS = ("train", "dev", "test")


def evaluate_folder(
    data_dir: str | Path,
    llm: str,
    choices: Choices | None = None,
    *,
    prediction_dir: str | Path = "predictions",
    save_dir: str | Path | None = None,
    dependency_type: str | None = None,
    chosen_ids: Collection[str | int] | None = None,
    bertscore: PairScorer | None = None,
    only_if_changed: bool = False,
    engine: Engine | None = None,
    progress: Progress = no_progress,
    say: Say = lambda _: None,
) -> FolderEvaluation:
    """Score `{prediction_dir}/{llm}.json` and write `{metrics dir}/{llm}.json`, replacing what was there.

    Beside it `{llm}.items.jsonl` holds every labelled item. The demonstrations that the manifest beside the
    predictions (`runs/{llm}/manifest.json`) names are left out of the strict scores. What `add_axes` finds of
    cost, latency, stability and security is beside the scores of the whole.

    Args:
        data_dir: the data folder, with `data.json` and `tool_desc.json` (else `graph_desc.json`).
        llm: the model; its file name is `files.safe_name` of it.
        choices: what to compute; its `alignment` is a list of `alignment_ids.json` ("human" keeps every
            label, as published), or None.
        prediction_dir: inside the data folder, else as given.
        save_dir: where to write, inside the data folder unless absolute; None follows the prediction
            folder (`predictions_x` becomes `metrics_x`, with `_alignment_{mode}` where aligned).
        dependency_type: the flag; None asks `benchmark.json`.
        chosen_ids: score only the labels with these ids; None scores all.
        bertscore: who computes BERTScore.
        only_if_changed: take the metrics that are there if their signature is that of these data,
            predictions and choices.
        engine: where the labels are scored; None for one process a core if there are many.
        progress: who watches.
        say: Receives warnings about the folder; notes about the data are in the evaluation.

    Raises:
        UsageError: something is missing or malformed, or the metrics would replace predictions.
    """
    choices = choices or Choices()
    folder = DataFolder(Path(data_dir)).require()
    predictions = prediction_file(folder.path, Path(prediction_dir), llm)
    target = (
        metrics_folder(folder.path, predictions.parent.absolute(), save_dir, choices.alignment)
        / f"{safe_name(llm)}.json"
    )
    if target.resolve().parent == predictions.resolve().parent:
        raise UsageError(
            "the metrics would replace the predictions", file=target, fix="choose another --save_dir"
        )
    if target.resolve() in {path.resolve() for path in folder.files}:
        raise UsageError(
            "the metrics would replace a file of the data", file=target, fix="choose another --save_dir"
        )
    library, graph, kind = _tools(folder, dependency_type, say)
    alignment = choices.alignment
    evaluator = PlanEvaluator(
        folder.data,
        predictions,
        library,
        kind,
        choices,
        graph=graph,
        alignment_ids=None if alignment is None else aligned_ids(folder.alignment_ids, alignment),
        exclude_ids=_demonstrations(predictions),
        chosen_ids=chosen_ids,
        bertscore=bertscore,
    )
    evaluation = _up_to_date(target, evaluator) if only_if_changed else None
    is_new = evaluation is None
    if evaluation is None:
        evaluation = evaluator.evaluate(items=items_path(target), engine=engine, progress=progress)
    is_changed = add_axes(evaluation, evaluator.job, predictions.parent, llm, say)
    if not (is_new or is_changed):
        return FolderEvaluation(llm, evaluation, target, is_new=False)
    write_json(target, evaluation.groups)
    return FolderEvaluation(llm, evaluation, target)


def chosen_labels(
    folder: DataFolder, ids: Collection[str | int] | None, limit: int | None
) -> list[str | int] | None:
    """The ids of the labels that `infer --ids --limit` runs; None if neither is given.

    Raises:
        UsageError: An id is unknown.
    """
    if ids is None and limit is None:
        return None
    source = folder.user_requests if folder.user_requests.is_file() else folder.data
    return [request.id for request in Chosen(Requests(source), ids=ids, limit=limit)]


def _up_to_date(target: Path, evaluator: PlanEvaluator) -> Evaluation | None:
    """The content of the metrics file if its signature is that of this evaluation; else None."""
    if not target.is_file() or not items_path(target).is_file():
        return None
    try:
        groups = read_json(target)
        signature = evaluator.signature().with_items(items_path(target))
        fits = list(groups) == evaluator.group_keys and all(
            numbers["strict"]["signature"].startswith(f"{signature.text}|") for numbers in groups.values()
        )
    except (UsageError, AttributeError, TypeError, KeyError):
        return None
    if not fits:
        return None
    dropped = dropped_lines(groups)
    return Evaluation(groups, dropped, tuple(evaluator.choices.metrics), dropped)


def aligned_ids(path: Path, alignment: str) -> Collection[str | int] | None:
    """The ids an alignment keeps, of every shape; None (all of them) for "human", as published.

    "train", "dev" and "test" keep a split of `split_ids.json` in the same folder.

    Raises:
        UsageError: The file or the list does not exist.
    """
    if alignment == "human":
        return None
    if alignment in _SPLITS:
        return frozenset(read_ids(path.with_name(f"split_ids.json:{alignment}")))
    lists = read_json(path, fix="make it with format_data.py, or omit --alignment")
    chosen = lists.get(f"{alignment}{_KEY_ENDING}") if isinstance(lists, dict) else None
    if not isinstance(chosen, dict):
        known = [key.removesuffix(_KEY_ENDING) for key in lists] if isinstance(lists, dict) else []
        raise UsageError(
            f"no alignment '{alignment}'", file=path, fix=f"choose from {', '.join(['human', *known])}"
        )
    return frozenset(key for ids in chosen.values() for key in ids)


def _tools(
    folder: DataFolder, dependency_type: str | None, say: Say
) -> tuple[ToolLibrary, ToolGraph | None, DependencyType]:
    """The tools of a folder with their original spelling, their links, and the dependency type."""
    if folder.tool_desc.exists() or not folder.graph_desc.exists():
        library = ToolLibrary.load(folder.tool_desc, normalise_types=False)
        kind = folder.dependency_type(dependency_type, library=library, say=say)
    else:
        library = ToolLibrary.load(folder.graph_desc, normalise_types=False)
        if dependency_type is None and folder.benchmark.get("dependency_type") is None:
            graph = ToolGraph.load(folder.graph_desc)
            return library, graph, graph.dependency_type
        kind = folder.dependency_type(dependency_type, say=say)
    return library, _graph(folder, kind, say), kind


def _graph(folder: DataFolder, kind: DependencyType, say: Say) -> ToolGraph | None:
    """The links of the tool graph; None, with a warning, if the folder has no valid graph."""
    try:
        if folder.graph_desc.exists():
            return folder.graph(kind, say=say)
        return ToolGraph.build(folder.library(), kind)
    except ToolFilesDiffer:
        raise
    except UsageError as error:
        say(f"warning: without a tool graph, all links between known tools count as existing: {error}")
        return None


def _demonstrations(predictions: Path) -> list[str | int]:
    """The ids of the demonstrations in the prompt, which are not scored."""
    settings = recorded_settings(predictions.parent / "runs" / predictions.stem) or {}
    demos = settings.get("demo_ids")
    return [key for key in demos if isinstance(key, str | int)] if isinstance(demos, list) else []
