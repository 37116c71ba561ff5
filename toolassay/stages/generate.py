"""The generate stage: a tool graph -> `data_raw.json`, `statistics.json` and `task_graphs/`."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from toolassay.backinstruct.generator import PARAMETERS, Generation, Generator, read_kept
from toolassay.backinstruct.prompt import BackInstructPrompt
from toolassay.backinstruct.records import sample_id
from toolassay.benchmarks.work_folder import WorkFolder, graph_fingerprint, work_folder
from toolassay.data_folder import BY_RULES, WRITTEN, DataFolder
from toolassay.dataset import Sample, Shape
from toolassay.errors import ToolassayError, UsageError
from toolassay.files import keep_dated_copy, read_json_lines, safe_name
from toolassay.gates.coverage import Coverage
from toolassay.graph import ToolGraph
from toolassay.graph.links import ListedLinks, NumberedLink
from toolassay.models import ChatModel
from toolassay.models.refused_parameters import without_default
from toolassay.models.registry import refuse_baseline
from toolassay.models.structured_output import json_schema
from toolassay.prompt_templates import check_wording
from toolassay.runs import Journal, changes, recorded_settings
from toolassay.runs.books import NO_PRICE, report_stop
from toolassay.runs.budget import Estimate
from toolassay.runs.ledger import FREE
from toolassay.runs.prices import Tariff
from toolassay.runs.record import hashes
from toolassay.runs.retry_malformed import MAX_TOKENS, RetryPlan
from toolassay.runs.run import Run
from toolassay.runs.settings import (
    Limits,
    ModelSettings,
    RunChoices,
    RunSettings,
    gather,
    refuse_unknown,
)
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference, OpenRun, Work, WorkFacts, Written
from toolassay.sampling import Sampler, wanted
from toolassay.sampling.cover import Cover, CoverKind, Round
from toolassay.schemas import sample_schema
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.passing import passing
from toolassay.stages.statistics import Statistics
from toolassay.tools import ToolLibrary

CONFLICT_FIX = "use the settings it began with, another --data_dir, or --force true (keeps the old run)"
PUBLISHED_SAMPLES = 5000
_MOST_NAMED = 8  # tools in a warning
_NOTHING = Path(os.devnull)  # the samples of another run


@dataclass(frozen=True)
class SampleSettings:
    """Which subgraphs of the tool graph are sampled.

    Attributes:
        number_of_samples: Total number, existing samples included; None for the published 5,000, whose cost
            is estimated and shown before the first request.
        seed: Random seed of the samples; -1 uses that of the folder, or draws one.
        method: Sample one shape only: "single", "chain" or "dag".
        tool_number: Sample one number of tools only.
        shape_weights: Relative frequency of each shape; None for the published ones.
        size_weights: Relative frequency of each number of tools; None for the published ones.
        by_score: Draw the links of a schema graph in proportion to their scores.
        cover: "tools" or "edges": steer the sampling so that each occurs in `at_least` samples, where a sample
            of the requested shapes and sizes can hold it. Without a number of samples, there are as many as
            that takes.
        at_least: See `cover`.
        until: Go on until so many samples pass the gates that need no model, and with `cover` until `at_least`
            passing samples have each tool or edge, within the limits.
    """

    number_of_samples: int | None = None
    seed: int = -1
    method: Shape | None = None
    tool_number: int | None = None
    shape_weights: Mapping[str, float] | None = None
    size_weights: Mapping[str, float] | None = None
    by_score: bool = True
    cover: CoverKind | None = None
    at_least: int = 1
    until: int | None = None


@dataclass(frozen=True)
class WritingSettings:
    """How a model writes requests and gold plans for samples.

    Attributes:
        check: Request the teacher's review in the same answer.
        prompt: Built-in prompt: "published", or "example", which shows a short worked example instead of
            placeholders, for small models.
        prompt_template: File with another prompt template.
        save_figure: Draw each new sample to `task_graphs/`.
    """

    check: bool = False
    prompt: str = "published"
    prompt_template: Path | None = None
    save_figure: bool = False


MODEL = ModelSettings(temperature=0.7, top_p=1.0, structured="auto")
"""Default model settings of `generate`."""


def generate(
    data_dir: str | Path | None = None,
    *,
    graph_desc: str | Path | None = None,
    tool_desc: str | Path | None = None,
    dependency_type: str | None = None,
    model: ModelSettings | None = None,
    limits: Limits | None = None,
    samples: SampleSettings | None = None,
    writing: WritingSettings | None = None,
    choices: RunChoices | None = None,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
    **keywords: Any,
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
        choices: Only `force` and `dry_run` are used.
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.
        keywords: Fields of the five options objects; they replace the fields of the given objects.

    Returns:
        The data folder, and whether every sample has a usable answer. The input is validated before
        anything is written.

    Raises:
        UsageError: A file is missing or malformed, or the settings differ from those of the folder's run.
        TypeError: A keyword is unknown.
        ToolassayError: The model cannot be reached.
    """
    run = RunSettings(
        gather(model or MODEL, keywords),
        gather(limits or Limits(), keywords),
        gather(choices or RunChoices(), keywords),
        command,
        screen,
    )
    samples = gather(samples or SampleSettings(), keywords)
    writing = gather(writing or WritingSettings(), keywords)
    refuse_unknown("generate", keywords)
    llm, model = run.model.llm, run.model
    model.check()
    check_wording(writing.prompt, with_template=writing.prompt_template is not None)
    refuse_baseline(llm, "--llm")
    suffix = "_check" if writing.check else ""
    name = f"{safe_name(llm)}_t{model.temperature}_p{model.top_p}{suffix}"
    place = work_folder(data_dir, graph_desc, tool_desc, name=name, say=screen.say)
    if samples.until is not None:
        return _until(place, dependency_type, run, samples, writing, is_new=data_dir is None)
    work = GenerationWork(place, dependency_type, run, samples, writing, is_new=data_dir is None)
    one = Run(work, Trial(place.folder.path, llm), run)
    if run.choices.dry_run:
        return place.folder.path, one.carry_out().expected[0].requests == 0
    if samples.number_of_samples is None and llm not in FREE:
        estimate = one.foreseen()[1]
        if estimate.requests:
            screen.say(_of_default(estimate, one.price))
    with _resumable(place.folder if data_dir is None else None):
        one.carry_out()
    return place.folder.path, work.is_complete


