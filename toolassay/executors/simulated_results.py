"""Results of simulated tools, drawn from output schemas.

Schemas come from outside: every walk is bounded, and `jsonschema` decides whether a result is valid.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from toolassay.argument_schemas import ArgumentValidator, kinds_of, properties_at
from toolassay.argument_values.drawn_values import drawn_value
from toolassay.argument_values.places import SchemaWalk
from toolassay.executors.simulated_resources import is_key
from toolassay.graph.derive.fields import Words, is_transparent, same_thing, thing_of, words_of
from toolassay.tools import Tool

_MOST_VALUES = 600  # of one result
_DEEPEST = 24  # objects, lists and alternatives within each other
_DEEPEST_OPTIONAL = 6  # levels in which optional properties are filled
_DRAWS = 8  # of a whole result, until one is valid
_UNIQUE_DRAWS = 12  # of an item that differs from the others
_LONGEST = 4_000  # characters that a schema may demand of a text
_REPAIRS = 4  # rounds in which invalid properties are dropped

_ITEM = "item"  # the name of an item of a list

Path = tuple[str, ...]


class UnmakeableError(Exception):
    """No valid result was found; the text says why."""


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
        self._validator = ArgumentValidator(tool.output_schema)
        self._schema = tool.output_schema

    def make(self, rng: Random, *, small: bool = False) -> Any:
        """A valid result, a `small` one with only what the schema requires; raises UnmakeableError."""
        reason = ""
        for attempt in range(_DRAWS):
            try:
                draw = _Draw(self._schema, rng, attempt, small=small or attempt >= _DRAWS // 2)
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

    def is_valid(self, value: Any) -> bool:
        """Whether a value is a valid result."""
        return not self._validator.problems(value)

    def fill(self, value: Any, *wanted: tuple[Sequence[str | int], Mapping[str, Any]]) -> None:
        """Set fields of the objects at paths in a valid result, where names match and it stays valid."""
        changes: list[tuple[Any, Any, Any]] = []
        for path, fields in wanted:
            target = value_at(value, path)
            changes += [(target, name, one) for name, one in matching_fields(target, fields).items()]
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
        if not before or self.is_valid(value):
            return True
        for container, key, is_new, part in reversed(before):
            if is_new:
                del container[key]
            else:
                container[key] = part
        return False


class _Draw:
    """Draws one result; its methods raise UnmakeableError if there is none."""

    def __init__(self, root: Mapping[str, Any], rng: Random, attempt: int, *, small: bool) -> None:
        self.walk = SchemaWalk(root, self._alternative)
        self.rng, self.attempt, self.small = rng, attempt, small
        self.left = _MOST_VALUES
        self.taken: set[str] = set()

    def _alternative(self, parts: Sequence[Any]) -> Any:
        """The largest alternative at first, later any."""
        return self.rng.choice(parts) if self.attempt else max(parts, key=self._rank)

    def _rank(self, schema: Any) -> int:
        kinds = kinds_of(schema, self.walk.root)
        return 2 if "object" in kinds else 1 if "array" in kinds else 0

    def value(self, schema: Any, path: Path) -> Any:
        """A value of a schema; `path` has the names on the way to it."""
        self.left -= 1
        if len(path) > _DEEPEST or self.left < -_MOST_VALUES:
            raise UnmakeableError("the output schema has no end")
        if schema is False:
            raise UnmakeableError(f"'{'.'.join(path)}' may have no value")
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
        place = self.walk.place(schema, path)
        value = drawn_value(place, self.rng, self.taken)
        if value is None and isinstance(least := schema.get("minLength"), int) and least <= _LONGEST:
            value = "x" * least
        if value is None:
            raise UnmakeableError(f"no valid value was found for '{'.'.join(path)}'")
        self.taken.add(str(value))
        return value

    def _list(self, schema: Mapping[str, Any], path: Path) -> list[Any]:
        """A list of 2 or 3 items, fewer deep inside."""
        first, further = schema.get("prefixItems"), schema.get("items", True)
        first = first if isinstance(first, list) else []
        least, most = schema.get("minItems", 0), schema.get("maxItems", _MOST_VALUES)
        wish = 0 if self.small or self.left < 0 else 1 if len(path) > 6 else self.rng.choice((2, 3))
        if further is True or further == {}:
            wish = 0
        made: list[Any] = []
        for number in range(max(least, min(wish, most), len(first) if not self.small else 0)):
            item = first[number] if number < len(first) else further
            if item is False:
                break
            one = self.value(item, (*path, _ITEM))
            for _ in range(_UNIQUE_DRAWS if not isinstance(one, dict | list) else 0):
                one = self.value(item, (*path, _ITEM)) if one in made else one
            made.append(one)
        return made

    def _object(self, schema: Mapping[str, Any], path: Path) -> dict[str, Any]:
        """An object: required properties, and optional ones where there is room."""
        values: dict[str, Any] = {}
        properties = properties_at(schema, self.walk.root)
        required = {one.name for one in properties if one.required}
        missing = [name for name in schema.get("required", ()) if name not in required]
        room = (
            0 if self.small or len(path) >= _DEEPEST_OPTIONAL else schema.get("maxProperties", _MOST_VALUES)
        )
        for one in properties:
            if not one.required and (room <= len(required) + len(values) or self.left < 0):
                continue
            try:
                values[one.name] = self.value(one.schema, (*path, one.name))
            except UnmakeableError:
                if one.required:
                    raise
        return values | {name: self.value({}, (*path, name)) for name in missing}


class Place(NamedTuple):
    """The paths of a resource in a result: of the object, a list of objects, and a free text, if any."""

    object: Path
    listed: Path | None
    text: Path | None


def place_of(value: Any, thing: Words) -> Place:
    """Where a result has a thing.

    >>> place_of({"page": 1, "users": [{"id": 7}]}, ("user",))
    Place(object=(), listed=('users',), text=None)
    """

    def is_list(value: Any) -> bool:
        return isinstance(value, list) and all(isinstance(one, dict) for one in value)

    if not isinstance(value, dict):
        return Place((), () if is_list(value) else None, () if isinstance(value, str) else None)
    objects = [(name,) for name, one in value.items() if isinstance(one, dict)]
    paths = [*((name,) for name in value), *((*path, name) for path in objects for name in value[path[0]])]

    def fit(path: Path) -> float:
        own, is_wrapper = thing_of(path[-1]), is_transparent(path[-1])
        return (3 if own and same_thing(own, thing) else 1 if own and not is_wrapper else 2) - len(path) / 4

    best = max(objects, key=fit, default=())
    is_inside = bool(best) and fit(best) > 1 and identity_in(value, thing) is None
    lists = [path for path in paths if is_list(value_at(value, path))]
    is_single = len(value) == 1 and not thing_of(next(iter(value)))
    text = "message" if isinstance(value.get("message"), str) else next(iter(value)) if is_single else ""
    has_text = isinstance(value.get(text), str)
    return Place(best if is_inside else (), max(lists, key=fit, default=None), (text,) if has_text else None)


def identity_in(value: Any, thing: Words, attribute: str = "id") -> Any:
    """The value of the field that identifies an object; None without one.

    >>> identity_in({"name": "Ann", "customer_id": 7}, ("customer",))
    7
    """
    fields = value.items() if isinstance(value, dict) else ()
    found = (one for name, one in fields if isinstance(one, str | int) and is_key(name, thing, attribute))
    return next(found, None)


def matching_fields(target: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that an object has under the same or a similar name, in its types; all if it is empty.

    >>> matching_fields({"customerId": "1", "n": 1}, {"customer_id": 7, "size": 2})
    {'customerId': '7'}
    """
    if not isinstance(target, dict):
        return {}
    by_words = {words_of(name): one for name, one in reversed([*fields.items()])}
    found = {} if target else dict(fields)
    for name, drawn in target.items():
        if name in fields or words_of(name) in by_words:
            one = fields.get(name, by_words.get(words_of(name)))
            if isinstance(drawn, str) and type(one) in (int, float):
                one = str(one)
            elif type(drawn) is int and isinstance(one, str) and one.isascii() and one[:18].isdigit():
                one = int(one[:18])
            found[name] = one
    return copy.deepcopy(found)


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    """The part of a JSON value at a path; None if there is none."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value
