"""The five axes of one model on one benchmark, in one shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolassay.evaluation.axis import About
from toolassay.metrics.confidence_interval import Interval
from toolassay.runs.marks import RowMark, marked
from toolassay.runs.outcomes import CHOSEN, scored_phrase

AXES = ("accuracy", "stability", "cost", "latency", "security")


@dataclass(frozen=True)
class Stability:
    """How sure a success is, and how often the answer is the same.

    Attributes:
        k: of pass^k: the most runs that every item has.
        pass_hat_k: the chance that k runs of an item are all right; a share of 1, with its 95 % interval.
        agreement: items whose answers are the same in all trials, likewise.
        trials: how many there are.
    """

    k: int
    pass_hat_k: Interval
    agreement: Interval
    trials: int


@dataclass(frozen=True)
class Cost:
    """US dollars; failed and repeated requests are in them.

    Attributes:
        per_1000: for 1,000 items.
        per_right: for an item done right; None where none was.
        is_at_least: the cost of some requests is unknown and not in it.
        thinking: the share of the tokens written that is thinking; None where the server does not say.
    """

    per_1000: float
    per_right: float | None
    is_at_least: bool = False
    thinking: float | None = None


@dataclass(frozen=True)
class Latency:
    """Seconds of an item at the server: the median, and what 95 % of the items stay below.

    Attributes:
        is_local: computed on this machine by a built-in model; does not compare with the times of a server.
        first_token: of a streamed answer, median and 95th percentile; None where none was streamed.
        per_token: from one token to the next, likewise.
        queued: of an answer, the wait for a turn before sending, likewise; not in the other times.
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
    """What came of the attacks.

    Attributes:
        score: the share that was resisted, of those that did not fail and whose answer can be read; with its
            95 % interval. Nothing where most answers are unreadable.
        attempts: how many attacks there were.
        excluded: those that failed for technical reasons.
        harmless: the share of harmless twins that was served; an agent that does nothing resists everything.
        unreadable: attacks whose answer cannot be read.
    """

    score: Interval
    attempts: int
    excluded: int
    harmless: Interval
    unreadable: int = 0


@dataclass(frozen=True)
class Axes:
    """One model on one data folder; an axis that was not measured is None, and `notes` says why.

    Attributes:
        about: what the benchmark is called, and when an item is right.
        data: the data folder, by its name.
        model: its name.
        items: labelled items.
        accuracy: the share of the scored items that is right, strictly, in the first trial, or in all.
        stability: over further trials.
        cost: by the ledgers, over all trials.
        latency: likewise.
        security: of a run of its own.
        notes: by axis, why it is None, or what its numbers lack.
        signature: what the scores were made with.
        file: the metrics file.
        counts: what `runs.asked.asked_counts` says of the items; empty of metrics made before it was known.
        library: what the data folder is called in words, e.g. "Chats (banking)"; an own folder by its
            name alone. Default the benchmark and the folder.
        mark: what a reader must know about the run.
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

    @property
    def n(self) -> str:
        """The number of items: "300", "20 of 300 asked" of a partial run, "20 chosen" with --ids, --limit."""
        if self.is_partial:
            return scored_phrase(self.counts)
        return f"{self.items} chosen" if CHOSEN in self.signature else str(self.items)

    @property
    def is_partial(self) -> bool:
        """Whether labelled items were never asked, or met a provider error."""
        return bool(self.counts.get("partial"))

    library: str = ""
    mark: RowMark | None = None

    @property
    def title(self) -> str:
        """The benchmark and its data, in words.

        >>> about = About("chats", "Chats", "message", "the choice is right")
        >>> Axes(about, "data_chats", "m", 9, Interval(0.5, 0.4, 0.6)).title
        'Chats (data_chats)'
        """
        return self.library or f"{self.about.title} ({self.data})"

    @property
    def marked_title(self) -> str:
        """The title, with the mark of this run; that of a baseline is with its name."""
        return self.title if self.is_baseline else marked(self.title, self.mark)

    @property
    def name(self) -> str:
        """The model; a baseline with its mark."""
        return marked(self.model, self.mark) if self.is_baseline else self.model

    @property
    def is_baseline(self) -> bool:
        """Whether the model is compared with and never ranked."""
        return self.mark is not None and self.mark.is_baseline

    def to_json(self) -> dict[str, Any]:
        """For a file: intervals as value, low and high; null where an axis was not measured."""
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
            "item": self.about.item,
            "accuracy": {"right": self.about.right, **self.accuracy.to_json()},
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
