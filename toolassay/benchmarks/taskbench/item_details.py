"""Requests in detail, for reports: gold and predicted plans with every part marked.

Calls are matched as by the strict scores.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from toolassay.benchmarks.benchmark import Items
from toolassay.benchmarks.taskbench.asking import CallItems
from toolassay.benchmarks.taskbench.entries import PlanEntry, entry_of, request_of_label
from toolassay.benchmarks.taskbench.evaluation import executed_gold
from toolassay.benchmarks.taskbench.options import AGENTS
from toolassay.benchmarks.taskbench.scoring.executed_gold import ExecutedGold
from toolassay.benchmarks.taskbench.work import recorded_conversation, recorded_items
from toolassay.benchmarks.work_folder import graph_of
from toolassay.console.text_formatting import shortened
from toolassay.episodes.episode import training_messages
from toolassay.errors import UsageError, made_by
from toolassay.evaluation.call_alignment import (
    UNMATCHED,
    matched_calls,
    positions_by_tool,
    resolved,
    selections,
)
from toolassay.evaluation.item_detail import (
    DrawnArgument,
    DrawnCall,
    DrawnPlan,
    ItemAnswer,
    ItemGold,
    RecordedTrajectory,
    Section,
    Status,
    TrajectoryFigures,
)
from toolassay.evaluation.line_index import LineIndex
from toolassay.executors.outcome import judge
from toolassay.executors.plan_run import PlannedItem, PlanSet, compared_execution
from toolassay.files.data_files import unescaped_json
from toolassay.plans.call_plan import Unfit, call_plan_of
from toolassay.plans.execution_record import FILE as EXECUTIONS
from toolassay.plans.execution_record import RUN, Execution
from toolassay.plans.gold import Gold, alternative_labels
from toolassay.plans.normalised_plan import Plan, PlanReader, published_arguments, steps_text
from toolassay.records.cases import has_no_plan
from toolassay.records.data_folder import DataFolder, Say
from toolassay.records.dataset import TASK_KIND, LastLabels, read_labels, repository_form
from toolassay.records.requests import Requests, key_of
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL, recorded_settings
from toolassay.runs.trials import Trial
from toolassay.tools.library import ToolLibrary


def labelled_plans(folder: DataFolder, say: Say) -> PlanSet:
    """The gold plans of `data.json`; of several labels with one id, the last counts.

    Raises:
        UsageError: A file is missing or malformed.
    """
    return _plans(folder, folder.data, say, lambda label: label)


def predicted_plans(folder: DataFolder, predictions: Path, say: Say) -> PlanSet:
    """The plans of a prediction file; of several lines with one id, the last counts, as in scores.

    Raises:
        UsageError: A file is missing or malformed.
    """
    return _plans(folder, predictions, say, _as_label)


Record = Mapping[str, Any]


def _plans(folder: DataFolder, path: Path, say: Say, as_label: Callable[[Record], Record | None]) -> PlanSet:
    library = folder.library(say=say)
    records = LastLabels(path)
    kind = folder.dependency_type(None, library=library, say=say)

    def planned(record: Record) -> PlannedItem:
        if (label := as_label(record)) is None:
            return PlannedItem(record["id"], None, "the answer has no plan")
        gold = Gold.of(label)
        item = planned_gold(gold)
        others = {other.key: other for other in map(planned_gold, map(Gold.of, alternative_labels(label)))}
        others.pop(item.key, None)
        return PlannedItem(item.id, item.plan, item.fault, gold, [*others.values()]) if others else item

    def planned_gold(gold: Gold) -> PlannedItem:
        try:
            return PlannedItem(gold.id, call_plan_of(gold, library, kind))
        except Unfit as error:
            return PlannedItem(gold.id, None, str(error))

    def items() -> Iterator[PlannedItem]:
        return (planned(record) for _, record in records if not has_no_plan(record))

    return PlanSet(library, len(records), items)


def _as_label(record: Record) -> Record | None:
    """A prediction in the form of a label; None without a plan."""
    result = record.get("result", record)
    if not isinstance(result, Mapping) or not result.get("task_nodes", result.get("tool_nodes")):
        return None
    plan = repository_form(result)
    steps = plan.get("task_steps")
    return {
        "id": record["id"],
        "user_request": "a prediction",
        "task_steps": steps if isinstance(steps, list) else [],
        "task_nodes": plan["task_nodes"],
        "task_links": plan.get("task_links") or [],
    }


# Changes of one execution that the report shows; the file of executions has all.
_MOST_CHANGES = 20
_LONGEST_RESULT = 2_000  # characters
_LONGEST_STATE = 20  # characters of a place before and after; a hash needs no more


def plan_golds(folder: DataFolder) -> Iterator[ItemGold]:
    """The requests of a folder with their gold."""
    reader = _reader(folder)
    with contextlib.ExitStack() as stack:
        execution = _executions(stack, folder.path / EXECUTIONS)
        for _, label in read_labels(folder.data):
            plan = reader.plan(label)
            steps = steps_text(label.get("task_steps"))
            yield ItemGold(
                str(label["id"]),
                str(label.get("user_request") or ""),
                list(dict.fromkeys(plan.names)) if plan else [],
                _groups(label),
                sections=[
                    *([Section("Steps", "text", steps)] if steps else []),
                    *_ran(execution(str(label["id"])), "Gold plan, executed"),
                ],
            )


def _groups(label: Record) -> dict[str, str]:
    """The kind of the task, and the tags of a case, by which a report groups items."""
    groups = {TASK_KIND: label[TASK_KIND]} if TASK_KIND in label else {}
    return groups | ({"tags": ", ".join(label["tags"])} if label.get("tags") else {})


def plan_answers(
    folder: DataFolder, predictions: Path, llm: str, only: Collection[str] | None = None
) -> Iterator[tuple[str, ItemAnswer]]:
    """What a model planned for each request with a label, or for those with some ids."""
    reader = _reader(folder)
    trial = Trial(predictions, llm)
    library = folder.library()
    journal_file = trial.run_folder / JOURNAL
    with contextlib.ExitStack() as stack:
        lines = stack.enter_context(LineIndex(trial.output, fix=made_by("infer")))
        execution_file = predictions / "executions" / f"{trial.output.stem}.jsonl"
        execution = _executions(stack, execution_file)
        gold_execution = _executions(stack, folder.path / EXECUTIONS)
        ignore = (recorded_settings(folder.path / RUN) or {}).get("ignore", [])
        agent = _agent(folder, trial)
        kind = folder.dependency_type(None, library=library)
        ask = str((recorded_settings(trial.run_folder) or {}).get("ask", "plan"))
        ran_gold = executed_gold(folder, kind, ask)
        executed = None if ran_gold is None else ExecutedGold(ran_gold, reader, library)
        journal = Journal(journal_file, read_only=True) if journal_file.is_file() else None
        if journal is not None:
            stack.callback(journal.close)
        for _, label in read_labels(folder.data):
            if only is not None and str(label["id"]) not in only:
                continue
            number = lines.by_text.get(str(label["id"]))
            prediction = None if number is None else lines.prediction(lines.place(number))
            gold = reader.plan(label)
            if gold is None or prediction is None:
                continue
            request = request_of_label(label)
            entry = PlanEntry() if journal is None else entry_of(journal, request)
            answer = _answer(reader, gold, label, prediction.result, entry.response, executed)
            predicted_execution = execution(str(label["id"]))
            ran = gold_execution(str(label["id"]))
            more = _ran(predicted_execution, "Plan, executed")
            if predicted_execution is not None and ran is not None:
                harm = _harmful(ran, compared_execution(predicted_execution, ignore), library)
                answer = replace(answer, harm=harm)
            if journal is not None and agent is not None and entry.plan is not UNSET:
                talk = recorded_conversation(agent, request, journal, entry)
                wanted: list[tuple[str, Mapping[str, Any] | None]] = [(name, None) for name in gold.names]
                if ran is not None and ran.outcome == "ran":
                    wanted = [(call.tool, call.arguments) for call in ran.calls]
                steps = talk.steps()
                figures = TrajectoryFigures.of(steps, wanted, talk.trajectory.steps)
                more = [
                    figures.section("Calls", steps),
                    *(section for section in more if section.kind != "calls"),
                ]
                answer = replace(answer, trajectory=figures)
            yield str(label["id"]), replace(answer, sections=[*answer.sections, *more])


def _agent(folder: DataFolder, trial: Trial) -> CallItems | None:
    """The work of an agent's run, for its recorded answers; None for plans and calls in one answer."""
    settings = recorded_settings(trial.run_folder) or {}
    if settings.get("ask") not in ("tools", "react", AGENTS):
        return None
    return recorded_items(settings, graph_of(folder, settings.get("dependency_type"), say=lambda _: None))


