"""Whether a world works: each tool is called with arguments that fit the records, and some that do not."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import msgspec

from toolassay.argument_values.drawn_values import UnfillableError, draw_arguments
from toolassay.console.screen import Progress, no_progress
from toolassay.tools.argument_schemas import ArgumentValidator, has_place, json_type, schema_at
from toolassay.tools.library import Tool, ToolLibrary, is_required
from toolassay.tools.output_paths import parse_path
from toolassay.worlds.calls import WorldCalls, schema_of_arguments
from toolassay.worlds.operations import RefusedError, WorldState
from toolassay.worlds.templates import MISSING, names_in, value_of
from toolassay.worlds.world import (
    AnyOperation,
    Convert,
    CreateRecord,
    FieldCondition,
    Flaw,
    ListRecords,
    MeasureDistance,
    OnRecords,
    RelateRecords,
    ShiftTime,
    Uncovered,
    UpdateRecord,
    World,
    changes,
    flaws,
    parts_of,
)

_DRAWS = 30  # calls of a tool, until some are accepted
_ACCEPTED = 3  # of them
_UNKNOWN = {"string": "no-such-thing", "integer": 987_654_321, "number": 987_654_321.5}
_COMPARED = frozenset({"is", "in", "has"})  # tests that a value of no record fails


class CheckedCall(NamedTuple):
    """A call that a check made.

    Attributes:
        arguments: By name.
        result: What it returned; None if it was refused.
        refusal: Why it was refused; empty if it was not.
    """

    arguments: Mapping[str, Any]
    result: Any
    refusal: str = ""


def world_flaws(
    world: World, library: ToolLibrary, seed: int = 0, *, progress: Progress = no_progress
) -> list[Flaw]:
    """What is wrong with a world: its records, the names in its operations, and what calls of its tools show.

    Args:
        world: The world.
        library: The tools that it is for.
        seed: Random seed of the calls.
        progress: Shows progress.
    """
    found = [*flaws(world)]
    known = world.tools.keys() | {one.tool for one in world.uncovered}
    found += [
        Flaw(tool, "it is neither in tools nor in uncovered") for tool in library.ids if tool not in known
    ]
    found += [Flaw(tool, "the library has no such tool") for tool in known if tool not in library]
    if any(not flaw.tool for flaw in found):
        return found
    bad = {flaw.tool for flaw in found}
    checked = [tool for tool in library if tool.id in world.tools and tool.id not in bad]
    with progress("check tools", len(checked)) as advance:
        for tool in checked:
            # Each call has its own copy of the records, so only those that the tool can reach.
            own = used_things(msgspec.structs.replace(world, tools={tool.id: world.tools[tool.id]}))
            reasons = [*_wrong_names(world, tool)] or [*_wrong_calls(WorldCalls(own, library), tool, seed)]
            found += [Flaw(tool.id, reason) for reason in reasons]
            advance()
    return found


def without(world: World, bad: list[Flaw]) -> World:
    """A world that does not cover the tools with flaws."""
    reasons = {flaw.tool: flaw.reason for flaw in reversed(bad) if flaw.tool in world.tools}
    return msgspec.structs.replace(
        world,
        tools={tool: operation for tool, operation in world.tools.items() if tool not in reasons},
        uncovered=(
            *world.uncovered,
            *(Uncovered(tool, reasons[tool]) for tool in world.tools if tool in reasons),
        ),
    )


def used_things(world: World) -> World:
    """A world without the things that no tool is about, and to which no record of these refers."""
    parts = [part for operation in world.tools.values() for part in parts_of(operation)]
    used = {part.thing for part in parts if isinstance(part, OnRecords)}
    used |= {name for part in parts for name in part.exists.values()}
    used |= {others.thing for part in parts for others in part.further}
    while more := {other for name in used for other in world.things[name].references.values()} - used:
        used |= more
    return msgspec.structs.replace(
        world,
        things={name: thing for name, thing in world.things.items() if name in used},
        records={name: records for name, records in world.records.items() if name in used},
    )


def conditions_of(operation: AnyOperation) -> Iterator[FieldCondition]:
    """All conditions of an operation on the records that it is about."""
    for name in ("where", "only_if"):
        yield from simple(getattr(operation, name, ()))


def simple(conditions: Sequence[FieldCondition]) -> Iterator[FieldCondition]:
    """Conditions with those of `any` in place of it."""
    for condition in conditions:
        yield from simple(condition.any) if condition.any else (condition,)


def arguments_of(operation: AnyOperation) -> list[str]:
    """The paths of the arguments that an operation names, templates of results included; "" for all."""
    paths: dict[str, None] = {}
    keys = [path for part in parts_of(operation) for path in part.exists]
    for part in parts_of(operation):
        others = [condition for other in part.further for condition in simple(other.where)]
        conditions = [*conditions_of(part), *simple(part.needs), *others]
        named = [condition.argument for condition in conditions] + [*part.exists]
        match part:
            case ListRecords():
                named += [part.limit, part.skip, part.page]
            case CreateRecord():
                named.append(part.each)
            case Convert():
                named += [part.amount, part.source, part.target]
            case ShiftTime():
                named += [part.time, *(name.removeprefix("-") for name in part.units.values())]
            case MeasureDistance():
                named += part.places
            case _:
                pass
        paths |= dict.fromkeys(path for path in named if path)
        templates = [getattr(part, name, None) for name in ("fields", "value", "result")]
        for name in names_in([*templates, *(condition.value for condition in conditions)]):
            root, _, path = name.partition(".")
            # A path may go on across an argument that names a record.
            path = next((known for known in keys if path.startswith(f"{known}.")), path)
            paths |= {path: None} if root == "arguments" else {}
    return [*paths]


def _wrong_names(world: World, tool: Tool) -> Iterator[str]:
    """What an operation names that there is not."""
    operation = world.tools[tool.id]
    schema = schema_of_arguments(tool)
    used = arguments_of(operation)
    for path in used:
        if not has_place(parse_path(path), schema):
            yield f"the tool has no argument '{path}'"
    for part in parts_of(operation):
        for condition in simple(part.needs):
            if condition.field and condition.field not in world.settings:
                yield f"there is no setting '{condition.field}'"
        if isinstance(part, OnRecords):
            yield from _unknown_fields(world, part)
    if changes(operation):
        first = {path.partition(".")[0].partition("[")[0] for path in used}
        for parameter in tool.parameters:
            name = parameter.name.partition(".")[0]
            if is_required(parameter, tool) and name not in first and "" not in first:
                yield f"the required argument '{name}' has no effect"


def _unknown_fields(world: World, operation: OnRecords) -> Iterator[str]:
    """Fields that an operation compares or fills, and that no record has or gets."""
    thing = world.things[operation.thing]
    state = WorldState(world)
    records = state.records.get(operation.thing, [])
    made = {thing.key, *thing.defaults}
    for other in (part for one in world.tools.values() for part in parts_of(one)):
        if isinstance(other, CreateRecord | UpdateRecord) and other.thing == operation.thing:
            made |= other.fields.keys()
    paths = [condition.field for condition in conditions_of(operation)]
    if isinstance(operation, RelateRecords):
        paths.append(operation.field)
    for path in paths:
        is_made = not path or path.partition(".")[0] in made
        if not is_made and all(state.value(record, path) is MISSING for record in records):
            yield f"no {operation.thing} has a field '{path}'"


def _wrong_calls(calls: WorldCalls, tool: Tool, seed: int) -> Iterator[str]:
    """What calls of a tool show that is wrong with its operation."""
    accepted: list[CheckedCall] = []
    refusals: list[str] = []
    rng = Random(f"{seed} {tool.id}")
    output = None if tool.output_schema is None else ArgumentValidator(tool.output_schema)
    for _ in range(_DRAWS):
        try:
            made = drawn_call(calls, tool, rng, _permitting(calls.world, tool))
        except UnfillableError as error:
            refusals.append(str(error))
            continue
        if made.refusal:
            refusals.append(made.refusal)
            continue
        accepted.append(made)
        if output is not None:
            problems = output.problems(made.result)
            if problems:
                where = problems[0].path or "it"
                yield f"a result does not fit the output schema: {where}: {problems[0].reason}"
                return
        if len(accepted) == _ACCEPTED:
            break
    if not accepted:
        yield f"no call was accepted: {refusals[-1]}"
        return
    yield from _accepts_anything(calls, tool, accepted[0])


def _permitting(world: World, tool: Tool) -> WorldState:
    """The state in which settings that a tool needs are as it needs them."""
    state = WorldState(world)
    for part in parts_of(world.tools[tool.id]):
        for condition in part.needs:
            if condition.field and not condition.argument and condition.test == "is":
                state.settings[condition.field] = condition.value
    return state


def _accepts_anything(calls: WorldCalls, tool: Tool, accepted: CheckedCall) -> Iterator[str]:
    """Whether a tool that names a record accepts the name of none."""
    operation = calls.world.tools[tool.id]
    if not isinstance(operation, OnRecords) or isinstance(operation, ListRecords | CreateRecord):
        return
    if getattr(operation, "every", False):
        return
    tests = [
        condition.argument
        for condition in simple(operation.where)
        if condition.argument and condition.test in _COMPARED
    ]
    tried = []
    for path in tests:
        value = value_of(accepted.arguments, path)
        one = value[0] if isinstance(value, list) and value else value
        unknown = _UNKNOWN.get(json_type(one))
        if value is MISSING or unknown is None:
            continue
        tried.append(path)
        arguments = with_value(accepted.arguments, path, unknown)
        try:
            calls.call(WorldState(calls.world), tool, arguments)
        except RefusedError:
            return
    if tried:
        yield f"it accepts {', '.join(tried)} of no {operation.thing}"


def drawn_call(calls: WorldCalls, tool: Tool, rng: Random, state: WorldState | None = None) -> CheckedCall:
    """A call with drawn arguments that name records of the world where its operation asks for some.

    Args:
        calls: The tools in their world.
        tool: The tool.
        rng: Random numbers.
        state: Of the world; it changes if the tool changes something. None for a new one.

    Raises:
        UnfillableError: No valid arguments were found.
    """
    state = state or WorldState(calls.world)
    arguments = fitting_arguments(calls, tool, rng, state)
    try:
        return CheckedCall(arguments, calls.call(state, tool, copy.deepcopy(arguments)))
    except RefusedError as error:
        return CheckedCall(arguments, None, str(error))


def fitting_arguments(calls: WorldCalls, tool: Tool, rng: Random, state: WorldState) -> dict[str, Any]:
    """Drawn arguments, with values of records where the operation of a tool compares with them.

    Raises:
        UnfillableError: No valid arguments were found.
    """
    wanted: dict[str, Any] = {}
    for part in parts_of(calls.world.tools[tool.id]):
        for condition in simple(part.needs):
            if condition.argument and condition.field and condition.test == "is":
                wanted[condition.argument] = state.settings.get(condition.field)
            elif condition.argument and condition.test == "in" and isinstance(condition.value, list):
                wanted[condition.argument] = rng.choice(condition.value or [None])
        wanted |= {path: _some_key(state, name, rng) for path, name in part.exists.items()}
        if isinstance(part, OnRecords):
            wanted |= _named_records(part, state, rng)
        elif isinstance(part, Convert):
            wanted[part.source], wanted[part.target] = rng.choices([*part.factors], k=2)
    drawn = dict(draw_arguments(tool, rng).arguments)
    schema = schema_of_arguments(tool)
    required = set(schema.get("required", ()))
    for path, value in wanted.items():
        is_absent = value_of(drawn, path) is MISSING
        allowed = schema_at(parse_path(path), schema).get("enum")
        if value is None or (isinstance(allowed, list) and value not in allowed):
            continue
        if is_absent and path not in required and rng.random() < 0.5:
            continue
        drawn = with_value(drawn, path, value)
    return drawn


def _named_records(operation: OnRecords, state: WorldState, rng: Random) -> dict[str, Any]:
    """Values for the arguments of an operation that it compares with a record, or that must name one."""
    records = state.records.get(operation.thing, [])
    record = rng.choice(records) if records else {}
    fields = getattr(operation, "fields", {})
    if isinstance(operation, RelateRecords):
        fields = {operation.field: operation.value}
    thing = state.world.things[operation.thing]
    wanted: dict[str, Any] = {}
    for field, template in fields.items():
        for path in _arguments_in(template):
            if field in thing.references:
                wanted[path] = _some_key(state, thing.references[field], rng)
            elif field not in (thing.key, *getattr(operation, "unique", ())):  # a value of the usual form
                wanted[path] = record.get(field)
    if isinstance(operation, RelateRecords) and operation.remove and (members := record.get(operation.field)):
        for path in _arguments_in(operation.value):
            wanted[path] = rng.choice(members)
    for condition in simple(getattr(operation, "where", ())) if record else ():
        if condition.argument:
            value = state.value(record, condition.field) if condition.field else _some_text(record, rng)
            wanted[condition.argument] = None if value is MISSING else value
    return wanted


def _arguments_in(template: Any) -> list[str]:
    """The paths of the arguments that a template names."""
    prefix = "arguments."
    return [name.removeprefix(prefix) for name in names_in(template) if name.startswith(prefix)]


def _some_text(record: Mapping[str, Any], rng: Random) -> str | None:
    texts = [value for value in record.values() if isinstance(value, str)]
    return rng.choice(texts) if texts else None


def _some_key(state: WorldState, name: str, rng: Random) -> Any:
    records = state.records.get(name, [])
    return rng.choice(records)[state.world.things[name].key] if records else None


def with_value(arguments: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Arguments with another value at a path, in the type that was there."""
    changed = copy.deepcopy(dict(arguments))
    parts = parse_path(path)
    target: Any = changed
    for part in parts[:-1]:
        if isinstance(target, list) and isinstance(part, int) and part < len(target):
            target = target[part]
        elif isinstance(target, dict):
            target = target.setdefault(part, {})
    before = value_of(arguments, path)
    if isinstance(before, list) and not isinstance(value, list):
        value = [value]
    elif isinstance(before, str) and not isinstance(value, str | list | dict):
        value = str(value)
    if isinstance(target, dict) and parts:
        target[parts[-1]] = value
    return changed
