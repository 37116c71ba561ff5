"""Who of several reviewers looks at which samples: each sample is seen by the same number of them.

By rendezvous hashing (Thaler and Ravishankar, A name-based mapping scheme for rendezvous, 1996): a sample
goes to those whose name and its id give the smallest hashes. So everybody works out the same shares without a
file; samples that come or go leave the others where they are; each pair of reviewers shares about as many.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from toolassay.dataset import RequestId
from toolassay.errors import UsageError


class Shares:
    """The shares of reviewers.

    Args:
        reviewers: their names; none: everybody looks at everything.
        each: how many of them look at a sample; 0: all.

    Raises:
        UsageError: a name is there twice, or there are fewer names than `each`.

    >>> shares = Shares(["Ann", "Bob", "Cem"], 2)
    >>> shares.of("3-00012"), shares.holds("Ann", "3-00012"), Shares().holds("Dan", 7)
    (('Cem', 'Bob'), False, True)
    """

    def __init__(self, reviewers: Sequence[str] = (), each: int = 0) -> None:
        if len({name.casefold() for name in reviewers}) < len(reviewers):
            raise UsageError("a reviewer is named twice", fix="give --reviewers every name once")
        if each and not reviewers:
            raise UsageError("--each needs to know of whom", fix="add --reviewers Ann,Bob,Cem")
        if each > len(reviewers):
            raise UsageError(
                f"{each} of {len(reviewers)} reviewers cannot look at each sample",
                fix="name more --reviewers, or lower --each",
            )
        self.reviewers, self.each = tuple(reviewers), each or len(reviewers)

    def of(self, sample: RequestId) -> tuple[str, ...]:
        """Who looks at a sample."""
        return tuple(sorted(self.reviewers, key=lambda name: _hash(name, sample))[: self.each])

    def holds(self, reviewer: str, sample: RequestId) -> bool:
        """Whether a sample is of a reviewer's share."""
        return not self.reviewers or reviewer in self.of(sample)

    def check(self, reviewer: str) -> None:
        """Raise UsageError if nobody of that name is expected."""
        if self.reviewers and reviewer not in self.reviewers:
            wrong = (
                f"'{reviewer}' is none of the reviewers" if reviewer else "nobody is named with --reviewer"
            )
            raise UsageError(wrong, fix=f"use one of {', '.join(self.reviewers)}")


def _hash(name: str, sample: RequestId) -> bytes:
    return hashlib.sha256(json.dumps([name, sample]).encode()).digest()
