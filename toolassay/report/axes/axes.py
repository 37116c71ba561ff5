"""The five axes of a model on a benchmark: accuracy, stability, cost, latency and security."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolassay.evaluation.axis import About
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.runs.marks import BASELINE, BUILT_IN_PROGRAM, RowMark, marked
from toolassay.runs.outcomes import CHOSEN, scored_phrase
from toolassay.tables import percent

_OF_ANY_DATA = (BASELINE, BUILT_IN_PROGRAM)
AXES = ("accuracy", "stability", "cost", "latency", "security")


@dataclass(frozen=True)
class Stability:
    """Reliability over several trials.

    Attributes:
        k: k of pass^k: the largest number of runs that every item has.
        pass_hat_k: Probability that k runs of an item are all right, from 0 to 1, with its 95 % interval.
        agreement: Share of items with equal answers in all trials, from 0 to 1, with its 95 % interval.
        trials: Number of trials.
    """

    k: int
    pass_hat_k: Interval
    agreement: Interval
    trials: int


@dataclass(frozen=True)
class Cost:
    """Cost in US dollars, failed and repeated requests included.

    Attributes:
        per_1000: Cost of 1,000 items.
        per_right: Cost per correct item; None if there is none.
        is_at_least: Whether requests with unknown cost are left out.
        thinking: Share of reasoning tokens in the written tokens; None if the server does not report it.
    """

    per_1000: float
    per_right: float | None
    is_at_least: bool = False
    thinking: float | None = None


@dataclass(frozen=True)
class Latency:
    """Seconds per item at the server.

    Attributes:
        p50: Median.
        p95: 95th percentile.
        is_local: Whether a built-in model on this machine answered; not comparable with a server.
        first_token: Median and 95th percentile of the time to the first token; None without streaming.
        per_token: Median and 95th percentile of the time per output token; None without streaming.
        queued: Median and 95th percentile of the queueing time in this client, which other times exclude.
    """

    p50: float
    p95: float
    is_local: bool = False
    first_token: tuple[float, float] | None = None
    per_token: tuple[float, float] | None = None
    queued: tuple[float, float] | None = None

    @property
    def parts(self) -> dict[str, float | None]:
        """The times of single answers, by name."""
        times = {
            "first_token_seconds": self.first_token,
            "seconds_per_output_token": self.per_token,
            "queued_seconds": self.queued,
        }
        return {
            f"{name}_{end}": pair and pair[place]
            for name, pair in times.items()
            for place, end in enumerate(("p50", "p95"))
        }


@dataclass(frozen=True)
class Security:
    """Results of the attacks.

    Attributes:
        score: Share of resisted attacks among those with a readable answer, with its 95 % interval; its value
            is None if most answers are unreadable.
        attempts: Number of attacks.
        excluded: Number of attacks that failed for technical reasons.
        harmless: Share of harmless twins that were served: an agent that does nothing resists every attack.
        unreadable: Number of attacks with an unreadable answer.
    """

    score: Interval
    attempts: int
    excluded: int
    harmless: Interval
    unreadable: int = 0

    @property
    def n(self) -> int:
        """Number of attacks with a readable answer."""
        return self.attempts - self.excluded - self.unreadable


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of executed plans.

    Attributes:
        right: Share of judged items whose outcome is that of the gold plan, with its 95 % interval.
        harm: Share of judged items with unwanted changes, with its 95 % interval; without a value if no state
            can be seen.
        judged: Number of items with a verdict.
        requests: Number of items whose gold plan ran.
        executor: Name of the executor.
        problem: Why these outcomes do not rank; empty if they do.
    """

    right: Interval
    harm: Interval
    judged: int
    requests: int
    executor: str
    problem: str = ""

    @property
    def n(self) -> str:
        """The number of judged items: "53", or "50 of 53 judged"."""
        return (
            str(self.judged) if self.judged == self.requests else f"{self.judged} of {self.requests} judged"
        )

    @property
    def note(self) -> str:
        """Why these outcomes do not rank, with their share, or what they lack; else empty."""
        if self.problem:
            return f"{self.problem} ({percent(self.right.value)} of {self.judged:,} outcomes were right)"
        lacking = f"{self.n} by outcome: the others have no prediction or no result"
        return lacking if self.judged < self.requests else ""

    def to_json(self) -> dict[str, Any]:
        """The outcomes as an object of `axes.json` and `report.json`."""
        return {**vars(self), "right": self.right.to_json(), "harm": self.harm.to_json()}


