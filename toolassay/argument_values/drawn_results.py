"""Values that an output schema allows, drawn at random; a seed fixes them.

Schemas come from outside: every walk is bounded, and `jsonschema` decides whether a value is valid.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from random import Random
from typing import Any

from toolassay.argument_values.drawn_values import drawn_value
from toolassay.argument_values.places import SchemaWalk
from toolassay.tools.argument_schemas import ArgumentValidator, Schema, kinds_of, properties_at
from toolassay.tools.library import Tool

_MOST_VALUES = 600  # of one result
_DEEPEST = 24  # objects, lists and alternatives within each other
_DEEPEST_OPTIONAL = 6  # levels in which optional properties are filled
_DRAWS = 8  # of a whole result, until one is valid
_UNIQUE_DRAWS = 12  # of an item that differs from the others
_LONGEST = 4_000  # characters that a schema may demand of a text
_REPAIRS = 4  # rounds in which invalid properties are dropped

_ITEM = "item"  # the name of an item of a list

Path = tuple[str, ...]
Values = dict[str, Any]


class UnmakeableError(Exception):
    """No valid result was found; the text says why."""


class ResultMaker:
    """Makes results of one tool that are valid against its output schema.

    Args:
        tool: The tool.

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
                is_small = small or attempt >= _DRAWS // 2
                draw = _Draw(self._schema, rng, attempt, small=is_small)
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


class _Draw:
    """Draws one result; its methods raise UnmakeableError if there is none."""

    def __init__(
        self,
        root: Schema,
        rng: Random,
        attempt: int,
        *,
        small: bool,
    ) -> None:
        self.walk = SchemaWalk(root, self._alternative)
        self.rng = rng
        self.attempt = attempt
        self.small = small
        self.left = _MOST_VALUES
        self.taken: set[str] = set()

    def _alternative(self, parts: Sequence[Any]) -> Any:
        """At first the largest alternative, later any."""
        return self.rng.choice(parts) if self.attempt else max(parts, key=self._rank)

    def _rank(self, schema: Any) -> int:
        kinds = kinds_of(schema, self.walk.root)
        if "object" in kinds:
            return 3
        if "array" in kinds:
            return 2
        return 0

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
        schema = {**schema, "description": ""}  # it may quote what a failed call says
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


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    """The part of a JSON value at a path; None if there is none."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value
