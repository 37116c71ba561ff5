"""The generate stage: graph -> data_raw.json, statistics.json, task_graphs/."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolassay.backinstruct.generator import PARAMETERS, Generation, Generator, read_kept
from toolassay.backinstruct.prompt import BackInstructPrompt
from toolassay.backinstruct.records import sample_id
from toolassay.benchmarks.work_folder import graph_fingerprint, work_folder
from toolassay.data_folder import DataFolder
from toolassay.dataset import Sample, Shape
from toolassay.errors import ToolassayError, UsageError
from toolassay.files import keep_dated_copy, read_json_lines, safe_name
from toolassay.models import ChatRequest, ModelOptions, create_model
from toolassay.models.refused_parameters import sampling_parameters, without_default
from toolassay.models.registry import refuse_baseline
from toolassay.models.structured_output import Structured, json_schema
from toolassay.models.wire_format import parameters_of
from toolassay.prompt_templates import check_wording
from toolassay.runs import Budget, Journal, Loop, RunSummary, changes, gives_way, open_run, recorded_settings
from toolassay.runs.books import NO_PRICE, Books, report_stop
from toolassay.runs.budget import Estimate, completion_limit
from toolassay.runs.dry_run import Counts, dry_run_lines
from toolassay.runs.ledger import FREE
from toolassay.runs.manifest import JOURNAL
from toolassay.runs.prices import Tariff
from toolassay.runs.record import RunRecord, hashes
from toolassay.runs.retry_malformed import MAX_TOKENS
from toolassay.sampling import Sampler, wanted
from toolassay.schemas import sample_schema
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.statistics import Statistics

WAYS_ON = "use the settings it began with, another --data_dir, or --force true (keeps the old run)"
PUBLISHED_SAMPLES = 5000
_NOTHING = Path(os.devnull)  # the journal and the samples of a run that begins anew


def generate(
    data_dir: str | Path | None = None,
    *,
    graph_desc: str | Path | None = None,
    tool_desc: str | Path | None = None,
    llm: str = "gpt-4",
    options: ModelOptions | None = None,
    temperature: float = 0.7,
    top_p: float = 1.0,
    max_tokens: int | None = None,
    dependency_type: str | None = None,
    check: bool = False,
    seed: int = -1,
    number_of_samples: int | None = None,
    multiworker: int | None = None,
    save_figure: bool = False,
    method: Shape | None = None,
    tool_number: int | None = None,
    shape_weights: Mapping[str, float] | None = None,
    size_weights: Mapping[str, float] | None = None,
    prompt: str = "published",
    prompt_template: Path | None = None,
    force: bool = False,
    budget: Budget | None = None,
    prices: Path | None = None,
    dry_run: bool = False,
    command: Sequence[str] | None = None,
    structured: Structured = "auto",
    screen: Screen = DEFAULT,
) -> tuple[Path, bool]:
    """Generate requests with gold plans for samples of a tool graph.

    Args:
        data_dir: an existing data folder is worked in, with its own graph and tools; one that does not
            exist is made and given copies of `graph_desc` and `tool_desc`. None makes a folder named
            after the time and the model.
        graph_desc: looked up as given, then inside `data_dir`.
        tool_desc: likewise.
        llm: who writes; "offline" needs no server.
        options: where the server is.
        temperature: of the request.
        top_p: of the request.
        max_tokens: of an answer; default 2,500. It may change from start to start: samples without a usable
            answer are asked for again with the new one.
        dependency_type: resource or temporal; default what the folder says.
        check: ask for the teacher's review in the same answer.
        seed: -1 continues with that of the folder, or draws one.
        number_of_samples: the total, those already there counted in; default the published 5,000, whose cost
            is estimated and said before the first request.
        multiworker: requests in flight; None finds what the server bears.
        save_figure: draw each new sample into `task_graphs/`.
        method: one shape only.
        tool_number: one number of tools only.
        shape_weights: instead of the published ones.
        size_weights: likewise.
        prompt: the built-in wording: "published", or "example" (a worked example instead of placeholders, for
            small models).
        prompt_template: instead of the built-in wording.
        force: begin anew where the folder's run had other settings; the old one is kept.
        budget: what the whole run may use at most, earlier starts included.
        prices: a table of prices; what is in it counts before those of genai-prices.
        dry_run: only show what would be sent and may be used; nothing is sent or written.
        command: what was typed, for the manifest.
        structured: whether the server holds answers to a JSON schema: "auto" where it can, True or the run
            ends, False not.
        screen: who listens.

    Returns:
        The data folder, and whether every sample has a usable answer. Nothing is written before the
        input has proved sound.

    Raises:
        UsageError: files missing or malformed, settings that contradict the folder's run.
        ToolassayError: the model cannot be reached.
    """
    parameters: dict[str, Any] = {**sampling_parameters(temperature, top_p)}
    if max_tokens is not None:
        parameters |= without_default({"max_tokens": max_tokens}, PARAMETERS)
    wording = check_wording(prompt, with_template=prompt_template is not None)
    refuse_baseline(llm, "--llm")
    default, number_of_samples = number_of_samples is None, number_of_samples or PUBLISHED_SAMPLES
    name = f"{safe_name(llm)}_t{temperature}_p{top_p}{'_check' if check else ''}"
    work = work_folder(data_dir, graph_desc, tool_desc, name=name, say=screen.say)
    folder, graph = work.folder, work.graph(dependency_type, say=screen.say)
    run_folder = folder.path / "runs" / safe_name(llm)
    if seed < 0:
        seed = _recorded_seed(run_folder, folder.data_raw)
        if not dry_run:
            screen.say(f"seed {seed}")
    sampler = Sampler(graph, seed, **wanted(method, tool_number, shape_weights, size_weights))
    for sentence in sampler.cuts():
        screen.say(sentence)
    renderer = BackInstructPrompt(
        graph.library, graph.dependency_type, check=check, wording=wording, template=prompt_template
    )
    options = replace(options or ModelOptions(connections=multiworker), require_schema=structured is True)
    books = Books([llm], budget, prices, options)
    record = RunRecord(run_folder, options, command=command, screen=screen)
    options = record.options_of(llm)
    model = create_model(llm, options, meter=books)
    settings = {
        "llm": llm,
        **parameters,
        "dependency_type": graph.dependency_type,
        "check": check,
        "seed": seed,
        "shapes": {str(shape): weight for shape, weight in sampler.shapes.items()},
        "sizes": {str(size): weight for size, weight in sampler.sizes.items()},
        "prompt_sha256": hashlib.sha256(renderer.text.encode()).hexdigest(),
        "graph_sha256": graph_fingerprint(graph),
        **options.settings,
        **({} if structured == "auto" else {"structured": structured}),
        **({} if wording == "published" else {"prompt": wording}),
    }
    if not force:
        settings = _begun_with(run_folder, settings)
    foreign = _foreign(folder, settings, force=force)

    def schema(sample: Sample) -> Mapping[str, Any]:
        tools, links = [graph.library[name] for name in sample.nodes], len(sample.links)
        return json_schema("sample", sample_schema(tools, links, graph.dependency_type, check=check))

    generator = Generator(
        graph,
        sampler,
        renderer,
        model,
        parameters=parameters,
        check=check,
        **({"shape": schema} if structured else {}),
    )

    def foreseen() -> tuple[int, Estimate]:
        anew = gives_way(run_folder, settings, force=force, ways_on=WAYS_ON, read_only=True)
        estimate = Estimate(completion_limit(parameters_of(ChatRequest([], generator.parameters), options)))
        there = _NOTHING if anew or foreign else folder.data_raw
        with Journal(_NOTHING if anew else run_folder / JOURNAL, read_only=True) as journal:
            return generator.foresee(there, journal, number_of_samples, estimate), estimate

    if dry_run:
        already, estimate = foreseen()
        for line in dry_run_lines(estimate, Counts(already, "samples"), llm, options, books.prices):
            screen.show(line)
        return folder.path, estimate.requests == 0
    if default and llm not in FREE and (estimate := foreseen()[1]).requests:
        screen.say(_of_default(estimate, books.prices.get(llm)))
    work.make(graph)
    kept = open_run(run_folder, settings, force=force, ways_on=WAYS_ON)
    if kept is not None:
        screen.say(f"the run before is kept as {kept}")
    _make_way(folder.data_raw, kept, foreign=foreign, screen=screen)
    facts: Mapping[str, Any] = {
        "samples": number_of_samples,
        MAX_TOKENS: generator.parameters[MAX_TOKENS],
        "sha256": {
            **hashes(folder.tool_desc, folder.graph_desc),
            "graph": settings["graph_sha256"],
            "prompt": settings["prompt_sha256"],
        },
    }
    statistics = Statistics(folder.path / "statistics.json")
    again = "" if data_dir else f" with --data_dir {folder.path}"
    with (
        _resumable(folder if data_dir is None else None),
        Journal(run_folder / JOURNAL) as journal,
        books.open(run_folder, screen) as ledger,
        record.start([model], facts),
    ):
        summary = RunSummary()
        with screen.progress("generate", number_of_samples, lambda: books.figures(summary)) as advance:
            loop = Loop(multiworker, _both(advance, statistics.count), screen.interrupted, summary)
            folder.describe(generation=settings)
            statistics.begin({**settings, "number_of_samples": number_of_samples, "multiworker": multiworker})
            generation = generator.run(
                folder.data_raw,
                journal,
                number_of_samples,
                loop,
                each=_drawer(folder.path / "task_graphs") if save_figure else _nothing,
            )
        statistics.end({**_facts(generation), "used": ledger.to_json()})
        _report(generation, folder, screen, again=again)
    report_stop(generation.summary, screen, again=again)
    return folder.path, generation.usable >= number_of_samples


def _of_default(estimate: Estimate, price: Tariff | None) -> str:
    """What the published number of samples comes to, and how to ask for fewer."""
    money = ""
    if price is None:
        money = f"; money: {NO_PRICE}"
    elif price.local:
        money = f"; money: none ({price.words})"
    return (
        f"{WARNING}without --number_of_samples it is the published {PUBLISHED_SAMPLES:,}: "
        f"{estimate.expected(None if price is None or price.local else price).words}{money}. "
        "For fewer: --number_of_samples 100; Ctrl-C ends the run and keeps what is there"
    )


@contextmanager
def _resumable(new: DataFolder | None) -> Iterator[None]:
    """Say where an interrupted run lies if the same command would not find it; leave no empty folder."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if new is None:
            raise
        raise KeyboardInterrupt(
            f"interrupted; the same command with --data_dir {new.path} continues where this one stopped"
        ) from stop
    except ToolassayError:
        if new is not None and not new.data_raw.exists():
            shutil.rmtree(new.path, ignore_errors=True)
        raise


