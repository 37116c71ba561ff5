"""Parses the JSON object in a model's answer.

The object may be surrounded by prose, fences and reasoning, and may be malformed. No function here executes
anything or raises for any text, and the work is bounded, so that a hostile text cannot make it slow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, SupportsIndex

from toolassay.files.data_files import unescaped_json

DEEPEST = 100
"""Maximum levels of nesting; plans and requests need fewer than ten."""
LONGEST = 2_000_000
"""Maximum characters of an answer that is parsed; the longest outputs of models have about half of that."""
SCANNED = 1_200_000
"""Maximum characters that all searches for objects in one text may read."""
_OBJECTS = 500  # maximum objects in a text; bounds the list, as SCANNED bounds the scan

# A closing fence: matches the line "```" after an object, not a fence in the middle of a line.
_CLOSING_FENCE = re.compile(r"\n[ \t]{0,8}```")
# A brace that starts an object: matches '{"a"', "{'a'", "{a:", "{}" and '{\"a' (escaped), not "{see above}".
OBJECT_START = re.compile(
    r"\{\s{0,200}(?:(?P<escaped>\\+\")|[\"'“”‘`}/#]|[^\W\d]\w{0,60}\\{0,2}\w{0,60}\s?:|\Z)"
)
# The rest of a string in the quotes q. A quote ends it only before ",", ":", "}" or "]": in 'it's', 'b'
# the apostrophe does not.
_QUOTED = r"(?:[^{q}\\]++|\\.|[{q}](?!\s{{0,80}}[,:}}\]]))*+[{q}]?"
# A comment: matches "// x", "# x" and "/* x */", also unclosed; not "a / b".
_COMMENT = r"//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
# A string of valid JSON: matches '"a \" b"', also unclosed; not "'a'".
STRICT_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_SMART_STRING = "[“”]" + _QUOTED.format(q="“”")
# Everything that matters for nesting: strings, brackets and comments; matches "{" in '{"a"', not in '"{"'.
_TOKEN = re.compile(rf"{STRICT_STRING}|{_SMART_STRING}|[{{}}\[\]]|{_COMMENT}", re.DOTALL)
_SINGLE_STRING = "['‘]" + _QUOTED.format(q="'’")
# The same with strings in single quotes: matches "'a'" in "{'a'" as one string.
SINGLE_QUOTED_TOKEN = re.compile(
    rf"{STRICT_STRING}|{_SINGLE_STRING}|{_SMART_STRING}|[{{}}\[\]]|{_COMMENT}", re.DOTALL
)
# A backslash with its character: matches "\n" and, as one escape, "\\"; not a backslash at the end.
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PLAIN_ESCAPE = {"n": "\n", "t": "\t", "r": "\r"}


class Span(NamedTuple):
    """An object in a text.

    Attributes:
        source: The text.
        start: Position of its opening brace.
        end: Position after its end.
        whole: Whether it is closed.
    """

    source: str
    start: int
    end: int
    whole: bool

    @property
    def text(self) -> str:
        """The text of the object."""
        return self.source[self.start : self.end]


def spans(text: str) -> Iterator[Span]:
    """Yield the objects in a text in order; after an unclosed one, also the objects inside it."""
    position = 0
    budget = SCANNED
    for _ in range(_OBJECTS):
        start = OBJECT_START.search(text, position)
        if start is None or budget <= 0:
            return
        if start["escaped"]:
            # JSON inside a JSON string whose outer quotes are missing.
            text = _ESCAPE.sub(lambda escape: _PLAIN_ESCAPE.get(escape[1], escape[1]), text[start.start() :])
            position = 0
            continue
        end, whole = end_of_object(text, start.start())
        budget -= end - start.start()
        position = end if whole else start.end()
        yield Span(text, start.start(), end, whole)


def end_of_object(text: str, start: int) -> tuple[int, bool]:
    """The end of the object that starts at `start`, and whether it is closed.

    A closing bracket also closes the unclosed brackets inside it: a bracket is missing there, but nothing was
    cut off.
    """
    expected: list[str] = []
    end = len(text)
    last_close = start
    for token in token_of(text, start).finditer(text, start):
        sign = text[token.start()]
        if sign in "{[":
            expected.append("}" if sign == "{" else "]")
            if len(expected) > DEEPEST:
                return end, False
        elif sign in "}]" and sign in expected:
            while expected.pop() != sign:
                pass
            last_close = token.end()
            if not expected:
                return last_close, True
    body = text[start:].rstrip("` \t\r\n")
    if body.endswith("}") and all(body.count(a) == body.count(b) for a, b in ("{}", "[]")):
        return end, True  # a stray quote hid the brackets; their counts show that the object is closed
    fence = _CLOSING_FENCE.search(text, max(last_close, start))
    if fence is not None:
        return fence.start(), False
    tail = text[last_close:].lstrip()
    return (end if last_close == start or not tail or tail[0] in ',"]}' else last_close), False


def token_of(text: str, start: int) -> re.Pattern[str]:
    """The tokenizer pattern of an object: apostrophes are quotes only if its first key is in them."""
    return SINGLE_QUOTED_TOKEN if text[start + 1 : start + 200].lstrip()[:1] in ("'", "‘") else _TOKEN


# The names of such tags: "think", "seed:think" and "analysis"; not "thinker".
_REASONING = r"(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)"
# An opening or closing tag of any model: matches "<think>", "</seed:think>" and "[/THINK]", not "<thinker>".
_REASONING_TAG = re.compile(
    rf"(?P<open><{_REASONING}>|\[THINK\]|◁think▷)|"
    rf"(?P<close></{_REASONING}>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>)",
    re.IGNORECASE,
)
# The text after a real closing tag: matches a line end, "{", "[", "`" and the end of the text, not '", "b"',
# which follows a tag inside a JSON string.
_AFTER_REASONING = re.compile(r"[ \t]{0,8}(?:[\r\n{\[`]|\Z)")


def without_reasoning(text: str) -> tuple[str, bool]:
    r"""The text without its reasoning blocks, and whether the last block is unclosed.

    >>> without_reasoning("<think>{draft}</think>\n{answer}"), without_reasoning("{draft}</think>No.")
    (('{answer}', False), ('No.', False))
    """
    parts, unclosed = visible_parts(text)
    return "".join(text[start:end] for start, end in parts).strip(), unclosed


def visible_parts(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Find the parts of a text outside of reasoning blocks.

    A closing tag without an opening one ends a block that began in the prompt, so everything before it is
    reasoning. A tag inside a closed JSON object is part of a string, except for an opening tag at the start
    of a line and a closing tag at the end of a line or before a brace, bracket or fence. A text of more than
    `LONGEST` characters counts as one part.

    Returns:
        Start and end of each part in order, and whether the text ends inside a block.
    """
    if len(text) > LONGEST:
        return [(0, len(text))], False
    parts: list[tuple[int, int]] = []
    start = 0
    is_inside = False
    brace = text.find("{")
    budget = [SCANNED]
    for tag in _REASONING_TAG.finditer(text):
        tag_start = tag.start()
        if tag["open"]:
            if not is_inside and (
                not 0 <= brace < tag_start
                or text[tag_start - 1] == "\n"
                or tag_start == start
                or not _is_in_object(text, brace, tag_start, budget)
            ):
                parts.append((start, tag_start))
                is_inside = True
        elif is_inside:
            is_inside = False
            start = tag.end()
        elif _AFTER_REASONING.match(text, tag.end()) or not _is_in_object(text, brace, tag_start, budget):
            parts = []
            start = tag.end()
        if 0 <= brace < start:
            brace = text.find("{", start)
    if not is_inside:
        parts.append((start, len(text)))
    return parts, is_inside


