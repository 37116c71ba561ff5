"""The check stage: runs a data set through the gates and writes the passed and the quarantined samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from toolassay.benchmarks.registry import benchmark_of
from toolassay.benchmarks.work_folder import graph_of
from toolassay.calls.execution_record import FILE as EXECUTIONS
from toolassay.data_folder import BY_RULES, DataFolder
from toolassay.dataset import RequestId
from toolassay.engines import open_engine
from toolassay.errors import UsageError
from toolassay.files import read_json_lines, sha256_of, write_json, write_text
from toolassay.gates.coverage import Coverage
from toolassay.gates.critic import RULES
from toolassay.gates.gate import Background, Finding, Level, current_name
from toolassay.gates.gate_pipeline import (
    GateFunnel,
    GateRecipe,
    SampleContext,
    funnel_page,
    funnel_table,
    levels_text,
)
from toolassay.gates.labelled_set import LabelledSet
from toolassay.gates.repair import repair as repaired
from toolassay.graph import ToolGraph
from toolassay.models.registry import refuse_baseline
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings, gather, refuse_unknown
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.ask_critic import ask_critics
from toolassay.stages.ask_solvers import ask_solvers
from toolassay.stages.checked import (
    FUNNEL,
    FUNNEL_PAGE,
    FUNNEL_PICTURE,
    GATES,
    QUARANTINE,
    REPAIRS,
    CheckedFolder,
)
from toolassay.stages.choice import Choice, other_set, whole_set_gates, worth_reviewing
from toolassay.stages.sort_set import Sorted, sort_set
from toolassay.tables import Result
from toolassay.text_formatting import count_of
from toolassay.variety.near_duplicates import SEED, Thresholds
from toolassay.version import __version__

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
    def findings(self) -> Iterator[tuple[RequestId, Level, list[Finding]]]:
        """Id, level and findings of each sample, in input order, read from `gates.jsonl`."""
        for _, line in read_json_lines(self.out / GATES):
            found = [
                Finding(
                    current_name(one["gate"]),
                    one["state"],
                    one["reason"],
                    one["where"],
                    one.get("author", ""),
                )
                for one in line["findings"]
            ]
            yield line["id"], line["level"], found


@dataclass(frozen=True)
class GateSettings:
    """The gates of a check and their options.

    Attributes:
        gates: Names of the gates to run; None for all that apply.
        without: Names of the gates to skip.
        against: Another data set (folder or file), e.g. a test set, that must not share requests with this
            one.
        threshold: Jaccard similarity from which two requests are near duplicates, 0.2 to 1; None for 0.6.
        repair: Fix faults that have only one possible correction; `repairs.jsonl` lists every change.
        dependency_type: "resource", "temporal" or "schema"; None for the type in `benchmark.json`.
        engine: Where the gates run: `local:N` for N processes, `dask://HOST:PORT` for a cluster; None for
            this process.
    """

    gates: Sequence[str] | None = None
    without: Sequence[str] = ()
    against: str | Path | None = None
    threshold: float | None = None
    repair: bool = False
    dependency_type: str | None = None
    engine: str | None = None


def check(
    data_dir: str | Path = "data_huggingface",
    *,
    out: str | Path,
    gating: GateSettings | None = None,
    critic: str | Sequence[str] | None = None,
    solvers: Sequence[str] = (),
    prediction_dir: str | Path | None = None,
    model: ModelSettings | None = None,
    limits: Limits | None = None,
    force: bool = False,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
    **keywords: Any,
) -> Checked:
    """Run every sample of a data folder through the gates and sort the samples by the findings.

    Args:
        data_dir: Folder with `data.json` and the tools; it is not changed.
        out: Output data folder with the passed samples, `gates.jsonl` and the funnel. Its subfolder
            `quarantine/` is a data folder with the doubtful samples. Only the output of an earlier check of
            the same data is replaced.
        gating: Which gates, and their options.
        critic: One or several models that review each sample. One "no" puts a sample in quarantine, two
            reject it. The review stored with a label counts as that of the model that wrote the label.
        solvers: Models that solve the requests without seeing the gold plan. A sample that none of them
            solves is put in quarantine.
        prediction_dir: Folder of their predictions, below `data_dir`; default: `predictions` in `out`.
        model: Endpoint of critics and solvers; the sampling fields apply to solvers only.
        limits: Limits of each model, earlier starts included.
        force: Start a new run where a model's run had other settings, and replace changed files in `out`;
            copies of both are kept.
        command: Command line, recorded in the manifests.
        screen: Receives messages, results and progress.
        keywords: Fields of the three options objects; they replace the fields of the given objects.

    Raises:
        UsageError: A file is missing or malformed, `out` must not be replaced or is being written by another
            check, or a gate is unknown. Nothing is written then.
        TypeError: A keyword is unknown.
        ToolassayError: A model cannot be reached.
    """
    gating = gather(gating or GateSettings(), keywords)
    run = RunSettings(
        gather(model or ModelSettings(), keywords),
        gather(limits or Limits(), keywords),
        RunChoices(force=force),
        command,
        screen,
    )
    refuse_unknown("check", keywords)
    folder = DataFolder(Path(data_dir)).require()
    _refuse_others(folder)
    return check_into(
        CheckedFolder(Path(out), folder, force=force), folder, gating, critic, solvers, prediction_dir, run
    )


def check_into(
    place: CheckedFolder,
    folder: DataFolder,
    gating: GateSettings,
    critic: str | Sequence[str] | None,
    solvers: Sequence[str],
    prediction_dir: str | Path | None,
    run: RunSettings,
) -> Checked:
    """Run the samples of a folder through the gates into an output folder; arguments as for `check`."""
    screen = run.screen
    against, threshold, repair = gating.against, gating.threshold, gating.repair
    with place.held(), open_engine(gating.engine) as engine:
        graph = graph_of(folder, gating.dependency_type, say=screen.say)
        background = Background(graph.library, graph.dependency_type, graph)
        labels = LabelledSet(folder.data, partial(repaired, background=background) if repair else None)
        bars = Thresholds() if threshold is None else Thresholds(threshold)
        other = None if against is None else other_set(Path(against), folder)
        critics = _critics(critic)
        executions = folder.path / EXECUTIONS
        choice = Choice(
            gating.gates,
            gating.without,
            critics=critics,
            solvers=solvers,
            other=other is not None,
            executed=executions.exists(),
        )
        names = choice.names(background)
        if solvers and not folder.user_requests.exists():
            raise UsageError(
                "no such file: --solver needs its requests",
                file=folder.user_requests,
                fix="make it with format_data.py",
            )
        whole_set = whole_set_gates(names, labels, other, bars, engine)
        known = SampleContext(labels.repeated, teacher=_teacher(folder), whole_set=whole_set)
        recipe = GateRecipe(background, names, executions.absolute() if executions.exists() else None)
        complete = True
        if critics or solvers:
            worth = worth_reviewing(labels, known, recipe, engine, screen)
            place.claim()
            if critics:
                verdicts, complete = ask_critics(
                    critics, worth, background, out=place.path, data=folder.data, run=run
                )
                known = replace(known, critics=verdicts)
            if solvers:
                where = place.path / PREDICTIONS if prediction_dir is None else folder.path / prediction_dir
                files, answered = ask_solvers(
                    worth, background, solvers=solvers, folder=folder, predictions=where, run=run
                )
                recipe, known = replace(recipe, solvers=files), replace(known, solved=worth.lines)
                complete = complete and answered
        coverage = Coverage(graph, _left_out(folder, graph))
        ended = sort_set(
            labels, known, recipe, place, coverage, is_repaired=repair, engine=engine, screen=screen
        )
        funnel = ended.funnel
        settings = {
            "toolassay": __version__,
            "dependency_type": graph.dependency_type,
            "gates": list(names),
            "threshold": bars.threshold,
            "seed": SEED,
            "repair": repair,
            "critics": critics,
            "solvers": list(solvers),
            "sha256": {
                path.name: sha256_of(path)
                for path in (folder.data, folder.tool_desc, folder.graph_desc, executions)
                if path.is_file()
            },
            "against_sha256": None if other is None else sha256_of(other.path),
        }
        value = funnel.to_json(settings, _signature(settings)) | {"coverage": ended.coverage.to_json()}
        if rewriting := _rewriting(folder):
            value["rewriting"] = rewriting
        _write_funnel(place.path, funnel, value)
        _report(ended, place, screen)
        return Checked(place.path, dict(funnel.levels), value, complete)


def _refuse_others(folder: DataFolder) -> None:
    """Refuse a folder of a benchmark without gold plans.

    Raises:
        UsageError: It is one; the message names the command to use instead.
    """
    benchmark = benchmark_of(folder)
    if benchmark.data.gold_advice:
        raise UsageError(
            f"is a {benchmark.about.title} folder, which has no gold plans",
            file=folder.path,
            fix=benchmark.data.gold_advice.format(folder.path),
        )


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


def _teacher(folder: DataFolder) -> str:
    """The model in `benchmark.json` that wrote the labels and their reviews; empty if there is none."""
    generation = folder.benchmark.get("generation")
    name = generation.get("llm") if isinstance(generation, Mapping) else None
    return name if isinstance(name, str) else ""


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


def _write_funnel(path: Path, funnel: GateFunnel, value: Mapping[str, Any]) -> None:
    from toolassay.report.funnel_picture import FunnelBar, draw_funnel

    draw_funnel([FunnelBar(**row) for row in value["funnel"]], path / FUNNEL_PICTURE)
    page = funnel_page(funnel, value["signature"], value.get("rewriting"))
    write_text(path / FUNNEL_PAGE, page)
    write_json(path / FUNNEL, value)


def _rewriting(folder: DataFolder) -> Mapping[str, Any]:
    """What rewriting gained and cost in generation, by `statistics.json`; empty if unknown."""
    path = folder.path / "statistics.json"
    try:
        lines = [line for _, line in read_json_lines(path)] if path.is_file() else []
    except UsageError:
        return {}
    found = [line["rewriting"] for line in lines if isinstance(line, dict) and "rewriting" in line]
    return found[-1] if found else {}


def _left_out(folder: DataFolder, graph: ToolGraph) -> Mapping[str, str]:
    """The tools that the offline writer did not write about, and why; none if a model wrote the set."""
    if _teacher(folder) != RULES:
        return {}
    from toolassay.offline.work_order import NEEDS_MODEL
    from toolassay.offline.writer.instruction import needs_model

    found = needs_model(graph.library, graph.dependency_type)
    return {name: f"{reason} ({NEEDS_MODEL})" for name, reason in found.items()}


def _report(ended: Sorted, place: CheckedFolder, screen: Screen) -> None:
    funnel, out = ended.funnel, place.path
    if ended.repairs is not None:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in ended.repairs.most_common())
        screen.say(f"repairs: {f'{counts} (listed in {out / REPAIRS})' if counts else 'none'}")
    screen.table(funnel_table(funnel.rows))
    for gate, kinds in funnel.reasons.items():
        kind, count = kinds[0]
        screen.say(f"{gate}, most frequent ({count:,} of {count_of(funnel.total, 'sample')}): {kind}")
    if ended.repairable:
        samples = count_of(ended.repairable, "sample")
        screen.say(f"{samples} would reach a better level after repair: --repair true")
    screen.show(f"{out}: {levels_text(funnel)}, of {funnel.total:,}")
    for line in ended.coverage.lines():
        screen.say(line)
    if place.passed.is_by_rules:
        screen.say(f"the set is {BY_RULES}")
    screen.say(f"findings of each sample: {out / GATES}; picture: {out / FUNNEL_PICTURE}")
    if funnel.levels["quarantine"]:
        screen.say(f"to review the quarantined samples: toolassay review --data_dir {out / QUARANTINE}")
    if not funnel.levels["pass"]:
        screen.say(f"{WARNING}no sample passes")
