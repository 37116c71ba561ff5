"""Parses the teacher model's review of a plan: whether it is executable and correct, or unknown if unclear.

A conclusion may be a label ("Executable: yes"), a sentence ("The plan is executable and correct"), a table or
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
# The patterns here see text in lower case without Markdown.
# Words that make a "yes" unclear: matches "mostly" in "yes, mostly", not "yes, indeed".
_HEDGE = re.compile(
    r"\b(?:but|however|mostly|mainly|largely|partially|partly|almost|nearly|probably|likely|maybe|perhaps|"
    r"possibly|unless|except|unclear|unsure|somewhat|depends|depending|assuming|provided|if|"
    r"not (?:sure|entirely|fully|quite|completely)|in part|with reservations)\b"
)
# Words that make a "no" unclear: matches "perhaps" in "no, perhaps", not "no, but it runs".
_DOUBT = re.compile(
    r"\b(?:maybe|perhaps|probably|likely|possibly|unclear|unsure|not sure|unless|depends|partially|partly)\b"
)
# The start of a retraction of the conclusion before it: matches ". However, …", not ". It works".
_TURN = re.compile(r"[\s.;!,]*\b(?:but|however|although|though|except|unless)\b")

_VALUES = {
    **dict.fromkeys(("yes", "true", "y", "pass", "passed"), True),
    **dict.fromkeys(("no", "false", "n", "fail", "failed", "incorrect", "not executable"), False),
    "not correct": False,
}
# A value: matches "yes" and "not correct", not "yesterday".
_VALUE = re.compile(rf"(?:{'|'.join(sorted(_VALUES, key=len, reverse=True))})\b")


class Conclusion(NamedTuple):
    """A conclusion of a review.

    Attributes:
        aspect: "executable" or "correct".
        value: Yes or no; None if it is unclear.
        place: Position in the text.
        end: Position after it.
        scoped: Whether it is about a single step.
    """

    aspect: str
    value: bool | None
    place: int
    end: int
    scoped: bool = False


def aspect_of(key: str) -> str:
    """The aspect that a keyword names.

    >>> aspect_of("Correctness")
    'correct'
    """
    return EXECUTABLE if key.lower().startswith("exec") else CORRECT


def value_of(text: str) -> bool | None:
    """Yes or no if that is the whole text, else None.

    >>> value_of(" Yes. "), value_of("no idea")
    (True, None)
    """
    return _VALUES.get(text.strip(" .!()[]").lower())


# A keyword: matches "executable" and "correctness", not "correctly".
_LABEL_KEY = re.compile(_ASPECT)
# A second keyword: matches " and correct" after "executable", not " and runs".
_PAIR = re.compile(rf"\s*(?:and|&|/|,)\s*{_ASPECT}")
# A negation before a keyword: matches "is not fully " and "non-", not "does it ".
_NEGATED = re.compile(r"(?:\b(?:not|non|never|neither|in|un)|n't)(?:[\s-]+[a-z]+ly)?[\s-]*$")
# A remark between keyword and mark: matches " (yes/no)" in "executable (yes/no): no", not " (see below)".
_ASIDE = re.compile(r"\s*\([^()\n]{0,40}\)(?=\s*[:=?])")
# A mark that announces a value: matches ": ", "? " and " | ", not " and ".
_MARK = re.compile(r"\s*\)?\s*[:=?|→]+[\s:=|(\[→–—-]*")
# Weaker connections, which count only before a value: matches " is ", " - " and " (", not ", ".
_LINK = re.compile(r"\s*(?:[–—-]+>?|\bis\b|\bare\b)[ \t:=(\[–—-]*|[ \t]*\([ \t]*|[ \t]+")
# The text after a value that stands alone: matches the line end, ", " and " because", not " idea".
_CLOSED = re.compile(
    r"[ \t]*(?:$|\n|[.,;!()\]}|:–—-]|/[ \t]*(?:executab|correct)|executab|correct|"
    r"(?:and|because|since|as|but|yet|however|it|they|indeed)\b)"
)
# The start of a line about a single part: matches "1. step", not "plan: ".
_SCOPE = re.compile(r"^\W*(?:\d+\W+)?(?:step|node|tool|link|argument|call)\b")


def labelled_conclusions(text: str) -> Iterator[Conclusion]:
    """Yield the conclusions in the form of labels, in order; two keywords may share one value.

    Args:
        text: Text in lower case, without Markdown and tables.
    """
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
                place = key.end()  # as in "executable, correct: yes", where only the second has a value
            continue
        value, end = found
        if _NEGATED.search(text[max(0, key.start() - 40) : key.start()]):
            if value is None:
                continue  # a sentence, for `sentence_conclusions`
            value = None
        line = text.rfind("\n", 0, key.start()) + 1
        scoped = _SCOPE.match(text[line : key.start()]) is not None
        yield from (Conclusion(aspect, value, key.start(), end, scoped) for aspect in aspects)
        place = end


def _labelled_value(text: str, start: int) -> tuple[bool | None, int] | None:
    """The value after a keyword (None: unclear) and its end; None if no value follows."""
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
    """The text after a value, to the end of the line or the next keyword."""
    following = _LABEL_KEY.search(text, start)
    end = text.find("\n", start)
    ends = [place for place in (end, following.start() if following else -1) if place >= 0]
    return text[start : min(ends, default=len(text))]


def _turned(rest: str) -> bool:
    return _TURN.match(rest) is not None


_PLAN = "plan|task graph|graph|workflow|solution|sequence|pipeline|instruction|sample|answer"
# A sentence with its end mark: matches each of "It runs." and " It is correct", and no line end.
_SENTENCE = re.compile(r"[^.;!?\n]+[.;!?]?")
# The subject of a conclusion: matches "the plan is" and "it is", not "step 1 is".
_OPINION = re.compile(rf"\b(?:({_PLAN})|it|everything|this|they)\s+(?:is|are|was|were)\b")
# A heading before adjectives: matches "final verdict: " in "final verdict: executable and correct", and
# nothing of "step 1: executable".
_HEADING = re.compile(
    r"\W{0,9}(?:(?:final |overall )?(?:verdict|conclusion|result|judge?ment|assessment|overall)\s*[:–—-]+)?"
)
_LONGEST_SENTENCE = 400  # characters; a longer sentence is not a conclusion
# Words before the subject that limit it to a part: matches "the rest of", not "in short,".
_PART = re.compile(r"\b(?:steps?|nodes?|tools?|links?|arguments?|part|rest|most|half|of)\b")
# Words before the subject that make it a condition or a task: matches "check that", not "therefore".
_CONDITION = re.compile(
    r"\b(?:if|whether|would|should|could|check|verify|decide|ensure|sure that|when|asked?|judge)\b"
)
# Words before the subject that make the conclusion unclear: matches "i think", not "clearly".
_UNSURE = re.compile(
    r"\b(?:not|n't|cannot|doubt|unsure|think|believe|seems?|appears?|probably|maybe|perhaps)\b"
)
# A word or a single other character: matches "isn't" and ",", no blanks.
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[^\sa-z]")
_PADDING = {
    *("fully", "completely", "entirely", "perfectly", "indeed", "also", "clearly", "therefore", "thus"),
    *("is", "are", "it", "both", "overall"),
}
_NO = {"incorrect": CORRECT, "unexecutable": EXECUTABLE, "inexecutable": EXECUTABLE}
_TURNS = {"but", "yet", "though", "although", "however"}


def sentence_conclusions(text: str) -> Iterator[Conclusion]:
    """Yield the conclusions about the whole plan in the form of sentences, in order.

    Args:
        text: Text in lower case, without Markdown and tables.
    """
    for sentence in _SENTENCE.finditer(text):
        words = sentence[0]
        if len(words) <= _LONGEST_SENTENCE and not words.endswith("?"):
            for aspect, value in _opinion(words).items():
                yield Conclusion(aspect, value, sentence.start(), sentence.end())


def _opinion(sentence: str) -> dict[str, bool | None]:
    """The value of each aspect that a sentence states about the whole plan."""
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
        return {}  # "it" may refer to a step
    return dict.fromkeys(said) if _UNSURE.search(before) else said


def _adjectives(tail: str) -> tuple[dict[str, bool | None], bool]:
    """The value of each aspect in the adjectives after "is", and whether nothing else follows."""
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
            # Whether "not" applies to "correct" in "not executable and correct" is unclear; in "neither …
            # nor" and "not … or" it does.
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


# A column heading or key: matches "executable?" and "is correct", not "correct steps".
_TABLE_KEY = re.compile(r"(?:is )?(executab(?:le|ility)|correct(?:ness)?)\W*")
# The line below a table's heading: matches "| --- | :-: |", not "| yes | no |".
_RULE = re.compile(r"[\s|:–—-]+")
# The first cell of a row about the whole plan: matches "overall", not "step 1".
_WHOLE_PLAN = re.compile(r"\b(?:overall|total|plan|conclusion|verdict|final)\b")


def without_tables(text: str) -> tuple[str, list[Conclusion]]:
    """Replace tables with a column for each aspect by blanks; returns the text and their conclusions.

    If a table has a row for the whole plan ("Overall"), only that row counts; else the rows must agree.

    Args:
        text: Text in lower case.
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
    """The column of each aspect in a table heading; {} unless it has both."""
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
    """The common value; None if values differ or there are none.

    >>> agreed([True, True]), agreed([True, False]), agreed([])
    (True, None, None)
    """
    found = set(values)
    return found.pop() if len(found) == 1 else None


