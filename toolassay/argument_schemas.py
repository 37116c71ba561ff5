"""What the JSON Schema of a tool says of its arguments: parameters, types in words, and validity.

Schemas are JSON Schema 2020-12 without references to other documents. They come from outside, so every walk
is bounded and no pattern can run for long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

_DEEPEST = 32  # references and combinators that are followed
_MOST_SHOWN = 12  # values of an enum that a notation lists
_PATTERN_SECONDS = 0.1  # a pattern that needs longer is not checked
_FORMATS = frozenset({"date", "time", "date-time", "email", "uri", "uuid"})


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
    if reference != "#" and not reference.startswith("#/"):
        return None
    place: Any = root
    for part in reference[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping) and part in place:
            place = place[part]
        elif isinstance(place, list) and part.isdigit() and int(part) < len(place):
            place = place[int(part)]
        else:
            return None
    return place


def properties_of(root: Schema) -> tuple[Property, ...]:
    """The arguments that a schema names, those of `allOf`, `oneOf` and `anyOf` included.

    An argument is required if every alternative requires it.

    >>> root = {"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"properties": {"b": {}}}]}
    >>> [(one.name, one.required) for one in properties_of(root)]
    [('a', False), ('b', False)]
    """
    properties, required = _collected(root, root, 0)
    return tuple(Property(name, resolve(one, root), name in required) for name, one in properties.items())


def _collected(schema: Any, root: Schema, depth: int) -> tuple[dict[str, Any], set[str]]:
    schema = resolve(schema, root)
    own = schema.get("properties")
    properties = dict(own) if isinstance(own, Mapping) else {}
    names = schema.get("required")
    required = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    if depth >= _DEEPEST // 4:
        return properties, required
    for keyword in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(keyword)
        if not isinstance(parts, list) or not parts:
            continue
        found = [_collected(part, root, depth + 1) for part in parts]
        for more, _ in found:
            for name, one in more.items():
                properties.setdefault(name, one)
        each = [needed for _, needed in found]
        required |= set.union(*each) if keyword == "allOf" else set.intersection(*each)
    return properties, required


def type_name(schema: Schema, root: Schema) -> str:
    """The type of an argument in one phrase, as published tool files write it.

    >>> type_name({"type": "array", "items": {"type": "integer"}}, {}), type_name({"format": "date"}, {})
    ('list[integer]', 'date')
    >>> type_name({"anyOf": [{"type": "string"}, {"type": "null"}]}, {}), type_name({}, {})
    ('string | null', 'any')
    """
    return _type_name(schema, root, 0)


def _type_name(schema: Any, root: Schema, depth: int) -> str:
    schema = resolve(schema, root)
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else list(kinds) if isinstance(kinds, list) else []
    if not names and depth < 4:
        for keyword in ("anyOf", "oneOf"):
            if isinstance(parts := schema.get(keyword), list) and parts:
                return " | ".join(dict.fromkeys(_type_name(part, root, depth + 1) for part in parts))
        for part in schema.get("allOf") or ():
            if (name := _type_name(part, root, depth + 1)) != "any":
                return name
    if not names:
        values = schema["enum"] if isinstance(schema.get("enum"), list) else []
        values = values or ([schema["const"]] if "const" in schema else [])
        names = list(dict.fromkeys(_json_type(value) for value in values))
    if not names:
        names = ["object"] if "properties" in schema else ["array"] if "items" in schema else []
    if schema.get("format") in _FORMATS and (not names or "string" in names):
        names = [schema["format"] if name == "string" else name for name in names or ["string"]]
    if "array" in names and depth < 4:
        inner = _type_name(schema.get("items"), root, depth + 1)
        names = [
            ("array" if inner == "any" else f"list[{inner}]") if one == "array" else one for one in names
        ]
    return " | ".join(map(str, names)) or "any"


def _json_type(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "null")


def notation(schema: Any, root: Schema, *, depth: int = 3) -> str:
    """A schema in one compact line, as prompts show it: TypeScript's notation of types.

    Args:
        schema: The schema, or a part of it.
        root: The whole schema, to which references are relative.
        depth: Levels of objects and lists to show; below them, `object` and `array`.

    >>> root = {"type": "object", "required": ["to"], "properties": {
    ...     "to": {"type": "array", "items": {"type": "string", "format": "email"}},
    ...     "size": {"enum": ["S", "M"], "default": "M"}}}
    >>> notation(root, root)
    '{to: email[], size?: "S" | "M" = "M"}'
    """
    schema = resolve(schema, root)
    text = _notation(schema, root, depth)
    return f"{text} = {_value(schema['default'])}" if schema.get("default") is not None else text


def _notation(schema: Schema, root: Schema, depth: int) -> str:
    if "const" in schema:
        return _value(schema["const"])
    if isinstance(values := schema.get("enum"), list) and values:
        more = " | …" if len(values) > _MOST_SHOWN else ""
        return " | ".join(map(_value, values[:_MOST_SHOWN])) + more
    if depth > 0:
        is_object = "properties" in schema or "allOf" in schema or schema.get("type") == "object"
        properties, required = _collected(schema, root, 0) if is_object else ({}, set())
        if properties or schema.get("properties") == {}:
            shown = (
                f"{name}{'' if name in required else '?'}: {notation(one, root, depth=depth - 1)}"
                for name, one in properties.items()
            )
            return "{" + ", ".join(shown) + "}"
        if schema.get("type") == "array" or "items" in schema:
            items = resolve(schema.get("items"), root)
            inner = _notation(items, root, depth - 1) if items else "any"
            return f"({inner})[]" if " | " in inner and not inner.startswith("{") else f"{inner}[]"
        for keyword in ("anyOf", "oneOf"):
            if isinstance(parts := schema.get(keyword), list) and parts:
                kinds = (_notation(resolve(part, root), root, depth - 1) for part in parts[:_MOST_SHOWN])
                return " | ".join(dict.fromkeys(kinds))
    return type_name(schema, root)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class Problem(NamedTuple):
    """What is wrong with a value.

    Attributes:
        path: The place in the arguments, e.g. `filter.tags[0]`.
        reason: One clause.
        keyword: The keyword of JSON Schema that fails, e.g. "enum".
    """

    path: str
    reason: str
    keyword: str


class _Output(str):
    """A reference to the output of another step, whose value is not known yet."""


class ArgumentValidator:
    """Validates arguments with the library `jsonschema`.

    References to other documents are not followed, patterns have a time limit, and a text that refers to the
    output of another step is valid in every place.

    Args:
        schema: The schema of the arguments object.

    Raises:
        ValueError: It is not a valid schema.

    >>> checker = ArgumentValidator({"properties": {"n": {"type": "integer"}}, "required": ["n"]})
    >>> checker.problems({"n": "four"})
    [Problem(path='n', reason="'four' is not of type 'integer'", keyword='type')]
    >>> checker.problems({"n": "<node-0>"}, lambda text: text.startswith("<node-"))
    []
    """

    def __init__(self, schema: Schema) -> None:
        from referencing import Registry

        if found := next(iter(schema_problems(schema)), None):
            raise ValueError(f"{found.path or 'the schema'}: {found.reason}")
        self._validator = _validator_class()(
            dict(schema), registry=Registry(), format_checker=_validator_class().FORMAT_CHECKER
        )

    def problems(
        self, arguments: Any, is_reference: Callable[[str], bool] = lambda text: False
    ) -> list[Problem]:
        """What is wrong with the arguments: the first problem of each place.

        Args:
            arguments: The arguments object, or whatever there is instead.
            is_reference: Whether a text refers to the output of another step.
        """
        found: dict[str, Problem] = {}
        try:
            for error in self._validator.iter_errors(_with_outputs(arguments, is_reference)):
                problem = _problem(error)
                found.setdefault(problem.path, problem)
        except RecursionError:
            return [Problem("", "is nested too deeply", "$ref")]
        except _unresolvable() as error:
            return [Problem("", f"its schema has an unknown reference: {error}"[:200], "$ref")]
        return list(found.values())


def schema_problems(schema: Any) -> Iterator[Problem]:
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
        yield Problem("", "is nested too deeply", "$ref")


def _problem(error: Any) -> Problem:
    from jsonschema.exceptions import best_match

    error = best_match([error]) or error
    reason = " ".join(str(error.message).split())
    if len(reason) > 160:  # the value is at the beginning, what is wrong with it at the end
        reason = f"{reason[:60]} … {reason[-90:]}"
    path = error.json_path.removeprefix("$").removeprefix(".")
    return Problem(path, reason, str(error.validator))


def _with_outputs(value: Any, is_reference: Callable[[str], bool]) -> Any:
    if isinstance(value, str):
        return _Output(value) if is_reference(value) else value
    if isinstance(value, list):
        return [_with_outputs(item, is_reference) for item in value]
    if isinstance(value, Mapping):
        return {key: _with_outputs(item, is_reference) for key, item in value.items()}
    return value


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
        def check(validator: Any, given: Any, value: Any, schema: Any) -> Iterator[Any]:
            if isinstance(value, _Output) or (keyword in _UNDECIDED and _has_output(value)):
                return
            # An unknown value may fit several alternatives.
            chosen = "anyOf" if keyword == "oneOf" and _has_output(value) else keyword
            yield from checks[chosen](validator, given, value, schema) or ()

        return check

    def pattern(validator: Any, given: Any, value: Any, schema: Any) -> Iterator[Any]:
        from jsonschema import ValidationError

        if isinstance(value, str) and not isinstance(value, _Output) and _matches(given, value) is False:
            yield ValidationError(f"{value!r} does not match {given!r}")

    own = {name: guarded(name) for name in checks} | {"pattern": pattern}
    # These use `re` for the names in `patternProperties`, which has no time limit; tools rarely have them.
    own["patternProperties"] = own["unevaluatedProperties"] = lambda *given: ()
    guarded_additional = own["additionalProperties"]
    own["additionalProperties"] = lambda validator, given, value, schema: (
        () if "patternProperties" in schema else guarded_additional(validator, given, value, schema)
    )
    return extend(Draft202012Validator, own)


def _matches(pattern: Any, text: str) -> bool | None:
    """Whether a text matches; None if the pattern is not valid here or takes too long."""
    import regex

    try:
        return regex.search(str(pattern), text, timeout=_PATTERN_SECONDS) is not None
    except (regex.error, TimeoutError):
        return None


@cache
def _unresolvable() -> type[Exception]:
    from referencing.exceptions import Unresolvable

    return Unresolvable
