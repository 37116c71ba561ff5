"""The faults that the server can inject, and the plan of which request gets which fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from toolassay.errors import UsageError

WHOLE = "whole"

FAULTS: Mapping[str, str] = {
    "429": "too many requests, with a Retry-After header",
    "429-bare": "too many requests, without that header",
    "500": "a server error, with a Retry-After header",
    "500-bare": "a server error, without that header",
    "hang": "no answer; the connection stays open",
    "drip": "the answer arrives a few bytes at a time",
    "reset": "the connection breaks before the first byte",
    "garbage": "the response is not HTTP",
    "truncated": "the connection breaks in the middle of the body",
    "cut-json": "a complete response whose JSON is truncated",
    "cut-stream": "a stream that is closed early; a complete answer without streaming",
    "refused": "like a restart: all connections break, new ones are refused for a while",
    "empty-choices": "a chat completion without choices",
    "null-content": "a chat completion whose content is null",
    "html": "status 200 with an HTML page",
    "text": "valid JSON with the content type text/plain",
    "odd": "a valid answer with other fields of the wrong type",
}
REFUSALS: Mapping[str, str] = {
    "400": "the prompt violates the rules",
    "401": "the key is wrong; the message repeats it",
    "402": "no credit is left",
    "403": "access is denied",
    "404": "the model does not exist",
    "400-echo": "the message repeats headers, query and parameters of the request",
    "400-late-echo": "the same after 185 other characters",
    "401-echo": "the same with status 401",
    "500-echo": "the same with status 500, also in the headers",
    "413": "the request is too large",
    "400-filter": "a content filter stops the prompt, as on Azure (status 400)",
    "overflow": "the prompt is longer than the model's context (status 400)",
}
ANSWERS: Mapping[str, str] = {
    "fenced": "the answer in a Markdown fence, with text around it",
    "prose": "small talk instead of an answer",
    "broken": "malformed JSON",
    "length": "truncated at the token limit (finish reason length)",
    "whole-but-cut": "complete, with the finish reason length",
    "empty": "an empty text",
    "surrogate": "half of an emoji before the answer",
    "echo": "headers, query and parameters of the request before the answer",
    "declined": "a refusal in the field for refusals",
    "filtered": "no content, with the finish reason content_filter",
    "thought": "no content, with the finish reason length: reasoning used all tokens",
}
KINDS: Mapping[str, str] = {**FAULTS, **REFUSALS, **ANSWERS}

ALWAYS = "always"

Behaviour = Callable[[str, int], str]
FaultCondition = Callable[[str, int], bool]


class FaultPlan:
    """Decides which request gets which fault, reproducibly for a seed and order of requests.

    A rule is `NAME=WHEN`, where WHEN is a share of the requests (`0.05`), `first:K` (the first K requests),
    `once` (the first request of each prompt) or `always` (the default). The first matching rule counts; one
    random draw per request decides among the shares.

    Args:
        rules: The rules, in order.
        seed: Random seed of the shares.

    Attributes:
        never_listens: Whether the server refuses connections from the start (`refused=always`).

    Raises:
        UsageError: A fault is unknown (names the known ones), a rule is malformed, or shares exceed 1.

    >>> plan = FaultPlan(["500=first:2", "429=0.5"], seed=1)
    >>> [plan("a prompt", number) for number in range(6)]
    ['500', '500', 'whole', '429', 'whole', 'whole']
    """

    def __init__(self, rules: Sequence[str], seed: int = 0) -> None:
        self._seed = seed
        self._total = 0.0
        self._rules: list[tuple[str, FaultCondition]] = []
        self.never_listens = False
        for rule in rules:
            name, _, when = (part.strip() for part in rule.partition("="))
            if name not in KINDS:
                raise UsageError(f"--fault: unknown fault '{name}'", fix=f"use one of {', '.join(KINDS)}")
            self._rules.append((name, self._condition(name, when or ALWAYS)))
            self.never_listens |= (name, when or ALWAYS) == ("refused", ALWAYS)

    def __call__(self, prompt: str, number: int) -> str:
        """The fault of a request, or "whole".

        Args:
            prompt: Text of the last message.
            number: Number of the request, from 0, in order of arrival.
        """
        return next((name for name, holds in self._rules if holds(prompt, number)), WHOLE)

    def _condition(self, name: str, when: str) -> FaultCondition:
        if when == ALWAYS:
            return lambda prompt, number: True
        if when == "once":
            return _once()
        if when.startswith("first:") and when[6:].isdecimal():
            count = int(when[6:])
            return lambda prompt, number: number < count
        try:
            share = float(when)
        except ValueError:
            share = -1.0
        low, self._total = self._total, self._total + share
        if not 0 <= share <= 1 or self._total > 1 + 1e-9:
            raise UsageError(
                f"--fault: cannot parse '{name}={when}', or the shares add up to more than 1",
                fix="write NAME=0.05, NAME=first:3, NAME=once or NAME=always",
            )
        high = self._total
        return lambda prompt, number: low <= Random(f"{self._seed} {number}").random() < high


def _once() -> FaultCondition:
    """A condition that holds for the first request of each prompt."""
    seen: set[int] = set()

    def is_new(prompt: str, number: int) -> bool:
        before = len(seen)
        seen.add(hash(prompt))
        return len(seen) > before

    return is_new
