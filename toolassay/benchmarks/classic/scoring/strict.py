"""Strict scores: errors count as wrong answers, and no message is left out."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import fsum, nan
from statistics import fmean, pstdev
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData, Example
from toolassay.benchmarks.classic.scoring.compat import MAX_SECONDS
from toolassay.benchmarks.classic.scoring.prediction_rows import ANSWERED, MALFORMED, PredictionRow
from toolassay.metrics.confidence_interval import Ratio, means_over_runs, ratio_intervals, run_table
from toolassay.metrics.pass_k import AGREEMENTS, NO_RUN, UNANSWERED, repeat_metrics, stability_metrics
from toolassay.runs.ledger import percentiles
from toolassay.runs.outcomes import MISSING, NOT_RUN, AskedCounts, is_scored

MissingOutcome = Callable[[Example, int], str]
"""Gives the outcome of a message that has no row in a trial."""


@dataclass(frozen=True, slots=True)
class MessageOutcome:
    """One message in one trial.

    Attributes:
        example: the message with its labels.
        trial: its number.
        row: the agent's answer; None if there is none.
        outcome: of the request (`runs.outcomes` defines which are scored). The name of a workflow that was
            not offered is malformed, as is an empty name.
    """

    example: Example
    trial: int
    row: PredictionRow | None
    outcome: str

    @property
    def answered(self) -> bool:
        """Whether the agent made a choice, a workflow or none."""
        return self.outcome == ANSWERED

    @property
    def choice(self) -> str | None:
        """The chosen workflow; None for the choice of none, and for a message without a choice."""
        return self.row.prediction if self.row is not None and self.answered else None

    @property
    def conversation(self) -> tuple[str, int]:
        """The key of the conversation in the trial."""
        return self.example.conversation, self.trial

    @property
    def order(self) -> str:
        """The order of the candidates; empty if unknown."""
        return "" if self.row is None else self.row.order

    @property
    def right(self) -> bool:
        """Whether the labels accept the choice; False without a choice."""
        return self.answered and self.example.accepts(self.choice)

    @property
    def wanted(self) -> str | None:
        """The primary label; None if no workflow is correct."""
        return self.example.labels[0] if self.example.labels else None


def message_outcomes(
    rows: Iterable[PredictionRow], data: ClassicData, ended: MissingOutcome = lambda example, trial: MISSING
) -> list[MessageOutcome]:
    """Every message of the data in each trial that has a row.

    Args:
        rows: answers to these data, with one order of the candidates.
        data: its labels are used.
        ended: the outcome of a message without a row in a trial.

    Returns:
        Sorted by conversation, message and trial.
    """
    rows = list(rows)
    by_run = {(*row.input, row.trial): row for row in rows}
    trials = sorted({row.trial for row in rows}) or [0]
    offered = {domain: {flow.id for flow in flows} for domain, flows in data.workflows.items()}
    judged = []
    for example in sorted(data.examples, key=lambda each: (each.conversation, each.request_idx)):
        own = {trial: by_run.get((example.conversation, example.request_idx, trial)) for trial in trials}
        for trial, row in own.items():
            outcome = ended(example, trial) if row is None else _outcome(row, offered[example.domain])
            if outcome == MISSING and any(own.values()):
                outcome = NOT_RUN  # a trial that did not ask it is no run of it
            judged.append(MessageOutcome(example, trial, row, outcome))
    return judged


def by_message(judged: Sequence[MessageOutcome]) -> list[list[MessageOutcome]]:
    """The trials of each message, in the given order."""
    by_id: dict[str, list[MessageOutcome]] = {}
    for message_outcome in judged:
        by_id.setdefault(message_outcome.example.id, []).append(message_outcome)
    return list(by_id.values())


def _outcome(row: PredictionRow, offered: set[str]) -> str:
    if row.outcome == ANSWERED and row.prediction is not None and row.prediction not in offered:
        return MALFORMED
    return row.outcome


def accuracy(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """Shares of correct choices with intervals, and the kinds of wrong ones. The bootstrap resamples
    conversations.

    Args:
        judged: every message in every trial. Those that are not scored (`runs.outcomes`) only count in
            `outcomes`, and a conversation with such a message does not count in `conversations`.

    Returns:
        `messages` (all messages weigh the same, however often they were run), `by_domain` and `by_workflow`
        (all domains, all wanted workflows weigh the same), `conversations` (share with all messages correct);
        of all runs, `outcomes` and `none`.
    """
    import numpy as np

    outcomes = dict(sorted(Counter(message_outcome.outcome for message_outcome in judged).items()))
    cut = {
        message_outcome.conversation for message_outcome in judged if not is_scored(message_outcome.outcome)
    }
    judged = [message_outcome for message_outcome in judged if is_scored(message_outcome.outcome)]
    failed = {message_outcome.conversation for message_outcome in judged if not message_outcome.right}
    messages = by_message(judged)
    firsts = {unit[0].example.conversation: unit[0].example.id for unit in reversed(messages)}

    def whole_conversation(message_outcome: MessageOutcome) -> float:
        """A conversation counts at its first message."""
        is_first = message_outcome.example.id == firsts[message_outcome.example.conversation]
        return (
            float(message_outcome.conversation not in failed)
            if is_first and message_outcome.conversation not in cut
            else nan
        )

    right = run_table([[float(message_outcome.right) for message_outcome in unit] for unit in messages])
    ratios = {
        "messages": Ratio.over_runs(right),
        "conversations": Ratio.over_runs(
            run_table([list(map(whole_conversation, message)) for message in messages])
        ),
    }
    groups: dict[str, Sequence[str | None]] = {
        "by_domain": [unit[0].example.domain for unit in messages],
        "by_workflow": [unit[0].wanted for unit in messages],
    }
    for name, names in groups.items():
        sizes = Counter(names)
        # A mean of group means is a weighted mean, and as a ratio of sums it can be resampled by cluster.
        weights = np.array([0.0 if group is None else 1 / sizes[group] for group in names])
        ratios[name] = Ratio.share(means_over_runs(right) * weights, weights)
    clusters = [unit[0].example.conversation for unit in messages]
    intervals = ratio_intervals(ratios.values(), clusters=clusters)
    shares = {name: interval.to_json() for name, interval in zip(ratios, intervals, strict=True)}
    return {**shares, "outcomes": outcomes, "none": none_quality(judged)}


def none_quality(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """How well an agent recognises that no workflow should start.

    Returns:
        `wanted` and `chosen` (how often none was correct, and chosen); `precision`, `recall` and `f1` of that
        choice; `false_starts` (a workflow was started though none is correct), `missed_starts` (none was
        chosen though a workflow is correct) and `wrong_starts` (a workflow was started though another is
        correct), each also as a share of the messages it could have happened to.
    """
    unlabelled = [message_outcome for message_outcome in judged if message_outcome.wanted is None]
    labelled = [message_outcome for message_outcome in judged if message_outcome.wanted is not None]
    chosen = [
        message_outcome
        for message_outcome in judged
        if message_outcome.answered and message_outcome.choice is None
    ]
    hits = sum(message_outcome.right for message_outcome in chosen)
    false = sum(message_outcome.choice is not None for message_outcome in unlabelled)
    missed = len(chosen) - hits
    wrong = sum(
        message_outcome.choice is not None and not message_outcome.right for message_outcome in labelled
    )
    return {
        "wanted": len(unlabelled),
        "chosen": len(chosen),
        **precision_recall(hits, len(chosen), hits, len(unlabelled)),
        "false_starts": false,
        "false_start_share": share(false, len(unlabelled)),
        "missed_starts": missed,
        "missed_start_share": share(missed, len(labelled)),
        "wrong_starts": wrong,
        "wrong_start_share": share(wrong, len(labelled)),
    }


def precision_recall(hits: int, chosen: int, recalled: int, wanted: int) -> dict[str, float | None]:
    """Precision `hits / chosen`, recall `found / wanted`, and their harmonic mean F1; None if undefined.

    >>> precision_recall(1, 2, 1, 1)
    {'precision': 0.5, 'recall': 1.0, 'f1': 0.6666666666666666}
    """
    precision = share(hits, chosen)
    recall = share(recalled, wanted)
    f1 = None
    if recall is not None:
        f1 = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def share(part: float | None, whole: int) -> float | None:
    """The quotient; None if `whole` is 0 or the part unknown."""
    return part / whole if whole and part is not None else None


def workflow_table(judged: Sequence[MessageOutcome], data: ClassicData) -> dict[str, dict[str, Any]]:
    """Statistics of every workflow of the data, by id.

    Returns:
        `name`, `domain`, `support` (runs whose primary label it is), `chosen`, `precision` (of the runs that
        chose it, the share for which it is accepted), `recall` (of its support, the share that is correct by
        any label), `f1`. Also `phrasings` (number of messages whose primary label it is), `always_right`
        (number of these correct in all trials) and `spread` (standard deviation of their shares of correct
        answers).
    """
    chosen: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    support: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for message_outcome in judged:
        if message_outcome.choice is not None:
            chosen[message_outcome.choice] += 1
            accepted[message_outcome.choice] += message_outcome.right
        if message_outcome.wanted is not None:
            support[message_outcome.wanted] += 1
            right[message_outcome.wanted] += message_outcome.right
    phrasings = phrasings_of(judged)
    return {
        flow.id: {
            "name": flow.name,
            "domain": flow.domain,
            "support": support[flow.id],
            "chosen": chosen[flow.id],
            **precision_recall(accepted[flow.id], chosen[flow.id], right[flow.id], support[flow.id]),
            "phrasings": len(shares := phrasings.get(flow.id, [])),
            "always_right": sum(share == 1 for share in shares),
            "spread": pstdev(shares) if shares else None,
        }
        for flows in data.workflows.values()
        for flow in flows
    }


def phrasings_of(judged: Sequence[MessageOutcome]) -> dict[str, list[float]]:
    """By workflow: for each message whose primary label it is, the share of correct trials."""
    phrasings: dict[str, list[float]] = defaultdict(list)
    for trials in by_message(judged):
        if (wanted := trials[0].wanted) is not None:
            phrasings[wanted].append(fmean(trial.right for trial in trials))
    return phrasings


def phrasing_sensitivity(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """How much the wording of a request for a workflow matters.

    Returns:
        `workflows` (with at least two phrasings); the shares of them that are correct for all phrasings
        (`always_right`), for none (`never_right`) and for some (`sometimes_right`); and the mean `spread`.
    """
    several = [shares for shares in phrasings_of(judged).values() if len(shares) > 1]
    n = len(several)
    always = sum(min(shares) == 1 for shares in several)
    never = sum(max(shares) == 0 for shares in several)
    return {
        "workflows": n,
        "always_right": share(always, n),
        "never_right": share(never, n),
        "sometimes_right": share(n - always - never, n),
        "spread": fmean(map(pstdev, several)) if n else None,
    }


def confusion(judged: Sequence[MessageOutcome]) -> list[dict[str, Any]]:
    """How often each wanted workflow (the primary label) met each choice; only combinations that occur.

    None means no workflow. For an outcome without a choice, `outcome` has its name. A choice that is correct
    by the second label has `right`.
    """
    names = ("domain", "wanted", "chosen", "outcome", "right")
    pairs = Counter(
        (
            message_outcome.example.domain,
            message_outcome.wanted or "",
            message_outcome.choice or "",
            message_outcome.outcome,
            message_outcome.right,
        )
        for message_outcome in judged
    )
    rows = ({**dict(zip(names, pair, strict=True)), "count": count} for pair, count in sorted(pairs.items()))
    return [{**row, "wanted": row["wanted"] or None, "chosen": row["chosen"] or None} for row in rows]


def macro_f1(table: dict[str, dict[str, Any]], domain: str | None = None) -> float | None:
    """The mean F1 of the workflows with support."""
    scores = [row["f1"] for row in table.values() if row["support"] and domain in (None, row["domain"])]
    return fmean(scores) if scores else None


def stability(
    judged: Sequence[MessageOutcome], others: Sequence[tuple[MessageOutcome, MessageOutcome]]
) -> dict[str, Any]:
    """The stability of answers.

    Args:
        judged: all messages in all trials.
        others: pairs of the same message and trial from two orders of the candidates.

    Returns:
        `trials`; with several trials also `answer_agreement` (messages whose answers are all equal),
        `pairwise_agreement` (pairs of trials with equal answers), `correctness_agreement` (messages that are
        always or never correct), with intervals, and pass@k and pass^k under `messages` and `conversations`
        as `repeat_metrics` gives them; `phrasing`; and `order`, None if only one order was used. A run
        without a choice agrees with no other. A run without an answer is left out, and so is its conversation
        in that trial.
    """
    trials = len({message_outcome.trial for message_outcome in judged})
    metrics: dict[str, Any] = {"trials": trials}
    if trials > 1:
        messages = [unit for unit in by_message(judged) if any(map(_has_run, unit))]
        runs = [[unit[trial] for unit in messages] for trial in range(trials)]
        answers = [[_answer(run) for run in row] for row in runs]
        right = [[message_outcome.right for message_outcome in row] for row in runs]
        whole = stability_metrics(answers, right, [unit[0].example.conversation for unit in messages])
        metrics |= {name: whole.pop(name) for name in AGREEMENTS}
        metrics["messages"] = whole
        units = _conversations(judged)
        metrics["conversations"] = repeat_metrics(
            [[message_outcome.right for message_outcome in unit] for unit in units],
            clusters=[unit[0].example.conversation for unit in units],
        )
    return {
        **metrics,
        "phrasing": phrasing_sensitivity(
            [message_outcome for message_outcome in judged if is_scored(message_outcome.outcome)]
        ),
        "order": _order(others) if others else None,
    }


def agreement_of(trials: Sequence[MessageOutcome]) -> float:
    """The share of a message's pairs of trials that gave the same answer."""
    return fmean(_agree(*pair) for pair in combinations(trials, 2))


