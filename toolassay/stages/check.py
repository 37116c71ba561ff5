"""The check stage: runs a data set through the gates and writes the passed and the quarantined samples."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from toolassay.answers.controls import ControlGate
from toolassay.benchmarks.registry import benchmark_of, default_benchmark
from toolassay.benchmarks.work_folder import graph_of
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Result
from toolassay.console.text_formatting import count_of
from toolassay.engines import Engine, open_engine
from toolassay.errors import UsageError, as_called, made_by
from toolassay.executors.executor import CallResult
from toolassay.files.data_files import (
    read_json,
    safe_name,
    sha256_of,
    write_json,
    write_json_lines,
    write_text,
)
from toolassay.gates.calibration import standing
from toolassay.gates.checked_folder import (
    FUNNEL,
    FUNNEL_PAGE,
    FUNNEL_PICTURE,
    GATES,
    QUARANTINE,
    REPAIRS,
    CheckedFolder,
    CheckedPart,
    CheckTask,
    checked_parts,
)
from toolassay.gates.coverage import Coverage
from toolassay.gates.critic import (
    NOT_FOR_IT,
    PARAMETERS,
    RULES,
    CriticEvidence,
    CriticVerdict,
    CriticWork,
    Knowledge,
    TeacherGate,
    template,
)
from toolassay.gates.duplicate_gates import (
    CONTAMINATION,
    DUPLICATE,
    RepeatGate,
    repeat_gate,
)
from toolassay.gates.gate import Background, CheckedSample, Level, read_gates
from toolassay.gates.gate_pipeline import (
    ExecutionGate,
    GateFunnel,
    GateRecipe,
    SampleContext,
    funnel_page,
    funnel_table,
    gate_pipeline,
    levels_text,
    select_gates,
)
from toolassay.gates.labelled_set import LabelledSet, Selected
from toolassay.gates.repair import repair as repaired
from toolassay.gates.second_opinion_gate import SecondOpinionGate, Solver
from toolassay.graph import ToolGraph
from toolassay.live_values.results import read_results
from toolassay.models.registry import refuse_baseline
from toolassay.plans.execution_record import FILE as EXECUTIONS
from toolassay.plans.execution_record import SIMULATOR, read_executions
from toolassay.plans.gold import Gold
from toolassay.records.data_folder import BY_RULES, DataFolder
from toolassay.runs.journal import Journal
from toolassay.runs.ledger import FREE, NO_PRICE
from toolassay.runs.manifest import SUMMARY
from toolassay.runs.record import hashes
from toolassay.runs.run import Run
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Work, WorkFacts, Written
from toolassay.stages.infer import infer
from toolassay.stages.live_values import read_values
from toolassay.stages.settings import GateSettings
from toolassay.variety.near_duplicates import SEED, Thresholds
from toolassay.version import __version__


def requested_gates(
    gating: GateSettings,
    background: Background,
    critics: Sequence[str],
    *,
    is_executed: bool,
    has_facts: bool,
) -> tuple[str, ...]:
    """The names of the requested gates, in order, before any file is read or any model is called.

    Args:
        gating: The gates and their options.
        background: Of the samples.
        critics: Models that review the samples.
        is_executed: Whether the plans of the set were executed.
        has_facts: Whether a sample says what a person must be told.

    Raises:
        UsageError: A gate is unknown, or an option is given whose gate is skipped.
    """
    is_compared = gating.against is not None
    opinion = SecondOpinionGate((), background) if gating.solvers else None
    whole_set = [RepeatGate(DUPLICATE, {})] + [RepeatGate(CONTAMINATION, {})] * is_compared
    execution = ExecutionGate((), background) if is_executed else None
    controls = ControlGate(execution, {}) if execution is not None and has_facts else None
    known = SampleContext(execution=execution, controls=controls, second_opinion=opinion, whole_set=whole_set)
    names = tuple(
        gate.name for gate in select_gates(gate_pipeline(background, known), gating.gates, gating.without)
    )
    for flag, given, gate in (
        ("critic", critics, TeacherGate.name),
        ("solver", gating.solvers, SecondOpinionGate.name),
        ("against", is_compared, CONTAMINATION),
    ):
        if given and gate not in names:
            fix = f"omit --{flag}, or run that gate"
            raise UsageError(f"--{flag} needs the gate '{gate}', which is left out", fix=fix)
    return names


def worth_reviewing(
    labels: LabelledSet, known: SampleContext, recipe: GateRecipe, engine: Engine, screen: Screen
) -> Selected:
    """The samples that no rule gate rejects; only these are sent to critics and solvers."""
    models = (TeacherGate.name, SecondOpinionGate.name)
    rules = replace(recipe, names=tuple(name for name in recipe.names if name not in models))
    task = CheckTask(labels.reader, rules, writes=False, tries_repair=False)
    lines = {line for part in checked_parts(labels, known, task, engine) for line in part.kept}
    left_out = len(labels) - len(lines)
    if left_out:
        screen.say(f"{count_of(left_out, 'sample')} that the rules reject are not sent to models")
    return Selected(labels, frozenset(lines))


def other_set(path: Path, checked: DataFolder) -> LabelledSet:
    """The data set of `--against`: a file of labels or requests, or a data folder with one.

    Raises:
        UsageError: It is missing, malformed, or the data set that is checked.
    """
    if path.resolve() in (checked.path.resolve(), checked.data.resolve()):
        raise UsageError(
            "is the data set that is checked",
            file=path,
            fix="name another data set with --against; duplicates within a set are found without it",
        )
    if not path.exists():
        raise UsageError("no such file or folder", file=path, fix="check --against")
    if not path.is_dir():
        return LabelledSet.read(path)
    folder = DataFolder(path)
    if not folder.data.exists() and not folder.user_requests.exists():
        raise UsageError("holds neither data.json nor user_requests.json", file=path, fix="check --against")
    return LabelledSet.read(folder.data if folder.data.exists() else folder.user_requests)


FOLDER = "critics"
CONFLICT_FIX = "use those settings, another --out, or --force true (keeps the old run)"


class ReviewWork(Work):
    """A run of a critic over samples.

    Args:
        reviews: The samples and their verdicts.
        data: File of the samples; its hash is in the manifest.
        size: Number of samples.
    """

    def __init__(self, reviews: CriticWork, data: Path, size: int) -> None:
        self._reviews = reviews
        self._data = data
        self._size = size

    @cached_property
    def facts(self) -> WorkFacts:
        """The prompt hash is a setting: a changed prompt needs a new run."""
        wording = hashlib.sha256(template().encode()).hexdigest()
        return WorkFacts(
            "review",
            {"role": "critic", **PARAMETERS, "prompt_sha256": wording},
            {},
            self._size,
            self._size,
            {**hashes(self._data), "prompt": wording},
            stage="critic",
            conflict_fix=CONFLICT_FIX,
        )

    @property
    def items(self) -> CriticWork:
        """The review of single samples."""
        return self._reviews

    @property
    def chosen(self) -> Iterable[Gold]:
        """The samples."""
        return self._reviews.golds

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one line per review."""
        return Written(write_json_lines(output, self._reviews.lines(journal)))


