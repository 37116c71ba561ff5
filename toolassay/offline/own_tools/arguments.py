"""Arguments of a call, valid against the schema of its tool, and the values that a request has to state."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any

from toolassay.argument_schemas import ArgumentValidator, schema_problems
from toolassay.offline.fed_arguments import FedArgument, included, is_fed, with_fed
from toolassay.offline.own_tools.argument_shapes import (
    Choice,
    Field,
    Fixed,
    Group,
    Listed,
    Node,
    Shape,
    UnfillableError,
    shape_of,
)
from toolassay.offline.own_tools.related_values import (
    disordered,
    lay_out,
    nights_between,
    pairs,
    with_length,
)
from toolassay.offline.own_tools.value_makers import Kind
from toolassay.offline.own_tools.value_pools import World
from toolassay.offline.own_tools.value_sources import Drawn, Slot
from toolassay.offline.own_tools.value_texts import is_speakable, value_text
from toolassay.output_paths import Part, parse_path, parse_reference
from toolassay.tools import Tool, ToolLibrary

__all__ = [
    "DrawnArguments",
    "Kind",
    "RealValues",
    "StatedValue",
    "UnfillableError",
    "draw_arguments",
    "real_arguments",
    "unfillable",
]

_MOST_STATED = 8  # values of one call
_MOST_OPTIONAL = 2
_DRAWS = 12  # of a whole call, until one is valid
_VALUE_DRAWS = 4  # of the values in one form of the call


RealValues = Mapping[str, Mapping[str, Sequence[Any]]]
"""Values that exist on a server, `{tool: {argument: [value, …]}}`, the content of `values.json`.

Lists of equal length are columns: the values with one index are those of one call that the server accepted,
null for an argument that it did not have.
"""


def real_arguments(
    values: RealValues, tool: str, rng: Random, known: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """Real values for one call of a tool, by argument; None if there are none for it.

    Args:
        values: The real values.
        tool: Id of the tool.
        rng: Random numbers.
        known: Values that the call has in any case. A call that was accepted with most of them is chosen.

    >>> values = {"show": {"repository": ["a", "b"], "commit": ["1f", "9c"]}}
    >>> real_arguments(values, "show", Random(1)), real_arguments(values, "log", Random(1))
    ({'repository': 'a', 'commit': '1f'}, None)
    >>> real_arguments(values, "show", Random(1), {"repository": "b"})
    {'repository': 'b', 'commit': '9c'}
    """
    columns = {name: list(given) for name, given in values.get(tool, {}).items() if given}
    if not columns:
        return None
    lengths = {len(given) for given in columns.values()}
    if len(lengths) > 1:
        found = {name: rng.choice(given) for name, given in columns.items()}
    else:
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        # Equal rows would make one call as frequent as it was tried.
        rows = [row for number, row in enumerate(rows) if row not in rows[:number]]
        agreeing = [sum(row.get(name) == value for name, value in (known or {}).items()) for row in rows]
        found = rng.choice([row for row, count in zip(rows, agreeing, strict=True) if count == max(agreeing)])
    return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A scalar of the arguments that the request has to state.

    Attributes:
        path: Its place in the arguments: `("guest", "name")`, `("items", 0, "sku")`.
        value: The JSON value.
        text: The value as a request writes it, without quotation marks.
        kind: What it is, which decides how a sentence introduces it.
        description: The description of its place in the schema.
        evidence: What decided the value: "enum", "const", "example", "default", "format", "pattern",
            "bounds", "description", "type", "name", "related" or "real".
    """

    path: tuple[Part, ...]
    value: Any
    text: str
    kind: Kind
    description: str = ""
    evidence: str = "type"


@dataclass(frozen=True, slots=True)
class DrawnArguments:
    """The arguments of one call.

    Attributes:
        arguments: By name; valid against the `input_schema`. Fed arguments are references. Values of a tool
            without `input_schema` are texts.
        stated: The values that the request has to state, in the order of the arguments. Fixed values
            (`const`), null and fed values are not stated.
    """

    arguments: Mapping[str, Any]
    stated: tuple[StatedValue, ...] = field(default=())