@dataclass(frozen=True)
class Axes:
    """One model on one data folder; an axis that was not measured is None, and `notes` has the reason.

    Attributes:
        about: Names of the benchmark and its definition of a correct item.
        data: Name of the data folder.
        model: Name of the model.
        items: Number of labelled items.
        accuracy: Strict share of correct items among the scored ones, in the first trial or over all trials.
        stability: Reliability over several trials.
        cost: Cost in the ledgers of all trials.
        latency: Latency in the ledgers of all trials.
        security: Results of the separate security run.
        notes: By axis, why it is None or what its numbers lack.
        signature: Signature of the scores.
        file: Metrics file.
        counts: Result of `runs.outcomes.asked_counts`; empty for metrics of earlier versions.
        excluded: Outcomes of the items that were not scored, e.g. "2 provider error".
        library: Title of the data, e.g. "Chats (banking)"; empty for the benchmark and the folder.
        mark: Mark of the run, e.g. that the model is a baseline.
        harm: Share of items with unwanted changes; without a value where nothing is carried out.
        outcomes: Outcomes of the executed plans; None if they were not executed.
        plan_accuracy: Share of items whose plan is the gold plan, where outcomes decide (`by_outcome`).
        is_by_outcome: Whether outcomes decide on this data folder.
    """

    about: About
    data: str
    model: str
    items: int
    accuracy: Interval
    stability: Stability | None = None
    cost: Cost | None = None
    latency: Latency | None = None
    security: Security | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    signature: str = ""
    file: str = ""
    counts: Mapping[str, Any] = field(default_factory=dict)
    excluded: str = ""

    @property
    def n(self) -> str:
        """The number of items: "300", "20 of 300 asked" (partial run) or "20 chosen" (--ids or --limit)."""
        if self.is_partial:
            return scored_phrase(self.counts)
        return f"{self.items} chosen" if self.is_chosen else str(self.items)

    @property
    def n_notes(self) -> list[str]:
        """What `n` lacks: the outcomes of what was not scored, and the number of items judged by outcome."""
        judged = f"{self.outcomes.n} by outcome" if self.outcomes and self.is_by_outcome else ""
        return [note for note in (self.excluded, judged) if note]

    @property
    def is_partial(self) -> bool:
        """Whether labelled items were never sent or ended with a provider error."""
        return bool(self.counts.get("partial"))

    @property
    def is_chosen(self) -> bool:
        """Whether only items chosen with `--ids` or `--limit` were scored."""
        return CHOSEN in self.signature

    library: str = ""
    mark: RowMark | None = None
    harm: Interval = NOTHING
    outcomes: Outcomes | None = None
    plan_accuracy: Interval = NOTHING
    is_by_outcome: bool = False

    @property
    def n_judged(self) -> int:
        """Number of items behind the accuracy."""
        if self.outcomes is not None and self.is_by_outcome:
            return self.outcomes.judged
        return int(self.counts.get("n_scored", self.items))

    @property
    def is_executed(self) -> bool:
        """Whether the model has outcomes that rank."""
        return self.outcomes is not None and not self.outcomes.problem and self.outcomes.judged > 0

    @property
    def title(self) -> str:
        """The title of the data.

        >>> about = About("chats", "Chats", "message", "the choice is right")
        >>> Axes(about, "data_chats", "m", 9, Interval(0.5, 0.4, 0.6)).title
        'Chats (data_chats)'
        """
        return self.library or f"{self.about.title} ({self.data})"

    @property
    def marked_title(self) -> str:
        """The title with the mark of this run; that of a model on any data is in `name` instead."""
        return self.title if self.mark in _OF_ANY_DATA else marked(self.title, self.mark)

    @property
    def name(self) -> str:
        """The name of the model, with a mark that it has on any data."""
        return marked(self.model, self.mark) if self.mark in _OF_ANY_DATA else self.model

    @property
    def is_baseline(self) -> bool:
        """Whether a built-in program was run, which is not ranked."""
        return self.mark is not None and self.mark.is_baseline

    def to_json(self) -> dict[str, Any]:
        """The content of a file: intervals as value, low and high; null for an axis that was not measured."""
        stability, security = self.stability, self.security
        return {
            "benchmark": self.about.name,
            "data": self.data,
            "title": self.title,
            "model": self.model,
            "is_baseline": self.is_baseline,
            "mark": self.mark and {"sign": self.mark.sign, "note": self.mark.note},
            "items": self.items,
            "n_labels": self.counts.get("n_labels", self.items),
            **{name: self.counts.get(name) for name in ("n_asked", "n_scored", "partial")},
            "excluded": self.excluded,
            "item": self.about.item,
            "accuracy": {"right": self.about.right, **self.accuracy.to_json()},
            "plan_accuracy": self.plan_accuracy.to_json() if self.is_by_outcome else None,
            "outcomes": self.outcomes and self.outcomes.to_json(),
            "stability": stability
            and {
                "k": stability.k,
                "pass^k": stability.pass_hat_k.to_json(),
                "answer_agreement": stability.agreement.to_json(),
                "trials": stability.trials,
            },
            "cost": self.cost
            and {
                "usd_per_1000_items": self.cost.per_1000,
                "usd_per_right_item": self.cost.per_right,
                "is_at_least": self.cost.is_at_least,
                "thinking_share_of_tokens_written": self.cost.thinking,
            },
            "latency": self.latency
            and {
                "seconds_p50": self.latency.p50,
                "seconds_p95": self.latency.p95,
                "is_local": self.latency.is_local,
                **self.latency.parts,
            },
            "security": security
            and {
                "score": security.score.to_json(),
                "attempts": security.attempts,
                "excluded": security.excluded,
                "unreadable": security.unreadable,
                "harmless_served": security.harmless.to_json(),
            },
            "notes": dict(self.notes),
            "signature": self.signature,
            "metrics_file": self.file,
        }


def by_outcome(runs: Sequence[Axes]) -> list[Axes]:
    """The runs on one data folder, by outcome where the plans of a model were executed.

    Outcomes and plans are never ranked together: a model without outcomes that rank has no accuracy then.
    """
    if not any(run.is_executed for run in [run for run in runs if not run.is_baseline] or runs):
        return list(runs)
    found = []
    for run in runs:
        right, harm = NOTHING, NOTHING
        if run.outcomes is not None and run.is_executed:
            right, harm = run.outcomes.right, run.outcomes.harm
        per_right = run.cost.per_1000 / 1000 / right.value if run.cost and right.value else None
        found.append(
            replace(
                run,
                about=run.about._replace(
                    right="its plan ran, answers, and leaves the state that the gold plan leaves"
                ),
                accuracy=right,
                harm=harm,
                plan_accuracy=run.accuracy,
                is_by_outcome=True,
                cost=run.cost and replace(run.cost, per_right=per_right),
                notes={**run.notes, **({"stability": "of plans, not of outcomes"} if run.stability else {})},
            )
        )
    return found
