"""Finds the JSON objects in a text, in a bounded number of steps even for hostile texts.

The patterns use possessive and bounded quantifiers, so that no text makes them backtrack for long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

DEEPEST = 100
"""Maximum levels of nesting; plans and requests need fewer than ten."""
LONGEST = 2_000_000
"""Maximum characters of an answer that is parsed; the longest outputs of models have about half of that."""
SCANNED = 1_200_000
"""Maximum characters that all searches for objects in one text may read."""
_OBJECTS = 500  # maximum objects in a text; bounds the list, as SCANNED bounds the scan

# A closing fence: matches the line "```" after an object, not a fence in the middle of a line.
_CLOSING_FENCE = re.compile(r"\n[ \t]{0,8}```")
# A brace that starts an object: matches '{"a"', "{'a'", "{a:", "{}" and '{\"a' (escaped), not "{see above}".
OBJECT_START = re.compile(
    r"\{\s{0,200}(?:(?P<escaped>\\+\")|[\"'“”‘`}/#]|[^\W\d]\w{0,60}\\{0,2}\w{0,60}\s?:|\Z)"
)
# The rest of a string in the quotes q. A quote ends it only before ",", ":", "}" or "]": in 'it's', 'b'
# the apostrophe does not.
_QUOTED = r"(?:[^{q}\\]++|\\.|[{q}](?!\s{{0,80}}[,:}}\]]))*+[{q}]?"
# A comment: matches "// x", "# x" and "/* x */", also unclosed; not "a / b".
_COMMENT = r"//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
# A string of valid JSON: matches '"a \" b"', also unclosed; not "'a'".
STRICT_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_SMART_STRING = "[“”]" + _QUOTED.format(q="“”")
# Everything that matters for nesting: strings, brackets and comments; matches "{" in '{"a"', not in '"{"'.
_TOKEN = re.compile(rf"{STRICT_STRING}|{_SMART_STRING}|[{{}}\[\]]|{_COMMENT}", re.DOTALL)
_SINGLE_STRING = "['‘]" + _QUOTED.format(q="'’")
# The same with strings in single quotes: matches "'a'" in "{'a'" as one string.
SINGLE_QUOTED_TOKEN = re.compile(
    rf"{STRICT_STRING}|{_SINGLE_STRING}|{_SMART_STRING}|[{{}}\[\]]|{_COMMENT}", re.DOTALL
)
# A backslash with its character: matches "\n" and, as one escape, "\\"; not a backslash at the end.
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PLAIN_ESCAPE = {"n": "\n", "t": "\t", "r": "\r"}


class Span(NamedTuple):
    """An object in a text.

    Attributes:
        source: The text.
        start: Position of its opening brace.
        end: Position after its end.
        whole: Whether it is closed.
    """

    source: str
    start: int
    end: int
    whole: bool

    @property
    def text(self) -> str:
        """The text of the object."""
        return self.source[self.start : self.end]


def spans(text: str) -> Iterator[Span]:
    """Yield the objects in a text in order; after an unclosed one, also the objects inside it."""
    position, budget = 0, SCANNED
    for _ in range(_OBJECTS):
        start = OBJECT_START.search(text, position)
        if start is None or budget <= 0:
            return
        if start["escaped"]:
            # JSON inside a JSON string whose outer quotes are missing.
            text, position = _unescaped(text[start.start() :]), 0
            continue
        end, whole = end_of_object(text, start.start())
        budget -= end - start.start()
        position = end if whole else start.end()
        yield Span(text, start.start(), end, whole)


def end_of_object(text: str, start: int) -> tuple[int, bool]:
    """The end of the object that starts at `start`, and whether it is closed.

    A closing bracket also closes the unclosed brackets inside it: a bracket is missing there, but nothing was
    cut off.
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
        return end, True  # a stray quote hid the brackets; their counts show that the object is closed
    fence = _CLOSING_FENCE.search(text, max(last_close, start))
    if fence is not None:
        return fence.start(), False
    tail = text[last_close:].lstrip()
    return (end if last_close == start or not tail or tail[0] in ',"]}' else last_close), False


def token_of(text: str, start: int) -> re.Pattern[str]:
    """The tokenizer pattern of an object: apostrophes are quotes only if its first key is in them."""
    return SINGLE_QUOTED_TOKEN if text[start + 1 : start + 200].lstrip()[:1] in ("'", "‘") else _TOKEN


def _unescaped(text: str) -> str:
    """Remove one level of JSON escapes; the text need not be a complete string."""
    return _ESCAPE.sub(lambda escape: _PLAIN_ESCAPE.get(escape[1], escape[1]), text)
