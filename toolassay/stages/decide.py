"""Decides which model of a report may be trusted: ranking, requirements, comparison with a baseline."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.evaluation.comparison import (
    ScoreComparison,
    ScoredModel,
    compare_models,
    differing_settings,
    scored_models,
    torn,
)
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.item_detail import confused
from toolassay.evaluation.items import OUTCOMES, read_table
from toolassay.evaluation.metrics_file import SECURITY, read_groups, read_signature
from toolassay.metrics.confidence_interval import NOTHING
from toolassay.metrics.significance import compare_shares, holm
from toolassay.report.axes import Axes, security_of
from toolassay.report.decision import Decision, FolderReport, Regression, Verdict, facts_of, sentences
from toolassay.report.requirements import Measured, Requirement, check, quantities
from toolassay.report.scoreboard import Contender, ModelReport, Place, choose_score, rank
from toolassay.runs.outcomes import TOOLS_MISSING
from toolassay.stages.scored_folder import ALL_ITEMS, ScoredFolder

_CONFUSIONS = 5


def decide(
    folders: Sequence[ScoredFolder],
    requirements: Sequence[Requirement] = (),
    *,
    harmful_tools: Mapping[tuple[str, str], Mapping[str, int]] | None = None,
    seed: int = 0,
    resamples: int = 10_000,
) -> Decision:
    """Rank the models of each folder, check requirements, and give a verdict over all folders.

    Args:
        folders: At least one, each with at least one model.
        requirements: What a model must meet.
        harmful_tools: Number of items with unwanted changes by tool, for each (folder name, model).
        seed: Random seed of intervals and tests.
        resamples: Number of their resamples.

    Raises:
        UsageError: A file of items is malformed.
    """
    reports = [_folder_report(one, requirements, harmful_tools or {}, resamples, seed) for one in folders]
    verdict = reports[0].verdict if len(reports) == 1 else _verdict_of_all(folders, resamples, seed)
    return Decision(reports, verdict, bool(requirements))


def _verdict_of_all(folders: Sequence[ScoredFolder], resamples: int, seed: int) -> Verdict:
    """The verdict over all items of all folders."""
    none = "There is no verdict over all data folders."
    by_plan = [one.title for one in folders if one.can_execute and not one.is_executed]
    if by_plan and any(one.is_executed for one in folders):
        mixed = f"Outcomes and plans are not ranked together: execute those of {', '.join(by_plan)}."
        return Verdict("", (), [f"{none} {mixed}"])
    everywhere = [name for name in folders[0].contenders if all(name in one.contenders for one in folders)]
    if not everywhere:
        missing = "No model has items in every data folder: there is no verdict over all of them."
        return Verdict("", (), [missing])
    scores = [one.ranked_by[0] for one in folders]
    for folder, score in zip(folders, scores, strict=True):
        if lacking := [name for name in everywhere if score not in folder.tables[name].metrics]:
            again = f"{folder.title}: the items of {min(lacking)} lack the score {score}: evaluate it again."
            return Verdict("", (), [f"{none} {again}"])
    # The score that says whether an item is right has one name in all tables.
    name = scores[0] if len(set(scores)) == 1 else "right"
    contenders = []
    for model in everywhere:
        parts = [one.contenders[model] for one in folders]
        tables = [
            replace(table, metrics=(name,), scores=table.columns([score]))
            for one, score in zip(parts, scores, strict=True)
            for table in one.tables
        ]
        is_complete = all(run.is_complete for one in folders for run in one.runs if run.model == model)
        contenders.append(Contender(model, tables, parts[0].is_ranked, is_complete, parts[0].harm))
    places = rank(contenders, name, resamples=resamples, seed=seed)
    said = sentences(places, {}, noun="item", measure="of all items are right")
    if sum(place.rank is not None for place in places) == 1:
        said = [f"Only {places[0].name} was run on every data folder."]
    return Verdict(name, places, said)


def _folder_report(
    folder: ScoredFolder,
    requirements: Sequence[Requirement],
    harmful_tools: Mapping[tuple[str, str], Mapping[str, int]],
    resamples: int,
    seed: int,
) -> FolderReport:
    contenders = list(folder.contenders.values())
    score = choose_score(folder.ranked_by, contenders)
    places = rank(contenders, score, resamples=resamples, seed=seed)
    by_model = {place.name: place for place in places}
    reports = []
    for run in folder.runs:
        used = list(folder.all_usage(run.model))
        measured = quantities(
            run,
            [one.seconds for one in used if one.is_answered and one.seconds is not None],
            [one.dollars for one in used if one.dollars is not None],
        )
        # Without its tools, the scores are not those of the model.
        nothing = Measured(NOTHING, 0, TOOLS_MISSING.note) if run.mark == TOOLS_MISSING else None
        checks = [check(one, nothing or measured[one.name]) for one in requirements if not run.is_baseline]
        warnings = list(_warnings(folder, run, places))
        reports.append(ModelReport(run, by_model.get(run.model), measured, checks, warnings))
    order = {place.name: number for number, place in enumerate(places)}
    reports.sort(key=lambda one: (one.axes.is_baseline, order.get(one.name, len(order))))
    noun = folder.benchmark.about.item
    measure = f"of the {noun}s {'have the right outcome' if folder.is_executed else 'are right'}"
    instead = "" if score == folder.ranked_by[0] else score.replace("_f1", " F1").replace("_", " ")
    if instead:
        measure = f"mean {instead} (no {noun} is entirely right)"
    facts = {one.name: facts_of(one, harmful_tools.get((folder.name, one.name), {})) for one in reports}
    said = sentences(places, facts, noun=noun, measure=measure)
    if not places:
        said = ["No model has a file of items: run evaluate.py."]
    verdict = Verdict(score, places, [*said, *_basis(folder)], instead, is_by_outcome=folder.is_executed)
    return FolderReport(folder.name, folder.title, noun, verdict, reports)


def _basis(folder: ScoredFolder) -> Iterator[str]:
    """Whether plans or outcomes were compared, and how those that lack an outcome get one."""
    command = f"toolassay execute --data_dir {shlex.quote(str(folder.folder.path))} --executor"
    if not folder.is_executed:
        if folder.can_execute:
            again = "then the same with --predictions MODEL"
            yield f"Plans were compared; nothing was executed. To rank by outcome: {command} NAME, {again}."
        return
    executed = [(run, run.outcomes) for run in folder.runs if run.outcomes is not None and run.is_executed]
    if rest := [run.model for run in folder.runs if not run.is_baseline and not run.is_executed]:
        yield (
            f"Not ranked, because their outcomes are not known: {', '.join(rest)}. Run {command} "
            f"{executed[0][1].executor} --predictions {shlex.quote(rest[0])}, with the options of the other "
            "executions."
        )
    requests = max(outcomes.requests for _, outcomes in executed)
    items = max(run.items for run, _ in executed)
    if requests < items:
        noun = folder.benchmark.about.item
        yield f"{requests:,} of {items:,} {noun}s count: the other gold plans did not run."


def _warnings(folder: ScoredFolder, run: Axes, places: Sequence[Place]) -> Iterator[str]:
    if run.mark is not None and not run.is_baseline:
        yield run.mark.note
    if "accuracy" in run.notes:
        yield run.notes["accuracy"]
    if run.outcomes is not None and run.outcomes.note:
        yield run.outcomes.note
    if run.model not in folder.tables:
        yield "there is no file of items: it is not ranked (run evaluate.py)"
        return
    own = ScoredModel(run.model, folder.items_file(run.model))
    for line in torn(own):
        yield line.removeprefix("warning: ")
    for what, file in folder.changed_since(run.model, read_signature(run.signature)):
        yield f"it was scored with other {what} than {file} has: evaluate it again"
    if places and (leader := places[0].name) != run.model:
        for line in differing_settings(ScoredModel(leader, folder.items_file(leader)), own):
            yield line.removeprefix("warning: ")


def regressions(
    folder: ScoredFolder, baseline: str, *, seed: int = 0, resamples: int = 10_000
) -> list[Regression]:
    """Compare every model that is no baseline of a folder with a model or an earlier metrics file.

    Args:
        folder: Data folder.
        baseline: Name of a model of the folder, or path of a metrics file or file of items.
        seed: Random seed of intervals and tests.
        resamples: Number of their resamples.

    Raises:
        UsageError: The baseline has no file of items, or its labels differ.
    """
    (base,) = scored_models([baseline], lambda: folder.metrics)
    before = read_table(base.items, ALL_ITEMS)
    groups = read_groups(base.metrics) if base.metrics.is_file() else {}
    attacks = security_of(groups.get(OVERALL_GROUP, {}).get(SECURITY), {})
    is_by_outcome = folder.is_executed or OUTCOMES[0] in before.metrics
    scores = OUTCOMES if is_by_outcome else (*folder.ranked_by, folder.harm)
    found = []
    for run in folder.runs:
        own = ScoredModel(run.model, folder.items_file(run.model))
        if run.is_baseline or (own.items.is_file() and own.items.samefile(base.items)):
            continue
        base_name = baseline if base.name == run.model else base.name
        table = folder.tables.get(run.model)
        names = set(before.metrics) & set(table.metrics) if table is not None else set()
        compared: Sequence[ScoreComparison] = ()
        if wanted := [score for score in scores if score in names]:
            files = [ScoredModel(base_name, base.items), own]
            made = compare_models(files, group=ALL_ITEMS, metrics=wanted, resamples=resamples, seed=seed)
            compared = made.models[0].scores
        resisted = [(one.score, one.n) if one else (NOTHING, 0) for one in (attacks, run.security)]
        gap, p = compare_shares(*resisted[0], *resisted[1])
        *by_score, p = holm([*(one.p for one in compared), p])
        tested = zip(compared, by_score, strict=True)
        results = [(one.metric, one.difference, p, one.n) for one, p in tested if one.n]
        results = results or [(scores[0], NOTHING, None, 0)]
        results += [("attacks_resisted", gap, p, resisted[1][1])] if attacks else []
        confused = _confused_since(folder, run.model, base)
        found += [
            Regression(run.model, base_name, score, *difference, p, n, () if place else confused)
            for place, (score, difference, p, n) in enumerate(results)
        ]
    if not found:
        raise UsageError(
            f"there is nothing to compare with the baseline {baseline}", fix="name a model with --llm"
        )
    return found


def _confused_since(folder: ScoredFolder, model: str, base: ScoredModel) -> list[tuple[str, str, int, int]]:
    """Pairs of tools that are confused more often than in the predictions of the baseline, if these exist."""
    earlier = base.items.resolve().parent.parent  # the data folder around the metrics folder
    if folder.predictions is None or not (earlier / "predictions").is_dir():
        return []
    name = base.items.name.removesuffix(".items.jsonl")
    try:
        before = _confusions(folder.benchmark, DataFolder(earlier), earlier / "predictions", name)
        now = _confusions(folder.benchmark, folder.folder, folder.predictions, model)
    except UsageError:  # the data or the predictions are elsewhere
        return []
    more = [(*pair, before[pair], n) for pair, n in now.items() if n > before[pair]]
    return sorted(more, key=lambda one: (one[2] - one[3], one))[:_CONFUSIONS]


def _confusions(
    benchmark: Benchmark, folder: DataFolder, predictions: Path, model: str
) -> Counter[tuple[str, str]]:
    """How often one tool was called in place of another (`item_detail.confused`)."""
    golds = {gold.id: gold.tools for gold in benchmark.items.golds(folder)}
    answers = benchmark.items.answers(folder, predictions, model, None)
    pairs = (confused(golds[item], answer.tools) for item, answer in answers if item in golds)
    return Counter(pair for pair in pairs if pair is not None)