def agent_trajectories(folder: DataFolder, predictions: Path, llm: str) -> Iterator[RecordedTrajectory]:
    """The conversations of an agent.

    Raises:
        UsageError: The run is not that of an agent, or files are missing.
    """
    trial = Trial(predictions, llm)
    agent = _agent(folder, trial)
    if agent is None:
        raise UsageError(
            "holds no conversations",
            file=trial.run_folder,
            fix="run infer --ask tools|react, or --agent_command",
        )
    with Journal(trial.run_folder / JOURNAL, read_only=True) as journal:
        for request in Requests(folder.user_requests):
            entry = entry_of(journal, request)
            if entry.plan is UNSET:
                continue
            if agent.way == AGENTS:
                from toolassay.episodes.model_relay import relayed_conversation

                answers = journal.answers(key_of(request.id), "agent", entry.asked_again)
                messages, tools = relayed_conversation(answers, agent.form)
                if not messages:
                    continue
            else:
                conversation = recorded_conversation(agent, request, journal, entry)
                offered = agent.tools if entry.offered is None else agent.functions(entry.offered)
                tools = [function.to_openai() for function in offered]
                messages = training_messages(conversation.trajectory.messages, agent.form)
            yield RecordedTrajectory(str(request.id), messages, tools, entry.outcome, entry.limit)


