"""Results of simulated tools, drawn from output schemas.

Schemas come from outside: every walk is bounded, and `jsonschema` decides whether a result is valid.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from toolassay.argument_values.drawn_values import drawn_value
from toolassay.argument_values.places import SchemaWalk
from toolassay.executors.executor import State
from toolassay.graph.derive import fields
from toolassay.graph.derive.fields import (
    IDENTITIES,
    Route,
    Words,
    is_transparent,
    meaning_of,
    route_of,
    same_thing,
    thing_of,
    words_of,
)
from toolassay.tools.argument_schemas import ArgumentValidator, Schema, kinds_of, properties_at, properties_of
from toolassay.tools.library import Tool, ToolLibrary, is_required

# Verbs of no group in `words.json` that change something outside, unlike "calculate" and "click".
_EFFECTS = frozenset({
    "apply", "approve", "assign", "attach", "commit", "invite", "join", "merge", "push", "send", "submit"
})  # fmt: skip
_ENDINGS = frozenset({"archive", "cancel", "close"})  # the object is still there
_CHANGES = ("make", "change", "remove")
_IGNORED = fields.word_list("empty names") | {"bulk", "multiple", "my", "new", "or"}  # before a thing
# Attributes by which people name things.
_NAMING = fields.IDENTIFYING | fields.word_list("describing attributes")


@dataclass(frozen=True)
class SimulatedAction:
    """What a tool does with which resource."""

    kind: str  # "read", "list", "get", "create", "change" or "remove"
    thing: Words  # the resource in words
    resource: str  # as the state names it
    reads: bool  # whether the tool changes nothing
    verb: str = ""  # the first one of its name
    key: str = ""  # the parameter that identifies the resource
    attribute: str = "id"  # what the parameter is of it
    scope: tuple[str, ...] = ()  # parameters within whose values the key is unique, as `owner` and `repo`


class Actions:
    """What each tool of a library does.

    >>> from toolassay.tools.library import Parameter
    >>> tools = Tool("create_user"), Tool("get_user", parameters=(Parameter("user_id"),))
    >>> actions = Actions(ToolLibrary(tools))
    >>> [(one.kind, one.resource, one.key) for one in map(actions.of, tools)]
    [('create', 'user', ''), ('get', 'user', 'user_id')]
    """

    def __init__(self, library: ToolLibrary) -> None:
        self._has_servers = len({tool.source.get("server") for tool in library}) > 1
        self._resources: frozenset[str] = frozenset()
        self.attributes: dict[str, str] = {}  # by which tools identify a resource; an id if one does
        first = map(self.of, library)
        self._resources = frozenset(
            action.resource for action in first if action.key or action.kind == "create"
        )
        for action in map(self.of, library):
            if (
                action.kind != "create"
                and action.key
                and self.attributes.get(action.resource) not in IDENTITIES
            ):
                self.attributes[action.resource] = action.attribute

    def of(self, tool: Tool) -> SimulatedAction:
        """What a tool does."""
        route = route_of(tool)
        words = fields.name_words(tool)
        verbs = [word for word in words if word in fields.tool_verbs()]
        verb = verbs[0] if verbs else ""
        does = fields.verb_of(tool, route)
        changes = [change for change in map(fields.tool_verbs().__getitem__, verbs) if change in _CHANGES]
        is_marked = tool.is_marked_reading
        reads = is_marked or (does in ("find", "search") and (route is not None or not changes))
        if route is None and changes and "and" in words:
            does = changes[0]  # "search_and_replace"
        thing, resource = self._resource(tool, route)
        if not thing or (tool.is_resource and not tool.parameters):
            return SimulatedAction("read", thing, resource, reads)
        key, attribute, scope = _identifiers(tool, route, thing)
        kind = "read"
        if not is_marked and (does == "make" or (verb in _EFFECTS and not key)):
            kind = "create"
            attribute = self.attributes.get(resource, "id")
            key = next(
                (parameter.name for parameter in tool.parameters if is_key(parameter.name, thing, attribute)),
                "",
            )
        elif not is_marked and (does in _CHANGES or verb in _EFFECTS):
            kind = "remove" if does == "remove" and verb not in _ENDINGS else "change"
        elif key and (does != "search" or attribute in IDENTITIES or route is not None):
            kind = "get"
        elif reads and (fields.word_list("listing") & {*words} or tool.id[-1] == "s" != words[-1][-1]):
            kind = "list"  # by a verb, or by a plural at the end of its name
        key = "" if kind in ("list", "read") else key
        scope = () if attribute in IDENTITIES else scope
        return SimulatedAction(kind, thing, resource, reads, verb, key, attribute, scope)

    def _resource(self, tool: Tool, route: Route | None) -> tuple[Words, str]:
        """The thing that a tool is about, preferably one that other tools create or identify."""
        server = str(tool.source.get("server") or "") if self._has_servers else ""
        candidates: list[tuple[Words, str]] = []
        for owner in fields.things_of_tool(tool, route):
            if route is None and owner.thing[0] in ("by", "for", "from", "in", "of", "to", "with"):
                break  # `search_by_engine` is not about engines
            thing = tuple(word for word in owner.thing if word not in _IGNORED) or owner.thing
            candidates.append((thing, "/".join(filter(None, (server, "_".join(thing))))))
        known_resources = (candidate for candidate in candidates if candidate[1] in self._resources)
        return next(known_resources, candidates[0] if candidates else ((), server))


def is_key(name: str, thing: Words, attribute: str) -> bool:
    """Whether a parameter or a field with a name is an attribute of a thing; ids have several names."""
    name_thing, name_attribute = meaning_of(name)
    return (not name_thing or same_thing(name_thing, thing) > 0) and (
        name_attribute == attribute or {name_attribute, attribute} <= IDENTITIES
    )


def _identifiers(tool: Tool, route: Route | None, thing: Words) -> tuple[str, str, tuple[str, ...]]:
    """The parameter that identifies the resource, its attribute, and the parameters that identify others."""
    best: tuple[float, str, str] = (0.0, "", "id")
    others = []
    for parameter in tool.parameters:
        parameter_thing, attribute = meaning_of(parameter.name)
        fit = same_thing(parameter_thing, thing) if parameter_thing else 0.9
        is_id = attribute in IDENTITIES
        is_name = attribute in _NAMING or (bool(parameter_thing) and not attribute)
        is_scalar = not parameter.type.casefold().startswith(("array", "list", "object", "bool"))
        if (
            not is_scalar
            or "enum" in parameter.declaration
            or not (is_id or (is_name and is_required(parameter, tool)))
        ):
            continue
        if not fit and is_required(parameter, tool) and (attribute or not fields.is_control(parameter.name)):
            others.append(parameter.name)
        is_last = route is None or f"{{{parameter.name}}}" in route.parts[-1:]  # of a path only the last part
        if fit and is_last and fit + is_id > best[0]:
            best = fit + is_id, parameter.name, attribute or ("name" if route is None else "id")
    return best[1], best[2], tuple(others)


Values = dict[str, Any]
"""JSON values by name: what calls and results say of an object."""


@dataclass
class Resource:
    """An object of the world."""

    name: str  # its place in the state, without the key
    thing: Words
    attribute: str  # what the key is
    key: Any  # "" for the only one of its kind
    scope: Values  # values within which the key is unique
    fields: Values = field(default_factory=dict)  # all that is known
    written: Values = field(default_factory=dict)  # what calls of the plan have set
    is_new: bool = False
    is_deleted: bool = False

    @property
    def named_fields(self) -> Values:
        """Its fields with the key under the names that results use."""
        names = () if self.key == "" else (self.attribute, "_".join((*self.thing, self.attribute)))
        return self.fields | dict.fromkeys(names, self.key)

    def write(self, values: Values) -> None:
        """Set fields by a call of the plan."""
        self.fields = self.fields | values
        self.written = self.written | values

    def remember(self, result: Any) -> None:
        """Keep what a result says of the object, so that later results say the same."""
        for name, value in result.items() if isinstance(result, dict) else ():
            if isinstance(value, str | int | float):
                self.fields.setdefault(name, value)


class ResourceStore:
    """The objects of one environment."""

    def __init__(self) -> None:
        self._resources: dict[str, list[Resource]] = {}

    def all(self, resource: str) -> list[Resource]:
        """The objects of a kind, in the order in which they became known."""
        return self._resources.setdefault(resource, [])

    def find(self, resource: str, attribute: str, value: Any, scope: Values) -> Resource | None:
        """The object with an attribute; a deleted one only if no other has it."""

        def fits(resource: Resource) -> bool:
            known_value = resource.key if resource.attribute == attribute else resource.fields.get(attribute)
            is_inside = all(resource.scope.get(name, inner) == inner for name, inner in scope.items())
            return is_inside and str(value) == str(known_value)

        return min(filter(fits, self.all(resource)), key=lambda resource: resource.is_deleted, default=None)

    def state(self) -> State:
        """What differs from the start, by place."""
        places: dict[str, object] = {}
        for name in sorted(self._resources):
            for resource in self._resources[name]:
                key_field = {} if resource.key == "" else {resource.attribute: resource.key}
                path = "/".join(map(str, (name, *resource.scope.values(), *key_field.values())))
                if resource.is_deleted and not resource.is_new:
                    places.setdefault(path, {"deleted": True})
                elif not resource.is_deleted and (resource.is_new or resource.written):
                    places[path] = key_field | copy.deepcopy(resource.written)
        return places


_MOST_VALUES = 600  # of one result
_DEEPEST = 24  # objects, lists and alternatives within each other
_DEEPEST_OPTIONAL = 6  # levels in which optional properties are filled
_DRAWS = 8  # of a whole result, until one is valid
_UNIQUE_DRAWS = 12  # of an item that differs from the others
_LONGEST = 4_000  # characters that a schema may demand of a text
_REPAIRS = 4  # rounds in which invalid properties are dropped

_ITEM = "item"  # the name of an item of a list
_SAID = frozenset({"enum", "minimum", "maximum"})
_BOUNDS = frozenset({"format", "pattern", "minLength", "maxLength"})

Path = tuple[str, ...]


class UnmakeableError(Exception):
    """No valid result was found; the text says why."""


class Types(NamedTuple):
    """The JSON types and the formats of arguments whose names end alike, and what the first of them says."""

    kinds: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()
    by_name: Mapping[Words, Schema] = MappingProxyType({})  # by the whole name


def types_of_arguments(library: ToolLibrary) -> dict[str, Types]:
    """The types of arguments by the last word of their names; they decide where those of a result are open.

    >>> show = Tool("show", input_schema={"properties": {"start_time": {"type": ["number", "null"]}}})
    >>> [(name, sorted(one.kinds)) for name, one in types_of_arguments(ToolLibrary([show])).items()]
    [('time', ['number'])]
    """
    types: dict[str, Types] = {}
    for schema in (tool.input_schema or {} for tool in library):
        for argument in properties_of(schema):
            word = last_word(argument.name)
            kinds = kinds_of(argument.schema, schema) - {"null"}
            form = argument.schema.get("format")
            earlier = types.get(word, Types())
            formats = earlier.formats | ({form} if isinstance(form, str) else set())
            by_name = {words_of(argument.name): argument.schema, **earlier.by_name}
            types[word] = Types(earlier.kinds | kinds, formats, by_name)
    return types


def last_word(name: str) -> str:
    """The last word of a name; empty without any."""
    return next(reversed(words_of(name)), "")


class ResultMaker:
    """Makes results of one tool that are valid against its output schema.

    Args:
        tool: The tool.
        types: Those of arguments, by the last word of a name.

    Raises:
        ValueError: The schema is not valid.

    >>> film = {"properties": {"kind": {"const": "new"}, "tags": {"items": {"const": "new"}, "maxItems": 1}}}
    >>> ResultMaker(Tool("get_film", output_schema=film)).make(Random(1))
    {'kind': 'new', 'tags': ['new']}
    """

    def __init__(self, tool: Tool, types: Mapping[str, Types] | None = None) -> None:
        assert tool.output_schema is not None
        self._validator = ArgumentValidator(tool.output_schema)
        self._schema = tool.output_schema
        self._types = types or {}

    def make(self, rng: Random, *, small: bool = False) -> Any:
        """A valid result, a `small` one with only what the schema requires; raises UnmakeableError."""
        reason = ""
        for attempt in range(_DRAWS):
            try:
                draw = _Draw(self._schema, self._types, rng, attempt, small=small or attempt >= _DRAWS // 2)
                value = draw.value(self._schema, ())
            except UnmakeableError as error:
                reason = str(error)
                continue
            for _ in range(_REPAIRS):
                problems = self._validator.problems(value)
                if not problems:
                    return value
                reason = f"no valid value was found for '{problems[0].path[:80]}': {problems[0].keyword}"
                for parts in [problem.parts for problem in problems if problem.parts]:
                    if isinstance(around := value_at(value, parts[:-1]), dict):
                        around.pop(str(parts[-1]), None)
        raise UnmakeableError(reason)

    def fill(self, value: Any, *wanted: tuple[Sequence[str | int], Values]) -> None:
        """Set fields of the objects at paths in a valid result, where names match and it stays valid."""
        changes: list[tuple[Any, Any, Any]] = []
        for path, field_values in wanted:
            target = value_at(value, path)
            changes += [
                (target, name, field_value)
                for name, field_value in matching_fields(target, field_values).items()
            ]
        if not self.change(value, changes):
            for change in changes:
                self.change(value, [change])

    def change(self, value: Any, changes: Iterable[tuple[Any, Any, Any]]) -> bool:
        """Set parts of a result, each by container, key and value, unless that makes it invalid."""
        before = []
        for container, key, part in changes:
            is_new = isinstance(container, dict) and key not in container
            before.append((container, key, is_new, None if is_new else container[key]))
            container[key] = part
        if not before or not self._validator.problems(value):
            return True
        for container, key, is_new, part in reversed(before):
            if is_new:
                del container[key]
            else:
                container[key] = part
        return False


class _Draw:
    """Draws one result; its methods raise UnmakeableError if there is none."""

    def __init__(
        self, root: Schema, types: Mapping[str, Types], rng: Random, attempt: int, *, small: bool
    ) -> None:
        self.walk = SchemaWalk(root, self._alternative)
        self.types = types
        self.wanted = Types()
        self.rng = rng
        self.attempt = attempt
        self.small = small
        self.left = _MOST_VALUES
        self.taken: set[str] = set()

    def _alternative(self, parts: Sequence[Any]) -> Any:
        """At first the largest alternative, or the one that arguments take; later any."""
        return self.rng.choice(parts) if self.attempt else max(parts, key=self._rank)

    def _rank(self, schema: Any) -> int:
        kinds = kinds_of(schema, self.walk.root)
        if "object" in kinds:
            return 3
        if "array" in kinds:
            return 2
        return 1 if kinds & self.wanted.kinds else 0

    def value(self, schema: Any, path: Path) -> Any:
        """A value of a schema; `path` has the names on the way to it."""
        self.left -= 1
        if len(path) > _DEEPEST or self.left < -_MOST_VALUES:
            raise UnmakeableError("the output schema has no end")
        if schema is False:
            raise UnmakeableError(f"'{'.'.join(path)}' may have no value")
        self.wanted = wanted_types = self.types.get(last_word(path[-1]), Types()) if path else Types()
        schema = self.walk.chosen(schema)
        if "const" in schema:
            return copy.deepcopy(schema["const"])
        if isinstance(values := schema.get("enum"), list) and values:
            return copy.deepcopy(self.rng.choice(values))
        kinds = kinds_of(schema, self.walk.root)
        if "object" in kinds or (not kinds and "properties" in schema):
            return self._object(schema, path)
        if "array" in kinds or (not kinds and "items" in schema):
            return self._list(schema, path)
        if kinds == {"null"}:
            return None
        # A description may quote what a failed call says; that of an argument says what it may be.
        argument = wanted_types.by_name.get(words_of(path[-1]), {}) if path else {}
        if kinds == kinds_of(argument, {}):
            schema = {**{key: argument[key] for key in _SAID & argument.keys()}, **schema}
        if isinstance(values := schema.get("enum"), list) and values:
            return copy.deepcopy(self.rng.choice(values))
        schema = {**schema, "description": str(argument.get("description") or "")}
        if len(wanted_types.formats) == 1 and schema.keys().isdisjoint(_BOUNDS):
            (schema["format"],) = wanted_types.formats
        place = self.walk.place(schema, path)
        value = drawn_value(place, self.rng, self.taken)
        if value is None and isinstance(least := schema.get("minLength"), int) and least <= _LONGEST:
            value = "x" * least
        if value is None:
            raise UnmakeableError(f"no valid value was found for '{'.'.join(path)}'")
        self.taken.add(str(value))
        return value

    def _list(self, schema: Schema, path: Path) -> list[Any]:
        """A list of 2 or 3 items, fewer deep inside."""
        first = schema.get("prefixItems")
        further = schema.get("items", True)
        first = first if isinstance(first, list) else []
        least = schema.get("minItems", 0)
        most = schema.get("maxItems", _MOST_VALUES)
        if self.small or self.left < 0:
            wish = 0
        else:
            wish = 1 if len(path) > 6 else self.rng.choice((2, 3))
        if further is True or further == {}:
            wish = 0
        items: list[Any] = []
        for number in range(max(least, min(wish, most), len(first) if not self.small else 0)):
            item = first[number] if number < len(first) else further
            if item is False:
                break
            drawn = self.value(item, (*path, _ITEM))
            for _ in range(_UNIQUE_DRAWS if not isinstance(drawn, dict | list) else 0):
                drawn = self.value(item, (*path, _ITEM)) if drawn in items else drawn
            items.append(drawn)
        return items

    def _object(self, schema: Schema, path: Path) -> Values:
        """An object: required properties, and optional ones where there is room."""
        values: Values = {}
        properties = properties_at(schema, self.walk.root)
        required = {member.name for member in properties if member.required}
        missing = [name for name in schema.get("required", ()) if name not in required]
        room = (
            0 if self.small or len(path) >= _DEEPEST_OPTIONAL else schema.get("maxProperties", _MOST_VALUES)
        )
        for member in properties:
            if not member.required and (room <= len(required) + len(values) or self.left < 0):
                continue
            try:
                values[member.name] = self.value(member.schema, (*path, member.name))
            except UnmakeableError:
                if member.required:
                    raise
        return values | {name: self.value({}, (*path, name)) for name in missing}


class ResultPlace(NamedTuple):
    """The paths of a resource in a result: of the object, and of a list of objects, if any."""

    object: Path
    listed: Path | None


def place_of(value: Any, thing: Words) -> ResultPlace:
    """Where a result has a thing.

    >>> place_of({"page": 1, "users": [{"id": 7}]}, ("user",))
    ResultPlace(object=(), listed=('users',))
    """

    def is_list(value: Any) -> bool:
        return isinstance(value, list) and all(isinstance(item, dict) for item in value)

    if not isinstance(value, dict):
        return ResultPlace((), () if is_list(value) else None)
    objects = [(name,) for name, member in value.items() if isinstance(member, dict)]
    paths = [*((name,) for name in value), *((*path, name) for path in objects for name in value[path[0]])]

    def fit(path: Path) -> float:
        thing_of_path = thing_of(path[-1])
        is_wrapper = is_transparent(path[-1])
        if thing_of_path and same_thing(thing_of_path, thing):
            likeness = 3
        elif thing_of_path and not is_wrapper:
            likeness = 1
        else:
            likeness = 2
        return likeness - len(path) / 4

    best = max(objects, key=fit, default=())
    is_inside = bool(best) and fit(best) > 1 and identity_in(value, thing) is None
    lists = [path for path in paths if is_list(value_at(value, path))]
    return ResultPlace(best if is_inside else (), max(lists, key=fit, default=None))


def identity_in(value: Any, thing: Words, attribute: str = "id") -> Any:
    """The value of the field that identifies an object; None without one.

    >>> identity_in({"name": "Ann", "customer_id": 7}, ("customer",))
    7
    """
    fields = value.items() if isinstance(value, dict) else ()
    identities = (
        field_value
        for name, field_value in fields
        if isinstance(field_value, str | int) and is_key(name, thing, attribute)
    )
    return next(identities, None)


def matching_fields(target: Any, fields: Values) -> Values:
    """The fields that an object has under the same or a similar name, in its types; all if it is empty.

    >>> matching_fields({"customerId": "1", "n": 1}, {"customer_id": 7, "size": 2})
    {'customerId': '7'}
    """
    if not isinstance(target, dict):
        return {}
    by_words = {words_of(name): field_value for name, field_value in reversed([*fields.items()])}
    matching = {} if target else dict(fields)
    for name, drawn in target.items():
        if name in fields or words_of(name) in by_words:
            given_value = fields.get(name, by_words.get(words_of(name)))
            if isinstance(drawn, str) and type(given_value) in (int, float):
                given_value = str(given_value)
            elif (
                type(drawn) is int
                and isinstance(given_value, str)
                and given_value.isascii()
                and given_value[:18].isdigit()
            ):
                given_value = int(given_value[:18])
            matching[name] = given_value
    return copy.deepcopy(matching)


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    """The part of a JSON value at a path; None if there is none."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value
