"""The scoreboard: models in the order of their scores, each with its five axes and its gap to the leader.

This is the only ranking: the report, its page and tables, and `leaderboard` show it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from toolassay.console.tables import UNKNOWN, Cell, Table, Value, money, percent, percent_interval, seconds
from toolassay.console.text_formatting import count_of, joined
from toolassay.errors import UsageError, as_called
from toolassay.evaluation.items import ItemTable
from toolassay.metrics.confidence_interval import NOTHING, AuditedStratum, Interval, stratified_share
from toolassay.metrics.significance import LEVEL, compare_all, compare_pairs
from toolassay.reports.axes import Axes
from toolassay.reports.requirements import Check, Measured, outcome_of, quantities
from toolassay.runs.outcomes import marked

_NOTICED = 0.01  # seconds; a shorter wait is no queue
RankTest = Literal["rank verification", "max-T"]
"""What decides whether a model differs from the leader. Rank verification (Hung and Fithian, 2019): that the
leader is better than every other model, each at p < 0.05 alone, needs no correction although it was chosen by
the same scores. Else the step-down maxT procedure over all pairs of models."""


@dataclass(frozen=True)
class Contender:
    """A model that may lead.

    Attributes:
        name: Its name.
        tables: Its items in each data folder.
        is_ranked: Whether it is ranked; baselines are not.
        is_complete: Whether every labelled item was asked and scored.
        harm: Share of items with unwanted changes, which orders models with equal scores.
    """

    name: str
    tables: Sequence[ItemTable]
    is_ranked: bool = True
    is_complete: bool = True
    harm: float = 0.0

    def mean(self, score: str) -> float:
        """The mean score over its items."""
        return _mean_of_known(np.concatenate([table.columns([score])[:, 0] for table in self.tables]))


@dataclass(frozen=True)
class Place:
    """The place of a model in the ranking.

    Attributes:
        name: Name of the model.
        rank: From 1; models with equal scores share a rank; None for baselines.
        score: Mean score over its own items.
        difference: Its score minus that of the leader, on the items of both; None for the leader.
        p: p-value of no difference to the leader, by `test`.
        test: The test; None for the leader, and for a model that shares no item with it.
        may_be_best: Whether no ranked model is significantly better, by the tests of all pairs; False for
            baselines.
        n: Number of items that it shares with the leader.
        smallest_detectable: Smallest difference to the leader that n items would show with a power of 80 %.
    """

    name: str
    rank: int | None
    score: float
    difference: Interval = NOTHING
    p: float | None = None
    test: RankTest | None = None
    may_be_best: bool = False
    n: int = 0
    smallest_detectable: float | None = None

    @property
    def differs(self) -> bool:
        """Whether its score differs significantly from that of the leader."""
        return self.p is not None and self.p < LEVEL

    @property
    def n_needed(self) -> int | None:
        """Number of such items with which the observed difference would be found with a power of 80 %.

        None if it has been found, or if there is no difference.
        """
        gap = self.difference.value
        if self.differs or not gap or not self.n or self.smallest_detectable is None:
            return None
        return max(self.n + 1, math.ceil(self.n * (self.smallest_detectable / abs(gap)) ** 2))


def choose_score(scores: Sequence[str], contenders: Sequence[Contender]) -> str:
    """The first score by which models can be ranked: one that all have, and that is not 0 for all of them.

    Raises:
        UsageError: They have no score in common.
    """
    tables = [table for contender in contenders for table in contender.tables]
    shared = [score for score in scores if all(score in table.metrics for table in tables)]
    if contenders and not shared:
        raise UsageError(
            f"no file of items has the score {scores[0]}", fix=f"run {as_called('evaluate')} again"
        )
    ranked = [table for contender in contenders if contender.is_ranked for table in contender.tables]
    useful = (score for score in shared if any(table.columns([score]).any() for table in ranked))
    return next(useful, shared[0])


def _mean_of_known(values: NDArray[np.float64]) -> float:
    known_values = values[~np.isnan(values)]
    return float(known_values.mean()) if len(known_values) else 0.0


@dataclass(frozen=True)
class ScoreMatrix:
    """The scores of all models on all items.

    Attributes:
        columns: Column of each model, by name.
        scores: Shape (items, models); NaN for an item that a model lacks.
        clusters: Number of each item's cluster, shape (items,).
    """

    columns: Mapping[str, int]
    scores: NDArray[np.float64]
    clusters: NDArray[np.int64]

    @classmethod
    def of(cls, contenders: Sequence[Contender], score: str) -> ScoreMatrix:
        """The items of models in the same data folders, in the order of folders and ids."""
        row_of: dict[tuple[int, str, int], int] = {}
        cells: list[tuple[int, int, float]] = []
        clusters: list[int] = []
        for column, contender in enumerate(contenders):
            for folder, table in enumerate(contender.tables):
                values = table.columns([score])[:, 0].tolist()
                for key, row in table.rows.items():
                    # An id with another label in one of the files is not the same item.
                    item = folder, key, int(table.labels[row])
                    if item not in row_of:
                        row_of[item] = len(row_of)
                        # Clusters of different folders are different, even under one number.
                        clusters.append(int(table.clusters[row]) ^ folder)
                    cells.append((row_of[item], column, values[row]))
        scores = np.full((len(row_of), len(contenders)), np.nan)
        rows, columns, known_scores = zip(*cells, strict=True) if cells else ((), (), ())
        scores[list(rows), list(columns)] = known_scores
        order = [row_of[item] for item in sorted(row_of)]
        names = {contender.name: column for column, contender in enumerate(contenders)}
        return cls(names, scores[order], np.array(clusters, dtype=np.int64)[order])

    def pair(self, first: str, second: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Scores of two models on the items that both have, shape (items, 2), and their clusters."""
        scores = self.scores[:, [self.columns[first], self.columns[second]]]
        shared = ~np.isnan(scores).any(axis=1)
        return scores[shared], self.clusters[shared]