def draw_arguments(
    tool: Tool,
    rng: Random,
    *,
    fed: Sequence[FedArgument] = (),
    known: Mapping[str, Any] | None = None,
    taken: Sequence[str] = (),
    real: Mapping[str, Any] | None = None,
) -> DrawnArguments:
    """Draw valid arguments for a call: the required ones and up to two optional ones.

    Args:
        tool: The tool.
        rng: The random numbers of this request alone.
        fed: Arguments that take a value from an earlier call.
        known: Values that arguments must have, by name (`season`, or `filter.season` in an object): those
            shared with earlier calls.
        taken: Texts of values that earlier calls of the request state; a drawn value neither repeats nor
            contains one of them, nor is contained in one, unless the schema leaves no other. Of numbers,
            only whole ones count: "2" is not contained in "12".
        real: Values of a call that a server accepted, by name as in `known`; a list has the values of its
            items in order. The request has to state them. No other optional arguments are drawn.

    Raises:
        UnfillableError: See there.

    >>> room = {"type": "object", "required": ["size"], "properties": {"size": {"enum": ["single"]}}}
    >>> draw_arguments(Tool("t", input_schema=room), Random(1)).arguments
    {'size': 'single'}
    """
    shape = shape_of(tool)
    try:
        return _drawn(shape, rng, fed, known or {}, taken, real)
    except UnfillableError:
        raise
    except Exception as error:
        # Checking each schema first would take longer than all draws together.
        problem = next(schema_problems(shape.schema), None)
        if problem is None:
            raise
        raise UnfillableError(f"its schema is not valid: {problem.path} {problem.reason}"[:160]) from error


def _drawn(
    shape: Shape,
    rng: Random,
    fed: Sequence[FedArgument],
    known: Mapping[str, Any],
    taken: Sequence[str],
    real: Mapping[str, Any] | None,
) -> DrawnArguments:
    """A valid call, if a few draws find one."""
    problem = UnfillableError("no valid arguments were found")
    failed: set[str] = set()
    for _ in range(_DRAWS):
        layout = _Layout(rng, fed, known, real)
        try:
            skeleton = layout.of(shape.top, ())
        except UnfillableError as error:
            problem = error
            if layout.is_certain or str(error) in failed:
                break
            failed.add(str(error))
            continue
        for _ in range(_VALUE_DRAWS):
            try:
                return _filled(shape, layout, skeleton, rng, fed, taken)
            except UnfillableError as error:
                problem = error
    raise problem


def unfillable(
    library: ToolLibrary,
    fed: Mapping[str, Sequence[FedArgument]] | None = None,
    real: RealValues | None = None,
) -> dict[str, str]:
    """The tools that need a model: those for which `draw_arguments` fails, and why.

    Args:
        library: The tools.
        fed: Arguments that are fed, by tool id; none without it.
        real: Values that a server accepted.
    """
    found = {}
    for tool in library:
        rng = Random(0)
        try:
            draw_arguments(
                tool, rng, fed=(fed or {}).get(tool.id, ()), real=real and real_arguments(real, tool.id, rng)
            )
        except UnfillableError as error:
            found[tool.id] = str(error)
    return found


class _Draft:
    """A place for a value in a call that is being drawn."""

    def __init__(self, path: tuple[Part, ...], slot: Slot, known: Any = None, evidence: str = "") -> None:
        self.path = path
        self.slot = slot
        self.known = known
        self.evidence = evidence


