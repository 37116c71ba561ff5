"""Request parameters: checks of sampling settings, and parameters that a server refuses.

A refused parameter is omitted, or renamed if the server names a replacement, for the rest of the run.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from toolassay.errors import UsageError

NEVER = frozenset({"model", "messages"})
"""Parameters that are never omitted, because every request needs them."""

# A text that refuses a parameter: matches "'top_k' is not supported" and "Unknown parameter: 'top_k'", not
# "max_tokens is too large: 90000", which is about its value.
_REFUSING = re.compile(
    r"unsupported|not supported|n't supported|not support|n't support|not permitted|not allowed|not enabled"
    r"|not accepted|no longer (?:supported|accepted)|unrecogni[sz]ed|extra_forbidden|deprecated"
    r"|unknown (?:name|parameter|argument|field)|unexpected (?:keyword|parameter|argument|field)"
    r"|cannot both be",
    re.IGNORECASE,
)
# A replacement: matches "Use 'max_completion_tokens' instead" and "replaced by `seed`", not "try again".
_INSTEAD = re.compile(
    r"\buse (?P<one>[\w'\"`]+) instead|(?:in favou?r of|replaced by|replaced with) (?P<two>[\w'\"`]+)",
    re.IGNORECASE,
)
_QUOTES = "'\"`"
# The request as a validator echoes it, to the end of the line, because it may name every parameter: matches
# ", 'input': {'top_p': 1}}" in {'loc': ('body',), 'msg': '…', 'input': {'top_p': 1}}, not "Input should be a
# number".
_ECHO = re.compile(r",\s*['\"]input['\"]:.*")
# The end of a sentence or line: matches the blank in "No top_k. Try", not the dot in "0.5".
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+|\n+")


def check_temperature(value: float, *, flag: str = "--temperature") -> None:
    """Check that a temperature is a finite number of at least 0.

    Args:
        value: The temperature.
        flag: The option it comes from, for the message.

    Raises:
        UsageError: It is not.

    >>> check_temperature(float("nan"))
    Traceback (most recent call last):
    toolassay.errors.UsageError: --temperature nan is not a temperature. Fix: give a number from 0
    """
    if not (math.isfinite(value) and value >= 0):
        raise UsageError(f"{flag} {value:g} is not a temperature", fix="give a number from 0")


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
        raise UsageError(f"--top_p {top_p:g} is not a probability", fix="give a number from 0 to 1")
    given = {"temperature": temperature, "top_p": top_p}
    return {name: value for name, value in given.items() if value is not None}


def without_default(parameters: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters for a manifest: `max_tokens` is left out if it is the default.

    Manifests of runs from before `--max_tokens` existed lack it, and such runs can still be continued.

    >>> without_default({"top_p": 0.1, "max_tokens": 2000}, {"max_tokens": 2000})
    {'top_p': 0.1}
    """
    limit = default.get("max_tokens")
    return {name: value for name, value in parameters.items() if (name, value) != ("max_tokens", limit)}


class Refusals:
    """The parameters that one model's endpoint refuses, learnt from its errors.

    Args:
        known: Refused parameters of an earlier start; the value is the name to send instead, None to omit it.
        on_change: Called once with each new parameter and its replacement.

    >>> refusals = Refusals()
    >>> refusals.learn("Unknown parameter: 'top_k'", ["top_k", "top_p"])
    True
    >>> refusals.fit({"top_k": 5, "top_p": 0.1})
    {'top_p': 0.1}
    """

    def __init__(
        self,
        known: Mapping[str, str | None] | None = None,
        on_change: Callable[[str, str | None], None] = lambda name, instead: None,
    ) -> None:
        self._known = dict(known or {})
        self._on_change = on_change

    @property
    def known(self) -> Mapping[str, str | None]:
        """The refused parameters with the name to send instead, or None."""
        return self._known

    def fit(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Omit or rename the refused ones among `parameters`."""
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
        """Learn from an error; whether it refuses a parameter, so that a repeat without it may succeed.

        Args:
            complaint: Body of the error response.
            sent: Names of the parameters in the request.
            status: HTTP status of the error; None if it came inside an answer.
        """
        found = refused_parameter(complaint, sent, status)
        if found is None:
            return False
        name, instead = found
        if name not in self._known:
            # A replacement that was itself refused before is not used: otherwise two names that each ask for
            # the other would alternate forever.
            instead = None if instead in self._known else instead
            self._known[name] = instead
            self._on_change(name, instead)
        return name not in self.fit(dict.fromkeys(sent))


def refused_parameter(
    complaint: str, sent: Collection[str], status: int | None = 400
) -> tuple[str, str | None] | None:
    """Find the parameter that an error refuses.

    Understands the errors of OpenAI, Azure, vLLM (pydantic's "extra inputs"), Anthropic and Google. A failing
    server (5xx, or an error inside an answer) may mention parameters in passing, so one sentence must both
    refuse and name the parameter. A 429 must name it in its field `param`.

    Args:
        complaint: Body of the error response.
        sent: Names of the parameters in the request.
        status: HTTP status of the error; None if it came inside an answer.

    Returns:
        The refused parameter and the name to send instead, if any. If several are named, the first; of two
        that exclude each other, the last. None if the error is about something else: a value out of range,
        too long a prompt, or no parameter of `sent`.

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
    """Whether a status means a failure of the server (5xx, or None) rather than of the request."""
    return status is None or status >= 500


def sentences(texts: Iterable[str]) -> Iterator[str]:
    """Split texts into sentences and lines.

    >>> list(sentences(["No top_k. Try again", "Or not"]))
    ['No top_k.', 'Try again', 'Or not']
    """
    for text in texts:
        yield from _SENTENCE_END.split(text)


def texts_of(complaint: str) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for every string of a JSON text; the text itself with key "" if it is not JSON.

    Skips pydantic's `input`, which repeats the request.
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
    """Position at which a message names a parameter; None if it does not.

    A name without an underscore may be an everyday word ("stop", "tools"), so it must be quoted, follow a
    word such as "parameter", or be the subject of a refusal. For "stop": matches "'stop' is", "parameter
    stop" and "stop is not supported", not "please stop now".
    """
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