_MOST_SAMPLES = 10  # times the wanted number: then too few pass
_FEWEST = 20  # samples of a round
_LOWEST_RATE = 0.2  # of passing samples, by which the size of a round is chosen


def _until(
    place: WorkFolder,
    dependency_type: str | None,
    run: RunSettings,
    samples: SampleSettings,
    writing: WritingSettings,
    *,
    is_new: bool,
) -> tuple[Path, bool]:
    """Generate in rounds until enough samples pass; a round is about as large as what is missing."""
    wanted_samples, screen, folder = samples.until or 0, run.screen, place.folder
    count = samples.number_of_samples or wanted_samples
    rounds: list[Round] = [Round(0)]
    quiet = replace(run, screen=replace(screen, say=_only_warnings(screen.say)))
    turn, is_whole = 0, True
    while True:
        turn += 1
        settings = replace(samples, number_of_samples=count, until=None)
        given = run if turn == 1 else quiet
        work = GenerationWork(place, dependency_type, given, settings, writing, is_new=is_new, rounds=rounds)
        one = Run(work, Trial(folder.path, run.model.llm), given)
        if run.choices.dry_run:
            one.carry_out()
            screen.say(f"this is the first round; further ones follow until {wanted_samples:,} pass")
            return folder.path, False
        with _resumable(folder if is_new else None):
            one.carry_out()
        if not folder.data_raw.exists():
            return folder.path, False
        is_whole = is_whole and work.is_complete
        found = passing(folder, work.graph, work.left_out)
        screen.say(f"round {turn}: {found.passed:,} of {found.samples:,} samples pass the gates")
        bare = work.uncovered(found.coverage)
        if found.passed >= wanted_samples and not bare:
            reason = ""
            break
        missing = max(wanted_samples - found.passed, len(bare))
        rate = max(found.passed / max(1, found.samples), _LOWEST_RATE)
        if not work.is_complete:
            reason = "the run stopped"
        elif found.samples >= _MOST_SAMPLES * max(wanted_samples, _FEWEST):
            reason = f"too few pass ({found.worst})"
        elif found.passed >= wanted_samples and turn > 1 and bare == work.aims:
            reason = "" if samples.cover is None else f"{len(bare):,} {samples.cover} have no passing sample"
        else:
            start, count = count, count + max(_FEWEST, round(missing / rate))
            rounds = [*work.rounds, *([Round(start, bare)] if bare else [])]
            continue
        break
    folder.describe(until={"wanted": wanted_samples, "passed": found.passed, "rounds": turn})
    for line in found.coverage.lines():
        screen.say(line)
    if found.passed < wanted_samples:
        screen.say(f"{WARNING}{found.passed:,} of {wanted_samples:,} samples pass: {reason}")
    elif reason:
        screen.say(f"{WARNING}{reason}")
    return folder.path, is_whole and found.passed >= wanted_samples and not reason