def read_evidence(folder: DataFolder) -> CriticEvidence:
    """What critics see beside the samples of a folder.

    Args:
        folder: Its `values.json`, `results.json` and `executions.jsonl` are read, if they are there.

    Raises:
        UsageError: One is malformed.
    """
    common = Knowledge(read_values(folder), seen=read_results(folder), today=folder.benchmark.today)
    path = folder.path / EXECUTIONS
    of_sample = {}
    for execution in read_executions(path) if path.is_file() else ():
        if execution.executor != SIMULATOR:  # of an earlier version, which made results up
            texts = [CallResult.of(result).text for result in execution.results.values()]
            of_sample[execution.id] = common._replace(results=texts)
    return CriticEvidence(common, of_sample)


def ask_critic(
    golds: Selected,
    background: Background,
    evidence: CriticEvidence,
    *,
    out: Path,
    data: Path,
    run: RunSettings,
) -> tuple[Mapping[int, CriticVerdict], bool]:
    """Let a model review samples; existing reviews are kept.

    Args:
        golds: The samples.
        background: Their tools.
        evidence: What is known beside the samples.
        out: The run is in its subfolder `critics/`.
        data: File of the samples; its hash is in the manifest.
        run: The critic, limits and choices. "offline" needs no server; it checks only arguments, and gets no
            plan without arguments.

    Returns:
        The verdict of each sample by line number, and whether every request was answered.

    Raises:
        UsageError: The settings differ from those of the run.
        ToolassayError: The model cannot be reached.
    """
    llm = run.model.llm
    bare = frozenset(gold.line for gold in golds if not gold.has_arguments) if llm in FREE else frozenset()
    not_asked = dict.fromkeys(bare, CriticVerdict("unknown", "", NOT_FOR_IT))
    golds = golds.without(bare)
    if not len(golds):
        run.screen.say(f"{llm} has nothing to review: no sample has arguments")
        return not_asked, True
    reviews = CriticWork(golds, background, evidence)
    ended = Run(ReviewWork(reviews, data, len(golds)), Trial(out / FOLDER, llm), run).carry_out()
    return {**reviews.verdicts, **not_asked}, ended.summary.complete


