"""The report stage: which model may be trusted, as a page, tables, pictures and `report.json`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from toolassay.answers.controls import ControlGate
from toolassay.benchmarks.registry import has_plans
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Result
from toolassay.errors import UsageError, as_called
from toolassay.evaluation.comparison import (
    ScoreComparison,
    ScoredModel,
    compare_models,
    scored_models,
    torn,
)
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.item_detail import ItemGold, confused
from toolassay.evaluation.items import OUTCOMES, ScoredItem, read_items, read_table
from toolassay.evaluation.metrics_file import (
    SECURITY,
    MetricsGroup,
    check_editions,
    differing_settings,
    read_groups,
    read_signature,
)
from toolassay.evaluation.places import EVERY_MODEL, default_predictions, prediction_folder
from toolassay.exporters.dataset_card import read_funnel
from toolassay.files.data_files import write_json, write_text
from toolassay.files.locks import open_regular
from toolassay.graph import ToolGraph
from toolassay.metrics.confidence_interval import NOTHING
from toolassay.metrics.significance import compare_shares, holm
from toolassay.models.registry import BASELINES, BUILT_IN
from toolassay.plans.execution_record import WORLD
from toolassay.plans.gold import Gold
from toolassay.records.data_folder import BY_RULES, DataFolder
from toolassay.records.dataset import read_labels
from toolassay.reports.axes import Axes, csv_table, security_of
from toolassay.reports.decision import (
    Decision,
    FolderReport,
    Regression,
    Verdict,
    junit,
    sentences,
    summary,
)
from toolassay.reports.pictures import MOST, draw_scoreboard
from toolassay.reports.report_page import (
    MOST_ITEMS,
    FolderPage,
    ModelItems,
    PageFolder,
    drawn_ids,
    write_report_page,
)
from toolassay.reports.requirements import Measured, Requirement, calls_of, check, quantities
from toolassay.reports.scoreboard import Contender, ModelReport, Place, choose_score, rank, scoreboard_table
from toolassay.runs.outcomes import TOOLS_MISSING
from toolassay.runs.settings import PREDICTIONS
from toolassay.runs.trials import trials_of
from toolassay.stages.audit import read_audit
from toolassay.stages.leaderboard import ALL_ITEMS, ScoredFolder, ways_of
from toolassay.stages.settings import ReportSettings
from toolassay.variety.measures import VarietyPart, measure_variety
from toolassay.version import __version__
from toolassay.worlds.world import FILE as WORLD_FILE

FUNNEL = "funnel.json"
MOST_LINKS = 3_000
"""With more links than this, the page draws only those that gold plans use."""
_SHORT = 200  # characters of a tool's description


def data_summary(folder: DataFolder) -> dict[str, Any] | None:
    """The facts of a data set of plans; None for other data, or if a file of it cannot be read."""
    if not folder.data.is_file() or not has_plans(folder):
        return None
    used: Counter[tuple[str, str]] = Counter()

    def golds() -> Iterator[Gold]:
        for number, record in read_labels(folder.data):
            links = record.get("task_links")
            for link in links if isinstance(links, list) else ():
                if isinstance(link, dict):
                    used[str(link.get("source")), str(link.get("target"))] += 1
            yield Gold.of(record, number)

    try:
        graph = folder.graph(folder.benchmark.dependency_type) if folder.graph_desc.exists() else None
        library = graph.library if graph is not None else folder.library()
        parts = (VarietyPart([gold]) for gold in golds())
        variety = measure_variety(parts, library=library, graph=graph, sample=300)
        funnel = read_funnel(folder.path / FUNNEL)
    except UsageError:
        return None
    return {
        "requests": variety["requests"],
        "sizes": variety["sizes"],
        "tools": variety["tools"],
        "links": variety["links"],
        "repeats": variety["repeats"],
        "nearest": variety["likeness"].get("nearest"),
        "wording": variety["wording"],
        "funnel": None if funnel is None else msgspec.to_builtins(funnel.funnel),
        "graph": _drawn(graph, used) if graph is not None else None,
    }


def _drawn(graph: ToolGraph, used: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """Tools, and links as positions of their tools with the number of gold plans that use them."""
    library = graph.library
    every = graph.number_of_links <= MOST_LINKS
    pairs = (
        {(link.source, link.target) for link in graph.links()}
        if every
        else {pair for pair in used if all(tool in library for tool in pair)}
    )
    return {
        "nodes": [[tool.id, tool.description[:_SHORT]] for tool in library],
        "links": sorted(
            [library.index(source), library.index(target), used.get((source, target), 0)]
            for source, target in pairs
        ),
        "every": every,
        "number_of_links": graph.number_of_links,
    }


# Pairs of tools in the comparison with a baseline; the table of a model has more.
_CONFUSIONS = 5


def _verdict_of_all(folders: Sequence[ScoredFolder], seed: int) -> Verdict:
    """The verdict over all items of all folders."""
    none = "There is no verdict over all data folders."
    by_plan = [
        scored_folder.title
        for scored_folder in folders
        if scored_folder.can_execute and not scored_folder.is_executed
    ]
    if by_plan and any(scored_folder.is_executed for scored_folder in folders):
        mixed = f"Outcomes and plans are not ranked together: execute those of {', '.join(by_plan)}."
        return Verdict("", (), [f"{none} {mixed}"])
    everywhere = [
        name
        for name in folders[0].contenders
        if all(name in scored_folder.contenders for scored_folder in folders)
    ]
    if not everywhere:
        missing = "No model has items in every data folder: there is no verdict over all of them."
        return Verdict("", (), [missing])
    scores = [scored_folder.ranked_by[0] for scored_folder in folders]
    for folder, score in zip(folders, scores, strict=True):
        if lacking := [name for name in everywhere if score not in folder.tables[name].metrics]:
            again = f"{folder.title}: the items of {min(lacking)} lack the score {score}: evaluate it again."
            return Verdict("", (), [f"{none} {again}"])
    # The score that says whether an item is right has one name in all tables.
    name = scores[0] if len(set(scores)) == 1 else "right"
    contenders = []
    for model in everywhere:
        parts = [scored_folder.contenders[model] for scored_folder in folders]
        tables = [
            replace(table, metrics=(name,), scores=table.columns([score]))
            for contender, score in zip(parts, scores, strict=True)
            for table in contender.tables
        ]
        is_complete = all(part.is_complete for part in parts)
        contenders.append(Contender(model, tables, parts[0].is_ranked, is_complete, parts[0].harm))
    ranking = rank(contenders, name, seed=seed)
    verdict_sentences = sentences(ranking, {}, noun="item", measure="of all items are right")
    if sum(ranked_model.rank is not None for ranked_model in ranking) == 1:
        verdict_sentences = [f"Only {ranking[0].name} was run on every data folder."]
    return Verdict(name, ranking, verdict_sentences)


def _folder_report(
    folder: ScoredFolder, page: FolderPage, requirements: Sequence[Requirement], seed: int
) -> FolderReport:
    contenders = list(folder.contenders.values())
    score = choose_score(folder.ranked_by, contenders)
    ranking = rank(contenders, score, seed=seed)
    by_model = {ranked_model.name: ranked_model for ranked_model in ranking}
    tools = folder.folder.library() if folder.folder.tool_desc.is_file() else None
    reports = []
    for run in folder.runs:
        used = list(folder.all_usage(run.model))
        measured = quantities(
            run,
            [usage.seconds for usage in used if usage.is_answered and usage.seconds is not None],
            [usage.dollars for usage in used if usage.dollars is not None],
        )
        items = page.models[run.model]
        for requirement in requirements:
            if requirement.tool:
                measured[requirement.quantity] = calls_of(requirement.tool, items.calls, items.runs, tools)
        # Without its tools, the scores are not those of the model.
        nothing = Measured(NOTHING, 0, TOOLS_MISSING.note) if run.mark == TOOLS_MISSING else None
        checks = [
            check(requirement, nothing or measured[requirement.quantity])
            for requirement in requirements
            if not run.is_baseline
        ]
        warnings = list(_warnings(folder, run, ranking))
        ranked_model = by_model.get(run.model)
        audit = read_audit(folder, run.model, run.n_judged) if run.is_executed else None
        reports.append(ModelReport(run, ranked_model, measured, checks, warnings, items.harmful_tools, audit))
    order = {ranked_model.name: number for number, ranked_model in enumerate(ranking)}
    reports.sort(key=lambda report: (report.axes.is_baseline, order.get(report.name, len(order))))
    noun = folder.benchmark.about.item
    measure = f"of the {noun}s {'have the right outcome' if folder.is_executed else 'are right'}"
    instead = "" if score == folder.ranked_by[0] else score.replace("_f1", " F1").replace("_", " ")
    if instead:
        measure = f"mean {instead} (no {noun} is entirely right)"
    verdict_sentences = sentences(
        ranking, {report.name: report for report in reports}, noun=noun, measure=measure
    )
    if not ranking:
        verdict_sentences = ["No model has a file of items: run toolassay evaluate."]
    verdict_sentences += _basis(folder)
    verdict_sentences += [f"{report.name}: {report.audit.sentence}" for report in reports if report.audit]
    verdict = Verdict(score, ranking, verdict_sentences, instead, is_by_outcome=folder.is_executed)
    ways = ways_of(folder.folder)
    return FolderReport(folder.name, folder.title, noun, verdict, reports, ways=ways)


def _basis(folder: ScoredFolder) -> Iterator[str]:
    """Whether plans or outcomes were compared, and how those that lack an outcome get one."""
    command = f"toolassay execute --data_dir {shlex.quote(str(folder.folder.path))} --executor"
    if not folder.is_executed:
        # Tools that were not imported have no executor.
        if folder.can_execute and folder.folder.benchmark.dependency_type == "schema":
            again = "then the same with --predictions MODEL"
            yield f"Plans were compared; nothing was executed. To rank by outcome: {command} NAME, {again}."
        return
    executed = [(run, run.outcomes) for run in folder.runs if run.outcomes is not None and run.is_executed]
    if any(outcomes.executor == WORLD for _, outcomes in executed):
        yield f"Outcomes are those of a simulated world ({WORLD_FILE}), not of the service."
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


def _warnings(folder: ScoredFolder, run: Axes, ranking: Sequence[Place]) -> Iterator[str]:
    if run.mark is not None and not run.is_baseline:
        yield run.mark.note
    if "accuracy" in run.notes:
        yield run.notes["accuracy"]
    if run.outcomes is not None and run.outcomes.note:
        yield run.outcomes.note
    if run.model not in folder.tables:
        yield "there is no file of items: it is not ranked (run toolassay evaluate)"
        return
    own = ScoredModel(run.model, folder.items_file(run.model))
    for line in torn(own):
        yield line.removeprefix("warning: ")
    for what, file in folder.changed_since(run.model, read_signature(run.signature)):
        yield f"it was scored with other {what} than {file} has: evaluate it again"
    if ranking and (leader := ranking[0].name) != run.model:
        best = ScoredModel(leader, folder.items_file(leader))
        for line in differing_settings({leader: best.signature, run.model: own.signature}):
            yield line.removeprefix("warning: ")


def regressions(folder: ScoredFolder, page: FolderPage, baseline: str, *, seed: int = 0) -> list[Regression]:
    """Compare every model that is no baseline of a folder with a model or an earlier metrics file.

    Args:
        folder: Data folder.
        page: Its items.
        baseline: Name of a model of the folder, or path of a metrics file or file of items.
        seed: Random seed of intervals and tests.

    Raises:
        UsageError: The baseline has no file of items, or its labels differ.
    """
    (base,) = scored_models([baseline], lambda _: folder.metrics)
    before = read_table(base.items, ALL_ITEMS)
    groups = read_groups(base.metrics) if base.metrics.is_file() else {}
    attacks = security_of(groups.get(OVERALL_GROUP, MetricsGroup()).numbers.get(SECURITY), {})
    is_by_outcome = folder.is_executed or OUTCOMES[0] in before.metrics
    scores = OUTCOMES if is_by_outcome else (*folder.ranked_by, folder.harm)
    all_regressions = []
    for run in folder.runs:
        own = ScoredModel(run.model, folder.items_file(run.model))
        if run.is_baseline or (own.items.is_file() and own.items.samefile(base.items)):
            continue
        base_name = baseline if base.name == run.model else base.name
        table = folder.tables.get(run.model)
        names = set(before.metrics) & set(table.metrics) if table is not None else set()
        compared: Sequence[ScoreComparison] = ()
        note = ""
        if wanted := [score for score in scores if score in names]:
            files = [ScoredModel(base_name, base.items), own]
            comparison = compare_models(files, group=ALL_ITEMS, metrics=wanted, seed=seed)
            compared = comparison.models[0].scores
            note = comparison.models[0].basis
        resisted = [
            (security_score.score, security_score.n) if security_score else (NOTHING, 0)
            for security_score in (attacks, run.security)
        ]
        gap, p = compare_shares(*resisted[0], *resisted[1])
        *by_score, p = holm([*(score_comparison.p for score_comparison in compared), p])
        tested = zip(compared, by_score, strict=True)
        results = [
            (score_comparison.metric, score_comparison.difference, p, score_comparison.n)
            for score_comparison, p in tested
            if score_comparison.n
        ]
        results = results or [(scores[0], NOTHING, None, 0)]
        results += [("attacks_resisted", gap, p, resisted[1][1])] if attacks else []
        confused = _confused_since(folder, page, run.model, base)
        all_regressions += [
            Regression(run.model, base_name, score, *difference, p, n, () if position else confused, note)
            for position, (score, difference, p, n) in enumerate(results)
        ]
    if not all_regressions:
        raise UsageError(
            f"there is nothing to compare with the baseline {baseline}", fix="name a model with --llm"
        )
    return all_regressions


def _confused_since(
    folder: ScoredFolder, page: FolderPage, model: str, base: ScoredModel
) -> list[tuple[str, str, int, int]]:
    """Pairs of tools that are confused more often than in the predictions of the baseline, if these exist."""
    earlier = DataFolder(base.items.resolve().parent.parent)  # the data folder around the metrics folder
    golds = {gold.id: gold.tools for gold in page.golds}
    name = base.items.name.removesuffix(".items.jsonl")
    before: Counter[tuple[str, str] | None] = Counter()
    try:
        predictions = prediction_folder(earlier.path, Path(PREDICTIONS))
        trials = trials_of(predictions, name)
        for trial in trials:
            answers = folder.benchmark.items.answers(earlier, trial.folder, name, golds.keys())
            before.update(confused(golds[item], answer.tools) for item, answer in answers if item in golds)
    except UsageError:  # the data or the predictions are elsewhere
        return []
    now = page.models[model].confusions
    # With another number of trials, how often in one of them is compared.
    times = len(folder.trials(model)) / len(trials)
    more = [(*pair, before[pair], n) for pair, n in now.items() if n > before[pair] * times]
    return sorted(more, key=lambda confusion: (confusion[2] * times - confusion[3], confusion))[:_CONFUSIONS]


TABLE, NUMBERS, PAGE, DECISION = "axes.csv", "axes.json", "index.html", "report.json"
PICTURES = ("axes.svg", "axes.png", "axes.pdf")
RANKINGS = ("ranking.svg", "ranking.png", "ranking.pdf")
TABLES = ("models.csv", "models.tex")

FILES = (DECISION, NUMBERS, TABLE, *TABLES, *PICTURES, *RANKINGS, PAGE)
"""The files of a report folder."""


@dataclass(frozen=True, repr=False)
class AxesReport(Result):
    """The content and files of a report.

    Attributes:
        runs: One entry per model and data folder, in the order of the ranking.
        missing: Each missing or unusable metrics file, with the command that creates it.
        notes: Each model that was run on some of the folders only, with the command for the rest.
        decision: Verdict, ranking and requirements.
        pages: Content of the page, one entry per folder; can be written once.
        files: Files written.
    """

    runs: Sequence[Axes]
    missing: Sequence[str]
    notes: Sequence[str]
    decision: Decision
    pages: Sequence[PageFolder]
    files: Sequence[Path] = ()

    @property
    def exit_code(self) -> int:
        """That of the decision; 3 if it is 0 and metrics are missing."""
        return self.decision.exit_code or (3 if self.missing else 0)


def write_report(
    data_dir: str | Path | Sequence[str | Path],
    *,
    out: str | Path = "report",
    junit_file: str | Path | None = None,
    summary_file: str | Path | None = None,
    settings: ReportSettings = ReportSettings(),
    screen: Screen = DEFAULT,
) -> AxesReport:
    """Decide which model may be trusted: ranking, requirements, and five axes on several benchmarks.

    Writes `FILES`: the page, the decision, the five measures, tables and pictures.

    Args:
        data_dir: One or several data folders of any benchmark.
        out: Output folder; or an HTML file, then only the page is written.
        junit_file: JUnit file for the requirements.
        summary_file: Markdown file for the decision.
        settings: What is reported.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A data folder does not exist, there are no metrics at all, or a requirement is malformed.
    """
    built = build_report(data_dir, settings, screen)
    files = list(_written(built, Path(out)))
    for file, text in ((junit_file, junit), (summary_file, summary)):
        if file is not None:
            write_text(Path(file), text(built.decision))
            files.append(Path(file))
    return replace(built, files=files)


def build_report(
    data_dir: str | Path | Sequence[str | Path],
    settings: ReportSettings = ReportSettings(),
    screen: Screen = DEFAULT,
) -> AxesReport:
    """Everything that `write_report` writes; the arguments are the same.

    Raises:
        UsageError: As `write_report`.
    """
    requirements = [Requirement.parse(text) for text in settings.require]
    seed = settings.seed
    folders, missing, notes = _scored_folders(data_dir, settings)
    for line in missing:
        screen.say(f"{WARNING}left out: {line}")
    for line in notes:
        screen.say(line)
    remarks = [*(f"Left out: {line}" for line in missing), *notes]
    counts_calls = any(requirement.tool for requirement in requirements)
    contents = []
    with screen.progress("reading predictions", sum(len(folder.runs) for folder in folders)) as advance:
        for folder in folders:
            content, lacking = _page_folder(folder, counts_calls=counts_calls)
            contents.append(content)
            remarks += lacking
            for _ in folder.runs:
                advance()
    reports = [
        _folder_report(folder, page, requirements, seed)
        for folder, page in zip(folders, contents, strict=True)
    ]
    verdict = reports[0].verdict if len(reports) == 1 else _verdict_of_all(folders, seed)
    decision = Decision(reports, verdict, bool(requirements), warnings=remarks, undecided=settings.undecided)
    if settings.baseline is not None:
        base = str(settings.baseline)
        compared = [
            regression
            for folder, page in zip(folders, contents, strict=True)
            for regression in regressions(folder, page, base, seed=seed)
        ]
        decision = replace(decision, regressions=compared)
    pages = [
        PageFolder(
            report,
            folder.runs[0].about,
            content.summary(report, folder.harm) | {"data": data_summary(folder.folder)},
            content.chunks([model.name for model in report.models]),
        )
        for report, folder, content in zip(decision.folders, folders, contents, strict=True)
    ]
    ranked = [report.axes for reports in decision.models.values() for report in reports.values()]
    return AxesReport(ranked, missing, notes, decision, pages)


def _scored_folders(
    data_dir: str | Path | Sequence[str | Path], settings: ReportSettings
) -> tuple[list[ScoredFolder], list[str], list[str]]:
    """The folders with the models to report, and what is missing and worth noting.

    Raises:
        UsageError: A data folder does not exist, or there are no metrics at all.
    """
    given = [data_dir] if isinstance(data_dir, str | Path) else list(data_dir)
    llm = settings.llm
    wanted = [llm] if isinstance(llm, str) else list(dict.fromkeys(llm))
    scored = [
        scored_folder
        for folder in dict.fromkeys(map(Path, given))
        for scored_folder in _folders_to_report(folder, wanted, settings)
    ]
    names = Counter(scored_folder.name for scored_folder, _ in scored)
    scored_folders = [
        scored_folder
        if names[scored_folder.name] == 1
        else replace(scored_folder, name=scored_folder.folder.path.as_posix())
        for scored_folder, _ in scored
    ]
    models_by_folder = [models for _, models in scored]
    known_models = dict.fromkeys(model for models in models_by_folder for model in models)
    # Built-in programs are not ranked and come last.
    models = sorted(known_models, key=lambda model: (model in BUILT_IN, model in BASELINES))
    folders: list[ScoredFolder] = []
    missing: list[str] = []
    notes: list[str] = []
    for scored_folder, known in zip(scored_folders, models_by_folder, strict=True):
        runs = []
        if not known:
            example = next(iter(models), "NAME")
            missing.append(
                f"{scored_folder.given}: no metrics of any model. Fix: {scored_folder.fix(example)}"
            )
        for model in models if known else ():
            try:
                if model in known:
                    runs.append(scored_folder.read(model))
                else:
                    notes.append(
                        f"{scored_folder.given}: {model} was not run there. Fix: {scored_folder.fix(model)}"
                    )
            except UsageError as error:
                missing.append(str(error))
        if runs:
            folders.append(scored_folder.having(runs))
    if not folders and not models:
        raise UsageError(
            f"no metrics in {', '.join(str(scored_folder.metrics) for scored_folder in scored_folders)}",
            fix=f"make them with {as_called('infer')} and {as_called('evaluate')}",
        )
    if not folders:
        raise UsageError("; ".join(missing))
    for name in dict.fromkeys(folder.benchmark.name for folder in folders):
        alike = [folder for folder in folders if folder.benchmark.name == name]
        check_editions(
            {
                f"{folder.name}/{run.model}": read_signature(run.signature)
                for folder in alike
                for run in folder.runs
            }
        )
    notes += [
        f"{scored_folder.given}: {BY_RULES}."
        for scored_folder in scored_folders
        if scored_folder.folder.benchmark.is_by_rules
    ]
    for scored_folder in scored_folders:
        if funnel := read_funnel(scored_folder.folder.path / FUNNEL):
            notes += [f"{scored_folder.given}: {line}." for line in funnel.critics.values()]
            notes += [
                f"{scored_folder.given}: held back by controls, in no score: {row.quarantine} (gates.jsonl)."
                for row in funnel.funnel
                if row.gate == ControlGate.name and row.quarantine
            ]
    return folders, missing, notes


def _folders_to_report(
    data_dir: Path, wanted: Sequence[str], settings: ReportSettings
) -> Iterator[tuple[ScoredFolder, Sequence[str]]]:
    """A data folder with the models to report, once for each prediction folder that has some of them.

    Without `--prediction_dir`, a model that is named is found in any prediction folder.

    Raises:
        UsageError: The data folder does not exist.
    """
    given = ScoredFolder.at(data_dir, settings.prediction_dir, settings.metrics_dir)
    known = given.models
    if EVERY_MODEL in wanted:
        yield given, known
        return
    is_default = str(settings.prediction_dir) == PREDICTIONS and settings.metrics_dir is None
    elsewhere: dict[str, list[str]] = {}
    here: list[str] = []
    for model in wanted:
        home = default_predictions(given.folder.path, model) if is_default and model not in known else None
        (here if home is None else elsewhere.setdefault(home, [])).append(model)
    if here:
        yield given, here
    for home, models in elsewhere.items():
        scored_folder = ScoredFolder.at(data_dir, home, None)
        yield replace(scored_folder, name=f"{scored_folder.name} ({home})"), models


def _page_folder(folder: ScoredFolder, *, counts_calls: bool) -> tuple[FolderPage, list[str]]:
    """The items of a folder in detail, for the page, and notes on what has no details.

    Details need the data and the predictions, which may be elsewhere; without them the page has the scores.

    Args:
        folder: Data folder.
        counts_calls: Read the answers to items that the page does not show, too.

    Raises:
        UsageError: A file of items is malformed.
    """
    notes: list[str] = []
    files = {run.model: path for run in folder.runs if (path := folder.items_file(run.model)).is_file()}
    total = max(map(_lines_of, files.values()), default=0)
    shown = drawn_ids(files.values(), MOST_ITEMS) if total > MOST_ITEMS else None
    if shown is not None:
        notes.append(
            f"{folder.title}: the page shows {len(shown):,} of {total:,} items, drawn at random. Its tools, "
            "confusions and arguments are counted on these; everything else on all items."
        )
    details, golds = folder.benchmark.items, dict[str, ItemGold]()
    try:
        golds = {gold.id: gold for gold in details.golds(folder.folder) if shown is None or gold.id in shown}
    except UsageError as error:
        notes.append(f"{folder.title}: the items have no details: {error}")
    models = {}
    for run in folder.runs:
        rows: dict[str, ScoredItem] = {}
        if run.model in files:
            every = read_items(files[run.model])
            rows = {row.id: row for row in every if shown is None or row.id in shown}
        items = models[run.model] = ModelItems(rows, folder.usage.get(run.model, {}))
        if golds and folder.predictions is not None and folder.output(run.model) is not None:
            only = None if shown is None or counts_calls else golds.keys()
            try:
                for trial in folder.trials(run.model):
                    for key, answer in details.answers(folder.folder, trial.folder, run.model, only):
                        items.count(answer)
                        if key in golds:
                            items.add(golds[key], answer, trial.number)
            except UsageError as error:
                notes.append(f"{folder.title}: the answers of {run.model} have no details: {error}")
    return FolderPage(golds.values(), models, {} if shown is None else files), notes


def _lines_of(path: Path) -> int:
    """The number of lines of a file."""
    with open_regular(path) as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def _written(built: AxesReport, out: Path) -> Iterator[Path]:
    runs, decision = built.runs, built.decision
    if out.suffix.lower() in (".html", ".htm"):
        yield write_report_page(decision, built.pages, out)
        return
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / DECISION, decision.to_json())
    write_json(out / NUMBERS, {"toolassay": __version__, "runs": [run.to_json() for run in runs]})
    write_text(out / TABLE, csv_table(runs))
    for name in PICTURES:
        draw_scoreboard(decision.folders, out / name)
    for name in RANKINGS:
        draw_scoreboard(decision.folders, out / name, axes=("accuracy",))
    rows = [(folder.title, model) for folder in decision.folders for model in folder.models]
    write_text(out / TABLES[0], scoreboard_table(rows).csv())
    write_text(out / TABLES[1], "\n".join(folder.table.latex() for folder in decision.folders))
    if (models := max(len(folder.models) for folder in decision.folders)) > MOST:
        more = f"The pictures show the first {MOST} of {models} models."
        decision = replace(decision, warnings=[*decision.warnings, more])
    write_report_page(decision, built.pages, out / PAGE)
    yield from (out / name for name in FILES)
