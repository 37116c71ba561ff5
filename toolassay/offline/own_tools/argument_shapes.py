"""The shape of the arguments of a tool: its schema as a tree with a slot for each scalar.

`allOf` is merged, `anyOf`, `oneOf` and `if` are choices, references are followed, and what is optional stays
apart. The tree is built where a draw needs it, and kept; `jsonschema` has the last word on what was drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolassay.argument_schemas import Schema, pointed_at
from toolassay.offline.own_tools.declared_parameters import declared_schema
from toolassay.offline.own_tools.value_makers import Subject
from toolassay.offline.own_tools.value_names import ORDERING, response_key, text_key, words_of
from toolassay.offline.own_tools.value_sources import Keywords, Slot
from toolassay.tools import Tool

_DEEPEST = 3  # names on the way to a value that a request states
_MOST_PARTS = 300  # schemas that are merged into one
_MOST_CHOICES = 24  # of one `anyOf`
_MOST_ITEMS = 3
_SCALARS = ("string", "integer", "number", "boolean")


class UnfillableError(Exception):
    """No valid arguments were found, or none that a sentence can state; the text says why."""


@dataclass(frozen=True, eq=False, slots=True)
class Fixed:
    """A value that the schema fixes, or an empty object."""

    value: Any


@dataclass(frozen=True, eq=False, slots=True)
class Listed:
    """A list.

    Attributes:
        items: The nodes of its first items, by place; the last one is that of all further ones.
        least: The fewest items.
        most: The most items that a draw has.
    """

    items: tuple[Node, ...]
    least: int
    most: int


class Field:
    """A property of an object; its node is built when it is needed."""

    def __init__(self, name: str, parts: Sequence[Any], names: tuple[str, ...], shape: Shape) -> None:
        self.name = name
        self._parts = parts
        self._names = names
        self._shape = shape

    @cached_property
    def node(self) -> Node:
        """What it takes.

        Raises:
            UnfillableError: No value of it can be written.
        """
        return self._shape.node(self._parts, self._names)

    @cached_property
    def is_mentionable(self) -> bool:
        """Whether a person would plausibly give it where it is optional."""
        merged = _Merged.of(self._parts, self._shape.root)
        form = response_key(words_of(self.name))
        if merged is None or merged.is_left_out or (form and form != ORDERING):
            return False
        if _HEADER_SIGNS.intersection(self.name) or merged.is_conditional:
            return False
        try:
            node = self.node
        except UnfillableError:
            return False
        options = node.options if isinstance(node, Choice) else (node,)
        for option in options:
            inner = option.items[0] if isinstance(option, Listed) and len(option.items) == 1 else option
            if isinstance(inner, Slot) and inner.is_mentionable and (not form or inner.is_closed):
                return True
        return False


# Headers: "X-Request-ID". A person names no header, nor an operator of a query, `price[gte]`.
_HEADER_SIGNS = frozenset("-[]$:/")


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """An object.

    Attributes:
        fields: Its properties by name.
        required: The names of those that it must have.
        dependents: The names that the presence of another one requires.
        least: The fewest properties.
        most: The most properties.
    """

    fields: Mapping[str, Field]
    required: frozenset[str]
    dependents: Mapping[str, tuple[str, ...]]
    least: int
    most: int


@dataclass(frozen=True, eq=False, slots=True)
class Choice:
    """Alternatives, simple ones first; at least one."""

    options: tuple[Node, ...]


Node = Fixed | Listed | Group | Choice | Slot


class _Merged:
    """The keywords of schemas that hold together, and the alternatives that they leave open."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.schemas: list[Schema] = []
        self.groups: list[list[Any]] = []
        self.left = _MOST_PARTS

    @classmethod
    def of(cls, parts: Sequence[Any], root: Schema) -> _Merged | None:
        """The merged parts; None if no value is valid for all of them."""
        merged = cls(root)
        return merged if all(merged.add(part) for part in parts) else None

    def add(self, schema: Any) -> bool:
        """Add a schema with what it refers to; False if it allows nothing."""
        self.left -= 1
        if not isinstance(schema, Mapping):
            return schema is not False
        if self.left < 0:
            raise UnfillableError("its schema is too large")
        if any(schema is known for known in self.schemas):
            return True
        self.schemas.append(schema)
        inner: list[Any] = []
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = pointed_at(reference, self.root)
            if target is None:
                raise UnfillableError(f"its schema refers to nothing: {reference[:40]}")
            inner.append(target)
        if isinstance(parts := schema.get("allOf"), list):
            inner += parts
        for keyword in ("oneOf", "anyOf"):
            if isinstance(parts := schema.get(keyword), list) and parts:
                self.groups.append(_discriminated(parts, schema))
        if "if" in schema:
            held = {"allOf": [schema["if"], schema.get("then", True)]}
            self.groups.append([schema.get("else", True), held])
        return all(self.add(part) for part in inner)

    def first(self, keyword: str) -> Any:
        """The value of a keyword in the first schema that has it."""
        return next((one[keyword] for one in self.schemas if keyword in one), None)

    def every(self, keyword: str) -> list[Any]:
        """The values of a keyword, in order."""
        return [one[keyword] for one in self.schemas if keyword in one]

    def highest(self, keyword: str) -> Any:
        """The highest of the numbers of a keyword; None without one."""
        return max(self._numbers(keyword), default=None)

    def lowest(self, keyword: str) -> Any:
        """The lowest of the numbers of a keyword; None without one."""
        return min(self._numbers(keyword), default=None)

    def _numbers(self, keyword: str) -> list[float]:
        found = self.every(keyword)
        return [one for one in found if isinstance(one, int | float) and not isinstance(one, bool)]

    @property
    def types(self) -> list[str] | None:
        """The types that are allowed, in the order of the first list; None if any is; [] if none is."""
        allowed: list[str] | None = None
        for given in self.every("type"):
            named = [given] if isinstance(given, str) else [one for one in given if isinstance(one, str)]
            if allowed is None:
                allowed = named
            else:
                wide = {*named, *(("integer",) if "number" in named else ())}
                narrowed = [one for one in allowed if one in wide]
                if "number" in allowed and "integer" in named and "integer" not in narrowed:
                    narrowed.append("integer")
                allowed = narrowed
        return allowed

    @property
    def values(self) -> list[Any] | None:
        """The values of `enum` and `const`; None if they do not limit it."""
        lists = [one for one in self.every("enum") if isinstance(one, list)]
        lists += [[one] for one in self.every("const")]
        if not lists:
            return None
        common = [{_key(one) for one in values} for values in lists[1:]]
        return [one for one in lists[0] if all(_key(one) in keys for keys in common)]

    @property
    def is_left_out(self) -> bool:
        """Whether a request should not have it."""
        return any(True in self.every(keyword) for keyword in ("readOnly", "deprecated"))

    @property
    def is_conditional(self) -> bool:
        """Whether its description says that it goes only with, or never with, other arguments."""
        text = self.first("description")
        return isinstance(text, str) and any(mark in text[:400].casefold() for mark in _CONDITIONS)


