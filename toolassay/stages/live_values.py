"""Real values for requests: collected from a server before samples are generated, checked while they are."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Collection, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from toolassay.backinstruct.generator import Carried, Problem, Tried
from toolassay.backinstruct.labels import Labeller
from toolassay.backinstruct.records import RawSample
from toolassay.benchmarks.registry import benchmark_executors
from toolassay.console.screen import WARNING, Screen
from toolassay.console.text_formatting import count_of, some_of
from toolassay.errors import ToolassayError, UsageError
from toolassay.executors import executor_named, present_name
from toolassay.executors.executor import (
    CallResult,
    EnvironmentFailure,
    ExecutionContext,
    OpenExecutor,
)
from toolassay.executors.plan_run import ExecutionWork, PlannedItem, RunRules, result_of, run_plan
from toolassay.files.data_files import copy_file, keep_dated_copy, read_json, record_of, write_json
from toolassay.files.locks import temporary_folder
from toolassay.graph import Dependency, ToolGraph
from toolassay.graph.derive.fields import verb_of
from toolassay.graph.edits import EDITS, Edit, combine, read_edits, write_edits
from toolassay.link_proposals.proposal_run import FOLDER as REVIEWS
from toolassay.link_proposals.schema_links import TRACES
from toolassay.live_values.candidates import Known
from toolassay.live_values.collector import Collector, Observation
from toolassay.live_values.facts import Fact, facts_of
from toolassay.live_values.results import RESULTS, is_empty, values_with_errors
from toolassay.plans.call_plan import Unfit, call_plan_of
from toolassay.plans.execution_record import Execution
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import Sample
from toolassay.runs.event_loop import interruptible, run_coroutine
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL
from toolassay.stages.graph import build_graph
from toolassay.stages.settings import LiveSettings
from toolassay.tools.library import Tool, ToolLibrary

VALUES = "values.json"
"""File of real values of arguments, `{tool: {argument: [value, …]}}`."""
RECORD = "values_from"
"""Key of `benchmark.json` that says how the values were collected."""
_AT_ONCE = 2  # plans that are executed while others are written
_REFUTED = "refuted by live calls"
# What a graph is derived from, and the values that a new collection replaces.
_NEEDED = ("tool_desc.json", "graph_desc.json", "benchmark.json", EDITS, TRACES, VALUES)


def read_values(folder: DataFolder) -> dict[str, dict[str, list[Any]]]:
    """The lists in `values.json`; what has another form is left out.

    Raises:
        UsageError: It is no JSON.
    """
    path = folder.path / VALUES
    recorded = read_json(path) if path.is_file() else {}
    tools = recorded.items() if isinstance(recorded, dict) else ()
    return {
        tool: {name: values for name, values in arguments.items() if isinstance(values, list)}
        for tool, arguments in tools
        if isinstance(arguments, dict)
    }


class Collected(msgspec.Struct):
    """What a collection of values found out, in its record in `benchmark.json`.

    Attributes:
        unusable: Tools of which no call was accepted.
        changing: Tools of which a call changed the workspace.
        idle_links: Links that stay in the graph, but did not work with the first item of any result; they are
            not sampled.
        fruitless: Tools that found nothing with any value; plans in which they find nothing are kept.
    """

    unusable: list[str] = []
    changing: list[str] = []
    idle_links: list[tuple[str, str]] = []
    fruitless: list[str] = []

    @classmethod
    def of(cls, folder: DataFolder) -> Collected:
        """That of a folder; empty without a collection."""
        recorded = folder.benchmark.values_from or {}
        return record_of(recorded, cls, file=folder.benchmark_file, fix="delete 'values_from'")


def collect_values(
    folder: DataFolder, live: LiveSettings, seed: int, screen: Screen, *, again: bool = False
) -> None:
    """Learn from a server what its tools accept and return, and write that into the data folder.

    `values.json` gets values of accepted calls, `results.json` what reading tools returned. Tools that
    declare no output schema and return structure get the schema of what they returned, and the graph is
    derived again. Links whose values the argument does not take become removals in `graph_edits.json`, which
    people can take back. Everything is written at the end: a collection that fails or is interrupted leaves
    the folder as it was. A folder that has a record of a collection is left as it is.

    Args:
        folder: A data folder with imported tools and a schema graph.
        live: The server.
        seed: Random seed.
        screen: Receives messages and progress.
        again: Collect although the folder has a record of a collection.

    Raises:
        UsageError: The folder has no schema graph, or the executor cannot be used as given.
        ToolassayError: The server does not work.
    """
    if folder.benchmark.values_from is not None and (folder.path / VALUES).is_file() and not again:
        screen.say(f"values were collected before ({folder.path / VALUES}); --force collects them again")
        return
    library = folder.library(say=screen.say)
    if folder.dependency_type(None, library=library) != "schema":
        raise UsageError(
            "--values_from needs tools with schemas",
            file=folder.path,
            fix="import them with toolassay import",
        )
    with temporary_folder() as temporary:
        # Schemas and links are worked out in a copy: only a collection that ends changes the folder.
        draft = _draft(folder, temporary)
        try:
            observation, context = run_coroutine(
                interruptible(_collected(folder, draft, library, live, seed, screen))
            )
        except EnvironmentFailure as error:
            raise ToolassayError(
                f"collecting values failed: {error}", file=folder.path, fix="check the server and its options"
            ) from None
        if not observation.values and observation.unusable:
            name, words = next(iter(observation.unusable.items()))
            raise ToolassayError(
                f"the server accepted no call; '{name}': {words}",
                file=folder.path,
                fix="check the server and its options",
            )
        if not observation.calls:
            raise UsageError(
                "no tool of the server may be called: none is marked read-only",
                file=folder.path,
                fix="add --allow_writes, and --workspace FOLDER so that calls run on a copy",
            )
        path = draft.path / VALUES
        if path.exists() and read_json(path) != observation.values:
            screen.say(f"kept {keep_dated_copy(folder.path / VALUES).name}")
        write_json(path, observation.values)
        write_json(draft.path / RESULTS, msgspec.to_builtins(observation.results))
        unusable = sorted(observation.unusable)
        changing = sorted(observation.changing)
        fruitless = sorted(observation.fruitless)
        names = msgspec.to_builtins(Collected(unusable, changing, sorted(observation.idle), fruitless))
        name = present_name(live.executor)
        draft.update_benchmark(**{RECORD: {"executor": name, "seed": seed, **context, **names}})
        _hand_over(draft, folder)
    _report(observation, library, folder.path / VALUES, screen)


def _draft(folder: DataFolder, draft_folder: Path) -> DataFolder:
    """A folder with what the graph is derived from: tools, recorded calls, edits and reviews of links."""
    for name in _NEEDED:
        if (folder.path / name).is_file():
            shutil.copy2(folder.path / name, draft_folder)
    if (folder.path / REVIEWS).is_dir():
        (draft_folder / REVIEWS).symlink_to((folder.path / REVIEWS).resolve(), target_is_directory=True)
    return DataFolder(draft_folder)


def _hand_over(draft: DataFolder, folder: DataFolder) -> None:
    """Put what changed in the draft into the folder, file by file; the record of the collection last."""
    names = {path.name for path in draft.path.iterdir() if path.is_file() and not path.name.startswith(".")}
    for name in sorted(names, key=lambda name: (name == folder.benchmark_file.name, name)):
        new = draft.path / name
        old = folder.path / name
        if not (old.is_file() and new.read_bytes() == old.read_bytes()):
            copy_file(new, old)
    folder.__dict__.pop("benchmark", None)


async def _collected(
    folder: DataFolder,
    draft: DataFolder,
    library: ToolLibrary,
    live: LiveSettings,
    seed: int,
    screen: Screen,
) -> tuple[Observation, dict[str, Any]]:
    """Collect the values; the tools and the graph of the draft are rewritten on the way."""
    executor = executor_named(live.executor, benchmark_executors())
    context = ExecutionContext(folder, library, live.limits, live.allow_tools, seed)
    options = live.options if live.options is not None else executor.options()
    async with AsyncExitStack() as stack:
        fresh = opened = await stack.enter_async_context(executor.open(context, options))
        if opened.is_isolated and getattr(options, "fresh", None) == "plan":
            # Starting a process for each of some hundred calls takes minutes.
            shared = replace(options, fresh="worker")
            opened = await stack.enter_async_context(executor.open(context, shared))
        known = await _known(opened)
        consent = live.allow_writes or executor.is_harmless
        collector = Collector(
            opened,
            library,
            known,
            allow_writes=consent,
            seed=seed,
            fresh=fresh,
            today=folder.benchmark.today,
        )
        with screen.progress("collecting values", collector.steps) as advance:
            observation = await collector.collect(advance)
        links = _with_observed_schemas(draft, observation, screen)
        with screen.progress("trying links", len(links)) as advance:
            await collector.try_links(links, draft.library(), advance)
        _remove_refuted(draft, observation, screen)
        return observation, dict(fresh.identity)


async def _known(opened: OpenExecutor) -> Known:
    """What is known before the first call: files of the workspace, resources of the server, its stock."""
    files, folders = await asyncio.to_thread(opened.paths)
    known = Known(files=files, folders=folders)
    for resource in await opened.resources():
        for key, value in msgspec.structs.asdict(resource).items():
            if value:
                known.add([Fact(value, (key,), ("resource",), "")])
    for thing, records in opened.stock.items():
        known.add(facts_of(Tool(f"list_{thing}"), {}, {thing: records}, ""))
    return known


def _with_observed_schemas(folder: DataFolder, observation: Observation, screen: Screen) -> list[Dependency]:
    """Write the observed schemas into the tool file and derive the graph again; returns its links."""
    if observation.schemas:
        content = read_json(folder.tool_desc)
        for node in content["nodes"]:
            schema = observation.schemas.get(node["id"])
            if schema is not None:
                node["output_schema"] = schema
                node["source"] = {**(node.get("source") or {}), "output_schema": "observed"}
        write_json(folder.tool_desc, content)
    if observation.schemas or not folder.graph_desc.exists():
        quiet = Screen()
        build_graph(folder.path, screen=quiet)
        names = ", ".join(observation.schemas)
        if names:
            screen.say(f"schemas of results that were seen: {names}; the graph is derived again")
    return list(folder.graph(None).dependencies())


def _remove_refuted(folder: DataFolder, observation: Observation, screen: Screen) -> None:
    """Take the refuted links out of the graph, as edits that say why."""
    if not observation.refuted:
        return
    path = folder.path / EDITS
    edits = read_edits(path) if path.exists() else []
    decided = {edit.pair for edit in edits}
    new = [
        Edit("remove", *pair, note=f"{_REFUTED}: {words[:120]}")
        for pair, words in observation.refuted.items()
        if pair not in decided  # a person's decision stays
    ]
    write_edits(path, combine(edits, new))
    build_graph(folder.path, screen=Screen())
    screen.say(
        f"{count_of(len(observation.refuted), 'link')} removed: their arguments do not take such values"
    )


def _report(observation: Observation, library: ToolLibrary, path: Path, screen: Screen) -> None:
    columns = [column for tool in observation.values.values() for column in tool.values()]
    values = sum(len(set(map(str, column))) for column in columns)
    screen.say(
        f"{path}: {count_of(values, 'value')} of {count_of(len(observation.values), 'tool')}, "
        f"from {count_of(observation.calls, 'call')}"
    )
    if observation.unusable:
        named = [f"{name} ({' '.join(words.split())[:80]})" for name, words in observation.unusable.items()]
        screen.say(f"{WARNING}no call of these was accepted: {some_of(named, 20, between='; ')}")
    if observation.fruitless:
        named = sorted(observation.fruitless)
        screen.say(
            f"{WARNING}these found nothing with any value: {some_of(named, 20)}. Fix: name real values in "
            f"the descriptions of their arguments, delete {path}, and repeat the command"
        )
    if observation.idle:
        screen.say(
            f"{count_of(len(observation.idle), 'link')} stay in the graph without a call that worked; "
            "they are not sampled"
        )


@contextlib.contextmanager
def execution_review(folder: DataFolder, live: LiveSettings, graph: ToolGraph, seed: int) -> Iterator[Tried]:
    """A function that executes the plan of a generated sample and reports its problems.

    That is a refused call, a search that finds nothing, and a plan that should change something and does not.

    The executor runs in a thread with an event loop of its own, because its connections must be opened and
    closed in one loop. Plans that may change something that lasts are not executed here.

    Raises:
        UsageError: The executor cannot be used as given.
    """
    from anyio.from_thread import start_blocking_portal

    executor = executor_named(live.executor, benchmark_executors())
    library = graph.library
    kind = graph.dependency_type
    labeller = Labeller(library, kind)
    context = ExecutionContext(folder, library, live.limits, live.allow_tools, seed)
    options = live.options if live.options is not None else executor.options()
    with (
        temporary_folder() as temporary,
        Journal(temporary / JOURNAL) as journal,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(executor.open(context, options)) as opened,
    ):
        consent = (live.allow_writes or executor.is_harmless) and opened.is_isolated
        work = ExecutionWork(opened, executor.name, library, RunRules(allow_writes=consent))

        free = asyncio.Semaphore(_AT_ONCE)
        collected = Collected.of(folder)
        reads = {
            tool.id
            for tool in library
            if opened.is_read_only(tool) or verb_of(tool, None) in ("find", "search")
        }
        reads -= {*collected.fruitless}

        async def run(item: PlannedItem) -> Execution:
            async with free:
                return await run_plan(work, item, journal)

        async def review(sample: Sample, record: RawSample) -> Carried:
            gold, _ = labeller.label(record)
            if gold is None:
                return Carried("")  # other gates say so
            try:
                plan = call_plan_of(gold, library, kind)
            except Unfit:
                return Carried("")
            item = PlannedItem(gold.id, plan)
            execution = await asyncio.wrap_future(portal.start_task_soon(run, item))
            texts = [CallResult.of(result).text for result in execution.results.values()]
            if execution.outcome == "failed":
                words = f"the plan was executed and failed: {execution.reason}"
                return Carried("failed", [Problem("execution", words)], texts)
            problems = [
                Problem("execution", text) for text in pointless(execution, reads, collected.changing)
            ]
            return Carried(execution.outcome, problems, texts, execution.is_idle(library))

        yield review


def pointless(execution: Execution, reads: Collection[str], changing: Collection[str]) -> Iterator[str]:
    """What an execution shows that ran and that no person would want.

    Args:
        execution: The execution.
        reads: Tools that read.
        changing: Tools that are known to change something.
    """
    if execution.outcome != "ran":
        return
    is_changed = False  # then a search may well find nothing
    for call in execution.calls:
        result = result_of(call)
        if values_with_errors(result, call.arguments):
            words = result.text[:200]
            yield f"the plan was executed; call {call.node} ({call.tool}) reports an error: {words}"
        elif call.tool in reads and not is_changed and is_empty(result):
            yield f"the plan was executed; call {call.node} ({call.tool}) found nothing"
        is_changed = is_changed or call.tool not in reads
    writing = next((call.tool for call in execution.calls if call.tool in changing), None)
    if writing is not None and execution.changes == {}:
        yield f"the plan was executed; '{writing}' changed nothing"
