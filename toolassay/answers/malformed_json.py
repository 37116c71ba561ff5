"""Repairs malformed JSON of models.

Handles typographic and single quotes, Python literals, comments, trailing commas and Markdown escapes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, SupportsIndex

from toolassay.answers.spans import SINGLE_QUOTED_TOKEN, STRICT_STRING, token_of

_REPAIRED = 50_000  # maximum characters of an object to repair; a plan has a few thousand

NOTHING = object()
"""Returned instead of a value for a text that is not JSON; None is a valid JSON value."""

# The next two match a whole string first (group 1), so that its content is never changed.
# A trailing comma: matches the last comma of '{"a": 1, }', not that of '{"a": 1, "b": 2}' or '"a, }"'.
_TRAILING_COMMA = re.compile(rf"({STRICT_STRING})|,(?=\s{{0,200}}[}}\]])", re.DOTALL)
_PYTHON_LITERALS = {"True": "true", "False": "false", "None": "null"}
# A Python literal: matches True in "{'a': True}", not in "Truely" or '"True"'.
_PYTHON_LITERAL = re.compile(rf"({STRICT_STRING})|\b(True|False|None)\b", re.DOTALL)
# A double quote or an escape inside a string: matches '"' and "\'", not a bare apostrophe.
_INNER_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_INNER_QUOTES = {r"\'": "'", '"': r"\""}
# A backslash with its character: matches "\_" and, as one escape, "\\"; not a backslash at the end.
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MARKDOWN = frozenset("_*[]{}()<>#~`|!-.+&$'")  # characters that Markdown escapes with a backslash


def repaired_values(span: str, *, whole: bool, meter: list[int]) -> Iterator[Any]:
    """Yield the possible values of a malformed object, the most reliable first; `NOTHING` for a failure.

    Args:
        span: Text of the object.
        whole: Whether the object is closed; an unclosed one is repaired by json_repair only.
        meter: A list with one number, the characters that json_repair may still read; it is reduced.
    """
    if len(span) > _REPAIRED:
        return
    span = _without_markdown_escapes(span)
    if whole:
        yield load(_respelled(span), strict=False)
    yield _repair(span, meter)


def load(text: str, *, strict: bool = True) -> Any:
    """The JSON value of a text, or `NOTHING`. `strict=False` allows control characters in strings."""
    try:
        return json.loads(text, strict=strict, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return NOTHING


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _respelled(text: str) -> str:
    """Replace quotes and literals by those of JSON, and remove comments and trailing commas.

    json_repair handles these too, but it drops empty strings next to comments and cuts text in typographic
    quotes at its commas. Here every string keeps its content.
    """
    plain = token_of(text, 0).sub(lambda token: _respelled_token(token[0]), text)
    plain = _TRAILING_COMMA.sub(lambda match: match[1] or "", plain)
    return _PYTHON_LITERAL.sub(lambda match: match[1] or _PYTHON_LITERALS[match[2]], plain)


def _respelled_token(token: str) -> str:
    if token[0] in "/#":
        return " "
    if token[0] in '{}[]"':
        return token
    return '"' + _INNER_QUOTE.sub(lambda match: _INNER_QUOTES.get(match[0], match[0]), token[1:-1]) + '"'


class _Metered(str):
    """A string that raises `_TooMuchWork` after a number of reads.

    json_repair looks ahead from every unpaired quote and bracket, so a few kilobytes of them would take it
    minutes.
    """

    __slots__ = ("meter",)
    meter: list[int]

    @classmethod
    def of(cls, text: str, meter: list[int]) -> _Metered:
        metered = cls(text)
        metered.meter = meter
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.meter[0] -= 1 + len(part) // 100
        if self.meter[0] < 0:
            raise _TooMuchWork
        return _Metered.of(part, self.meter) if isinstance(key, slice) else part

    def __add__(self, other: str) -> str:
        return _Metered.of(super().__add__(other), self.meter)


class _TooMuchWork(Exception):
    pass


def _repair(text: str, meter: list[int]) -> Any:
    from json_repair import repair_json

    try:
        value = repair_json(_Metered.of(text, meter), return_objects=True, skip_json_loads=True)
        return json.loads(json.dumps(value))  # converts `_Metered` back to plain strings
    except Exception:  # whatever json_repair raises, a failed repair must not end a run
        return NOTHING


def _without_markdown_escapes(text: str) -> str:
    r"""Remove backslashes of Markdown escapes that JSON does not have: `task\_nodes` -> `task_nodes`."""
    kept = "'" if token_of(text, 0) is SINGLE_QUOTED_TOKEN else ""
    return _ESCAPE.sub(
        lambda escape: escape[1] if escape[1] in _MARKDOWN and escape[1] != kept else escape[0], text
    )
