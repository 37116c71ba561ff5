"""The generate stage: a tool graph -> `data_raw.json`, `statistics.json` and `task_graphs/`."""

from __future__ import annotations

import json
import secrets
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.backinstruct.critics import EXECUTED
from toolassay.backinstruct.generator import Tried
from toolassay.backinstruct.labels import Labeller
from toolassay.backinstruct.records import read_raw, sample_id
from toolassay.benchmarks.work_folder import WorkFolder, graph_of, work_folder
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.text_formatting import count_of
from toolassay.engines import OneProcess
from toolassay.errors import ToolassayError, UsageError, as_called
from toolassay.files.data_files import safe_name, write_json_lines
from toolassay.files.locks import temporary_folder
from toolassay.gates.checked_folder import CheckTask, checked_parts
from toolassay.gates.coverage import Coverage
from toolassay.gates.duplicate_gates import repeat_gate
from toolassay.gates.gate import Background
from toolassay.gates.gate_pipeline import GateFunnel, GateRecipe, SampleContext, gate_pipeline
from toolassay.gates.labelled_set import LabelledSet
from toolassay.graph import ToolGraph
from toolassay.graph.links import COMPLETE
from toolassay.models.registry import refuse_baseline
from toolassay.plans.execution_record import SIMULATOR, WORLD
from toolassay.prompts.templates import check_wording
from toolassay.records.data_folder import DataFolder, date_setting, find_file
from toolassay.records.dataset import Sample, Shape
from toolassay.runs.budget import Estimate
from toolassay.runs.ledger import FREE, NO_PRICE
from toolassay.runs.manifest import recorded_settings
from toolassay.runs.prices import Tariff
from toolassay.runs.run import Run
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings, RunStart
from toolassay.runs.trials import Trial
from toolassay.sampling import Sampler, wanted
from toolassay.sampling.cover import Cover, Round
from toolassay.sampling.search import SMALLEST, count_of_tools
from toolassay.stages.generation_work import (
    PUBLISHED_SAMPLES,
    SITUATIONS,
    GenerationWork,
    follows_seed,
    generation_work,
    recorded_rounds,
)
from toolassay.stages.live_values import collect_values, execution_review
from toolassay.stages.settings import (
    GENERATOR,
    LiveSettings,
    SampleSettings,
    SubgraphSettings,
    WritingSettings,
)
from toolassay.stages.world import world
from toolassay.worlds.world import read_world
from toolassay.writing.situations import Situations, library_situations

FAILED = "failed"
"""Outcome of an execution that an answer of the server ended."""
NO_PLAN = "format"
"""What holds back a sample whose plan cannot be read."""


@dataclass(frozen=True)
class Passing:
    """What the gates find in the generated samples of a folder.

    Attributes:
        samples: Number of samples.
        passed: Number of those that pass all gates that need no model.
        held: Number of the others, by the first gate that holds them back.
        coverage: Samples per tool and edge.
    """

    samples: int
    passed: int
    held: Mapping[str, int]
    coverage: Coverage

    @property
    def worst(self) -> str:
        """The gate that holds back most, as part of a sentence; empty if none does."""
        if not self.held:
            return ""
        gate, count = Counter(self.held).most_common(1)[0]
        return f"the gate '{gate}' holds back {count:,} of {self.samples:,}"


def passing(folder: DataFolder, graph: ToolGraph, left_out: Mapping[str, str]) -> Passing:
    """Run the generated samples of a folder through the gates that need no model.

    Args:
        folder: Data folder with `data_raw.json`.
        graph: Its tool graph.
        left_out: Tools that are not sampled, and why.
    """
    held: Counter[str] = Counter()
    labeller = Labeller(graph.library, graph.dependency_type)
    labels = []
    samples = 0
    for record in read_raw(folder.data_raw):
        samples += 1
        gold, _ = labeller.label(record)
        if gold is None:
            held[NO_PLAN] += 1
        elif gold.record.get(EXECUTED) == FAILED:
            held["execution"] += 1
        else:
            labels.append(gold.record)
    coverage = Coverage(graph, left_out)
    if not labels:
        return Passing(samples, 0, held, coverage)
    background = Background(graph.library, graph.dependency_type, graph)
    with temporary_folder() as temporary:
        path = temporary / folder.data.name
        write_json_lines(path, labels)
        labelled = LabelledSet.read(path)
        known = SampleContext(labelled.repeated, whole_set=[repeat_gate(labelled)])
        recipe = GateRecipe(background, tuple(gate.name for gate in gate_pipeline(background, known)))
        funnel = GateFunnel(recipe.names)
        task = CheckTask(labelled.reader, recipe, writes=False, tries_repair=False)
        for part in checked_parts(labelled, known, task, OneProcess()):
            funnel.extend(part.funnel)
            coverage.extend(part.coverage)
    for row in funnel.rows:
        if row.reject or row.quarantine:
            held[row.gate] += row.reject + row.quarantine
    return Passing(samples, funnel.levels["pass"], held, coverage)


