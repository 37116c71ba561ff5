"""Arguments of imported tools: validated against the `input_schema` of the tool, as one object."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from toolassay.argument_schemas import ArgumentValidator, SchemaProblem, schema_at
from toolassay.backinstruct.critics import Spellings
from toolassay.errors import UsageError
from toolassay.files import line_of_item
from toolassay.gates.references import ReferenceReader, text_of_number
from toolassay.tools import Tool, ToolLibrary


@lru_cache(maxsize=8)
def validators_of(library: ToolLibrary) -> Mapping[str, ArgumentValidator]:
    """The validator of each tool with an `input_schema`; cached, as several gates and repairs need it.

    Raises:
        UsageError: an `input_schema` is not a valid schema; names the file, line and tool.
    """
    validators = {}
    for number, tool in enumerate(library, start=1):
        if tool.input_schema is None:
            continue
        try:
            validators[tool.id] = ArgumentValidator(tool.input_schema)
        except ValueError as error:
            path = library.path
            raise UsageError(
                f"'input_schema' of tool '{tool.id}' is not valid JSON Schema 2020-12: {error}",
                file=path,
                line=line_of_item(path, library.list_name, number, key="input_schema") if path else None,
                fix="correct it, or import the tools again: toolassay import --help",
            ) from None
    return validators


def takes_any_name(tool: Tool) -> bool:
    """Whether the `input_schema` says that further arguments are allowed.

    JSON Schema allows them by default; but then an unknown name is more likely an invented parameter.
    """
    schema = tool.input_schema or {}
    return bool(schema.get("additionalProperties")) or "patternProperties" in schema


def reference_test(reader: ReferenceReader, place: int) -> Callable[[str], bool]:
    """Whether a text of the node with index `place` is, as a whole, the output of another step."""

    def is_reference(text: str) -> bool:
        reading = reader.read(text, place)
        return reading is not None and reading.spelling != "inside"

    return is_reference


def path_text(parts: Sequence[str | int]) -> str:
    """A place in a value as text.

    >>> path_text(["filter", "tags", 0])
    '.filter.tags[0]'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


Place = tuple[str | int, ...]

# Values of one argument that are visited: a limit on time for deeply nested arguments.
_MOST_VALUES = 10_000


def texts_of(value: Any) -> Iterator[tuple[Place, str]]:
    """The texts in a JSON value, each with its place.

    >>> list(texts_of({"a": ["x", 1]}))
    [(('a', 0), 'x')]
    """
    waiting: list[tuple[Place, Any]] = [((), value)]
    for _ in range(_MOST_VALUES):
        if not waiting:
            return
        place, item = waiting.pop()
        if isinstance(item, str):
            yield place, item
        elif isinstance(item, list):
            waiting.extend(((*place, number), one) for number, one in reversed([*enumerate(item)]))
        elif isinstance(item, Mapping):
            waiting.extend(((*place, str(key)), one) for key, one in reversed([*item.items()]))


def value_at(value: Any, place: Place) -> Any:
    """The value at a place, which must exist."""
    for part in place:
        value = value[part]
    return value


def with_value(value: Any, place: Place, new: Any) -> Any:
    """A copy of a JSON value with a new value at a place.

    >>> with_value({"a": [1, 2]}, ("a", 0), 3)
    {'a': [3, 2]}
    """
    if not place:
        return new
    first, rest = place[0], place[1:]
    inner = with_value(value[first], rest, new)
    if isinstance(value, list):
        return [inner if number == first else item for number, item in enumerate(value)]
    return {**value, first: inner}


class CertainValue(NamedTuple):
    """The only value that a wrong one can mean."""

    value: Any


def certain_value(
    validator: ArgumentValidator,
    arguments: Mapping[str, Any],
    problem: SchemaProblem,
    is_reference: Callable[[str], bool],
) -> CertainValue | None:
    """The value that a wrong one means, if exactly one reading of it is valid; else None.

    Args:
        validator: of the tool.
        arguments: the arguments object.
        problem: of the value, as the validator reports it.
        is_reference: whether a text is the output of another step.

    >>> validator, text = ArgumentValidator({"properties": {"n": {"type": "integer"}}}), {"n": "4"}
    >>> certain_value(validator, text, validator.problems(text)[0], lambda text: False)
    CertainValue(value=4)
    """
    if not problem.parts or problem.keyword not in _OF_TYPES:
        return None
    schema = schema_at(problem.parts, validator.schema)
    found: list[Any] = []
    for value in _readings(value_at(arguments, problem.parts), schema):
        changed = with_value(arguments, problem.parts, value)
        others = validator.problems(changed, is_reference)
        if all(other.parts[: len(problem.parts)] != problem.parts for other in others):
            found.append(value)
    return CertainValue(found[0]) if len(found) == 1 else None


_OF_TYPES = frozenset({"type", "enum", "const", "anyOf", "oneOf"})
# "4", "-7.50"; not "007", which is a code, and not "1,000".
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?")
# "Ann, Bo" and "Ann and Bo" may be two items of a list.
_SEVERAL = re.compile(r"[,;\n]|\band\b|\bor\b", re.IGNORECASE)


def _readings(value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """The values of other types that a value may mean."""
    if isinstance(value, str):
        text = value.strip()
        if _NUMBER.fullmatch(text):
            yield int(float(text)) if "." in text and float(text).is_integer() else json.loads(text)
        elif text.casefold() in ("true", "false"):
            yield text.casefold() == "true"
        elif text[:1] in ("[", "{"):
            try:
                yield json.loads(text)
            except (ValueError, RecursionError):
                return
        choices = schema.get("enum")
        texts = [one for one in choices if isinstance(one, str)] if isinstance(choices, list) else []
        if (meant := Spellings(texts).meant(text)) is not None:
            yield meant
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield text_of_number(value)
    if not isinstance(value, list | Mapping) and not (isinstance(value, str) and _SEVERAL.search(value)):
        yield [value]
