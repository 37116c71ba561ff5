"""The values in a request: quoted texts, files, addresses, dates, numbers, names, phrases."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

from toolassay.files.file_types import FILE_KINDS, MEDIA
from toolassay.offline.planner.terms import MAX_CHARACTERS, words_of
from toolassay.text_values.dates import COPIED_DATE
from toolassay.text_values.numbers import COPIED_NUMBER
from toolassay.text_values.times import COPIED_TIME

MentionKind = Literal["url", "email", "file", "quoted", "date", "time", "phone", "number", "name", "phrase"]

FILE_TYPES = {ending: kinds[0] if kinds[0] in MEDIA else "text" for ending, kinds in FILE_KINDS.items()}

_QUOTES = (("'", "'"), ('"', '"'), ("`", "`"), ("‘", "’"), ("“", "”"), ("«", "»"), ("「", "」"))

# The rest of a word of a name: "useum" of "Museum", "T&T" of "AT&T". Bounded, as all repeats here are: text
# of any kind is read.
_WORD = r"[\w&'’-]{0,40}"
# Not at the start of a sentence, where every word has a capital.
_INSIDE = r"(?<!^)(?<![.!?:\0]\s)"

# In order of precedence: a later kind does not see what an earlier one has taken.
_PATTERNS: tuple[tuple[MentionKind, re.Pattern[str]], ...] = (
    *(
        ("quoted", re.compile(rf"(?<!\w){opening}(?P<value>\S(?:[^\n]{{0,400}}?\S)??){closing}(?!\w)"))
        for opening, closing in _QUOTES
    ),
    # "https://x.org/a" without the point after it, but not "x.org".
    ("url", re.compile(r"\b(?:https?://|www\.)[^\s'\"<>`“”‘’\0]{1,2000}(?<![.,;:!?)])")),
    # "a.b@x.org", but not "a@x".
    ("email", re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")),
    # "menu.JPG", but not "menu.zip".
    ("file", re.compile(rf"\b[\w-]{{1,80}}\.(?:{'|'.join(FILE_TYPES)})\b", re.IGNORECASE)),
    ("date", COPIED_DATE),
    ("time", COPIED_TIME),
    (
        "phone",
        # "+1 415 555 0172" and "4155550172", but not "415".
        re.compile(r"(?<![\w-])\+?\(?\d{1,4}\)?(?:[ -]\(?\d{2,10}\)?){1,4}(?![\w-])|(?<![\w-])\+?\d{7,15}\b"),
    ),
    (
        "name",
        # "Museum of Modern Art", "Dr. Lee" and "12 Main Street", but not "I".
        re.compile(
            rf"(?:{_INSIDE}|(?=[DMP]r))\b(?!I\b)(?:(?:Dr|Mr|Mrs|Ms|Prof)\.\s*|\d{{1,5}}\s+)?[A-Z]{_WORD}(?:\s+(?:(?:of|the|de)\s+)?[A-Z0-9]{_WORD}){{0,5}}"
        ),
    ),
    ("number", COPIED_NUMBER),
)
_PREPOSITIONS = "from|to|in|at|on|about|for|with|by|via|using|near|regarding|titled|called|named"
_DETERMINERS = "a|an|the|my|our|your|some|this"
_PHRASE_WORD = r"[^\s,.;:!?()\"“”\0]{1,60}"
# "the red fox" after "about" or alone. "to" also leads verbs, so "print" of "to print" is no phrase.
_PHRASE = re.compile(
    rf"\b(?:(?P<lead>{_PREPOSITIONS})\s+(?:(?:{_DETERMINERS})\s+)?|(?:{_DETERMINERS})\s+)"
    rf"(?<!\bto\s)(?P<value>(?!(?:{_PREPOSITIONS}|{_DETERMINERS})\b){_PHRASE_WORD}"
    rf"(?:\s+(?!(?:{_PREPOSITIONS}|and|then|so|that|which|who|but|or)\b){_PHRASE_WORD}){{0,5}})",
    re.IGNORECASE,
)
# ". " and a line break; not the "." of "1.5" or at the end of the text.
_SENTENCE_END = re.compile(r"[.!?]+\s+|\n+")
_NEARBY = 30  # characters around a value that may say what it is
# The last word before a value: "after" of "after '"; nothing of "'".
_LEAD = re.compile(r"(\w+)\W*$")


@dataclass(frozen=True, slots=True)
class MentionedValue:
    """A value in a request, at characters `start` to `end`. `lead` is the word before it, in lower case."""

    text: str
    kind: MentionKind
    start: int
    end: int
    lead: str = ""

    @property
    def resource_types(self) -> tuple[str, ...]:
        """The resource types that the value may have; of a file by its extension (`image`, `audio`, …)."""
        if self.kind == "file":
            extension = self.text.rpartition(".")[2].casefold()
            return (FILE_TYPES[extension], extension, "file")
        return ("text",) if self.kind == "quoted" else (self.kind,)


class Mentions:
    """The values of a request, in order, and apart from them the phrases after prepositions.

    >>> [(m.kind, m.text) for m in Mentions("Turn 'a.png' into a poem called 'Sun' by 5 May").values]
    [('file', 'a.png'), ('quoted', 'Sun'), ('date', '5 May')]
    """

    def __init__(self, request: str) -> None:
        self.text = request[:MAX_CHARACTERS]

    @cached_property
    def values(self) -> list[MentionedValue]:
        """Values that are recognised by their form."""
        text = self.text
        mentioned = list[MentionedValue]()

        def take(kind: MentionKind, match: re.Match[str]) -> str:
            mentioned.append(self._mention(match, kind))
            return "\0" * len(match.group())

        for kind, pattern in _PATTERNS:
            text = pattern.sub(partial(take, kind), text)
        return sorted(mentioned, key=lambda mention: mention.start)

    @cached_property
    def without_values(self) -> str:
        """The request with blanks in place of quoted texts, files and addresses; positions stay the same.

        Quoted texts are what tools work on. They say nothing about which tool.
        """
        text = self.text
        for mention in self.values:
            if mention.kind in ("quoted", "file", "url", "email"):
                text = text[: mention.start] + " " * (mention.end - mention.start) + text[mention.end :]
        return text

    @cached_property
    def phrases(self) -> list[MentionedValue]:
        """Up to six words after a preposition or an article, outside quotes."""
        return [
            MentionedValue(
                m["value"], "phrase", m.start("value"), m.end("value"), (m["lead"] or "").casefold()
            )
            for m in _PHRASE.finditer(self.without_values)
        ]

    @cached_property
    def surroundings(self) -> dict[MentionedValue, frozenset[str]]:
        """The stems of the words around and in each value and phrase; of a quoted one only around."""
        words_around = {}
        for mention in (*self.values, *self.phrases):
            before = self.text[max(0, mention.start - _NEARBY) : mention.start]
            after = self.text[mention.end : mention.end + _NEARBY // 2]
            inside = "" if mention.kind == "quoted" else mention.text
            words_around[mention] = frozenset(word.stem for word in words_of(f"{before} {inside} {after}"))
        return words_around

    def sentence_at(self, position: float) -> str:
        """The sentence at a character position."""
        ends = [match.end() for match in _SENTENCE_END.finditer(self.without_values)]
        start = max((end for end in ends if end <= position), default=0)
        end = min((end for end in ends if end > position), default=len(self.text))
        return self.text[start:end].strip()

    def _mention(self, match: re.Match[str], kind: MentionKind) -> MentionedValue:
        value = match["value"] if kind == "quoted" else match.group()
        if kind == "quoted":
            for inner, pattern in _PATTERNS:
                if inner in ("url", "email", "file") and pattern.fullmatch(value):
                    kind = inner
        before = _LEAD.search(self.text[max(0, match.start() - 40) : match.start()])
        return MentionedValue(value, kind, match.start(), match.end(), before[1].casefold() if before else "")