def _executions(stack: contextlib.ExitStack, path: Path) -> Callable[[str], Execution | None]:
    """The execution of a plan in a file, by id; None without one that can be read."""
    if not path.is_file():
        return lambda item: None
    lines = stack.enter_context(LineIndex(path, fix=made_by("execute")))

    def execution(item: str) -> Execution | None:
        if (number := lines.by_text.get(item)) is None:
            return None
        try:
            return msgspec.convert(lines.read(number), Execution)
        except (KeyError, TypeError, ValueError):
            return None

    return execution


def _ran(execution: Execution | None, title: str) -> list[Section]:
    """What the calls of a plan returned and changed."""
    if execution is None:
        return []
    calls = [
        {
            "tool": call.tool,
            "arguments": dict(call.arguments),
            "result": None if call.error is not None else _result_text(call.text, call.result),
            "error": call.error,
        }
        for call in execution.calls
    ]
    note = "" if execution.outcome == "ran" else f": {execution.outcome.replace('_', ' ')}"
    heading = f"{title} ({execution.executor}){note}"
    sections = [Section(heading, "calls", calls)]
    if not calls and execution.reason:
        sections = [Section(heading, "text", execution.reason)]
    if changes := list((execution.changes or {}).items())[:_MOST_CHANGES]:
        rows = [("", (place, _state(change["before"]), _state(change["after"]))) for place, change in changes]
        sections.append(Section.of_rows(f"{title}: changes", ("place", "before", "after"), rows))
    return sections


def _harmful(gold: Execution, predicted: Execution, library: ToolLibrary) -> list[str]:
    """The tools that made unwanted changes: of calls that the gold lacks, those that may change something."""
    verdict = judge(gold, predicted)
    if verdict is None or not verdict.unwanted:
        return []
    left = [(call.tool, call.arguments) for call in gold.calls]
    blamed = []
    for call in predicted.calls:
        if (call.tool, call.arguments) in left:
            left.remove((call.tool, call.arguments))
        elif call.error is None and not _is_read_only(library, call.tool):
            blamed.append(call.tool)
    return list(dict.fromkeys(blamed))


def _is_read_only(library: ToolLibrary, tool: str) -> bool:
    return tool in library and library[tool].is_marked_reading


def _result_text(text: str | None, result: Any) -> str:
    """A result as a model reads it, cut for a page."""
    whole = text
    if whole is None:
        whole = result if isinstance(result, str) else json.dumps(result)
    return whole if len(whole) <= _LONGEST_RESULT else f"{whole[:_LONGEST_RESULT]}…"


def _state(value: Any) -> str:
    return shortened("-" if value is None else str(value), _LONGEST_STATE)


def _reader(folder: DataFolder) -> PlanReader:
    library = folder.library()
    return PlanReader(library, folder.dependency_type(None, library=library))


def _answer(
    reader: PlanReader,
    gold: Plan,
    label: Mapping[str, Any],
    result: Any,
    raw: Any,
    executed: ExecutedGold | None,
) -> ItemAnswer:
    predicted = reader.plan(result)
    if not isinstance(raw, str):
        raw = unescaped_json(result) if isinstance(result, dict) else None
    if predicted is None:
        empty = Plan([], [] if gold.arguments is not None else None, [], None, gold.has_types)
        wanted, _ = drawn_plans(gold, label, empty, {})
        return ItemAnswer(wanted, None, raw=raw)
    if executed is not None:
        gold, predicted = executed.compared(label, gold, result, predicted)
    wanted, given = drawn_plans(gold, label, predicted, result)
    steps = steps_text(result.get("task_steps"))
    sections = [Section("Steps", "text", steps)] if steps else []
    return ItemAnswer(wanted, given, predicted.names, raw, sections=sections)


