"""Request parameters: sampling settings, and those that a server refuses, which are omitted or renamed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from toolassay.errors import UsageError

NEVER = frozenset({"model", "messages"})
"""Without these there is nothing to ask."""

_REFUSING = re.compile(
    r"unsupported|not supported|n't supported|not support|n't support|not permitted|not allowed|not enabled"
    r"|not accepted|no longer (?:supported|accepted)|unrecogni[sz]ed|extra_forbidden|deprecated"
    r"|unknown (?:name|parameter|argument|field)|unexpected (?:keyword|parameter|argument|field)"
    r"|cannot both be",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\buse (?P<one>[\w'\"`]+) instead|(?:in favou?r of|replaced by|replaced with) (?P<two>[\w'\"`]+)",
    re.IGNORECASE,
)
_QUOTES = "'\"`"
# What a validator repeats of the request, e.g. {'loc': ('body',), 'msg': '…', 'input': {'top_p': 1}}: to the
# end of the line, for it may name every parameter. Not the word in "Input should be a number".
_ECHO = re.compile(r",\s*['\"]input['\"]:.*")
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+|\n+")


def check_temperature(value: float, *, flag: str = "--temperature") -> None:
    """Refuse what is no temperature.

    Raises:
        UsageError: it is negative or no number.

    >>> check_temperature(float("nan"))
    Traceback (most recent call last):
    toolassay.errors.UsageError: --temperature nan is no temperature. Fix: give a number from 0
    """
    if not (math.isfinite(value) and value >= 0):
        raise UsageError(f"{flag} {value:g} is no temperature", fix="give a number from 0")


def sampling_parameters(temperature: float | None, top_p: float | None) -> dict[str, float]:
    """How a model draws its answers, as parameters of a request; one that is None is left out.

    Raises:
        UsageError: a value is out of its range.

    >>> sampling_parameters(0.7, None)
    {'temperature': 0.7}
    """
    if temperature is not None:
        check_temperature(temperature)
    if top_p is not None and not 0 <= top_p <= 1:  # NaN fails too
        raise UsageError(f"--top_p {top_p:g} is no share", fix="give a number from 0 to 1")
    given = {"temperature": temperature, "top_p": top_p}
    return {name: value for name, value in given.items() if value is not None}


def without_default(parameters: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as a manifest has them: a limit of tokens only where it is not the default.

    Runs that began before the limit could be set do not name it, and go on.

    >>> without_default({"top_p": 0.1, "max_tokens": 2000}, {"max_tokens": 2000})
    {'top_p': 0.1}
    """
    limit = default.get("max_tokens")
    return {name: value for name, value in parameters.items() if (name, value) != ("max_tokens", limit)}


