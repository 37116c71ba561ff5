"""What the teacher's review of a plan concludes: executable, correct, or unknown where in doubt.

Conclusions may be labels ("Executable: yes"), sentences ("The plan is executable and correct"), tables or
JSON.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from toolassay.answers import without_reasoning

__all__ = ["Review", "TeacherVerdict", "read_review"]


EXECUTABLE, CORRECT = "executable", "correct"
ASPECTS = (EXECUTABLE, CORRECT)

_ASPECT = r"\b(executab(?:le|ility)|correct(?:ness)?)\b"
_HEDGE = re.compile(
    r"\b(?:but|however|mostly|mainly|largely|partially|partly|almost|nearly|probably|likely|maybe|perhaps|"
    r"possibly|unless|except|unclear|unsure|somewhat|depends|depending|assuming|provided|if|"
    r"not (?:sure|entirely|fully|quite|completely)|in part|with reservations)\b"
)
_DOUBT = re.compile(
    r"\b(?:maybe|perhaps|probably|likely|possibly|unclear|unsure|not sure|unless|depends|partially|partly)\b"
)
_TURN = re.compile(r"[\s.;!,]*\b(?:but|however|although|though|except|unless)\b")
"""What follows takes a conclusion back."""

_VALUES = {
    **dict.fromkeys(("yes", "true", "y", "pass", "passed"), True),
    **dict.fromkeys(("no", "false", "n", "fail", "failed", "incorrect", "not executable"), False),
    "not correct": False,
}
_VALUE = re.compile(rf"(?:{'|'.join(sorted(_VALUES, key=len, reverse=True))})\b")


class Conclusion(NamedTuple):
    """A conclusion: about what, yes or no (None: it cannot be told), and where in the text.

    `scoped` marks one about a single step.
    """

    aspect: str
    value: bool | None
    place: int
    end: int
    scoped: bool = False


def aspect_of(key: str) -> str:
    """What a key is about.

    >>> aspect_of("Correctness")
    'correct'
    """
    return EXECUTABLE if key.lower().startswith("exec") else CORRECT


def value_of(text: str) -> bool | None:
    """Yes or no, if the whole text is that.

    >>> value_of(" Yes. "), value_of("no idea")
    (True, None)
    """
    return _VALUES.get(text.strip(" .!()[]").lower())


_LABEL_KEY = re.compile(_ASPECT)
_PAIR = re.compile(rf"\s*(?:and|&|/|,)\s*{_ASPECT}")
_NEGATED = re.compile(r"(?:\b(?:not|non|never|neither|in|un)|n't)(?:[\s-]+[a-z]+ly)?[\s-]*$")
_ASIDE = re.compile(r"\s*\([^()\n]{0,40}\)(?=\s*[:=?])")
_MARK = re.compile(r"\s*\)?\s*[:=?|→]+[\s:=|(\[→–—-]*")
_LINK = re.compile(r"\s*(?:[–—-]+>?|\bis\b|\bare\b)[ \t:=(\[–—-]*|[ \t]*\([ \t]*|[ \t]+")
_CLOSED = re.compile(
    r"[ \t]*(?:$|\n|[.,;!()\]}|:–—-]|/[ \t]*(?:executab|correct)|executab|correct|"
    r"(?:and|because|since|as|but|yet|however|it|they|indeed)\b)"
)
_SCOPE = re.compile(r"^\W*(?:\d+\W+)?(?:step|node|tool|link|argument|call)\b")


def labelled_conclusions(text: str) -> Iterator[Conclusion]:
    """Each conclusion of this form in a text in lower case, in order; several words may share one value."""
    place = 0
    while (key := _LABEL_KEY.search(text, place)) is not None:
        place = key.end()
        aspects = [aspect_of(key[1])]
        pair = _PAIR.match(text, place)
        if pair is not None and aspect_of(pair[1]) != aspects[0]:
            aspects.append(aspect_of(pair[1]))
            place = pair.end()
        aside = _ASIDE.match(text, place)
        start = aside.end() if aside else place
        found = _labelled_value(text, start)
        if found is None:
            if len(aspects) == 2:
                place = key.end()  # "executable, correct: yes": the second may have its own value
            continue
        value, end = found
        if _NEGATED.search(text[max(0, key.start() - 40) : key.start()]):
            if value is None:
                continue  # a sentence: see `sentence_conclusions`
            value = None
        line = text.rfind("\n", 0, key.start()) + 1
        scoped = _SCOPE.match(text[line : key.start()]) is not None
        yield from (Conclusion(aspect, value, key.start(), end, scoped) for aspect in aspects)
        place = end


def _labelled_value(text: str, start: int) -> tuple[bool | None, int] | None:
    """The value that stands after a word and where it ends; None where none is meant to."""
    mark = _MARK.match(text, start)
    link = mark or _LINK.match(text, start)
    if link is None:
        return None
    value = _VALUE.match(text, link.end())
    if value is None or _CLOSED.match(text, value.end()) is None:
        return (None, link.end()) if mark else None
    said, rest = value_of(value[0]), _rest(text, value.end())
    sentence = re.split(r"[.;!]", rest, maxsplit=1)[0]
    doubtful = (_HEDGE if said else _DOUBT).search(sentence) or (said and _turned(rest))
    return (None if doubtful else said), value.end()


def _rest(text: str, start: int) -> str:
    """What else is said of a value: to the end of the line, or the next word of this kind."""
    following = _LABEL_KEY.search(text, start)
    end = text.find("\n", start)
    ends = [place for place in (end, following.start() if following else -1) if place >= 0]
    return text[start : min(ends, default=len(text))]


def _turned(rest: str) -> bool:
    return _TURN.match(rest) is not None


_PLAN = "plan|task graph|graph|workflow|solution|sequence|pipeline|instruction|sample|answer"
_SENTENCE = re.compile(r"[^.;!?\n]+[.;!?]?")
_OPINION = re.compile(rf"\b(?:({_PLAN})|it|everything|this|they)\s+(?:is|are|was|were)\b")
_HEADING = re.compile(
    r"\W{0,9}(?:(?:final |overall )?(?:verdict|conclusion|result|judge?ment|assessment|overall)\s*[:–—-]+)?"
)
_LONGEST_SENTENCE = 400  # characters of a sentence that concludes
_PART = re.compile(r"\b(?:steps?|nodes?|tools?|links?|arguments?|part|rest|most|half|of)\b")
_CONDITION = re.compile(
    r"\b(?:if|whether|would|should|could|check|verify|decide|ensure|sure that|when|asked?|judge)\b"
)
_UNSURE = re.compile(
    r"\b(?:not|n't|cannot|doubt|unsure|think|believe|seems?|appears?|probably|maybe|perhaps)\b"
)
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[^\sa-z]")
_PADDING = {
    *("fully", "completely", "entirely", "perfectly", "indeed", "also", "clearly", "therefore", "thus"),
    *("is", "are", "it", "both", "overall"),
}
_NO = {"incorrect": CORRECT, "unexecutable": EXECUTABLE, "inexecutable": EXECUTABLE}
_TURNS = {"but", "yet", "though", "although", "however"}


def sentence_conclusions(text: str) -> Iterator[Conclusion]:
    """Each such conclusion about the whole plan, in a text in lower case, in order."""
    for sentence in _SENTENCE.finditer(text):
        words = sentence[0]
        if len(words) <= _LONGEST_SENTENCE and not words.endswith("?"):
            for aspect, value in _opinion(words).items():
                yield Conclusion(aspect, value, sentence.start(), sentence.end())


def _opinion(sentence: str) -> dict[str, bool | None]:
    """What a sentence says of the whole plan."""
    sentence = sentence.replace("n't", " not").replace("nonexecutable", "not executable")
    found = _OPINION.search(sentence)
    if found is None:
        heading = _HEADING.match(sentence)
        said, whole = _adjectives(sentence[heading.end() if heading else 0 :].rstrip(".;! "))
        return said if whole and len(said) == len(ASPECTS) else {}
    before = sentence[: found.start()]
    if _PART.search(before) or _CONDITION.search(before):
        return {}
    said, _ = _adjectives(sentence[found.end() :].rstrip(".;! "))
    if found[1] is None and len(said) < len(ASPECTS):
        return {}  # "it" may be a step
    return dict.fromkeys(said) if _UNSURE.search(before) else said


def _adjectives(tail: str) -> tuple[dict[str, bool | None], bool]:
    """What is said of each aspect after "is", and whether nothing else is said."""
    said: dict[str, bool | None] = {}
    negated = carried = neither = unclear = False
    before = ""
    for token in _TOKEN.finditer(tail):
        word = token[0]
        if word in ("not", "never", "non", "neither"):
            unclear |= negated and not carried
            negated, carried, neither = True, False, word == "neither"
        elif word == "both":
            unclear |= negated  # "not both executable and correct"
        elif word == "or" and not negated:
            unclear = True
        elif word in _TURNS:
            negated = carried = False
        elif word in ("executable", "correct", *_NO):
            is_no = word in _NO
            unclear |= negated and is_no and (neither or not carried)
            # "not executable and correct": does "not" reach that far? "neither … nor", "not … or" do.
            reached = carried and negated and not (neither or is_no) and before not in ("or", "nor")
            said[_NO.get(word, word)] = None if reached else not (negated or is_no)
            carried = negated
        elif word not in _PADDING and word not in ("or", "nor", "and", ",", "&", "-"):
            if _HEDGE.search(tail[token.start() :]) or before in _TURNS:
                unclear = True
            return ({aspect: None if unclear else value for aspect, value in said.items()}, False)
        if word not in _PADDING:
            before = word
    return ({aspect: None if unclear else value for aspect, value in said.items()}, True)


_TABLE_KEY = re.compile(r"(?:is )?(executab(?:le|ility)|correct(?:ness)?)\W*")
_RULE = re.compile(r"[\s|:–—-]+")
_WHOLE_PLAN = re.compile(r"\b(?:overall|total|plan|conclusion|verdict|final)\b")


def without_tables(text: str) -> tuple[str, list[Conclusion]]:
    """A text in lower case with its tables of this kind blanked, and what they say.

    A row for the whole plan ("Overall") counts alone; else the rows count if they agree.
    """
    lines, said, place, offset = text.split("\n"), list[Conclusion](), 0, 0
    while place < len(lines):
        columns = _columns(lines[place])
        last = place
        if columns:
            last = _last_row(lines, place)
            rows = [_cells(line) for line in lines[place + 1 : last + 1] if not _RULE.fullmatch(line)]
            end = offset + sum(len(line) + 1 for line in lines[place : last + 1])
            said += _rows(columns, rows, offset, end)
            lines[place : last + 1] = [" " * len(line) for line in lines[place : last + 1]]
        offset += sum(len(line) + 1 for line in lines[place : last + 1])
        place = last + 1
    return "\n".join(lines), said


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _columns(line: str) -> dict[str, int]:
    """Which columns a heading has: both aspects, or it is none."""
    if "|" not in line:
        return {}
    found = {
        aspect_of(key[1]): place
        for place, cell in enumerate(_cells(line))
        if (key := _TABLE_KEY.fullmatch(cell)) is not None
    }
    return found if len(found) == 2 else {}


def _last_row(lines: list[str], start: int) -> int:
    last = start
    while last + 1 < len(lines) and "|" in lines[last + 1]:
        last += 1
    return last


def _rows(columns: Mapping[str, int], rows: list[list[str]], place: int, end: int) -> Iterator[Conclusion]:
    whole = [row for row in rows if _WHOLE_PLAN.search(row[0])]
    rows = whole[-1:] or rows
    for aspect, column in columns.items():
        yield Conclusion(
            aspect, agreed(value_of(row[column]) if column < len(row) else None for row in rows), place, end
        )


def agreed(values: Iterable[bool | None]) -> bool | None:
    """The one value that all are; None where they differ or there is none.

    >>> agreed([True, True]), agreed([True, False]), agreed([])
    (True, None, None)
    """
    found = set(values)
    return found.pop() if len(found) == 1 else None


def of_json(value: Any) -> dict[str, bool | None]:
    """What a JSON value says of each aspect: at its top, else below, where all must agree.

    >>> of_json({"Executable": "yes", "steps": [{"correct": True}, {"correct": False}]})
    {'executable': True, 'correct': None}
    """
    met: dict[str, list[tuple[int, bool | None]]] = {}
    waiting: list[tuple[int, Any]] = [(0, value)]
    while waiting:
        depth, item = waiting.pop()
        if isinstance(item, list):
            waiting += [(depth + 1, each) for each in item]
        elif isinstance(item, Mapping):
            for name, each in item.items():
                key = _TABLE_KEY.fullmatch(str(name).replace("_", " ").strip().lower())
                if key is not None:
                    known = (
                        each if isinstance(each, bool) else value_of(each) if isinstance(each, str) else None
                    )
                    met.setdefault(aspect_of(key[1]), []).append((depth, known))
                else:
                    waiting.append((depth + 1, each))
    said: dict[str, bool | None] = {}
    for aspect, found in met.items():
        top = [known for depth, known in found if depth == 0]
        said[aspect] = agreed(top or [known for _, known in found])
    return said


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a JSON value, in order.

    >>> list(texts_in({"a": ["x", 1], "b": "y"}))
    ['x', 'y']
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping | list):
            waiting += reversed(list(item.values() if isinstance(item, Mapping) else item))


TeacherVerdict = Literal["pass", "fail", "unknown"]

_LONGEST_REVIEW = 20_000  # characters that are read: the last ones, where the conclusion stands
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
    text = review[-_LONGEST_REVIEW:]
    for sign, word in _SIGNS.items():
        text = text.replace(sign, word)
    plain, tabled = without_tables(_plain(text))
    said = [*tabled, *labelled_conclusions(plain)]
    told = list(sentence_conclusions(plain))
    found = {aspect: _concluded(aspect, said, told) for aspect in ASPECTS}
    used = [*said, *told]
    verdict = _verdict(found)
    if verdict == "pass" and _TURN.match(plain, max(one.end for one in used)):
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


def _concluded(aspect: str, said: Iterable[Conclusion], told: Iterable[Conclusion]) -> bool | None:
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


def _quoted(text: str, plain: str, used: list[Conclusion]) -> str:
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
