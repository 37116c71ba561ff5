"""The places for values in the arguments of a tool.

They are those of the smallest valid object, or all that the schema has. The work order, the planner, the
random baseline and the collector of live values fill them; `typed` turns texts into JSON values. A tool
without `input_schema` has a place for each parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolassay.tools.argument_schemas import (
    ArgumentValidator,
    declared_at,
    kinds_of,
    properties_at,
    resolve,
)
from toolassay.tools.library import Parameter, Tool

_DEEPEST = 6  # names in a path; below, only what is required is filled
_MOST_LEVELS = 32  # objects and lists within each other
_MOST_VALUES = 1_000  # of one tool; objects and lists after these are empty
_MOST_ITEMS = 3
SIMPLE = ("integer", "number", "string", "boolean")
"""The types of values that are neither lists nor objects, in the order in which one of several is chosen."""
Path = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ValuePlace:
    """A place for one value that is neither a list nor an object.

    Attributes:
        parameter: The place as a parameter: its path (`member.email`), type and schema.
        kind: "string", "integer", "number" or "boolean".
        choices: Allowed values; empty if any is.
        path: The names on the way to it, without the numbers of items.
    """

    parameter: Parameter
    kind: str = "string"
    choices: tuple[Any, ...] = ()
    path: Path = ()

    def typed(self, text: str) -> Any:
        """The JSON value that a text states; the text itself if it states no value of the place's type.

        >>> place = ValuePlace(Parameter("n"), "integer")
        >>> place.typed("1,200"), place.typed("x")
        (1200, 'x')
        """
        if self.choices:
            return next(
                (choice for choice in self.choices if as_text(choice).casefold() == text.casefold()), text
            )
        if self.kind == "boolean":
            return {"true": True, "false": False}.get(text.casefold(), text)
        number = _NUMBER.fullmatch(text.replace(",", "").strip()) if self.kind != "string" else None
        if number is None or (self.kind == "integer" and "." in text):
            return text
        return float(number[0]) if "." in number[0] else int(number[0])

    def allows(self, value: Any) -> bool:
        """Whether a JSON value is valid here."""
        return not _validator(self).problems({"value": value})


# Keywords that refer to nothing outside of the schema of a value.
_LIMITS = (
    *("type", "enum", "format", "pattern", "minLength", "maxLength", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
)
# "-7.5" and "12", not "12 metres".
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


@lru_cache(maxsize=8192)
def _validator(slot: ValuePlace) -> ArgumentValidator:
    declared = slot.parameter.declaration
    limits = {key: declared[key] for key in _LIMITS if key in declared}
    return ArgumentValidator({"properties": {"value": limits}}, is_valid=True)


def as_text(value: Any) -> str:
    """A scalar as text: `true`, `4`, `red`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


NO_PATHS: frozenset[Path] = frozenset()


@lru_cache(maxsize=4096)
def template_of(tool: Tool, optional: int, include: frozenset[Path] = NO_PATHS) -> Mapping[str, Any]:
    """The arguments object of a tool with a `ValuePlace` for each value.

    It has the required arguments and the first optional ones that are scalars or lists of scalars. Optional
    objects are left out. What is nested too deeply is empty, and then the arguments may be invalid.

    Args:
        tool: The tool.
        optional: Maximum number of optional arguments.
        include: Paths of further arguments that it has, `("filter", "movie_id")`, each with all its prefixes.
    """
    if tool.input_schema is None:
        return {parameter.name: place_of_parameter(parameter) for parameter in tool.parameters}
    return _Templates(tool.input_schema, include).object(tool.input_schema, (), optional)


def place_of_parameter(parameter: Parameter) -> ValuePlace:
    """The place of a parameter of a tool without `input_schema`, which takes a text."""
    return ValuePlace(parameter, path=(parameter.name,))


@lru_cache(maxsize=4096)
def value_places(tool: Tool, optional: int, include: frozenset[Path] = NO_PATHS) -> tuple[ValuePlace, ...]:
    """The places of `template_of`, in order."""
    return tuple(_slots_in(template_of(tool, optional, include)))


