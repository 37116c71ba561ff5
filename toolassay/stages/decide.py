"""Decides which model of a report may be trusted: ranking, requirements, comparison with a baseline."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.benchmarks.registry import benchmark_of
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
from toolassay.evaluation.groups import OVERALL, OVERALL_GROUP, ScoreGroup
from toolassay.evaluation.item_detail import ItemGold, confused
from toolassay.evaluation.items import OUTCOMES, ItemTable, ScoredItem, items_path, read_items, read_table
from toolassay.evaluation.metrics_file import SECURITY, read_groups
from toolassay.evaluation.signature import changed_parts, read_signature
from toolassay.files import safe_name
from toolassay.locks import open_regular
from toolassay.metrics.confidence_interval import NOTHING
from toolassay.metrics.significance import compare_shares, holm
from toolassay.report.axes import Axes
from toolassay.report.axes.from_metrics import security_of
from toolassay.report.decision import (
    Contender,
    Decision,
    Facts,
    FolderReport,
    ModelReport,
    Regression,
    Requirement,
    Verdict,
    check,
    quantities,
    rank,
    sentences,
)
from toolassay.report.decision.requirements import Measured
from toolassay.report.decision.verdict import Place
from toolassay.report.item_queries import MOST_ITEMS, ItemQueries
from toolassay.report.report_data import FolderPage, ModelItems
from toolassay.runs.marks import TOOLS_MISSING
from toolassay.runs.recorded_usage import ItemUsage, usage_by_item
from toolassay.runs.trials import Trial
from toolassay.screen import DEFAULT, Screen

ALL_ITEMS = ScoreGroup(OVERALL, OVERALL)


@dataclass(frozen=True)
class ScoredFolder:
    """A data folder with the models that were scored on it.

    Attributes:
        folder: Data folder.
        name: Its name in the report.
        title: Title of its data.
        metrics: Metrics folder.
        predictions: Prediction folder; None without one.
        runs: One entry per model.
    """

    folder: DataFolder
    name: str
    title: str
    metrics: Path
    predictions: Path | None
    runs: Sequence[Axes]

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark of the folder."""
        return benchmark_of(self.folder)

    @property
    def is_executed(self) -> bool:
        """Whether outcomes decide (`by_outcome`)."""
        return self.runs[0].is_by_outcome

    @property
    def can_execute(self) -> bool:
        """Whether `toolassay execute` takes predictions of the benchmark."""
        return type(self.benchmark).predicted_plans is not Benchmark.predicted_plans

    @property
    def item_scores(self) -> Sequence[str]:
        """The scores by which models are ranked, as `Benchmark.item_scores`."""
        return OUTCOMES[:1] if self.is_executed else self.benchmark.item_scores

    @property
    def harm_score(self) -> str:
        """The score that is 0 for an item with unwanted changes, as `Benchmark.harm_score`."""
        return OUTCOMES[1] if self.is_executed else self.benchmark.harm_score

    @cached_property
    def contenders(self) -> Mapping[str, ItemTable]:
        """The tables of the models that can be ranked; where outcomes decide, of the executed ones."""
        known = {run.model for run in self.runs if run.is_executed or not self.is_executed}
        return {model: table for model, table in self.tables.items() if model in known}

    @cached_property
    def tables(self) -> Mapping[str, ItemTable]:
        """The items of each model that has a file of items with at least one scored item."""
        found = {}
        for run in self.runs:
            path = self.items_file(run.model)
            if path.is_file() and run.counts.get("n_scored", 1):
                found[run.model] = read_table(path, ALL_ITEMS)
        return found

    @cached_property
    def usage(self) -> Mapping[str, Mapping[str, ItemUsage]]:
        """What each item used in the first trial, by model."""
        if self.predictions is None:
            return {}
        return {run.model: usage_by_item(Trial(self.predictions, run.model).ledger) for run in self.runs}

    def items_file(self, model: str) -> Path:
        """The file of items of a model."""
        return items_path(self.metrics / f"{safe_name(model)}.json")

    def has_predictions(self, model: str) -> bool:
        """Whether the model has a prediction file."""
        return self.predictions is not None and Trial(self.predictions, model).output.is_file()

    @cached_property
    def _made_from(self) -> Mapping[str, tuple[str, str]]:
        try:
            return self.benchmark.made_from(self.folder)
        except UsageError:  # the data may be elsewhere
            return {}

    def changed_since(self, run: Axes) -> Iterator[tuple[str, str]]:
        """What a model was scored with and that is something else now, with the name of its file."""
        now = dict(self._made_from)
        if self.predictions is not None and self.has_predictions(run.model):
            output = Trial(self.predictions, run.model).output
            now["predictions"] = output.name, self.benchmark.fingerprint(output)
        return changed_parts(read_signature(run.signature), now)

    def all_usage(self, model: str) -> Iterator[ItemUsage]:
        """What each item used, over all trials."""
        if self.predictions is not None:
            yield from self.usage[model].values()
            for ledger in Trial(self.predictions, model).other_ledgers:
                yield from usage_by_item(ledger).values()


