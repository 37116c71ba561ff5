"""The names of tools as rows of words, and where in a text such rows stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

_RUN = re.compile(r"[^\W_]+")
# Chinese, Japanese and Korean, which set no blanks where words of other scripts begin.
_EAST = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_INSIDE = re.compile(
    rf"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[{_EAST}])(?=\w)|(?<=\w)(?=[{_EAST}])"
)
# What may stand between two words of a name: nothing, a mark, blanks, a line break after a mark.
_GAP = re.compile(r"[-_/.:]?|[-_]?\s{1,6}[-_]?|\s?[()&]\s?|\s?[-_/]\s?")
_IDENTIFIER = re.compile(r"\S*(?:[_./:#]|[^\W_A-Z][A-Z])\S*|[a-z\d]+(?:-[a-z\d]+)+")

_JOINTS = ("", "_", "-", ".", "/", ":")
_MOST_JOINED = 8
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"'`]+", re.IGNORECASE)
_PART = re.compile(r"(?<=/)[\w-]+(?=[/?#),;!]|\.?$)")


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
    gaps: tuple[str, ...] = ()

    @property
    def is_eastern(self) -> bool:
        """Whether it is written in a script without blanks."""
        return all(re.match(rf"[{_EAST}]", word) for word in self.words)


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
            row = words_of(tool)
            words = tuple(word.text for word in row)
            if not words or words in self._names:
                continue
            name = Name(tool, words, _IDENTIFIER.fullmatch(tool.strip()) is not None, _gaps(tool, row))
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
            name = self._named(tuple(word.text for word in row))
            if name is None:
                continue
            gaps = _gaps(text, row)
            fits = all(_GAP.fullmatch(gap) for gap in gaps) or gaps == name.gaps
            if fits and not _is_inside(text, row[0].start, row[-1].end):
                return Place(name, first.start, row[-1].end, gaps)
        return self._joined(text, words, place)

    def _named(self, words: tuple[str, ...]) -> Name | None:
        """The name that words are, or are several of ("Image Editors")."""
        name = self._names.get(words)
        if name is None and len(words) > 1 and words[-1].endswith("s"):
            name = self._names.get((*words[:-1], words[-1][:-1]))
        return name

    def _joined(self, text: str, words: list[Word], place: int) -> Place | None:
        """A name whose words are written as one, or as others: "texttospeech", "slack_postmessage"."""
        joined = ""
        for end in range(place, min(place + _MOST_JOINED, len(words))):
            if end > place and text[words[end - 1].end : words[end].start] not in _JOINTS:
                return None
            joined += words[end].text
            name = self._written_as_one.get(joined)
            if name is not None and not _is_inside(text, words[place].start, words[end].end):
                gaps = _gaps(text, words[place : end + 1])
                return Place(name, words[place].start, words[end].end, gaps)
        return None

    def in_addresses(self, text: str) -> Iterator[Place]:
        """Each part of a web address that is a name of several words: `https://x.org/api/send-email`."""
        for address in _ADDRESS.finditer(text):
            for part in _PART.finditer(address.group()):
                row = words_of(part.group())
                name = self._names.get(tuple(word.text for word in row))
                if name is not None and len(row) > 1:
                    start = address.start() + part.start()
                    yield Place(name, start, start + len(part.group()), _gaps(part.group(), row))


def _gaps(text: str, row: list[Word]) -> tuple[str, ...]:
    return tuple(text[one.end : two.start] for one, two in pairwise(row))


def _is_inside(text: str, start: int, end: int) -> bool:
    """Whether a stretch is a part of a longer identifier or address."""
    before, after = (
        re.sub(f"[{_EAST}]", " ", part) for part in (text[start - 1 : start], text[end : end + 1])
    )
    if before.isalnum() or after.isalnum() or "_" in (before, after):
        return True
    return (before in ("@", "/", ".", "#") and text[start - 2 : start - 1].isalnum()) or (
        after in ("@", "/", ".", "=") and text[end + 1 : end + 2].isalnum()
    )
