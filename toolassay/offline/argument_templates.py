"""Templates of the arguments of imported tools: the smallest valid object, with a place for each value.

The writer, the planner and the random baseline fill the places with texts; `typed` turns these into JSON
values. A tool without `input_schema` has a place for each parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolassay.argument_schemas import ArgumentValidator, Property, kinds_of, properties_at, resolve
from toolassay.output_paths import parse_reference
from toolassay.tools import Parameter, Tool

_DEEPEST = 6  # names in a path; below, only what is required is filled
_MOST_LEVELS = 32  # objects and lists within each other
_MOST_VALUES = 1_000  # of one tool; objects and lists after these are empty
_MOST_ITEMS = 3
_LONGEST_PATH = 40  # characters of a path in a message
_SIMPLE = frozenset({"string", "integer", "number", "boolean"})


@dataclass(frozen=True, eq=False)
class ValuePlace:
    """A place for one value that is neither a list nor an object.

    Attributes:
        parameter: The place as a parameter: its path (`member.email`), type and schema.
        kind: "string", "integer", "number" or "boolean".
        choices: Allowed values; empty if any is.
    """

    parameter: Parameter
    kind: str = "string"
    choices: tuple[Any, ...] = ()

    def typed(self, text: str) -> Any:
        """The JSON value that a text states; the text itself if it states no value of the place's type.

        >>> place = ValuePlace(Parameter("n"), "integer")
        >>> place.typed("1,200"), place.typed("x")
        (1200, 'x')
        """
        if self.choices:
            return next((one for one in self.choices if as_text(one).casefold() == text.casefold()), text)
        if self.kind == "boolean":
            return {"true": True, "false": False}.get(text.casefold(), text)
        number = _NUMBER.fullmatch(text.replace(",", "").strip()) if self.kind != "string" else None
        if number is None or (self.kind == "integer" and "." in text):
            return text
        return float(number[0]) if "." in number[0] else int(number[0])

    def accepts(self, text: str) -> bool:
        """Whether the value of a text is valid here, as far as its length and pattern go."""
        return self.parameter.declaration.keys().isdisjoint(_LIMITS) or not _validator(self).problems(
            {"value": self.typed(text)}
        )


_LIMITS = frozenset({"minLength", "maxLength", "pattern", "multipleOf"})
# "-7.5" and "12", not "12 metres".
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


@lru_cache(maxsize=1024)
def _validator(place: ValuePlace) -> ArgumentValidator:
    known = {key: one for key, one in place.parameter.declaration.items() if key in _LIMITS}
    return ArgumentValidator({"properties": {"value": known}})


def as_text(value: Any) -> str:
    """A scalar as text: `true`, `4`, `red`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


NO_PATHS: frozenset[tuple[str, ...]] = frozenset()


@lru_cache(maxsize=4096)
def template_of(
    tool: Tool, optional: int, include: frozenset[tuple[str, ...]] = NO_PATHS
) -> Mapping[str, Any]:
    """The arguments object of a tool with a `ValuePlace` for each value.

    It has the required arguments and the first optional ones that are scalars or lists of scalars. Optional
    objects are left out. What is nested too deeply is empty, and then the arguments may be invalid.

    Args:
        tool: The tool.
        optional: Maximum number of optional arguments.
        include: Paths of further arguments that it has, `("filter", "movie_id")`, each with all its prefixes.
    """
    if tool.input_schema is None:
        return {one.name: ValuePlace(one) for one in tool.parameters}
    return _Templates(tool.input_schema, include).object(tool.input_schema, (), optional)


@lru_cache(maxsize=4096)
def places_of(
    tool: Tool, optional: int, include: frozenset[tuple[str, ...]] = NO_PATHS
) -> tuple[ValuePlace, ...]:
    """The places of `template_of`, in order."""
    return tuple(_places(template_of(tool, optional, include)))


def _places(template: Any) -> Iterator[ValuePlace]:
    if isinstance(template, ValuePlace):
        yield template
    inner = template.values() if isinstance(template, Mapping) else template if type(template) is list else ()
    for one in inner:
        yield from _places(one)


ABSENT = object()
"""What a place without a value is filled with."""


def filled_arguments(
    tool: Tool,
    optional: int,
    value: Callable[[ValuePlace], Any],
    include: frozenset[tuple[str, ...]] = NO_PATHS,
) -> list[dict[str, Any]]:
    """The arguments of a call, each `{"name": …, "value": …}`.

    Args:
        tool: The tool.
        optional: As for `template_of`.
        value: Gives the value of each place, in order, or `ABSENT`. Lists and objects that have only absent
            values are absent.
        include: As for `template_of`.
    """
    found = ((name, _filled(one, value)) for name, one in template_of(tool, optional, include).items())
    return [{"name": name, "value": one} for name, one in found if one is not ABSENT]


def _filled(template: Any, value: Callable[[ValuePlace], Any]) -> Any:
    if isinstance(template, ValuePlace):
        return value(template)
    if isinstance(template, Mapping):
        named = {name: _filled(one, value) for name, one in template.items()}
        present = {name: one for name, one in named.items() if one is not ABSENT}
        return present if present or not named else ABSENT
    if isinstance(template, list):
        items = [item for one in template if (item := _filled(one, value)) is not ABSENT]
        return items if items or not template else ABSENT
    return template


@lru_cache(maxsize=4096)
def _validator_of(tool: Tool) -> ArgumentValidator:
    return ArgumentValidator(tool.input_schema or {})


