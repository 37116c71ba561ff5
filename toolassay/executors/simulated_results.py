"""Results of simulated tools, drawn from output schemas, and the objects whose fields they have.

Schemas come from outside: every walk is bounded, nothing in them is run, and `jsonschema` has the last word.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from toolassay.argument_schemas import ArgumentValidator, Schema, kinds_of, pointed_at, resolve
from toolassay.executors.executor import one_line
from toolassay.graph.derive.fields import IDENTIFYING
from toolassay.graph.derive.names import (
    IDENTITIES,
    Words,
    is_transparent,
    meaning_of,
    same_thing,
    thing_of,
    words_of,
)
from toolassay.offline.own_tools.arguments import UnfillableError, draw_arguments
from toolassay.tools import Tool

_MOST_PARTS = 300  # schemas that are merged into one
_MOST_VALUES = 600  # scalars and objects of one result
_DEEPEST = 24  # objects and lists within each other
_DEEPEST_OPTIONAL = 6  # levels in which optional properties are filled
_MOST_PROPERTIES = 100  # optional ones of one object
_MOST_ALTERNATIVES = 12
_MOST_LISTED = 50  # items that a schema may demand
_BATCH = 6  # scalars drawn together, so that names, days and bounds agree; `draw_arguments` takes up to 8
_DRAWS = 6  # of a whole result, until one is valid
_UNIQUE_DRAWS = 12  # of an item that differs from the others
_LONGEST = 4_000  # characters that a schema may demand
_REPAIRS = 4  # rounds in which invalid optional properties are dropped
_TEXT: Schema = {"type": "string"}
_SHOWN_FIELDS = 5  # of an object in a text
LONGEST_SHOWN = 60  # characters of a value in a text
_SCALARS = ("string", "integer", "number", "boolean")

Path = tuple[str, ...]


class UnmakeableError(Exception):
    """No valid result was found; the text says why."""


class Place(NamedTuple):
    """Where a result has the resource of its tool.

    Attributes:
        object: Names on the way to the object.
        listed: Names on the way to the list of objects; None without one.
        text: Names on the way to a free text; None without one.
    """

    object: Path
    listed: Path | None
    text: Path | None


@dataclass
class _Merged:
    """What schemas that hold together say; `groups` are the alternatives that they leave open."""

    keywords: dict[str, Any] = field(default_factory=dict)
    types: list[str] | None = None
    values: list[Any] | None = None
    properties: dict[str, list[Any]] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    allowed: set[str] | None = None
    items: list[Any] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    groups: list[list[Any]] = field(default_factory=list)
    targets: frozenset[int] = frozenset()
    plain: list[Any] = field(default_factory=list)


_Leaves = dict[str, tuple[_Merged, str]]  # scalars of an object with their types

_LOWEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_HIGHEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "multipleOf")
_FIRST = (
    "format", "description", "default", "examples", "example", "prefixItems", "additionalProperties",
    "uniqueItems",
)  # fmt: skip


class ResultMaker:
    """Makes results of one tool that are valid against its output schema.

    Raises:
        ValueError: The schema is not valid.

    >>> film = {"properties": {"kind": {"const": "new"}, "tags": {"items": {"const": "new"}, "maxItems": 1}}}
    >>> ResultMaker(Tool("get_film", output_schema=film)).make(Random(1))
    {'kind': 'new', 'tags': ['new']}
    """

    def __init__(self, tool: Tool) -> None:
        assert tool.output_schema is not None
        self.tool = tool
        self.root: Schema = tool.output_schema
        self._validator = ArgumentValidator(self.root)
        self._merged: dict[tuple[int, ...], tuple[Sequence[Any], _Merged]] = {}
        self._choices: dict[tuple[int, int], tuple[_Merged, Any, tuple[Any, ...]]] = {}
        self._batches: dict[tuple[Path, tuple[tuple[str, int, str], ...]], _Batch] = {}

    def make(self, rng: Random, *, small: bool = False) -> Any:
        """A valid result: all declared properties, lists of 2 or 3 items.

        Args:
            rng: The random numbers of this result alone.
            small: Whether to fill only what the schema requires.

        Raises:
            UnmakeableError: See there.
        """
        reason = ""
        for attempt in range(_DRAWS):
            drawer = _Drawer(self, rng, small=small or attempt >= _DRAWS // 2, turn=attempt)
            try:
                value = self._repaired(drawer.value((self.root,), ()))
            except UnmakeableError as error:
                reason = str(error)
                continue
            problems = self._validator.problems(value)
            if not problems:
                return value
            reason = f"no valid value was found for '{problems[0].path[:80]}': {problems[0].keyword}"
        raise UnmakeableError(reason)

    def item(self, path: Path, rng: Random) -> Any:
        """One item of the list at a path; raises as `make`."""
        drawer = _Drawer(self, rng)
        merged = self.merged((self.root,))
        for name in path:
            merged = drawer.chosen(self.merged(tuple(merged.properties.get(name, ()))))
        merged = drawer.chosen(merged)
        return drawer.item(tuple(merged.items), path) if merged.items else {}

    def is_valid(self, value: Any) -> bool:
        """Whether a value is a valid result."""
        return not self._validator.problems(value)

    def _repaired(self, value: Any) -> Any:
        """The value without the properties that are invalid, where they are optional."""
        for _ in range(_REPAIRS):
            problems = [one for one in self._validator.problems(value) if one.parts]
            for problem in problems:
                around = value_at(value, problem.parts[:-1])
                if isinstance(around, dict):
                    around.pop(str(problem.parts[-1]), None)
            if not problems:
                break
        return value

    def merged(self, parts: Sequence[Any]) -> _Merged:
        """Schemas that hold together as one, cached; UnmakeableError if they allow nothing."""
        key = tuple(map(id, parts))
        if key not in self._merged:
            # The parts are kept, or another schema could get the id of one.
            self._merged[key] = parts, _merge(parts, self.root)
        return self._merged[key][1]

    def alternative(self, merged: _Merged, rest: Sequence[Any], option: Any) -> tuple[Any, ...]:
        """The parts of an alternative: the same objects in each draw, so that they are merged once."""
        key = id(merged), id(option)
        return self._choices.setdefault(key, (merged, option, (*rest, option)))[2]

    def batch(self, path: Path, leaves: _Leaves) -> _Batch:
        """The scalars of an object, prepared once."""
        key = path, tuple((name, id(merged), kind) for name, (merged, kind) in leaves.items())
        if key not in self._batches:
            self._batches[key] = _Batch(self.tool, path, {name: _leaf(*one) for name, one in leaves.items()})
        return self._batches[key]

    def with_fields(self, value: Any, path: Sequence[str | int], fields: Mapping[str, Any]) -> Any:
        """A valid result whose object at a path has the fields, where names match and it stays valid."""
        target = value_at(value, path)
        changes = matching_fields(target, fields)
        if not changes:
            return value
        changed = replaced(value, path, {**target, **changes})
        if self.is_valid(changed):
            return changed
        for name, one in changes.items():
            changed = replaced(value, path, {**value_at(value, path), name: one})
            value = changed if self.is_valid(changed) else value
        return value

    def place(self, thing: Words) -> Place:
        """Where results have the resource of the tool."""
        kinds = kinds_of(self.root, self.root)
        if "object" not in kinds and kinds:
            return Place((), () if self._is_list(self.root) else None, () if "string" in kinds else None)
        best_object: tuple[float, Path] = (0.5, ())
        best_list: tuple[float, Path] | None = None
        text: Path | None = None
        declared = self._properties(self.root)
        for name, schema in declared:
            kinds, score = kinds_of(schema, self.root), _container(name, thing)
            if "object" in kinds and score > best_object[0]:
                best_object = score, (name,)
                for inner, one in self._properties(schema):
                    further = _container(inner, thing) - 0.25
                    if self._is_list(one) and (best_list is None or further > best_list[0]):
                        best_list = further, (name, inner)
            if self._is_list(schema) and (best_list is None or score > best_list[0]):
                best_list = score, (name,)
            is_text = kinds == {"string"} and not {"enum", "const", "format", "pattern"} & schema.keys()
            if is_text and (name == "message" or (len(declared) == 1 and not thing_of(name))):
                text = text or (name,)
        return Place(best_object[1], None if best_list is None else best_list[1], text)

    def _properties(self, schema: Any) -> list[tuple[str, Schema]]:
        try:
            merged = self.merged((schema,))
        except UnmakeableError:
            return []
        shown = list(merged.properties.items())[:_MOST_PROPERTIES]
        return [(name, resolve(parts[0], self.root)) for name, parts in shown]

    def _is_list(self, schema: Schema) -> bool:
        """Whether it is a list of objects, or of anything."""
        if "array" not in kinds_of(schema, self.root):
            return False
        try:
            items = _Drawer(self, Random(0)).chosen(self.merged((schema,))).items
        except UnmakeableError:
            return False
        kinds = kinds_of(items[0], self.root) if items else frozenset()
        return False not in items and (not kinds or "object" in kinds)


def _container(name: str, thing: Words) -> float:
    """How well the name of an object or a list fits a thing: "customers" or "data" for a customer."""
    own = thing_of(name)
    if own and same_thing(own, thing):
        return 3.0
    return 1.0 if own and not is_transparent(name) else 2.0


def matching_fields(target: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that an object has under the same or a similar name, in its types; all if it is empty.

    >>> matching_fields({"customerId": "1", "n": 1}, {"customer_id": 7, "size": 2})
    {'customerId': '7'}
    """
    if not isinstance(target, dict):
        return {}
    if not target:
        return dict(fields)
    by_words = {words_of(name): name for name in reversed(list(fields))}
    found = {}
    for name, drawn in target.items():
        given = name if name in fields else by_words.get(words_of(name))
        if given is not None and (value := _alike(fields[given], drawn)) != drawn:
            found[name] = value
    return found


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    """The part of a JSON value at a path; None if there is none."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value


def replaced(value: Any, path: Sequence[str | int], part: Any) -> Any:
    """A copy of a JSON value with another part at a path that it has."""
    if not path:
        return copy.deepcopy(part)
    inner = replaced(value_at(value, path[:1]), path[1:], part)
    if isinstance(value, list):
        return [inner if number == path[0] else one for number, one in enumerate(value)]
    return {**value, path[0]: inner}


def _alike(given: Any, drawn: Any) -> Any:
    """A value in the type of the one that it replaces: "7" as 7 and 7 as "7"."""
    if isinstance(drawn, str) and isinstance(given, int | float) and not isinstance(given, bool):
        return str(given)
    if isinstance(drawn, int) and not isinstance(drawn, bool) and isinstance(given, str):
        return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else given
    return given


def _merge(parts: Sequence[Any], root: Schema) -> _Merged:
    merged, targets, known = _Merged(), set[int](), set[int]()
    queue = list(parts)
    while queue:
        schema = queue.pop(0)
        if schema is False:
            raise UnmakeableError("a place may have no value")
        if not isinstance(schema, Mapping) or id(schema) in known:
            continue
        known.add(id(schema))
        if len(known) > _MOST_PARTS:
            raise UnmakeableError("the output schema is too large")
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = pointed_at(reference, root)
            if target is None:
                raise UnmakeableError(f"the output schema refers to nothing: {reference[:40]}")
            targets.add(id(target))
            queue.append(target)
        queue += schema["allOf"] if isinstance(schema.get("allOf"), list) else []
        for keyword in ("oneOf", "anyOf"):
            if isinstance(options := schema.get(keyword), list) and options:
                merged.groups.append(options)
        if "if" in schema:
            held = {"allOf": [schema["if"], schema.get("then", True)]}
            merged.groups.append([held, schema.get("else", True)])
        inner = ("allOf", "anyOf", "oneOf", "$ref", "if", "then", "else")
        merged.plain.append({name: one for name, one in schema.items() if name not in inner})
        _add(merged, schema)
    merged.targets = frozenset(targets)
    if merged.types == [] or merged.values == []:
        raise UnmakeableError("a place may have no value")
    return merged


def _add(merged: _Merged, schema: Mapping[str, Any]) -> None:
    """Add the keywords of one schema."""
    given = schema.get("type")
    named = [given] if isinstance(given, str) else given if isinstance(given, list) else None
    if named is not None:
        wide = {*named, *(("integer",) if "number" in named else ())}
        before = merged.types
        merged.types = named if before is None else [one for one in before if one in wide]
        if before is not None and "number" in before and "integer" in named:
            merged.types = [*merged.types, "integer"]
    lists = [schema["enum"]] if isinstance(schema.get("enum"), list) else []
    for values in [*lists, *([[schema["const"]]] if "const" in schema else [])]:
        known = merged.values
        merged.values = list(values) if known is None else [one for one in known if one in values]
    own = found if isinstance(found := schema.get("properties"), Mapping) else {}
    for name, one in own.items():
        merged.properties.setdefault(name, []).append(one)
    if isinstance(required := schema.get("required"), list):
        merged.required |= dict.fromkeys(one for one in required if isinstance(one, str))
    if schema.get("additionalProperties") is False and "patternProperties" not in schema:
        merged.allowed = {*own} if merged.allowed is None else merged.allowed & {*own}
    if "items" in schema:
        merged.items.append(schema["items"])
    if isinstance(schema.get("pattern"), str):
        merged.patterns.append(schema["pattern"])
    words = merged.keywords
    for keyword in (*_LOWEST, *_HIGHEST):
        number = schema.get(keyword)
        if isinstance(number, int | float) and not isinstance(number, bool):
            pick = min if keyword in _LOWEST else max
            words[keyword] = pick(words.get(keyword, number), number)
    for keyword in _FIRST:
        if keyword in schema:
            words.setdefault(keyword, schema[keyword])


class _Drawer:
    """Draws one result."""

    def __init__(self, maker: ResultMaker, rng: Random, *, small: bool = False, turn: int = 0) -> None:
        self.maker, self.rng, self.small, self.turn = maker, rng, small, turn
        self.left = _MOST_VALUES
        self.around: list[int] = []  # targets of references on the way to the current value

    def chosen(self, merged: _Merged) -> _Merged:
        """The merged schemas with one alternative of each group; null only if there is no other."""
        for _ in range(_DEEPEST):
            if not merged.groups:
                return merged
            first, *others = merged.groups
            rest = [*merged.plain, *({"anyOf": group} for group in others)]
            options = first[:_MOST_ALTERNATIVES]
            turn = self.turn % len(options)
            options = [*options[turn:], *options[:turn]]
            options.sort(key=lambda option: kinds_of(option, self.maker.root) == {"null"})
            problem = UnmakeableError("it has no alternative")
            for option in options:
                try:
                    merged = self.maker.merged(self.maker.alternative(merged, rest, option))
                    break
                except UnmakeableError as error:
                    problem = error
            else:
                raise problem
        raise UnmakeableError("the alternatives have no end")

    def value(self, parts: Sequence[Any], path: Path, depth: int = 0) -> Any:
        """A value for schemas that hold together; raises as `make`."""
        self.left -= 1
        if depth > _DEEPEST or self.left < -_MOST_VALUES:
            raise UnmakeableError("the output schema has no end")
        whole = self.maker.merged(parts)
        merged = self.chosen(whole)
        if merged.values is not None:
            return copy.deepcopy(self._listed_value(merged))
        kind = _kind(merged, path)
        if kind == "null":
            return None
        targets = whole.targets | merged.targets
        self.around += targets
        try:
            if kind == "object":
                return self.object(merged, path, depth)
            if kind == "array":
                return self.list(merged, path, depth)
        finally:
            del self.around[len(self.around) - len(targets) :]
        name = path[-1] if path else "result"
        return self.maker.batch((*path, ""), {name: (merged, kind)}).draw(self.rng)[name]

    def _listed_value(self, merged: _Merged) -> Any:
        values = merged.values or []
        fits = [one for one in values if merged.types is None or _is_of(one, merged.types)]
        if not fits:
            raise UnmakeableError("a place may have no value")
        return self.rng.choice([one for one in fits if one is not None] or fits)

    def object(self, merged: _Merged, path: Path, depth: int) -> dict[str, Any]:
        """An object: required properties, and optional ones where there is room."""
        keywords, wanted = merged.keywords, dict(merged.required)
        most = keywords.get("maxProperties", len(merged.properties) + len(wanted))
        if not self.small and depth < _DEEPEST_OPTIONAL:
            wanted |= dict.fromkeys(list(merged.properties)[:_MOST_PROPERTIES])
        further = one if isinstance(one := keywords.get("additionalProperties"), Mapping) else _TEXT
        values: dict[str, Any] = {}
        leaves: _Leaves = {}
        for name in dict.fromkeys([*(one for one in merged.properties if one in wanted), *wanted]):
            is_required = name in merged.required
            is_allowed = merged.allowed is None or name in merged.allowed
            if not is_required and (len(values) >= most or self.left < 0 or not is_allowed):
                continue
            parts = merged.properties.get(name, [further])
            try:
                values[name] = self._property(parts, (*path, name), depth, leaves, is_required)
            except UnmakeableError:
                if is_required:
                    raise
        for number in range(max(0, min(int(keywords.get("minProperties", 0)), 20) - len(values))):
            values[f"key_{number + 1}"] = self.value((further,), (*path, "key"), depth + 1)
        if leaves:
            values |= self.maker.batch(path, leaves).draw(self.rng)
        return values

    def _property(
        self, parts: Sequence[Any], path: Path, depth: int, leaves: _Leaves, is_required: bool
    ) -> Any:
        """A property; a scalar is left in `leaves`, to be drawn with those beside it."""
        merged = self.maker.merged(tuple(parts))
        chosen = self.chosen(merged)
        if not is_required and not (merged.targets | chosen.targets).isdisjoint(self.around):
            raise UnmakeableError("an optional property leads back to what is around it")
        if chosen.values is None and (kind := _kind(chosen, path)) in _SCALARS:
            self.left -= 1
            leaves[path[-1]] = chosen, kind
            return None
        return self.value(tuple(parts), path, depth + 1)

    def list(self, merged: _Merged, path: Path, depth: int) -> list[Any]:
        """A list of 2 or 3 items, fewer deep inside."""
        keywords = merged.keywords
        least, most = int(keywords.get("minItems", 0)), keywords.get("maxItems", 3)
        if least > _MOST_LISTED:
            raise UnmakeableError(f"a list needs {least} items")
        wish = 0 if self.small or self.left < 0 else 1 if depth > 3 else self.rng.choice((2, 3))
        prefix = one[:_MOST_LISTED] if isinstance(one := keywords.get("prefixItems"), list) else []
        if False in merged.items:
            most = min(most, len(prefix))
        wish = max(wish, len(prefix)) if prefix else wish
        items = () if False in merged.items else tuple(merged.items)
        if items and least == 0 and not self.maker.merged(items).targets.isdisjoint(self.around):
            return []
        made: list[Any] = []
        for number in range(max(least, min(wish, int(most)))):
            parts = (prefix[number],) if number < len(prefix) else items
            one = self.item(parts, path, depth + 1)
            for _ in range(_UNIQUE_DRAWS if keywords.get("uniqueItems") is True else 0):
                if one not in made:
                    break
                one = self.item(parts, path, depth + 1)
            made.append(one)
        return made

    def item(self, parts: tuple[Any, ...], path: Path, depth: int = 1) -> Any:
        """An item; an object without names where anything may be one."""
        is_free = all(one is True or one == {} for one in parts)
        return {} if is_free else self.value(parts, path, depth)


def _kind(merged: _Merged, path: Path) -> str:
    """The JSON type that is drawn."""
    named = [one for one in merged.types or () if one != "null"]
    if named:
        return named[0]
    if merged.types:
        return "null"
    if merged.properties or merged.required or "minProperties" in merged.keywords:
        return "object"
    if merged.items or {"prefixItems", "minItems"} & merged.keywords.keys():
        return "array"
    if {"minimum", "maximum", "multipleOf"} & merged.keywords.keys():
        return "number"
    is_text = merged.patterns or {"format", "minLength", "maxLength"} & merged.keywords.keys()
    # Anything: the place of the resource if the name says nothing else, as in {"result": {}}.
    return "string" if is_text or (path and thing_of(path[-1])) else "object"


def _leaf(merged: _Merged, kind: str) -> Schema:
    """The schema of a scalar, without references and alternatives."""
    patterns = [{"pattern": one} for one in merged.patterns]
    return {**merged.keywords, "type": kind, **({"allOf": patterns} if patterns else {})}


_JSON_TYPES = {
    bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object",
    type(None): "null",
}  # fmt: skip


def _is_of(value: Any, types: Sequence[str]) -> bool:
    kind = _JSON_TYPES[type(value)]
    return kind in types or (kind == "integer" and "number" in types)


class _Batch:
    """The scalars of one object: plausible where `draw_arguments` can draw them, else plain ones."""

    def __init__(self, tool: Tool, path: Path, leaves: Mapping[str, Schema]) -> None:
        parents = [name for name in path if name]
        self._parent = parents[-1] if parents and path[-1] and thing_of(parents[-1]) else ""
        self._tool, self._leaves = tool, dict(leaves)
        self._tools: dict[Path, Tool] = {}
        # Decided with fixed numbers: what later draws give must not depend on the draws before them.
        self._plausible = [name for name in leaves if self._drawn((name,), Random(0)) is not None]
        # Another name, and no description, for what `draw_arguments` takes for a secret or a mark of a page.
        self._plain = {
            name: _Batch(Tool("make"), (), {"value": {**leaf, "description": ""}})
            for name, leaf in leaves.items()
            if name not in self._plausible and name != "value" and leaf.keys() - _UNBOUND
        }

    def draw(self, rng: Random) -> dict[str, Any]:
        """A value for each."""
        found: dict[str, Any] = {}
        for start in range(0, len(self._plausible), _BATCH):
            some = tuple(self._plausible[start : start + _BATCH])
            # One by one if they cannot be drawn together.
            found |= self._drawn(some, rng) or {
                name: value for one in some for name, value in (self._drawn((one,), rng) or {}).items()
            }
        found |= {name: plain.draw(rng)["value"] for name, plain in self._plain.items()}
        for name, leaf in self._leaves.items():
            if name not in found:
                text = plain_text(name, rng).ljust(min(int(leaf.get("minLength", 0)), _LONGEST), "0")
                found[name] = text[: int(leaf.get("maxLength", _LONGEST))]
        return {name: found[name] for name in self._leaves}

    def _drawn(self, names: Path, rng: Random) -> Mapping[str, Any] | None:
        """Values of several scalars that agree; None if they cannot be drawn."""
        if names not in self._tools:
            properties = {name: self._leaves[name] for name in names}
            schema: Schema = {"type": "object", "properties": properties, "required": list(names)}
            if self._parent:
                schema = {"type": "object", "properties": {self._parent: schema}, "required": [self._parent]}
            source = {key: one for key, one in self._tool.source.items() if key in ("name", "server")}
            about = self._tool.description[:160]
            self._tools[names] = Tool(self._tool.id, about, input_schema=schema, source=source)
        try:
            drawn = draw_arguments(self._tools[names], rng).arguments
        except UnfillableError:
            return None
        return dict(drawn[self._parent] if self._parent else drawn)


_UNBOUND = frozenset({"type", "description", "default"})  # of a text that may be any


def plain_text(name: str, rng: Random) -> str:
    """A text that only identifies something: "cus_3f2a1c9b07"."""
    prefix = "".join(word[:3] for word in words_of(name)[:1] if word.isascii())
    return (f"{prefix}_" if prefix else "") + "".join(rng.choice("0123456789abcdef") for _ in range(10))


def identity_in(value: Any, thing: Words, attribute: str = "id") -> tuple[str, Any] | None:
    """The field of an object that identifies it: its name and value; None without one.

    >>> identity_in({"name": "Ann", "customer_id": 7}, ("customer",))
    ('customer_id', 7)
    """
    if not isinstance(value, Mapping):
        return None
    best: tuple[int, str, Any] | None = None
    for name, one in value.items():
        if isinstance(one, bool) or not isinstance(one, str | int):
            continue
        meaning = meaning_of(str(name))
        if meaning.thing and not same_thing(meaning.thing, thing):
            continue
        is_id = meaning.attribute in IDENTITIES
        wanted = attribute in IDENTITIES if is_id else meaning.attribute == attribute
        rank = 3 if wanted else 2 if is_id else 1 if meaning.attribute in IDENTIFYING else 0
        if rank and (best is None or rank > best[0]):
            best = rank, str(name), one
    return None if best is None else (best[1], best[2])


@dataclass
class Resource:
    """An object of the world.

    Attributes:
        name: Its place in the state, without the key.
        key: What identifies it, as the tool gave it; "" for the only one of its kind.
        attribute: The attribute that the key is.
        scope: Values within which the key is unique.
        fields: All that is known of it.
        written: What calls of the plan have set.
    """

    name: str
    key: Any
    attribute: str
    thing: Words
    scope: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)
    is_new: bool = False
    is_deleted: bool = False

    @property
    def own(self) -> dict[str, Any]:
        """Its fields with the key under the names that results use."""
        prefixed = f"{'_'.join(self.thing)}_{self.attribute}"
        return self.fields | ({} if self.key == "" else {self.attribute: self.key, prefixed: self.key})

    @property
    def label(self) -> str:
        """The resource in words: "customer 7"."""
        return " ".join(filter(None, (" ".join(self.thing), shown(self.key))))

    def described(self) -> str:
        """The object in one line: "customer 7: name Ann Lee"."""
        some = [f"{name} {shown(one)}" for name, one in self.fields.items() if str(one) != str(self.key)]
        return f"{self.label}: {', '.join(some[:_SHOWN_FIELDS])}" if some else self.label

    def write(self, values: Mapping[str, Any]) -> None:
        self.fields |= values
        self.written |= values


class ResourceStore:
    """The objects of one environment."""

    def __init__(self) -> None:
        self._resources: dict[str, list[Resource]] = {}

    def all(self, resource: str) -> list[Resource]:
        """The objects of a kind, in the order in which they became known."""
        return self._resources.setdefault(resource, [])

    def find(self, resource: str, attribute: str, value: Any, scope: Mapping[str, Any]) -> Resource | None:
        """The object with an attribute; a deleted one only if no other has it."""
        fits = [
            one
            for one in self.all(resource)
            if str(value) == str(one.key if one.attribute == attribute else one.fields.get(attribute))
            and all(one.scope.get(name, inner) == inner for name, inner in scope.items())
        ]
        return min(fits, key=lambda one: one.is_deleted, default=None)

    def state(self) -> dict[str, Any]:
        """What differs from the start, by place."""
        places: dict[str, Any] = {}
        for name in sorted(self._resources):
            for one in self._resources[name]:
                own = {} if one.key == "" else {one.attribute: one.key}
                place = "/".join(map(str, (name, *one.scope.values(), *own.values())))
                if one.is_deleted and not one.is_new:
                    places.setdefault(place, {"deleted": True})
                elif not one.is_deleted and (one.is_new or one.written):
                    places[place] = own | copy.deepcopy(one.written)
        return places


def shown(value: Any) -> str:
    """A value in a text, cut to a length."""
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), LONGEST_SHOWN)