_CONDITIONS = (
    "mutually exclusive", "cannot be used", "can't be used", "cannot be combined", "cannot be set",
    "only valid", "only used", "only applies", "only applicable", "only relevant", "only required",
    "required if", "required when", "instead of", "deprecated", "for internal", "internal use", "legacy",
    "is ignored", "not supported", "either this", "only one of", "do not use", "not yet", "unsupported",
    "at least one of", "exactly one of",
)  # fmt: skip


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _discriminated(parts: list[Any], schema: Schema) -> list[Any]:
    """Alternatives in which the property of a `discriminator` has the name of each."""
    given = schema.get("discriminator")
    name = given.get("propertyName") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(name, str):
        return parts
    mapping = given.get("mapping")
    named = {target: value for value, target in mapping.items()} if isinstance(mapping, Mapping) else {}
    told = []
    for part in parts:
        reference = part.get("$ref") if isinstance(part, Mapping) else None
        if isinstance(reference, str):
            value = named.get(reference, reference.rsplit("/", 1)[-1])
            part = {"allOf": [part, {"properties": {name: {"const": value}}}]}
        told.append(part)
    return told


_MOST_LEVELS = 24  # objects, lists and alternatives within each other


class Shape:
    """The shape of the arguments of one tool.

    Args:
        tool: The tool.

    Attributes:
        schema: The schema of its arguments, made from its parameters if it has none.
        is_text: Whether the tool has only parameters, whose values are texts.
    """

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.is_text = tool.input_schema is None
        self.schema: Schema = declared_schema(tool) if tool.input_schema is None else tool.input_schema
        self.root = self.schema
        self.words = words_of(tool.id)
        self.about = words_of(tool.description[:160])
        self.url = str(tool.source.get("path", ""))
        self.notes = {} if self.is_text else _documented(tool)
        self._levels = 0

    @cached_property
    def top(self) -> Node:
        """The node of the arguments object.

        Raises:
            UnfillableError: The schema allows no object.
        """
        return self.node((self.root, {"type": "object"}), ())

    def node(self, parts: Sequence[Any], names: tuple[str, ...]) -> Node:
        """The node of schemas that hold together.

        Args:
            parts: The schemas.
            names: The names on the way to it, without the numbers of items.

        Raises:
            UnfillableError: They allow nothing, or nothing that can be written.
        """
        if self._levels >= _MOST_LEVELS:  # a list of lists of lists …
            raise UnfillableError(f"{_shown(names)} has no end")
        self._levels += 1
        try:
            return self._node(parts, names)
        finally:
            self._levels -= 1

    def _node(self, parts: Sequence[Any], names: tuple[str, ...]) -> Node:
        merged = _Merged.of(parts, self.root)
        if merged is None:
            raise UnfillableError(f"{_shown(names)} may have no value")
        if merged.groups:
            return self._choice(merged, names)
        values, types = merged.values, merged.types
        if types is not None and (values is None or types):
            types = [one for one in types if one != "null"] or types
        if values is not None:
            return self._listed_values(values, types, merged, names)
        if types == []:
            raise UnfillableError(f"{_shown(names)} may have no value")
        if types == ["null"]:
            return Fixed(None)
        chosen = [one for one in types or [_implied(merged)] if one != "null"]
        kind = next((one for one in _SCALARS if one in chosen), chosen[0])
        if types and "string" in chosen and _first_type(merged) in chosen:
            kind = _first_type(merged)
        if kind == "array":
            return self._list(merged, names)
        if kind == "object":
            return self._group(merged, names)
        return self._slot(kind, None, merged, names)

    def _choice(self, merged: _Merged, names: tuple[str, ...]) -> Node:
        """The alternatives of the first group, each with all that holds besides."""
        plain = [_without_alternatives(one) for one in merged.schemas]
        first, *others = merged.groups
        # `anyOf` and `oneOf` of the other groups are merged one by one.
        further = [{"anyOf": group} for group in others]
        options: list[Node] = []
        problem: UnfillableError | None = None
        for option in first[:_MOST_CHOICES]:
            try:
                node = self.node((*plain, *further, option), names)
            except UnfillableError as error:
                problem = error
                continue
            if not (isinstance(node, Fixed) and node.value is None):
                options += node.options if isinstance(node, Choice) else (node,)
        if not options:
            if problem is None:
                return Fixed(None)
            raise problem
        ranks = {Slot: 0, Fixed: 0, Listed: 1, Group: 2, Choice: 3}
        return Choice(tuple(sorted(options, key=lambda one: ranks[type(one)])))

    def _listed_values(
        self, values: list[Any], types: list[str] | None, merged: _Merged, names: tuple[str, ...]
    ) -> Node:
        allowed = [one for one in values if types is None or _is_of(one, types)]
        scalars = [one for one in allowed if isinstance(one, str | int | float)]
        if not allowed:
            raise UnfillableError(f"{_shown(names)} may have no value")
        if len(allowed) == 1 or not scalars:
            return Fixed(allowed[0])
        first = scalars[0]
        kind = "boolean" if isinstance(first, bool) else "string" if isinstance(first, str) else "number"
        return self._slot(kind, tuple(scalars), merged, names)

    def _slot(
        self, kind: str, values: tuple[Any, ...] | None, merged: _Merged, names: tuple[str, ...]
    ) -> Slot:
        keywords: dict[str, Any] = {
            name: merged.first(name) for name in ("format", "x-form", "default", "example", "description")
        }
        keywords |= {name: merged.highest(name) for name in ("minimum", "exclusiveMinimum", "minLength")}
        keywords |= {name: merged.lowest(name) for name in ("maximum", "exclusiveMaximum", "maxLength")}
        keywords["multipleOf"] = merged.highest("multipleOf")
        given = [one for one in merged.every("examples") if isinstance(one, list)]
        keywords["examples"] = [example for one in given for example in one] or None
        patterns = tuple(one for one in merged.every("pattern") if isinstance(one, str))
        text = keywords["description"]
        description = text if isinstance(text, str) else ""
        if not description.strip() and len(names) == 1:
            description = self.notes.get(names[0], "")
        own = words_of(names[-1]) if names else ()
        parents = tuple(word for name in names[:-1] for word in words_of(name) if word not in _WRAPPERS)
        typed = words_of(str(merged.first("x-kind") or ""))  # a declared type that is no type of JSON: "city"
        if text_key(typed) and own[-len(typed) :] != typed:
            own = (*own, *typed)
        subject = Subject(own, parents, self.words, description)
        is_in_path = len(names) == 1 and f"{{{names[0]}}}" in self.url
        return Slot(
            names, Keywords(kind, values, patterns, keywords), subject, self.about, is_in_path=is_in_path
        )

    def _list(self, merged: _Merged, names: tuple[str, ...]) -> Node:
        least, most = merged.highest("minItems") or 0, merged.lowest("maxItems")
        prefix = next((one for one in merged.every("prefixItems") if isinstance(one, list)), [])
        items = merged.every("items")
        if most is not None and (most < least or most < 1):
            return Fixed([])
        wanted = min(int(most), _MOST_ITEMS) if most is not None else _MOST_ITEMS
        # What an item lacks, its list says.
        said: dict[str, Any] = (
            {"description": text} if isinstance(text := merged.first("description"), str) else {}
        )
        shown = [one for one in merged.every("examples") if isinstance(one, list)]
        flat = [item for one in shown for inner in one if isinstance(inner, list) for item in inner]
        said |= {"examples": flat} if flat else {}
        nodes = [self.node((one,), names) for one in prefix[: max(int(least), 1)]]
        if len(nodes) < max(least, 1):
            if False in items or not items:
                raise UnfillableError(f"{_shown(names)} is a list of anything")
            nodes.append(self.node((*items, said), names))
        if least > _MOST_ITEMS * 2:
            raise UnfillableError(f"{_shown(names)} needs {least} items")
        return Listed(tuple(nodes), int(least), max(wanted, int(least)))

    def _group(self, merged: _Merged, names: tuple[str, ...]) -> Node:
        if len(names) > _DEEPEST:
            raise UnfillableError(f"{_shown(names)} is nested deeper than {_DEEPEST} levels")
        declared: dict[str, list[Any]] = {}
        required: dict[str, None] = {}
        dependents: dict[str, tuple[str, ...]] = {}
        allowed: set[str] | None = None
        for schema in merged.schemas:
            own = schema.get("properties")
            own = own if isinstance(own, Mapping) else {}
            for name, one in own.items():
                declared.setdefault(name, []).append(one)
            if isinstance(needed := schema.get("required"), list):
                required |= dict.fromkeys(one for one in needed if isinstance(one, str))
            if isinstance(given := schema.get("dependentRequired"), Mapping):
                dependents |= {name: tuple(one) for name, one in given.items() if isinstance(one, list)}
            if schema.get("additionalProperties") is False and "patternProperties" not in schema:
                allowed = {*own} if allowed is None else allowed & {*own}
        _make_alike(declared)
        triggers = [*merged.every("dependentSchemas")]
        conditional = {name for one in triggers if isinstance(one, Mapping) for name in one}
        extra = [
            one[name] for one in triggers if isinstance(one, Mapping) for name in one if name in required
        ]
        if extra and not any(one in merged.schemas for one in extra):
            return self.node((*merged.schemas, *extra), names)
        closed = [name for name in required if allowed is not None and name not in allowed]
        if closed:
            raise UnfillableError(f"its schema both requires and forbids {_shown((*names, closed[0]))}")
        fields = {}
        for name, parts in declared.items():
            is_possible = (allowed is None or name in allowed) and False not in parts
            if is_possible and (name in required or name not in conditional):
                fields[name] = Field(name, parts, (*names, name), self)
        further = next(
            (one for one in merged.every("additionalProperties") if isinstance(one, Mapping)),
            {"type": "string"},
        )
        for name in required:
            if name not in fields:
                if name in declared:
                    raise UnfillableError(f"{_shown((*names, name))} may have no value")
                fields[name] = Field(name, [further], (*names, name), self)
        least, most = merged.highest("minProperties") or 0, merged.lowest("maxProperties")
        if least > len(fields):
            raise UnfillableError(f"{_shown(names)} is an object with any names")
        most = int(most) if most is not None else len(fields)
        return Group(fields, frozenset(required), dependents, int(least), most)