def _only_warnings(say: Callable[[str], None]) -> Callable[[str], None]:
    def filtered(text: str) -> None:
        if text.startswith(WARNING) and "left out" not in text:
            say(text)

    return filtered


class GenerationWork(Work):
    """A run that writes requests and gold plans for samples of a tool graph to `data_raw.json`.

    Args:
        place: The data folder, and the files to copy into it.
        dependency_type: Value of `--dependency_type`.
        run: Model, limits and choices.
        samples: Which subgraphs are sampled.
        writing: How requests are written.
        is_new: Whether this start chose the folder's name, so that the same command would create another.
        rounds: At which tools or edges the samples aim, with `samples.cover`; those of the folder come first.

    Raises:
        UsageError: A file is missing or malformed, or the settings differ from those of the existing samples.
    """

    def __init__(
        self,
        place: WorkFolder,
        dependency_type: str | None,
        run: RunSettings,
        samples: SampleSettings,
        writing: WritingSettings,
        *,
        is_new: bool,
        rounds: Sequence[Round] = (Round(0),),
    ) -> None:
        self._place, self._run, self._writing = place, run, writing
        self._folder, llm, screen = place.folder, run.model.llm, run.screen
        self._graph = graph = place.graph(dependency_type, say=screen.say)
        self.graph, self._samples = graph, samples
        self.left_out: Mapping[str, str] = {}
        self._same_folder = f" with --data_dir {self._folder.path}" if is_new else ""
        self._generation: Generation | None = None
        run_folder = Trial(self._folder.path, llm).run_folder
        seed = samples.seed
        if seed < 0:
            seed = _recorded_seed(run_folder, self._folder.data_raw)
            if not run.choices.dry_run:
                screen.say(f"seed {seed}")
        offline = llm == "offline"
        sampled = graph
        if offline:
            sampled, self.left_out = _fillable(graph, screen.say)
        self.rounds = _recorded_rounds(self._folder, samples, rounds)
        cover = None if samples.cover is None else Cover(sampled, samples.cover, seed, self.rounds)
        self._count = samples.number_of_samples or (
            PUBLISHED_SAMPLES if cover is None else len(cover) * samples.at_least
        )
        self._sampler = Sampler(
            sampled,
            seed,
            **wanted(samples.method, samples.tool_number, samples.shape_weights, samples.size_weights),
            by_score=samples.by_score,
            cover=cover,
        )
        if cover is not None:
            _announce(cover, self._count, samples.at_least, screen.say)
        for sentence in self._sampler.cuts():
            screen.say(sentence)
        wording = check_wording(writing.prompt, with_template=writing.prompt_template is not None)
        self._prompt = BackInstructPrompt(
            graph.library,
            graph.dependency_type,
            check=writing.check,
            wording=wording,
            template=writing.prompt_template,
        )
        limit = run.model.max_tokens
        limited = {} if limit is None else without_default({MAX_TOKENS: limit}, PARAMETERS)
        self._parameters: dict[str, Any] = {**run.model.parameters, **limited}
        structured = run.model.structured
        settings = {
            "llm": llm,
            **self._parameters,
            "dependency_type": graph.dependency_type,
            "check": writing.check,
            "seed": seed,
            "shapes": {str(shape): weight for shape, weight in self._sampler.shapes.items()},
            "sizes": {str(size): weight for size, weight in self._sampler.sizes.items()},
            "prompt_sha256": hashlib.sha256(self._prompt.text.encode()).hexdigest(),
            "graph_sha256": graph_fingerprint(graph),
            **run.endpoint.settings,
            **({} if samples.by_score else {"by_score": False}),
            **({} if samples.cover is None else {"cover": samples.cover}),
            **({} if structured == "auto" else {"structured": structured}),
            **({} if wording == "published" else {"prompt": wording}),
        }
        force = run.choices.force
        self._settings = settings if force else _begun_with(run_folder, settings)
        self._foreign = _foreign(self._folder, self._settings, force=force)

    @cached_property
    def facts(self) -> WorkFacts:
        """Settings and hashes of the generation; one item is one sample."""
        settings = self._settings
        return WorkFacts(
            "sample",
            settings,
            {**PARAMETERS, **self._parameters},
            self._count,
            self._count,
            stage="generate",
            conflict_fix=CONFLICT_FIX,
            has_summary=False,  # `statistics.json` has it
            extra={"samples": self._count, MAX_TOKENS: {**PARAMETERS, **self._parameters}[MAX_TOKENS]},
        )

    @property
    def hashes(self) -> Mapping[str, str]:
        """Of the tools and the graph, which `prepare` may have copied, and of the prompt."""
        return {
            **hashes(self._folder.tool_desc, self._folder.graph_desc),
            "graph": self._settings["graph_sha256"],
            "prompt": self._settings["prompt_sha256"],
        }

    @property
    def aims(self) -> tuple[tuple[str, ...], ...] | None:
        """The targets of the last round; None for all."""
        return self.rounds[-1].targets

    def uncovered(self, coverage: Coverage) -> tuple[tuple[str, ...], ...]:
        """The targets, by tool ids, that have too few passing samples; none without `cover`."""
        if self._samples.cover is None:
            return ()
        sampled = self._sampler.graph.library
        counts: Mapping[Any, int] = coverage.tools if self._samples.cover == "tools" else coverage.edges
        few = [target for target, count in counts.items() if count < self._samples.at_least]
        named = [(one,) if isinstance(one, str) else one for one in few]
        return tuple(target for target in named if all(name in sampled for name in target))

    @property
    def is_complete(self) -> bool:
        """Whether every sample has a usable answer."""
        return self._generation is not None and self._generation.usable >= self._count

    def output(self, trial: Trial) -> Path:
        """`data_raw.json` of the data folder."""
        return self._folder.data_raw

    def prepare(self) -> None:
        """Create the folder with its graph and tools."""
        self._place.make(self._graph)

    def run(self, run: OpenRun) -> int:
        """Request the missing samples; each is appended to `data_raw.json` when it arrives."""
        folder, settings = self._folder, self._settings
        if self._foreign and folder.data_raw.exists():
            self._run.screen.say(f"{folder.data_raw} kept as {keep_dated_copy(folder.data_raw).name}")
            folder.data_raw.unlink()
        statistics = Statistics(folder.path / "statistics.json")
        self._describe(settings)
        asked = {"number_of_samples": self._count, "multiworker": self._run.limits.multiworker}
        statistics.begin({**settings, **asked})
        self._generation = self._generator(run.model).run(
            folder.data_raw,
            run.journal,
            self._count,
            replace(run.loop, done=_both(run.loop.done, statistics.count)),
            each=_drawer(folder.path / "task_graphs") if self._writing.save_figure else _nothing,
        )
        statistics.end({**_facts(self._generation), "used": run.ledger.to_json()})
        return self._generation.already

    def _describe(self, settings: Mapping[str, Any]) -> None:
        """Record the settings, and whether rules write about tools that they were not written for."""
        facts: dict[str, Any] = {"generation": settings}
        if len(self.rounds) > 1:
            facts[ROUNDS] = [one.to_json() for one in self.rounds]
        by_rules = settings["llm"] == "offline" and self._writes_by_rules()
        if by_rules:
            facts[WRITTEN] = {"by": "rules", "note": BY_RULES}
        self._folder.describe(*(() if by_rules else (WRITTEN,)), **facts)

    def _writes_by_rules(self) -> bool:
        from toolassay.offline.writer.instruction import is_known

        return not is_known(self._graph.library, self._graph.dependency_type)

    def write(self, output: Path, journal: Journal) -> Written:
        """The number of samples; `run` has written them."""
        return Written(0 if self._generation is None else self._generation.written)

    def preview(self, output: Path, journal: Journal, estimate: Estimate, retry: RetryPlan) -> int:
        """Add the missing samples to the estimate; returns the number of existing ones."""
        there = _NOTHING if self._foreign else output
        return self._generator(None).preview(there, journal, self._count, estimate)

    def report(self, inference: Inference, output: Path, journal_file: Path, screen: Screen) -> None:
        """Report the samples that were written, that are missing, and how to continue."""
        if self._generation is not None:
            _report(self._generation, self._folder, screen, again=self._same_folder)
            report_stop(self._generation.summary, screen, again=self._same_folder)
            if self._folder.is_by_rules:
                screen.say(f"the set is {BY_RULES}: --llm MODEL")

    def _generator(self, model: ChatModel | None) -> Generator:
        def schema(sample: Sample) -> Mapping[str, Any]:
            tools, links = [self._graph.library[name] for name in sample.nodes], len(sample.links)
            kind = self._graph.dependency_type
            return json_schema("sample", sample_schema(tools, links, kind, check=self._writing.check))

        return Generator(
            self._graph,
            self._sampler,
            self._prompt,
            model,
            parameters=self._parameters,
            check=self._writing.check,
            **({"shape": schema} if self._run.model.structured else {}),
        )


