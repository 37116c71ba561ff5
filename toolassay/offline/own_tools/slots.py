"""The slots of a call in words: what each value is called, and how a sentence states it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolassay.english.plurals import is_plural, singular
from toolassay.english.vocabulary import pairs, words
from toolassay.offline.fed_arguments import FedArgument
from toolassay.offline.own_tools.arguments import Kind, StatedValue
from toolassay.offline.writer.english import id_words, joined
from toolassay.output_paths import EACH, Part

_SHORT_FORMS = pairs("short forms")
# What names a thing without being it: "movie_id" names a movie.
NAMING_WORDS = words("naming words")
# Kinds of names: "owner_full_name" names an owner, "full_name" no full.
_KINDS_OF_NAMES = words("kinds of names")
# Prepositions that end a name ("sort_by") or are one ("from").
PREPOSITIONS = words("prepositions")
_UNQUOTED = words("unquoted kinds")
_DATE_NOUNS = words("date nouns")


@dataclass(frozen=True, slots=True)
class Slot:
    """A value, or the values of a list, with its name in words.

    Attributes:
        words: What it is called: `("movie", "ID")`, `("check-in", "date")`.
        mention: The value in words; of a fed slot empty.
        kind: Of the value, or of the first of a list.
        count: Number of values.
        group: The object in a list that it is part of, `("items", 0)`; empty if it is part of none.
        fed: What feeds it; None for a value of the user.
    """

    words: tuple[str, ...]
    mention: str
    kind: Kind
    count: int = 1
    group: tuple[Part, ...] = ()
    fed: FedArgument | None = None

    @property
    def name(self) -> str:
        """The words as a noun phrase without an article."""
        return " ".join(self.words)

    @property
    def thing(self) -> tuple[str, ...]:
        """The thing that it names: `("movie",)` for "movie ID"; empty for a bare "ID" or "name"."""
        words = self.words
        while words and words[-1] in NAMING_WORDS:
            words = words[:-1]
        if words != self.words and words and words[-1] in _KINDS_OF_NAMES:
            words = words[:-1]
        return () if set(words) <= PREPOSITIONS else words  # "for_name"

    @property
    def is_name(self) -> bool:
        """Whether it names a thing rather than describing it: an ID, a path, a name."""
        return bool(self.words) and self.words[-1] in NAMING_WORDS

    @property
    def is_plural(self) -> bool:
        """Whether its noun phrase is plural: "the tags are", but "the status is"."""
        return is_plural(self.words[-1]) if self.words else self.count > 1


def name_words(name: str) -> tuple[str, ...]:
    """The words of the name of an argument, short forms written out.

    >>> name_words("checkInDate"), name_words("repo_id"), name_words("isActive")
    (('check-in', 'date'), ('repository', 'ID'), ('active',))
    """
    words = [_SHORT_FORMS.get(word.lower(), word) for word in id_words(name.strip("[]"))]
    if len(words) > 1 and words[0] in ("is", "has"):
        words = words[1:]
    if len(words) > 1 and words[0] == "ID":  # "idList"
        words = [*words[1:], "ID"]
    joined_words: list[str] = []
    for word in words:
        if (
            word in ("in", "out", "up", "off")
            and joined_words
            and joined_words[-1] in _PHRASAL
            and len(words) > 2
        ):
            joined_words[-1] += f"-{word}"
        else:
            joined_words.append(word)
    return tuple(part for word in joined_words for part in word.split(" "))


_PHRASAL = words("joined with in, out, up, off")


def slots_of(stated: Sequence[StatedValue], fed: Sequence[FedArgument], quote: str) -> list[Slot]:
    """The slots of a call, the fed ones last. The values of a list of scalars are one slot.

    Args:
        stated: Values of the user, in the order of the arguments.
        fed: Arguments that an earlier call fills.
        quote: The quotation mark of the request, `'` or `"`.
    """
    lists: dict[tuple[Part, ...], list[StatedValue]] = {}
    for one in stated:
        place = one.path[:-1] if isinstance(one.path[-1], int) else one.path
        lists.setdefault(place, []).append(one)
    slots = []
    for place, values in lists.items():
        mention = joined([_quoted(one, quote) for one in values])
        words = _words_of(place)
        if len(values) == 1 and values[0].path != place and is_plural(words[-1]):
            words = (*words[:-1], singular(words[-1]))
        if values[0].kind == "date" and words[-1].lower() not in _DATE_NOUNS:
            words = (*words, "date")
        slots.append(Slot(words, mention, values[0].kind, len(values), _group_of(place)))
    for feed in fed:
        names = tuple(part for part in feed.parts if isinstance(part, str) and part != EACH)
        count = 2 if any(part == EACH for part in feed.path) else 1
        words = _words_of(names)
        if count == 1 and is_plural(words[-1]):
            words = (*words[:-1], singular(words[-1]))
        # A list that one item was made for: `lines[*].sku` is fed in its first item.
        place = tuple(0 if part == EACH else part for part in feed.parts)
        in_item = any(isinstance(part, int) for part in place[:-1])
        group = _group_of(place[:-1]) if in_item else ()
        words = _words_of(place) if group else words
        slots.append(Slot(words, "", "code", count, group, fed=feed))
    return slots


def _group_of(place: tuple[Part, ...]) -> tuple[Part, ...]:
    """The innermost item of a list that a place is in."""
    last = max((number for number, part in enumerate(place) if isinstance(part, int)), default=-1)
    return place[: last + 1]


def _words_of(place: tuple[Part, ...]) -> tuple[str, ...]:
    """The words of a place: those of its name, with those of the object that it is in if these say more."""
    group = len(_group_of(place))
    names = [name_words(part) for part in place[group:] if isinstance(part, str)]
    names = [words for words in names if words] or [("value",)]
    own = names[-1]
    if len(names) > 1:
        outer = tuple(singular(word) for word in names[-2])
        is_bare = len(own) == 1 or (len(own) == 2 and own[0] in _KINDS_OF_NAMES and own[1] in NAMING_WORDS)
        if is_bare and not set(outer) & set(own) and not set(outer) & _HOLDERS:
            own = (*outer, *own)
    return own


# Objects whose names say nothing of what they hold.
_HOLDERS = words("holders")


def _quoted(one: StatedValue, quote: str) -> str:
    # "stamps_com" is quoted, or it reads like the name of a parameter.
    is_plain = (one.kind in _UNQUOTED and not re.fullmatch(r"[a-z\d]+(?:_[a-z\d]+)+", one.text)) or (
        one.kind in ("choice", "language", "word") and re.fullmatch(r"[A-Z\d][A-Z\d_-]*", one.text)
    )
    if is_plain:
        return one.text
    mark = quote if quote not in one.text else ('"' if quote == "'" else "'")
    return f"{mark}{one.text}{mark}"
