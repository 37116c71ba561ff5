"""Evaluates TaskBench folders: `data.json` and predictions -> metrics of each model."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.benchmark import Scores
from toolassay.benchmarks.security import FOLDER
from toolassay.benchmarks.taskbench.entries import entry_of, request_of_label
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring.leaderboard import (
    HEADINGS,
    plan_standing,
    published_plans,
    recorded_choices,
)
from toolassay.benchmarks.taskbench.scoring.prediction_scores import context_of, score_predictions
from toolassay.benchmarks.taskbench.scoring.scored_rows import cluster_of
from toolassay.benchmarks.taskbench.scoring.scorer import ScoringJob
from toolassay.benchmarks.taskbench.scoring.strict_scores import StrictScores
from toolassay.console.screen import WARNING, once
from toolassay.errors import ToolassayError, UsageError, as_called
from toolassay.evaluation.evaluation import (
    FolderEvaluation,
    IncompleteEvaluation,
    ScoringPlace,
    ScoringSettings,
)
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.item_detail import Axis
from toolassay.evaluation.items import items_path
from toolassay.evaluation.metrics_file import RETRIEVAL, STABILITY, write_groups
from toolassay.evaluation.places import metrics_folder, prediction_file
from toolassay.files.data_files import read_json, refuse_to_replace, safe_name
from toolassay.graph import DependencyType, ToolFilesDiffer, ToolGraph
from toolassay.metrics.confidence_interval import Interval, mean_intervals
from toolassay.metrics.pass_k import NO_RUN, stability_metrics
from toolassay.plans.execution_record import FILE as EXECUTIONS
from toolassay.plans.normalised_plan import PlanReader
from toolassay.records.data_folder import DataFolder, Say
from toolassay.records.dataset import LastLabels
from toolassay.records.requests import Chosen, Requests, key_of, read_ids
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL, recorded_settings
from toolassay.runs.trials import Trial, fingerprint
from toolassay.tools.library import ToolLibrary

if TYPE_CHECKING:
    from toolassay.metrics.bertscore import BertScore

_KEY_ENDING = "_alignment_id"
_SPLITS = ("train", "dev", "test")


def _retrieval(job: ScoringJob) -> dict[str, Any]:
    """The mean share of the tools of a gold plan that its request showed; {} where all were shown."""
    import numpy as np

    if not (context := context_of(job.run)):
        return {}
    reader = PlanReader(job.library, job.dependency_type)
    shares = array("d")
    clusters = array("q")
    with Journal(job.run / JOURNAL, read_only=True) as journal:
        for _, label in LastLabels(job.labels):
            if str(label["id"]) in job.excluded or not job.keeps(label["id"]):
                continue
            gold = reader.plan(label)
            offered = entry_of(journal, request_of_label(label)).offered
            if gold is not None and gold.names and offered is not None:
                shares.append(len(set(gold.names) & set(offered)) / len(set(gold.names)))
                clusters.append(cluster_of(label))
    (recall,) = mean_intervals([np.asarray(shares)], clusters=np.asarray(clusters))
    recalled = {"context": context, "k": int(context.rpartition("@")[2]), "n": len(shares)}
    return {RETRIEVAL: {**recalled, **recall.to_json()}}


def _ledger_items(job: ScoringJob) -> frozenset[str] | None:
    """The scored labels, as a ledger names them; None for all."""
    if job.keeps_all:
        return None
    labels = LastLabels(job.labels)
    return frozenset(key_of(label["id"]) for _, label in labels if job.keeps(label["id"]))


def evaluate_folder(
    folder: DataFolder,
    llm: str,
    own: PlanScoring | None = None,
    scoring: ScoringSettings | None = None,
    *,
    bertscore: BertScore | None = None,
) -> FolderEvaluation:
    """Score `{prediction_dir}/{llm}.json` and write `{metrics dir}/{llm}.json`, replacing what was there.

    Beside it `{llm}.items.jsonl` holds every labelled item. The demonstrations that the manifest beside the
    predictions (`runs/{llm}/manifest.json`) names are left out of the strict scores. Cost, latency,
    stability, security and retrieval are in the group of all labels, as far as the run has them.

    Args:
        folder: the data folder, with `data.json` and `tool_desc.json` (else `graph_desc.json`).
        llm: the model; its file name is `files.safe_name` of it.
        own: what to compute; its `alignment` is a list of `alignment_ids.json` ("human" keeps every
            label, as published), or None.
        scoring: where the files are, and which labels are scored.
        bertscore: who computes BERTScore.

    Raises:
        UsageError: something is missing or malformed, or the metrics would replace predictions.
    """
    own = own or PlanScoring()
    scoring = scoring or ScoringSettings()
    screen = scoring.screen
    alignment = own.alignment
    predictions = prediction_file(folder.require().path, Path(scoring.prediction_dir), llm)
    target = (
        metrics_folder(folder.path, predictions.parent.absolute(), scoring.save_dir, alignment)
        / f"{safe_name(llm)}.json"
    )
    for what, files in (("the predictions", [predictions]), ("a file of the data", folder.files)):
        refuse_to_replace(target, files, what=f"the metrics would replace {what}", flag="--save_dir")
    library, graph, kind = _tools(folder, own.dependency_type, screen.say)
    settings = recorded_settings(predictions.parent / "runs" / predictions.stem) or {}
    demos = settings.get("demo_ids")  # the demonstrations in the prompt are not scored
    kept = None if alignment is None else aligned_ids(folder.alignment_ids, alignment)
    chosen = chosen_labels(folder, scoring.ids, scoring.limit)
    trials = ScoringPlace(folder, scoring).trials(llm, predictions.parent)
    job = ScoringJob(
        folder.data.absolute(),
        predictions.absolute(),
        library,
        kind,
        own,
        graph,
        kept if kept is None else frozenset(kept),
        frozenset(map(str, demos)) if isinstance(demos, list) else frozenset(),
        chosen if chosen is None else frozenset(map(str, chosen)),
        str(settings.get("ask", "plan")),
        with_digests=len(trials) > 1,
        executions=executed_gold(folder, kind, str(settings.get("ask", "plan"))),
    )
    evaluation, strict = score_predictions(
        job,
        {trial.number: trial.output.absolute() for trial in trials[1:]},
        bertscore=bertscore,
        items=items_path(target),
        engine=scoring.engine,
        progress=screen.progress,
    )
    screen.say(f"scored {llm}")
    for note in evaluation.notes:
        screen.say(f"{WARNING if note in evaluation.warnings else '  '}{note}")
    done: Sequence[int] = ()
    if OVERALL_GROUP in evaluation.groups:
        numbers, done = _facts_of_run(job, trials, strict)
        whole = evaluation.groups[OVERALL_GROUP].numbers
        whole |= numbers
        if (predictions.parent / FOLDER).is_dir():
            from toolassay.benchmarks.security.probe_results import security_beside

            whole |= security_beside(predictions.parent, llm, screen)
        whole |= _retrieval(job)
    write_groups(target, evaluation.groups)
    return FolderEvaluation(llm, evaluation, target, done)


def _facts_of_run(
    job: ScoringJob, trials: Sequence[Trial], strict: StrictScores
) -> tuple[dict[str, Any], Sequence[int]]:
    """Cost, latency and stability of a run, as far as there are ledgers and trials.

    Returns:
        The numbers, and for each trial the number of its items that have a run.
    """
    numbers: dict[str, Any] = {}
    answers, is_exact, clusters = strict.answers()
    done = (answers != NO_RUN).sum(axis=1).tolist()
    right = (is_exact & (answers != NO_RUN)).sum(axis=1).tolist()
    ledgers = [trial.ledger for trial in trials]
    if any(ledger.is_file() for ledger in ledgers):
        from toolassay.runs.recorded_usage import usage

        numbers |= usage(ledgers, tasks=done, correct=right, only=_ledger_items(job))
    if len(trials) > 1:
        numbers[STABILITY] = {
            "predictions": fingerprint([trial.output for trial in trials]),
            "requests_done": done,
            "requests_right": right,
            **stability_metrics(answers, is_exact, clusters.tolist()),
        }
    return numbers, done


def executed_gold(folder: DataFolder, kind: DependencyType, ask: str) -> Path | None:
    """The executions of gold plans, by which values of references are compared; None where they do not apply.

    Tools without schemas have no results with parts, and of calls in one answer nothing that depends on
    results is compared.
    """
    path = folder.path.absolute() / EXECUTIONS
    return path if kind == "schema" and ask != "calls" and path.is_file() else None


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
    lists = read_json(path, fix=f"make it with {as_called('format')}, or omit --alignment")
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
    """The tools of a folder with their original spelling, their links, and the dependency type.

    The links are None, with a warning, if the folder has no valid graph.
    """
    only_graph = folder.graph_desc.exists() and not folder.tool_desc.exists()
    library = ToolLibrary.load(folder.graph_desc if only_graph else folder.tool_desc, normalise_types=False)
    if only_graph and dependency_type is None and folder.benchmark.dependency_type is None:
        dependency_type = ToolGraph.load(folder.graph_desc).dependency_type
    kind = folder.dependency_type(dependency_type, library=library, say=say)
    try:
        if folder.graph_desc.exists():
            return library, folder.graph(kind, say=say), kind
        return library, ToolGraph.build(folder.library(), kind), kind
    except ToolFilesDiffer:
        raise
    except UsageError as error:
        say(f"warning: without a tool graph, all links between known tools count as existing: {error}")
        return library, None, kind


def evaluate_plans(folder: DataFolder, scoring: ScoringSettings, own: PlanScoring) -> list[FolderEvaluation]:
    """Score the plans of one or several models.

    Raises:
        UsageError: files missing or malformed, or the package of a backend is not installed.
        IncompleteEvaluation: some of several models cannot be scored; it carries the scores of the others.
    """
    bertscore = own.bertscore_on(scoring.engine)
    evaluations: list[FolderEvaluation] = []
    errors: list[ToolassayError] = []
    shared = replace(scoring, screen=replace(scoring.screen, say=once(scoring.screen.say)))
    for name in ScoringPlace(folder, scoring).models:
        try:
            evaluations.append(evaluate_folder(folder, name, own, shared, bertscore=bertscore))
        except ToolassayError as error:
            errors.append(error)
    if errors:
        if not evaluations and len(set(map(str, errors))) == 1:
            raise errors[0]  # nothing about one of the models
        raise IncompleteEvaluation(errors, evaluations) from errors[0]
    return evaluations


def _axis(numbers: Mapping[str, Any]) -> Axis:
    """Exact matches, and repeats of them."""
    strict = numbers["strict"]
    items = strict.get("n_labels", strict["n_expected"])
    right = Interval.of(strict["exact_match"])
    return Axis(items, right, numbers.get("stability"))


SCORES = Scores(
    HEADINGS,
    "n-F1",
    "Percent. strict: every item that was asked counts, 0 where malformed or refused; with 95 % intervals. "
    "compat: as the published evaluator counts, items it cannot read left out.",
    plan_standing,
    _axis,
    "toolassay.benchmarks.taskbench.commands:show_scores",
    ranked_by=("exact_match", "node_f1"),
    published=published_plans,
    recorded=recorded_choices,
)