ROUNDS = "rounds"
"""Key of `benchmark.json`: at what the samples of later rounds aim (`--cover` with `--until`)."""


def _recorded_rounds(
    folder: DataFolder, samples: SampleSettings, given: Sequence[Round]
) -> tuple[Round, ...]:
    """The rounds of the folder's samples, followed by new ones."""
    if samples.cover is None:
        return (Round(0),)
    recorded = folder.benchmark.get(ROUNDS)
    known = (
        [Round.of(one) for one in recorded] if isinstance(recorded, list) and folder.data_raw.exists() else []
    )
    return (*known, *given[len(known) :]) if known else tuple(given)


def _announce(cover: Cover, count: int, at_least: int, say: Callable[[str], None]) -> None:
    """Say how many samples cover the graph, and whether there are enough."""
    needed = len(cover) * at_least
    if count < needed:
        say(f"{len(cover):,} {cover.kind}: {needed:,} samples have each {at_least} times, {count:,} do not")
    else:
        say(f"{len(cover):,} {cover.kind}, each in at least {at_least} of {count:,} samples, where possible")


def _fillable(graph: ToolGraph, say: Callable[[str], None]) -> tuple[ToolGraph, Mapping[str, str]]:
    """The graph without the tools that the offline writer cannot write about, and these with the reasons.

    A warning names them.

    Raises:
        UsageError: No tool is left, or the library is not in English.
    """
    from toolassay.offline.own_tools.setting import is_english
    from toolassay.offline.writer.instruction import is_known, needs_model

    problems = needs_model(graph.library, graph.dependency_type)
    if not is_known(graph.library, graph.dependency_type) and not is_english(graph.library):
        raise UsageError(
            "the offline writer writes English; the descriptions of these tools are in another language",
            fix="name a model: --llm MODEL (pipeline: --generator MODEL)",
        )
    if not problems:
        return graph, {}
    named = "; ".join(f"{name} ({problem})" for name, problem in islice(problems.items(), _MOST_NAMED))
    more = f"; {len(problems) - _MOST_NAMED:,} more" if len(problems) > _MOST_NAMED else ""
    if len(problems) == len(graph):
        raise UsageError(
            f"the offline writer cannot fill any tool: {named}{more}", fix="name a model: --llm MODEL"
        )
    say(f"{WARNING}left out, the offline writer cannot fill (needs --llm MODEL): {named}{more}")
    kept = [number for number, tool in enumerate(graph.library) if tool.id not in problems]
    library = ToolLibrary([graph.library.tools[number] for number in kept])
    reasons = {name: f"{reason} (needs --llm MODEL)" for name, reason in problems.items()}
    if graph.is_implied:
        return ToolGraph.build(library, graph.dependency_type), reasons
    if graph.dependency_type == "schema":
        known = (link for link in graph.dependencies() if link.source in library and link.target in library)
        return ToolGraph.of_dependencies(library, known), reasons
    new = {number: place for place, number in enumerate(kept)}
    links = (
        NumberedLink(new[source], new[target], kind)
        for source, target, kind in graph.numbered
        if source in new and target in new
    )
    return ToolGraph(library, graph.dependency_type, ListedLinks(len(library), links)), reasons


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
            f"interrupted; the same command with --data_dir {new.path} continues the run"
        ) from stop
    except ToolassayError:
        if new is not None and not new.data_raw.exists():
            shutil.rmtree(new.path, ignore_errors=True)
        raise


