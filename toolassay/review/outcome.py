"""The decision on each sample from the votes of its reviewers, the verification table, the reviewed set.

In the reviewed data set, accepted samples are unchanged, fixed ones have their fix, discarded ones are left
out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from toolassay.backinstruct.critics import Alignment, verdicts_of
from toolassay.backinstruct.format import FINGERPRINT, tables
from toolassay.console.tables import Table, percent
from toolassay.console.text_formatting import some_of
from toolassay.errors import IncompleteError, ToolassayError, UsageError
from toolassay.exporters.dataset_card import DECISION_NAMES
from toolassay.files.data_files import atomic_writer, copy_file, refuse_to_replace, sha256_of, unescaped_json
from toolassay.metrics.agreement import Agreement, agreement_of
from toolassay.plans.gold import Gold
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import SHAPES
from toolassay.review.decision import DECISIONS, Decision, Log, Record, edited
from toolassay.review.samples import ReviewSample, plan_shape

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
    outcomes_of_samples = []
    for sample in samples:
        votes_given = {
            name: standing[sample.id] for name, standing in reviews.items() if sample.id in standing
        }
        votes = {name: vote for name, vote in votes_given.items() if vote.fingerprint == sample.fingerprint}
        settled = [
            standing[sample.id]
            for standing in verdicts
            if sample.id in standing and standing[sample.id].fingerprint == sample.fingerprint
        ]
        last = max(settled, key=lambda record: record.when) if settled else None
        outcomes_of_samples.append(
            Outcome(sample, votes, tuple(name for name in votes_given if name not in votes), last)
        )
    return outcomes_of_samples


_ALL = "all"


class DecisionCount(msgspec.Struct, frozen=True):
    """The samples with one decision; `share` is of the decided samples, None where there are none."""

    count: int
    share: float | None


class DecisionCounts(msgspec.Struct, frozen=True):
    """The samples of a group; the five decisions, the undecided and the conflicts add up to `samples`.

    `stale` counts the undecided samples with decisions on an earlier version only.
    """

    samples: int
    decided: int
    undecided: int
    stale: int
    conflicts: int
    adjudicated: int
    insisted: int
    decisions: dict[Decision, DecisionCount]


class DecisionAgreement(msgspec.Struct, frozen=True):
    """The agreement of some reviewers on the decision.

    Attributes:
        reviewers: a pair; absent if it is of all.
        samples: the number of samples that two or more of them decided.
        raw: as in `Agreement`.
        kappa: as in `Agreement`; None where it is not defined, with a `reason`.
        kind: `cohen` or `fleiss`.
        reason: why there is no kappa.
    """

    reviewers: tuple[str, ...] | UnsetType
    samples: int
    raw: float | None
    kappa: float | None
    kind: str
    reason: str | UnsetType = UNSET


class ReviewerAgreement(msgspec.Struct, frozen=True):
    """The decided samples of each reviewer; Cohen's kappa of each pair, Fleiss' of three or more."""

    reviewers: dict[str, int]
    pairs: list[DecisionAgreement]
    all: DecisionAgreement | None


class HumanVerification(msgspec.Struct, frozen=True):
    """`reviews/table.json`: the counts by shape and of all samples, and the agreement of the reviewers."""

    samples: dict[str, DecisionCounts]
    agreement: ReviewerAgreement


def verification(outcomes: Sequence[Outcome]) -> HumanVerification:
    """The table of all decisions."""
    groups = {
        shape: [item for item in outcomes if item.sample.shape == shape or shape == _ALL]
        for shape in (*SHAPES, _ALL)
    }
    return HumanVerification({name: _counts(items) for name, items in groups.items()}, agreements(outcomes))


def _counts(items: Sequence[Outcome]) -> DecisionCounts:
    actions = Counter(item.decision.action for item in items if item.decision is not None)
    decided = actions.total()
    return DecisionCounts(
        samples=len(items),
        decided=decided,
        undecided=sum(item.state == "undecided" for item in items),
        stale=sum(item.state == "undecided" and bool(item.stale) for item in items),
        conflicts=sum(item.state == "conflict" for item in items),
        adjudicated=sum(item.settled is not None for item in items),
        insisted=sum(item.decision is not None and bool(item.decision.insisted) for item in items),
        decisions={
            name: DecisionCount(actions[name], actions[name] / decided if decided else None)
            for name in DECISIONS
        },
    )


def agreements(outcomes: Sequence[Outcome]) -> ReviewerAgreement:
    """Agreement of the reviewers on the decision; decisions of adjudicators do not count."""
    votes = [{name: vote.action for name, vote in item.votes.items()} for item in outcomes]
    names = sorted({name for item in votes for name in item})
    pairs = []
    for pair in combinations(names, 2):
        both = [{name: item[name] for name in pair} for item in votes if all(n in item for n in pair)]
        pairs.append(_figures(agreement_of(both), pair))
    overall = agreement_of(votes)
    return ReviewerAgreement(
        {name: sum(name in item for item in votes) for name in names},
        pairs,
        _figures(overall) if overall.kind == "fleiss" else None,
    )


def _figures(agreement: Agreement, reviewers: tuple[str, ...] | UnsetType = UNSET) -> DecisionAgreement:
    reason: str | UnsetType = UNSET
    if not agreement.items:
        reason = "no sample was decided by two or more of them"
    elif agreement.kappa is None:
        reason = "all decisions are the same, so agreement beyond chance is not defined"
    numbers = agreement.items, agreement.raw, agreement.kappa, agreement.kind
    return DecisionAgreement(reviewers, *numbers, reason)


def markdown(table: HumanVerification) -> list[tuple[str, str]]:
    """The tables of `verification` in Markdown, each with its heading."""
    decisions = (DECISION_NAMES[name] for name in DECISIONS)
    headings = ("samples", "all", "decided", *decisions, "undecided", "conflicts")
    rows = []
    for name, row in table.samples.items():
        cells = [
            str(shared_count.count)
            if shared_count.share is None
            else f"{shared_count.count} ({percent(shared_count.share)})"
            for shared_count in row.decisions.values()
        ]
        counts = (row.samples, row.decided, *cells, row.undecided, row.conflicts)
        rows.append((name, *map(str, counts)))
    title = "Human verification, by shape; shares are of the decided samples"
    tables = [(title, Table(headings, rows).markdown())]
    agreement = table.agreement
    if agreement.pairs:
        headings = ("reviewers", "samples of both", "same decision", "kappa")
        rows = [
            (
                " and ".join(pair.reviewers or ["all"]),
                str(pair.samples),
                percent(pair.raw, unknown="-"),
                str(pair.reason) if pair.kappa is None else f"{pair.kappa:.3f} ({pair.kind.capitalize()})",
            )
            for pair in (*agreement.pairs, *([agreement.all] if agreement.all else ()))
        ]
        tables.append(
            ("Agreement of the reviewers on the decision", Table(headings, rows, align="lrrl").markdown())
        )
    return tables


TABLES = "alignment_tables.md"
_NAMED = 10  # conflicts that an error names; it counts the others


@dataclass(frozen=True)
class Applied:
    """The result of `apply_reviews`.

    Attributes:
        kept: the number of reviewed samples in the new set.
        counts: the number of reviewed samples by decision; "undecided" are kept, "left out" are not.
        passed: the number of unreviewed labels that were copied.
    """

    kept: int
    counts: Mapping[str, int]
    passed: int = 0


def apply_reviews(
    outcomes: Sequence[Outcome],
    source: DataFolder,
    target: DataFolder,
    *,
    keep_undecided: bool = False,
    passed: Iterable[Gold] = (),
    about: Mapping[str, object] | None = None,
) -> Applied:
    """Apply the decisions of a review to a data folder, and write the result to another one.

    `data.json`, `user_requests.json`, `data_error.json` (the discarded samples, with reasons),
    `alignment_ids.json` and its tables are written, all or none. The tools, the graph and `benchmark.json`
    are copied. Each reviewed label has its decision under `review`.

    Args:
        outcomes: the outcomes of all samples.
        source: the folder that was reviewed.
        target: another folder; created if missing.
        keep_undecided: keep samples without a decision; by default they are left out.
        passed: labels to copy unchanged, before the reviewed ones.
        about: further entries of `benchmark.json`; default those of the source.

    Raises:
        IncompleteError: there are conflicts; the error names them.
        UsageError: the target is the source, or has a data set that this function did not write or that was
            changed since.
        ToolassayError: no sample is left, or the folder cannot be written.
    """
    conflicts = [str(item.sample.id) for item in outcomes if item.state == "conflict"]
    if conflicts:
        raise IncompleteError(
            f"reviewers differ on {some_of(conflicts, _NAMED)}",
            file=source.path,
            fix="settle them on the page with --queue conflicts",
        )
    _check_target(source, target)
    without = "undecided" if keep_undecided else "left out"
    fates = [without if item.decision is None else item.decision.action for item in outcomes]
    kept_outcomes = [
        item for item, fate in zip(outcomes, fates, strict=True) if fate not in ("discard", "left out")
    ]
    alignment = Alignment()
    n_written = 0
    target.path.mkdir(parents=True, exist_ok=True)
    paths = target.data, target.user_requests, target.data_error, target.alignment_ids, target.path / TABLES
    with ExitStack() as files:
        data, requests, errors, ids, markdown = map(files.enter_context, map(atomic_writer, paths))
        for gold in chain(passed, map(_reviewed, kept_outcomes)):
            n_written += 1
            data.write(_line(gold.record))
            requests.write(_line({"id": gold.id, "user_request": gold.request}))
            if gold.sampled_nodes is not None and gold.sampled_links is not None:
                alignment.add(gold, plan_shape(gold), verdicts_of(gold))
        for item, fate in zip(outcomes, fates, strict=True):
            if fate == "discard":
                note = f": {item.decision.note}" if item.decision and item.decision.note else ""
                errors.write(_line({**item.sample.gold.record, "errors": [f"discarded in review{note}"]}))
        if not n_written:
            # Inside of the block, so that no file is replaced.
            raise ToolassayError(
                "no sample is left", file=source.path, fix="review some, or add --keep_undecided"
            )
        ids.write(json.dumps(alignment.ids, indent=2, ensure_ascii=False) + "\n")
        markdown.write("\n".join(f"{heading}\n\n{table}\n" for heading, table in tables(alignment)))
    for path in (source.tool_desc, source.graph_desc):
        if path.exists():
            copy_file(path, target.path / path.name)
    description = source.written_benchmark if about is None else about
    facts = {**description, "reviewed": dict(Counter(fates)), FINGERPRINT: sha256_of(target.data)}
    target.update_benchmark(*(target.written_benchmark.keys() - facts.keys()), **facts)
    return Applied(len(kept_outcomes), Counter(fates), n_written - len(kept_outcomes))


def _check_target(source: DataFolder, target: DataFolder) -> None:
    """Raise UsageError if the target has data that would be lost."""
    refuse_to_replace(target.data, [source.data], what="is the folder under review", flag="--apply")
    ours = target.benchmark.reviewed is not None
    if target.data.exists() and not (ours and target.benchmark.data_sha256 == sha256_of(target.data)):
        raise UsageError(
            "was not written by this command, or was changed since",
            file=target.data,
            fix="name another folder with --apply",
        )


def _reviewed(item: Outcome) -> Gold:
    """The label in the new set, with its fix and its decision."""
    record = item.decision
    if record is None:
        return item.sample.gold
    review = {
        "decision": record.action,
        "reviewers": len(item.votes),
        "adjudicated": item.settled is not None,
    }
    gold = edited(item.sample.gold, record.parts)
    return replace(gold, record={**gold.record, "review": review})


def _line(value: Mapping[str, object]) -> str:
    return unescaped_json(value) + "\n"
