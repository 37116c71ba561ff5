"""Where the objects in a text are. A text made to be slow costs no more than a bounded number of steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

DEEPEST = 100
"""Levels of nesting that are read; plans and requests need fewer than ten."""
SCANNED = 1_200_000
"""Characters read in search of objects, all attempts together."""
_OBJECTS = 500  # objects found; their scan is bounded by SCANNED, this bounds the list

_CLOSING_FENCE = re.compile(r"\n[ \t]{0,8}```")
OBJECT_START = re.compile(
    r"\{\s{0,200}(?:(?P<escaped>\\+\")|[\"'“”‘`}/#]|[^\W\d]\w{0,60}\\{0,2}\w{0,60}\s?:|\Z)"
)
_QUOTED = r"(?:[^{q}\\]++|\\.|[{q}](?!\s{{0,80}}[,:}}\]]))*+[{q}]?"
_COMMENT = r"//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
STRICT_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_SMART_STRING = "[“”]" + _QUOTED.format(q="“”")
_TOKEN = re.compile(rf"{STRICT_STRING}|{_SMART_STRING}|[{{}}\[\]]|{_COMMENT}", re.DOTALL)
_SINGLE_STRING = "['‘]" + _QUOTED.format(q="'’")
SINGLE_QUOTED_TOKEN = re.compile(
    rf"{STRICT_STRING}|{_SINGLE_STRING}|{_SMART_STRING}|[{{}}\[\]]|{_COMMENT}", re.DOTALL
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PLAIN_ESCAPE = {"n": "\n", "t": "\t", "r": "\r"}


class Span(NamedTuple):
    """An object in a text: where it is, and whether it is closed."""

    source: str
    start: int
    end: int
    whole: bool

    @property
    def text(self) -> str:
        """The object as it is written."""
        return self.source[self.start : self.end]


def spans(text: str) -> Iterator[Span]:
    """The objects in a text, in order; what is inside an unclosed one comes after it."""
    position, budget = 0, SCANNED
    for _ in range(_OBJECTS):
        start = OBJECT_START.search(text, position)
        if start is None or budget <= 0:
            return
        if start["escaped"]:
            # JSON inside a JSON string, the outer quotes lost or cut off.
            text, position = _unescaped(text[start.start() :]), 0
            continue
        end, whole = end_of_object(text, start.start())
        budget -= end - start.start()
        position = end if whole else start.end()
        yield Span(text, start.start(), end, whole)


def end_of_object(text: str, start: int) -> tuple[int, bool]:
    """Where the object that starts at `start` ends, and whether it is closed.

    A closing bracket closes what stands open inside it, too: there a bracket is missing, but no tail.
    """
    expected: list[str] = []
    end = len(text)
    last_close = start
    for token in token_of(text, start).finditer(text, start):
        sign = text[token.start()]
        if sign in "{[":
            expected.append("}" if sign == "{" else "]")
            if len(expected) > DEEPEST:
                return end, False
        elif sign in "}]" and sign in expected:
            while expected.pop() != sign:
                pass
            last_close = token.end()
            if not expected:
                return last_close, True
    body = text[start:].rstrip("` \t\r\n")
    if body.endswith("}") and all(body.count(a) == body.count(b) for a, b in ("{}", "[]")):
        return end, True  # a stray quote hid the brackets; by their number the object is closed
    fence = _CLOSING_FENCE.search(text, max(last_close, start))
    if fence is not None:
        return fence.start(), False
    tail = text[last_close:].lstrip()
    return (end if last_close == start or not tail or tail[0] in ',"]}' else last_close), False


def token_of(text: str, start: int) -> re.Pattern[str]:
    """How to tell strings, brackets and comments apart: apostrophes quote only if the object begins so."""
    return SINGLE_QUOTED_TOKEN if text[start + 1 : start + 200].lstrip()[:1] in ("'", "‘") else _TOKEN


def _unescaped(text: str) -> str:
    """One level of JSON escapes taken back, without asking for a complete string."""
    return _ESCAPE.sub(lambda escape: _PLAIN_ESCAPE.get(escape[1], escape[1]), text)
