"""Conclusions in a table with a column "Executable" and a column "Correct", and in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolassay.backinstruct.review.words import Said, aspect_of, value_of

_KEY = re.compile(r"(?:is )?(executab(?:le|ility)|correct(?:ness)?)\W*")
_RULE = re.compile(r"[\s|:–—-]+")
_WHOLE = re.compile(r"\b(?:overall|total|plan|conclusion|verdict|final)\b")


def without_tables(text: str) -> tuple[str, list[Said]]:
    """A text in lower case with its tables of this kind blanked, and what they say.

    A row for the whole plan ("Overall") counts alone; else the rows count if they agree.
    """
    lines, said, place, offset = text.split("\n"), list[Said](), 0, 0
    while place < len(lines):
        columns = _columns(lines[place])
        last = place
        if columns:
            last = _last_row(lines, place)
            rows = [_cells(line) for line in lines[place + 1 : last + 1] if not _RULE.fullmatch(line)]
            end = offset + sum(len(line) + 1 for line in lines[place : last + 1])
            said += _rows(columns, rows, offset, end)
            lines[place : last + 1] = [" " * len(line) for line in lines[place : last + 1]]
        offset += sum(len(line) + 1 for line in lines[place : last + 1])
        place = last + 1
    return "\n".join(lines), said


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _columns(line: str) -> dict[str, int]:
    """Which columns a heading has: both aspects, or it is none."""
    if "|" not in line:
        return {}
    found = {
        aspect_of(key[1]): place
        for place, cell in enumerate(_cells(line))
        if (key := _KEY.fullmatch(cell)) is not None
    }
    return found if len(found) == 2 else {}


def _last_row(lines: list[str], start: int) -> int:
    last = start
    while last + 1 < len(lines) and "|" in lines[last + 1]:
        last += 1
    return last


def _rows(columns: Mapping[str, int], rows: list[list[str]], place: int, end: int) -> Iterator[Said]:
    whole = [row for row in rows if _WHOLE.search(row[0])]
    rows = whole[-1:] or rows
    for aspect, column in columns.items():
        yield Said(
            aspect, agreed(value_of(row[column]) if column < len(row) else None for row in rows), place, end
        )


def agreed(values: Iterable[bool | None]) -> bool | None:
    """The one value that all are; None where they differ or there is none.

    >>> agreed([True, True]), agreed([True, False]), agreed([])
    (True, None, None)
    """
    found = set(values)
    return found.pop() if len(found) == 1 else None


def of_json(value: Any) -> dict[str, bool | None]:
    """What a JSON value says of each aspect: at its top, else below, where all must agree.

    >>> of_json({"Executable": "yes", "steps": [{"correct": True}, {"correct": False}]})
    {'executable': True, 'correct': None}
    """
    met: dict[str, list[tuple[int, bool | None]]] = {}
    waiting: list[tuple[int, Any]] = [(0, value)]
    while waiting:
        depth, item = waiting.pop()
        if isinstance(item, list):
            waiting += [(depth + 1, each) for each in item]
        elif isinstance(item, Mapping):
            for name, each in item.items():
                key = _KEY.fullmatch(str(name).replace("_", " ").strip().lower())
                if key is not None:
                    known = (
                        each if isinstance(each, bool) else value_of(each) if isinstance(each, str) else None
                    )
                    met.setdefault(aspect_of(key[1]), []).append((depth, known))
                else:
                    waiting.append((depth + 1, each))
    said: dict[str, bool | None] = {}
    for aspect, found in met.items():
        top = [known for depth, known in found if depth == 0]
        said[aspect] = agreed(top or [known for _, known in found])
    return said


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a JSON value, in order.

    >>> list(texts_in({"a": ["x", 1], "b": "y"}))
    ['x', 'y']
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping | list):
            waiting += reversed(list(item.values() if isinstance(item, Mapping) else item))