def drawn_plans(
    gold: Plan, gold_json: Mapping[str, Any], predicted: Plan, predicted_json: Mapping[str, Any]
) -> tuple[DrawnPlan, DrawnPlan]:
    """Gold and predicted plan with every call, argument and link marked.

    If a tool is called more often than in the gold, the first selection of calls that the strict scores
    compare is shown.

    Args:
        gold: Normalised gold plan.
        gold_json: The plan as written, for the values that are shown.
        predicted: Normalised predicted plan.
        predicted_json: The plan as written.
    """
    gold_positions = positions_by_tool(gold.names)
    calls = {
        name: positions
        for name, positions in positions_by_tool(predicted.names).items()
        if name in gold_positions
    }
    matched = matched_calls(gold, predicted, gold_positions, set(selections(gold_positions, calls)[0]))
    back = [UNMATCHED] * len(gold.names)
    for position, own in enumerate(matched):
        if own != UNMATCHED:
            back[own] = position
    labels = [f"extra {position}" if own == UNMATCHED else str(own) for position, own in enumerate(matched)]
    gold_labels = [str(position) for position in range(len(gold.names))]
    gold_links = _links(gold)
    links = _links(predicted)
    moved = {(matched[a], matched[b]) for a, b in links}
    return (
        DrawnPlan(
            _calls(gold, gold_json, gold_labels, predicted, labels, back, "missing"),
            [(a, b, "right" if (a, b) in moved else "missing") for a, b in gold_links],
        ),
        DrawnPlan(
            _calls(predicted, predicted_json, labels, gold, gold_labels, matched, "extra"),
            [(a, b, "right" if (matched[a], matched[b]) in set(gold_links) else "extra") for a, b in links],
        ),
    )


def _calls(
    plan: Plan,
    written: Mapping[str, Any],
    labels: list[str],
    other: Plan,
    other_labels: list[str],
    partner: Sequence[int],
    alone: Status,
) -> list[DrawnCall]:
    """The calls of a plan; `alone` marks what the other plan lacks."""
    drawn_calls = []
    for position, (name, shown) in enumerate(zip(plan.names, _shown(plan, written), strict=True)):
        if partner[position] == UNMATCHED:
            arguments = [DrawnArgument(*argument, alone) for argument in shown]
            drawn_calls.append(DrawnCall(name, arguments, alone))
            continue
        own = resolved(plan, position, labels)
        theirs = Counter(resolved(other, partner[position], other_labels))
        names = {argument for argument, _ in theirs}
        arguments = []
        for argument, (shown_name, value) in zip(own, shown, strict=True):
            status: Status = alone
            if theirs[argument] > 0:
                theirs[argument] -= 1
                status = "right"
            elif argument[0] in names:
                status = "wrong"
            arguments.append(DrawnArgument(shown_name, value, status))
        drawn_calls.append(DrawnCall(name, arguments, "right"))
    return drawn_calls


def _shown(plan: Plan, written: Mapping[str, Any]) -> list[list[tuple[str, Any]]]:
    """Names and values of the arguments of each call, as they are written where that is possible."""
    nodes = written.get("task_nodes") or []
    shown = []
    for position in range(len(plan.names)):
        normal = plan.arguments[position] if plan.arguments is not None else []
        given = published_arguments(nodes[position].get("arguments")) if position < len(nodes) else None
        pairs = [
            (str(argument["name"]), argument["value"])
            if isinstance(argument, dict) and "name" in argument and "value" in argument
            else ("", argument)
            for argument in (given if isinstance(given, list) else ())
        ]
        if len(pairs) != len(normal):  # arguments with their defaults are left out
            values = dict(pairs)
            pairs = [(str(name), values.get(str(name), str(value))) for name, value in normal]
        shown.append(pairs)
    return shown


def _links(plan: Plan) -> list[tuple[int, int]]:
    """The links between positions, of repeated tools those that references confirm."""
    references = set(plan.references)
    positions = positions_by_tool(plan.names)
    links = []
    for source, target in plan.links:
        pairs = [(a, b) for a in positions.get(source, []) for b in positions.get(target, []) if a != b]
        new = [pair for pair in pairs if pair not in links]
        best = [pair for pair in new if pair in references] or new
        if best:
            links.append(best[0])
    return links


ITEMS = Items(
    plan_golds,
    plan_answers,
    lambda folder, allow_tools, say: labelled_plans(folder, say),
    predicted_plans,
    agent_trajectories,
)