def problem_of(tool: Tool, arguments: list[dict[str, Any]]) -> str:
    """What is wrong with the arguments of an imported tool, as `filled_arguments` gives them; else empty."""
    if tool.input_schema is None:
        return ""
    given = {one["name"]: one["value"] for one in arguments}
    found = _validator_of(tool).problems(given, lambda text: parse_reference(text) is not None)
    if not found:
        return ""
    path = found[0].path
    place = path if len(path) <= _LONGEST_PATH else f"…{path[-_LONGEST_PATH:]}"
    return f"{place} {found[0].reason}".strip()


class _Templates:
    """Walks one `input_schema`."""

    def __init__(self, root: Mapping[str, Any], include: frozenset[tuple[str, ...]]) -> None:
        self.root = root
        self.include = include
        self.levels = 0
        self.left = _MOST_VALUES

    def object(self, schema: Any, path: tuple[str, ...], optional: int) -> dict[str, Any]:
        properties = properties_at(self.chosen(schema), self.root)
        needed = [one for one in properties if one.required]
        included = [one for one in properties if (*path, one.name) in self.include]
        names = {one.name for one in [*needed, *included]}
        further = [one for one in properties if one.name not in names and self.is_simple(one.schema)]
        kept = names | {one.name for one in further[:optional]}
        return {one.name: self.value(one, path) for one in properties if one.name in kept}

    def value(self, one: Property, path: tuple[str, ...]) -> Any:
        return self.of(one.schema, (*path, one.name))

    def of(self, schema: Any, path: tuple[str, ...]) -> Any:
        self.levels += 1
        self.left -= 1
        value = self.of_chosen(self.chosen(schema), path)
        self.levels -= 1
        return value

    def of_chosen(self, schema: Mapping[str, Any], path: tuple[str, ...]) -> Any:
        if "const" in schema:
            return schema["const"]
        values = schema.get("enum")
        if isinstance(values, list) and values:
            choices = tuple(value for value in values if isinstance(value, str | int | float) and value != "")
            # A value that no sentence can state is not asked for.
            usable = tuple(value for value in choices if not re.search(r"[|{}\n]", as_text(value)))
            return self.place(schema, path, usable) if usable else values[0]
        kinds = kinds_of(schema, self.root) or {"string"}
        if kinds == {"null"}:
            return None
        if kinds & _SIMPLE:
            return self.place(schema, path, ())
        is_list, is_deep = "array" in kinds, len(path) > _DEEPEST
        if self.levels > _MOST_LEVELS or self.left <= 0:
            return [] if is_list else {}
        if is_list:
            given = schema.get("prefixItems")
            least = schema.get("minItems")
            if is_deep and not least:
                return []
            number = min(least, _MOST_ITEMS) if isinstance(least, int) and least > 0 else 1
            items = given[:_MOST_ITEMS] if isinstance(given, list) else [schema.get("items")] * number
            names = [path] if len(items) == 1 else [(*path, str(place)) for place in range(1, len(items) + 1)]
            return [self.of(item, name) for item, name in zip(items, names, strict=True)]
        found = self.object(schema, path, 0)
        return found if found or is_deep else self.object(schema, path, 1)

    def place(self, schema: Mapping[str, Any], path: tuple[str, ...], choices: tuple[Any, ...]) -> ValuePlace:
        kinds = kinds_of(schema, self.root) or {"string"}
        kind = next((kind for kind in ("integer", "number", "string", "boolean") if kind in kinds), "string")
        text = schema.get("description")
        form = schema.get("format") if kind == "string" else None
        parameter = Parameter(
            ".".join(path),
            form if isinstance(form, str) else kind,
            text if isinstance(text, str) else "",
            _bounded(schema) if kind in ("integer", "number") else schema,
        )
        return ValuePlace(parameter, kind, choices)

    def is_simple(self, schema: Any) -> bool:
        schema = self.chosen(schema)
        kinds = kinds_of(schema, self.root)
        if "array" in kinds:
            kinds = kinds_of(self.chosen(schema.get("items")), self.root)
        # A pattern is often one that no draw meets: such an optional argument is left out.
        return bool(kinds & _SIMPLE) and schema.keys().isdisjoint(("const", "pattern"))

    def chosen(self, schema: Any, left: int = _DEEPEST) -> Mapping[str, Any]:
        """The schema with the first alternative that is not null in place of all, and `allOf` merged."""
        schema = resolve(schema, self.root)
        parts = list(schema.get("allOf") or ())
        for keyword in ("anyOf", "oneOf"):
            given = [part for part in schema.get(keyword) or () if kinds_of(part, self.root) != {"null"}]
            parts += given[:1]
        merged = {key: one for key, one in schema.items() if key not in ("allOf", "anyOf", "oneOf")}
        for part in parts if left else ():
            inner = self.chosen(part, left - 1)
            both = {**inner, **merged}
            if isinstance(inner.get("properties"), Mapping) and isinstance(merged.get("properties"), Mapping):
                both["properties"] = {**inner["properties"], **merged["properties"]}
            if isinstance(inner.get("required"), list) and isinstance(merged.get("required"), list):
                both["required"] = [*merged["required"], *inner["required"]]
            merged = both
        return merged


def _bounded(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a number with both bounds, if it has one: values are drawn near a single bound."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(exclusive := schema.get("exclusiveMinimum"), int | float):
        low = exclusive + 1
    if isinstance(exclusive := schema.get("exclusiveMaximum"), int | float):
        high = exclusive - 1
    if isinstance(low, int | float):
        return {**schema, "minimum": low, "maximum": high if isinstance(high, int | float) else low + 20}
    return (
        {**schema, "minimum": min(1, high - 20), "maximum": high} if isinstance(high, int | float) else schema
    )