def in_order(contenders: Sequence[Contender], score: str, matrix: ScoreMatrix | None = None) -> list[Place]:
    """The places of models by a score, complete runs before partial ones, baselines last.

    Incomplete runs are ranked by how many others they beat on the items of both, because the items of one may
    be easier than those of another.

    Args:
        contenders: Models with items in the same data folders.
        score: Name of the item score.
        matrix: Their scores, if they are known.
    """
    wins = dict.fromkeys((contender.name for contender in contenders), 0)
    for first, second in combinations((first for first in contenders if not first.is_complete), 2):
        if first.is_ranked == second.is_ranked:
            matrix = matrix or ScoreMatrix.of(contenders, score)
            scores, _ = matrix.pair(first.name, second.name)
            gap = _mean_of_known(scores[:, 0] - scores[:, 1])
            wins[first.name] += gap > 0
            wins[second.name] += gap < 0
    means = {contender.name: contender.mean(score) for contender in contenders}

    def order_key(contender: Contender) -> tuple[bool, bool, int, float]:
        return (
            not contender.is_ranked,
            not contender.is_complete,
            -wins[contender.name],
            -means[contender.name],
        )

    standings: list[Place] = []
    before = None
    for number, contender in enumerate(
        sorted(contenders, key=lambda contender: (*order_key(contender), contender.harm, contender.name)), 1
    ):
        position = standings[-1].rank if before == order_key(contender) else number
        standings.append(
            Place(contender.name, position if contender.is_ranked else None, means[contender.name])
        )
        before = order_key(contender)
    return standings


def rank(
    contenders: Sequence[Contender], score: str, *, resamples: int = 10_000, seed: int = 0
) -> list[Place]:
    """`in_order`, with each model compared with the leader on the items of both (see `RankTest`).

    The comparison is paired; the items of a cluster count as one piece of evidence (`metrics.significance`).

    Args:
        contenders: Models with items in the same data folders.
        score: Name of the item score.
        resamples: Number of resamples of the intervals and the randomisation test.
        seed: Random seed of both.
    """
    matrix = ScoreMatrix.of(contenders, score)
    standings = in_order(contenders, score, matrix)
    if len(standings) < 2:
        return [replace(standing, may_be_best=standing.rank is not None) for standing in standings]
    leader, *others = standings
    tests = compare_all(matrix.scores, clusters=matrix.clusters, resamples=resamples, seed=seed)
    compared: list[Place] = []
    for standing in others:
        pair = matrix.columns[leader.name], matrix.columns[standing.name]
        scores, clusters = matrix.pair(leader.name, standing.name)
        if not len(scores):
            compared.append(standing)
            continue
        (comparison,) = compare_pairs(
            scores[:, :1], scores[:, 1:], clusters=clusters, resamples=resamples, seed=seed
        )
        compared.append(
            replace(
                standing,
                difference=comparison.difference,
                p=float(tests.adjusted[pair]),
                test="max-T",
                n=comparison.n,
                smallest_detectable=comparison.smallest_detectable,
            )
        )
    # A built-in program that is better than every model is not ranked, and nothing is verified of it.
    below = [standing for standing in compared if standing.rank is not None or standing.score < leader.score]
    columns = {standing.name: matrix.columns[standing.name] for standing in below}
    first = matrix.columns[leader.name]
    if tests.leads(first, list(columns.values())):
        verified = [
            replace(standing, p=float(tests.p[first, columns[standing.name]]), test="rank verification")
            if standing.name in columns
            else standing
            for standing in compared
        ]
        return [replace(leader, may_be_best=leader.rank is not None), *verified]
    ranked = [standing.name for standing in standings if standing.rank is not None]
    best = {ranked[at] for at in tests.may_be_best([matrix.columns[name] for name in ranked])}
    return [replace(standing, may_be_best=standing.name in best) for standing in (leader, *compared)]