def pairs_of_orders(
    main: Iterable[MessageOutcome], others: Iterable[Iterable[MessageOutcome]]
) -> list[tuple[MessageOutcome, MessageOutcome]]:
    """Pairs of the same message and trial from the main order and another one, if both were run.

    Orders are compared by the name in the rows.
    """
    first = {
        (message_outcome.example.id, message_outcome.trial): message_outcome
        for message_outcome in main
        if _has_run(message_outcome)
    }
    pairs = ((first.get((other.example.id, other.trial)), other) for other in chain.from_iterable(others))
    return [(base, other) for base, other in pairs if base and _has_run(other) and base.order != other.order]


def by_order(rows: Iterable[PredictionRow]) -> dict[str, list[PredictionRow]]:
    """Rows by order of the candidates, sorted by its name; rows without one come first."""
    prediction_rows: dict[str, list[PredictionRow]] = defaultdict(list)
    for row in rows:
        prediction_rows[row.order].append(row)
    return dict(sorted(prediction_rows.items()))


def _agree(base: MessageOutcome, other: MessageOutcome) -> bool:
    return base.answered and other.answered and base.choice == other.choice


def _answer(run: MessageOutcome) -> Hashable:
    """What a run chose, for the agreement between trials."""
    if not _has_run(run):
        return NO_RUN
    return (run.choice,) if run.answered else UNANSWERED


