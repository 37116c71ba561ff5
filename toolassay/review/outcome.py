"""What comes of several people's decisions on one sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from toolassay.review.decision import Record
from toolassay.review.samples import ReviewSample
from toolassay.review.store import Log

State = Literal["undecided", "conflict", "decided"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one sample.

    Attributes:
        sample: the sample.
        votes: of reviewers on the sample as it is, by name.
        stale: who decided on an earlier version of it, and not since.
        settled: an adjudicator's decision; where several settled it, the last one.
    """

    sample: ReviewSample
    votes: Mapping[str, Record]
    stale: tuple[str, ...]
    settled: Record | None

    @property
    def disputed(self) -> bool:
        """Whether reviewers differ, in the decision or in what they made of the sample."""
        votes = list(self.votes.values())
        return any(not vote.same_as(votes[0]) for vote in votes[1:])

    @property
    def state(self) -> State:
        """Whether there is a decision."""
        if self.settled is not None:
            return "decided"
        if not self.votes:
            return "undecided"
        return "conflict" if self.disputed else "decided"

    @property
    def decision(self) -> Record | None:
        """The decision that counts; None without one, and while there is a conflict."""
        if self.settled is not None:
            return self.settled
        return next(iter(self.votes.values())) if self.state == "decided" else None


def outcomes(samples: Iterable[ReviewSample], logs: Mapping[str, Log]) -> list[Outcome]:
    """The outcome of each sample, in their order."""
    reviews = {name: log.standing("reviewer") for name, log in logs.items()}
    verdicts = [log.standing("adjudicator") for log in logs.values()]
    found = []
    for sample in samples:
        given = {name: standing[sample.id] for name, standing in reviews.items() if sample.id in standing}
        votes = {name: vote for name, vote in given.items() if vote.fingerprint == sample.fingerprint}
        settled = [
            standing[sample.id]
            for standing in verdicts
            if sample.id in standing and standing[sample.id].fingerprint == sample.fingerprint
        ]
        last = max(settled, key=lambda record: record.when) if settled else None
        found.append(Outcome(sample, votes, tuple(name for name in given if name not in votes), last))
    return found
