"""Where two JSON values differ: numbers beyond a tolerance, everything else at all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

TOLERANCE = 1e-9
_WINDOW, _BEFORE = 80, 20  # characters


class Difference(NamedTuple):
    """A value that is not what it was; None where there is none."""

    place: str
    old: Any
    new: Any

    def __str__(self) -> str:
        old, new = shortened(self.old, self.new)
        return f"{self.place}: {old} -> {new}"


def differences(old: Any, new: Any, place: str = "") -> Iterator[Difference]:
    """Each place where two JSON values differ; a missing key is as good as null.

    >>> list(map(str, differences({"a": {"b": 0.5}, "c": 1}, {"a": {"b": 0.25}, "c": 1 + 1e-12})))
    ['a.b: 0.5 -> 0.25']
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            yield from differences(old.get(key), new.get(key), f"{place}.{key}" if place else str(key))
    elif not _is_same(old, new):
        yield Difference(place, old, new)


def shortened(old: Any, new: Any) -> tuple[str, str]:
    """Both values as text, from a little before the first difference on."""
    from json import dumps

    texts = dumps(old, ensure_ascii=False), dumps(new, ensure_ascii=False)
    if max(map(len, texts)) <= _WINDOW:
        return texts
    pairs = zip(*texts, strict=False)
    first = next((at for at, (a, b) in enumerate(pairs) if a != b), min(map(len, texts)))
    start = max(0, first - _BEFORE)
    return _cut(texts[0], start), _cut(texts[1], start)


def _cut(text: str, start: int) -> str:
    end = start + _WINDOW
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _is_same(old: Any, new: Any) -> bool:
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, int | float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=0, abs_tol=TOLERANCE)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_is_same, old, new))
    return bool(old == new)