LIVE_REWRITES = 5
"""How often the offline writer tries again where plans are executed: another draw often works."""


def generate(
    data_dir: str | Path | None = None,
    *,
    graph_desc: str | Path | None = None,
    tool_desc: str | Path | None = None,
    dependency_type: str | None = None,
    model: ModelSettings = GENERATOR,
    limits: Limits = Limits(),
    samples: SampleSettings = SampleSettings(),
    writing: WritingSettings = WritingSettings(),
    choices: RunStart = RunStart(),
    live: LiveSettings | None = None,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> tuple[Path, bool]:
    """Generate requests with gold plans for samples of a tool graph.

    Args:
        data_dir: Data folder. An existing one is used with its own graph and tools; a new one gets copies of
            `graph_desc` and `tool_desc`. None creates a folder named after the time and the model.
        graph_desc: Graph file, as a path or inside `data_dir`.
        tool_desc: Tool file, as a path or inside `data_dir`.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`.
        model: The generating model; by default with temperature 0.7, top_p 1 and `structured` "auto".
            "offline" needs no server. `max_tokens`, default 2,500, may differ between starts: samples without
            a usable answer are sent again with the new limit.
        limits: Limits of the run, earlier starts included.
        samples: Which subgraphs are sampled.
        writing: How requests are written.
        choices: How the run starts.
        live: A server whose values requests name. Where answers are rewritten, each plan is executed when it
            is written, and a refused call goes back to the writer (the offline one: 5 times by default).
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.

    Returns:
        The data folder, and whether every sample has a usable answer. The input is validated before
        anything is written.

    Raises:
        UsageError: A file is missing or malformed, or the settings differ from those of the folder's run.
        ToolassayError: The model cannot be reached.
    """
    run = RunSettings(model, limits, RunChoices(**vars(choices)), command, screen)
    llm = model.llm
    model.require_name()
    check_wording(writing.prompt, with_template=writing.prompt_template is not None)
    refuse_baseline(llm, "--llm")
    _check_critics(writing, llm)
    suffix = "_check" if writing.check else ""
    name = f"{safe_name(llm)}_t{model.temperature}_p{model.top_p}{suffix}"
    target_folder = work_folder(data_dir, graph_desc, tool_desc, name=name, say=screen.say)
    today = target_folder.folder.today(samples.today, force=run.choices.force)
    if live is not None and run.choices.engine is not None:
        raise UsageError("--values_from executes plans in one process", fix="omit --engine")
    if writing.save_figure and "?files=" in (run.choices.engine or ""):
        raise UsageError(
            "--save_figure draws into the data folder, which workers have only copies of",
            fix="omit --save_figure, or ?files= in --engine",
        )
    if live is not None and writing.rewrite is None and llm == "offline":
        writing = replace(writing, rewrite=LIVE_REWRITES)
    is_seed = follows_seed(writing, target_folder.graph(dependency_type, say=lambda _: None), llm)
    if run.choices.dry_run or not (live or is_seed):
        return _generated(
            target_folder, dependency_type, run, samples, writing, None, is_new=data_dir is None
        )
    seed = max(samples.seed, 0)
    is_kept = data_dir is not None and target_folder.folder.path.is_dir()
    is_served = live is not None
    if live is None:
        live = LiveSettings(WORLD)
        _refuse_simulated(target_folder.folder, Trial(target_folder.folder.path, llm), run)
    elif not is_kept:
        raise UsageError("--values_from writes into a data folder", fix="add --data_dir FOLDER")
    if is_kept:
        if today is not None:  # before a server starts, which gets it
            target_folder.folder.update_benchmark(**date_setting(today))
        if not is_served and read_world(target_folder.folder.path) is None:
            path = world(target_folder.folder.path, seed=seed, screen=replace(screen, show=screen.say)).path
            screen.say(f"{path}: written by rules; {as_called('world', llm='MODEL')} writes a better one")
        collect_values(target_folder.folder, live, seed, screen, again=run.choices.force)
        target_folder = work_folder(data_dir, graph_desc, tool_desc, name=name, say=screen.say)
    graph = target_folder.graph(dependency_type, say=lambda _: None)
    with execution_review(target_folder.folder, live, graph, seed) as carry:
        return _generated(
            target_folder, dependency_type, run, samples, writing, carry, is_new=data_dir is None
        )


def _refuse_simulated(folder: DataFolder, trial: Trial, run: RunSettings) -> None:
    """Refuse to go on with a run that began with results that the simulator of an earlier version made up.

    Raises:
        UsageError: The run is one.
    """
    has_begun = not run.choices.force and recorded_settings(trial.run_folder) is not None
    if has_begun and (folder.benchmark.values_from or {}).get("executor", SIMULATOR) == SIMULATOR:
        raise UsageError(
            "this run began with simulated results, which this version does not make",
            file=trial.run_folder,
            fix="begin again with --force, or go on with the version that began it",
        )


def _generated(
    target_folder: WorkFolder,
    dependency_type: str | None,
    run: RunSettings,
    samples: SampleSettings,
    writing: WritingSettings,
    carry: Tried | None,
    *,
    is_new: bool,
) -> tuple[Path, bool]:
    """Generate the samples; see `generate`."""
    folder = target_folder.folder
    screen = run.screen
    trial = Trial(folder.path, run.model.llm)
    recorded = None if run.choices.force else recorded_settings(trial.run_folder)
    situations: Situations | None = None

    def begin(
        given: RunSettings, samples: SampleSettings, rounds: Sequence[Round] = (Round(0),)
    ) -> tuple[GenerationWork, Run]:
        wording = trial.wording(again=run.choices.force)
        with wording.used():
            work = generation_work(
                target_folder,
                dependency_type,
                given,
                samples,
                writing,
                is_new=is_new,
                rounds=rounds,
                carry=carry,
                situations=situations,
            )
        return work, Run(work, trial, given, wording)

    has_begun = recorded is not None
    with _resumable(folder if is_new else None):
        if writing.difficulty is not None and (recorded is None or SITUATIONS in recorded):
            library = target_folder.graph(dependency_type, say=lambda _: None).library
            situations = library_situations(folder.path, library, run)
        if has_begun and samples.until is not None:
            screen.say(f"{folder.path}: the run goes on until {samples.until:,} samples pass")
        if samples.until is not None:
            return folder.path, _until(folder, run, samples, begin)
        work, generation_run = begin(run, samples)
        if has_begun:
            screen.say(f"{folder.path}: the run goes on to {count_of(work.count, 'sample')}")
        if run.choices.dry_run:
            return folder.path, generation_run.carry_out().expected[0].requests == 0
        if samples.number_of_samples is None and run.model.llm not in FREE:
            estimate = generation_run.foreseen()[1]
            if estimate.requests:
                screen.say(_of_default(estimate, generation_run.price))
        generation_run.carry_out()
        return folder.path, work.is_complete


def _check_critics(writing: WritingSettings, llm: str) -> None:
    """Refuse critics that would have no effect.

    Raises:
        UsageError: There is no rewriting, or the rules would review their own text.
    """
    for name in writing.critic:
        refuse_baseline(name, "--critic")
        if writing.rewrite == 0:
            raise UsageError("--critic finds nothing to do: --rewrite is 0", fix="omit --rewrite 0")
        if name == llm == "offline":
            raise UsageError(
                "the offline critic has no say about the offline writer", fix="name another --critic"
            )


_MOST_SAMPLES = 10  # times the wanted number: then too few pass
_FEWEST = 5  # samples of a round
_LOWEST_RATE = 0.2  # of passing samples, by which the size of a round is chosen


def _until(
    folder: DataFolder,
    run: RunSettings,
    samples: SampleSettings,
    begin: Callable[..., tuple[GenerationWork, Run]],
) -> bool:
    """Generate in rounds until enough samples pass; a round is about as large as what is missing.

    Returns:
        Whether enough pass, and every sample has a usable answer.
    """
    wanted_samples = samples.until or 0
    screen = run.screen
    given = run
    rounds = list(recorded_rounds(folder)) or [Round(0, end=samples.number_of_samples or wanted_samples)]
    count = rounds[-1].end or wanted_samples
    turn = 0
    is_whole = True
    while True:
        turn += 1
        work, generation_run = begin(given, replace(samples, number_of_samples=count, until=None), rounds)
        given = replace(run, screen=replace(screen, say=lambda text: _say_warning(text, screen)))
        generation_run.carry_out()
        if run.choices.dry_run:
            screen.say(f"this is the first round; further ones follow until {wanted_samples:,} pass")
        if run.choices.dry_run or not folder.data_raw.exists():
            return False
        is_whole = is_whole and not work.has_stopped
        gate_result = passing(folder, work.graph, work.left_out)
        screen.say(f"round {turn}: {gate_result.passed:,} of {gate_result.samples:,} samples pass the gates")
        bare = work.uncovered(gate_result.coverage)
        if gate_result.passed >= wanted_samples and not bare:
            reason = ""
            break
        missing = max(wanted_samples - gate_result.passed, len(bare))
        rate = max(gate_result.passed / max(1, count), _LOWEST_RATE)
        if work.has_stopped:
            reason = "the run stopped"
        elif count >= _MOST_SAMPLES * max(wanted_samples, 4 * _FEWEST):
            reason = f"too few pass ({gate_result.worst})"
        elif gate_result.passed >= wanted_samples and turn > 1 and bare == work.aims:
            reason = "" if samples.cover is None else f"{len(bare):,} {samples.cover} have no passing sample"
        else:
            start, count = count, count + max(_FEWEST, round(missing / rate))
            rounds.append(Round(start, count, bare or None))
            continue
        break
    folder.update_benchmark(until={"wanted": wanted_samples, "passed": gate_result.passed, "rounds": turn})
    for line in gate_result.coverage.lines():
        screen.say(line)
    if gate_result.passed < wanted_samples:
        screen.say(f"{WARNING}{gate_result.passed:,} of {wanted_samples:,} samples pass: {reason}")
    elif reason:
        screen.say(f"{WARNING}{reason}")
    return is_whole and gate_result.passed >= wanted_samples and not reason


def _say_warning(text: str, screen: Screen) -> None:
    if text.startswith(WARNING) and "left out" not in text:
        screen.say(text)


def _of_default(estimate: Estimate, price: Tariff | None) -> str:
    """A warning with the estimated cost of the published number of samples."""
    money = ""
    if price is None:
        money = f"; money: {NO_PRICE}"
    elif price.local:
        money = f"; money: none ({price.words})"
    return (
        f"{WARNING}the default of --number_of_samples is the published {PUBLISHED_SAMPLES:,}: "
        f"{estimate.expected(None if price is None or price.local else price).words}{money}. "
        "For fewer: --number_of_samples 100; Ctrl-C stops the run and keeps its samples"
    )


@contextmanager
def _resumable(new: DataFolder | None) -> Iterator[None]:
    """Name the folder of an interrupted run if the command did not; remove a new folder without samples."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if new is None:
            raise
        raise KeyboardInterrupt(
            f"interrupted; the same command with --data_dir {shlex.quote(str(new.path))} continues the run"
        ) from stop
    except ToolassayError:
        if new is not None and not new.data_raw.exists():
            shutil.rmtree(new.path, ignore_errors=True)
        raise


def play(
    data_dir: str | Path | None = None,
    *,
    graph_desc: str | Path | None = None,
    tool_desc: str | Path | None = None,
    dependency_type: str | None = None,
    model: ModelSettings = GENERATOR,
    limits: Limits = Limits(),
    samples: SampleSettings = SampleSettings(),
    writing: WritingSettings = WritingSettings(),
    choices: RunStart = RunStart(),
    live: LiveSettings | None = None,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> dict[str, Any] | None:
    """Generate one sample in a temporary folder and print its record; the arguments are those of `generate`.

    Returns:
        The raw record, or None if the model's answer cannot be parsed.

    Raises:
        UsageError: There is no graph.
        ToolassayError: The model cannot be reached.
    """
    data_path = Path(data_dir) if data_dir is not None else None
    source = find_file(graph_desc or "graph_desc.json", data_path)
    if data_path is not None:
        benchmark = DataFolder(data_path).benchmark
        dependency_type = dependency_type or benchmark.dependency_type
        samples = replace(samples, today=samples.today or benchmark.today)
    if tool_desc is not None:
        tool_desc = find_file(tool_desc, data_path)
    elif (beside := DataFolder(source.parent)).graph_desc == source and beside.tool_desc.exists():
        beside.library(say=screen.say)
        tool_desc = beside.tool_desc
    with temporary_folder() as name:
        quiet = Screen(lambda text: _say_warning(text, screen), progress=screen.progress)
        folder, complete = generate(
            name / "play",
            graph_desc=source,
            tool_desc=tool_desc,
            dependency_type=dependency_type,
            model=model,
            limits=limits,
            samples=replace(samples, number_of_samples=1),
            writing=replace(writing, save_figure=False),
            choices=choices,
            live=live,
            command=command,
            screen=quiet,
        )
        if not complete:
            return None
        record = next(read_raw(DataFolder(folder).data_raw)).to_json()
    result = record["result"]
    screen.say("\n".join([result["user_request"], "", *map(str, result["task_steps"]), ""]))
    screen.show(json.dumps(record, indent=2, ensure_ascii=False))
    return record


def sample(
    data_dir: str | Path,
    *,
    graph_desc: str | Path | None = None,
    settings: SubgraphSettings = SubgraphSettings(),
    screen: Screen = DEFAULT,
) -> list[Sample]:
    """Sample subgraphs of a tool graph and print them.

    Args:
        data_dir: Data folder with the graph; drawings are written to its `task_graphs/`.
        graph_desc: Another graph file.
        settings: Which subgraphs.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: There is no graph, or no subgraph of that size; the message names the largest size.
    """
    folder = DataFolder(Path(data_dir))
    if graph_desc is None:
        graph = graph_of(folder.require(), settings.dependency_type, say=screen.say)
    else:
        source = find_file(graph_desc, folder.path)
        graph = folder.graph(settings.dependency_type, graph_desc=source, say=screen.say)
    method: Shape | None = None if settings.method == "any" else settings.method
    seed = settings.seed
    if seed < 0:
        seed = secrets.randbelow(1_000_000)
        screen.say(f"seed {seed}")
    weights = wanted(method, settings.tools, settings.shape_weights, settings.size_weights)
    aims = None if settings.cover is None else Cover(graph, settings.cover, seed)
    sampler = Sampler(graph, seed, **weights, by_score=settings.by_score, cover=aims)
    if method is None:
        for sentence in sampler.cuts():
            screen.say(sentence)
    size = settings.tools
    if size is None:
        size = 1 if method == "single" else max(3, SMALLEST[method or "dag"])
    samples = []
    for index in range(settings.number_of_samples):
        drawn = sampler.draw(method, size, index=index) if method else sampler.sample(index)
        screen.show(describe(drawn))
        if settings.save_figure:
            from toolassay.reports.pictures import draw_sample

            screen.say(str(draw_sample(drawn, folder.path / "task_graphs" / f"{sample_id(drawn)}.png")))
        samples.append(drawn)
    return samples


def describe(drawn: Sample) -> str:
    """A sample as text: its tools in order, each with its incoming links.

    >>> from toolassay.graph import Link
    >>> print(describe(Sample(0, 7, "chain", ("a", "b"), (Link("a", "b", "text"),))))
    7-00000  chain of 2 tools
      a
      b  <- a (text)
    """
    lines = [f"{sample_id(drawn)}  {drawn.shape} of {count_of_tools(len(drawn.nodes))}"]
    fields = drawn.fields or [()] * len(drawn.links)
    flows = [
        ", ".join(f"{pair.source or 'result'} -> {pair.target}" for pair in pairs) or link.type
        for link, pairs in zip(drawn.links, fields, strict=True)
    ]
    for tool in drawn.nodes:
        sources = [
            link.source if link.type == COMPLETE else f"{link.source} ({flow})"
            for link, flow in zip(drawn.links, flows, strict=True)
            if link.target == tool
        ]
        lines.append(f"  {tool}" + (f"  <- {', '.join(sources)}" if sources else ""))
    return "\n".join(lines)
