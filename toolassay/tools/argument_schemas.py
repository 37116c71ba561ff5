"""What the JSON Schema of a tool says of its arguments: parameters, types in words, and validity.

Schemas are JSON Schema 2020-12 without references to other documents. They come from outside, so every walk
is bounded and no pattern can run for long.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, Literal, NamedTuple

from toolassay.files.data_files import map_texts
from toolassay.tools.type_names import types_of

Schema = Mapping[str, Any]

_DEEPEST = 32  # references and combinators that are followed
MOST_SHOWN = 12
"""Values of an enum, or alternatives, that a notation lists."""
_MOST_NESTED = 3  # alternatives and lists within each other of which types are read
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")
_IMPLYING = {"object": "properties", "array": "items"}  # the keywords that imply a type
_MOST_PARTS = 1_000  # parts of a schema that one walk visits
_LONGEST_VALUE = 60  # characters of a default or an allowed value in a notation
_PATTERN_SECONDS = 0.1  # a pattern that needs longer is not checked
FORMATS = frozenset({"date", "time", "date-time", "email", "uri", "uuid"})

SUBSCHEMAS: Mapping[str, Literal["one", "list", "map"]] = {
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), "list"),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "dependencies"), "map"),
    **dict.fromkeys(("$defs", "definitions"), "map"),
    **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames", "contentSchema"), "one"),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "unevaluatedItems"), "one"),
    **dict.fromkeys(("items", "additionalItems"), "one"),
}
"""The keywords whose value has schemas: one, a list of them, or a map. Before 2020-12, `items` may be a list,
and `dependencies` also has lists of names."""


def with_subschemas(schema: Schema, change: Callable[[Any, str], Any]) -> dict[str, Any]:
    """A copy of a schema with each schema directly in it replaced by what `change` returns.

    Args:
        schema: The schema.
        change: Called with a schema and its place, e.g. `properties.a`.
    """
    result = dict(schema)
    for key, value in schema.items():
        form = SUBSCHEMAS.get(key)
        if isinstance(value, list) and (form == "list" or key == "items"):
            result[key] = [change(item, f"{key}[{number}]") for number, item in enumerate(value)]
        elif form == "map" and isinstance(value, dict):
            result[key] = {name: change(item, f"{key}.{name}") for name, item in value.items()}
        elif form == "one":
            result[key] = change(value, key)
    return result


def subschemas(schema: Any) -> list[tuple[str, Any]]:
    """The schemas directly in a schema, each with its place.

    >>> subschemas({"properties": {"a": {}}, "anyOf": [True], "default": {"items": 1}})
    [('properties.a', {}), ('anyOf[0]', True)]
    """
    paths: list[tuple[str, Any]] = []
    if isinstance(schema, dict) and not SUBSCHEMAS.keys().isdisjoint(schema):  # most have none
        with_subschemas(schema, lambda subschema, path: paths.append((path, subschema)))
    return paths


def all_schemas(root: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every schema in a schema that is an object, each once, with its place."""
    waiting = [(root, "")]
    seen = set[int]()
    while waiting:
        schema, path = waiting.pop()
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema, path
            waiting += [(subschema, f"{path}.{at}".lstrip(".")) for at, subschema in subschemas(schema)]


class Property(NamedTuple):
    """A property of the arguments object."""

    name: str
    schema: Schema
    required: bool


def resolve(schema: Any, root: Schema) -> Schema:
    """The schema that local references lead to, with the keywords beside a reference on top.

    A boolean schema, a reference to nothing and a circle of references give {}.

    >>> root = {"$defs": {"day": {"type": "string"}}}
    >>> resolve({"$ref": "#/$defs/day", "description": "first day"}, root)
    {'type': 'string', 'description': 'first day'}
    """
    beside: dict[str, Any] = {}
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping):
            return beside
        reference = schema.get("$ref")
        beside = {**{key: item for key, item in schema.items() if key != "$ref"}, **beside}
        if not isinstance(reference, str):
            return beside
        schema = pointed_at(reference, root)
    return beside


