"""Ids of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolassay.benchmarks.workbench.generate.dice import Dice


def with_ids(dice: Dice, column: str, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, each with an id of eight digits in front; the ids say nothing about the order of the rows."""
    rows = list(rows)
    numbers = dice.shuffled(range(len(rows)))
    return [{column: f"{number:08}", **row} for number, row in zip(numbers, rows, strict=True)]
