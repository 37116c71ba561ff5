"""Lists of English words that hold for any library (`words.json`)."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _lists() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath("words.json").read_text(encoding="utf-8"))
    return found


def words(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_lists()[name].split())


def pairs(name: str) -> dict[str, str]:
    """A list of pairs."""
    return dict(_lists()[name])


def items(name: str) -> list[str]:
    """The items of a list of several words each."""
    return list(_lists()[name])
