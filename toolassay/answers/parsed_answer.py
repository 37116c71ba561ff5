"""Finds the wanted JSON object in a model's answer.

The methods, the most reliable first: the whole text as JSON; each object in it as JSON; each object with
Markdown escapes, comments and foreign quotes removed; repair by the `json_repair` library. Valid JSON is
never changed, and a truncated object never counts as complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from toolassay.answers.malformed_json import NOTHING, load, repaired_values
from toolassay.answers.reasoning import without_reasoning
from toolassay.answers.spans import DEEPEST, LONGEST, Span, spans

CUT_OFF = ("length", "max_tokens", "model_length")
"""Finish reasons with which providers report a token limit."""
_TRIED = 24  # maximum objects to parse, from the last; a text with more is not an answer
_READS = 250_000  # maximum characters json_repair may read for one answer, rereads included; 25,000 is usual
_UNWRAPPED = 3  # maximum levels of JSON inside a JSON string

# The separator of two objects in one list: matches the text between "}" and "{" in "}, {", not that in
# "} and {".
_NEXT_IN_LIST = re.compile(r"\s{0,200},\s{0,200}")
# The text before an object that is a value of an object around it: matches `"arguments": [` and `}, `, not
# `Answer.`.
_VALUE_PLACE = re.compile(r"(?:[\"'”’\w]\s{0,9}:|[\[,])\Z")
# An opening fence: matches "```json\n" at the start, not "```" at the end.
_OPENING_FENCE = re.compile(r"\A```\w*\s+")


ECHO = "the answer repeats the form that the prompt shows"
"""`ParsedAnswer.problem` of an answer without any other object."""


class ParsedAnswer(NamedTuple):
    """The parsed answer.

    Attributes:
        value: The wanted object, or None. Of a truncated answer, the part that arrived.
        truncated: Whether the answer was cut off.
        repaired: Whether the object was not valid JSON.
        problem: Why there is no complete object; None exactly if `value` is the model's complete answer.
    """

    value: dict[str, Any] | None
    truncated: bool
    repaired: bool
    problem: str | None


class _Found(NamedTuple):
    value: dict[str, Any]
    whole: bool
    repaired: bool


def read_answer(
    text: str,
    *,
    keys: Collection[str],
    required: Collection[str] | None = None,
    forms: Collection[Mapping[str, Any]] = (),
    nested: bool = True,
    finish_reason: str | None = None,
) -> ParsedAnswer:
    r"""Find the object with the given keys in a model's answer.

    Reasoning (`<think>…</think>` and similar) is removed first. An object fits if it has the required keys.
    The last complete object that fits counts, even if an incomplete one follows; of the objects of one list,
    the first one that fits. Objects nested in one that fits are ignored. If no object fits, the one with the
    most of `keys` counts, complete or not; of several, the last.

    Lone surrogates, which cannot be encoded in a file, become U+FFFD; nothing else in valid JSON changes.

    Args:
        text: The raw answer.
        keys: The keys of the wanted object.
        required: The keys that an object needs to fit [default: all of `keys`].
        forms: Objects that the prompt shows as the form of an answer. An object with the same values under
            `keys`, ellipses aside, is an echo of the prompt and is ignored.
        nested: Whether the object may also be inside another object, or in a string.
        finish_reason: Finish reason of the provider; one of `CUT_OFF` marks the answer as truncated.

    Returns:
        The parsed answer; never raises.

    >>> read_answer('Sure!\n```json\n{"a": "C:\\\\temp"}\n```', keys={"a"})
    ParsedAnswer(value={'a': 'C:\\temp'}, truncated=False, repaired=False, problem=None)
    >>> read_answer("Draft: {'a': 1}. Better: {'a': True,}", keys={"a"})
    ParsedAnswer(value={'a': True}, truncated=False, repaired=True, problem=None)
    >>> read_answer('{"a": ["x", "y', keys={"a"})
    ParsedAnswer(value={'a': ['x', 'y']}, truncated=True, repaired=True, problem='the answer is cut off')
    """
    spent = (finish_reason or "").lower() in CUT_OFF
    wanted = frozenset(keys)
    reader = _AnswerReader(wanted, wanted if required is None else frozenset(required), forms, nested)
    text = text.lstrip("\ufeff").strip()
    if not text:
        return ParsedAnswer(None, spent, False, "the answer is empty")
    if len(text) > LONGEST:
        return ParsedAnswer(None, spent, False, f"the answer has more than {LONGEST:,} characters")
    found, unfinished = reader.find(text)
    if found is None:
        if reader.echoed and not spent:
            return ParsedAnswer(None, False, False, ECHO)
        cut = spent or unfinished
        absent = f"no JSON object with any of {', '.join(sorted(wanted))}"
        return ParsedAnswer(None, cut, False, "the answer is cut off before its object" if cut else absent)
    value, altered = _encodable(found.value)
    cut = spent or not found.whole
    return ParsedAnswer(value, cut, found.repaired or altered, "the answer is cut off" if cut else None)


def shown_forms(
    texts: Iterable[str], *, keys: Collection[str], required: Collection[str] | None = None
) -> tuple[dict[str, Any], ...]:
    """The objects that prompts show as the form of an answer, for `forms` of `read_answer`.

    A form may contain `["…", …]`, which is not JSON. It is read in three variants: verbatim, with "..." for
    "…", and without ", …", as a model would echo it in valid JSON. Texts without an object are skipped.

    Args:
        texts: Texts with one form each.
        keys: As for `read_answer`.
        required: As for `read_answer`.

    >>> shown_forms(['Answer {"a": ["x", …]}'], keys={"a"})[-1]
    {'a': ['x']}
    """
    ways = (way for text in texts for way in (text, text.replace("…", "..."), re.sub(r",\s*…", "", text)))
    found = (read_answer(way, keys=keys, required=required).value for way in ways)
    return tuple(form for form in found if form is not None)


class _AnswerReader:
    """Searches one text for the wanted object.

    Attributes:
        echoed: Whether it found an echo of a form.
    """

    def __init__(
        self,
        wanted: frozenset[str],
        required: frozenset[str],
        forms: Collection[Mapping[str, Any]],
        nested: bool,
    ) -> None:
        self._wanted, self._required, self._nested = wanted, required, nested
        self._forms = [self._compared(form) for form in forms]
        self._meter = [_READS]
        self.echoed = False
        names = "|".join(re.escape(name).replace("_", r"\\{0,2}_") for name in sorted(wanted)) or r"\Z."
        # For the key task_nodes: `_key` matches "task_nodes" and "task\_nodes" anywhere, `_key_of_object`
        # 'task_nodes":' but not "task_nodes are", and `_bare_start` '"task_nodes":' at the start, not "{".
        self._key = re.compile(names)
        self._key_of_object = re.compile(rf"(?:{names})\W{{0,4}}:")
        self._bare_start = re.compile(rf"\s*[\"'“](?:{names})[\"'”]\s*:")

    def find(self, text: str) -> tuple[_Found | None, bool]:
        """The wanted object, and whether the text ends inside an object, a fence or reasoning."""
        for _ in range(_UNWRAPPED):
            value = load(text)
            if not isinstance(value, str):
                break
            text = value.strip()
        else:
            value = NOTHING
        if value is not NOTHING:
            best = self._best(value, is_shallow=text.count("{") + text.count("[") <= DEEPEST)
            return (None if best is None else _Found(best, True, False)), False
        text, unclosed = without_reasoning(text)
        found, open_end = self._search(text)
        if found is None and self._bare_start.match(bare := _OPENING_FENCE.sub("", text, count=1)):
            # The prompt ended with the opening brace, and the model continued after it.
            found, open_end = self._search("{" + bare)
        return found, unclosed or open_end or text.count("```") == 1

    def _search(self, text: str) -> tuple[_Found | None, bool]:
        """The best object in the text, and whether any object is unclosed."""
        best: _Found | None = None
        groups, open_end = self._groups(text)
        tried = 0
        for group in reversed(groups):
            for span in group:
                if tried == _TRIED:
                    return best, open_end
                tried += 1
                found = self._read(span)
                if found is None:
                    continue
                if found.whole and self._required <= found.value.keys():
                    return found, open_end
                if best is None or self._rank(found) > self._rank(best):
                    best = found
        return best, open_end

    def _groups(self, text: str) -> tuple[list[list[Span]], bool]:
        """The candidate objects, grouped by list, and whether any object is unclosed."""
        groups: list[list[Span]] = []
        open_end = False
        before: Span | None = None
        owners: list[tuple[Span, int]] = []  # unclosed objects with the position of their first wanted key
        for span in spans(text):
            open_end = open_end or not span.whole
            key = self._key.search(span.source, span.start, span.end)
            if key is not None and not _belongs(span, owners):
                follows = (
                    before is not None
                    and before.source is span.source
                    and _NEXT_IN_LIST.fullmatch(span.source, before.end, span.start)
                )
                if groups and follows:
                    groups[-1].append(span)
                else:
                    groups.append([span])
                if not span.whole and (own := self._key_of_object.search(span.source, span.start, span.end)):
                    owners.append((span, own.start()))
            before = span if span.whole else None
        return groups, open_end

    def _rank(self, found: _Found) -> tuple[int, bool]:
        return len(self._wanted & found.value.keys()), found.whole

    def _read(self, span: Span) -> _Found | None:
        """The wanted object in one span, by the most reliable method that works."""
        if span.whole:
            best = self._best(load(span.text))
            if best is not None:
                return _Found(best, True, False)
        for value in repaired_values(span.text, whole=span.whole, meter=self._meter):
            best = self._best(value)
            if best is not None:
                return _Found(best, span.whole, True)
        return None

    def _best(self, value: Any, *, is_shallow: bool = False) -> dict[str, Any] | None:
        """The first object in a value that fits, outermost first; else the first with the most keys."""
        best: dict[str, Any] | None = None
        most, fits = 0, False
        waiting: list[tuple[Any, int, int]] = [(value, 0, 0)]
        while waiting:
            item, level, unwrapped = waiting.pop()
            if isinstance(item, str) and self._nested and unwrapped < _UNWRAPPED:
                item, unwrapped = load(item), unwrapped + 1
            if isinstance(item, dict):
                is_outer = level == 0 or (level == 1 and isinstance(value, list))
                may_count = not fits and (self._nested or is_outer)
                count = len(self._wanted & item.keys()) if may_count else 0
                if count and self._is_echo(item):
                    self.echoed = True
                    continue
                if count and self._required <= item.keys():
                    best, fits = item, True
                    if is_shallow:
                        return best
                elif count > most:
                    best, most = item, count
            elif not isinstance(item, list):
                continue
            if not item:
                continue
            if level >= DEEPEST:
                return None  # not a plan, and `json.dumps` of it could exceed the recursion limit
            children = list(item.values()) if isinstance(item, dict) else item
            waiting += [(child, level + 1, unwrapped) for child in reversed(children) if _may_hold(child)]
        return best

    def _compared(self, value: Mapping[str, Any]) -> Any:
        """The part of an object by which echoes are recognised; empty lists do not count."""
        return _plain({key: item for key, item in value.items() if key in self._wanted and item != []})

    def _is_echo(self, item: Mapping[str, Any]) -> bool:
        return bool(self._forms) and self._compared(item) in self._forms


def _belongs(span: Span, owners: Collection[tuple[Span, int]]) -> bool:
    """Whether an object is a value inside an unclosed object whose wanted key comes before it."""
    if not any(own.source is span.source and key < span.start < own.end for own, key in owners):
        return False
    before = span.source[max(0, span.start - 200) : span.start].rstrip()[-12:]
    return _VALUE_PLACE.search(before) is not None


def _may_hold(child: Any) -> bool:
    """Whether a value can contain an object; skips numbers and prose, which are most of an answer."""
    return child.lstrip()[:1] in ("{", "[") if isinstance(child, str) else isinstance(child, (dict, list))


def _plain(value: Any, level: int = 0) -> Any:
    """Normalise a value for comparison: "..." equals "…", and list items that are only an ellipsis go."""
    if isinstance(value, str):
        return value.replace("...", "…")
    if level > DEEPEST:
        return value
    if isinstance(value, dict):
        return {key: _plain(item, level + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, level + 1) for item in value if item not in ("…", "...")]
    return value


def _encodable(value: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Replace lone surrogates by U+FFFD; also whether there were any."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return json.loads(whole), True
    return value, False
