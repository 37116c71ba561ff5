"""The strict metrics of an agent by axis and domain, with cost and latency."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData
from toolassay.benchmarks.classic.scoring.compat import MAX_SECONDS
from toolassay.benchmarks.classic.scoring.prediction_rows import PredictionRow
from toolassay.benchmarks.classic.scoring.strict.accuracy import accuracy, confusion, macro_f1, workflow_table
from toolassay.benchmarks.classic.scoring.strict.outcomes import MessageOutcome
from toolassay.benchmarks.classic.scoring.strict.stability import pairs_of_orders, stability
from toolassay.runs.ledger import percentiles
from toolassay.runs.outcomes import MISSING, asked_counts, is_scored


def cost(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """Cost and tokens of the answers, as recorded in their rows.

    Retries and requests without an answer have no row; their cost is in the ledger of the run.

    Returns:
        `usd` (the sum), `usd_per_message`, `usd_per_1000_messages`, `usd_per_solved_message`,
        `usd_per_conversation`, `messages_of_unknown_cost` (left out of the means), `prompt_tokens`,
        `completion_tokens`. A message counts once per trial. None if no row has the value.
    """
    known = [one for one in judged if one.row is not None and one.row.cost is not None]
    usd = _sum(known, lambda row: row.cost)
    runs = [one for one in judged if one.row is not None]
    conversations = {(one.example.conversation, one.trial) for one in known}
    per_message = _over(usd, len(known))
    return {
        "usd": usd,
        "usd_per_message": per_message,
        "usd_per_1000_messages": None if per_message is None else 1000 * per_message,
        "usd_per_solved_message": _over(usd, sum(one.right for one in known)),
        "usd_per_conversation": _over(usd, len(conversations)),
        "messages_of_unknown_cost": len(runs) - len(known),
        "prompt_tokens": _sum(runs, lambda row: row.tokens_input),
        "completion_tokens": _sum(runs, lambda row: row.tokens_output),
    }


def _sum(judged: Sequence[MessageOutcome], value: Callable[[PredictionRow], float | None]) -> float | None:
    found = [number for one in judged if one.row is not None and (number := value(one.row)) is not None]
    return fsum(found) if found else None


def _over(usd: float | None, count: int) -> float | None:
    return None if usd is None or not count else usd / count


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
    rows = [one.row for one in judged if one.row is not None]
    times = array("d", (row.seconds for row in rows if row.seconds is not None))
    first = array("d", (time for row in rows if (time := row.first_token_seconds) is not None))
    failures = [one for one in judged if one.outcome in _FAILURES]
    return {
        "timed": len(times),
        "mean": fsum(times) / len(times) if times else None,
        "max": max(times, default=None),
        **_percentiles(times, (50, 90, 95, 99)),
        **{f"first_token_{name}": value for name, value in _percentiles(first, (50, 95)).items()},
        "over_60_s": sum(time > MAX_SECONDS for time in times),
        "timeouts": sum(one.row is not None and bool(_TIMEOUT.search(one.row.error)) for one in failures),
        "failures": len(failures),
        "failure_share": len(failures) / len(judged) if judged else None,
    }


def _percentiles(times: array[float], which: tuple[int, ...]) -> dict[str, float | None]:
    found = percentiles(times, which) or {}
    return {f"p{p}": found.get(f"p{p}") for p in which}


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
        `n_messages`, `n_conversations`, `n_rows` (messages in all trials), `n_right`, `trials`, the fields of
        `asked_counts`, `outcomes`, the four axes as `axis -> domain:<id> -> numbers`, `workflows`,
        `confusion`, and `notes` (the reason for each number that is None).
    """
    judged = [one for one in every if is_scored(one.outcome)]
    pairs = pairs_of_orders(judged, others)
    table = workflow_table(judged, data)
    domains = [None, *sorted({one.example.domain for one in every})]
    axes: dict[str, dict[str, Any]] = {"cost": {}, "latency": {}, "accuracy": {}, "stability": {}}
    for domain in domains:
        chosen = [one for one in judged if domain in (None, one.example.domain)]
        name = f"domain:{domain or 'all'}"
        labelled = [one for one in every if domain in (None, one.example.domain)]
        axes["cost"][name] = cost(labelled)
        axes["latency"][name] = latency(labelled)
        axes["accuracy"][name] = {
            **accuracy(labelled),
            "macro_f1": macro_f1(table, domain) if chosen else None,
        }
        axes["stability"][name] = stability(
            labelled, [pair for pair in pairs if domain in (None, pair[0].example.domain)]
        )
    outcomes = Counter(one.outcome for one in every)
    return {
        "n_messages": len({one.example.id for one in every}),
        "n_conversations": len({one.example.conversation for one in every}),
        "n_rows": len(every),
        "n_right": sum(one.right for one in judged),
        "trials": len({one.trial for one in every}),
        **asked_counts(outcomes),
        "outcomes": dict(sorted(outcomes.items())),
        **axes,
        "workflows": table,
        "confusion": confusion(judged),
        "notes": _notes(axes, outcomes),
    }


def _notes(axes: dict[str, dict[str, Any]], outcomes: Counter[str]) -> dict[str, str]:
    """The reasons for missing numbers and for unexpected counts."""
    whole = {axis: found["domain:all"] for axis, found in axes.items()}
    notes = {}
    if whole["cost"]["usd"] is None:
        notes["cost"] = "no row says what it cost"
    if not whole["latency"]["timed"]:
        notes["latency"] = "no row says how long it took"
    if whole["stability"]["trials"] < 2:
        notes["stability"] = "one trial has no repeats: run with --trials K"
    if whole["stability"]["order"] is None:
        notes["order"] = "nothing was asked with another order of the candidates"
    if outcomes[MISSING]:
        notes["accuracy"] = f"{outcomes[MISSING]} messages have no row in a trial: counted as wrong"
    return notes