def of_json(value: Any) -> dict[str, bool | None]:
    """The value of each aspect in a JSON value: at the top level, else nested, where all must agree.

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
    """Yield the strings in a JSON value, in order.

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

_LONGEST_REVIEW = 20_000  # characters that are read, from the end, where the conclusion is
_QUOTED = 160  # maximum characters of `Review.conclusion`
_MARKS = str.maketrans({**dict.fromkeys('*`"“”#>_', " "), "’": "'", "‘": "'"})
# An apostrophe that is a quote: matches those of "'yes'", not that of "isn't".
_QUOTE = re.compile(r"(?<![a-z])'|'(?![a-z])")
_SIGNS = {"✅": " yes ", "✔": " yes ", "✓": " yes ", "❌": " no ", "✗": " no ", "✘": " no ", "\ufe0f": " "}


class Review(NamedTuple):
    """The result of a review.

    Attributes:
        verdict: "pass" if executable and correct, "fail" if both are clear and one is a no, else "unknown".
        conclusion: Quote of the conclusion, up to 160 characters; without one, the end of the review.
    """

    verdict: TeacherVerdict
    conclusion: str


def read_review(review: Any) -> Review:
    r"""Parse a review, given as text or as a JSON value.

    A verdict needs both conclusions, executable and correct. Of several the last counts. A hedge, a
    contradiction, or different values for steps without a summary give "unknown".

    >>> read_review("Is it executable? Yes.\n**Correct** - no, the link is wrong.")
    Review(verdict='fail', conclusion='Is it executable? Yes. / Correct - no, the link is wrong.')
    >>> read_review("Executable: yes, mostly. Correct: yes").verdict
    'unknown'
    """
    value = review
    if isinstance(review, str):
        review, _ = without_reasoning(review)  # conclusions inside the reasoning do not count
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
    labelled = [*tabled, *labelled_conclusions(plain)]
    sentences = list(sentence_conclusions(plain))
    found = {aspect: _concluded(aspect, labelled, sentences) for aspect in ASPECTS}
    used = [*labelled, *sentences]
    verdict = _verdict(found)
    if verdict == "pass" and _TURN.match(plain, max(one.end for one in used)):
        verdict = "unknown"
    return Review(verdict, _quoted(text, plain, used))


