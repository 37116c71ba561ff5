"""What a result says: nothing was found, an error in an ordinary text, or a value that another call takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from toolassay.errors import as_called
from toolassay.executors.executor import CallResult, one_line
from toolassay.files.data_files import read_json, record_of, short_json, values_in
from toolassay.live_values.facts import without_secrets
from toolassay.plans.execution_record import SIMULATOR, Arguments
from toolassay.records.data_folder import DataFolder
from toolassay.tools.argument_schemas import Schema, properties_of
from toolassay.tools.results import is_refusal

RESULTS = "results.json"
"""File of what reading tools returned, `{tool: [{"arguments": …, "result": …}]}`."""
# Bounds of the schema that is derived from results: a result may be a database in JSON.
_DEEPEST = 8
_MOST_PROPERTIES = 60
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def is_opaque(schema: Schema | None) -> bool:
    """Whether an output schema says nothing of what is in a result: none, or a bare object.

    >>> is_opaque(None), is_opaque({"type": "object", "additionalProperties": True}), is_opaque({"items": {}})
    (True, True, False)
    """
    return schema is None or not ("items" in schema or properties_of(schema))


def schema_of_results(values: Sequence[Any], depth: int = 0) -> dict[str, Any]:
    """The schema that all values are valid against: types, properties, and those that every object has.

    >>> schema_of_results([{"id": 1}, {"id": 2, "name": "Ann"}])["required"]
    ['id']
    >>> schema_of_results([1, 2.5, None])
    {'type': ['null', 'number']}
    """
    if depth > _DEEPEST:
        return {}
    kinds = {"array" if isinstance(value, list) else _TYPES.get(type(value), "object") for value in values}
    if "number" in kinds:
        kinds.discard("integer")
    names = sorted(kinds)
    schema: dict[str, Any] = {}
    if names:
        schema["type"] = names[0] if len(names) == 1 else names
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        properties = list(dict.fromkeys(name for row in objects for name in row))[:_MOST_PROPERTIES]
        schema["properties"] = {
            name: schema_of_results([row[name] for row in objects if name in row], depth + 1)
            for name in properties
        }
        schema["required"] = [name for name in properties if all(name in row for row in objects)]
    items = [item for value in values if isinstance(value, list) for item in value]
    if items:
        schema["items"] = schema_of_results(items, depth + 1)
    return schema


# What a search says that finds nothing: "No matches found", "0 results"; not "No. 7".
_NOTHING = re.compile(r"\s*(?:no|0)\s+(?:\w+\s+){0,2}(?:found|match\w*|results?|changes?)\b.*", re.IGNORECASE)
# A heading with nothing below it: "Commit history:"; not "Note: none".
_HEADING = re.compile(r"\s*[^\n:]{1,80}:\s*")
# What separates a value from what a text says of it: "/a/b: Error - it is a directory".
_COLON = re.compile(r"['\"]?\s*[:-]\s*(?P<rest>[^\n]*)")
PROSE = frozenset(
    {"content", "text", "body", "message", "comment", "note", "observation", "description", "summary"}
)
"""Last words of names of texts, for which a writer has better values than those that are there."""
_PATHS = frozenset({"path", "file", "directory", "folder", "id", "uri", "url", "key"})
_LONGEST_VALUE = 80  # characters
_LONGEST_RESULT = 1_500  # characters
# Words of a plain value. A longer text is prose that no argument takes.
_MOST_WORDS = 4


class SeenCall(msgspec.Struct, frozen=True):
    """A call of a reading tool and what it returned, an entry of `results.json`.

    Attributes:
        arguments: By name.
        result: As text on one line, at most 1,500 characters.
    """

    arguments: dict[str, Any]
    result: str

    @classmethod
    def of(cls, arguments: Arguments, result: CallResult) -> SeenCall:
        """The call without what is named as a secret.

        >>> SeenCall.of({"id": 7}, CallResult.of({"name": "Ann", "password": "x"}))
        SeenCall(arguments={'id': 7}, result='{"name": "Ann"}')
        """
        value = without_secrets(result.value)
        shown = value if isinstance(value, str) else short_json(value, _LONGEST_RESULT)
        return cls(without_secrets(arguments), one_line(shown, _LONGEST_RESULT))


def read_results(folder: DataFolder) -> dict[str, list[SeenCall]]:
    """What reading tools returned when values were collected, by tool; empty without `results.json`.

    Raises:
        UsageError: It is malformed.
    """
    path = folder.path / RESULTS
    fix = f"delete it, or collect again with {as_called('generate', values_from='…', force=True)}"
    return record_of(read_json(path) if path.is_file() else {}, dict[str, list[SeenCall]], file=path, fix=fix)


def real_results(folder: DataFolder) -> dict[str, str]:
    """One result of each reading tool that a server returned; none of a simulation, which made them up."""
    if (folder.benchmark.values_from or {}).get("executor") == SIMULATOR:
        return {}
    return {tool: calls[0].result for tool, calls in read_results(folder).items() if calls}


def is_empty(result: CallResult) -> bool:
    """Whether a call found nothing.

    >>> is_empty(CallResult.of({"entities": []})), is_empty(CallResult.of("No matches found"))
    (True, True)
    >>> is_empty(CallResult.of("Commit history:")), is_empty(CallResult.of(0))
    (True, False)
    >>> is_empty(CallResult.of({"data": {"items": [], "total": 0, "page": 1}}))
    True
    """
    value = result.value
    if isinstance(value, dict) and len(value) == 1 and isinstance(only := next(iter(value.values())), str):
        value = only
    if isinstance(value, dict):
        parts = [*values_in(value)][1:]
        contents = [part for part in parts if part not in ([], {}, "", None) and not isinstance(part, dict)]
        # Beside an empty list, a count of 0 and other numbers, such as that of a page, are nothing.
        named = (pair for part in (value, *parts) if isinstance(part, dict) for pair in part.items())
        counts = [
            count for name, count in named if re.search("count|total|size|num|hits|matches", name, re.I)
        ]
        is_page = 0 in counts and any(part in ([], {}) for part in parts)
        return not contents or (
            is_page and all(isinstance(part, int) and part is not True for part in contents)
        )
    if isinstance(value, str):
        return any(pattern.fullmatch(value) for pattern in (_NOTHING, _HEADING)) or not value.strip()
    return value in ([], None)


def values_with_errors(result: CallResult, arguments: Arguments) -> list[str]:
    """The values of a call for which a text reports an error, beside results for others.

    >>> text = CallResult.of("a.txt: hello b: Error - it is a directory")
    >>> values_with_errors(text, {"paths": ["a.txt", "b"]})
    ['b']
    """
    named_values = []
    texts = [text for text in values_in(arguments) if text and isinstance(text, str)]
    for value in dict.fromkeys(texts):
        position = result.text.find(value)
        while position >= 0:
            after = _COLON.match(result.text, position + len(value))
            if after and is_refusal(after["rest"]):
                named_values.append(value)
                break
            position = result.text.find(value, position + len(value))
    return named_values


def is_plain_value(value: Any, words: frozenset[str]) -> bool:
    """Whether a value of a result is one that a call takes, not a text about it.

    Args:
        value: The value.
        words: Of the name of the argument.

    >>> is_plain_value("BK-2041", frozenset({"id"})), is_plain_value("Created a.txt", frozenset({"path"}))
    (True, False)
    >>> is_plain_value("Created a.txt", frozenset({"text"})), is_plain_value([{"id": 1}], frozenset())
    (True, False)
    """
    if isinstance(value, list):
        return all(is_plain_value(item, words) for item in value)
    if isinstance(value, dict):
        return False
    if not isinstance(value, str) or words & PROSE:
        return True
    if not value.strip() or len(value) > _LONGEST_VALUE or "\n" in value or value[:1] in ("[", "{", "<"):
        return False
    return len(value.split()) <= (1 if words & _PATHS else _MOST_WORDS)