def pointed_at(reference: str, root: Schema) -> Any:
    """What a local reference such as `#/$defs/day` leads to; None for nothing."""
    from referencing import Resource
    from referencing.exceptions import PointerToNowhere

    if reference != "#" and not reference.startswith("#/"):
        return None
    try:
        return Resource.opaque(root).pointer(reference[1:], _resolver()).contents
    except (PointerToNowhere, TypeError, ValueError):  # also a name in a list or in a text
        return None


@cache
def _resolver() -> Any:
    from referencing import Registry

    return Registry().resolver()


def properties_of(root: Schema) -> tuple[Property, ...]:
    """The arguments that a schema names, those of `allOf`, `oneOf` and `anyOf` included.

    An argument is required if every alternative requires it.

    >>> root = {"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"properties": {"b": {}}}]}
    >>> [(one.name, one.required) for one in properties_of(root)]
    [('a', False), ('b', False)]
    """
    return properties_at(root, root)


def properties_at(schema: Any, root: Schema) -> tuple[Property, ...]:
    """`properties_of` a part of a schema.

    Args:
        schema: The part.
        root: The whole schema, to which references are relative.
    """
    properties, required = _collected(schema, root, {})
    return tuple(
        Property(name, resolve(property_schema, root), name in required)
        for name, property_schema in properties.items()
    )


def declared_at(schema: Any, root: Schema) -> Mapping[str, Any]:
    """The schemas of the properties of a part of a schema as they are written, references included."""
    return _collected(schema, root, {})[0]


_Found = tuple[dict[str, Any], set[str]]


def _collected(schema: Any, root: Schema, collected: dict[str | int, _Found]) -> _Found:
    """The properties and required names of a schema.

    `collected` has the parts that were visited: each is collected once, or nested combinators that share
    parts would take exponential time. A part within itself counts as empty.
    """
    if not isinstance(schema, Mapping):
        return {}, set()
    reference = schema.get("$ref") if len(schema) == 1 else None
    key = reference if isinstance(reference, str) else id(schema)
    if key in collected:
        return collected[key]
    collected[key] = {}, set()
    resolved = resolve(schema, root)
    own_properties = resolved.get("properties")
    # A property with the schema `false` must be absent.
    properties = (
        {
            name: property_schema
            for name, property_schema in own_properties.items()
            if property_schema is not False
        }
        if isinstance(own_properties, Mapping)
        else {}
    )
    names = resolved.get("required")
    required = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    for keyword in ("allOf", "anyOf", "oneOf"):
        parts = resolved.get(keyword)
        if len(collected) >= _MOST_PARTS or not isinstance(parts, list) or not parts:
            continue
        alternatives = [_collected(part, root, collected) for part in parts]
        for more, _ in alternatives:
            for name, property_schema in more.items():
                properties.setdefault(name, property_schema)
        required_lists = [needed for _, needed in alternatives]
        required |= set.union(*required_lists) if keyword == "allOf" else set.intersection(*required_lists)
    collected[key] = properties, required
    return properties, required


def schema_at(path: Sequence[str | int], root: Schema) -> Schema:
    """The schema of a place in the arguments; {} if nothing is declared there.

    >>> root = {"properties": {"tags": {"items": {"enum": ["a", "b"]}}}}
    >>> schema_at(["tags", 0], root), schema_at(["n"], root)
    ({'enum': ['a', 'b']}, {})
    """
    schema: Any = root
    for part in path:
        schema = resolve(schema, root)
        if isinstance(part, str):
            schemas = {declared.name: declared.schema for declared in properties_at(schema, root)}
            schema = schemas.get(part, schema.get("additionalProperties"))
        else:
            schema = items_of(schema, root).get("items")
    return resolve(schema, root)


