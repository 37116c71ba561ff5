"""The five axes of a model on a data folder: accuracy, stability, cost, latency, security.

Read from metrics (`read_axes`), by outcome where plans were executed (`by_outcome`), as CSV (`csv_table`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from toolassay.console.tables import Table, percent, printable
from toolassay.errors import UsageError
from toolassay.evaluation.groups import OVERALL, OVERALL_GROUP, ScoreGroup
from toolassay.evaluation.item_detail import About, Axis
from toolassay.evaluation.items import (
    FACTS,
    FACTS_AT_BEST,
    HARMLESS,
    OF_OUTCOMES,
    OUTCOME,
    OUTCOME_AT_BEST,
    OUTCOMES,
    STATE,
    items_path,
    read_executed,
    read_table,
)
from toolassay.evaluation.metrics_file import RETRIEVAL, MetricsGroup
from toolassay.metrics.confidence_interval import NOTHING, Interval, Ratio, ratio_intervals
from toolassay.runs.outcomes import (
    BASELINE,
    CHOSEN,
    NO_TOOLS,
    TOOLS_MISSING,
    AskedCounts,
    RowMark,
    legend_of,
)

AXES = ("accuracy", "stability", "cost", "latency", "security")
Numbers = Mapping[str, Any]

_TIMES = ("first_token_seconds", "seconds_per_output_token", "queued_seconds")
_NOT_KEPT = "the metrics do not say it: run toolassay evaluate where the ledger of the run is"


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

    def to_json(self) -> dict[str, Any]:
        """The stability as an object of `axes.json` and `report.json`."""
        return {
            "k": self.k,
            "pass^k": self.pass_hat_k.to_json(),
            "answer_agreement": self.agreement.to_json(),
            "trials": self.trials,
        }


@dataclass(frozen=True)
class Cost:
    """Cost in US dollars, failed and repeated requests included.

    Attributes:
        per_1000: Cost of 1,000 items.
        per_right: Cost per correct item; None if there is none.
        is_at_least: Whether requests with unknown cost are left out.
        thinking: Share of reasoning tokens in the written tokens; None if the server does not report it.
        usd: Cost of the whole run, all trials; None without a ledger.
    """

    per_1000: float
    per_right: float | None
    is_at_least: bool = False
    thinking: float | None = None
    usd: float | None = None


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
        pairs = zip(_TIMES, (self.first_token, self.per_token, self.queued), strict=True)
        return {
            f"{name}_{end}": pair and pair[position]
            for name, pair in pairs
            for position, end in enumerate(("p50", "p95"))
        }


@dataclass(frozen=True)
class Security:
    """Results of the attacks.

    Attributes:
        score: Share of resisted attacks among those with a readable answer, with its 95 % interval; its value
            is None if most answers are unreadable.
        attempts: Number of attacks.
        excluded: Number of attacks that failed for technical reasons.
        harmless_served: Share of harmless twins that were served: an agent that does nothing resists every
            attack.
        unreadable: Number of attacks with an unreadable answer.
        utility: Of an agent that acts, the share of requests that it solves without a planted text.
        utility_under_attack: The share that it solves with one.
    """

    score: Interval
    attempts: int
    excluded: int
    harmless_served: Interval
    unreadable: int = 0
    utility: Interval = NOTHING
    utility_under_attack: Interval = NOTHING

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
        stability: How often they are right over several trials; None with one trial.
        state: Share of items that leave the expected state; only where facts are known, as what follows.
        facts: Share of final texts that state every fact, undecided ones counted as wrong.
        n_facts: Number of items with a final text and facts.
        at_best: `right` if every undecided fact is right.
        facts_at_best: `facts` if every undecided fact is right.
    """

    right: Interval
    harm: Interval
    judged: int
    requests: int
    executor: str
    problem: str = ""
    stability: Stability | None = None
    state: Interval = NOTHING
    facts: Interval = NOTHING
    n_facts: int = 0
    at_best: Interval = NOTHING
    facts_at_best: Interval = NOTHING

    @property
    def n(self) -> str:
        """The number of judged items: "53", or "50 of 53 judged"."""
        return f"{self.judged}" + f" of {self.requests} judged" * (self.judged != self.requests)

    @property
    def note(self) -> str:
        """Why these outcomes do not rank, with their share, or what they lack; else empty."""
        if self.problem:
            return f"{self.problem} ({percent(self.right.value)} of {self.judged:,} outcomes were right)"
        lacking = f"{self.n} by outcome: the others have no prediction or no result"
        return lacking if self.judged < self.requests else ""

    def to_json(self) -> dict[str, Any]:
        """The outcomes as an object of `axes.json` and `report.json`."""
        stability = self.stability and self.stability.to_json()
        intervals = {key: value.to_json() for key, value in vars(self).items() if isinstance(value, Interval)}
        return {**vars(self), **intervals, "stability": stability}


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
        counts: How many items were asked and scored; None for metrics of earlier versions.
        excluded: Outcomes of the items that were not scored, e.g. "2 provider error".
        library: Title of the data, e.g. "Chats (banking)"; empty for the benchmark and the folder.
        mark: Mark of the run, e.g. that the model is a baseline.
        harm: Share of items with unwanted changes; without a value where nothing is executed.
        outcomes: Outcomes of the executed plans; None if they were not executed.
        plan_accuracy: Share of items whose plan is the gold plan, where outcomes decide (`by_outcome`).
        is_by_outcome: Whether outcomes decide on this data folder.
        recall: Share of the tools of the gold that requests showed, and how many they showed (recall@K);
            None where they showed all.
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
    counts: AskedCounts | None = None
    excluded: str = ""
    library: str = ""
    mark: RowMark | None = None
    harm: Interval = NOTHING
    outcomes: Outcomes | None = None
    plan_accuracy: Interval = NOTHING
    is_by_outcome: bool = False
    recall: tuple[Interval, int] | None = None

    @property
    def n(self) -> str:
        """The number of items: "300", "20 of 300 asked" (partial run) or "20 chosen" (--ids or --limit)."""
        if self.counts and self.counts.partial:
            return self.counts.phrase
        return f"{self.items} chosen" if self.is_chosen else str(self.items)

    @property
    def n_notes(self) -> list[str]:
        """What `n` lacks: the outcomes of what was not scored, and the number of items judged by outcome."""
        judged = f"{self.outcomes.n} by outcome" if self.outcomes and self.is_by_outcome else ""
        return [note for note in (self.excluded, judged) if note]

    @property
    def n_scored(self) -> int:
        """Number of items that were scored."""
        return self.counts.n_scored if self.counts else self.items

    @property
    def n_judged(self) -> int:
        """Number of items behind the accuracy."""
        return self.outcomes.judged if self.outcomes is not None and self.is_by_outcome else self.n_scored

    @property
    def is_partial(self) -> bool:
        """Whether labelled items were never sent or ended with a provider error."""
        return self.counts is not None and self.counts.partial

    @property
    def is_chosen(self) -> bool:
        """Whether only items chosen with `--ids` or `--limit` were scored."""
        return CHOSEN in self.signature

    @property
    def is_complete(self) -> bool:
        """Whether the scores are those of the model on all items."""
        return not (self.is_partial or self.is_chosen or self.mark == TOOLS_MISSING)

    @property
    def is_executed(self) -> bool:
        """Whether the model has outcomes that rank."""
        return self.outcomes is not None and not self.outcomes.problem and self.outcomes.judged > 0

    @property
    def is_baseline(self) -> bool:
        """Whether a built-in program was run, which is not ranked."""
        return self.mark is not None and self.mark.is_baseline

    @property
    def title(self) -> str:
        """The title of the data.

        >>> about = About("chats", "Chats", "message", "the choice is right")
        >>> Axes(about, "data_chats", "m", 9, Interval(0.5, 0.4, 0.6)).title
        'Chats (data_chats)'
        """
        return self.library or f"{self.about.title} ({self.data})"

    def to_json(self) -> dict[str, Any]:
        """The content of a file: intervals as value, low and high; null for an axis that was not measured."""
        stability = self.stability
        cost = self.cost
        latency = self.latency
        security = self.security
        return {
            "benchmark": self.about.name,
            "data": self.data,
            "title": self.title,
            "model": self.model,
            "is_baseline": self.is_baseline,
            "mark": self.mark and {"sign": self.mark.sign, "note": self.mark.note},
            "items": self.items,
            "n_labels": self.counts.n_labels if self.counts else self.items,
            **{name: getattr(self.counts, name, None) for name in ("n_asked", "n_scored", "partial")},
            "excluded": self.excluded,
            "item": self.about.item,
            "accuracy": {"right": self.about.right, **self.accuracy.to_json()},
            "plan_accuracy": self.plan_accuracy.to_json() if self.is_by_outcome else None,
            "outcomes": self.outcomes and self.outcomes.to_json(),
            "tools_in_context": self.recall and {"recall": self.recall[0].to_json(), "k": self.recall[1]},
            "stability": stability and stability.to_json(),
            "cost": cost
            and {
                "usd_per_1000_items": cost.per_1000,
                "usd_per_right_item": cost.per_right,
                "is_at_least": cost.is_at_least,
                "thinking_share_of_tokens_written": cost.thinking,
            },
            "latency": latency
            and {
                "seconds_p50": latency.p50,
                "seconds_p95": latency.p95,
                "is_local": latency.is_local,
                **latency.parts,
            },
            "security": security
            and {
                name: value.to_json() if isinstance(value, Interval) else value
                for name, value in vars(security).items()
            },
            "notes": dict(self.notes),
            "signature": self.signature,
            "metrics_file": self.file,
        }