def _is_in_object(text: str, brace: int, position_of_tag: int, budget: list[int]) -> bool:
    """Whether a closed object that begins at or after `brace` contains `position_of_tag`.

    `budget` holds the number of characters that may still be read. When it is used up the answer is False,
    because it is safer to drop possible reasoning than to act on it.
    """
    position = brace
    while budget[0] > 0 and 0 <= position < position_of_tag:
        start = OBJECT_START.search(text, position, position_of_tag)
        if start is None:
            return False
        end, whole = end_of_object(text, start.start())
        budget[0] -= 1 + end - start.start()
        if whole and end > position_of_tag:
            return True
        position = end if whole else start.start() + 1
    return False


_REPAIRED = 50_000  # maximum characters of an object to repair; a plan has a few thousand

NOTHING = object()
"""Returned instead of a value for a text that is not JSON; None is a valid JSON value."""

# The next two match a whole string first (group 1), so that its content is never changed.
# A trailing comma: matches the last comma of '{"a": 1, }', not that of '{"a": 1, "b": 2}' or '"a, }"'.
_TRAILING_COMMA = re.compile(rf"({STRICT_STRING})|,(?=\s{{0,200}}[}}\]])", re.DOTALL)
_PYTHON_LITERALS = {"True": "true", "False": "false", "None": "null"}
# A Python literal: matches True in "{'a': True}", not in "Truely" or '"True"'.
_PYTHON_LITERAL = re.compile(rf"({STRICT_STRING})|\b(True|False|None)\b", re.DOTALL)
# A double quote or an escape inside a string: matches '"' and "\'", not a bare apostrophe.
_INNER_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_INNER_QUOTES = {r"\'": "'", '"': r"\""}
_MARKDOWN = frozenset("_*[]{}()<>#~`|!-.+&$'")  # characters that Markdown escapes with a backslash


