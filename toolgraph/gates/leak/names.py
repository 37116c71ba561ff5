"""The names of tools as rows of words, and where in a text such rows stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

_RUN = re.compile(r"[^\W_]+")
_INSIDE = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# What may stand between two words of a name: nothing, a mark, blanks, a line break after a mark.
_GAP = re.compile(r"[-_/.:]?|[-_]?\s{1,6}[-_]?|\s?[()&]\s?|\s?[-_/]\s?")
_IDENTIFIER = re.compile(r"\S*(?:[_./:#]|[^\W_A-Z][A-Z])\S*|[a-z\d]+(?:-[a-z\d]+)+")


class Word(NamedTuple):
    """A word of a text, in lower case, with its first character and the one behind it."""

    text: str
    start: int
    end: int


class Name(NamedTuple):
    """The name of a tool: its words in lower case, and whether a program would write it so (`send_email`)."""

    tool: str
    words: tuple[str, ...]
    is_identifier: bool


class Place(NamedTuple):
    """Where a name stands in a text, with the characters between its words."""

    name: Name
    start: int
    end: int
    gaps: tuple[str, ...]


def words_of(text: str) -> list[Word]:
    """The words of a text; what is written as one with capitals inside falls apart.

    >>> [word.text for word in words_of("sendEmail to HTTPServer_2")]
    ['send', 'email', 'to', 'http', 'server', '2']
    """
    found = []
    for run in _RUN.finditer(text):
        start = run.start()
        for part in _INSIDE.split(run.group()):
            found.append(Word(part.casefold(), start, start + len(part)))
            start += len(part)
    return found


class Names:
    """Finds the names of many tools in a text, by the words they begin with.

    >>> names = Names(["Image Search", "Image Search (by Image)"])
    >>> [place.name.tool for place in names.find("an image search (by image), then an image_search")]
    ['Image Search (by Image)', 'Image Search']
    """

    def __init__(self, tools: Iterable[str]) -> None:
        self._names: dict[tuple[str, ...], Name] = {}
        self._lengths: dict[str, set[int]] = {}
        self._written_as_one: dict[str, Name] = {}
        for tool in tools:
            words = tuple(word.text for word in words_of(tool))
            if not words or words in self._names:
                continue
            name = Name(tool, words, _IDENTIFIER.fullmatch(tool.strip()) is not None)
            self._names[words] = name
            self._lengths.setdefault(words[0], set()).add(len(words))
            if len(words) > 1:
                self._written_as_one.setdefault("".join(words), name)

    def find(self, text: str) -> Iterator[Place]:
        """Each place of a name, the longest where several begin, none within another."""
        words = words_of(text)
        place = 0
        while place < len(words):
            found = self._at(text, words, place)
            if found is None:
                place += 1
                continue
            yield found
            while place < len(words) and words[place].start < found.end:
                place += 1

    def _at(self, text: str, words: list[Word], place: int) -> Place | None:
        first = words[place]
        for length in sorted(self._lengths.get(first.text, ()), reverse=True):
            row = words[place : place + length]
            name = self._names.get(tuple(word.text for word in row))
            if name is None:
                continue
            gaps = tuple(text[one.end : two.start] for one, two in pairwise(row))
            if all(_GAP.fullmatch(gap) for gap in gaps) and not _is_inside(text, row[0].start, row[-1].end):
                return Place(name, first.start, row[-1].end, gaps)
        written = self._written_as_one.get(first.text)
        if written is not None and not _is_inside(text, first.start, first.end):
            return Place(written, first.start, first.end, ())
        return None


def _is_inside(text: str, start: int, end: int) -> bool:
    """Whether a stretch is a part of a longer identifier or address."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before.isalnum() or after.isalnum() or "_" in (before, after):
        return True
    return (before in ("@", "/", ".", "#") and text[start - 2 : start - 1].isalnum()) or (
        after in ("@", "/", ".", "=") and text[end + 1 : end + 2].isalnum()
    )