_WRAPPERS = frozenset(
    {"data", "body", "params", "args", "arguments", "input", "payload", "request", "attributes", "object"}
)


_TWINS = (("from", "to"), ("start", "end"), ("since", "until"), ("min", "max"), ("after", "before"))


def _make_alike(declared: dict[str, list[Any]]) -> None:
    """Give `to` the format of `from`, if only one of them has one."""
    for pair in _TWINS:
        parts = [declared[name] for name in pair if name in declared]
        if len(parts) < 2:
            continue
        formats = [
            [one["format"] for one in each if isinstance(one, Mapping) and "format" in one] for each in parts
        ]
        for one, given, other in ((parts[0], *formats), (parts[1], *reversed(formats))):
            if other and not given:
                one.append({"format": other[0]})


def _shown(names: Iterable[str]) -> str:
    path = ".".join(names)
    return f"'{path}'" if path else "the arguments object"


def _without_alternatives(schema: Schema) -> Schema:
    inner = ("allOf", "anyOf", "oneOf", "$ref", "if", "then", "else")
    return {name: one for name, one in schema.items() if name not in inner}


def _implied(merged: _Merged) -> str:
    """The type of a schema that names none, by its other keywords."""
    has = {name for one in merged.schemas for name in one}
    if has & {"properties", "required", "minProperties"}:
        return "object"
    if has & {"items", "prefixItems", "minItems"}:
        return "array"
    if has & {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"}:
        return "number"
    return _first_type(merged) or "string"


def _first_type(merged: _Merged) -> str:
    """The type of the first example, or of the default."""
    given = merged.first("examples")
    shown = [*(given if isinstance(given, list) else []), merged.first("example"), merged.first("default")]
    first = next((one for one in shown if one is not None), None)
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return kinds.get(type(first), "")


def _is_of(value: Any, types: Iterable[str]) -> bool:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    kind = kinds.get(type(value), "null")
    return kind in types or (kind == "integer" and "number" in types)


def _documented(tool: Tool) -> dict[str, str]:
    """What the description of a tool says of its arguments, as in a docstring: "path: The file to read"."""
    text = tool.description[:6000]
    if not any(mark in text for mark in ("Args:", "Arguments:", "Parameters:", ":param", "Parameters\n---")):
        return {}
    from docstring_parser import parse
    from docstring_parser.common import ParseError

    try:
        found = parse(text)
    except ParseError:
        return {}
    return {one.arg_name: one.description or "" for one in found.params}


_MOST_SHAPES = 8192
_shapes: dict[int, Shape] = {}


def shape_of(tool: Tool) -> Shape:
    """The shape of the arguments of a tool; cached.

    By identity: equal tools would share a shape where one has the value 1 and the other `true`, and the hash
    of a tool with a hundred parameters takes as long as a draw.
    """
    shape = _shapes.get(id(tool))
    if shape is None or shape.tool is not tool:
        if len(_shapes) >= _MOST_SHAPES:
            _shapes.clear()
        shape = _shapes[id(tool)] = Shape(tool)
    return shape
