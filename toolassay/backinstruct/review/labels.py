"""Conclusions of the form "Executable: yes", "Is it executable? Yes", "Correct - no"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolassay.backinstruct.review.words import DOUBT, HEDGE, KEY, TURN, VALUE, Said, aspect_of, value_of

_KEY = re.compile(KEY)
_PAIR = re.compile(rf"\s*(?:and|&|/|,)\s*{KEY}")
_NEGATED = re.compile(r"(?:\b(?:not|non|never|neither|in|un)|n't)(?:[\s-]+[a-z]+ly)?[\s-]*$")
_ASIDE = re.compile(r"\s*\([^()\n]{0,40}\)(?=\s*[:=?])")
_MARK = re.compile(r"\s*\)?\s*[:=?|→]+[\s:=|(\[→–—-]*")
_LINK = re.compile(r"\s*(?:[–—-]+>?|\bis\b|\bare\b)[ \t:=(\[–—-]*|[ \t]*\([ \t]*|[ \t]+")
_CLOSED = re.compile(
    r"[ \t]*(?:$|\n|[.,;!()\]}|:–—-]|/[ \t]*(?:executab|correct)|executab|correct|"
    r"(?:and|because|since|as|but|yet|however|it|they|indeed)\b)"
)
_SCOPE = re.compile(r"^\W*(?:\d+\W+)?(?:step|node|tool|link|argument|call)\b")


def labels(text: str) -> Iterator[Said]:
    """Each conclusion of this form in a text in lower case, in order; several words may share one value."""
    place = 0
    while (key := _KEY.search(text, place)) is not None:
        place = key.end()
        aspects = [aspect_of(key[1])]
        pair = _PAIR.match(text, place)
        if pair is not None and aspect_of(pair[1]) != aspects[0]:
            aspects.append(aspect_of(pair[1]))
            place = pair.end()
        aside = _ASIDE.match(text, place)
        start = aside.end() if aside else place
        found = _value(text, start)
        if found is None:
            if len(aspects) == 2:
                place = key.end()  # "executable, correct: yes": the second may have its own value
            continue
        value, end = found
        if _NEGATED.search(text[max(0, key.start() - 40) : key.start()]):
            if value is None:
                continue  # a sentence; see prose
            value = None
        line = text.rfind("\n", 0, key.start()) + 1
        scoped = _SCOPE.match(text[line : key.start()]) is not None
        yield from (Said(aspect, value, key.start(), end, scoped) for aspect in aspects)
        place = end


def _value(text: str, start: int) -> tuple[bool | None, int] | None:
    """The value that stands after a word and where it ends; None where none is meant to."""
    mark = _MARK.match(text, start)
    link = mark or _LINK.match(text, start)
    if link is None:
        return None
    value = VALUE.match(text, link.end())
    if value is None or _CLOSED.match(text, value.end()) is None:
        return (None, link.end()) if mark else None
    said, rest = value_of(value[0]), _rest(text, value.end())
    sentence = re.split(r"[.;!]", rest, maxsplit=1)[0]
    doubtful = (HEDGE if said else DOUBT).search(sentence) or (said and _turned(rest))
    return (None if doubtful else said), value.end()


def _rest(text: str, start: int) -> str:
    """What else is said of a value: to the end of the line, or the next word of this kind."""
    following = _KEY.search(text, start)
    end = text.find("\n", start)
    ends = [place for place in (end, following.start() if following else -1) if place >= 0]
    return text[start : min(ends, default=len(text))]


def _turned(rest: str) -> bool:
    return TURN.match(rest) is not None