def _slots_in(template: Any) -> Iterator[ValuePlace]:
    if isinstance(template, ValuePlace):
        yield template
    elif isinstance(template, Mapping):
        for part in template.values():
            yield from _slots_in(part)
    elif type(template) is list:
        for part in template:
            yield from _slots_in(part)


ABSENT = object()
"""What a place without a value is filled with."""


def filled_arguments(tool: Tool, optional: int, value: Callable[[ValuePlace], Any]) -> list[dict[str, Any]]:
    """The arguments of a call, each `{"name": …, "value": …}`.

    Args:
        tool: The tool.
        optional: As for `template_of`.
        value: Gives the value of each place, in order, or `ABSENT`. Lists and objects that have only absent
            values are absent.
    """
    arguments = filled(template_of(tool, optional, NO_PATHS), lambda slot, item: value(slot))
    return (
        [{"name": name, "value": argument} for name, argument in arguments.items()]
        if arguments is not ABSENT
        else []
    )


def filled(
    template: Any,
    value: Callable[[ValuePlace, int], Any],
    size: Callable[[Path], int] = lambda path: 0,
    path: Path = (),
    item: int = 0,
) -> Any:
    """A template with the value of each place; see `filled_arguments`.

    Args:
        template: The template, or a part of it.
        value: Gives the value of a place in an item of the innermost list, by its number.
        size: The number of items of the list at a path; 0 for that of the template.
        path: That of the part.
        item: Number of the item of the innermost list that the part is in.
    """
    if isinstance(template, ValuePlace):
        return value(template, item)
    if isinstance(template, Mapping):
        named = {name: filled(inner, value, size, (*path, name), item) for name, inner in template.items()}
        present = {name: inner for name, inner in named.items() if inner is not ABSENT}
        return present if present or not named else ABSENT
    if not isinstance(template, list) or not template:
        return template
    numbers = range(size(path) or len(template))
    parts = [
        filled(template[min(number, len(template) - 1)], value, size, path, number) for number in numbers
    ]
    return [part for part in parts if part is not ABSENT] or ABSENT


class SchemaWalk:
    """Walks a JSON Schema whose references, merged parts and alternatives are resolved on the way.

    Args:
        root: The whole schema.
        pick: Chooses one of several alternatives; the first one by default.
    """

    def __init__(
        self, root: Mapping[str, Any], pick: Callable[[Sequence[Any]], Any] = lambda parts: parts[0]
    ) -> None:
        self.root = root
        self.pick = pick

    def chosen(self, schema: Any, left: int = _DEEPEST) -> Mapping[str, Any]:
        """The schema with one alternative in place of all, mostly not null; `allOf` and `if` merged."""
        schema = resolve(schema, self.root)
        parts = list(schema.get("allOf") or ())
        groups = [schema.get("anyOf") or (), schema.get("oneOf") or ()]
        if "if" in schema:
            held = {"allOf": [schema["if"], schema.get("then", True)]}
            groups.append([schema.get("else", True), held])
        for group in groups:
            given = [part for part in group if kinds_of(part, self.root) != {"null"}] or group
            parts += [self.pick(given)] if given else []
        merged = {key: rule for key, rule in schema.items() if key not in _COMBINED}
        for part in parts if left else ():
            merged = _both(merged, self.chosen(part, left - 1))
        return merged

    def place(self, schema: Mapping[str, Any], path: Path, name: str = "") -> ValuePlace:
        """The place for a scalar that a chosen schema describes, of the first of its types."""
        kinds = kinds_of(schema, self.root)
        kind = next((kind for kind in SIMPLE if kind in kinds), "string")
        text = schema.get("description")
        form = schema.get("format") if kind == "string" else None
        values = schema.get("enum")
        choices = [value for value in values if is_statable(value)] if isinstance(values, list) else ()
        parameter = Parameter(
            name or ".".join(path),
            form if isinstance(form, str) else kind,
            text if isinstance(text, str) else "",
            schema,
        )
        return ValuePlace(parameter, kind, tuple(choices), path)


