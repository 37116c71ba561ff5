"""Reading the JSON object out of what a model really sent: prose, fences, reasoning, mistakes and all.

The steps, from the safest on: the text as JSON; each object that stands in it, as JSON; the same with
Markdown escapes, comments and foreign quotes taken back; mended by the `json_repair` library. JSON that
is valid is never altered, and what was cut off is never taken for whole. Nothing is executed, nothing
raises, and the work is bounded: a text made to be slow is given up, not waited for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, SupportsIndex

CUT_OFF = ("length", "max_tokens", "model_length")  # what providers call a spent token limit
_DEEPEST = 100  # levels of nesting; plans and requests need fewer than ten
_SCANNED = 1_200_000  # characters read in search of objects, all attempts together
_OBJECTS = 24  # objects looked at; more than a few means that the text is no answer
_MENDED = 50_000  # characters of an object that is mended; a plan has a few thousand
_READS = 250_000  # characters json_repair may look at for one answer, repeats counted; 25,000 is usual
_UNWRAPPED = 3  # levels of JSON written inside a JSON string

_NOTHING = object()

_REASONING = r"(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)"
_REASONING_TAG = re.compile(
    rf"(?P<open><{_REASONING}>|\[THINK\]|◁think▷)|"
    rf"(?P<close></{_REASONING}>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>)",
    re.IGNORECASE,
)
_AFTER_REASONING = re.compile(r"[ \t]{0,8}(?:[\r\n{\[`]|\Z)")
_CLOSING_FENCE = re.compile(r"\n[ \t]{0,8}```")
_OBJECT_START = re.compile(
    r"\{\s{0,200}(?:(?P<escaped>\\+\")|[\"'“”‘`}/#]|[^\W\d]\w{0,60}\\{0,2}\w{0,60}\s?:|\Z)"
)
_QUOTED = r"(?:[^{q}\\]++|\\.|[{q}](?!\s{{0,80}}[,:}}\]]))*+[{q}]?"
_COMMENT = r"//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
_STRICT_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_SMART_STRING = "[“”]" + _QUOTED.format(q="“”")
_TOKEN = re.compile(rf"{_STRICT_STRING}|{_SMART_STRING}|[{{}}\[\]]|{_COMMENT}", re.DOTALL)
_SINGLE_STRING = "['‘]" + _QUOTED.format(q="'’")
_SINGLE_QUOTED_TOKEN = re.compile(
    rf"{_STRICT_STRING}|{_SINGLE_STRING}|{_SMART_STRING}|[{{}}\[\]]|{_COMMENT}", re.DOTALL
)
_TRAILING_COMMA = re.compile(rf"({_STRICT_STRING})|,(?=\s{{0,200}}[}}\]])", re.DOTALL)
_PYTHON_LITERALS = {"True": "true", "False": "false", "None": "null"}
_PYTHON_LITERAL = re.compile(rf"({_STRICT_STRING})|\b(True|False|None)\b", re.DOTALL)
_INNER_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_INNER_QUOTES = {r"\'": "'", '"': r"\""}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MARKDOWN = frozenset("_*[]{}()<>#~`|!-.+&$'")
_PLAIN_ESCAPE = {"n": "\n", "t": "\t", "r": "\r"}


class Answer(NamedTuple):
    """What a model's answer holds.

    `value` is the wanted object, or None if there is none. `truncated` says that the answer was cut off:
    `value`, if any, is then what had arrived. `repaired` says that the object was not JSON as it stood.
    `problem` says in words why there is no whole object; it is None exactly if `value` can be taken as
    the model's whole answer.
    """

    value: dict[str, Any] | None
    truncated: bool
    repaired: bool
    problem: str | None


class _Found(NamedTuple):
    value: dict[str, Any]
    whole: bool
    repaired: bool


def read_answer(text: str, *, keys: Collection[str], finish_reason: str | None = None) -> Answer:
    r"""The object with the given keys in a model's answer.

    Args:
        text: the answer as it came.
        keys: the keys the wanted object has. An object with one of them will do; the first with the
            most of them is taken, at any depth.
        finish_reason: why the model stopped, as the provider says; "length" marks the answer truncated.

    Half of a surrogate pair, which no file can hold, becomes U+FFFD; nothing else in valid JSON changes.

    >>> read_answer('Sure!\n```json\n{"a": "C:\\\\temp"}\n```', keys={"a"})
    Answer(value={'a': 'C:\\temp'}, truncated=False, repaired=False, problem=None)
    >>> read_answer("{'a': True,}", keys={"a"})
    Answer(value={'a': True}, truncated=False, repaired=True, problem=None)
    >>> read_answer('{"a": ["x", "y', keys={"a"})
    Answer(value={'a': ['x', 'y']}, truncated=True, repaired=True, problem='the answer is cut off')
    """
    spent = (finish_reason or "").lower() in CUT_OFF
    wanted = frozenset(keys)
    text = text.lstrip("\ufeff").strip()
    if not text:
        return Answer(None, spent, False, "the answer is empty")
    found, unfinished = _find(text, wanted)
    if found is None:
        cut = spent or unfinished
        absent = f"no JSON object with any of {', '.join(sorted(wanted))}"
        return Answer(None, cut, False, "the answer is cut off before its object" if cut else absent)
    value, altered = _encodable(found.value)
    cut = spent or not found.whole
    return Answer(value, cut, found.repaired or altered, "the answer is cut off" if cut else None)


def _find(text: str, wanted: frozenset[str]) -> tuple[_Found | None, bool]:
    """The wanted object, and whether the text ends before one could be complete."""
    for _ in range(_UNWRAPPED):
        value = _load(text)
        if not isinstance(value, str):
            break
        text = value.strip()
    else:
        value = _NOTHING
    if value is not _NOTHING:
        if (
            isinstance(value, dict)
            and wanted
            and wanted <= value.keys()
            and text.count("{") + text.count("[") <= _DEEPEST
        ):
            return _Found(value, True, False), False  # as most answers are: no other object can have more
        best = _best(value, wanted)
        return (None if best is None else _Found(best, True, False)), False
    text, unclosed = without_reasoning(text)
    key = re.compile("|".join(re.escape(name).replace("_", r"\\{0,2}_") for name in sorted(wanted)) or r"\Z.")
    found, open_end = _search(text, key, wanted)
    if found is None and re.match(rf"(?:`{{3}}\w*\s+)?\s*[\"'“](?:{key.pattern})[\"'”]\s*:", text):
        # The opening brace was part of the prompt, and the model went on behind it.
        found, open_end = _search("{" + text.removeprefix("```json").removeprefix("```"), key, wanted)
    return found, unclosed or open_end or text.count("```") == 1


def without_reasoning(text: str) -> tuple[str, bool]:
    """The text without its reasoning blocks; and whether the last of them never ends.

    A tag counts where it cannot be part of a JSON string: before the first brace or at the start of a
    line. A closing tag without an opening one ends a block that began in the prompt.
    """
    kept: list[str] = []
    start, inside = 0, False
    brace, last_brace = text.find("{"), text.rfind("{")
    for tag in _REASONING_TAG.finditer(text):
        place = tag.start()
        if tag["open"]:
            if not inside and (brace < 0 or place < brace or text[place - 1] == "\n" or place == start):
                kept.append(text[start:place])
                inside = True
        elif inside:
            inside, start = False, tag.end()
        elif last_brace > place and _AFTER_REASONING.match(text, tag.end()):
            kept, start = [], tag.end()
        if 0 <= brace < start:
            brace = text.find("{", start)
    if not inside:
        kept.append(text[start:])
    return "".join(kept).strip(), inside


def _search(text: str, key: re.Pattern[str], wanted: frozenset[str]) -> tuple[_Found | None, bool]:
    """The best object among those that stand in the text, and whether one of them has no end."""
    best: _Found | None = None
    open_end = False
    meter = [_READS]
    for span, whole in _spans(text):
        open_end = open_end or not whole
        found = _read(span, whole, wanted, meter) if key.search(span) else None
        if found is not None and (best is None or _rank(found, wanted) > _rank(best, wanted)):
            best = found
            if found.whole and wanted <= found.value.keys():
                break
    return best, open_end


def _rank(found: _Found, wanted: frozenset[str]) -> tuple[int, bool]:
    return len(wanted & found.value.keys()), found.whole


def _spans(text: str) -> Iterator[tuple[str, bool]]:
    """The objects in the text, and whether each is closed; what is inside an unclosed one comes after it."""
    position, budget = 0, _SCANNED
    for _ in range(_OBJECTS):
        start = _OBJECT_START.search(text, position)
        if start is None or budget <= 0:
            return
        if start["escaped"]:
            # JSON inside a JSON string, the outer quotes lost or cut off.
            text, position = _unescaped(text[start.start() :]), 0
            continue
        end, whole = _end_of_object(text, start.start())
        budget -= end - start.start()
        position = end if whole else start.end()
        yield text[start.start() : end], whole


def _end_of_object(text: str, start: int) -> tuple[int, bool]:
    """Where the object that starts at `start` ends, and whether it is closed.

    A closing bracket closes what stands open inside it, too: there a bracket is missing, but no tail.
    """
    expected: list[str] = []
    end = len(text)
    last_close = start
    for token in _token_of(text, start).finditer(text, start):
        sign = text[token.start()]
        if sign in "{[":
            expected.append("}" if sign == "{" else "]")
            if len(expected) > _DEEPEST:
                return end, False
        elif sign in "}]" and sign in expected:
            while expected.pop() != sign:
                pass
            last_close = token.end()
            if not expected:
                return last_close, True
    body = text[start:].rstrip("` \t\r\n")
    if body.endswith("}") and all(body.count(a) == body.count(b) for a, b in ("{}", "[]")):
        return end, True  # a stray quote hid the brackets; by their number the object is closed
    fence = _CLOSING_FENCE.search(text, max(last_close, start))
    if fence is not None:
        return fence.start(), False
    tail = text[last_close:].lstrip()
    return (end if last_close == start or not tail or tail[0] in ',"]}' else last_close), False


def _token_of(text: str, start: int) -> re.Pattern[str]:
    """How to tell strings, brackets and comments apart: apostrophes quote only if the object begins so."""
    return _SINGLE_QUOTED_TOKEN if text[start + 1 : start + 200].lstrip()[:1] in ("'", "‘") else _TOKEN


def _read(span: str, whole: bool, wanted: frozenset[str], meter: list[int]) -> _Found | None:
    """The wanted object of one span, by the safest way that works."""
    if whole:
        best = _best(_load(span), wanted)
        if best is not None:
            return _Found(best, True, False)
    for value in _mendings(span, whole, meter):
        best = _best(value, wanted)
        if best is not None:
            return _Found(best, whole, True)
    return None


def _mendings(span: str, whole: bool, meter: list[int]) -> Iterator[Any]:
    if len(span) > _MENDED:
        return
    span = _without_markdown_escapes(span)
    if whole:
        yield _load(_respelled(span), strict=False)
    yield _repair(span, meter)


def _load(text: str, *, strict: bool = True) -> Any:
    """The JSON value of a text; `_NOTHING` if it is not JSON. `strict=False` allows raw line ends."""
    try:
        return json.loads(text, strict=strict, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _NOTHING


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _respelled(text: str) -> str:
    """The text with JSON's quotes and literals, without comments and trailing commas.

    json_repair knows these mistakes too, but drops empty strings next to comments and cuts what stands
    in typographic quotes at its commas; here every string keeps its content.
    """
    plain = _token_of(text, 0).sub(lambda token: _respelled_token(token[0]), text)
    plain = _TRAILING_COMMA.sub(lambda match: match[1] or "", plain)
    return _PYTHON_LITERAL.sub(lambda match: match[1] or _PYTHON_LITERALS[match[2]], plain)


def _respelled_token(token: str) -> str:
    if token[0] in "/#":
        return " "
    if token[0] in '{}[]"':
        return token
    return '"' + _INNER_QUOTE.sub(lambda match: _INNER_QUOTES.get(match[0], match[0]), token[1:-1]) + '"'


class _Metered(str):
    """A text that can be read only so often.

    json_repair reads on from every odd quote and bracket to see what it may mean: a few kilobytes of
    them would keep it busy for minutes.
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
        return json.loads(json.dumps(value))  # plain strings again
    except Exception:  # a repair that fails in any way is no repair, and must not end a run
        return _NOTHING


