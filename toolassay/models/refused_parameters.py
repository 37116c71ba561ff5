"""Request parameters: checks of sampling settings, and parameters that a server refuses.

What a server refuses is found by trying, because every server words its error differently: a request that is
refused before the first answer is sent again without optional parameters. What works holds for the rest of
the run. What the user set is never omitted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import compress, product
from typing import Any

_PENALTIES = ("presence_penalty", "frequency_penalty")
_OPTIONAL = (
    "tool_choice",
    "temperature",
    "top_p",
    "stop",
    "max_tokens",
    *_PENALTIES,
    "stream_options",
    "include",
)
"""Parameters that may be omitted; those that shape answers most come first, and are omitted last."""
_SCHEMA = "response_format"
"""Omitted alone or with all others, after all of these: structured output is worth more than they are."""
_RENAMED = {"max_tokens": "max_completion_tokens"}
"""Parameters that are never omitted: they are sent under this name instead."""
EXTRA = "extra_message_fields"
"""In a change: sent back are only the fields of messages that OpenAI's API has. Servers of reasoning models
require theirs (`reasoning_content`), and others, also some that send such fields, refuse them."""
_MOST_FAILED = 2
"""Searches without success after which a refused request is not tried in other forms."""

_FIELDS = ("param", "loc")
# The request as a validator echoes it, to the end of the line, because it may name every parameter: matches
# ", 'input': {'top_p': 1}}" in {'loc': ('body',), 'msg': '…', 'input': {'top_p': 1}}, not "Input should be a
# number".
_ECHO = re.compile(r",\s*['\"]input['\"]:.*")

Change = Mapping[str, str | None]
"""Parameters to leave out of a request (None), or to send under another name."""


class Default(float):
    """A sampling parameter that this package chose, not the user."""


def without_default(parameters: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters for a manifest: `max_tokens` is left out if it is the default.

    Manifests of runs from before `--max_tokens` existed lack it, and such runs can still be continued.

    >>> without_default({"top_p": 0.1, "max_tokens": 2000}, {"max_tokens": 2000})
    {'top_p': 0.1}
    """
    limit = default.get("max_tokens")
    return {name: value for name, value in parameters.items() if (name, value) != ("max_tokens", limit)}


class Refusals:
    """The parameters that one model's endpoint refuses.

    Args:
        known: Refused parameters of an earlier start.
        on_change: Called with each change that a search has found.

    Attributes:
        known: The refused parameters with the name to send instead, or None.
        accepted: Names of the parameters of each request that was answered.

    >>> refusals = Refusals()
    >>> refusals.learn({"top_p": None, "max_tokens": "max_completion_tokens"})
    >>> refusals.fit({"top_p": 0.1, "max_tokens": 5})
    {'max_completion_tokens': 5}
    """

    def __init__(
        self, known_change: Change | None = None, on_change: Callable[[Change], None] = lambda change: None
    ) -> None:
        self.known = dict(known_change or {})
        self._on_change = on_change
        self.accepted: set[frozenset[str]] = set()
        self._failed = 0

    def fit(
        self, parameters: dict[str, Any], change: Change | None = None, kept: Collection[str] = ()
    ) -> dict[str, Any]:
        """Omit or rename the refused ones among `parameters`, and those of `change`.

        Args:
            parameters: Of a request.
            change: What is tried beside what is known.
            kept: Parameters that are not omitted.
        """
        fitting = dict(parameters)
        for name, instead in {**self.known, **(change or {})}.items():
            if instead is not None and name in fitting:
                fitting.setdefault(instead, fitting.pop(name))
            elif name not in kept:
                fitting.pop(name, None)
        return fitting

    def learn(self, change: Change) -> None:
        """Note what made a refused request succeed."""
        if not change.items() <= self.known.items():
            self.known |= change
            self._on_change(change)

    def search(self, sent: Collection[str], kept: Collection[str], named: set[str]) -> Iterator[Change]:
        """The changes to try with a refused request: all combinations, the one that matters least first.

        Args:
            sent: Names of the parameters in the request.
            kept: Those that the user set.
            named: Those that the errors of the server name in a field (`named_by`); may grow meanwhile. Only
                changes of all of them are tried.
        """
        free = [name for name in _OPTIONAL if name in sent and (name in _RENAMED or name not in kept)]
        changes = [
            {name: _RENAMED.get(name) for name in compress(free, chosen)}
            for chosen in product((False, True), repeat=len(free))
        ]
        if _SCHEMA in sent and _SCHEMA not in kept:
            changes += [{_SCHEMA: None}, {**changes[-1], _SCHEMA: None}]
        is_tried = False
        for change in changes if self._failed < _MOST_FAILED else ():
            if change and named <= change.keys():
                is_tried = True
                yield change
        self._failed += is_tried


def named_by(complaint: str, sent: Collection[str]) -> set[str]:
    """The fields of a request that the JSON of an error names under `param` (OpenAI) or `loc` (pydantic).

    >>> complaint = '{"detail": [{"loc": ["body", "stop"]}], "param": "tools[0].name"}'
    >>> sorted(named_by(complaint, ["stop", "tools", "top_p"]))
    ['stop', 'tools']
    """
    heads = {re.split(r"[.\[]", text, maxsplit=1)[0] for key, text in texts_of(complaint) if key in _FIELDS}
    return heads & {"model", "messages", *sent}


def plain_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a request with the fields of OpenAI's API only (`EXTRA`).

    >>> plain_messages([{"role": "assistant", "content": "4", "reasoning": "2 + 2"}])
    [{'role': 'assistant', 'content': '4'}]
    """
    keys = ("role", "content", "name", "tool_calls", "tool_call_id")
    call_keys = ("id", "type", "function")
    plain = [{key: message[key] for key in keys if key in message} for message in messages]
    for message in plain:
        if calls := message.get("tool_calls"):
            message["tool_calls"] = [{key: call[key] for key in call_keys if key in call} for call in calls]
    return plain


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
            yield key, _ECHO.sub("", value)
        elif isinstance(value, dict):
            waiting += reversed([(name, item) for name, item in value.items() if name != "input"])
        elif isinstance(value, list):
            waiting += [(key, item) for item in reversed(value)]
