"""The outcome of the reviewers' decisions on each sample, and the table of human verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from toolassay.dataset import SHAPES
from toolassay.metrics.agreement import Agreement, agreement_of
from toolassay.review.decision import DECISIONS, Record
from toolassay.review.samples import ReviewSample
from toolassay.review.store import Log
from toolassay.tables import Table, percent

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


WORDS = {
    "correct": "correct",
    "discard": "discarded",
    "fix_syntax": "fixed for syntax",
    "fix_instruction": "fixed for instruction",
    "fix_graph": "fixed for tool invocation graph",
}
_ALL = "all"


def verification(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The table: for each shape and for all, how many samples were decided how.

    Shares are of the decided samples; None where nothing is decided. Each group adds up: the five decisions,
    the undecided and the conflicts give the samples. `stale` are those of the undecided that were decided on
    an earlier version only.
    """
    groups = {
        shape: [item for item in outcomes if item.sample.shape == shape or shape == _ALL]
        for shape in (*SHAPES, _ALL)
    }
    return {
        "samples": {name: _row(items) for name, items in groups.items()},
        "agreement": agreements(outcomes),
    }


def _row(items: Sequence[Outcome]) -> dict[str, Any]:
    said = Counter(item.decision.action for item in items if item.decision is not None)
    decided = said.total()
    return {
        "samples": len(items),
        "decided": decided,
        "undecided": sum(item.state == "undecided" for item in items),
        "stale": sum(item.state == "undecided" and bool(item.stale) for item in items),
        "conflicts": sum(item.state == "conflict" for item in items),
        "adjudicated": sum(item.settled is not None for item in items),
        "insisted": sum(item.decision is not None and bool(item.decision.insisted) for item in items),
        "decisions": {
            name: {"count": said[name], "share": said[name] / decided if decided else None}
            for name in DECISIONS
        },
    }


def agreements(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """How far reviewers agree on the decision: each pair (Cohen) and, of three or more, all (Fleiss).

    Adjudicators' decisions are none of theirs. `kappa` is None, with a `reason`, where it is not defined.
    """
    votes = [{name: vote.action for name, vote in item.votes.items()} for item in outcomes]
    names = sorted({name for item in votes for name in item})
    pairs = []
    for pair in combinations(names, 2):
        both = [{name: item[name] for name in pair} for item in votes if all(n in item for n in pair)]
        pairs.append({"reviewers": list(pair), **_figures(agreement_of(both))})
    everybody = agreement_of(votes)
    return {
        "reviewers": {name: sum(name in item for item in votes) for name in names},
        "pairs": pairs,
        "all": _figures(everybody) if everybody.kind == "fleiss" else None,
    }


def _figures(agreement: Agreement) -> dict[str, Any]:
    figures = agreement.to_json("samples")
    if agreement.kappa is None:
        figures["reason"] = (
            "no sample was decided by more than one of them"
            if not agreement.items
            else "everybody decided the same on every sample: nothing to agree on beyond chance"
        )
    return figures


def markdown(table: dict[str, Any]) -> list[tuple[str, str]]:
    """The table as Markdown: pairs of a heading and a table."""
    headings = ("samples", "all", "decided", *WORDS.values(), "undecided", "conflicts")
    rows = []
    for name, row in table["samples"].items():
        cells = [_counted(**row["decisions"][decision]) for decision in DECISIONS]
        counts = (row["samples"], row["decided"], *cells, row["undecided"], row["conflicts"])
        rows.append((name, *map(str, counts)))
    title = "Human verification, by shape; shares are of the decided samples"
    tables = [(title, Table(headings, rows).markdown())]
    agreement = table["agreement"]
    if agreement["pairs"]:
        headings = ("reviewers", "samples of both", "same decision", "kappa")
        rows = [_agreement_row(" and ".join(pair["reviewers"]), pair, "Cohen") for pair in agreement["pairs"]]
        if agreement["all"] is not None:
            rows.append(_agreement_row("all", agreement["all"], "Fleiss"))
        tables.append(
            ("Agreement of the reviewers on the decision", Table(headings, rows, align="lrrl").markdown())
        )
    return tables


def _counted(count: int, share: float | None) -> str:
    return str(count) if share is None else f"{count} ({percent(share)})"


def _agreement_row(who: str, figures: dict[str, Any], statistic: str) -> tuple[str, ...]:
    """A row of the table of agreement; `statistic` is whose kappa it is."""
    kappa = figures["reason"] if figures["kappa"] is None else f"{figures['kappa']:.3f} ({statistic})"
    return who, str(figures["samples"]), percent(figures["raw"], unknown="-"), kappa