class _Layout:
    """Chooses the form of a call: which arguments it has, which alternatives, how many items.

    Attributes:
        drafts: The places for values, in order.
        is_certain: Whether no choice was made, so that another try ends in the same way.
    """

    def __init__(
        self,
        rng: Random,
        fed: Sequence[FedArgument],
        known: Mapping[str, Any],
        real: Mapping[str, Any] | None,
    ) -> None:
        self.rng = rng
        self.fed = fed
        self.known = {_dotted(name): value for name, value in known.items()}
        self.real = {_dotted(name): value for name, value in (real or {}).items()}
        self.has_real = real is not None
        given = (*self.known, *self.real)
        self.wanted = included(fed) | {name[:end] for name in given for end in range(1, len(name) + 1)}
        self.fed_places = {names: one for one in fed if (names := _names(one.parts))}
        self.drafts: list[_Draft] = []
        self.is_certain = True

    def of(self, node: Node, path: tuple[Part, ...]) -> Any:
        """The form of a node: its drafts in lists and objects, fixed values as they are."""
        if isinstance(node, Fixed):
            return copy.deepcopy(node.value)
        if isinstance(node, Slot):
            return self.slot(node, path)
        if isinstance(node, Listed):
            return self.listed(node, path)
        if isinstance(node, Choice):
            return self.chosen(node, path)
        return self.group(node, path)

    def slot(self, slot: Slot, path: tuple[Part, ...]) -> _Draft:
        known, evidence = self.known.get(_names(path)), "related"
        if known is None:
            known, evidence = self._real_value(path), "real"
        if known is None and slot.unstatable is not None:
            raise UnfillableError(f"'{'.'.join(_names(path))}' {slot.unstatable.reason}")
        draft = _Draft(path, slot, known, evidence)
        self.drafts.append(draft)
        if len(self.drafts) > _MOST_STATED:
            raise UnfillableError(f"a request would have to state more than {_MOST_STATED} values")
        return draft

    def _real_value(self, path: tuple[Part, ...]) -> Any:
        """The value that an accepted call has at a place; that of an item by the item's number."""
        value = self.real.get(_names(path))
        if not isinstance(value, list):
            return value
        place = next((part for part in reversed(path) if isinstance(part, int)), 0)
        return value[place] if place < len(value) else None

    def _real_items(self, path: tuple[Part, ...]) -> int:
        """The number of items that an accepted call has in a list; 0 if that is unknown."""
        names = _names(path)
        inside = (value for name, value in self.real.items() if name[: len(names)] == names)
        return max((len(value) for value in inside if isinstance(value, list)), default=0)

    def chosen(self, node: Choice, path: tuple[Part, ...]) -> Any:
        options = list(node.options)
        self.is_certain = False
        if isinstance(options[0], Group):
            self.rng.shuffle(options)
            inner = {names[len(_names(path))] for names in self.wanted if _begins(names, path)}
            options.sort(
                key=lambda one: not (isinstance(one, Group) and inner <= one.fields.keys()) if inner else 0
            )
        problem = UnfillableError("it has no alternative")
        before = len(self.drafts)
        for option in options:
            try:
                return self.of(option, path)
            except UnfillableError as error:
                problem = error
                del self.drafts[before:]
        raise problem

    def listed(self, node: Listed, path: tuple[Part, ...]) -> list[Any]:
        known = self.known.get(_names(path))
        if isinstance(known, list):
            return list(known)
        least = max(node.least, len(node.items) if node.least else 1, 1)
        most = least if not isinstance(node.items[-1], Slot) else max(least, node.most)
        room = max(least, min(most, _MOST_STATED - 2 - len(self.drafts)))
        enum = node.items[-1].keywords.enum if isinstance(node.items[-1], Slot) else None
        room = room if enum is None else max(least, min(room, len(enum)))
        number = min(room, self.rng.choices((1, 2, 3), (5, 3, 2))[0]) if room > least else least
        number = max(self._real_items(path) or number, least)
        return [
            self.of(node.items[min(place, len(node.items) - 1)], (*path, place)) for place in range(number)
        ]

    def group(self, node: Group, path: tuple[Part, ...]) -> dict[str, Any]:
        names = _names(path)
        fed_here = {one[-1] for one in self.fed_places if one[:-1] == names}
        chosen = {name for name in node.fields if name in node.required or (*names, name) in self.wanted}
        chosen |= self.optional(node, path, chosen)
        for name in list(chosen):
            chosen |= {one for one in node.dependents.get(name, ()) if one in node.fields}
        values = {}
        for name, one in node.fields.items():
            if name not in chosen or name in fed_here:
                continue
            values[name] = self.field(one, (*path, name), is_optional=name not in node.required)
        return {name: value for name, value in values.items() if value is not _ABSENT}

    def field(self, one: Field, path: tuple[Part, ...], *, is_optional: bool) -> Any:
        before = len(self.drafts)
        try:
            return self.of(one.node, path)
        except UnfillableError:
            if not is_optional or _names(path) in self.wanted:
                raise
            del self.drafts[before:]
            return _ABSENT

    def optional(self, node: Group, path: tuple[Part, ...], chosen: set[str]) -> set[str]:
        """The optional arguments that the call has besides."""
        if path and node.required:
            return set()
        free = [
            name
            for name, one in node.fields.items()
            if name not in chosen and node.most > len(chosen) and one.is_mentionable
        ]
        needed = max(0, node.least - len(chosen))
        wish = self.rng.choices((0, 1, 2), (25, 45, 30))[0]
        if path or not chosen:
            wish = max(1, wish)
        if free:
            self.is_certain = False
        if len(self.drafts) + len(chosen) >= _MOST_STATED - 2 or (self.has_real and not path):
            wish = 0
        count = min(len(free), max(needed, min(wish, _MOST_OPTIONAL, node.most - len(chosen))))
        # The first ones of a schema are those that its author thought of first.
        weighted = sorted(free, key=lambda name: self.rng.random() * (1 + free.index(name)) ** 0.5)
        return set(weighted[:count])


_ABSENT = object()


def _dotted(name: str) -> tuple[str, ...]:
    return _names(parse_path(name)) or (name,)


def _names(path: Sequence[Part]) -> tuple[str, ...]:
    return tuple(part for part in path if isinstance(part, str) and part != "[]")


def _begins(names: tuple[str, ...], path: tuple[Part, ...]) -> bool:
    own = _names(path)
    return len(names) > len(own) and names[: len(own)] == own


