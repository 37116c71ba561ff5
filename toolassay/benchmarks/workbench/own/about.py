"""What `benchmark.json` says of somebody's own workplace, checked before anything is done with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from toolassay.errors import UsageError
from toolassay.folder import DataFolder

KEYS = ("benchmark", "tools", "now", "user", "customs", "ignore", "verbatim", "error_classes", "source")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_USER = "the user"


@dataclass(frozen=True)
class About:
    """The facts of a workplace.

    Attributes:
        now: the moment it is.
        user: who agents work for.
        customs: what agents are told of the workplace.
        ignore: columns that do not count, as `table.column`.
        verbatim: columns in which case counts, as `table.column`.
    """

    now: datetime
    user: str
    customs: str
    ignore: tuple[str, ...]
    verbatim: tuple[str, ...]


def read_about(folder: DataFolder) -> About:
    """The facts of a folder with tools of its own.

    Raises:
        UsageError: a key is unknown, missing or has another form.
    """
    facts = folder.benchmark
    try:
        for key in facts:
            if key not in KEYS:
                (near,) = get_close_matches(key, KEYS, n=1, cutoff=0)
                raise UsageError(f"unknown key {key!r}", fix=f"the nearest known one is {near!r}")
        if facts["benchmark"] != "workbench":
            raise UsageError(f"'benchmark' is {facts['benchmark']!r}", fix='write "benchmark": "workbench"')
        user = _text(facts, "user", _USER)
        if not user.strip():
            raise UsageError("'user' is empty", fix="name who agents work for, or leave it out")
        return About(
            _now(facts), user, _text(facts, "customs", ""), _names(facts, "ignore"), _names(facts, "verbatim")
        )
    except UsageError as error:
        raise UsageError(str(error), file=folder.benchmark_file) from None


def _now(facts: Mapping[str, Any]) -> datetime:
    given = facts.get("now")
    try:
        if not isinstance(given, str) or not _MOMENT.fullmatch(given):
            raise ValueError
        return datetime.fromisoformat(given)
    except ValueError:
        wrong = "has no 'now'" if "now" not in facts else f"'now' is {given!r}"
        raise UsageError(wrong, fix='write "now": "YYYY-MM-DD HH:MM:SS"') from None


def _text(facts: Mapping[str, Any], key: str, default: str) -> str:
    value = facts.get(key, default)
    if not isinstance(value, str):
        raise UsageError(f"{key!r} is no text", fix=f'write "{key}": "…"')
    return value


def _names(facts: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = facts.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise UsageError(f"{key!r} is no list of texts", fix='write ["table.column", …]')
    return tuple(value)
