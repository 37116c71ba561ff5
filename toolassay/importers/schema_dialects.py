"""Any dialect of JSON Schema -> JSON Schema 2020-12, valid by construction.

Read: drafts 4 to 2020-12, OpenAPI 3.0 and Swagger 2.0. Every keyword is checked against what 2020-12 allows
for it. What is not valid is left out and noted, because a model service refuses a whole request for one
wrong keyword. Unknown keywords (`x-…`) have no effect in JSON Schema and are kept.

Validating the result against the meta-schema would be the library's job, but it takes 50 µs for each node,
and a document has a million. The tests do it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from toolassay.importers.importer import Note
from toolassay.models.json_answers import NOTHING, load
from toolassay.tools.argument_schemas import (
    SUBSCHEMAS,
    ArgumentValidator,
    all_schemas,
    declared_at,
    json_type,
    pointed_at,
    type_name,
)
from toolassay.tools.type_names import read_types, types_of

MOST_NODES = 20_000
"""Schemas in one tool, references not followed; the largest of 527 tools of real servers has 900."""
# Levels of a schema that are converted. Deeper ones would exhaust the stack of readers.
DEEPEST = 64
_TYPES = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


_NUMBERS = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum")
_COUNTS = tuple(
    f"{end}{what}" for what in ("Length", "Items", "Properties", "Contains") for end in ("min", "max")
)
_TRUTHS = ("uniqueItems", "deprecated", "readOnly", "writeOnly")
_TEXTS = ("title", "description", "pattern", "format", "$comment", "contentEncoding", "contentMediaType")
_VALID: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(_NUMBERS, _is_number),
    **dict.fromkeys(_COUNTS, _is_count),
    **dict.fromkeys(_TRUTHS, lambda value: isinstance(value, bool)),
    **dict.fromkeys(_TEXTS, lambda value: isinstance(value, str)),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "examples": lambda value: isinstance(value, list),
    "enum": lambda value: isinstance(value, list) and bool(value),
    "required": _is_names,
    "dependentRequired": lambda value: isinstance(value, dict) and all(map(_is_names, value.values())),
}
# Places of a schema that says only a part of what holds: "properties.a.anyOf[0]", "then".
_PART = re.compile(r"(?:^|\.)(?:(?:allOf|anyOf|oneOf)\[\d+\]|not|if|then|else|dependentSchemas\.[^.]+)$")
# They name the dialect or give a schema a name; the result has one dialect and refers by path.
_DROPPED = frozenset({"$schema", "$vocabulary", "$id", "id", "$anchor", "$dynamicAnchor"})
# Keywords whose value may be null; of all others it says that the keyword is absent.
_NULLABLE = frozenset({"const", "default", "example"})


def _is_padding(schema: Any) -> bool:
    """Whether a schema is nothing but nulls: a table gives each row the keys of all rows.

    >>> _is_padding({"type": None, "items": {"type": None}}), _is_padding({"default": None}), _is_padding({})
    (True, False, False)
    """
    if not isinstance(schema, Mapping):
        return schema is None
    return not schema.keys() <= _NULLABLE and all(map(_is_padding, schema.values()))


class TooLarge(ValueError):
    """A schema exceeds `MOST_NODES` or `DEEPEST`."""


class Normalised(NamedTuple):
    """A schema in the dialect 2020-12.

    Attributes:
        schema: The schema.
        losses: What was lost, each at its place.
        warnings: What was not valid and is read as it is meant.
    """

    schema: dict[str, Any]
    losses: tuple[Note, ...] = ()
    warnings: tuple[Note, ...] = ()


class Normaliser:
    """Converts the schemas of one import; a definition that several tools share is converted once.

    >>> Normaliser().convert({"type": "string", "nullable": True, "example": "a"}).schema
    {'type': ['string', 'null'], 'examples': ['a']}
    >>> Normaliser().convert({"items": {"type": "Pet"}}).losses
    (Note(field='items.type', reason="no type 'Pet'"),)
    >>> Normaliser().convert({"type": "int64"}).warnings
    (Note(field='type', reason="'int64' is read as 'integer'"),)
    """

    def __init__(self) -> None:
        # By the identity of a definition, which is kept so that no other object gets its identity.
        self._definitions: dict[int, tuple[Any, Any, list[Note], list[Note], int]] = {}
        self._losses: list[Note] = []
        self._warnings: list[Note] = []
        self._nodes = 0

    def convert(self, schema: Mapping[str, Any]) -> Normalised:
        """Convert a whole schema, whose references are relative to itself.

        Raises:
            TooLarge: It exceeds a bound.
        """
        self._losses = []
        self._warnings = []
        self._nodes = 0
        result = self._schema(schema, "", 0)
        if not isinstance(result, dict):
            result = {}
        self._losses += _resolve_all(result)
        return Normalised(result, tuple(self._losses), tuple(self._warnings))

    def _lose(self, path: str, reason: str) -> None:
        self._losses.append(Note(path, reason))

    def _warn(self, path: str, reason: str) -> None:
        self._warnings.append(Note(path, reason))

    def _schema(self, written: Any, path: str, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise TooLarge(f"more than {MOST_NODES:,} schemas")
        if depth > DEEPEST:
            raise TooLarge(f"nested more than {DEEPEST} levels deep")
        if isinstance(written, bool):
            return written
        if not isinstance(written, Mapping):
            self._lose(path, "not a schema")
            return {}
        result: dict[str, Any] = {}
        marked: list[str] = []
        for key, value in _modern(written):
            at = f"{path}.{key}" if path else str(key)
            if key in _DROPPED and (key != "id" or isinstance(value, str)):
                continue
            if value is None and key not in _NULLABLE:
                continue
            if key == "type":
                self._type(value, result, at)
            elif key in ("$ref", "$dynamicRef"):
                self._reference(value, result, at)
            elif SUBSCHEMAS.get(key) == "one":
                result[key] = self._schema(value, at, depth + 1)
            elif SUBSCHEMAS.get(key) == "list":
                if isinstance(value, list) and value:
                    result[key] = [
                        self._schema(item, f"{at}[{number}]", depth + 1) for number, item in enumerate(value)
                    ]
                else:
                    self._lose(at, "not a list of schemas")
            elif SUBSCHEMAS.get(key) == "map":
                if isinstance(value, Mapping):
                    if key == "properties":
                        value = self._without_marks(value, at, marked)
                    convert = self._definition if key == "$defs" and depth == 0 else self._schema
                    result[key] = {
                        str(name): convert(item, f"{at}.{name}", depth + 1)
                        for name, item in value.items()
                        if not _is_padding(item)
                    }
                else:
                    self._lose(at, "not an object of schemas")
            elif key == "required" and isinstance(value, str):
                self._warn(at, "is a text, which is read as one name")
                marked.append(value)
            elif key in _VALID and not _VALID[key](value):
                self._lose(at, f"not valid: {str(value)[:40]}")
                names = value if key == "required" and isinstance(value, list) else ()
                marked += [name for name in names if isinstance(name, str)]
            elif key == "required":
                marked += value
            elif key not in ("nullable", "example"):
                result[key] = value
        if "enum" in result:
            result["enum"] = self._values(result["enum"], types_of(result), f"{path}.enum".lstrip("."))
        # An empty list says nothing, and draft 4 does not allow it.
        if required := self._declared(dict.fromkeys(marked), result, path):
            result["required"] = required
        return self._openapi(written, result)

    def _values(self, values: list[Any], kinds: Collection[str], path: str) -> list[Any]:
        """The values of an enum, each once; where only that fits, a text for a number or the other way."""

        def fits(value: Any) -> bool:
            kind = json_type(value)
            return not kinds or kind in ("null", *kinds) or (kind == "integer" and "number" in kinds)

        distinct_values = dict[str, Any]()
        for value in values:
            other = load(value) if isinstance(value, str) else json.dumps(value)
            if not fits(value) and other is not NOTHING and fits(other):
                self._warn(path, f"{json.dumps(value)[:40]} is read as {json.dumps(other)[:40]}")
                value = other
            key = json.dumps(value, sort_keys=True)
            if distinct_values.setdefault(key, value) is not value:
                self._warn(path, f"{key[:40]} is repeated; left out")
        return [*distinct_values.values()]

    def _without_marks(self, properties: Mapping[str, Any], path: str, required: list[str]) -> dict[str, Any]:
        """Properties without the mark `required` of draft 3; the names of required ones go to a list."""
        plain = dict(properties)
        for name, property_schema in properties.items():
            mark = (
                str(property_schema.get("required")).casefold()
                if isinstance(property_schema, Mapping)
                else ""
            )
            if mark in ("true", "false"):
                plain[name] = {key: item for key, item in property_schema.items() if key != "required"}
                required += [str(name)] if mark == "true" else []
                self._warn(f"{path}.{name}.required", f"is read as {mark} for this property, as in draft 3")
        return plain

    def _declared(self, names: Iterable[str], result: Mapping[str, Any], path: str) -> list[str]:
        """The required names without those that no property declares, if all properties are known."""
        parts = [
            part
            for keyword in ("allOf", "anyOf", "oneOf", "prefixItems")
            for part in result.get(keyword, ())
            if isinstance(part, Mapping)
        ]
        is_open = result.get("additionalProperties") or "patternProperties" in result
        if (
            is_open
            or _PART.search(path)
            or any("$ref" in part for part in (result, *parts))
            or (path and "properties" not in result)
        ):
            return [*names]
        declared = declared_at(result, result)
        for name in names:
            if name not in declared:
                self._warn(
                    f"{path}.required".lstrip("."), f"names '{name[:40]}', which is no property; left out"
                )
        return [name for name in names if name in declared]

    def _definition(self, written: Any, path: str, depth: int) -> Any:
        """A definition; its losses are noted for each tool that has it, under the path of the first."""
        if id(written) in self._definitions:
            _, result, losses, warnings, nodes = self._definitions[id(written)]
            self._nodes += nodes
            self._losses += losses
            self._warnings += warnings
            return result
        n_losses = len(self._losses)
        n_warnings = len(self._warnings)
        n_nodes = self._nodes
        result = self._schema(written, path, depth)
        notes = self._losses[n_losses:], self._warnings[n_warnings:]
        self._definitions[id(written)] = written, result, *notes, self._nodes - n_nodes
        return result

    def _type(self, value: Any, result: dict[str, Any], path: str) -> None:
        names = value if isinstance(value, list) else [value]
        known_names = [name for name in names if isinstance(name, str) and name in _TYPES]
        unknown_names = [name for name in names if name not in known_names]
        if unknown_names and (declared := read_types(value)) is not None:
            for key, item in declared.items():
                result.setdefault(key, item)
            called = type_name(declared, {})
            self._warn(path, f"{', '.join(map(repr, unknown_names))[:60]} is read as '{called}'")
            return
        if unknown_names:
            self._lose(path, f"no type {str(unknown_names[0])[:40]!r}")
        if known_names:
            distinct = list(dict.fromkeys(known_names))
            result["type"] = distinct[0] if len(distinct) == 1 else distinct

    def _reference(self, value: Any, result: dict[str, Any], path: str) -> None:
        if not isinstance(value, str) or not value.startswith("#"):
            self._lose(path, f"a reference to another document: {str(value)[:60]}")
            return
        # The keyword "definitions" becomes "$defs" everywhere; a property of that name follows "properties".
        result["$ref"] = re.sub(r"(?<!/properties)/definitions/", "/$defs/", value)

    def _openapi(self, written: Mapping[str, Any], result: dict[str, Any]) -> dict[str, Any]:
        """Apply `nullable` and `example` of OpenAPI 3.0, which is not alone, and Swagger's `x-nullable`."""
        if "example" in written:
            result.setdefault("examples", [written["example"]])
        if written.get("nullable") is not True and written.get("x-nullable") is not True:
            return result
        result.pop("x-nullable", None)
        if isinstance(enum := result.get("enum"), list) and None not in enum:
            result["enum"] = [*enum, None]
        kind = result.get("type")
        if isinstance(kind, str | list):
            result["type"] = list(dict.fromkeys([*([kind] if isinstance(kind, str) else kind), "null"]))
            return result
        if not {"$ref", "allOf", "anyOf", "oneOf"} & result.keys():
            return result
        either: dict[str, Any] = {"anyOf": [result, {"type": "null"}]}
        kept = [key for key in ("title", "description", "examples", "default", "$defs") if key in result]
        return either | {key: result.pop(key) for key in kept}


