"""The faults that the server can inject, and the plan of which request gets which fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgspec

from toolassay.errors import UsageError
from toolassay.files.data_files import package_data

WHOLE = "whole"


class ServerFault(msgspec.Struct):
    """A fault.

    Attributes:
        what: In words.
        status: HTTP status of one that is an HTTP error.
        message: Of that error; `{key}` and `{echo}` stand for parts of the request.
        code: Of that error.
        of_connection: Whether it is one of the connection: in a batch, the request then has no response.
        answer: The fields of the answer's message that have other values.
        choice: Those of the choice with that message.
        completion: Those of the whole completion.
    """

    what: str
    status: int = 0
    message: str = ""
    code: str | None = None
    of_connection: bool = False
    answer: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    completion: dict[str, Any] = {}


KINDS = msgspec.convert(package_data(__package__, "faults.json"), dict[str, ServerFault])

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
        low = self._total
        self._total = self._total + share
        if not 0 <= share <= 1 or self._total > 1 + 1e-9:
            raise UsageError(
                f"--fault: cannot parse '{name}={when}', or the shares add up to more than 1",
                fix="write NAME=0.05, NAME=first:3, NAME=once or NAME=always",
            )
        high = self._total
        return lambda prompt, number: low <= Random(f"{self._seed} {number}").random() < high


def _once() -> FaultCondition:
    """A condition that holds for the first request of each prompt."""
    seen_prompts: set[int] = set()

    def is_new(prompt: str, number: int) -> bool:
        n_before = len(seen_prompts)
        seen_prompts.add(hash(prompt))
        return len(seen_prompts) > n_before

    return is_new