def _best(value: Any, wanted: frozenset[str]) -> dict[str, Any] | None:
    """The first object in a value with the most wanted keys; JSON inside strings is looked into."""
    best: dict[str, Any] | None = None
    most = 0
    waiting: list[tuple[Any, int, int]] = [(value, 0, 0)]
    while waiting:
        item, level, unwrapped = waiting.pop()
        if isinstance(item, str) and unwrapped < _UNWRAPPED:
            item, unwrapped = _load(item), unwrapped + 1
        if isinstance(item, dict):
            count = len(wanted & item.keys())
            if count > most:
                best, most = item, count
        elif not isinstance(item, list):
            continue
        if not item:
            continue
        if level >= _DEEPEST:
            return None  # no plan, and too deep to be written again
        children = list(item.values() if isinstance(item, dict) else item)
        children.reverse()
        # Numbers and prose hold nothing: most of what is in an answer is not even put on the list.
        waiting += [
            (child, level + 1, unwrapped)
            for child in children
            if (
                child.lstrip()[:1] in ("{", "[")
                if isinstance(child, str)
                else isinstance(child, (dict, list))
            )
        ]
    return best


def _without_markdown_escapes(text: str) -> str:
    r"""Take back escapes that Markdown knows and JSON does not: `task\_nodes` for `task_nodes`."""
    kept = "'" if _token_of(text, 0) is _SINGLE_QUOTED_TOKEN else ""
    return _ESCAPE.sub(
        lambda escape: escape[1] if escape[1] in _MARKDOWN and escape[1] != kept else escape[0], text
    )


def _unescaped(text: str) -> str:
    """One level of JSON escapes taken back, without asking for a complete string."""
    return _ESCAPE.sub(lambda escape: _PLAIN_ESCAPE.get(escape[1], escape[1]), text)


def _encodable(value: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The value with halves of surrogate pairs replaced, and whether there were any."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return json.loads(whole), True
    return value, False