def has_place(path: Sequence[str | int], root: Schema) -> bool:
    """Whether a schema declares a place; a part that declares nothing may have anything in it.

    >>> root = {"properties": {"tags": {"items": {"type": "string"}}}}
    >>> has_place(["tags", 0], root), has_place(["name"], root), has_place(["name"], {})
    (True, False, True)
    """
    for depth, part in enumerate(path):
        schema = schema_at(path[:depth], root)
        kinds = kinds_of(schema, root)
        if kinds and ("object" if isinstance(part, str) else "array") not in kinds:
            return False
        declared_names = {declared.name for declared in properties_at(schema, root)}
        further = schema.get("additionalProperties", not declared_names)
        if isinstance(part, str) and part not in declared_names and further is False:
            return False
    return True


def items_of(schema: Schema, root: Schema) -> Schema:
    """The alternative of a schema that declares items; the schema itself without one."""
    for keyword in _ALTERNATIVES:
        if "items" not in schema and isinstance(parts := schema.get(keyword), list):
            alternatives = (resolve(part, root) for part in parts)
            schema = next((part for part in alternatives if "items" in part), schema)
    return schema


def kinds_of(schema: Any, root: Schema, depth: int = 0) -> frozenset[str]:
    """The JSON types that a schema allows: "string", "integer", …; empty if it does not say.

    >>> sorted(kinds_of({"anyOf": [{"type": "string"}, {"type": "null"}]}, {})), sorted(kinds_of({}, {}))
    (['null', 'string'], [])
    """
    schema = resolve(schema, root)
    kinds = schema.get("type")
    if isinstance(kinds, str | list):
        return frozenset(kind for kind in _listed(kinds) if isinstance(kind, str))
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list) and values:
        return frozenset(map(json_type, values))
    for keyword in _ALTERNATIVES if depth < _MOST_NESTED else ():
        if isinstance(parts := schema.get(keyword), list) and parts:
            kinds_of_parts = [kinds_of(part, root, depth + 1) for part in parts[:MOST_SHOWN]]
            if keyword == "allOf":
                return next(filter(None, kinds_of_parts), _implied(schema))
            return frozenset().union(*kinds_of_parts) if all(kinds_of_parts) else frozenset()
    return _implied(schema)


