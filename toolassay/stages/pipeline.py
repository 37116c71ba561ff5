"""The pipeline: from a tool list to scored models and pictures, or from a server to a released set.

`pipeline` tests models on requests of rules or of a model; plans for tools with schemas run in a world.
`make_set` writes, executes and judges.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.answers.controls import ControlGate
from toolassay.benchmarks.registry import default_benchmark
from toolassay.benchmarks.work_folder import refuse_other_benchmarks
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Result, Table
from toolassay.errors import IncompleteError, ToolassayError, UsageError
from toolassay.evaluation.evaluation import FolderEvaluation
from toolassay.executors import present_name
from toolassay.files.data_files import read_json_lines, safe_name, write_text
from toolassay.gates.calibration import Calibration, read_calibrations, standing
from toolassay.gates.checked_folder import GATES
from toolassay.gates.gate import read_gates
from toolassay.gates.gate_pipeline import ExecutionGate
from toolassay.graph import ToolGraph, tools_agree
from toolassay.link_proposals.options import LinkOptions, ProposeOptions
from toolassay.metrics.confidence_interval import Interval, proportion_interval
from toolassay.models import ModelOptions
from toolassay.plans.execution_record import FILE as EXECUTIONS
from toolassay.plans.execution_record import SIMULATOR, WORLD, read_executions
from toolassay.records.data_folder import DataFolder, date_setting, find_file
from toolassay.records.dataset import TASK_KIND, read_labels
from toolassay.review.decision import FOLDER as REVIEWS
from toolassay.runs.budget import Budget
from toolassay.runs.ledger import FREE
from toolassay.runs.settings import Limits, ModelSettings, RunSettings
from toolassay.stages.check import Checked
from toolassay.stages.evaluate import evaluate
from toolassay.stages.generate import generate
from toolassay.stages.generation_work import recorded_rounds
from toolassay.stages.graph import build_graph, visualize
from toolassay.stages.import_tools import import_server
from toolassay.stages.infer import infer
from toolassay.stages.release import release
from toolassay.stages.review import publishable_by_people
from toolassay.stages.settings import (
    GENERATOR,
    PIPELINE_SAMPLES,
    LiveSettings,
    SampleSettings,
    WritingSettings,
)
from toolassay.stages.split import split
from toolassay.stages.world import world
from toolassay.tools.library import ToolLibrary
from toolassay.worlds.world import FILE as WORLD_FILE
from toolassay.worlds.world import World, read_world

# Samples of a pipeline that names no number; the 5,000 of `generate` would be too expensive to try.
_SAMPLES = 300
# Times that a model writes a sample with a finding again, unless --rewrite says otherwise.
_REWRITES = 2


@dataclass(frozen=True, repr=False)
class Piped(Result):
    """The scores of each model, and whether every sample and request has an answer."""

    evaluations: list[FolderEvaluation]
    complete: bool


def pipeline(
    data_dir: str | Path,
    *,
    tool_desc: str | Path | None = None,
    dependency_type: str | None = None,
    llm: Sequence[str] = ("offline",),
    generator: str = "offline",
    critic: Sequence[str] = (),
    rewrite: int | None = None,
    options: ModelOptions | None = None,
    samples: SampleSettings = PIPELINE_SAMPLES,
    limits: Limits = Limits(),
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> Piped:
    """Create graph, pictures, requests with gold plans, predictions and scores in one data folder.

    Tools with schemas get a world (`world.json`), in which the plans are executed.

    Models are tested with the samples that pass the gates (`release`).

    Args:
        data_dir: Data folder, created if missing; finished stages are not repeated.
        tool_desc: Tool file; default: that of `data_dir`.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`.
        llm: Names of the models under test.
        generator: Model that writes requests and gold plans.
        critic: Models that review the samples, besides the gates.
        rewrite: How often a sample that does not pass the gates goes back to a served generator, by default
            2; the offline writer decides itself (`WritingSettings.rewrite`).
        options: Endpoint of served models.
        samples: Which subgraphs are sampled; by default 300 with seed 0.
        limits: Limits of each run: of the generation and of the inference with each model.
        command: Command line, recorded in the manifests.
        screen: Receives messages, results and progress.

    Returns:
        The scores of each model with predictions (a warning names the others), and whether every sample and
        every request has an answer. Without a sample that passes the gates, no model is run.

    Raises:
        UsageError: A file is missing or malformed.
        ToolassayError: A model cannot be reached, or the budget allows no request.
    """
    if samples.number_of_samples is None and samples.cover is None:
        samples = replace(samples, number_of_samples=samples.until or _SAMPLES)
    data_dir_flag = f"--data_dir {shlex.quote(str(data_dir))}"
    folder = DataFolder(Path(data_dir))
    folder.today(samples.today)  # another date is refused before anything is written
    library = _tools(folder, tool_desc)
    live = LiveSettings(WORLD) if _runs_in_world(folder, library, dependency_type) else None
    step = _Steps(screen, 4 + (live is not None) + 2 * len(llm))
    step.command("graph", data_dir_flag, f"--tool_desc {shlex.quote(str(tool_desc))}" if tool_desc else "")
    if not _has_graph(folder, dependency_type, screen):
        build_graph(data_dir, tool_desc=tool_desc, dependency_type=dependency_type, screen=screen)
    step.command("visualize", data_dir_flag)
    try:
        visualize(data_dir, screen=screen)
    except UsageError as error:  # thousands of tools
        screen.say(f"{WARNING}no pictures: {error}")
    if live is not None:
        step.command("world", data_dir_flag, f"--llm {generator}")
        made = _world(folder, generator, samples, options, limits, command, screen)
        if made is None or not made.tools:
            screen.say(f"{WARNING}no tool has an operation in a world: plans are not executed")
            live = None
    budget = limits.budget or Budget()
    flags = _flags(
        multiworker=limits.multiworker,
        max_cost=budget.cost,
        max_tokens_total=budget.tokens,
        max_requests=budget.requests,
    )
    sampling = _flags(
        seed=samples.seed,
        method=samples.method,
        tool_number=samples.tool_number,
        number_of_samples=samples.number_of_samples,
        by_score=None if samples.by_score else "false",
        cover=samples.cover,
        at_least=samples.at_least if samples.at_least > 1 else None,
        until=samples.until,
        today=samples.today,
    )
    if generator == "offline":
        rewrite = None
    elif rewrite is None:
        rewrite = _REWRITES
    values_from = None if live is None else live.executor
    again = _flags(llm=generator, check="true", rewrite=rewrite, values_from=values_from)
    step.command("generate", data_dir_flag, again, sampling, flags)
    writer = replace(GENERATOR, llm=generator, options=options)
    _, complete = generate(
        data_dir,
        model=writer,
        limits=limits,
        samples=samples,
        writing=WritingSettings(check=True, rewrite=rewrite),
        live=live,
        command=command,
        screen=screen,
    )
    _require_samples(data_dir, generator)
    if live is None:
        step.command("release", data_dir_flag, "--critic " + " --critic ".join(critic) if critic else "")
    else:
        step("execute the plans in the world, and release what passes")
    released = release(
        data_dir,
        critic=critic,
        model=ModelSettings(options=options),
        limits=limits,
        live=live,
        command=command,
        screen=screen,
    )
    complete = complete and released.complete
    if not released.levels["pass"]:
        screen.say(f"{WARNING}no model is run: {_worst(released)}")
        return Piped([], False)
    run = RunSettings(ModelSettings(options=options), limits, command=command, screen=screen)
    tested = _run_models(data_dir, llm, run, step, flags)
    return replace(tested, complete=complete and tested.complete)


def _run_models(
    data_dir: str | Path, models: Sequence[str], run: RunSettings, step: _Steps, flags: str
) -> Piped:
    """Ask each model for plans, and score them; a model that cannot be asked is left out.

    Raises:
        ToolassayError: No model could be asked; the error of the first one.
    """
    folder = f"--data_dir {shlex.quote(str(data_dir))}"
    plans = default_benchmark().options
    complete = True
    failures: dict[str, ToolassayError] = {}
    for name in models:
        step.command("infer", folder, f"--llm {name}", flags)
        try:
            inference = infer(
                data_dir,
                model=replace(run.model, llm=name),
                limits=run.limits,
                own=plans.run(ask="plan"),
                command=run.command,
                screen=run.screen,
            )
            if not inference.written:
                raise ToolassayError("no request has an answer", fix="see the messages above")
            complete = complete and inference.summary.complete
        except ToolassayError as error:
            run.screen.say(f"{WARNING}{name} is left out: {error}")
            failures[name] = error
    evaluations: list[FolderEvaluation] = []
    for name in (name for name in models if name not in failures):
        step.command("evaluate", folder, f"--llm {name} --splits all")
        evaluations += evaluate(data_dir, llm=[name], own=plans.scoring(splits=["all"]), screen=run.screen)
    if not evaluations:
        raise next(iter(failures.values()))
    return Piped(evaluations, complete)


def _require_samples(data_dir: str | Path, llm: str) -> None:
    """Check that a model wrote a sample.

    Raises:
        ToolassayError: There is none.
    """
    if not DataFolder(Path(data_dir)).data_raw.exists():
        fix = "see the messages above; raise the limits if they were reached"
        raise ToolassayError(f"{llm} wrote no sample", fix=fix)


def _worst(released: Checked) -> str:
    """Which gate holds back most."""
    rows = released.funnel["funnel"]
    worst = max(rows, key=lambda row: int(row["reject"]) + int(row["quarantine"]))
    held = worst["reject"] + worst["quarantine"]
    return f"no sample passes; the gate '{worst['gate']}' holds back {held:,} of {released.funnel['input']:,}"


def _flags(**values: Any) -> str:
    """Values as command-line flags, without those that are None."""
    return " ".join(f"--{name} {value}" for name, value in values.items() if value is not None)


def _tools(folder: DataFolder, tool_desc: str | Path | None) -> ToolLibrary:
    """The tools of the pipeline.

    Raises:
        UsageError: There are none, or those of `tool_desc` differ from those of the folder.
    """
    if tool_desc is None:
        refuse_other_benchmarks(folder)
    library = ToolLibrary.load(find_file(tool_desc or folder.tool_desc.name, folder.path))
    if tool_desc and folder.tool_desc.exists() and ToolLibrary.load(folder.tool_desc).tools != library.tools:
        raise UsageError(
            f"holds other tools than {tool_desc}", file=folder.tool_desc, fix="use another --data_dir"
        )
    return library


def _world(
    folder: DataFolder,
    llm: str,
    samples: SampleSettings,
    options: ModelOptions | None,
    limits: Limits,
    command: Sequence[str] | None,
    screen: Screen,
) -> World | None:
    """Write the world of the folder, or check the one that is there; its date is that of the set."""
    today = folder.today(samples.today)
    if today is not None:
        folder.update_benchmark(**date_setting(today))
    return world(folder.path, llm=llm, options=options, limits=limits, command=command, screen=screen).world


def _runs_in_world(folder: DataFolder, library: ToolLibrary, dependency_type: str | None) -> bool:
    """Whether plans are executed in a world: those of a schema graph, unless the folder began without one."""
    if folder.data_raw.exists() and read_world(folder.path) is None:
        return False
    is_schema = folder.dependency_type(dependency_type, library=library) == "schema"
    return is_schema and any(tool.input_schema is not None for tool in library)


def _has_graph(folder: DataFolder, dependency_type: str | None, screen: Screen) -> bool:
    """Whether the folder has a graph of its tools; it may be edited by hand, so it is used unchanged."""
    if not folder.graph_desc.exists() or not folder.tool_desc.exists():
        return False
    graph = ToolGraph.load(folder.graph_desc)
    is_schema = graph.dependency_type == "schema"
    fits = tools_agree(ToolLibrary.load(folder.tool_desc), graph.library, schemas=is_schema)
    fits = fits and dependency_type in (None, graph.dependency_type)
    if fits:
        screen.show(f"{folder.graph_desc}: there already, used as it is")
    return fits


def files_of(data_dir: str | Path, llm: Sequence[str]) -> list[tuple[str, str]]:
    """The output files as pairs (description, path)."""
    folder = Path(data_dir)
    optional = [
        ("the tool graph to explore", "graph_desc.html"),
        ("the tool graph as a picture", "graph_desc.png"),
        ("the world that plans run in", WORLD_FILE),
    ]
    rows = [
        *((what, path) for what, path in optional if (folder / path).exists()),
        ("requests that pass the gates", "data.json"),
        ("what the gates found", "funnel.md"),
        *((f"plans of {name}", f"predictions/{safe_name(name)}.json") for name in llm),
        *((f"scores of {name}", f"metrics/{safe_name(name)}.json") for name in llm),
    ]
    return [(what, str(folder / path)) for what, path in rows]


CARD = "CARD.md"
"""Name of the file in the data folder that states the outcome of the requested samples."""
# One sample for each of train, dev and test; fewer are not split.
_FEWEST_TO_SPLIT = 3
_WITHOUT_MODEL = (
    "Without a model (--llm MODEL), rules list the calls as work orders: they try the pipeline and are no "
    "requests that people make. A model writes goals and words, declines where nothing is sensible, and a "
    "second one (--critic MODEL) judges them."
)


@dataclass(frozen=True, repr=False)
class MadeSet(Result):
    """How a set came about.

    Attributes:
        asked: Samples that were requested from the writer.
        declined: Those for which it found nothing sensible.
        written: Those with a request and a plan.
        controls: Those that the gate "controls" holds back, because a verdict on them says nothing.
        passed: Those that pass the gates, the execution and the critics: the set.
        kinds: Number of those of each kind of task; empty without a difficulty.
        ran: Those of the set whose plan was executed without an error.
        simulated: Those of `ran` that ran in a simulated world; the others ran on the server.
        tools: Tools that occur in the set, and all.
        links: Links that occur in the set, and all.
        publishable: Share of the set that is publishable, with its interval (95 %): as reviewers decided on
            samples of it, else by the calibration of the critic; None without either.
        requests: Requests to models that wrote and judged.
        cost_usd: US dollars; None if unknown.
        complete: Whether as many samples pass as were wanted.
    """

    asked: int
    declined: int
    written: int
    controls: int
    passed: int
    kinds: Mapping[str, int]
    ran: int
    simulated: int
    tools: tuple[int, int]
    links: tuple[int, int]
    publishable: Interval | None
    requests: int
    cost_usd: float | None
    complete: bool


def make_set(
    data_dir: str | Path,
    *,
    live: LiveSettings,
    llm: str = "offline",
    writing: WritingSettings = WritingSettings(),
    calibration: Sequence[str | Path] = (),
    model: ModelSettings = GENERATOR,
    samples: SampleSettings = PIPELINE_SAMPLES,
    limits: Limits = Limits(),
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> MadeSet:
    """Make a data set from a server's tools: written, executed and judged until enough samples pass.

    Tools without a server (executor "world") get a world first, written by the same model.

    A second start goes on where the first one stopped.

    Args:
        data_dir: Data folder; without tools in it, those of the MCP server are imported.
        live: The server.
        llm: The model that writes. "offline" writes work orders by rules.
        writing: How requests are written; findings of its critics go back to the writer.
        calibration: Files of `critic --calibrate` that say how far these critics agree with labels.
        model: Endpoint of the models; as for `generate`.
        samples: `number_of_samples` is the number that must pass.
        limits: Limits of the writing, critics included.
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or malformed, or the server cannot be used as given.
        ToolassayError: A model or the server does not work, or no sample was written.
    """
    standing(writing.critic, map(Path, calibration))
    folder = DataFolder(Path(data_dir))
    folder.today(samples.today)  # another date is refused before a model is asked
    step = _Steps(screen)
    if not folder.tool_desc.exists():
        step("import the tools of the server")
        _import(folder, live, screen)
    if present_name(live.executor) == WORLD:
        step("write a world for the tools, or check the one that is there")
        _world(folder, llm, samples, model.endpoint(limits), limits, command, screen)
    if not folder.graph_desc.exists():
        step("build the graph of the tools")
        propose = None
        if llm not in FREE:
            propose = ProposeOptions(llm, model.endpoint(limits), limits, command=command)
        try:
            build_graph(folder.path, links=LinkOptions(propose=propose), screen=screen)
        except IncompleteError as error:  # the graph has the links that were proposed so far
            screen.say(f"{WARNING}{error}")
    step("collect values, write requests with plans, and execute them")
    wanted = samples.number_of_samples or samples.until or 100
    generate(
        folder.path,
        model=replace(model, llm=llm),
        samples=replace(samples, number_of_samples=None, until=wanted),
        writing=writing,
        limits=limits,
        live=live,
        command=command,
        screen=screen,
    )
    _require_samples(folder.path, llm)
    step("execute the plans again, and release what passes")
    released = release(folder.path, live=live, calibration=calibration, command=command, screen=screen)
    if released.levels["pass"] >= _FEWEST_TO_SPLIT:
        step("split")
        split(folder.path, screen=screen, force=True)
    known = read_calibrations(map(Path, calibration))
    made_set = _counted(DataFolder(folder.path), released, wanted, list(known.values()))
    text = _card(made_set, llm, released.funnel.get("critics", {}).values())
    write_text(folder.path / CARD, text)
    screen.show(text)
    return made_set


def _import(folder: DataFolder, live: LiveSettings, screen: Screen) -> None:
    """Import the tools of an MCP server, which is started on a copy of the workspace.

    Raises:
        UsageError: It is no MCP server.
    """
    server = getattr(live.options, "server", "") if live.executor == "mcp" else ""
    if not server:
        raise UsageError("has no tools", file=folder.path, fix="run toolassay import first")
    import_server(server, folder.path, live.options, screen=screen)


def _counted(
    folder: DataFolder, released: Checked, wanted: int, calibrations: Sequence[Calibration]
) -> MadeSet:
    lines = [line for _, line in read_json_lines(folder.path / "statistics.json") if isinstance(line, dict)]
    ended = next(line for line in reversed(lines) if line.get("event") == "ended")
    coverage = released.funnel["coverage"]
    rows = released.funnel["funnel"]
    passed = released.levels["pass"]
    used = ended["used"]
    ran = {
        sample.id
        for sample in read_gates(folder.path / GATES)
        if sample.level == "pass" and sample.gates.get(ExecutionGate.name) == "pass"
    }
    executions = read_executions(folder.path / EXECUTIONS)
    in_worlds = {execution.id for execution in executions if execution.executor in (SIMULATOR, WORLD)}
    simulated = len(in_worlds & ran)
    rounds = recorded_rounds(folder)
    return MadeSet(
        rounds[-1].end or 0,
        len(ended["declined"]),
        ended["samples"],
        sum(row["reject"] + row["quarantine"] for row in rows if row["gate"] == ControlGate.name),
        passed,
        Counter(label[TASK_KIND] for _, label in read_labels(folder.data) if TASK_KIND in label),
        len(ran),
        simulated,
        (coverage["tools"]["with_passing"], coverage["tools"]["total"]),
        (coverage["edges"]["with_passing"], coverage["edges"]["total"]),
        by_people(folder) or publishable(calibrations),
        used["requests"],
        used["cost_usd"],
        passed >= wanted,
    )


def by_people(folder: DataFolder) -> Interval | None:
    """The share of what people looked at that they found correct; None without a decision."""
    correct, decided = publishable_by_people(folder.path) if (folder.path / REVIEWS).is_dir() else (0, 0)
    return proportion_interval(correct, decided) if decided else None


def publishable(calibrations: Sequence[Calibration]) -> Interval | None:
    """The publishable share of what a critic passes, by its calibration; the worst of several.

    It holds as far as the set is like the labelled samples.
    """
    shares = []
    for calibration in calibrations:
        last = calibration.agreement[-1]
        if last.both_yes + last.people_no:
            shares.append(proportion_interval(last.both_yes, last.both_yes + last.people_no))
    return min(shares, key=lambda share: share.low or 0, default=None)


def _card(made_set: MadeSet, llm: str, critics: Collection[str]) -> str:
    share = made_set.publishable
    shown = "unknown" if share is None else f"{share.value:.0%} [{share.low:.0%}, {share.high:.0%}]"
    money = "unknown" if made_set.cost_usd is None else f"${made_set.cost_usd:.2f}"
    ran = {
        "ran on the server": made_set.ran - made_set.simulated,
        "ran in a simulated world": made_set.simulated,
    }
    rows = [
        ("asked", made_set.asked),
        ("declined by the writer", made_set.declined),
        ("written", made_set.written),
        ("held back by controls", made_set.controls),
        ("passed: the set", made_set.passed),
        *((f"of the kind {kind}", count) for kind, count in sorted(made_set.kinds.items())),
        *(
            (where, f"{count} of {made_set.passed}")
            for where, count in ran.items()
            if count or not made_set.ran
        ),
        ("tools in the set", "{} of {}".format(*made_set.tools)),
        ("links in the set", "{} of {}".format(*made_set.links)),
        ("publishable", shown),
        ("requests to models, to write and judge", made_set.requests),
        ("cost", money),
    ]
    table = Table(("", "samples"), [(name, str(value)) for name, value in rows], "lr").markdown()
    lines = [f"# How this set was made\n\n{table}\n\nWritten by {llm}."]
    if llm in FREE:
        lines.append(_WITHOUT_MODEL)
    lines += critics or ["No critic judged the set."]
    return "\n\n".join(lines) + "\n"


class _Steps:
    """Announces each stage, with its number."""

    def __init__(self, screen: Screen, total: int | None = None) -> None:
        self._screen, self._of, self._done = screen, "" if total is None else f"/{total}", 0

    def __call__(self, what: str) -> None:
        self._done += 1
        self._screen.say(f"\n[{self._done}{self._of}] {what}")

    def command(self, name: str, *arguments: str) -> None:
        """Announce a stage as the command that would run it alone."""
        self(" ".join(word for word in (f"toolassay {name}", *arguments) if word))