class Refusals:
    """The parameters that one model's endpoint refuses, learnt while it is asked.

    Args:
        known: those known from before; the value is the name to send instead, None for "leave it out".
        told: called once for each that is learnt, with the two.

    >>> refusals = Refusals()
    >>> refusals.learn("Unknown parameter: 'top_k'", ["top_k", "top_p"])
    True
    >>> refusals.fit({"top_k": 5, "top_p": 0.1})
    {'top_p': 0.1}
    """

    def __init__(
        self,
        known: Mapping[str, str | None] | None = None,
        told: Callable[[str, str | None], None] = lambda name, instead: None,
    ) -> None:
        self._known = dict(known or {})
        self._told = told

    @property
    def known(self) -> Mapping[str, str | None]:
        """What is refused, and the name that is sent instead."""
        return self._known

    def fit(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Parameters as the endpoint takes them."""
        if not self._known:
            return parameters
        fitting = dict(parameters)
        for name, instead in self._known.items():
            if name in fitting:
                value = fitting.pop(name)
                if instead is not None:
                    fitting.setdefault(instead, value)
        return fitting

    def learn(self, complaint: str, sent: Collection[str], status: int | None = 400) -> bool:
        """Whether a complaint is about a parameter, so that asking again without it may help.

        Args:
            complaint: the body of the endpoint's answer.
            sent: the names of the parameters in the request it is about.
            status: as `refused_parameter` takes it.
        """
        found = refused_parameter(complaint, sent, status)
        if found is None:
            return False
        name, instead = found
        if name not in self._known:
            # What was refused before is no way out: two names that refuse each other end here.
            instead = None if instead in self._known else instead
            self._known[name] = instead
            self._told(name, instead)
        return name not in self.fit(dict.fromkeys(sent))


def refused_parameter(
    complaint: str, sent: Collection[str], status: int | None = 400
) -> tuple[str, str | None] | None:
    """The parameter that a complaint refuses, of those sent, and the name the endpoint wants instead.

    None where the complaint is about something else: a value out of its range, too long a prompt, whatever
    does not name one of `sent`. Where several are named it is the first; of two that exclude each other
    the last. Understands OpenAI, Azure, vLLM (pydantic's "extra inputs"), Anthropic and Google.

    A server that fails (5xx, or an error inside an answer) may mention parameters by the way: there one
    sentence must both refuse and name it. A 429 must name it in its field `param`.

    Args:
        complaint: the body of the endpoint's answer.
        sent: the names of the parameters in the request it is about.
        status: of that answer; None where it had none of its own.

    >>> refused_parameter("max_tokens is not supported. Use max_completion_tokens instead.", ["max_tokens"])
    ('max_tokens', 'max_completion_tokens')
    >>> refused_parameter("max_tokens is too large: 90000", ["max_tokens"]) is None
    True
    """
    strings, field = [], None
    for key, text in texts_of(complaint):
        strings.append(text)
        if key == "param":
            field = re.split(r"[.\[]", text, maxsplit=1)[0]
    message = " ".join(strings)
    if not _REFUSING.search(message):
        return None
    candidates = [name for name in sent if name not in NEVER]
    if field not in candidates:
        if status == 429:
            return None
        where = message
        if fails(status):
            where = "\n".join(text for text in sentences(strings) if _REFUSING.search(text))
        found = sorted((place, name) for name in candidates if (place := _place(name, where)) is not None)
        if not found:
            return None
        field = found[-1 if "cannot both be" in message.lower() else 0][1]
    return field, _instead(message, field, sent)


def fails(status: int | None) -> bool:
    """Whether a status says that the server failed, rather than what is wrong with the request."""
    return status is None or status >= 500


def sentences(texts: Iterable[str]) -> Iterator[str]:
    """The sentences and lines of texts.

    >>> list(sentences(["No top_k. Try again", "Or not"]))
    ['No top_k.', 'Try again', 'Or not']
    """
    for text in texts:
        yield from _SENTENCE_END.split(text)


def texts_of(complaint: str) -> Iterator[tuple[str, str]]:
    """Every text of a JSON value with its key; the complaint itself where it is no JSON.

    What repeats the request (pydantic's `input`) is left out.
    """
    try:
        waiting: list[tuple[str, Any]] = [("", json.loads(complaint))]
    except (ValueError, RecursionError):
        waiting = [("", complaint)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, str):
            # The place of an error as pydantic gives it: ["body", "presence_penalty"].
            yield key, f"'{value}'" if key == "loc" else _ECHO.sub("", value)
        elif isinstance(value, dict):
            waiting += reversed([(name, item) for name, item in value.items() if name != "input"])
        elif isinstance(value, list):
            waiting += [(key, item) for item in reversed(value)]


def _place(name: str, message: str) -> int | None:
    """Where a message names a parameter; a name that is an everyday word must be marked as a name."""
    word = re.escape(name)
    pattern = rf"(?<!\w){word}(?!\w)"
    if "_" not in name:
        pattern = (
            rf"['\"`]{word}['\"`.\[]"
            rf"|(?:parameter|argument|field|name|value|supplied)s?\W{{1,3}}{word}(?!\w)"
            rf"|(?<!\w){word} (?:is|are|does|was|cannot|parameter)\b"
        )
    found = re.search(pattern, message)
    return found.start() if found else None


def _instead(message: str, name: str, sent: Collection[str]) -> str | None:
    found = _INSTEAD.search(message)
    if found is None:
        return None
    word = found["one"] or found["two"]
    marked, bare = word[0] in _QUOTES or "_" in word, word.strip(_QUOTES)
    usable = re.fullmatch(r"[a-z][a-z0-9_]*", bare) and bare not in (*NEVER, name, *sent)
    return bare if marked and usable else None
