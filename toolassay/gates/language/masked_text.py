"""Data in a request is masked, so that grammar rules read only the sentences around it.

Quotations, addresses, file names, codes and JSON are values, not English. Each becomes one made-up word of
the same length, so places in the masked text are places in the request.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

Span = tuple[int, int]

# The longest quotation: a mark that nothing closes costs at most this many characters.
_QUOTED = 3_000
# Matches "'it isn't'", "“so”" and "`a b`"; not the apostrophes of "don't" and "the guests' rooms".
_QUOTATION = re.compile(
    rf"""
      `[^`]{{1,{_QUOTED}}}`
    | "[^"]{{1,{_QUOTED}}}"
    | “[^“”]{{1,{_QUOTED}}}”
    | «[^«»]{{1,{_QUOTED}}}»
    | „[^„“”]{{1,{_QUOTED}}}[“”]
    | (?<![\w'’])'(?=[^\s'])(?:[^'’]|['’](?=\w)){{1,{_QUOTED}}}['’](?!\w)
    | (?<!\w)‘(?:[^‘’]|’(?=\w)){{1,{_QUOTED}}}’(?!\w)
    """,
    re.VERBOSE,
)
# What blanks separate. A chunk longer than any word is looked at in pieces.
_CHUNK = re.compile(r"\S{1,400}")
# Marks around a word that are not part of it: "(see" and "there)."; the "$" of "$5" and "/" of "/home" are.
_OPENING, _CLOSING = "([{\"'“‘«¿¡*-–—…", ")]}\"'”’».,;:!?*-–—…"
# A word with digits is data unless it is a whole number: "3pm", "10:30", "2.50", "KX77"; not "12".
_NUMBER = re.compile(r"\d{1,12}")
# "getWeather", "iPhone", "McGregor"; not "Weather" nor "PDFs".
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
# A dot in a word: "example.jpg", "x.org", "Node.js"; not "end.Then", where a blank is missing, nor "e.g".
_DOTTED = re.compile(r"\w{2,}\.(?:[a-z]|[A-Z]{2}|\d)|[a-z]\.[a-z]{2}")
_MARKS = re.compile(r"[@#_\\=<>|~^$€£¥%°]|://|^www\.|^/|^\.{1,2}/|/.*/|::")


class MaskedText(NamedTuple):
    """A text in which data is replaced.

    Attributes:
        original: the text as it is.
        text: the same with each piece of data as one made-up word; same length.
        spans: where data is, in order, without overlaps.
    """

    original: str
    text: str
    spans: tuple[Span, ...]

    def touches_data(self, start: int, end: int) -> bool:
        """Whether the span holds data or is next to it, so that a rule may have read the made-up word."""
        place = bisect_left(self.spans, (start - 1, 0))
        near = self.spans[max(0, place - 1) : place + 1]
        return any(first <= end + 1 and start - 1 <= last for first, last in near)


def quotation_spans(text: str) -> Iterator[Span]:
    """Where quotations are, with their marks. The marks around a whole text quote nothing."""
    start, end = whole_text(text)
    return (match.span() for match in _QUOTATION.finditer(text, start, end))


def whole_text(text: str) -> Span:
    """The text within the marks that are around all of it; all of it without such marks."""
    core = text.strip()
    start = text.find(core)
    if (
        len(core) > 2
        and core[0] + core[-1] in ('""', "''", "“”", "``")
        and core.count(core[0]) < 3
        and core[-1] not in core[1:-1]
    ):
        return start + 1, start + len(core) - 1
    return 0, len(text)


def data_spans(text: str) -> list[Span]:
    r"""Where data is in a text.

    >>> text = "Send 'see you' to kai@x.org, don't wait for a.jpg or {\"n\": 1}."
    >>> [text[start:end] for start, end in data_spans(text)]
    ["'see you'", 'kai@x.org', 'a.jpg', '{"n": 1}']
    """
    larger = sorted([*quotation_spans(text), *_json_spans(text)])
    found: list[Span] = []
    end = 0
    for span in larger:
        if span[1] > end:
            found += _words_of_data(text, end, span[0])
            found.append((max(span[0], end), span[1]))
            end = span[1]
    return [*found, *_words_of_data(text, end, len(text))]


@lru_cache(maxsize=2)  # a request is masked to see its language, and again to read it
def mask(text: str) -> MaskedText:
    """Replace the data in a text.

    >>> mask("Open 'a b' now").text
    'Open Xxxxx now'
    """
    spans = tuple(data_spans(text))
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [text[end:start], "X", "x" * (stop - start - 1)]
        end = stop
    return MaskedText(text, "".join([*pieces, text[end:]]), spans)


def _words_of_data(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _CHUNK.finditer(text, start, end):
        chunk = match.group()
        core = chunk.lstrip(_OPENING)
        first = match.start() + len(chunk) - len(core)
        core = core.rstrip(_CLOSING)
        if core and _is_data(core):
            yield first, first + len(core)


def _is_data(word: str) -> bool:
    if word.isalpha():  # most words; no other pattern matches letters alone
        return not word.islower() and _INNER_CAPITAL.search(word) is not None
    if any(character.isdigit() for character in word):
        return _NUMBER.fullmatch(word) is None
    return bool(_INNER_CAPITAL.search(word) or _DOTTED.search(word) or _MARKS.search(word))


def _json_spans(text: str) -> Iterator[Span]:
    """The outermost brackets that hold JSON or a list of values: "[1, 2]", not "[see below]"."""
    opened: list[tuple[str, int]] = []
    for match in re.finditer(r"[\[\]{}]", text):
        mark = match.group()
        if mark in "[{":
            opened.append((mark, match.start()))
        elif opened and opened[-1][0] == {"]": "[", "}": "{"}[mark]:
            start = opened.pop()[1]
            inner = text[start + 1 : min(match.start(), start + 200)]
            if any(character in ",:\"'" or character.isdigit() for character in inner) or not inner.strip():
                yield start, match.end()
