"""The file of items: one line a labelled item, with its outcome, its scores and its counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files import atomic_writer, read_json_lines

FIX = "make it with evaluate.py"
_PARTS = ("nodes", "edges", "argument_names", "argument_values")


def items_path(metrics: Path) -> Path:
    """The file of items beside a metrics file.

    >>> items_path(Path("metrics/acme.json")).as_posix()
    'metrics/acme.items.jsonl'
    """
    return metrics.with_name(f"{metrics.name.removesuffix('.json')}.items.jsonl")


def write_items(path: Path, items: Iterable[Mapping[str, Any]]) -> None:
    """Write the file of items, replacing what was there."""
    encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
    with atomic_writer(path) as stream:
        for item in items:
            stream.write(encode(item) + "\n")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a file of items.

    Attributes:
        id: as text.
        cluster: what it shares with other items of the same sampled subgraph.
        outcome: how it ended.
        scores: by the names of the strict scores; None where an item has no such score.
        type: the shape of its gold plan.
        n_tools: the number of nodes there.
        gold: how many nodes, edges, argument names and argument values the gold has; None where it has none
            to be compared.
    """

    id: str
    cluster: str
    outcome: str
    scores: Mapping[str, float | None]
    type: str
    n_tools: int
    gold: tuple[int | None, ...]


def read_items(path: Path) -> Iterator[Item]:
    """Each item of a file of items, in file order.

    Raises:
        UsageError: missing or malformed file or line (with its number).
    """
    for number, value in read_json_lines(path, fix=FIX):
        try:
            yield Item(
                str(value["id"]),
                str(value["cluster"]),
                str(value["outcome"]),
                dict(value["scores"]),
                str(value["type"]),
                int(value["n_tools"]),
                tuple(_gold_size(value["counts"][part]) for part in _PARTS),
            )
        except (KeyError, TypeError, ValueError):
            raise UsageError("is not an item", file=path, line=number, fix=FIX) from None


def _gold_size(counts: Sequence[int] | None) -> int | None:
    """What was to be found: true positives and false negatives."""
    return None if counts is None else int(counts[0]) + int(counts[2])