def _begun_with(run_folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of the run in a folder where only `max_tokens` differs, else those of this start."""
    recorded = recorded_settings(run_folder) or {}
    same = not changes({**recorded, MAX_TOKENS: None}, {**settings, MAX_TOKENS: None})
    return recorded if same else settings


def _recorded_seed(run_folder: Path, data_raw: Path) -> int:
    """The seed the folder began with, else a new one."""
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
    """Whether `data_raw.json` holds something else than samples of these settings.

    `benchmark.json` says what the samples were made with.

    Raises:
        UsageError: it does, and there is no leave to replace them.
    """
    if not folder.data_raw.exists():
        return False
    made_with = folder.benchmark.get("generation")
    try:
        read_kept(folder.data_raw, settings["seed"])
        if not isinstance(made_with, Mapping):
            raise UsageError("was not written by this command", file=folder.data_raw, fix=WAYS_ON)
        changed = changes(made_with, settings)
        if changed:
            raise UsageError(
                f"holds samples made with other settings ({'; '.join(changed)})",
                file=folder.data_raw,
                fix=WAYS_ON,
            )
    except UsageError:
        if not force:
            raise
        return True
    return False


def _make_way(data_raw: Path, kept: Path | None, *, foreign: bool, screen: Screen) -> None:
    """Set aside the samples of the run before, or those that are foreign."""
    if kept is not None and data_raw.exists():
        data_raw.replace(kept / data_raw.name)
    elif foreign:
        screen.say(f"{data_raw} kept as {keep_dated_copy(data_raw).name}")
        data_raw.unlink()


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
    screen.say(
        f"{folder.data_raw}: {generation.written} samples, {new} new, {generation.already} there before"
    )
    again_asked = {name: count for name, count in outcomes.items() if name not in ("answered", "refused")}
    lost = sum(again_asked.values())
    if lost:
        told = ", ".join(f"{count} {name}" for name, count in again_asked.items())
        failures = "".join(f"\n  {failure}" for failure in generation.summary.failures)
        screen.say(
            f"{WARNING}{lost} samples have no usable answer ({told}): the same command{again} asks for them"
            f" again{failures}"
        )
    if refused:
        screen.say(f"{refused} samples the model declined to write; they are not asked for again")