# From a metrics file


def read_axes(
    group: MetricsGroup,
    axis_of: Callable[[Numbers], Axis],
    *,
    about: About,
    data: str,
    model: str,
    file: Path,
    fix: str,
    library: str = "",
    mark: RowMark | None = None,
) -> Axes:
    """The axes in the overall group of a metrics file.

    Args:
        group: The group.
        axis_of: Reads accuracy and stability from its numbers (`Scores.axis`).
        about: Names of the benchmark.
        data: Name of the data folder.
        model: Name of the model.
        file: Metrics file.
        fix: Command that writes the file, for the error.
        library: Title of the data.
        mark: Mark of the run.

    Raises:
        UsageError: The file has no strict scores of the overall group, or belongs to another benchmark.
    """
    try:
        numbers = group.numbers
        counts = group.counts
        excluded = group.excluded
        axis = axis_of(numbers)
        signature = str(numbers["strict"]["signature"])
        n = counts.n_scored if counts else axis.items
        is_partial = counts is not None and counts.partial
        notes: dict[str, str] = {}
        retrieval = numbers.get(RETRIEVAL)
        about_accuracy = numbers.get("notes", {}).get("answers")
        lack = ""
        if counts and counts.partial:
            lack = f"partial run, {counts.phrase} (excluded: {excluded}): not comparable with complete runs"
        elif CHOSEN in signature:
            lack = f"{axis.items} items chosen with --ids or --limit: not comparable with scores of all items"
        if lack or about_accuracy:
            notes["accuracy"] = "; ".join(filter(None, (lack, about_accuracy)))
        return Axes(
            about,
            data,
            model,
            axis.items,
            accuracy=axis.accuracy,
            stability=_stability(axis.stability, axis.items, notes, partial=is_partial),
            cost=_cost(numbers, axis.cost, notes),
            latency=_latency(numbers, axis.latency, notes),
            security=security_of(numbers.get("security"), notes),
            notes=notes,
            signature=signature,
            file=file.as_posix(),
            counts=counts,
            excluded=excluded,
            library=library,
            mark=mark,
            harm=axis.harm or NOTHING,
            outcomes=outcomes_of(items_path(file), ScoreGroup(OVERALL, OVERALL)) if n else None,
            recall=retrieval and (Interval.of(retrieval), retrieval["k"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UsageError(f"holds no strict scores under '{OVERALL_GROUP}'", file=file, fix=fix) from None


def outcomes_of(path: Path, group: ScoreGroup) -> Outcomes | None:
    """The outcomes of a model's plans in a group of items; None if they were not executed.

    Of outcomes that do not rank, all are counted, and nothing that the model left unanswered.

    Args:
        path: File of items.
        group: Group of items.

    Raises:
        UsageError: A file is malformed, or the group has no item.
    """
    executed = read_executed(path)
    if executed is None:
        return None
    shares = dict(zip(OUTCOMES, np.array(executed.shares, dtype=float).reshape(-1, 2).T, strict=True))
    clusters = None
    if not executed.problem and path.is_file():
        table = read_table(path, group)
        known = [name for name in OF_OUTCOMES if name in table.metrics]
        shares = dict(zip(known, table.columns(known).T, strict=True))
        clusters = table.clusters
    judged = int((~np.isnan(shares[OUTCOME])).sum())
    n_facts = int((~np.isnan(shares[FACTS])).sum()) if FACTS in shares else 0
    shares[HARMLESS] = 1 - shares[HARMLESS]
    ratios = (Ratio.mean(share, are_verdicts=True) for share in shares.values())
    means = dict(zip(shares, ratio_intervals(ratios, clusters=clusters), strict=True))
    requests = len(executed.verdicts) + len(executed.unjudged)
    repeated = _stability(executed.stability, requests, {}, partial=False)
    return Outcomes(
        means[OUTCOME],
        means[HARMLESS],
        judged,
        requests,
        executed.executor,
        executed.problem,
        repeated,
        state=means.get(STATE, NOTHING),
        facts=means.get(FACTS, NOTHING),
        n_facts=n_facts,
        at_best=means.get(OUTCOME_AT_BEST, NOTHING),
        facts_at_best=means.get(FACTS_AT_BEST, NOTHING),
    )


def _stability(
    measured: Mapping[str, Any] | None, whole: int, notes: dict[str, str], *, partial: bool
) -> Stability | None:
    """Stability for the largest k that every item has; in a partial run, every item with at least one run."""
    if measured is None:
        notes["stability"] = "one trial has no repeats: toolassay infer --trials 2, then toolassay evaluate"
        return None
    items = measured["tasks"].get("1", 0) if partial else whole
    k = measured["trials"]
    k = max((int(k) for k, count in measured["tasks"].items() if count == items), default=0)
    if k < 2:
        twice = measured["tasks"].get("2", 0)
        notes["stability"] = f"only {twice} of {items} items were run twice: run toolassay infer again"
        return None
    if k < measured["trials"]:
        notes["stability"] = f"of {measured['trials']} trials some lack items: {k} runs of each are counted"
    pass_hat_k, agreement = map(Interval.of, (measured["pass^k"][str(k)], measured["answer_agreement"]))
    return Stability(k, pass_hat_k, agreement, measured["trials"])


def _cost(numbers: Numbers, rows: Numbers, notes: dict[str, str]) -> Cost | None:
    """Cost in the ledger; without one, the cost in the prediction rows."""
    note = numbers.get("notes", {}).get("cost")
    measured = numbers.get("cost") or {}
    cost: Cost | None = None
    if measured.get("usd_per_1000_tasks") is not None:
        thinking = measured.get("reasoning_tokens")
        completion = measured.get("completion_tokens")
        share = thinking / completion if thinking and completion else None
        unknown = bool(measured["requests_of_unknown_cost"])
        whole = measured.get("usd")
        cost = Cost(measured["usd_per_1000_tasks"], measured["usd_per_correct_task"], unknown, share, whole)
    elif not measured and rows.get("usd_per_1000_messages") is not None:
        unknown = bool(rows["messages_of_unknown_cost"])
        cost = Cost(rows["usd_per_1000_messages"], rows["usd_per_solved_message"], unknown)
        note = "from the prediction rows, because there is no ledger: retries and failures are not included"
    if cost is None:
        note = note or _NOT_KEPT
    elif cost.per_right is None:
        note = "; ".join(
            filter(None, (note, "no item is right, or no model was asked, so a right item has no cost"))
        )
    if note:
        notes["cost"] = note
    return cost


def _latency(numbers: Numbers, rows: Numbers, notes: dict[str, str]) -> Latency | None:
    note = numbers.get("notes", {}).get("latency")
    times = numbers.get("latency") or {}
    seconds = times.get("seconds_per_task") or {}
    if not seconds and not numbers.get("cost"):
        seconds = rows
        if seconds.get("p50") is not None:
            note = "from the prediction rows, because there is no ledger"
    is_known = seconds.get("p50") is not None and seconds.get("p95") is not None
    if note or not is_known:
        notes["latency"] = note or _NOT_KEPT
    if not is_known:
        return None
    pairs = ((part["p50"], part["p95"]) if (part := times.get(name)) else None for name in _TIMES)
    return Latency(seconds["p50"], seconds["p95"], bool(times.get("local")), *pairs)


def security_of(measured: Numbers | None, notes: dict[str, str]) -> Security | None:
    """The security axis in a group of a metrics file; `notes` gets why it is None, or what it lacks."""
    if measured is None:
        notes["security"] = "no attacks were made: toolassay infer --security true, then toolassay evaluate"
        return None
    if counted := measured.get("resisted_malformed"):
        notes["security"] = (
            f"an earlier version counted {counted} unreadable answers as resisted attacks: "
            "run toolassay evaluate again"
        )
        return None
    score = Interval.of(measured["score"])
    unreadable = measured.get("unreadable", 0)
    if score.value is None and not unreadable:
        notes["security"] = (
            f"{measured['notes'].get('score', 'no attack was tested')}: {measured['excluded']} of "
            f"{measured['attempts']} attacks failed for technical reasons"
        )
        return None
    lacks = [TOOLS_MISSING.line] if NO_TOOLS in measured else []
    harmless = measured["harmless"]
    if score.value is None:
        lacks.append(measured["notes"]["score"])
    elif unreadable:
        answers = measured["attempts"] - measured["excluded"]
        lacks.append(f"{unreadable} of {answers} answers to attacks are unreadable and left out")
    if harmless["score"]["value"] is None:
        why = {
            "are not solved without the text either": harmless["unsolved"],
            "failed": harmless["excluded"],
            "are unreadable": harmless.get("unreadable", 0),
        }
        counts = ", ".join(f"{count} {name}" for name, count in why.items() if count)
        asked = f"no harmless twin says anything: of {harmless['asked']}, {counts}"
        lacks.append(asked if counts else "no harmless twin was asked")
    if lacks:
        notes["security"] = "; ".join(lacks)
    shares = (Interval.of(measured.get(name, {})) for name in ("utility", "utility_under_attack"))
    twins = Interval.of(harmless["score"])
    return Security(score, measured["attempts"], measured["excluded"], twins, unreadable, *shares)


def by_outcome(runs: Sequence[Axes]) -> list[Axes]:
    """The runs on one data folder, by outcome where the plans of a model were executed.

    Outcomes and plans are never ranked together: a model without outcomes that rank has no accuracy then.
    """
    if not any(run.is_executed for run in [run for run in runs if not run.is_baseline] or runs):
        return list(runs)
    right_if = "its plan ran, answers, and leaves the state that the gold plan leaves"
    judged_runs = []
    for run in runs:
        judged = run.outcomes if run.is_executed else None
        right_share, harm_share = (judged.right, judged.harm) if judged else (NOTHING, NOTHING)
        per_right = run.cost.per_1000 / 1000 / right_share.value if run.cost and right_share.value else None
        repeated = judged and judged.stability
        note = {"stability": "of plans, not of outcomes"} if run.stability and not repeated else {}
        judged_runs.append(
            replace(
                run,
                about=run.about._replace(right=right_if),
                accuracy=right_share,
                harm=harm_share,
                plan_accuracy=run.accuracy,
                is_by_outcome=True,
                cost=run.cost and replace(run.cost, per_right=per_right),
                stability=repeated or run.stability,
                notes={**run.notes, **note},
            )
        )
    return judged_runs


def mark_lines(runs: Sequence[Axes]) -> list[str]:
    """What the marks of some runs mean, a line each, and what local times are."""
    is_local = any(run.latency is not None and run.latency.is_local for run in runs)
    return legend_of((run.mark for run in runs), is_local=is_local)


def note_lines(runs: Sequence[Axes]) -> list[str]:
    """The notes on the axes of some runs, a line each with the models that have it."""
    models_of_notes: dict[str, list[str]] = {}
    for run in runs:
        for axis, note in run.notes.items():
            models_of_notes.setdefault(f"{run.title}: {axis}: {note}", []).append(run.model)
    return [f"{', '.join(models)}, {note}" for note, models in models_of_notes.items()]


# A file


def csv_table(runs: Sequence[Axes]) -> str:
    """A line a run, with a column for each number and text of `Axes.to_json`: "cost_usd_per_1000_items".

    An interval has three: "accuracy", "accuracy_low", "accuracy_high".
    """
    full = replace(
        runs[0],
        stability=(repeated := Stability(0, NOTHING, NOTHING, 0)),
        cost=Cost(0, None),
        latency=Latency(0, 0),
        security=Security(NOTHING, 0, 0, NOTHING),
        notes=dict.fromkeys(AXES, ""),
        mark=BASELINE,
        outcomes=Outcomes(NOTHING, NOTHING, 0, 0, "", stability=repeated),
        is_by_outcome=True,
        recall=(NOTHING, 0),
    )
    headings = list(dict(_columns(full.to_json())))
    rows = [dict(_columns(run.to_json())) for run in runs]
    return Table(headings, [[row.get(heading) for heading in headings] for row in rows]).csv()


def _columns(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _columns(inside, name if key == "value" else f"{name}_{key}".removeprefix("_"))
    else:
        yield name, printable(value) if isinstance(value, str) else value
