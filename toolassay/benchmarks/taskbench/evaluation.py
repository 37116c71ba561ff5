"""Evaluates TaskBench folders: `data.json` and predictions -> metrics of each model."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from toolassay.benchmarks.benchmark import Scores
from toolassay.benchmarks.security.probe import FOLDER
from toolassay.benchmarks.taskbench.entries import entry_of, outcome_of_label, request_of_label
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring.evaluation import (
    PairScorer,
    PlanEvaluator,
    context_of,
    dropped_lines,
)
from toolassay.benchmarks.taskbench.scoring.leaderboard import (
    HEADINGS,
    plan_standing,
    published_plans,
    recorded_choices,
)
from toolassay.benchmarks.taskbench.scoring.scored_rows import cluster_of
from toolassay.benchmarks.taskbench.scoring.scorer import ScoringJob
from toolassay.benchmarks.taskbench.scoring.strict import score_plan
from toolassay.data_folder import DataFolder, Say
from toolassay.dataset import RequestId
from toolassay.errors import ToolassayError, UsageError
from toolassay.evaluation.evaluation import (
    Evaluation,
    FolderEvaluation,
    IncompleteEvaluation,
    ScoringPlace,
    ScoringSettings,
)
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.item_detail import Axis
from toolassay.evaluation.items import items_path
from toolassay.evaluation.line_index import LineIndex
from toolassay.evaluation.metrics_file import RETRIEVAL, RUN_KEYS, SECURITY, STABILITY
from toolassay.evaluation.places import EVERY_MODEL, metrics_folder, prediction_file
from toolassay.files import read_json, refuse_to_replace, safe_name, write_json
from toolassay.graph import DependencyType, ToolFilesDiffer, ToolGraph
from toolassay.metrics.confidence_interval import Interval, mean_intervals
from toolassay.metrics.pass_k import NO_RUN, UNANSWERED, stability_metrics
from toolassay.normalised_plan import Plan, PlanReader, plan_digest
from toolassay.requests import Chosen, Requests, key_of, read_ids
from toolassay.runs import recorded_settings
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL
from toolassay.runs.outcomes import MISSING, RunOutcomes, is_scored
from toolassay.runs.trials import Trial, fingerprint, same_settings, trials_of
from toolassay.screen import WARNING, once
from toolassay.tools import ToolLibrary


def plan_stability(job: ScoringJob, trials: Sequence[Path]) -> dict[str, Any]:
    """Compare the plans of several prediction files, request by request, as the strict scores parse them.

    The same labels count as in the strict scores. Trials are read one after the other, and of each plan only
    a digest is kept in memory.

    Args:
        job: gives the labels, tools and settings; its predictions are one of the trials.
        trials: the prediction files.

    Returns:
        The result of `stability_metrics`, where a correct answer is an exact match, and for each trial the
        numbers of requests with a prediction (`requests_done`) and of exact matches (`requests_right`).

    Raises:
        UsageError: a file does not exist.
    """
    import numpy as np

    reader = PlanReader(job.library, job.dependency_type)
    clusters = array("q")
    answers, right = [], []
    with LineIndex(job.labels, fix="write it with format_data.py", keep=job.keep) as labels:
        for number, path in enumerate(trials):
            given, is_right = array("q"), array("b")
            run = RunOutcomes(path.parent / "runs" / path.stem, outcome_of_label)
            with LineIndex(path, fix="write it with inference.py", keep=job.keep) as lines:
                for line in _counted_lines(job, labels):
                    label = labels.read(line)
                    gold = job.compared(reader.plan(label), label)
                    if gold is None:
                        continue
                    answer, plan = _plan_number(lines, label, reader, run)
                    plan = job.compared(plan, label)
                    given.append(answer)
                    is_right.append(plan is not None and score_plan(gold, plan).is_exact)
                    if not number:
                        clusters.append(cluster_of(label))
            answers.append(np.asarray(given))
            right.append(np.asarray(is_right, dtype=np.bool_))
    table = np.array(answers, dtype=np.int64).reshape(len(trials), -1)
    rights = np.array(right, dtype=np.bool_).reshape(len(trials), -1)
    return {
        "requests_done": [int((row != NO_RUN).sum()) for row in table],
        "requests_right": [int(row.sum()) for row in rights],
        **stability_metrics(table, rights, clusters),
    }


def _counted_lines(job: ScoringJob, labels: LineIndex) -> list[int]:
    """The lines of the labels that the strict scores count."""
    by_text = labels.by_text
    return [
        line
        for key, line in labels.by_id.items()
        if str(key) not in job.excluded and by_text[str(key)] == line and job.keeps(key)
    ]


def _plan_number(
    lines: LineIndex, label: dict[str, Any], reader: PlanReader, run: RunOutcomes
) -> tuple[int, Plan | None]:
    """A number that is equal for equal plans, and the plan that answers a label."""
    line = lines.by_text.get(str(label["id"]))
    prediction = None if line is None else lines.prediction(lines.place(line))
    if line is None or (prediction is not None and not prediction.answers(label.get("user_request"))):
        outcome = run.outcome(label)
        return (UNANSWERED if outcome != MISSING and is_scored(outcome) else NO_RUN), None
    plan = None if prediction is None else reader.plan(prediction.result)
    return (UNANSWERED, None) if plan is None else (plan_digest(plan), plan)


def add_axes(evaluation: Evaluation, job: ScoringJob, predictions: Path, llm: str, say: Say) -> bool:
    """Add `cost`, `latency`, `notes`, `stability` and `security` to the scores of the group of all labels.

    Each is added only if the run has it: `cost` and `latency` need a ledger, `stability` further trials,
    `security` a security run. Nothing is added if the group of all labels is not scored.

    Args:
        evaluation: of the first trial; changed in place.
        job: what was scored.
        predictions: the folder of the prediction files.
        llm: the model.
        say: receives a warning for each trial that is left out.

    Returns:
        Whether `evaluation` changed.

    Raises:
        UsageError: a ledger, a manifest or the results file of a security run is malformed.
    """
    whole = evaluation.groups.get(OVERALL_GROUP)
    if whole is None:
        return False
    trials, others = same_settings(trials_of(predictions, llm))
    for trial in others:
        say(f"warning: {trial.output} was made with other settings than the first run: left out")
    found = _stability_and_usage(whole, job, trials)
    if (predictions / FOLDER).is_dir():
        from toolassay.benchmarks.security.probe_results import figures_beside

        if (security := figures_beside(predictions, llm)) is not None:
            found[SECURITY] = security
    if retrieval := _retrieval(job):
        found[RETRIEVAL] = retrieval
    before = {name: whole.pop(name) for name in RUN_KEYS if name in whole}
    whole.update(found)
    return found != before


def _retrieval(job: ScoringJob) -> dict[str, Any]:
    """The mean share of the tools of a gold plan that its request showed; {} where all were shown."""
    import numpy as np

    if not (context := context_of(job.run)):
        return {}
    reader, shares, clusters = PlanReader(job.library, job.dependency_type), array("d"), array("q")
    with (
        LineIndex(job.labels, fix="write it with format_data.py", keep=job.keep) as labels,
        Journal(job.run / JOURNAL, read_only=True) as journal,
    ):
        for line in _counted_lines(job, labels):
            label = labels.read(line)
            gold, offered = reader.plan(label), entry_of(journal, request_of_label(label)).offered
            if gold is not None and gold.names and offered is not None:
                shares.append(len(set(gold.names) & set(offered)) / len(set(gold.names)))
                clusters.append(cluster_of(label))
    (recall,) = mean_intervals([np.asarray(shares)], clusters=np.asarray(clusters))
    return {"context": context, "k": int(context.rpartition("@")[2]), "n": len(shares), **recall.to_json()}


def _ledger_items(job: ScoringJob) -> frozenset[str] | None:
    """The scored labels, as a ledger names them; None for all."""
    if job.keeps_all:
        return None
    with LineIndex(job.labels, fix="write it with format_data.py", keep=job.keep) as labels:
        return frozenset(key_of(cast("RequestId", key)) for key in labels.by_id if job.keeps(key))


def _stability_and_usage(whole: Mapping[str, Any], job: ScoringJob, trials: list[Trial]) -> dict[str, Any]:
    strict = whole["strict"]
    done = [strict["n_scored"]]
    right = [round((strict["exact_match"]["value"] or 0) * strict["n_expected"])]
    stability: dict[str, Any] = {}
    if len(trials) > 1:
        name = fingerprint(trials)
        stability = whole.get(STABILITY, {})
        if stability.get("predictions") != name:  # the prediction files have changed since
            found = plan_stability(job, [trial.output for trial in trials])
            stability = {"predictions": name, **found}
        done, right = stability["requests_done"], stability["requests_right"]
    ledgers = [trial.ledger for trial in trials]
    used = {}
    if any(ledger.is_file() for ledger in ledgers):
        from toolassay.runs.recorded_usage import usage

        used = usage(ledgers, tasks=done, correct=right, only=_ledger_items(job))
    return {**used, **({STABILITY: stability} if stability else {})}


_KEY_ENDING = "_alignment_id"
_SPLITS = ("train", "dev", "test")


def evaluate_folder(
    folder: DataFolder,
    llm: str,
    own: PlanScoring | None = None,
    scoring: ScoringSettings | None = None,
    *,
    bertscore: PairScorer | None = None,
) -> FolderEvaluation:
    """Score `{prediction_dir}/{llm}.json` and write `{metrics dir}/{llm}.json`, replacing what was there.

    Beside it `{llm}.items.jsonl` holds every labelled item. The demonstrations that the manifest beside the
    predictions (`runs/{llm}/manifest.json`) names are left out of the strict scores. What `add_axes` finds of
    cost, latency, stability and security is beside the scores of the whole.

    Args:
        folder: the data folder, with `data.json` and `tool_desc.json` (else `graph_desc.json`).
        llm: the model; its file name is `files.safe_name` of it.
        own: what to compute; its `alignment` is a list of `alignment_ids.json` ("human" keeps every
            label, as published), or None.
        scoring: where the files are, and which labels are scored; if its models are "all", metrics whose
            signature is that of these data, predictions and options are taken as they are.
        bertscore: who computes BERTScore.

    Raises:
        UsageError: something is missing or malformed, or the metrics would replace predictions.
    """
    own, scoring = own or PlanScoring(), scoring or ScoringSettings()
    say, alignment = scoring.screen.say, own.alignment
    predictions = prediction_file(folder.require().path, Path(scoring.prediction_dir), llm)
    target = (
        metrics_folder(folder.path, predictions.parent.absolute(), scoring.save_dir, alignment)
        / f"{safe_name(llm)}.json"
    )
    for what, files in (("the predictions", [predictions]), ("a file of the data", folder.files)):
        refuse_to_replace(target, files, what=f"the metrics would replace {what}", flag="--save_dir")
    library, graph, kind = _tools(folder, own.dependency_type, say)
    settings = recorded_settings(predictions.parent / "runs" / predictions.stem) or {}
    demos = settings.get("demo_ids")  # the demonstrations in the prompt are not scored
    evaluator = PlanEvaluator(
        folder.data,
        predictions,
        library,
        kind,
        own,
        graph=graph,
        alignment_ids=None if alignment is None else aligned_ids(folder.alignment_ids, alignment),
        exclude_ids=demos if isinstance(demos, list) else (),
        chosen_ids=chosen_labels(folder, scoring.ids, scoring.limit),
        bertscore=bertscore,
        ask=str(settings.get("ask", "plan")),
    )
    evaluation = _up_to_date(target, evaluator) if EVERY_MODEL in scoring.llm else None
    is_new = evaluation is None
    if evaluation is None:
        progress = scoring.screen.progress
        evaluation = evaluator.evaluate(items=items_path(target), engine=scoring.engine, progress=progress)
    is_new = add_axes(evaluation, evaluator.job, predictions.parent, llm, say) or is_new
    if is_new:
        write_json(target, evaluation.groups)
    return FolderEvaluation(llm, evaluation, target, is_new=is_new)


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
        fits = list(groups) == [group.key for group in evaluator.job.groups] and all(
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
        if dependency_type is None and folder.benchmark.dependency_type is None:
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


def evaluate_plans(folder: DataFolder, scoring: ScoringSettings, own: PlanScoring) -> list[FolderEvaluation]:
    """Score the plans of one or several models.

    Those of "all" models whose data, predictions and choices have not changed are not scored again.

    Raises:
        UsageError: files missing or malformed, or the package of a backend is not installed.
        IncompleteEvaluation: some of several models cannot be scored; it carries the scores of the others.
    """
    own.require_backends()
    screen, bertscore = scoring.screen, own.bertscore_on(scoring.engine)
    evaluations: list[FolderEvaluation] = []
    errors: list[ToolassayError] = []
    shared = replace(scoring, screen=replace(screen, say=once(screen.say)))
    for name in ScoringPlace(folder, scoring).models:
        try:
            result = evaluate_folder(folder, name, own, shared, bertscore=bertscore)
        except ToolassayError as error:
            errors.append(error)
            continue
        screen.say(f"scored {name}" if result.is_new else f"{name} is up to date")
        for note in result.evaluation.notes:
            screen.say(f"{WARNING if note in result.evaluation.warnings else '  '}{note}")
        if security := result.evaluation.groups.get(OVERALL_GROUP, {}).get(SECURITY):
            from toolassay.benchmarks.security.probe_results import figure_lines

            for line in figure_lines(name, security):
                screen.say(line)
        evaluations.append(result)
    if errors:
        if not evaluations and len(set(map(str, errors))) == 1:
            raise errors[0]  # nothing about one of the models
        raise IncompleteEvaluation(errors, evaluations) from errors[0]
    return evaluations


def _axis(numbers: Mapping[str, Any]) -> Axis:
    """Exact matches, and repeats of them."""
    strict = numbers["strict"]
    items, right = strict.get("n_labels", strict["n_expected"]), Interval.of(strict["exact_match"])
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