def _has_run(message_outcome: MessageOutcome) -> bool:
    return message_outcome.row is not None and is_scored(message_outcome.outcome)


def _conversations(judged: Sequence[MessageOutcome]) -> list[list[MessageOutcome]]:
    """For each conversation and trial the first wrong message, or the last one if all are right. Trials in
    which a message was not run are left out.
    """
    by_conversation: dict[str, dict[int, MessageOutcome]] = defaultdict(dict)
    cut = {message_outcome.conversation for message_outcome in judged if not _has_run(message_outcome)}
    for message_outcome in judged:
        if message_outcome.conversation in cut:
            continue
        before = by_conversation[message_outcome.example.conversation].get(message_outcome.trial)
        if before is None or before.right:
            by_conversation[message_outcome.example.conversation][message_outcome.trial] = message_outcome
    return [list(trials.values()) for trials in by_conversation.values()]


def _order(pairs: Sequence[tuple[MessageOutcome, MessageOutcome]]) -> Mapping[str, Any]:
    return {
        "orders": sorted({message_outcome.order for pair in pairs for message_outcome in pair}),
        "pairs": len(pairs),
        "answer_agreement": fmean(_agree(*pair) for pair in pairs),
        "correctness_agreement": fmean(base.right == other.right for base, other in pairs),
        "right_in_both": fmean(base.right and other.right for base, other in pairs),
    }