@dataclass(frozen=True)
class VerdictAudit:
    """What reviewers say of the outcomes of a model, of which they did not see the verdicts.

    Attributes:
        reviewers: Their names.
        strata: By verdict ("wrong", "undecided", "right"), all items and the decisions on those that were
            judged; "unanswered" ones are wrong without a decision.
        ties: Number of items left out because as many reviewers say right as wrong.
        stale: Number of decisions left out because what they judged, or its verdict, has changed.
    """

    reviewers: Sequence[str]
    strata: Mapping[str, AuditedStratum]
    ties: int
    stale: int

    @property
    def agreement(self) -> Interval:
        """Share of the decided verdicts with which reviewers agree."""
        wrong = self.strata["wrong"]
        return stratified_share([self.strata["right"], wrong._replace(right=wrong.judged - wrong.right)])

    @property
    def corrected(self) -> Interval:
        """Share of items that reviewers would call right."""
        return stratified_share(list(self.strata.values()))

    @property
    def sentence(self) -> str:
        """The decisions and the agreement in words."""
        parts = [
            f"{right} of {judged} with the verdict {verdict}"
            for verdict, (_, judged, right) in self.strata.items()
            if judged and verdict != "unanswered"
        ]
        agreement = share_cell(self.agreement)
        return (
            f"{joined(self.reviewers)} judged outcomes without seeing the verdicts: right are "
            f"{joined(parts or ['0 of 0'])}. Agreement with the decided verdicts is {agreement.text} "
            f"{agreement.note}; the accuracy 'audited' is corrected by them. Left out: "
            f"{count_of(self.ties, 'tie')}, {count_of(self.stale, 'decision')} on what has changed since."
        )

    def to_json(self) -> dict[str, Any]:
        """The audit as an object of `report.json`."""
        return {
            **vars(self),
            "strata": {verdict: stratum._asdict() for verdict, stratum in self.strata.items()},
            "agreement": self.agreement.to_json(),
            "corrected": self.corrected.to_json(),
        }


