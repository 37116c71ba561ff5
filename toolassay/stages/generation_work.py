"""The run of the generate stage: which samples there are, what is requested, and what is recorded."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from toolassay.backinstruct.critics import FOLLOW
from toolassay.backinstruct.generator import (
    DECLINED,
    PARAMETERS,
    Carried,
    Generation,
    Judgement,
    Problem,
    Review,
    RewritingGain,
    SampleItems,
    Tried,
    read_kept,
    rewriting_gain,
)
from toolassay.backinstruct.generator import generate as generate_samples
from toolassay.backinstruct.labels import Labeller
from toolassay.backinstruct.prompt import REQUIRED, BackInstructPrompt
from toolassay.backinstruct.records import RawSample, read_raw, sample_id
from toolassay.benchmarks.work_folder import WorkFolder, graph_fingerprint
from toolassay.console.screen import WARNING, Screen
from toolassay.console.tables import printable
from toolassay.console.text_formatting import count_of, some_of
from toolassay.errors import UsageError
from toolassay.executors.fact_sources import FACTS, UNJUDGEABLE, facts_of, missing_facts
from toolassay.files.data_files import keep_dated_copy, record_of
from toolassay.files.locks import open_regular
from toolassay.gates.coverage import Coverage
from toolassay.gates.critic import Knowledge, is_doubt, judged
from toolassay.gates.gate import Background, level_of
from toolassay.gates.gate_pipeline import rule_gates
from toolassay.gates.rubric import goes_to
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import condition_of
from toolassay.live_values.results import SeenCall, read_results
from toolassay.models.refused_parameters import without_default
from toolassay.offline.work_order import RealValues
from toolassay.plans.execution_record import SIMULATOR
from toolassay.plans.gold import Gold
from toolassay.prompts.templates import check_wording, read_template
from toolassay.records.data_folder import BY_RULES, WRITTEN, DataFolder, date_setting
from toolassay.records.dataset import Sample
from toolassay.runs.budget import Estimate
from toolassay.runs.items import Ask, preview_items
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import MAX_TOKENS, RetryPlan, changes, recorded_settings
from toolassay.runs.record import hashes
from toolassay.runs.runner import report_stop
from toolassay.runs.settings import (
    RunSettings,
)
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference, OpenRun, Work, WorkFacts, Written
from toolassay.sampling import Sampler, wanted
from toolassay.sampling.cover import Cover, Round
from toolassay.stages.live_values import Collected, read_values
from toolassay.stages.settings import SampleSettings, WritingSettings
from toolassay.writing.seed_writer import REWRITES, Judge, SeedItems, written_plan
from toolassay.writing.situations import Situations
from toolassay.writing.turns import WrittenCall, seed_wording

SITUATIONS = "situations_sha256"
"""Setting of a run whose writer proposed persons and occasions."""
_EVERY = 100  # samples per line of progress
_MOST_OF_REASON = 300  # characters of why a sample was declined


class Statistics:
    """Appends lines to `statistics.json`: at the start, every 100 samples and at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._count = 0

    def count(self) -> None:
        """Count one finished sample."""
        self._count += 1
        if self._count % _EVERY == 0:
            self.append("running", {"done": self._count})

    def append(self, event: str, facts: Mapping[str, Any]) -> None:
        """Write a line. It must not contain an API key."""
        line = {"event": event, "time": datetime.now().isoformat(timespec="seconds"), **facts}
        with open_regular(self._path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def judge_of(
    graph: ToolGraph,
    critics: Sequence[str],
    values: RealValues,
    seen: Mapping[str, Sequence[SeenCall]],
    today: date | None = None,
) -> Judge:
    """A function that says why a record would not pass.

    Args:
        graph: The tool graph.
        critics: Names of models that judge what the gates let pass.
        values: Values that exist on a server.
        seen: What calls of its reading tools returned, by tool.
        today: Date of the set.
    """
    labeller = Labeller(graph.library, graph.dependency_type)
    background = Background(graph.library, graph.dependency_type, graph)
    gates = rule_gates(background)

    async def judge(record: RawSample, carried: Carried | None, ask: Ask | None) -> Judgement:
        gold, reasons = labeller.label(record)
        if gold is None:
            return Judgement([Problem("plan", reason) for reason in reasons])
        problems = [
            Problem(
                gate.name, f"{finding.reason}{f' ({finding.where})' if finding.where else ''}", gate.goes_to
            )
            for gate in gates
            if ask is not None or "request" not in gate.judges
            for finding in gate.check(gold)
            if level_of([finding.state]) != "pass" and (ask is None or not critics or not is_doubt(finding))
        ]
        if carried is not None and carried.outcome == "ran":
            facts = facts_of(gold)
            problems += [
                Problem(FACTS, text, "request") for text in missing_facts(facts or (), carried.call_results)
            ]
            if facts == [] and carried.is_idle:
                text = f"the calls change nothing: without facts {UNJUDGEABLE}"
                problems.append(Problem(FACTS, text, "request"))
        if ask is None or not critics or problems:
            return Judgement(problems)
        reviews = dict[str, Any]()
        alternatives = list[dict[str, Any]]()
        # Only a plan that is executed again can be proven.
        with_alternative = (
            graph.dependency_type == "schema" and carried is not None and carried.outcome == "ran"
        )
        for critic in critics:
            evidence = Knowledge(values, carried.results if carried else (), seen, today)
            rubric = await judged(critic, gold, background, ask, evidence, with_alternative=with_alternative)
            if rubric is not None:
                other = _alternative(rubric.alternative, gold, record, graph, labeller)
                if with_alternative and other is not None:
                    alternatives.append(other)
                reviews[critic] = msgspec.to_builtins(msgspec.structs.replace(rubric, alternative=UNSET))
                problems += [
                    Problem(name, f'a reviewer says no to "{name}": {rubric.why(name)}', goes_to(name))
                    for name in rubric.failed
                ]
        return Judgement(problems, reviews, alternatives=alternatives)

    return judge


def _alternative(
    calls: Any, gold: Gold, record: RawSample, graph: ToolGraph, labeller: Labeller
) -> dict[str, Any] | None:
    """The other plan of a critic as a label has it; None if it has none, or one that cannot be a plan."""
    try:
        written = written_plan(graph, gold.request, msgspec.convert(calls, list[WrittenCall]))
    except msgspec.ValidationError:
        return None
    other, _ = labeller.label(msgspec.structs.replace(record, result=written))
    if other is None or other.nodes == gold.nodes:
        return None
    return {key: other.record[key] for key in ("task_nodes", "task_links")} | {"by": "critic"}


def sample_review(judge: Callable[[], Judge], carry: Tried | None = None) -> Review:
    """A function that says why a sample would not pass: gates, then its execution, then critics.

    Args:
        judge: Makes what judges a record.
        carry: Carries out the plan of what the gates let pass.
    """
    judge_it = judge()

    async def review(sample: Sample, record: RawSample, ask: Ask) -> Judgement:
        carried = None
        if carry is not None and not (await judge_it(record, None, None)).problems:
            carried = Carried.of(await ask.once(lambda: carry(sample, record)))
            if carried.problems:
                return Judgement(carried.problems, executed=carried.outcome)
        judgement = await judge_it(record, carried, ask)
        return judgement._replace(executed="" if carried is None else carried.outcome)

    return review


def follows_seed(writing: WritingSettings, graph: ToolGraph, llm: str) -> bool:
    """Whether samples are seeds.

    Raises:
        UsageError: "seed" is asked of the offline writer, of published tools, or with a prompt template.
    """
    is_possible = llm != "offline" and graph.dependency_type == "schema"
    if writing.follow == "seed" and not is_possible:
        raise UsageError(
            "--follow seed needs a served model and imported tools",
            fix="name a --llm, or use --follow strict",
        )
    own = writing.prompt_template is not None or writing.check or writing.prompt != "default"
    if writing.follow == "seed" and own:
        raise UsageError("--prompt, --prompt_template and --check belong to --follow strict", fix="omit them")
    is_seed = is_possible and not own and writing.follow != "strict"
    if writing.difficulty is not None and not is_seed:
        raise UsageError("--difficulty belongs to --follow seed", fix="omit it, or name a served --llm")
    return is_seed


_MOST_NAMED = 8  # tools, or samples, in a warning


def fillable(
    graph: ToolGraph,
    say: Callable[[str], None],
    values: RealValues | None = None,
    unusable: Collection[str] = (),
) -> tuple[ToolGraph, Mapping[str, str]]:
    """The graph without the tools that the offline writer cannot write about, and these with the reasons.

    A warning names them.

    Args:
        graph: The graph.
        say: Receives the warning.
        values: Values that exist on a server.
        unusable: Tools of which a server accepted no call.

    Raises:
        UsageError: No tool is left.
    """
    from toolassay.offline.writer.instruction import needs_model

    problems = needs_model(graph.library, graph.dependency_type, values)
    problems |= {name: "the server accepted no call of it" for name in unusable if name in graph.library}
    if not problems:
        return graph, {}
    named = "; ".join(f"{name} ({problem})" for name, problem in islice(problems.items(), _MOST_NAMED))
    more = f"; {len(problems) - _MOST_NAMED:,} more" if len(problems) > _MOST_NAMED else ""
    if len(problems) == len(graph):
        raise UsageError(
            f"the offline writer cannot write about any tool: {named}{more}", fix="name a model: --llm MODEL"
        )
    say(f"{WARNING}left out, the offline writer cannot write about (needs --llm MODEL): {named}{more}")
    reasons = {name: f"{reason} (needs --llm MODEL)" for name, reason in problems.items()}
    return graph.within(set(graph.library.ids) - problems.keys()), reasons


CONFLICT_FIX = "use the settings it began with, another --data_dir, or --force true (keeps the old run)"
# Samples per library in the published script, which is the default of the script of that name.
PUBLISHED_SAMPLES = 5000
_REDRAWN = 2  # times that a sample which does not pass is written again
_NOTHING = Path(os.devnull)  # the samples of another run


@dataclass(eq=False)
class GenerationWork(Work):
    """A run that writes requests and gold plans for samples of a tool graph to `data_raw.json`.

    Attributes:
        target_folder: The data folder, and the files to copy into it.
        graph: Of the tools.
        left_out: Tools that the offline writer cannot use, with the reasons.
        settings: Everything that shapes the samples.
        today: Date of the set.
        situations: Persons and occasions that fit the library; None for the built-in ones.
        prompt: None where the model plans around a sample.
        parameters: Of the requests, over the default ones.
        rewrite: How often an answer goes back to the model.
        is_foreign: Whether `data_raw.json` has other content, which `--force` replaces.
        again: What the same command needs besides to go on in this folder.
    """

    target_folder: WorkFolder
    run_settings: RunSettings
    samples: SampleSettings
    writing: WritingSettings
    graph: ToolGraph
    sampler: Sampler
    count: int
    left_out: Mapping[str, str]
    rounds: tuple[Round, ...]
    carry: Tried | None
    values: Mapping[str, Mapping[str, Sequence[Any]]]
    today: date | None
    situations: Situations | None
    prompt: BackInstructPrompt | None
    settings: Mapping[str, Any]
    parameters: Mapping[str, Any]
    rewrite: int
    is_foreign: bool
    again: str
    _generation: Generation | None = None
    _rewriting: RewritingGain | None = None

    @cached_property
    def facts(self) -> WorkFacts:
        """Settings and hashes of the generation; one item is one sample."""
        settings = self.settings
        return WorkFacts(
            "sample",
            settings,
            {**PARAMETERS, **self.parameters},
            self.count,
            self.count,
            stage="generate",
            conflict_fix=CONFLICT_FIX,
            has_summary=False,  # `statistics.json` has it
            extra={"samples": self.count, MAX_TOKENS: {**PARAMETERS, **self.parameters}[MAX_TOKENS]},
            helpers=tuple(self.writing.critic),
            not_counted="".join(
                f"; {what}"
                for what, is_asked in (
                    ("rewrites (--rewrite)", self.writing.rewrite),
                    ("reviews (--critic)", self.writing.critic),
                )
                if is_asked
            ),
        )

    @property
    def hashes(self) -> Mapping[str, str]:
        """Of the tools and the graph, which `prepare` may have copied, and of the prompt."""
        return {
            **hashes(self.target_folder.folder.tool_desc, self.target_folder.folder.graph_desc),
            "graph": self.settings["graph_sha256"],
            "prompt": self.settings["prompt_sha256"],
        }

    @property
    def aims(self) -> tuple[tuple[str, ...], ...] | None:
        """The targets of the last round; None for all."""
        return self.rounds[-1].targets

    def uncovered(self, coverage: Coverage) -> tuple[tuple[str, ...], ...]:
        """The targets, by tool ids, that have too few passing samples; none without `cover`."""
        if self.samples.cover is None:
            return ()
        sampled = self.sampler.graph.library
        counts: Mapping[Any, int] = coverage.tools if self.samples.cover == "tools" else coverage.edges
        few = [target for target, count in counts.items() if count < self.samples.at_least]
        named = [(target,) if isinstance(target, str) else target for target in few]
        return tuple(target for target in named if all(name in sampled for name in target))

    @property
    def is_complete(self) -> bool:
        """Whether every sample has a usable answer."""
        return self._generation is not None and self._generation.settled >= self.count

    @property
    def has_stopped(self) -> bool:
        """Whether the run ended before every sample was asked, or some failed."""
        if self._generation is None:
            return True
        summary = self._generation.summary
        return bool(summary.stop or summary.interrupted or summary.failed)

    def output(self, trial: Trial) -> Path:
        """`data_raw.json` of the data folder."""
        return self.target_folder.folder.data_raw

    def prepare(self) -> None:
        """Create the folder with its graph and tools."""
        self.target_folder.make(self.graph)

    def answer(self, run: OpenRun, items: Any, chosen: Iterable[int]) -> int:
        """Request the missing samples; each is appended to `data_raw.json` when it arrives."""
        folder = self.target_folder.folder
        settings = self.settings
        if self.is_foreign and folder.data_raw.exists():
            self.run_settings.screen.say(f"{folder.data_raw} kept as {keep_dated_copy(folder.data_raw).name}")
            folder.data_raw.unlink()
        statistics = Statistics(folder.path / "statistics.json")
        self._describe(settings)
        asked = {"number_of_samples": self.count, "multiworker": self.run_settings.limits.multiworker}
        statistics.append("started", {**settings, **asked})

        def done() -> None:
            run.loop.done()
            statistics.count()

        loop = replace(run.loop, done=done)
        critics = {name: run.helpers[name] for name in self.writing.critic}
        self._generation = generate_samples(items, folder.data_raw, run, critics, self.count, loop)
        if self.rewrite:
            self._rewriting = rewriting_gain(run.journal)
        rewriting = {"rewriting": msgspec.to_builtins(self._rewriting)} if self._rewriting else {}
        statistics.append("ended", {**_facts(self._generation), **rewriting, "used": run.ledger.to_json()})
        return self._generation.already

    def _describe(self, settings: Mapping[str, Any]) -> None:
        """Record the settings, and whether rules write about tools that they were not written for."""
        facts: dict[str, Any] = {**date_setting(self.today), "generation": settings}
        if self.rounds[-1].end is not None:
            facts[ROUNDS] = msgspec.to_builtins(self.rounds)
        by_rules = settings["llm"] == "offline" and _writes_by_rules(self.graph)
        if by_rules:
            facts[WRITTEN] = {"by": "rules", "note": BY_RULES}
        self.target_folder.folder.update_benchmark(*(() if by_rules else (WRITTEN,)), **facts)

    def write(self, output: Path, journal: Journal) -> Written:
        """The number of samples; `answer` has written them."""
        return Written(0 if self._generation is None else self._generation.written)

    def preview(self, output: Path, journal: Journal, estimate: Estimate, retry: RetryPlan) -> int:
        """Add the missing samples to the estimate; returns the number of existing ones."""
        kept = read_kept(_NOTHING if self.is_foreign else output, self.sampler.seed)
        items = self.items
        work = replace(items, review=None, drawn=None) if isinstance(items, SampleItems) else items
        return preview_items(work, self.chosen, journal, estimate, retry, skip=lambda key: key in kept)

    def report(self, inference: Inference, output: Path, journal_file: Path, screen: Screen) -> None:
        """Report the samples that were written, that are missing, and how to continue."""
        if self._generation is not None:
            _report(self._generation, self.target_folder.folder, screen, again=self.again)
            report_stop(self._generation.summary, screen, again=self.again)
            if self._rewriting:
                screen.say(_gain(self._rewriting))
            if self.target_folder.folder.benchmark.is_by_rules:
                screen.say(f"the set is {BY_RULES}: --llm MODEL")

    @property
    def chosen(self) -> range:
        """The numbers of all samples."""
        return range(self.count)

    def check_engine(self) -> None:
        """Any engine may spread the samples."""

    @property
    def items(self) -> SampleItems | SeedItems:
        """The work on single samples."""
        writing = self.writing
        graph = self.graph
        # A worker has another working directory.
        figures = self.target_folder.folder.path.absolute() / "task_graphs"
        drawn = partial(_draw, figures) if writing.save_figure else None
        is_structured = bool(self.run_settings.model.structured)
        seen = read_results(self.target_folder.folder)
        recorded = self.target_folder.folder.benchmark.values_from or {}
        # Values that the simulator of an earlier version accepted were drawn, and exist nowhere.
        known = {} if recorded.get("executor") == SIMULATOR else self.values
        judge = partial(judge_of, graph, tuple(writing.critic), known, seen, self.today)
        shared: dict[str, Any] = {
            "graph": graph,
            "sampler": self.sampler,
            "parameters": self.parameters,
            "rewrites": self.rewrite,
            "is_structured": is_structured,
            "drawn": drawn,
        }
        if self.prompt is None:
            return SeedItems(
                **shared,
                judge=judge,
                carry=self.carry,
                difficulty=writing.difficulty,
                values=known,
                seen=seen,
                today=self.today,
                situations=self.situations,
            )
        review = partial(sample_review, judge, self.carry) if self.rewrite else None
        return SampleItems(
            **shared, prompt=self.prompt, check=writing.check, review=review, values=self.values or None
        )


def generation_work(
    target_folder: WorkFolder,
    dependency_type: str | None,
    run: RunSettings,
    samples: SampleSettings,
    writing: WritingSettings,
    *,
    is_new: bool,
    rounds: Sequence[Round] = (Round(0),),
    carry: Tried | None = None,
    situations: Situations | None = None,
) -> GenerationWork:
    """The work of a generation in a data folder, which is read; notices about it are shown.

    Args:
        target_folder: The data folder, and the files to copy into it.
        dependency_type: Value of `--dependency_type`.
        run: Model, limits and choices.
        samples: Which subgraphs are sampled.
        writing: How requests are written.
        is_new: Whether this start chose the folder's name, so that the same command would create another.
        rounds: Of the samples, with the tools or edges at which each aims with `samples.cover`.
        carry: Executes a sample's plan and says why it fails; None if plans are not executed.
        situations: Persons and occasions that fit the library; None for the built-in ones.

    Raises:
        UsageError: A file is missing or malformed, or the settings differ from those of the existing samples.
    """
    folder = target_folder.folder
    llm = run.model.llm
    screen = run.screen
    values = read_values(folder)
    today = folder.today(samples.today, force=run.choices.force)
    graph = target_folder.graph(dependency_type, say=screen.say)
    run_folder = Trial(folder.path, llm).run_folder
    seed = samples.seed
    if seed < 0:
        seed = _recorded_seed(run_folder, folder.data_raw)
        if not run.choices.dry_run:
            screen.say(f"seed {seed}")
    offline = llm == "offline"
    sampled, left_out = _sampled_graph(graph, folder, values, offline=offline, say=screen.say)
    sampler, count = _sampler(sampled, samples, seed, rounds, screen.say)
    is_seed = follows_seed(writing, graph, llm)
    prompt = None if is_seed else _prompt(graph, writing, values, today)
    limit = run.model.max_tokens
    limited = {} if limit is None else without_default({MAX_TOKENS: limit}, PARAMETERS)
    parameters: dict[str, Any] = {**run.model.parameters, **limited}
    settings = {
        "llm": llm,
        **parameters,
        "dependency_type": graph.dependency_type,
        "check": writing.check,
        "seed": seed,
        "shapes": {str(shape): weight for shape, weight in sampler.shapes.items()},
        "sizes": {str(size): weight for size, weight in sampler.sizes.items()},
        "prompt_sha256": _hash(seed_wording() if prompt is None else prompt.text),
        "graph_sha256": graph_fingerprint(graph),
        **({"values_sha256": _hash(json.dumps(values, sort_keys=True))} if values else {}),
        **run.endpoint.settings,
        **({SITUATIONS: _hash(repr(situations))} if situations else {}),
        **_unusual_settings(run, samples, writing, is_seed=is_seed),
        **date_setting(today),
    }
    force = run.choices.force
    settings = settings if force else _begun_with(run_folder, settings)
    return GenerationWork(
        target_folder=target_folder,
        run_settings=run,
        samples=samples,
        writing=writing,
        graph=graph,
        sampler=sampler,
        count=count,
        left_out=left_out,
        rounds=tuple(rounds),
        carry=carry,
        values=values,
        today=today,
        situations=situations,
        prompt=prompt,
        settings=settings,
        parameters=parameters,
        rewrite=_rewrites(writing, graph, is_seed=is_seed, offline=offline),
        is_foreign=_foreign(folder, settings, force=force),
        again=f" with --data_dir {shlex.quote(str(folder.path))}" if is_new else "",
    )


def _sampler(
    graph: ToolGraph,
    samples: SampleSettings,
    seed: int,
    rounds: Sequence[Round],
    say: Callable[[str], None],
) -> tuple[Sampler, int]:
    """What draws the samples, and their number; what it leaves out is said."""
    cover = None if samples.cover is None else Cover(graph, samples.cover, seed, tuple(rounds))
    count = samples.number_of_samples or (
        PUBLISHED_SAMPLES if cover is None else len(cover) * samples.at_least
    )
    sampler = Sampler(
        graph,
        seed,
        **wanted(samples.method, samples.tool_number, samples.shape_weights, samples.size_weights),
        by_score=samples.by_score,
        cover=cover,
    )
    if cover is not None:
        _announce(cover, count, samples.at_least, say)
    for sentence in sampler.cuts():
        say(sentence)
    return sampler, count


def _prompt(
    graph: ToolGraph, writing: WritingSettings, values: RealValues, today: date | None
) -> BackInstructPrompt:
    """The prompt of a request that is written in one turn."""
    template = writing.prompt_template
    return BackInstructPrompt(
        graph.library,
        graph.dependency_type,
        check=writing.check,
        wording=check_wording(writing.prompt, with_template=template is not None),
        template=None if template is None else read_template(template, REQUIRED),
        values=values,
        conditions={
            (link.source, link.target): when for link in graph.dependencies() if (when := condition_of(link))
        },
        today=today,
    )


def _rewrites(writing: WritingSettings, graph: ToolGraph, *, is_seed: bool, offline: bool) -> int:
    """How often a problem goes back to the writer."""
    if writing.rewrite is not None:
        return writing.rewrite
    if is_seed:
        return REWRITES
    return _REDRAWN if writing.critic or (offline and _writes_by_rules(graph)) else 0


def _sampled_graph(
    graph: ToolGraph,
    folder: DataFolder,
    values: RealValues,
    *,
    offline: bool,
    say: Callable[[str], None],
) -> tuple[ToolGraph, Mapping[str, str]]:
    """The part of a graph that is sampled, and why tools are not in it, by tool.

    Links whose trials on the server found nothing are left out. Offline, so are the tools whose arguments the
    rules cannot fill.
    """
    collected = Collected.of(folder)
    sampled = graph
    if idle := collected.idle_links:
        links = (link for link in graph.dependencies() if (link.source, link.target) not in idle)
        sampled = ToolGraph.of_dependencies(graph.library, links)
    return fillable(sampled, say, values or None, collected.unusable) if offline else (sampled, {})


def _unusual_settings(
    run: RunSettings, samples: SampleSettings, writing: WritingSettings, *, is_seed: bool
) -> dict[str, Any]:
    """The settings that a manifest has only where they differ from the default.

    A manifest of an earlier version, which lacks the options that came later, so continues.
    """
    structured = run.model.structured
    wording = check_wording(writing.prompt, with_template=writing.prompt_template is not None)
    return {
        **({} if samples.by_score else {"by_score": False}),
        **({} if samples.cover is None else {"cover": samples.cover}),
        **({} if structured == "auto" else {"structured": structured}),
        **({} if wording == "default" else {"prompt": wording}),
        **({"rewrite": writing.rewrite} if writing.rewrite else {}),
        **({"critic": list(writing.critic)} if writing.critic else {}),
        **({"difficulty": writing.difficulty} if writing.difficulty else {}),
        **({FOLLOW: "seed"} if is_seed else {}),
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _writes_by_rules(graph: ToolGraph) -> bool:
    """Whether rules write about tools that they were not written for."""
    from toolassay.offline.writer.instruction import is_known

    return not is_known(graph.library, graph.dependency_type)


ROUNDS = "rounds"
"""Key of `benchmark.json`: the rounds of `--until`, with the targets at which each aims."""


def recorded_rounds(folder: DataFolder) -> tuple[Round, ...]:
    """The rounds of the folder's samples; none if it has no samples, or they were not made in rounds."""
    recorded = folder.benchmark.rounds if folder.data_raw.exists() else None
    fix = "correct 'rounds', or generate again"
    return record_of(recorded or (), tuple[Round, ...], file=folder.benchmark_file, fix=fix)


def _announce(cover: Cover, count: int, at_least: int, say: Callable[[str], None]) -> None:
    """Say how many samples cover the graph, and whether there are enough."""
    needed = len(cover) * at_least
    if count < needed:
        say(f"{len(cover):,} {cover.kind}: {needed:,} samples have each {at_least} times, {count:,} do not")
    else:
        say(f"{len(cover):,} {cover.kind}, each in at least {at_least} of {count:,} samples, where possible")


def _begun_with(run_folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of the existing run if at most `max_tokens` differs, else those of this start."""
    recorded = recorded_settings(run_folder) or {}
    same = not changes({**recorded, MAX_TOKENS: None}, {**settings, MAX_TOKENS: None})
    return recorded if same else settings


def _recorded_seed(run_folder: Path, data_raw: Path) -> int:
    """The seed of the folder's run, else a random one."""
    recorded = (recorded_settings(run_folder) or {}).get("seed")
    if recorded is None and data_raw.exists():
        with suppress(UsageError):  # `_foreign` says so, or replaces it
            recorded = next((sample.seed for sample in read_raw(data_raw)), None)
    return recorded if isinstance(recorded, int) else secrets.randbelow(1_000_000)


def _foreign(folder: DataFolder, settings: Mapping[str, Any], *, force: bool) -> bool:
    """Whether `data_raw.json` has other content than samples made with these settings.

    `benchmark.json` records the settings of the samples.

    Raises:
        UsageError: It has, and `force` does not allow to replace it.
    """
    if not folder.data_raw.exists():
        return False
    made_with = folder.benchmark.generation
    try:
        read_kept(folder.data_raw, settings["seed"])
        if made_with is None:
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


def _gain(gain: RewritingGain) -> str:
    """What rewriting gained and cost, in a sentence."""
    passed = {int(number): count for number, count in gain.passed_at.items()}
    total = sum(passed.values()) + gain.never
    later = [
        f"{count:,} after {count_of(number, 'rewrite')}" for number, count in sorted(passed.items()) if number
    ]
    tokens = gain.prompt_tokens + gain.completion_tokens
    return (
        f"{passed.get(0, 0):,} of {total:,} pass at the first answer"
        f"{''.join(f', {text}' for text in later)}; {gain.never:,} do not. Rewriting took "
        f"{count_of(gain.requests, 'request')}{f', {tokens:,} tokens' if tokens else ''}"
    )


def _draw(folder: Path, sample: Sample) -> None:
    from toolassay.reports.pictures import draw_sample

    draw_sample(sample, folder / f"{sample_id(sample)}.png")


def _facts(generation: Generation) -> dict[str, Any]:
    return {
        "samples": generation.written,
        "there_before": generation.already,
        "outcomes": dict(generation.summary.outcomes),
        "failures": generation.summary.failures,
        "stop": generation.summary.stop,
        "refused": _shortened(generation.refused),
        "declined": _shortened(generation.declined),
    }


def _shortened(reasons: Mapping[str, str]) -> dict[str, str]:
    return {key: reason[:_MOST_OF_REASON] for key, reason in reasons.items()}


def _named(reasons: Mapping[str, str]) -> str:
    """The first samples, each with its reason, one per line."""
    lines = [f"\n  {key}: {printable(reason)}" for key, reason in _shortened(reasons).items()]
    return some_of(lines, _MOST_NAMED, between="", last="\n  and ")


def _report(generation: Generation, folder: DataFolder, screen: Screen, *, again: str) -> None:
    outcomes = generation.summary.outcomes
    new = outcomes["answered"]
    refused = generation.refused
    screen.say(f"{folder.data_raw}: {generation.written} samples, {new} new, {generation.already} existing")
    unusable = {
        name: count for name, count in outcomes.items() if name not in ("answered", "refused", DECLINED)
    }
    lost = sum(unusable.values())
    if lost:
        counts = ", ".join(f"{count} {name}" for name, count in unusable.items())
        failures = "".join(f"\n  {failure}" for failure in generation.summary.failures)
        screen.say(
            f"{WARNING}{lost} samples have no usable answer ({counts}): the same command{again} requests"
            f" them again{failures}{_named(generation.malformed)}"
        )
    if refused:
        screen.say(f"{len(refused)} refused by the model, not requested again:{_named(refused)}")
    if generation.declined:
        screen.say(f"{len(generation.declined)} declined by the writer:{_named(generation.declined)}")