def _implied(schema: Schema) -> frozenset[str]:
    return frozenset(kind for kind, keyword in _IMPLYING.items() if keyword in schema)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def as_meant(value: Any, schema: Any, root: Schema, depth: int = _DEEPEST) -> Any:
    """A value without what OpenAI's strict mode forces a model to write.

    There, an optional property must be present and an object must have fixed names. So null for an optional
    property that does not take null is left out, and a text in place of an object, or of a list of objects or
    lists, is read as JSON (`toolassay.prompts.plan_schemas`).

    >>> root = {"properties": {"to": {"type": "string"}, "more": {"type": "object"}}, "required": ["to"]}
    >>> as_meant({"to": None, "more": None}, root, root), as_meant({"more": '{"a": 1}'}, root, root)
    ({'to': None}, {'more': {'a': 1}})
    """
    if depth == 0:
        return value
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and _may_be_text(schema, root):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, list) and value:
        items = items_of(resolve(schema, root), root).get("items")
        return [as_meant(item, items, root, depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    declared = {
        declared_property.name: declared_property for declared_property in properties_at(schema, root)
    }
    meant = {}
    for name, item in value.items():
        declared_property = declared.get(name)
        kinds = (
            kinds_of(declared_property.schema, root)
            if item is None and declared_property is not None and not declared_property.required
            else ()
        )
        if kinds and "null" not in kinds:
            continue
        meant[name] = (
            item if declared_property is None else as_meant(item, declared_property.schema, root, depth - 1)
        )
    return meant


def _may_be_text(schema: Any, root: Schema) -> bool:
    """Whether structured output may have to give a value as JSON text."""
    kinds = kinds_of(schema, root) - {"null"}
    items = kinds_of(items_of(resolve(schema, root), root).get("items"), root)
    return kinds == {"object"} or (kinds == {"array"} and bool(items & {"object", "array"}))


def type_name(schema: Any, root: Schema, depth: int = 0) -> str:
    """The type of an argument in one phrase, as published tool files write it.

    >>> type_name({"type": "array", "items": {"type": "integer"}}, {}), type_name({"format": "date"}, {})
    ('list[integer]', 'date')
    >>> type_name({"anyOf": [{"type": "string"}, {"type": "null"}]}, {}), type_name({}, {})
    ('string | null', 'any')
    """
    schema = resolve(schema, root)
    names = _listed(schema.get("type"))
    for keyword in _ALTERNATIVES if depth < _MOST_NESTED and not names else ():
        if isinstance(parts := schema.get(keyword), list) and parts:
            alternatives = list(
                dict.fromkeys(type_name(part, root, depth + 1) for part in parts[:MOST_SHOWN])
            )
            if keyword != "allOf":
                return " | ".join(alternatives)
            if specific := next((name for name in alternatives if name != "any"), None):
                return specific
    if not names:
        values = _listed(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
        names = list(dict.fromkeys(map(json_type, values))) or sorted(_implied(schema), reverse=True)[:1]
    if schema.get("format") in FORMATS and (not names or "string" in names):
        names = [schema["format"] if name == "string" else name for name in names or ["string"]]
    if "array" in names and depth < _MOST_NESTED:
        inner = type_name(schema.get("items"), root, depth + 1)
        of_items = "array" if inner == "any" else f"list[{inner}]"
        names = [of_items if name == "array" else name for name in names]
    return " | ".join(map(str, names)) or "any"


def json_type(value: Any) -> str:
    """The type of a JSON value, as JSON Schema names it."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "null")


def notation(schema: Any, root: Schema, *, depth: int = 3, further: int = 0, with_names: bool = False) -> str:
    """A schema in one compact line, as prompts show it: TypeScript's notation of types, with bounds.

    Args:
        schema: The schema, or a part of it.
        root: The whole schema, to which references are relative.
        depth: Levels of objects and lists to show; below them, `object` and `array`.
        further: Levels below `depth` of which only required properties are shown, with `…` for the others.
        with_names: Whether the first level below `depth` has the names of its properties.

    >>> root = {"type": "object", "required": ["to"], "properties": {
    ...     "to": {"type": "array", "items": {"type": "string", "format": "email"}, "minItems": 1},
    ...     "n": {"type": "integer", "minimum": 1, "maximum": 8}, "size": {"enum": ["S", "M"]}}}
    >>> print(notation(root, root))
    {to: email[1..], n?: integer 1..8, size?: 'S' | 'M'}
    """
    return _Notation(root, further, with_names).text(schema, depth)


# A name that needs no quotation marks: "repo-path" and "user.name", not "per page".
_PLAIN_NAME = re.compile(r"[\w$.@-]+")


def _name(declared: Property) -> str:
    name = declared.name if _PLAIN_NAME.fullmatch(declared.name) else _quoted(declared.name)
    return name if declared.required else f"{name}?"


class _Notation:
    """Writes one notation, of at most `_MOST_PARTS` types."""

    def __init__(self, root: Schema, further: int, with_names: bool) -> None:
        self.root = root
        self.with_names = with_names
        self.last = -further  # the depth of which nothing is shown
        self.left = _MOST_PARTS

    def text(self, schema: Any, depth: int) -> str:
        schema = resolve(schema, self.root)
        text = self.type(schema, depth)
        default = schema.get("default")
        return f"{text} = {_value(default)}" if isinstance(default, str | int | float) else text

    def type(self, schema: Schema, depth: int) -> str:
        self.left -= 1
        if "const" in schema:
            return _value(schema["const"])
        if isinstance(values := schema.get("enum"), list) and values:
            more = " | …" if len(values) > MOST_SHOWN else ""
            return " | ".join(map(_value, values[:MOST_SHOWN])) + more
        if self.with_names and depth == 0 and (properties := properties_at(schema, self.root)):
            return "{" + ", ".join(map(_name, properties)) + "}"
        if depth > self.last and self.left > 0:
            kind = schema.get("type")
            if kind == "object" or "properties" in schema or "allOf" in schema:
                properties = properties_at(schema, self.root)
                if depth > 0 and (properties or schema.get("properties") == {}):
                    return self.object(properties, depth)
                if required := [declared for declared in properties if declared.required]:
                    is_open = len(required) < len(properties) or schema.get("additionalProperties") is True
                    return self.object(required, depth, more=is_open)
            if kind == "array" or (kind is None and "items" in schema):
                items = resolve(schema.get("items"), self.root)
                inner = self.type(items, depth - 1) if items else "any"
                inner = f"({inner})" if " " in inner and not inner.startswith("{") else inner
                return f"{inner}[{_bounds(schema, 'minItems', 'maxItems')}]"
            for keyword in ("anyOf", "oneOf"):
                if isinstance(parts := schema.get(keyword), list) and parts:
                    kinds = (self.type(resolve(part, self.root), depth - 1) for part in parts[:MOST_SHOWN])
                    return " | ".join(dict.fromkeys(kinds))
        name = type_name(schema, self.root)
        bounds = _bounds(schema, "minimum", "maximum") if name in ("integer", "number") else ""
        return f"{name} {bounds}" if bounds else name

    def object(self, properties: Sequence[Property], depth: int, *, more: bool = False) -> str:
        pieces = []
        for declared in properties:
            if self.left <= 0:
                pieces.append("…")
                break
            pieces.append(f"{_name(declared)}: {self.text(declared.schema, depth - 1)}")
        if more and pieces[-1] != "…":
            pieces.append("…")
        return "{" + ", ".join(pieces) + "}"


def _bounds(schema: Schema, least: str, most: str) -> str:
    """The bounds of a number or of the length of a list: `1..8`, `1..`, `..8`; empty without any."""
    low, high = (
        json.dumps(bound) if isinstance(bound := schema.get(key), int | float) else ""
        for key in (least, most)
    )
    return f"{low}..{high}" if low or high else ""


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…")
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else "…"


def _quoted(text: str) -> str:
    """A text in single quotation marks, which need no escape where the notation is in a JSON text."""
    escaped = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{escaped}'"


# Keywords that the APIs of OpenAI and Anthropic refuse beside the arguments.
_REFUSED = ("$ref", "allOf", "anyOf", "oneOf", "not", "enum")


def accepted_schema(schema: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The schema of a tool's arguments as model services accept it, for they refuse a request for one tool.

    An array without items gets items of any value, and a pattern that Python cannot read is left out.
    Alternatives at the root become one object with the properties of all, of which those are required that
    every alternative requires.

    Returns:
        The schema, and for each place that was changed the reason.

    >>> either = [{"properties": {one: {}}, "required": [one]} for one in ("path", "id")]
    >>> schema, reasons = accepted_schema({"type": "object", "anyOf": either})
    >>> schema, list(reasons)
    ({'type': 'object', 'properties': {'path': {}, 'id': {}}}, ['input_schema.anyOf'])
    """
    reasons = {}

    def accepted(subschema: Any, path: str) -> Any:
        if not isinstance(subschema, Mapping):
            return subschema
        part = with_subschemas(subschema, lambda nested, key: accepted(nested, f"{path}.{key}"))
        if "array" in types_of(part) and "items" not in part:
            reasons[f"{path}.items"] = "is written as {}: model services refuse a list without it"
            part["items"] = {}
        try:
            with warnings.catch_warnings(action="ignore"):
                re.compile(str(part.get("pattern", "")))
        except (re.error, OverflowError, RecursionError):
            reasons[f"{path}.pattern"] = "is left out: model services cannot read it"
            del part["pattern"]
        return part

    root = accepted(schema, "input_schema")
    at_root = {
        key: "model services refuse it at the root; the arguments are one object that allows more"
        for key in _REFUSED
        if key in root or key in resolve(root, root)
    }
    if root.get("type") != "object":
        at_root["type"] = "is written as 'object': model services refuse arguments of another type"
    reasons |= {f"input_schema.{key}": reason for key, reason in at_root.items()}
    return _merged(root) if at_root else root, reasons


def _merged(root: dict[str, Any]) -> dict[str, Any]:
    """One object with the properties of all alternatives of a schema; of one name, any of theirs fits."""
    whole = resolve(root, root)
    declared = declared_at(root, root)
    parts = [declared_at(part, root) for key in ("allOf", "anyOf", "oneOf") for part in whole.get(key, ())]
    others = {
        name: [part[name] for part in parts if part.get(name, first) != first]
        for name, first in declared.items()
    }
    properties = {
        name: {"anyOf": [property_schema, *others[name]]} if others[name] else property_schema
        for name, property_schema in declared.items()
    }
    required = [
        declared_property.name for declared_property in properties_of(root) if declared_property.required
    ]
    kept_keywords = {key: item for key, item in whole.items() if key not in (*_REFUSED, "required")}
    return (
        kept_keywords
        | {"type": "object", "properties": properties}
        | ({"required": required} if required else {})
    )


class SchemaProblem(NamedTuple):
    """What is wrong with a value.

    Attributes:
        path: The place in the arguments, e.g. `filter.tags[0]`.
        reason: One clause.
        keyword: The keyword of JSON Schema that fails, e.g. "enum".
        parts: `path` as its names and numbers.
    """

    path: str
    reason: str
    keyword: str
    parts: tuple[str | int, ...] = ()


class _Output(str):
    """A reference to the output of another step, whose value is not known yet."""


class ArgumentValidator:
    """Validates arguments with the library `jsonschema`.

    References to other documents are not followed, patterns have a time limit, and a text that refers to the
    output of another step is valid in every place.

    Args:
        schema: The schema of the arguments object.
        is_valid: Whether the schema is known to be valid; checking a large one takes a tenth of a second.

    Raises:
        ValueError: It is not a valid schema.

    >>> checker = ArgumentValidator({"properties": {"n": {"type": "integer"}}, "required": ["n"]})
    >>> checker.problems({"n": "four"})
    [SchemaProblem(path='n', reason="'four' is not of type 'integer'", keyword='type', parts=('n',))]
    >>> checker.problems({"n": "<node-0>"}, lambda text: text.startswith("<node-"))
    []
    """

    def __init__(self, schema: Schema, *, is_valid: bool = False) -> None:
        from referencing import Registry

        if not is_valid and (problem := next(iter(schema_problems(schema)), None)):
            raise ValueError(f"{problem.path or 'the schema'}: {problem.reason}")
        self.schema = schema
        self._validator = _validator_class()(
            dict(schema), registry=Registry(), format_checker=_validator_class().FORMAT_CHECKER
        )

    def problems(
        self, arguments: Any, is_reference: Callable[[str], bool] = lambda text: False
    ) -> list[SchemaProblem]:
        """What is wrong with the arguments: the first problem of each place.

        Args:
            arguments: The arguments object, or whatever there is instead.
            is_reference: Whether a text refers to the output of another step.
        """
        from referencing.exceptions import Unresolvable

        def marked(text: str) -> str:
            return _Output(text) if is_reference(text) else text

        problems_by_path: dict[str, SchemaProblem] = {}
        try:
            for error in self._validator.iter_errors(map_texts(arguments, marked, key=str)):
                problem = _problem(error)
                problems_by_path.setdefault(problem.path, problem)
        except RecursionError:
            return [SchemaProblem("", "is nested too deeply", "$ref")]
        except Unresolvable as error:
            return [SchemaProblem("", f"its schema has an unknown reference: {error}"[:200], "$ref")]
        return list(problems_by_path.values())


def schema_problems(schema: Any) -> Iterator[SchemaProblem]:
    """What makes a schema invalid under JSON Schema 2020-12; `path` is the place in the schema.

    >>> next(schema_problems({"properties": {"a": {"type": "text"}}})).path
    'properties.a.type'
    """
    from jsonschema import Draft202012Validator

    meta = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    try:
        for error in meta.iter_errors(schema):
            yield _problem(error)
    except RecursionError:
        yield SchemaProblem("", "is nested too deeply", "$ref")


def _problem(error: Any) -> SchemaProblem:
    from jsonschema.exceptions import best_match

    error = best_match([error]) or error
    reason = " ".join(str(error.message).split())
    if len(reason) > 160:  # the value is at the beginning, what is wrong with it at the end
        reason = f"{reason[:60]} … {reason[-90:]}"
    path = error.json_path.removeprefix("$").removeprefix(".")
    return SchemaProblem(path, reason, str(error.validator), tuple(error.absolute_path))


def _has_output(value: Any) -> bool:
    if isinstance(value, list | Mapping):
        return any(map(_has_output, value.values() if isinstance(value, Mapping) else value))
    return isinstance(value, _Output)


# Keywords that an unknown value can satisfy or violate; they are not checked where there is one.
_UNDECIDED = frozenset({"not", "if", "contains", "uniqueItems", "enum", "const"})


@cache
def _validator_class() -> Any:
    """`Draft202012Validator` that knows references to outputs and limits the time of patterns."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    checks = dict(Draft202012Validator.VALIDATORS)

    def guarded(keyword: str) -> Any:
        def check(validator: Any, limit: Any, value: Any, schema: Any) -> Iterator[Any]:
            if isinstance(value, _Output) or (keyword in _UNDECIDED and _has_output(value)):
                return
            # An unknown value may fit several alternatives.
            chosen = "anyOf" if keyword == "oneOf" and _has_output(value) else keyword
            yield from checks[chosen](validator, limit, value, schema) or ()

        return check

    def pattern(validator: Any, expression: Any, value: Any, schema: Any) -> Iterator[Any]:
        from jsonschema import ValidationError

        if isinstance(value, str) and not isinstance(value, _Output) and _matches(expression, value) is False:
            yield ValidationError(f"{value!r} does not match {expression!r}")

    keywords = {name: guarded(name) for name in checks} | {"pattern": pattern}
    # These use `re` for the names in `patternProperties`, which has no time limit; tools rarely have them.
    keywords["patternProperties"] = keywords["unevaluatedProperties"] = lambda *given: ()
    guarded_additional = keywords["additionalProperties"]
    keywords["additionalProperties"] = lambda validator, limit, value, schema: (
        () if "patternProperties" in schema else guarded_additional(validator, limit, value, schema)
    )
    return extend(Draft202012Validator, keywords)


# "{99}" and "{1,99}" of "(a{99}){1,99}".
_REPEATS = re.compile(r"\{(\d{1,9})(?:,(\d{0,9}))?\}")
_MOST_REPEATS = 100_000  # of all repetitions multiplied


def _matches(pattern: Any, text: str) -> bool | None:
    """Whether a text matches; None if the pattern is not valid here, takes too long, or repeats too much."""
    import regex

    repeats = (int(most or least) for least, most in _REPEATS.findall(str(pattern)))
    if prod(max(1, number) for number in repeats) > _MOST_REPEATS:
        return None  # `regex` writes repetitions out, in memory
    try:
        return regex.search(str(pattern), text, timeout=_PATTERN_SECONDS) is not None
    except (regex.error, TimeoutError):
        return None