def cost(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """Cost and tokens of the answers, as recorded in their rows.

    Retries and requests without an answer have no row; their cost is in the ledger of the run.

    Returns:
        `usd` (the sum), `usd_per_message`, `usd_per_1000_messages`, `usd_per_solved_message`,
        `usd_per_conversation`, `messages_of_unknown_cost` (left out of the means), `prompt_tokens`,
        `completion_tokens`. A message counts once per trial. None if no row has the value.
    """
    known = [
        message_outcome
        for message_outcome in judged
        if message_outcome.row is not None and message_outcome.row.cost is not None
    ]
    usd = _sum(known, lambda row: row.cost)
    runs = [message_outcome for message_outcome in judged if message_outcome.row is not None]
    conversations = {message_outcome.conversation for message_outcome in known}
    per_message = share(usd, len(known))
    return {
        "usd": usd,
        "usd_per_message": per_message,
        "usd_per_1000_messages": None if per_message is None else 1000 * per_message,
        "usd_per_solved_message": share(usd, sum(message_outcome.right for message_outcome in known)),
        "usd_per_conversation": share(usd, len(conversations)),
        "messages_of_unknown_cost": len(runs) - len(known),
        "prompt_tokens": _sum(runs, lambda row: row.tokens_input),
        "completion_tokens": _sum(runs, lambda row: row.tokens_output),
    }


def _sum(judged: Sequence[MessageOutcome], value: Callable[[PredictionRow], float | None]) -> float | None:
    numbers = [
        number
        for message_outcome in judged
        if message_outcome.row is not None and (number := value(message_outcome.row)) is not None
    ]
    return fsum(numbers) if numbers else None


_FAILURES = ("context overflow", "provider error", "budget stop", "not run")
# Matches "no answer within 60 s", "Read timed out" and "timeout"; not "HTTP 500".
_TIMEOUT = re.compile(r"no answer within|time[d -]*out", re.IGNORECASE)


def latency(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """Seconds of all timed runs, with any outcome.

    Returns:
        `timed` (number of runs), `mean`, `max`, `p50`, `p90`, `p95`, `p99`; `first_token_p50` and
        `first_token_p95` (of streamed answers); `over_60_s` (left out of the published latency); `timeouts`,
        `failures` (runs without an answer, including time-outs) and `failure_share`.
    """
    rows = [message_outcome.row for message_outcome in judged if message_outcome.row is not None]
    times = array("d", (row.seconds for row in rows if row.seconds is not None))
    first = array("d", (time for row in rows if (time := row.first_token_seconds) is not None))
    failures = [message_outcome for message_outcome in judged if message_outcome.outcome in _FAILURES]
    return {
        "timed": len(times),
        "mean": fsum(times) / len(times) if times else None,
        "max": max(times, default=None),
        **_percentiles(times, (50, 90, 95, 99)),
        **{f"first_token_{name}": value for name, value in _percentiles(first, (50, 95)).items()},
        "over_60_s": sum(time > MAX_SECONDS for time in times),
        "timeouts": sum(
            failure.row is not None and bool(_TIMEOUT.search(failure.row.error)) for failure in failures
        ),
        "failures": len(failures),
        "failure_share": share(len(failures), len(judged)),
    }


def _percentiles(times: array[float], which: tuple[int, ...]) -> dict[str, float | None]:
    times_at = percentiles(times, which) or {}
    return {f"p{p}": times_at.get(f"p{p}") for p in which}


def strict_metrics(
    every: Sequence[MessageOutcome], others: Sequence[Sequence[MessageOutcome]], data: ClassicData
) -> dict[str, Any]:
    """Cost, latency, accuracy and stability over all messages and by domain, workflows, and confusion matrix.

    Args:
        every: every message in every trial. Those that were never sent, or that ended with a provider error,
            are left out of accuracy and stability.
        others: the same from other orders of the candidates.
        data: the data.

    Returns:
        `n_messages`, `n_conversations`, `n_rows` (messages in all trials), `n_right` (of these), `trials`,
        the fields of `AskedCounts`, `outcomes` (each message by its first run that counts), the four axes as
        `axis -> domain:<id> -> numbers`, `workflows`, `confusion`, and `notes` (the reason for each number
        that is None).
    """
    judged = [message_outcome for message_outcome in every if is_scored(message_outcome.outcome)]
    pairs = pairs_of_orders(judged, others)
    table = workflow_table(judged, data)
    domains = [None, *sorted({message_outcome.example.domain for message_outcome in every})]
    axes: dict[str, dict[str, Any]] = {"cost": {}, "latency": {}, "accuracy": {}, "stability": {}}
    for domain in domains:
        name = f"domain:{domain or 'all'}"
        these = [
            message_outcome for message_outcome in every if domain in (None, message_outcome.example.domain)
        ]
        axes["cost"][name], axes["latency"][name] = cost(these), latency(these)
        axes["accuracy"][name] = {**accuracy(these), "macro_f1": macro_f1(table, domain)}
        between = [pair for pair in pairs if domain in (None, pair[0].example.domain)]
        axes["stability"][name] = stability(these, between)
    messages = by_message(every)
    outcomes = Counter(
        next(
            (message_outcome.outcome for message_outcome in unit if is_scored(message_outcome.outcome)),
            unit[0].outcome,
        )
        for unit in messages
    )
    return {
        "n_messages": len(messages),
        "n_conversations": len({message_outcome.example.conversation for message_outcome in every}),
        "n_rows": len(every),
        "n_right": sum(message_outcome.right for message_outcome in judged),
        "trials": len({message_outcome.trial for message_outcome in every}),
        **AskedCounts.of(outcomes).to_json(),
        "outcomes": dict(sorted(outcomes.items())),
        **axes,
        "workflows": table,
        "confusion": confusion(judged),
        "notes": _notes(axes, outcomes),
    }


def _notes(axes: dict[str, dict[str, Any]], outcomes: Counter[str]) -> dict[str, str]:
    """The reasons for missing numbers and for unexpected counts."""
    cost, latency, stable = (axes[axis]["domain:all"] for axis in ("cost", "latency", "stability"))
    unasked = f"{outcomes[MISSING]} messages have no row in any trial: counted as wrong"
    notes = (
        ("cost", cost["usd"] is None, "no row says what it cost"),
        ("latency", not latency["timed"], "no row says how long it took"),
        ("stability", stable["trials"] < 2, "one trial says nothing of repeats: run with --trials K"),
        ("order", stable["order"] is None, "nothing was asked with another order of the candidates"),
        ("accuracy", outcomes[MISSING] > 0, unasked),
    )
    return {name: text for name, is_missing, text in notes if is_missing}
