"""Repairs JSON that models misspell.

Foreign quotes and literals, comments, trailing commas, Markdown escapes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, SupportsIndex

from toolassay.answers.spans import SINGLE_QUOTED_TOKEN, STRICT_STRING, token_of

_REPAIRED = 50_000  # characters of an object that is repaired; a plan has a few thousand

NOTHING = object()
"""What is there instead of a value, where a text is not JSON."""

_TRAILING_COMMA = re.compile(rf"({STRICT_STRING})|,(?=\s{{0,200}}[}}\]])", re.DOTALL)
_PYTHON_LITERALS = {"True": "true", "False": "false", "None": "null"}
_PYTHON_LITERAL = re.compile(rf"({STRICT_STRING})|\b(True|False|None)\b", re.DOTALL)
_INNER_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_INNER_QUOTES = {r"\'": "'", '"': r"\""}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MARKDOWN = frozenset("_*[]{}()<>#~`|!-.+&$'")


def repaired_values(span: str, *, whole: bool, meter: list[int]) -> Iterator[Any]:
    """The values that a misspelled object may mean, the safest first; `NOTHING` where a way fails.

    Args:
        span: the object as it is written.
        whole: whether it is closed; one that is not is left to json_repair.
        meter: how many characters json_repair may still look at, as its only item.
    """
    if len(span) > _REPAIRED:
        return
    span = _without_markdown_escapes(span)
    if whole:
        yield load(_respelled(span), strict=False)
    yield _repair(span, meter)


def load(text: str, *, strict: bool = True) -> Any:
    """The JSON value of a text; `NOTHING` if it is not JSON. `strict=False` allows raw line ends."""
    try:
        return json.loads(text, strict=strict, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return NOTHING


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _respelled(text: str) -> str:
    """The text with JSON's quotes and literals, without comments and trailing commas.

    json_repair knows these mistakes too, but drops empty strings next to comments and cuts what stands
    in typographic quotes at its commas; here every string keeps its content.
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
    """A text that can be read only so often.

    json_repair reads on from every odd quote and bracket to see what it may mean: a few kilobytes of
    them would keep it busy for minutes.
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
        return json.loads(json.dumps(value))  # plain strings again
    except Exception:  # a repair that fails in any way is no repair, and must not end a run
        return NOTHING


def _without_markdown_escapes(text: str) -> str:
    r"""Take back escapes that Markdown knows and JSON does not: `task\_nodes` for `task_nodes`."""
    kept = "'" if token_of(text, 0) is SINGLE_QUOTED_TOKEN else ""
    return _ESCAPE.sub(
        lambda escape: escape[1] if escape[1] in _MARKDOWN and escape[1] != kept else escape[0], text
    )