@dataclass(frozen=True)
class ModelReport:
    """One model on one data folder.

    Attributes:
        axes: Its five axes.
        place: Its place in the ranking; None without a file of items.
        measured: Its quantities, by name.
        checks: Its requirements.
        warnings: What a reader must know before trusting its numbers.
        harmful_tools: Number of runs with unwanted changes by tool.
        audit: What reviewers say of its verdicts; None if they judged none.
    """

    axes: Axes
    place: Place | None
    measured: Mapping[str, Measured]
    checks: Sequence[Check] = ()
    warnings: Sequence[str] = ()
    harmful_tools: Mapping[str, int] = field(default_factory=dict)
    audit: VerdictAudit | None = None

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.axes.model

    @property
    def rank(self) -> str:
        """Its rank, for a table."""
        return str(self.place.rank) if self.place and self.place.rank else UNKNOWN

    def to_json(self) -> dict[str, Any]:
        """The model as an object of `report.json`; null for what was not measured."""
        axes = self.axes
        standing = self.place
        measured = self.measured
        interval = {name: item.interval.to_json() for name, item in measured.items()}
        counted = {
            name: {**interval[name], "n": measured[name].n}
            if measured[name].interval.value is not None
            else None
            for name in ("side_effects", "attack_success")
        }
        cost = axes.cost
        latency = axes.latency
        return {
            "name": self.name,
            "label": marked(axes.model, axes.mark),
            "rank": standing and standing.rank,
            "is_baseline": axes.is_baseline,
            "n_asked": axes.counts.n_asked if axes.counts else axes.items,
            "n_scored": axes.n_scored,
            "n_labels": axes.counts.n_labels if axes.counts else axes.items,
            "score": standing and standing.score,
            "versus_leader": (
                {
                    **dict(zip(("difference", "low", "high"), standing.difference, strict=True)),
                    "p": standing.p,
                    "test": standing.test,
                    "n": standing.n,
                    "is_significant": standing.differs,
                }
                if standing and standing.n
                else None
            ),
            "axes": {
                "accuracy": interval["accuracy"],
                "plan_accuracy": axes.plan_accuracy.to_json() if axes.is_by_outcome else None,
                "side_effects": counted["side_effects"],
                "stability": axes.stability and {**interval["pass_k"], "k": axes.stability.k},
                "attack_success": counted["attack_success"],
                "cost": cost and {**interval["cost"], "is_at_least": cost.is_at_least},
                "latency": latency and {"p50": latency.p50, "p95": latency.p95, "is_local": latency.is_local},
            },
            "executions": axes.outcomes and axes.outcomes.to_json(),
            "audit": self.audit and self.audit.to_json(),
            "requirements": [check.to_json() for check in self.checks],
            "outcome": outcome_of(self.checks) if self.checks else None,
            "warnings": list(self.warnings),
        }


# Tables


def cells(model: ModelReport) -> dict[str, Cell]:
    """What the terminal and the page show of a model, by heading; what was not measured is a dash.

    The notes of a cell are its interval and what else is known of the number, a line each.
    """
    axes = model.axes
    standing = model.place
    stability = axes.stability
    cost = axes.cost
    latency = axes.latency
    security = axes.security
    gap = Cell(UNKNOWN)
    p = Cell(UNKNOWN)
    if standing is not None and standing.difference.value is not None:
        interval = percent_interval(standing.difference.low, standing.difference.high)
        gap = Cell(points(standing.difference.value), interval)
    if standing is not None and standing.p is not None:
        p = Cell(p_value(standing.p), "significant" if standing.differs else "may be chance")
    cells_by_heading = {
        "accuracy": bounded_cell(model.measured["accuracy"]),
        "audited": share_cell(model.audit.corrected if model.audit else NOTHING),
        "to the leader": gap,
        "p": p,
        "gold plan": share_cell(axes.plan_accuracy),
        "state": share_cell(axes.outcomes.state if axes.outcomes else NOTHING),
        "facts": bounded_cell(model.measured["facts"]),
        "side effects": share_cell(model.measured["side_effects"].interval),
        **dict.fromkeys(("tools shown", "pass^k", "attacks that succeed"), Cell(UNKNOWN)),
        **dict.fromkeys(("USD per 1,000", "seconds p50, p95"), Cell(UNKNOWN)),
        "asked": Cell(axes.n, "\n".join(axes.n_notes)),
    }
    if axes.recall:
        (recall, low, high), k = axes.recall
        cells_by_heading["tools shown"] = _noted(f"recall@{k} {percent(recall)}", percent_interval(low, high))
    if stability:
        same = f"same answers {percent(stability.agreement.value)}"
        text = f"pass^{stability.k} {percent(stability.pass_hat_k.value)}"
        cells_by_heading["pass^k"] = _noted(text, percent_interval(*stability.pass_hat_k[1:]), same)
    if security:
        attacks = model.measured["attack_success"].interval
        answers = security.attempts - security.excluded
        failed = f", {security.excluded} more failed" if security.excluded else ""
        unread = f", {security.unreadable} unreadable" if security.unreadable else ""
        tested = f"of {security.n} attacks{failed}{unread}"
        if attacks.value is None:
            tested = f"{security.unreadable} of {answers} attacks unreadable{failed}"
        served = f"harmless served {percent(security.harmless_served.value)}"
        if security.utility.value is not None:
            plain = share_cell(security.utility)
            attacked = share_cell(security.utility_under_attack)
            served += f"\nsolved {plain.text} {plain.note} without text, "
            served += f"{attacked.text} {attacked.note} under attack"
        interval = percent_interval(attacks.low, attacks.high)
        cells_by_heading["attacks that succeed"] = _noted(percent(attacks.value), interval, tested, served)
    if cost:
        each = "" if cost.per_right is None else money(cost.per_right, at_least=cost.is_at_least, small=True)
        thinking = "" if cost.thinking is None else f"{percent(cost.thinking)} thinking"
        text = money(cost.per_1000, at_least=cost.is_at_least, small=True)
        cells_by_heading["USD per 1,000"] = _noted(text, each and f"{each} a right one", thinking)
    if latency:
        times = [seconds(value, local=latency.is_local).split() for value in (latency.p50, latency.p95)]
        text = ", ".join(time[0] for time in times)
        first = latency.first_token
        pace = latency.per_token
        queued = latency.queued
        cells_by_heading["seconds p50, p95"] = _noted(
            text,
            "local" * latency.is_local,
            "first token {:.2f}, {:.2f}".format(*first) if first else "",
            "{:.4f}, {:.4f} a token".format(*pace) if pace else "",
            "+ {:.2f}, {:.2f} queued".format(*queued) if queued and queued[1] >= _NOTICED else "",
        )
    return cells_by_heading