_COMBINED = frozenset({"allOf", "anyOf", "oneOf", "if", "then", "else"})


def is_statable(value: Any) -> bool:
    """Whether a sentence can state a value: a scalar, not empty, without a line break, "|" or brace."""
    return isinstance(value, str | int | float) and not re.search(r"^$|[|{}\n]", as_text(value))


def _both(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two schemas that hold together, as far as properties and required names go; else the first decides."""
    both = {**second, **first}
    properties = first.get("properties")
    further = second.get("properties")
    if isinstance(properties, Mapping) and isinstance(further, Mapping):
        common = {
            name: {"allOf": [properties[name], further[name]]} for name in properties if name in further
        }
        both["properties"] = {**further, **properties, **common}
    if isinstance(first.get("required"), list) and isinstance(second.get("required"), list):
        both["required"] = [*first["required"], *second["required"]]
    return both


class _Templates(SchemaWalk):
    """Makes the template of one `input_schema`."""

    def __init__(self, root: Mapping[str, Any], include: frozenset[Path]) -> None:
        wanted = {name for path in include for name in path}
        super().__init__(
            root, lambda parts: max(parts, key=lambda part: len(wanted & declared_at(part, root).keys()))
        )
        self.include = include
        self.levels = 0
        self.left = _MOST_VALUES

    def object(self, schema: Any, path: Path, optional: int) -> dict[str, Any]:
        properties = properties_at(self.chosen(schema), self.root)
        plain = tuple(part for part in path if not part.isdigit())
        needed = [property_ for property_ in properties if property_.required]
        included = [property_ for property_ in properties if (*plain, property_.name) in self.include]
        names = {property_.name for property_ in [*needed, *included]}
        further = [
            property_
            for property_ in properties
            if property_.name not in names and self.is_simple(property_.schema)
        ]
        kept = names | {property_.name for property_ in further[:optional]}
        return {
            property_.name: self.of(property_.schema, (*path, property_.name))
            for property_ in properties
            if property_.name in kept
        }

    def of(self, schema: Any, path: Path) -> Any:
        self.levels += 1
        self.left -= 1
        value = self.of_chosen(self.chosen(schema), path)
        self.levels -= 1
        return value

    def of_chosen(self, schema: Mapping[str, Any], path: Path) -> Any:
        if "const" in schema:
            return schema["const"]
        values = schema.get("enum")
        if isinstance(values, list) and values:
            return self.place(schema, path) if any(map(is_statable, values)) else values[0]
        kinds = kinds_of(schema, self.root) or {"string"}
        if kinds == {"null"}:
            return None
        if not kinds.isdisjoint(SIMPLE):
            return self.place(schema, path)
        is_list = "array" in kinds
        is_deep = len(path) > _DEEPEST
        if self.levels > _MOST_LEVELS or self.left <= 0:
            return [] if is_list else {}
        if is_list:
            given = schema.get("prefixItems")
            least = schema.get("minItems")
            if is_deep and not least:
                return []
            number = min(least, _MOST_ITEMS) if isinstance(least, int) and least > 0 else 1
            items = given[:_MOST_ITEMS] if isinstance(given, list) else [schema.get("items")] * number
            names = (
                [path]
                if len(items) == 1
                else [(*path, str(position)) for position in range(1, len(items) + 1)]
            )
            return [self.of(item, name) for item, name in zip(items, names, strict=True)]
        members = self.object(schema, path, 0)
        return members if members or is_deep else self.object(schema, path, 1)

    def place(self, schema: Mapping[str, Any], path: Path, name: str = "") -> ValuePlace:
        plain = tuple(part for part in path if not part.isdigit())
        return super().place(schema, plain, name or ".".join(path))

    def is_simple(self, schema: Any) -> bool:
        schema = self.chosen(schema)
        kinds = kinds_of(schema, self.root)
        if "array" in kinds:
            kinds = kinds_of(self.chosen(schema.get("items")), self.root)
        # A pattern is often one that no draw meets: such an optional argument is left out.
        return not kinds.isdisjoint(SIMPLE) and schema.keys().isdisjoint(("const", "pattern"))