def page_folders(
    folders: Sequence[ScoredFolder], screen: Screen = DEFAULT
) -> tuple[list[FolderPage], list[str]]:
    """The items of each folder in detail, for the page, and a note for each that lacks details.

    Details need the data and the predictions, which may be elsewhere; without them the page has the scores.

    Raises:
        UsageError: A file of items is malformed.
    """
    contents, notes = [], []
    with screen.progress("reading predictions", sum(len(folder.runs) for folder in folders)) as advance:
        for folder in folders:
            files = {run.model: folder.items_file(run.model) for run in folder.runs}
            files = {model: path for model, path in files.items() if path.is_file()}
            total = max((_lines_of(path) for path in files.values()), default=0)
            queries = ItemQueries(files) if total > MOST_ITEMS else None
            shown = None if queries is None else queries.sample(MOST_ITEMS)
            if shown is not None:
                grouped = ", scores by group" if folder.is_executed else ""
                notes.append(
                    f"{folder.title}: the page shows {len(shown):,} of {total:,} items, drawn at random. Its "
                    f"tools, confusions{grouped} and arguments are counted on these; everything else on all "
                    "items."
                )
            golds: list[ItemGold] = []
            try:
                every = folder.benchmark.item_golds(folder.folder)
                golds = [gold for gold in every if shown is None or gold.id in shown]
            except UsageError as error:
                notes.append(f"{folder.title}: the items have no details: {error}")
            models = {}
            for run in folder.runs:
                rows: dict[str, ScoredItem] = {}
                if run.model in files and queries is not None and shown is not None:
                    rows = queries.items(run.model, shown)
                elif run.model in files:
                    rows = {row.id: row for row in read_items(files[run.model])}
                models[run.model] = ModelItems(rows, folder.usage.get(run.model, {}))
                if golds and folder.predictions is not None and folder.has_predictions(run.model):
                    try:
                        _add_answers(models[run.model], golds, folder, run.model, is_part=shown is not None)
                    except UsageError as error:
                        notes.append(f"{folder.title}: the answers of {run.model} have no details: {error}")
                advance()
            contents.append(FolderPage(golds, models, queries))
    return contents, notes


def _lines_of(path: Path) -> int:
    """The number of lines of a file."""
    with open_regular(path) as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def _add_answers(
    items: ModelItems, golds: Sequence[ItemGold], folder: ScoredFolder, model: str, *, is_part: bool
) -> None:
    by_id = {gold.id: gold for gold in golds}
    assert folder.predictions is not None
    only = {"only": by_id.keys()} if is_part else {}  # which benchmarks of older packages do not have
    answers = folder.benchmark.item_answers(folder.folder, folder.predictions, model, **only)
    for key, answer in answers:
        if key in by_id:
            items.add(by_id[key], answer)


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
    everywhere = set.intersection(*(set(one.contenders) for one in folders))
    contenders = [
        _contender(run, [folder.contenders[run.model] for folder in folders], folders)
        for run in folders[0].runs
        if run.model in everywhere
    ]
    scores = {one.item_scores[0] for one in folders}
    by_plan = [one.title for one in folders if one.can_execute and not one.is_executed]
    if by_plan and any(one.is_executed for one in folders):
        mixed = f"Outcomes and plans are not ranked together: execute those of {', '.join(by_plan)}."
        return Verdict("", (), [f"There is no verdict over all data folders. {mixed}"])
    if not contenders:
        missing = "No model has items in every data folder: there is no verdict over all of them."
        return Verdict("", (), [missing])
    for folder in folders:
        score = folder.item_scores[0]
        if lacking := [name for name in everywhere if score not in folder.tables[name].metrics]:
            again = f"{folder.title}: the items of {min(lacking)} lack the score {score}: evaluate it again."
            return Verdict("", (), [f"There is no verdict over all data folders. {again}"])
    if len(scores) > 1:
        renamed = "right"
        contenders = [_renamed(one, folders, renamed) for one in contenders]
        score = renamed
    else:
        (score,) = scores
    places = rank(contenders, score, resamples=resamples, seed=seed)
    said = sentences(places, {}, noun="item", measure="of all items are right")
    if sum(place.rank is not None for place in places) == 1:
        said = [f"Only {places[0].name} was run on every data folder."]
    return Verdict(score, places, said)