def _filled(
    shape: Shape,
    layout: _Layout,
    skeleton: dict[str, Any],
    rng: Random,
    fed: Sequence[FedArgument],
    taken: Sequence[str],
) -> DrawnArguments:
    """The call with values, if they are valid."""
    drafts = [one for one in layout.drafts if not is_fed(_place(one.path), fed)]
    drawn = _values(drafts, World(rng, taken))
    values = dict(zip(map(id, drafts), drawn, strict=True))
    arguments = _built(skeleton, values)
    if fed:
        pairs_of = [{"name": name, "value": value} for name, value in arguments.items()]
        arguments = {one["name"]: one["value"] for one in with_fed(pairs_of, fed)}
    if problem := _problem(shape, arguments):
        raise UnfillableError(problem)
    stated = [
        StatedValue(one.path, it.value, value_text(it.value), it.kind, one.slot.description, it.evidence)
        for one, it in zip(drafts, drawn, strict=True)
    ]
    if shape.is_text:
        return _as_texts(arguments, stated)
    return DrawnArguments(arguments, tuple(stated))


def _as_texts(arguments: Mapping[str, Any], stated: Sequence[StatedValue]) -> DrawnArguments:
    """The call of a tool without `input_schema`: each value is a text, a list one text with commas."""
    texts: dict[str, Any] = {}
    by_name: dict[str, list[StatedValue]] = {}
    for one in stated:
        by_name.setdefault(str(one.path[0]), []).append(one)
    told = []
    for name, value in arguments.items():
        given = by_name.get(name)
        if given is None:
            texts[name] = value
            continue
        text = ", ".join(one.text for one in given)
        texts[name] = text
        first = given[0]
        told.append(StatedValue((name,), text, text, first.kind, first.description, first.evidence))
    return DrawnArguments(texts, tuple(told))


def _problem(shape: Shape, arguments: Mapping[str, Any]) -> str:
    """What is wrong with the arguments; empty if they are valid."""
    problems = _validator(shape).problems(arguments, lambda text: parse_reference(text) is not None)
    if not problems:
        return ""
    where = f"'{problems[0].path[:80]}'" if problems[0].path else "the arguments object"
    return f"no valid value was found for {where}: {problems[0].keyword}"


@lru_cache(maxsize=8192)
def _validator(shape: Shape) -> ArgumentValidator:
    return ArgumentValidator(shape.schema, is_valid=True)


def _place(path: Sequence[Part]) -> str:
    return ".".join(str(part) for part in path)


def _values(drafts: Sequence[_Draft], world: World) -> list[Drawn]:
    """The values of all places, in order; related ones agree."""
    slots = [one.slot for one in drafts]
    placed = lay_out(slots, world)
    stay = nights_between(slots)
    order = list(range(len(drafts)))
    if stay is not None:
        order.remove(stay[2])
        order.insert(0, stay[2])
    drawn: dict[int, Drawn] = {}
    for number in order:
        one = _value(drafts[number], world, placed[number].moment)
        drawn[number] = one
        if not isinstance(one.value, bool):
            world.texts.append(value_text(one.value))
        if stay is not None and number == stay[2]:
            placed = with_length(placed, int(one.value), stay[0], stay[1])
    found = [drawn[number] for number in range(len(drafts))]
    values = [one.value for one in found]
    related = pairs(slots, values)
    ordered, is_wrong = disordered(related, values, lambda number, value: slots[number].allows(value))
    if is_wrong:
        raise UnfillableError("no values were found of which the least is below the most")
    return [one._replace(value=value) for one, value in zip(found, ordered, strict=True)]


def _value(draft: _Draft, world: World, moment: Any) -> Drawn:
    if draft.known is not None:
        value = _as_type(draft.known, draft.slot)
        if not draft.slot.allows(value) or not is_speakable(value_text(value)):
            what = "a real value" if draft.evidence == "real" else "the value of an earlier call"
            raise UnfillableError(f"'{_place(draft.path)}' does not take {what}")
        kind: Kind = next((source.kind for source in draft.slot.sources), "word")
        return Drawn(value, kind, draft.evidence)
    drawn = draft.slot.draw(world, moment)
    if drawn is None:
        raise UnfillableError(f"no valid value was found for '{_place(draft.path)}'")
    return drawn


def _as_type(value: Any, slot: Slot) -> Any:
    """A known value in the type of a slot: "4" as 4 and 4 as "4", if that is what it takes."""
    if slot.keywords.type == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return value_text(value)
    if slot.keywords.type in ("integer", "number") and isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return value
        return int(number) if number == int(number) and "." not in value else number
    return value


def _built(form: Any, values: Mapping[int, Drawn]) -> Any:
    if isinstance(form, _Draft):
        return values[id(form)].value if id(form) in values else None
    if isinstance(form, dict):
        return {name: _built(one, values) for name, one in form.items()}
    if isinstance(form, list):
        return [_built(one, values) for one in form]
    return form