def _modern(written: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keywords of a schema in the spelling of 2020-12; others as they are."""
    for key, value in written.items():
        if key == "definitions":
            if not isinstance(value, Mapping) or "$defs" not in written:
                yield "$defs", value
        elif (
            key == "$defs" and isinstance(value, Mapping) and isinstance(written.get("definitions"), Mapping)
        ):
            yield key, {**written["definitions"], **value}
        elif key == "items" and isinstance(value, list):
            yield "prefixItems", value
            if "additionalItems" in written:
                yield "items", written["additionalItems"]
        elif key == "additionalItems":
            continue
        elif key == "dependencies":
            if not isinstance(value, Mapping):
                yield "dependentSchemas", value  # not valid there either, and noted
                continue
            names = {name: item for name, item in value.items() if isinstance(item, list)}
            if names:
                yield "dependentRequired", names
            if schemas := {name: item for name, item in value.items() if name not in names}:
                yield "dependentSchemas", schemas
        elif key in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
            bound = "minimum" if key == "exclusiveMinimum" else "maximum"
            if value and bound in written:
                yield key, written[bound]
        elif key in ("minimum", "maximum") and written.get(f"exclusive{key.capitalize()}") is True:
            continue
        else:
            yield str(key), value


def _resolve_all(root: dict[str, Any]) -> list[Note]:
    """Define what references miss, as {}, and remove other references to nothing; returns the losses.

    Definitions may be shared with other tools, so they are not changed.
    """
    losses: list[Note] = []
    for schema, path in all_schemas(root):
        reference = schema.get("$ref")
        if isinstance(reference, str) and pointed_at(reference, root) is None:
            losses.append(Note(f"{path}.$ref".lstrip("."), f"a reference to nothing: {reference[:60]}"))
            name = reference.removeprefix("#/$defs/")
            if name != reference and "/" not in name:
                root.setdefault("$defs", {})[name.replace("~1", "/").replace("~0", "~")] = {}
            else:
                del schema["$ref"]
    return losses


_Checked = dict[int, tuple[dict[str, Any], list[Note]]]


def misfitting_values(root: dict[str, Any], checked: _Checked | None = None) -> Iterator[Note]:
    """Defaults and examples that their own schema forbids; null as a default says that there is none.

    Args:
        root: The schema of the arguments.
        checked: What was found in schemas that several tools share, by their identity; it is added to.

    >>> list(misfitting_values({"properties": {"n": {"type": "integer", "maximum": 5, "default": 9}}}))
    [Note(field='properties.n.default', reason='9 is greater than the maximum of 5')]
    """
    checked = {} if checked is None else checked
    for schema, path in all_schemas(root):
        values = [("default", value) for value in [schema.get("default")] if value is not None]
        values += [("examples", value) for value in schema.get("examples", ())]
        if values and id(schema) not in checked:
            checker = ArgumentValidator({**schema, "$defs": root.get("$defs", {})}, is_valid=True)
            faults = [(key, checker.problems(value)[:1]) for key, value in values]
            notes = [
                Note(f"{path}.{key}".lstrip("."), problem.reason)
                for key, problems in faults
                for problem in problems
                if problem.keyword != "$ref"
            ]
            checked[id(schema)] = schema, notes
        yield from checked[id(schema)][1] if values else ()