def _json(text: str) -> Any:
    """The value of a text that is JSON as a whole, possibly in a fence; else None."""
    bare = re.sub(r"^\s*```\w*\n|\n```\s*$", "", text).strip()
    if bare[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(bare)
    return None


def _plain(text: str) -> str:
    """The text in lower case without Markdown; marks become blanks, so that positions do not change."""
    return _QUOTE.sub(" ", text.lower().translate(_MARKS))


def _concluded(aspect: str, stated: Iterable[Conclusion], sentences: Iterable[Conclusion]) -> bool | None:
    """The last label or table about an aspect, unless a later sentence contradicts it; else the sentences."""
    labels = sorted((one for one in stated if one.aspect == aspect), key=lambda one: one.place)
    spoken = [one for one in sentences if one.aspect == aspect]
    if not labels:
        return agreed(one.value for one in spoken)
    last = labels[-1]
    value = agreed(one.value for one in labels) if last.scoped else last.value
    later = [one.value for one in spoken if one.place > last.place]
    return agreed([value, *later])


def _verdict(found: Mapping[str, bool | None]) -> TeacherVerdict:
    values = [found.get(aspect) for aspect in ASPECTS]
    if None in values:
        return "unknown"
    return "pass" if all(values) else "fail"


def _quoted(text: str, plain: str, used: list[Conclusion]) -> str:
    """The lines with the last conclusion of each aspect; the end of the text without one."""
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
    """The last 160 characters of a text, on one line."""
    line = " ".join(re.sub(r"[*`#]+", "", text).split())
    return line if len(line) <= _QUOTED else f"…{line[1 - _QUOTED :]}"
