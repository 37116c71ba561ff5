"""The verdict of a review, and the words that carry it."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from toolassay.answers import without_reasoning
from toolassay.backinstruct.review.labels import labels
from toolassay.backinstruct.review.prose import sentences
from toolassay.backinstruct.review.tables import agreed, of_json, texts_in, without_tables
from toolassay.backinstruct.review.words import ASPECTS, TURN, Said

TeacherVerdict = Literal["pass", "fail", "unknown"]

_LONGEST = 20_000  # characters that are read: the last ones, where the conclusion stands
_QUOTED = 160
_MARKS = str.maketrans({**dict.fromkeys('*`"“”#>_', " "), "’": "'", "‘": "'"})
_QUOTE = re.compile(r"(?<![a-z])'|'(?![a-z])")
_SIGNS = {"✅": " yes ", "✔": " yes ", "✓": " yes ", "❌": " no ", "✗": " no ", "✘": " no ", "\ufe0f": " "}


class Review(NamedTuple):
    """What a review concludes.

    Attributes:
        verdict: "pass" if executable and correct, "fail" if surely not both, else "unknown".
        conclusion: the words that say so, cut to 160 characters; of an unknown one its last words.
    """

    verdict: TeacherVerdict
    conclusion: str


def read_review(review: Any) -> Review:
    r"""Read a review: its text, or the JSON value it is.

    A verdict needs both conclusions, executable and correct. Of several the last counts. A hedge, a
    contradiction, or steps that differ while nobody sums up, give "unknown".

    >>> read_review("Is it executable? Yes.\n**Correct** - no, the link is wrong.")
    Review(verdict='fail', conclusion='Is it executable? Yes. / Correct - no, the link is wrong.')
    >>> read_review("Executable: yes, mostly. Correct: yes").verdict
    'unknown'
    """
    value = review
    if isinstance(review, str):
        review, _ = without_reasoning(review)  # what a model thinks before it answers concludes nothing
        value = _json(review)
    if isinstance(value, Mapping | list):
        stated = of_json(value)
        if stated:
            return Review(_verdict(stated), _cut(json.dumps(value, ensure_ascii=False)))
        review = "\n".join(texts_in(value))
    if not isinstance(review, str) or not review.strip():
        return Review("unknown", "")
    text = review[-_LONGEST:]
    for sign, word in _SIGNS.items():
        text = text.replace(sign, word)
    plain, tabled = without_tables(_plain(text))
    said = [*tabled, *labels(plain)]
    told = list(sentences(plain))
    found = {aspect: _concluded(aspect, said, told) for aspect in ASPECTS}
    used = [*said, *told]
    verdict = _verdict(found)
    if verdict == "pass" and TURN.match(plain, max(one.end for one in used)):
        verdict = "unknown"
    return Review(verdict, _quoted(text, plain, used))


def _json(text: str) -> Any:
    """The value of a text that is JSON as a whole, a fence around it or not."""
    bare = re.sub(r"^\s*```\w*\n|\n```\s*$", "", text).strip()
    if bare[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(bare)
    return None


def _plain(text: str) -> str:
    """The text in lower case without Markdown; each letter stays at its place."""
    return _QUOTE.sub(" ", text.lower().translate(_MARKS))


def _concluded(aspect: str, said: Iterable[Said], told: Iterable[Said]) -> bool | None:
    """The last conclusion about one aspect, if nothing that comes after it says otherwise."""
    stated = sorted((one for one in said if one.aspect == aspect), key=lambda one: one.place)
    spoken = [one for one in told if one.aspect == aspect]
    if not stated:
        return agreed(one.value for one in spoken)
    last = stated[-1]
    value = agreed(one.value for one in stated) if last.scoped else last.value
    later = [one.value for one in spoken if one.place > last.place]
    return agreed([value, *later])


def _verdict(found: Mapping[str, bool | None]) -> TeacherVerdict:
    values = [found.get(aspect) for aspect in ASPECTS]
    if None in values:
        return "unknown"
    return "pass" if all(values) else "fail"


def _quoted(text: str, plain: str, used: list[Said]) -> str:
    """The lines of the last conclusion of each aspect."""
    if len(text) != len(plain):
        return _cut(text)
    lines: dict[tuple[int, int], None] = {}
    for aspect in ASPECTS:
        places = [one.place for one in used if one.aspect == aspect]
        if places:
            start = text.rfind("\n", 0, max(places)) + 1
            end = text.find("\n", max(places))
            lines[start, len(text) if end < 0 else end] = None
    if not lines:
        return _cut(text)
    return _cut(" / ".join(text[start:end].strip() for start, end in sorted(lines)))


def _cut(text: str) -> str:
    """The end of a text, on one line."""
    line = " ".join(re.sub(r"[*`#]+", "", text).split())
    return line if len(line) <= _QUOTED else f"…{line[1 - _QUOTED :]}"