def _begun_with(run_folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of the existing run if at most `max_tokens` differs, else those of this start."""
    recorded = recorded_settings(run_folder) or {}
    same = not changes({**recorded, MAX_TOKENS: None}, {**settings, MAX_TOKENS: None})
    return recorded if same else settings


def _recorded_seed(run_folder: Path, data_raw: Path) -> int:
    """The seed of the folder's run, else a random one."""
    recorded = (recorded_settings(run_folder) or {}).get("seed")
    if recorded is None and data_raw.exists():
        recorded = _first_seed(data_raw)
    return recorded if isinstance(recorded, int) else secrets.randbelow(1_000_000)


def _first_seed(data_raw: Path) -> int | None:
    for _, record in read_json_lines(data_raw):
        seed = record.get("seed") if isinstance(record, dict) else None
        return seed if isinstance(seed, int) else None
    return None


def _foreign(folder: DataFolder, settings: Mapping[str, Any], *, force: bool) -> bool:
    """Whether `data_raw.json` has other content than samples made with these settings.

    `benchmark.json` records the settings of the samples.

    Raises:
        UsageError: It has, and `force` does not allow to replace it.
    """
    if not folder.data_raw.exists():
        return False
    made_with = folder.benchmark.get("generation")
    try:
        read_kept(folder.data_raw, settings["seed"])
        if not isinstance(made_with, Mapping):
            raise UsageError("was not written by this command", file=folder.data_raw, fix=CONFLICT_FIX)
        changed = changes(made_with, settings)
        if changed:
            raise UsageError(
                f"holds samples made with other settings ({'; '.join(changed)})",
                file=folder.data_raw,
                fix=CONFLICT_FIX,
            )
    except UsageError:
        if not force:
            raise
        return True
    return False


def _drawer(folder: Path) -> Any:
    from toolassay.report import draw_sample

    def draw(sample: Sample) -> None:
        draw_sample(sample, folder / f"{sample_id(sample)}.png")

    return draw


def _nothing(sample: Sample) -> None:
    pass


def _both(first: Any, second: Any) -> Any:
    def call() -> None:
        first()
        second()

    return call


def _facts(generation: Generation) -> dict[str, Any]:
    return {
        "samples": generation.written,
        "there_before": generation.already,
        "outcomes": dict(generation.summary.outcomes),
        "failures": generation.summary.failures,
        "stop": generation.summary.stop,
    }


def _report(generation: Generation, folder: DataFolder, screen: Screen, *, again: str) -> None:
    outcomes = generation.summary.outcomes
    new, refused = outcomes["answered"], outcomes["refused"] + generation.refused
    screen.say(f"{folder.data_raw}: {generation.written} samples, {new} new, {generation.already} existing")
    unusable = {name: count for name, count in outcomes.items() if name not in ("answered", "refused")}
    lost = sum(unusable.values())
    if lost:
        counts = ", ".join(f"{count} {name}" for name, count in unusable.items())
        failures = "".join(f"\n  {failure}" for failure in generation.summary.failures)
        screen.say(
            f"{WARNING}{lost} samples have no usable answer ({counts}): the same command{again} requests"
            f" them again{failures}"
        )
    if refused:
        screen.say(f"{refused} samples refused by the model; they are not requested again")
