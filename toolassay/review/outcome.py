"""The decision on each sample from the votes of its reviewers, and the table of human verification."""

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
    """The votes on one sample.

    Attributes:
        sample: the sample.
        votes: the reviewers' decisions on the current version of the sample, by name.
        stale: the reviewers who decided only on an earlier version.
        settled: the last decision of an adjudicator.
    """

    sample: ReviewSample
    votes: Mapping[str, Record]
    stale: tuple[str, ...]
    settled: Record | None

    @property
    def disputed(self) -> bool:
        """Whether reviewers differ in the decision or in their fixes."""
        votes = list(self.votes.values())
        return any(not vote.same_as(votes[0]) for vote in votes[1:])

    @property
    def state(self) -> State:
        """Whether the sample is decided; votes that differ are a conflict until an adjudicator settles it."""
        if self.settled is not None:
            return "decided"
        if not self.votes:
            return "undecided"
        return "conflict" if self.disputed else "decided"

    @property
    def decision(self) -> Record | None:
        """The adjudicator's decision, else the one that all reviewers share; None if there is neither."""
        if self.settled is not None:
            return self.settled
        return next(iter(self.votes.values())) if self.state == "decided" else None


def outcomes(samples: Iterable[ReviewSample], logs: Mapping[str, Log]) -> list[Outcome]:
    """The outcome of each sample.

    Args:
        samples: in any order, which the result keeps.
        logs: the log of each person, by name.
    """
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


_DECISION_NAMES = {
    "correct": "correct",
    "discard": "discarded",
    "fix_syntax": "fixed for syntax",
    "fix_instruction": "fixed for instruction",
    "fix_graph": "fixed for tool invocation graph",
}
_ALL = "all"


def verification(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Counts of decisions for each shape and for all samples, and the agreement of the reviewers.

    In each group the five decisions, the undecided and the conflicts add up to the samples. `share` is of the
    decided samples, None where there are none. `stale` counts the undecided samples with decisions on an
    earlier version only.
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
    actions = Counter(item.decision.action for item in items if item.decision is not None)
    decided = actions.total()
    return {
        "samples": len(items),
        "decided": decided,
        "undecided": sum(item.state == "undecided" for item in items),
        "stale": sum(item.state == "undecided" and bool(item.stale) for item in items),
        "conflicts": sum(item.state == "conflict" for item in items),
        "adjudicated": sum(item.settled is not None for item in items),
        "insisted": sum(item.decision is not None and bool(item.decision.insisted) for item in items),
        "decisions": {
            name: {"count": actions[name], "share": actions[name] / decided if decided else None}
            for name in DECISIONS
        },
    }


def agreements(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Agreement on the decision: Cohen's kappa of each pair, and Fleiss' kappa of three or more reviewers.

    Decisions of adjudicators do not count. `kappa` is None, with a `reason`, where it is not defined.
    """
    votes = [{name: vote.action for name, vote in item.votes.items()} for item in outcomes]
    names = sorted({name for item in votes for name in item})
    pairs = []
    for pair in combinations(names, 2):
        both = [{name: item[name] for name in pair} for item in votes if all(n in item for n in pair)]
        pairs.append({"reviewers": list(pair), **_figures(agreement_of(both))})
    overall = agreement_of(votes)
    return {
        "reviewers": {name: sum(name in item for item in votes) for name in names},
        "pairs": pairs,
        "all": _figures(overall) if overall.kind == "fleiss" else None,
    }


def _figures(agreement: Agreement) -> dict[str, Any]:
    figures = agreement.to_json("samples")
    if agreement.kappa is None:
        figures["reason"] = (
            "no sample was decided by two or more of them"
            if not agreement.items
            else "all decisions are the same, so agreement beyond chance is not defined"
        )
    return figures


def markdown(table: dict[str, Any]) -> list[tuple[str, str]]:
    """The tables of `verification` in Markdown, each with its heading."""
    headings = ("samples", "all", "decided", *_DECISION_NAMES.values(), "undecided", "conflicts")
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
