"""The keys that a configuration may have, and their values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

AXES = ("cost", "latency", "accuracy", "stability", "security")
_SECRET = re.compile(
    r"(?:^|[._-]|api)(?:key|token|secret|passw(?:or)?d|credentials?|auth(?:orization)?|headers?)$",
    re.IGNORECASE,
)


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("a text")
    return str(value)


def _number(value: Any) -> float:
    try:
        if isinstance(value, bool) or not math.isfinite(number := float(value)):
            raise ValueError
        return number
    except (ValueError, TypeError, OverflowError):
        raise ValueError("a number") from None


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a whole number from 1")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(part) for part in (value if isinstance(value, list) else [value]))


def _axes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(axis in AXES for axis in value):
        raise ValueError(f"a list out of {', '.join(AXES)}")
    return tuple(value)


KEYS: Mapping[str, Callable[[Any], Any]] = {
    "dataset.path_or_name": _text,
    "agent.name": _text,
    "agent.base_model": _text,
    "agent.api_base": _text,
    "agent.api_version": _text,
    "agent.client": _text,
    "agent.stream": _flag,
    "agent.temperature": _number,
    "agent.top_p": _number,
    "agent.max_tokens": _count,
    "agent.order": _text,
    "agent.recorded": _text,
    "agent.none_as": _texts,
    "eval.n_trials": _count,
    "eval.limit": _count,
    "eval.limit_to_metrics": _axes,
}


_ELSEWHERE = {"llm": "agent.base_model", "data_dir": "dataset.path_or_name", "trials": "eval.n_trials"}


def nearest(name: str, flags: Iterable[str] = ()) -> str:
    """The key or flag that somebody may have meant: by its whole name, its last part, or its name elsewhere.

    >>> nearest("temprature"), nearest("evl", ["--eval"]), nearest("trials")
    ('agent.temperature', '--eval', 'eval.n_trials')
    """
    meant = {**{flag.lstrip("-"): flag for flag in flags}, **_ELSEWHERE, **dict(zip(KEYS, KEYS, strict=True))}
    for key in KEYS:
        meant.setdefault(key.rpartition(".")[2], key)
    return meant[get_close_matches(name, meant, n=1, cutoff=0)[0]]


def checked(key: str, value: Any) -> Any:
    """The value of a key as it is used; None stays None.

    Raises:
        ValueError: says what is wrong and what to do, and never repeats the value of a secret.

    >>> checked("agent.temperature", "1e-3"), checked("agent.order", 7)
    (0.001, '7')
    """
    if _SECRET.search(key):
        raise ValueError(
            f"{key}: keys do not belong into a configuration. Fix: set OPENAI_API_KEY, or write it into .env"
        )
    if key not in KEYS:
        raise ValueError(f"unknown key '{key}'. Fix: the nearest known one is {nearest(key)}")
    if value is None:
        return None
    try:
        return KEYS[key](value)
    except ValueError as error:
        raise ValueError(f"{key}: {value!r} is not {error}") from None


@dataclass(frozen=True)
class Configuration:
    """Values by dotted key; what is not there has its default."""

    values: Mapping[str, Any]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key of `KEYS`; the default where it is not set."""
        assert key in KEYS, key
        value = self.values.get(key)
        return default if value is None else value
