"""The two versions of a comparison: their folders, tools and goals, and which goals both can fulfil."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from toolassay.console.screen import WARNING, Screen
from toolassay.errors import UsageError
from toolassay.executors.execution_options import McpExecution
from toolassay.executors.fact_sources import FACTS, FactSource, results_of
from toolassay.executors.plan_run import Unresolvable
from toolassay.files.data_files import read_json, write_json, write_json_lines, write_text
from toolassay.files.locks import temporary_folder
from toolassay.plans.call_plan import Unfit, call_plan_of
from toolassay.plans.execution_record import FILE as EXECUTIONS
from toolassay.plans.execution_record import Execution, read_executions
from toolassay.plans.gold import Gold
from toolassay.records.cases import has_no_plan
from toolassay.records.data_folder import DataFolder, date_setting
from toolassay.records.dataset import LastLabels
from toolassay.runs.settings import RunSettings
from toolassay.stages.execute import execute
from toolassay.stages.import_tools import import_server
from toolassay.stages.settings import ExecutionSettings, SurfaceSettings
from toolassay.surfaces.mapping import FILE as MAPPING
from toolassay.surfaces.mapping import ToolMapping, proposed, proposed_by_model
from toolassay.tools.library import ToolLibrary


@dataclass(frozen=True)
class Side:
    """A version: its folder with tools and goals, and how it is asked."""

    name: str
    source: str
    folder: DataFolder
    own: Any
    is_kept: bool = False

    @property
    def is_server(self) -> bool:
        return bool(self.own.executor == "mcp")


def side_of(name: str, source: str, place: Path, own: Any, *, is_kept: bool = False) -> Side:
    """A side of a comparison.

    Args:
        name: "before" or "after".
        source: Its server or tools.
        place: Folder of the comparison.
        own: Options of the benchmark, without the server.
        is_kept: Whether its runs are of an earlier comparison.
    """
    is_server = own.executor == "mcp"
    more: dict[str, Any] = {}
    if is_server:
        more["executor_options"] = replace(own.executor_options or McpExecution(), server=source)
    if own.ask is None:
        more["ask"] = "tools" if is_server else "calls"
    return Side(name, source, DataFolder(place / name), replace(own, **more), is_kept)


def import_tools_of(side: Side, goals: DataFolder, screen: Screen) -> None:
    """Give the folder of a side its tools.

    Raises:
        UsageError: It has others, which an earlier start compared.
    """
    file = side.folder.tool_desc
    with temporary_folder() as temporary:
        given = Path(side.source)
        if not given.is_dir():
            given = temporary / "tools"
            options = side.own.executor_options or McpExecution()
            import_server(side.source, given, options, screen=screen.quieter)
        tools = read_json(DataFolder(given).require().tool_desc)
    if file.exists() and read_json(file) != tools:
        raise UsageError(
            f"the tools of {side.source} are not those that this comparison began with",
            file=file,
            fix="give another --out",
        )
    side.folder.path.mkdir(parents=True, exist_ok=True)
    write_json(file, tools)
    kind = goals.benchmark.dependency_type or "schema"
    side.folder.update_benchmark(dependency_type=kind, **date_setting(goals.benchmark.today))


def tool_mapping(
    place: Path, before: ToolLibrary, after: ToolLibrary, settings: SurfaceSettings, run: RunSettings
) -> ToolMapping:
    """What became of tools; proposals are written, and a person decides about them.

    Raises:
        UsageError: An entry has no decision.
    """
    file = place / MAPPING
    if not file.exists():
        mapping = proposed(before, after)
        if settings.dry_run:
            return ToolMapping([msgspec.structs.replace(tool, confirmed=True) for tool in mapping.tools])
        if mapping.tools and settings.propose is not None:
            asked = replace(run, model=replace(run.model, llm=settings.propose))
            mapping = proposed_by_model(before, after, place, asked) or mapping
        mapping.write(file)
    mapping = ToolMapping.read(file)
    if unknown := mapping.unknown(before, after):
        raise UsageError(f"no version has the tool {unknown[0]!r}", file=file, fix="correct the name")
    return mapping


def comparable_goals(
    goals: DataFolder,
    sides: tuple[Side, Side],
    mapping: ToolMapping,
    lost: dict[Any, str],
    run: RunSettings,
    seed: int,
) -> list[Any]:
    """Write the goals of both sides and run their gold; the ids that both can fulfil, in the seeded order."""
    before, after = sides
    labels = {label["id"]: label for _, label in LastLabels(goals.data)}
    dry = run.choices.dry_run
    _write_goals(before, list(labels.values()))
    ran = {} if dry else _gold(before, labels, lost, run)
    if before.is_server:
        labels = {name: _told(label, ran.get(name), lost) for name, label in labels.items()}
    library = after.folder.library()
    translated = {}
    for name, label in labels.items():
        try:
            translated[name] = mapping.translated(label, library)
        except LookupError as error:
            lost.setdefault(name, str(error.args[0]))
    _write_goals(after, list(translated.values()))
    if not dry:
        _gold(after, translated, lost, run)
    order = [name for name in labels if name not in lost]
    Random(f"surface {seed}").shuffle(order)
    for name, reason in list(lost.items())[:3]:
        run.screen.say(f"{WARNING}not compared: {name}: {reason}")
    if not order:
        raise UsageError("no goal can be fulfilled on both versions", file=goals.data, fix="read why above")
    return order


def _write_goals(side: Side, labels: Sequence[Mapping[str, Any]]) -> None:
    """Write the goals of a side, unless it has them."""
    text = "".join(f"{json.dumps(label, ensure_ascii=False)}\n" for label in labels)
    if not side.folder.data.exists() or side.folder.data.read_text(encoding="utf-8") != text:
        write_text(side.folder.data, text)
        requests = ({key: label[key] for key in ("id", "user_request")} for label in labels)
        write_json_lines(side.folder.user_requests, requests)


def _gold(
    side: Side, labels: Mapping[Any, Mapping[str, Any]], lost: dict[Any, str], run: RunSettings
) -> Mapping[Any, Execution]:
    """Run the gold of a side; without a server, check that its calls can be made."""
    library = side.folder.library()
    kind = side.folder.dependency_type(None, library=library)
    planned = {name: label for name, label in labels.items() if not has_no_plan(label)}
    executions: dict[Any, Execution] = {}
    if side.is_server and planned:
        options = side.own.executor_options
        allowed = ExecutionSettings(allow_writes=side.own.allow_writes)
        screen = run.screen.quieter
        execute(side.folder.path, executor="mcp", options=options, settings=allowed, screen=screen)
        executions = {execution.id: execution for execution in read_executions(side.folder.path / EXECUTIONS)}
    for name, label in planned.items():
        reason = ""
        if side.is_server:
            execution = executions.get(name)
            if execution is None or execution.outcome != "ran":
                reason = "no result" if execution is None else execution.reason or execution.outcome
        else:
            try:
                call_plan_of(Gold.of(label), library, kind)
            except Unfit as error:
                reason = str(error)
        if reason:
            lost.setdefault(name, f"its gold fails on the {_WORDS[side.name]} version: {reason}")
    return executions


_WORDS = {"before": "old", "after": "new"}


def _told(label: Mapping[str, Any], gold: Execution | None, lost: dict[Any, str]) -> Mapping[str, Any]:
    """A label whose facts are values of the old version, for the new one may call their fields otherwise."""
    sources = label.get(FACTS)
    if not sources or gold is None or gold.outcome != "ran":
        return label
    results = results_of(gold)
    told = []
    for source in sources:
        if "value" in source:
            told.append(source)
            continue
        fact = msgspec.convert(source, FactSource)
        try:
            told.append({"value": fact.value(results), "unit": fact.unit})
        except Unresolvable as error:
            lost.setdefault(label["id"], f"a fact is not in the results: {error}")
    return {**label, FACTS: told}