def _used_together(out: Path, critics: Sequence[str]) -> str:
    """Requests, tokens and cost of the runs of several critics, earlier starts included."""
    files = [Trial(out / FOLDER, name).run_folder / SUMMARY for name in critics]
    used = [read_json(file)["used"] for file in files if file.exists()]
    requests, read, written = (
        sum(usage[key] for usage in used) for key in ("requests", "prompt_tokens", "completion_tokens")
    )
    unknown = any(usage["cost_usd"] is None for usage in used)
    money = NO_PRICE if unknown else f"${sum(usage['cost_usd'] for usage in used):.4f}"
    return f"{requests} requests, {read} tokens read, {written} written, money: {money}"


def _solve(
    golds: Selected,
    background: Background,
    gating: GateSettings,
    checked_folder: CheckedFolder,
    folder: DataFolder,
    run: RunSettings,
) -> tuple[tuple[Solver, ...], bool]:
    """Let each solver plan the requests that it has not planned yet.

    Args:
        golds: The samples whose requests are sent.
        background: Their tools.
        gating: Has the names of the models, and the folder of their predictions; existing ones are used.
        checked_folder: The output folder, which has the predictions by default.
        folder: Folder with the requests and the tools.
        run: Endpoint, limits and choices of the runs.

    Returns:
        The solvers with their predictions, and whether every solver answered every request.

    Raises:
        UsageError: A request is missing in `user_requests.json`, or the settings differ from those of a run.
        ToolassayError: A model cannot be reached.
    """
    ids = [gold.id for gold in golds]
    own_folder = gating.prediction_dir
    predictions = checked_folder.path / PREDICTIONS if own_folder is None else folder.path / own_folder
    complete = True
    for name in gating.solvers if ids else ():
        ended = infer(
            folder.path,
            model=replace(run.model, llm=name),
            limits=run.limits,
            choices=replace(run.choices, ids=ids, prediction_dir=str(predictions.resolve())),
            own=default_benchmark().options.run(dependency_type=background.kind, ask="plan"),
            command=run.command,
            screen=run.screen,
        )
        complete = complete and ended.summary.complete
    files = (predictions.absolute() / f"{safe_name(name)}.json" for name in gating.solvers)
    return tuple(map(Solver, gating.solvers, files)), complete


PREDICTIONS = "predictions"


@dataclass(frozen=True, repr=False)
class Checked(Result):
    """The result of a check.

    Attributes:
        out: Output folder.
        levels: Number of samples per level: pass, quarantine, reject.
        funnel: Content of `funnel.json`.
        complete: Whether every critic and solver answered every request.
    """

    out: Path
    levels: Mapping[Level, int]
    funnel: Mapping[str, Any]
    complete: bool

    @property
    def share(self) -> float:
        """Share of samples that pass, from 0 to 1."""
        return self.levels["pass"] / sum(self.levels.values())

    @property
    def findings(self) -> Iterator[CheckedSample]:
        """The lines of `gates.jsonl`: level and findings of each sample, in input order."""
        return read_gates(self.out / GATES)