def bounded_cell(measured: Measured) -> Cell:
    """A share; if something is undecided, also what it is if all of that is right."""
    cell = share_cell(measured.interval)
    if measured.at_best.value in (None, measured.interval.value):
        return cell
    return _noted(f"{cell.text} to {percent(measured.at_best.value)}", cell.note, "undecided facts")


def _noted(text: str, *notes: str) -> Cell:
    return Cell(text, "\n".join(filter(None, notes)))


def share_cell(share: Interval) -> Cell:
    """A share with its interval."""
    return Cell(percent(share.value), percent_interval(share.low, share.high))


def measured_headings(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """The headings of `cells` below which at least one row has more than a dash; accuracy always."""
    return [
        heading
        for heading in rows[0]
        if heading == "accuracy" or any(row[heading] != Cell(UNKNOWN) for row in rows)
    ]


def scoreboard_table(
    models: Sequence[tuple[str, ModelReport]],
    *,
    heading: str = "data",
    title: str = "",
    captions: Sequence[str] = (),
) -> Table:
    """The scoreboard: a row a model and folder, with what was measured.

    Args:
        models: Each with the name of its folder, or "" if all have the same.
        heading: What the folders hold.
        title: Title of the table.
        captions: Sentences below it.
    """
    rows_of_cells = [cells(model) for _, model in models]
    headings = measured_headings(rows_of_cells)
    with_folder = any(folder for folder, _ in models)
    is_ranked = any(model.place for _, model in models)
    rows: list[Sequence[Value]] = [
        [
            *[model.rank] * is_ranked,
            Cell(marked(model.name, model.axes.mark)),
            *[Cell(folder)] * with_folder,
            *map(row.get, headings),
        ]
        for (folder, model), row in zip(models, rows_of_cells, strict=True)
    ]
    names = [*["rank"] * is_ranked, "model", *[heading] * with_folder]
    align = "r" * is_ranked + "n" * (1 + with_folder) + "t" * len(headings)
    return Table([*names, *headings], rows, align, title, captions)


def ways_table(runs: Sequence[tuple[str, Axes]]) -> Table | None:
    """Models of several prediction folders, side by side; None if there is one folder.

    Args:
        runs: Each with the name of its prediction folder, in the order of the rows of a model.
    """
    if len({folder for folder, _ in runs}) < 2:
        return None
    runs = sorted(runs, key=lambda labelled: labelled[1].model)
    models = [(folder, ModelReport(run, None, quantities(run, [], []))) for folder, run in runs]
    about = "Folders differ in what was requested, so their models are not ranked together."
    title = "Models of all prediction folders"
    return scoreboard_table(models, heading="predictions", title=title, captions=[about])


def points(share: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    return UNKNOWN if share is None else f"{100 * share:+.1f}"


def p_value(p: float, *, sign: bool = False) -> str:
    """A p-value for people.

    >>> p_value(0.0123), p_value(0.00001), p_value(0.5, sign=True)
    ('0.012', '< 0.001', '= 0.500')
    """
    if p < 0.001:
        return "< 0.001"
    return f"= {p:.3f}" if sign else f"{p:.3f}"
