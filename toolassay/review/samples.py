"""The samples of a data folder as they are put before reviewers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.dataset import SHAPES, RequestId, Shape, read_labels, shape_of
from toolassay.errors import UsageError
from toolassay.files import sha256_of, stamp_of
from toolassay.gold import Gold

PARTS = ("user_request", "task_steps", "task_nodes", "task_links")
"""The parts of a label that are reviewed and may be mended."""


@dataclass(frozen=True, slots=True)
class ReviewSample:
    """One label.

    Attributes:
        number: its place in the file, from 0.
        gold: the label, read.
        fingerprint: of its parts: it changes when a word of them does.
        shape: of its plan.
    """

    number: int
    gold: Gold
    fingerprint: str
    shape: Shape

    @property
    def id(self) -> RequestId:
        """The id of the request."""
        return self.gold.id

    @property
    def record(self) -> Mapping[str, Any]:
        """The whole label, in the repository's form."""
        return self.gold.record

    @property
    def parts(self) -> dict[str, Any]:
        """What may be mended."""
        return {part: self.record.get(part) for part in PARTS}


def read_samples(path: Path) -> tuple[ReviewSample, ...]:
    """The samples of a `data.json`, in file order.

    Raises:
        UsageError: the file is missing, malformed or empty, or an id occurs twice.
    """
    samples: list[ReviewSample] = []
    seen: set[RequestId] = set()
    for number, (line, record) in enumerate(read_labels(path)):
        if record["id"] in seen:
            raise UsageError(
                f"the id {record['id']!r} occurs twice: a decision could not be told from another",
                file=path,
                line=line,
                fix="give every line its own id",
            )
        seen.add(record["id"])
        gold = Gold.of(record, line)
        samples.append(ReviewSample(number, gold, fingerprint_of(record), plan_shape(gold)))
    if not samples:
        raise UsageError("holds no samples to review", file=path, fix="name a folder that has some")
    return tuple(samples)


class Unchanged:
    """Whether a file still holds what it held when this was made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp, self._sha = stamp_of(path), sha256_of(path)

    def __call__(self) -> bool:
        """Looked at again only where its size or time is another one."""
        stamp = stamp_of(self.path)
        if stamp != self._stamp:
            if stamp is None or sha256_of(self.path) != self._sha:
                return False
            self._stamp = stamp
        return True


def fingerprint_of(record: Mapping[str, Any]) -> str:
    """The beginning of the SHA-256 of a label's parts, after a letter: no spreadsheet takes it for a number.

    >>> fingerprint_of({"user_request": "Hi"}) == fingerprint_of({"user_request": "Hi", "seed": 3})
    True
    """
    parts = [record.get(part) for part in PARTS]
    return f"s{hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:15]}"


def plan_shape(gold: Gold) -> Shape:
    """The shape the label names, else that of its nodes and links."""
    named = gold.record.get("type")
    return named if named in SHAPES else drawn_shape(gold)


def drawn_shape(gold: Gold) -> Shape:
    """The shape of the nodes and links, whatever the label calls it."""
    return shape_of(len(gold.nodes), gold.links, tools=[node.tool for node in gold.nodes])