def check(
    data_dir: str | Path,
    *,
    out: str | Path,
    gating: GateSettings = GateSettings(),
    model: ModelSettings = ModelSettings(),
    limits: Limits = Limits(),
    force: bool = False,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> Checked:
    """Run every sample of a data folder through the gates and sort the samples by the findings.

    Args:
        data_dir: Folder with `data.json` and the tools; it is not changed.
        out: Output data folder with the passed samples, `gates.jsonl` and the funnel. Its subfolder
            `quarantine/` is a data folder with the doubtful samples. Only the output of an earlier check of
            the same data is replaced.
        gating: Which gates, their options, and the models that judge. The review stored with a label counts
            as that of the model that wrote the label.
        model: Endpoint of critics and solvers; the sampling fields apply to solvers only.
        limits: Limits of each model, earlier starts included.
        force: Start a new run where a model's run had other settings, and replace changed files in `out`;
            copies of both are kept.
        command: Command line, recorded in the manifests.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or malformed, `out` must not be replaced or is being written by another
            check, or a gate is unknown. Nothing is written then.
        ToolassayError: A model cannot be reached.
    """
    run = RunSettings(model, limits, RunChoices(force=force), command, screen)
    folder = DataFolder(Path(data_dir)).require()
    benchmark = benchmark_of(folder)
    if advice := benchmark.data.gold_advice:
        raise UsageError(
            f"is a {benchmark.about.title} folder, which has no gold plans",
            file=folder.path,
            fix=advice.format(folder.path),
        )
    return check_into(CheckedFolder(Path(out), folder, force=force), folder, gating, run)


def check_into(
    checked_folder: CheckedFolder,
    folder: DataFolder,
    gating: GateSettings,
    run: RunSettings,
) -> Checked:
    """Run the samples of a folder through the gates into an output folder; arguments as for `check`."""
    from toolassay.reports.pictures import draw_funnel

    screen = run.screen
    repair = gating.repair
    with checked_folder.held(), open_engine(gating.engine) as engine:
        graph = graph_of(folder, gating.dependency_type, say=screen.say)
        background = Background(graph.library, graph.dependency_type, graph)
        labels = LabelledSet.read(folder.data, partial(repaired, background=background) if repair else None)
        bars = Thresholds() if gating.threshold is None else Thresholds(gating.threshold)
        other = None if gating.against is None else other_set(Path(gating.against), folder)
        critics = _critics(gating.critic)
        judges = dict.fromkeys([*_critics_of(folder), *critics])
        known_critics = standing(judges, map(Path, gating.calibration))
        executions = folder.path / EXECUTIONS
        names = requested_gates(
            gating, background, critics, is_executed=executions.exists(), has_facts=labels.has_facts
        )
        if gating.solvers and not folder.user_requests.exists():
            raise UsageError(
                "no such file: --solver needs its requests",
                file=folder.user_requests,
                fix=made_by("format"),
            )
        compared = [None] * (DUPLICATE in names) + [other] * (other is not None)
        whole_set = [repeat_gate(labels, labels_of_other, bars, engine) for labels_of_other in compared]
        known = SampleContext(labels.repeated, teacher=teacher_of(folder), whole_set=whole_set)
        recipe = GateRecipe(background, names, executions.absolute() if executions.exists() else None)
        if ControlGate.name in names:
            collected_in = checked_folder.passed if checked_folder.releases else folder
            controls = partial(ControlGate, observed=read_results(collected_in))
            recipe = replace(recipe, controls=controls)
        complete = True
        if critics or gating.solvers:
            worth = worth_reviewing(labels, known, recipe, engine, screen)
            checked_folder.claim()
            reviews, is_reviewed = _review(worth, background, critics, checked_folder, folder, run)
            known = replace(known, critics=reviews)
            solvers, is_solved = _solve(worth, background, gating, checked_folder, folder, run)
            if solvers:
                recipe = replace(recipe, solvers=solvers)
                known = replace(known, solved=worth.lines)
            complete = is_reviewed and is_solved
        checked_part = CheckedPart(GateFunnel(names))
        provenance = checked_folder.provenance if checked_folder.releases else None
        task = CheckTask(labels.reader, recipe, writes=True, tries_repair=not repair, provenance=provenance)
        with (
            checked_folder.writing(graph, repairs=repair) as write,
            screen.progress("check", len(labels)) as advance,
        ):
            for part in checked_parts(labels, known, task, engine):
                checked_part.extend(part)
                write(part.lines)
                for _ in range(part.funnel.total):
                    advance()
        coverage = Coverage(graph, _left_out(folder, graph))
        funnel = checked_part.funnel
        coverage.extend(checked_part.coverage)
        files = [folder.data, folder.tool_desc, folder.graph_desc, executions]
        settings = {
            "toolassay": __version__,
            "dependency_type": graph.dependency_type,
            "gates": list(names),
            "threshold": bars.threshold,
            "seed": SEED,
            "repair": repair,
            "critics": critics,
            "solvers": list(gating.solvers),
            "sha256": {path.name: sha256_of(path) for path in files if path.is_file()},
            "against_sha256": None if other is None else sha256_of(other.path),
        }
        value = funnel.to_json(settings, _signature(settings)) | {"coverage": coverage.to_json()}
        if known_critics:
            value["critics"] = known_critics
        draw_funnel(funnel.rows, checked_folder.path / FUNNEL_PICTURE)
        write_text(checked_folder.path / FUNNEL_PAGE, funnel_page(funnel, value["signature"]))
        write_json(checked_folder.path / FUNNEL, value)
        _report(checked_part, coverage, checked_folder, known_critics.values(), screen, is_repaired=repair)
        return Checked(checked_folder.path, dict(funnel.levels), value, complete)


def _review(
    samples: Selected,
    background: Background,
    critics: Sequence[str],
    checked_folder: CheckedFolder,
    folder: DataFolder,
    run: RunSettings,
) -> tuple[dict[str, Mapping[int, CriticVerdict]], bool]:
    """Each critic's verdicts by line number, and whether every request was answered."""
    evidence = read_evidence(folder)
    verdicts: dict[str, Mapping[int, CriticVerdict]] = {}
    complete = True
    for name in critics:
        asked = replace(run, model=replace(run.model, llm=name))
        verdicts[name], answered = ask_critic(
            samples, background, evidence, out=checked_folder.path, data=folder.data, run=asked
        )
        complete = complete and answered
    if len(critics) > 1:
        run.screen.say(f"used by all critics so far: {_used_together(checked_folder.path, critics)}")
    return verdicts, complete


def _critics(given: str | Sequence[str] | None) -> list[str]:
    """The names of the critics.

    Raises:
        UsageError: A name is empty, a baseline, or given twice.
    """
    critics = [given] if isinstance(given, str) else list(given or ())
    for name, count in Counter(critics).items():
        if not name.strip():
            raise UsageError("--critic is empty", fix="name a model, e.g. --critic offline")
        refuse_baseline(name, "--critic")
        if count > 1:
            raise UsageError(
                f"--critic {name} is given {count} times",
                fix="name each critic once",
            )
    return critics


def teacher_of(folder: DataFolder) -> str:
    """The model in `benchmark.json` that wrote the labels and their reviews; empty if there is none."""
    name = (folder.benchmark.generation or {}).get("llm")
    return name if isinstance(name, str) else ""


def _critics_of(folder: DataFolder) -> list[str]:
    """The critics in `benchmark.json` that judged the labels when they were written."""
    names = (folder.benchmark.generation or {}).get("critic")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _signature(settings: Mapping[str, Any]) -> str:
    """One line with the settings and file hashes of a funnel."""
    parts = [
        f"toolassay:{settings['toolassay']}",
        f"kind:{settings['dependency_type']}",
        f"gates:{'+'.join(settings['gates'])}",
        f"threshold:{settings['threshold']:g}",
        f"repair:{'yes' if settings['repair'] else 'no'}",
        f"critic:{'+'.join(settings['critics']) or 'none'}",
        f"solvers:{'+'.join(settings['solvers']) or 'none'}",
        *(f"{Path(name).stem}:{value[:12]}" for name, value in settings["sha256"].items()),
        f"against:{(settings['against_sha256'] or 'none')[:12]}",
    ]
    return "|".join(parts)


def _left_out(folder: DataFolder, graph: ToolGraph) -> Mapping[str, str]:
    """The tools that the offline writer did not write about, and why; none if a model wrote the set."""
    if teacher_of(folder) != RULES:
        return {}
    from toolassay.offline.work_order import NEEDS_MODEL
    from toolassay.offline.writer.instruction import needs_model

    reasons = needs_model(graph.library, graph.dependency_type)
    return {name: f"{reason} ({NEEDS_MODEL})" for name, reason in reasons.items()}


def _report(
    checked_part: CheckedPart,
    coverage: Coverage,
    checked_folder: CheckedFolder,
    critics: Iterable[str],
    screen: Screen,
    *,
    is_repaired: bool,
) -> None:
    funnel = checked_part.funnel
    out = checked_folder.path
    if is_repaired:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in checked_part.repairs.most_common())
        screen.say(f"repairs: {f'{counts} (listed in {out / REPAIRS})' if counts else 'none'}")
    screen.table(funnel_table(funnel.rows))
    for gate, kinds in funnel.reasons.items():
        kind, count = kinds[0]
        screen.say(f"{gate}, most frequent ({count:,} of {count_of(funnel.total, 'sample')}): {kind}")
    if checked_part.repairable:
        samples = count_of(checked_part.repairable, "sample")
        screen.say(f"{samples} would reach a better level after repair: --repair true")
    screen.show(f"{out}: {levels_text(funnel)}, of {funnel.total:,}")
    for line in (*coverage.lines(), *critics):
        screen.say(line)
    if checked_folder.passed.benchmark.is_by_rules:
        screen.say(f"the set is {BY_RULES}")
    screen.say(f"findings of each sample: {out / GATES}; picture: {out / FUNNEL_PICTURE}")
    if funnel.levels["quarantine"]:
        aside = str(out / QUARANTINE)
        screen.say(f"to review the quarantined samples: {as_called('review', data_dir=aside)}")
    if not funnel.levels["pass"]:
        screen.say(f"{WARNING}no sample passes")
