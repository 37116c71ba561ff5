"""What can go wrong at a served model, by name, and which requests it happens to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType

from toolassay.errors import UsageError

WHOLE = "whole"

FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "429": "too many requests, with a Retry-After header",
        "429-bare": "too many requests, without that header",
        "500": "a server error, with a Retry-After header",
        "500-bare": "a server error, without that header",
        "hang": "no answer ever comes; the connection stays open",
        "drip": "the answer comes a few bytes at a time",
        "reset": "the connection breaks before a byte is sent",
        "garbage": "what comes is not HTTP",
        "truncated": "the connection breaks in the middle of the body",
        "cut-json": "a whole response whose JSON ends in the middle",
        "cut-stream": "a stream that ends early and politely; without streaming a whole answer",
        "refused": "as if the server restarted: all connections break, new ones are refused for a while",
        "empty-choices": "a chat completion without a choice",
        "null-content": "a chat completion whose content is null",
        "html": "status 200 and a page of HTML",
        "text": "the right JSON with the content type text/plain",
        "odd": "fields of the wrong type beside a good answer",
    }
)
REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "400": "the prompt breaks the rules",
        "401": "the key is wrong, and repeated in the message",
        "402": "no credit is left",
        "403": "access is denied",
        "404": "there is no such model",
        "400-echo": "headers, query and parameters of the request, repeated",
        "400-late-echo": "the same after 185 other characters",
        "401-echo": "the same, as a wrong key",
        "500-echo": "the same, as a server error, and in its headers",
        "413": "the request is too large",
        "400-filter": "a content filter stops the prompt, as at Azure (status 400)",
        "overflow": "the prompt is longer than the model's context (status 400)",
    }
)
ANSWERS: Mapping[str, str] = MappingProxyType(
    {
        "fenced": "the answer in a Markdown fence, with words around it",
        "prose": "small talk instead of an answer",
        "broken": "JSON with mistakes in it",
        "length": "cut at the token limit, and said so (finish reason length)",
        "whole-but-cut": "whole, with the finish reason length",
        "empty": "an empty text",
        "surrogate": "half an emoji before the answer",
        "echo": "headers, query and parameters of the request, repeated before the answer",
        "declined": "a refusal in the field for refusals",
        "filtered": "nothing, with the finish reason content_filter",
        "thought": "nothing, with the finish reason length: all tokens went into thinking",
    }
)
KINDS: Mapping[str, str] = MappingProxyType({**FAULTS, **REFUSALS, **ANSWERS})

ALWAYS = "always"

Behaviour = Callable[[str, int], str]
FaultCondition = Callable[[str, int], bool]


class FaultPlan:
    """Which request meets which fault. It is the same for the same seed and the same order of requests.

    Each rule is `NAME=WHEN`, where WHEN is a share of the requests (`0.05`), `first:K` (the first K
    requests), `once` (every prompt the first time it comes) or `always` (which may be left out). The first
    rule that holds counts; among shares one draw by seed and request number decides.

    Args:
        rules: the rules, in order.
        seed: of the draws.

    Attributes:
        never_listens: connections are refused for ever.

    Raises:
        UsageError: an unknown fault (names the known ones), an unreadable rule, shares beyond 1.

    >>> plan = FaultPlan(["500=first:2", "429=0.5"], seed=1)
    >>> [plan("a prompt", number) for number in range(6)]
    ['500', '500', 'whole', '429', 'whole', 'whole']
    """

    def __init__(self, rules: Sequence[str], seed: int = 0) -> None:
        self._seed = seed
        self._total = 0.0
        parts = [_parts(rule) for rule in rules]
        self._rules = [(name, self._condition(name, when)) for name, when in parts]
        self.never_listens = ("refused", ALWAYS) in parts

    def __call__(self, prompt: str, number: int) -> str:
        """What happens to a request: the name of a fault, or "whole".

        Args:
            prompt: the last message.
            number: of the request, from 0, in the order in which they come.
        """
        return next((name for name, holds in self._rules if holds(prompt, number)), WHOLE)

    def _condition(self, name: str, when: str) -> FaultCondition:
        if when == ALWAYS:
            return lambda prompt, number: True
        if when == "once":
            return _Once()
        if when.startswith("first:") and when[6:].isdecimal():
            count = int(when[6:])
            return lambda prompt, number: number < count
        share = _share(when)
        low = self._total
        self._total += share or 0
        if share is None or self._total > 1 + 1e-9:
            wrong = f"cannot read '{name}={when}'" if share is None else "the shares add up to more than 1"
            fix = "write NAME=0.05, NAME=first:3, NAME=once or NAME=always"
            raise UsageError(f"--fault: {wrong}", fix=fix)
        high = self._total
        return lambda prompt, number: low <= Random(f"{self._seed} {number}").random() < high


class _Once:
    """Holds for a prompt the first time it is asked about."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def __call__(self, prompt: str, number: int) -> bool:
        code = hash(prompt)
        new = code not in self._seen
        self._seen.add(code)
        return new


def _share(text: str) -> float | None:
    """A number from 0 to 1; None where it is none."""
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None


def _parts(rule: str) -> tuple[str, str]:
    name, _, when = (part.strip() for part in rule.partition("="))
    if name not in KINDS:
        raise UsageError(f"--fault: unknown fault '{name}'", fix=f"use one of {', '.join(KINDS)}")
    return name, when or ALWAYS