def _renamed(contender: Contender, folders: Sequence[ScoredFolder], name: str) -> Contender:
    """A contender whose tables have one name for the score that says whether an item is right."""
    tables = []
    for table, folder in zip(contender.tables, folders, strict=True):
        score = folder.item_scores[0]
        tables.append(
            ItemTable(table.path, table.rows, (name,), table.columns([score]), table.clusters, table.labels)
        )
    return Contender(contender.name, tables, contender.is_ranked, contender.is_complete)


def _contender(run: Axes, tables: Sequence[ItemTable], folders: Sequence[ScoredFolder]) -> Contender:
    runs = [one for folder in folders for one in folder.runs if one.model == run.model]
    is_complete = not any(map(_is_incomplete, runs))
    return Contender(run.model, tables, not run.is_baseline, is_complete, run.harm.value or 0.0)


def _is_incomplete(run: Axes) -> bool:
    """Whether the scores are not those of the model on all items."""
    return run.is_partial or run.is_chosen or run.mark == TOOLS_MISSING


def _folder_report(
    folder: ScoredFolder,
    requirements: Sequence[Requirement],
    harmful_tools: Mapping[tuple[str, str], Mapping[str, int]],
    resamples: int,
    seed: int,
) -> FolderReport:
    contenders = [
        _contender(run, [folder.contenders[run.model]], [folder])
        for run in folder.runs
        if run.model in folder.contenders
    ]
    score = _score(folder.item_scores, contenders) if contenders else folder.item_scores[0]
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
        reports.append(
            ModelReport(
                run,
                by_model.get(run.model),
                measured,
                []
                if run.is_baseline
                else [check(one, nothing or measured[one.name]) for one in requirements],
                list(_warnings(folder, run, places)),
            )
        )
    order = {place.name: number for number, place in enumerate(places)}
    reports.sort(key=lambda one: (one.axes.is_baseline, order.get(one.name, len(order))))
    noun = folder.benchmark.noun
    measure = f"of the {noun}s {'have the right outcome' if folder.is_executed else 'are right'}"
    instead = "" if score == folder.item_scores[0] else score.replace("_f1", " F1").replace("_", " ")
    if instead:
        measure = f"mean {instead} (no {noun} is entirely right)"
    facts = {one.name: _facts(one, harmful_tools.get((folder.name, one.name), {})) for one in reports}
    said = (
        sentences(places, facts, noun=noun, measure=measure)
        if places
        else ["No model has a file of items: run evaluate.py."]
    )
    verdict = Verdict(score, places, [*said, *_basis(folder)], instead, is_by_outcome=folder.is_executed)
    return FolderReport(folder.name, folder.title, noun, verdict, reports)


def _basis(folder: ScoredFolder) -> Iterator[str]:
    """Whether plans or outcomes were compared, and how those that lack an outcome get one."""
    command = f"toolassay execute --data_dir {shlex.quote(str(folder.folder.path))} --executor"
    executed = [run for run in folder.runs if run.outcomes is not None and run.is_executed]
    if not folder.is_executed:
        if folder.can_execute:
            again = "then the same with --predictions MODEL"
            yield f"Plans were compared; nothing was executed. To rank by outcome: {command} NAME, {again}."
        return
    if rest := [run.model for run in folder.runs if not run.is_baseline and not run.is_executed]:
        name = next(run.outcomes.executor for run in executed if run.outcomes)
        yield (
            f"Not ranked, because their outcomes are not known: {', '.join(rest)}. Run {command} {name} "
            f"--predictions {shlex.quote(rest[0])}, with the options of the other executions."
        )
    requests = max(run.outcomes.requests for run in executed if run.outcomes)
    items = max(run.items for run in executed)
    if requests < items:
        yield f"{requests:,} of {items:,} {folder.benchmark.noun}s count: the other gold plans did not run."