def repaired_values(span: str, *, whole: bool, meter: list[int]) -> Iterator[Any]:
    """Yield the possible values of a malformed object, the most reliable first; `NOTHING` for a failure.

    Args:
        span: Text of the object.
        whole: Whether the object is closed; an unclosed one is repaired by json_repair only.
        meter: A list with one number, the characters that json_repair may still read; it is reduced.
    """
    if len(span) > _REPAIRED:
        return
    span = _without_markdown_escapes(span)
    if whole:
        yield load(_respelled(span), strict=False)
    yield _repair(span, meter)


def load(text: str, *, strict: bool = True) -> Any:
    """The JSON value of a text, or `NOTHING`. `strict=False` allows control characters in strings."""
    try:
        return json.loads(text, strict=strict, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return NOTHING


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _respelled(text: str) -> str:
    """Replace quotes and literals by those of JSON, and remove comments and trailing commas.

    json_repair handles these too, but it drops empty strings next to comments and cuts text in typographic
    quotes at its commas. Here every string keeps its content.
    """
    plain = token_of(text, 0).sub(lambda token: _respelled_token(token[0]), text)
    plain = _TRAILING_COMMA.sub(lambda match: match[1] or "", plain)
    return _PYTHON_LITERAL.sub(lambda match: match[1] or _PYTHON_LITERALS[match[2]], plain)


def _respelled_token(token: str) -> str:
    if token[0] in "/#":
        return " "
    if token[0] in '{}[]"':
        return token
    return '"' + _INNER_QUOTE.sub(lambda match: _INNER_QUOTES.get(match[0], match[0]), token[1:-1]) + '"'


class _Metered(str):
    """A string that raises `_TooMuchWork` after a number of reads.

    json_repair looks ahead from every unpaired quote and bracket, so a few kilobytes of them would take it
    minutes.
    """

    __slots__ = ("meter",)
    meter: list[int]

    @classmethod
    def of(cls, text: str, meter: list[int]) -> _Metered:
        metered = cls(text)
        metered.meter = meter
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.meter[0] -= 1 + len(part) // 100
        if self.meter[0] < 0:
            raise _TooMuchWork
        return _Metered.of(part, self.meter) if isinstance(key, slice) else part

    def __add__(self, other: str) -> str:
        return _Metered.of(super().__add__(other), self.meter)


class _TooMuchWork(Exception):
    pass


def _repair(text: str, meter: list[int]) -> Any:
    from json_repair import repair_json

    try:
        value = repair_json(_Metered.of(text, meter), return_objects=True, skip_json_loads=True)
        return json.loads(json.dumps(value))  # converts `_Metered` back to plain strings
    except Exception:  # whatever json_repair raises, a failed repair must not end a run
        return NOTHING


def _without_markdown_escapes(text: str) -> str:
    r"""Remove backslashes of Markdown escapes that JSON does not have: `task\_nodes` -> `task_nodes`."""
    kept = "'" if token_of(text, 0) is SINGLE_QUOTED_TOKEN else ""
    return _ESCAPE.sub(
        lambda escape: escape[1] if escape[1] in _MARKDOWN and escape[1] != kept else escape[0], text
    )


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
    wanted_keys = frozenset(keys)
    reader = _AnswerReader(
        wanted_keys, wanted_keys if required is None else frozenset(required), forms, nested
    )
    text = text.lstrip("\ufeff").strip()
    if not text:
        return ParsedAnswer(None, spent, False, "the answer is empty")
    if len(text) > LONGEST:
        return ParsedAnswer(None, spent, False, f"the answer has more than {LONGEST:,} characters")
    answer, unfinished = reader.find(text)
    if answer is None:
        if reader.echoed and not spent:
            return ParsedAnswer(None, False, False, ECHO)
        cut = spent or unfinished
        absent = f"no JSON object with any of {', '.join(sorted(wanted_keys))}"
        return ParsedAnswer(None, cut, False, "the answer is cut off before its object" if cut else absent)
    value, altered = _encodable(answer.value)
    cut = spent or not answer.whole
    return ParsedAnswer(value, cut, answer.repaired or altered, "the answer is cut off" if cut else None)


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
    forms = (read_answer(way, keys=keys, required=required).value for way in ways)
    return tuple(form for form in forms if form is not None)


class _AnswerReader:
    """Searches one text for the wanted object.

    Attributes:
        echoed: Whether it found an echo of a form.
    """

    def __init__(
        self,
        wanted_keys: frozenset[str],
        required: frozenset[str],
        forms: Collection[Mapping[str, Any]],
        nested: bool,
    ) -> None:
        self._wanted_keys = wanted_keys
        self._required = required
        self._nested = nested
        self._forms = [self._compared(form) for form in forms]
        self._meter = [_READS]
        self.echoed = False
        names = "|".join(re.escape(name).replace("_", r"\\{0,2}_") for name in sorted(wanted_keys)) or r"\Z."
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
        answer, open_end = self._search(text)
        if answer is None and self._bare_start.match(bare := _OPENING_FENCE.sub("", text, count=1)):
            # The prompt ended with the opening brace, and the model continued after it.
            answer, open_end = self._search("{" + bare)
        return answer, unclosed or open_end or text.count("```") == 1

    def _search(self, text: str) -> tuple[_Found | None, bool]:
        """The best object in the text, and whether any object is unclosed."""
        best: _Found | None = None
        groups, open_end = self._groups(text)
        n_tried = 0
        for group in reversed(groups):
            for span in group:
                if n_tried == _TRIED:
                    return best, open_end
                n_tried += 1
                candidate = self._read(span)
                if candidate is None:
                    continue
                if candidate.whole and self._required <= candidate.value.keys():
                    return candidate, open_end
                if best is None or self._rank(candidate) > self._rank(best):
                    best = candidate
        return best, open_end

    def _groups(self, text: str) -> tuple[list[list[Span]], bool]:
        """The candidate objects, grouped by list, and whether any object is unclosed."""
        groups: list[list[Span]] = []
        open_end = False
        span_before: Span | None = None
        owners: list[tuple[Span, int]] = []  # unclosed objects with the position of their first wanted key
        for span in spans(text):
            open_end = open_end or not span.whole
            key = self._key.search(span.source, span.start, span.end)
            if key is not None and not _belongs(span, owners):
                follows = (
                    span_before is not None
                    and span_before.source is span.source
                    and _NEXT_IN_LIST.fullmatch(span.source, span_before.end, span.start)
                )
                if groups and follows:
                    groups[-1].append(span)
                else:
                    groups.append([span])
                if not span.whole and (
                    key_match := self._key_of_object.search(span.source, span.start, span.end)
                ):
                    owners.append((span, key_match.start()))
            span_before = span if span.whole else None
        return groups, open_end

    def _rank(self, candidate: _Found) -> tuple[int, bool]:
        return len(self._wanted_keys & candidate.value.keys()), candidate.whole

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
        most = 0
        fits = False
        waiting: list[tuple[Any, int, int]] = [(value, 0, 0)]
        while waiting:
            item, level, unwrapped = waiting.pop()
            if isinstance(item, str) and self._nested and unwrapped < _UNWRAPPED:
                item = load(item)
                unwrapped = unwrapped + 1
            if isinstance(item, dict):
                is_outer = level == 0 or (level == 1 and isinstance(value, list))
                may_count = not fits and (self._nested or is_outer)
                count = len(self._wanted_keys & item.keys()) if may_count else 0
                if count and self._forms and self._compared(item) in self._forms:
                    self.echoed = True
                    continue
                if count and self._required <= item.keys():
                    best = item
                    fits = True
                    if is_shallow:
                        return best
                elif count > most:
                    best = item
                    most = count
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
        return _plain({key: item for key, item in value.items() if key in self._wanted_keys and item != []})


def _belongs(span: Span, owners: Collection[tuple[Span, int]]) -> bool:
    """Whether an object is a value inside an unclosed object whose wanted key comes before it."""
    if not any(owner.source is span.source and key < span.start < owner.end for owner, key in owners):
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
    text = unescaped_json(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return json.loads(whole), True
    return value, False
