"""The samples of a data folder as reviewers see them, and the share of each reviewer.

Shares use rendezvous hashing (Thaler and Ravishankar, A name-based mapping scheme for rendezvous, 1996): a
sample goes to the reviewers whose names, hashed with its id, give the smallest values. So no file records the
shares, adding or removing a sample does not move others, and each pair of reviewers has about the same number
of samples in common.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from toolassay.errors import UsageError
from toolassay.executors.fact_sources import FACTS
from toolassay.files.data_files import sha256_of, stamp_of
from toolassay.plans.gold import ALTERNATIVES, Gold
from toolassay.records.dataset import SHAPES, RequestId, Shape, read_labels, shape_of

Part = Literal["user_request", "task_steps", "task_nodes", "task_links", "facts", "alternatives"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The parts of a label that are reviewed and can be fixed."""
Parts = Mapping[Part, Any]
"""Some of the parts, as a person wrote them: their form is checked by `Gold`."""


@dataclass(frozen=True, slots=True)
class ReviewSample:
    """A label under review.

    Attributes:
        number: its place in the file, from 0.
        gold: the parsed label.
        fingerprint: a hash of its `PARTS`, which changes with any of them (`fingerprint_of`).
        shape: the shape of its plan.
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
    def parts(self) -> Parts:
        """The parts that can be fixed, by key."""
        return {part: self.gold.record.get(part) for part in PARTS}


def read_samples(path: Path) -> tuple[ReviewSample, ...]:
    """The samples of a `data.json`, in file order.

    Raises:
        UsageError: the file is missing, malformed or empty, or an id occurs twice.
    """
    samples: list[ReviewSample] = []
    seen_ids: set[RequestId] = set()
    for number, (line, record) in enumerate(read_labels(path)):
        if record["id"] in seen_ids:
            raise UsageError(
                f"the id {record['id']!r} occurs twice, so decisions on it would be ambiguous",
                file=path,
                line=line,
                fix="give every line its own id",
            )
        seen_ids.add(record["id"])
        gold = Gold.of(record, line)
        samples.append(ReviewSample(number, gold, fingerprint_of(gold), plan_shape(gold)))
    if not samples:
        raise UsageError("holds no samples to review", file=path, fix="choose a folder with samples")
    return tuple(samples)


class Unchanged:
    """A check of whether a file still has the content it had when this object was created."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp = stamp_of(path)
        self._sha = sha256_of(path)

    def __call__(self) -> bool:
        """Whether it has; the file is read again only if its size or modification time changed."""
        stamp = stamp_of(self.path)
        if stamp != self._stamp:
            if stamp is None or sha256_of(self.path) != self._sha:
                return False
            self._stamp = stamp
        return True


def fingerprint_of(gold: Gold) -> str:
    """A hash of a label's `PARTS`; without facts and alternatives that which it had before labels had any.

    >>> fingerprint_of(Gold.of({"id": 1})) == fingerprint_of(Gold.of({"id": 1, "seed": 3}))
    True
    """
    return short_hash(
        [gold.record.get(part) for part in PARTS if part not in (FACTS, ALTERNATIVES) or part in gold.record]
    )


def short_hash(value: Any) -> str:
    """A hash of a JSON value: "s" and 15 digits of the SHA-256.

    With the letter, no spreadsheet takes it for a number.
    """
    return f"s{hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:15]}"


def plan_shape(gold: Gold) -> Shape:
    """The shape that the label states, else the shape of its nodes and links."""
    named = gold.record.get("type")
    return named if named in SHAPES else drawn_shape(gold)


def drawn_shape(gold: Gold) -> Shape:
    """The shape of the nodes and links, whatever shape the label states."""
    return shape_of(len(gold.nodes), gold.links, tools=[node.tool for node in gold.nodes])


class Shares:
    """The samples that each reviewer looks at.

    Args:
        reviewers: their names; without names, any reviewer looks at all samples.
        each: the number of reviewers per sample; 0 for all.
        only: the samples to look at; None for all.

    Raises:
        UsageError: a name occurs twice, or there are fewer names than `each`.

    >>> shares = Shares(["Ann", "Bob", "Cem"], 2)
    >>> shares.of("3-00012"), shares.holds("Ann", "3-00012"), Shares().holds("Dan", 7)
    (('Cem', 'Bob'), False, True)
    """

    def __init__(
        self, reviewers: Sequence[str] = (), each: int = 0, only: Collection[RequestId] | None = None
    ) -> None:
        if len({name.casefold() for name in reviewers}) < len(reviewers):
            raise UsageError("a reviewer is named twice", fix="write each name of --reviewers once")
        if each and not reviewers:
            raise UsageError("--each needs --reviewers", fix="add --reviewers Ann,Bob,Cem")
        if each > len(reviewers):
            raise UsageError(
                f"{each} of {len(reviewers)} reviewers cannot look at each sample",
                fix="name more --reviewers, or lower --each",
            )
        self.reviewers = tuple(reviewers)
        self.each = each or len(reviewers)
        self.only = only

    def of(self, sample: RequestId) -> tuple[str, ...]:
        """The reviewers of a sample."""
        return tuple(sorted(self.reviewers, key=lambda name: _hash(name, sample))[: self.each])

    def holds(self, reviewer: str, sample: RequestId) -> bool:
        """Whether a sample belongs to a reviewer's share."""
        is_wanted = self.only is None or sample in self.only
        return is_wanted and (not self.reviewers or reviewer in self.of(sample))

    def check(self, reviewer: str) -> None:
        """Raise UsageError if the name is not one of the reviewers."""
        if self.reviewers and reviewer not in self.reviewers:
            wrong = f"'{reviewer}' is none of the reviewers" if reviewer else "--reviewer is missing"
            raise UsageError(wrong, fix=f"use one of {', '.join(self.reviewers)}")


def drawn_samples(samples: Iterable[ReviewSample], count: int) -> frozenset[RequestId]:
    """The ids of as many samples, drawn by a hash of the id: more samples of a set include those of fewer."""
    return frozenset(sorted((sample.id for sample in samples), key=lambda name: _hash("", name))[:count])


def _hash(name: str, sample: RequestId) -> bytes:
    return hashlib.sha256(json.dumps([name, sample]).encode()).digest()