def _score(scores: Sequence[str], contenders: Sequence[Contender]) -> str:
    """The first score by which models can be ranked: one that all have, and that is not 0 for all of them."""
    shared = [
        score for score in scores if all(score in table.metrics for one in contenders for table in one.tables)
    ]
    for score in shared:
        if any(table.columns([score]).any() for one in contenders if one.is_ranked for table in one.tables):
            return score
    if not shared:
        raise UsageError(f"no file of items has the score {scores[0]}", fix="run evaluate.py again")
    return shared[0]


def _facts(report: ModelReport, harmful_tools: Mapping[str, int]) -> Facts:
    axes, measured = report.axes, report.measured
    return Facts(
        cost=axes.cost.per_1000 if axes.cost else None,
        cost_is_at_least=axes.cost.is_at_least if axes.cost else False,
        seconds=axes.latency.p50 if axes.latency and not axes.latency.is_local else None,
        harm=measured["side_effects"].interval.value,
        harmful_tools=harmful_tools,
        attack_success=measured["attack_success"].interval.value,
        plan=axes.plan_accuracy.value,
        accuracy=measured["accuracy"].interval,
        partial=": ".join(filter(None, (axes.n, axes.excluded))) if axes.is_partial or axes.is_chosen else "",
    )


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
    own = _scored(folder, run.model)
    for line in torn(own):
        yield line.removeprefix("warning: ")
    for what, file in folder.changed_since(run):
        yield f"it was scored with other {what} than {file} has: evaluate it again"
    if places and places[0].name != run.model:
        for line in differing_settings(_scored(folder, places[0].name), own):
            yield line.removeprefix("warning: ")


def _scored(folder: ScoredFolder, model: str) -> ScoredModel:
    return ScoredModel(model, items_path(folder.metrics / f"{safe_name(model)}.json"))


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
    benchmark = folder.benchmark
    before = read_table(base.items, ALL_ITEMS)
    groups = read_groups(base.metrics) if base.metrics.is_file() else {}
    attacks = security_of(groups.get(OVERALL_GROUP, {}).get(SECURITY), {})
    found = []
    for run in folder.runs:
        own = _scored(folder, run.model)
        if run.is_baseline or (own.items.is_file() and own.items.samefile(base.items)):
            continue
        base_name = baseline if base.name == run.model else base.name
        table = folder.tables.get(run.model)
        names = set(before.metrics) & set(table.metrics) if table is not None else set()
        is_by_outcome = folder.is_executed or OUTCOMES[0] in before.metrics
        scores = OUTCOMES if is_by_outcome else (*benchmark.item_scores, benchmark.harm_score)
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


_CONFUSIONS = 5


def _confused_since(folder: ScoredFolder, model: str, base: ScoredModel) -> list[tuple[str, str, int, int]]:
    """Pairs of tools that are confused more often than in the predictions of the baseline, if these exist."""
    if folder.predictions is None:
        return []
    earlier = _data_folder_of(base.items)
    if earlier is None:
        return []
    name = base.items.name.removesuffix(".items.jsonl")
    try:
        before = confusions(folder.benchmark, earlier, earlier.path / "predictions", name)
        now = confusions(folder.benchmark, folder.folder, folder.predictions, model)
    except UsageError:  # the data or the predictions are elsewhere
        return []
    more = [(gold, called, before[gold, called], n) for (gold, called), n in now.items()]
    return sorted((one for one in more if one[3] > one[2]), key=lambda one: (one[2] - one[3], one))[
        :_CONFUSIONS
    ]


def _data_folder_of(items: Path) -> DataFolder | None:
    """The data folder around a metrics folder; None for files elsewhere."""
    place = items.resolve().parent.parent
    return DataFolder(place) if (place / "predictions").is_dir() else None


def confusions(
    benchmark: Benchmark, folder: DataFolder, predictions: Path, model: str
) -> Counter[tuple[str, str]]:
    """How often one tool was called in place of another (`item_detail.confused`)."""
    golds = {gold.id: gold.tools for gold in benchmark.item_golds(folder)}
    answers = benchmark.item_answers(folder, predictions, model)
    pairs = (confused(golds[item], answer.tools) for item, answer in answers if item in golds)
    return Counter(pair for pair in pairs if pair is not None)
