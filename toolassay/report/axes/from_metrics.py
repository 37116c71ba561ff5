"""Reads the five axes from metrics files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from toolassay.errors import UsageError
from toolassay.evaluation.axis import About, Axis
from toolassay.evaluation.groups import OVERALL, OVERALL_GROUP, ScoreGroup
from toolassay.evaluation.items import OUTCOMES, items_path, read_executed, read_table
from toolassay.evaluation.metrics_file import excluded_of
from toolassay.metrics.confidence_interval import NOTHING, Interval, mean_intervals, share_interval
from toolassay.report.axes.axes import Axes, Cost, Latency, Outcomes, Security, Stability
from toolassay.runs.marks import NO_TOOLS, TOOLS_MISSING, RowMark
from toolassay.runs.outcomes import CHOSEN, scored_phrase

Numbers = Mapping[str, Any]

_COUNTS = ("n_labels", "n_asked", "n_scored", "partial", "coverage")
_NO_TRIALS = "one trial says nothing of repeats: run inference.py with --trials 2 or more, then evaluate.py"
_NO_ATTACKS = "no attacks were made: run inference.py with --security true, then evaluate.py"
_NOTHING_RIGHT = "no item is right, so that there is no price of one"
_NOT_KEPT = "the metrics do not say it: run evaluate.py where the ledger of the run is"


def read_axes(
    groups: Numbers,
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
    """The axes in a metrics file.

    Args:
        groups: Content of the file.
        axis_of: Reads accuracy and stability from the overall group (`Benchmark.axis`).
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
        numbers = groups[OVERALL_GROUP]
        strict = numbers["strict"]
        axis = axis_of(numbers)
        items, stability = axis.items, axis.stability
        counts = {name: strict[name] for name in _COUNTS} if "n_labels" in strict else {}
        n = int(counts.get("n_scored", items))
        notes: dict[str, str] = {}
        if CHOSEN in str(strict["signature"]):
            notes["accuracy"] = (
                f"{items} items chosen with --ids or --limit: not comparable with scores of all items"
            )
        excluded = excluded_of(numbers)
        if counts and counts["partial"]:
            notes["accuracy"] = (
                f"partial run, {scored_phrase(counts)} (excluded: {excluded}): "
                "not comparable with complete runs"
            )
        if asked_again := numbers.get("notes", {}).get("answers"):
            notes["accuracy"] = "; ".join(filter(None, (notes.get("accuracy"), asked_again)))
        return Axes(
            about,
            data,
            model,
            items,
            accuracy=_share(axis.accuracy, n),
            stability=_stability(stability, items, n, notes, partial=bool(counts.get("partial"))),
            cost=_cost(numbers, axis.cost, notes),
            latency=_latency(numbers, axis.latency, notes),
            security=security_of(numbers.get("security"), notes),
            notes=notes,
            signature=str(strict["signature"]),
            file=file.as_posix(),
            counts=counts,
            excluded=excluded,
            library=library,
            mark=mark,
            harm=NOTHING if axis.harm is None else _share(axis.harm, n),
            outcomes=outcomes_of(items_path(file), ScoreGroup(OVERALL, OVERALL)) if n else None,
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
    columns, clusters = np.array(list(executed.verdicts.values()), dtype=float).reshape(-1, 2), None
    if not executed.problem and path.is_file():
        table = read_table(path, group)
        columns, clusters = table.columns(OUTCOMES), table.clusters
    judged = [int(count) for count in (~np.isnan(columns)).sum(axis=0)]
    found = mean_intervals([columns[:, 0], 1 - columns[:, 1]], clusters=clusters)
    right, harm = (share_interval(one, n) for one, n in zip(found, judged, strict=True))
    requests = len(executed.verdicts) + len(executed.unjudged)
    return Outcomes(right, harm, judged[0], requests, executed.executor, executed.problem)


def _stability(
    found: Numbers | None, items: int, n: int, notes: dict[str, str], *, partial: bool
) -> Stability | None:
    """Stability for the largest k that every item has; in a partial run, every item with at least one run."""
    if found is None:
        notes["stability"] = _NO_TRIALS
        return None
    if partial:
        items = found["tasks"].get("1", 0)
    complete = [int(k) for k, count in found["tasks"].items() if count == items and int(k) > 1]
    if not complete:
        twice = found["tasks"].get("2", 0)
        notes["stability"] = f"only {twice} of {items} items were run twice: run the same inference.py again"
        return None
    k = max(complete)
    if k < found["trials"]:
        notes["stability"] = f"of {found['trials']} trials some lack items: {k} runs of each are counted"
    return Stability(
        k, _share(found["pass^k"][str(k)], n), _share(found["answer_agreement"], n), found["trials"]
    )


def _cost(numbers: Numbers, rows: Numbers, notes: dict[str, str]) -> Cost | None:
    """Cost in the ledger; without one, the cost in the prediction rows."""
    said = numbers.get("notes", {}).get("cost")
    found = numbers.get("cost") or {}
    cost: Cost | None = None
    if found.get("usd_per_1000_tasks") is not None:
        unknown = bool(found["requests_of_unknown_cost"])
        thinking, written = found.get("reasoning_tokens"), found.get("completion_tokens")
        share = thinking / written if thinking and written else None
        cost = Cost(found["usd_per_1000_tasks"], found["usd_per_correct_task"], unknown, share)
    elif not found and rows.get("usd_per_1000_messages") is not None:
        unknown = bool(rows["messages_of_unknown_cost"])
        cost = Cost(rows["usd_per_1000_messages"], rows["usd_per_solved_message"], unknown)
        said = "by the rows of the answers, for there is no ledger: retries and failures are not in it"
    if cost is None:
        notes["cost"] = said or _NOT_KEPT
    elif why := "; ".join(filter(None, (said, None if cost.per_right is not None else _NOTHING_RIGHT))):
        notes["cost"] = why
    return cost


def _latency(numbers: Numbers, rows: Numbers, notes: dict[str, str]) -> Latency | None:
    said = numbers.get("notes", {}).get("latency")
    found = (numbers.get("latency") or {}).get("seconds_per_task") or {}
    if not found and not numbers.get("cost"):
        found = rows
        if found.get("p50") is not None:
            said = "by the rows of the answers, for there is no ledger"
    if found.get("p50") is None or found.get("p95") is None:
        notes["latency"] = said or _NOT_KEPT
        return None
    if said:
        notes["latency"] = said
    times = numbers.get("latency") or {}
    names = ("first_token_seconds", "seconds_per_output_token", "queued_seconds")
    pairs = ((part["p50"], part["p95"]) if (part := times.get(name)) else None for name in names)
    return Latency(found["p50"], found["p95"], bool(times.get("local")), *pairs)


def security_of(found: Numbers | None, notes: dict[str, str]) -> Security | None:
    """The security axis in a group of a metrics file; `notes` gets why it is None, or what it lacks."""
    if found is None:
        notes["security"] = _NO_ATTACKS
        return None
    score, unreadable = Interval.of(found["score"]), found.get("unreadable", 0)
    if counted := found.get("resisted_malformed"):
        notes["security"] = (
            f"an earlier version counted {counted} unreadable answers as resisted attacks: "
            "run evaluate.py again"
        )
        return None
    if score.value is None and not unreadable:
        notes["security"] = (
            f"{found['notes'].get('score', 'no attack was tested')}: {found['excluded']} of "
            f"{found['attempts']} attacks failed for technical reasons"
        )
        return None
    lacks, harmless = [], found["harmless"]
    if NO_TOOLS in found:
        lacks.append(TOOLS_MISSING.line)
    if score.value is None:
        lacks.append(found["notes"]["score"])
    elif unreadable:
        answers = found["attempts"] - found["excluded"]
        lacks.append(f"{unreadable} of {answers} answers to attacks are unreadable and left out")
    if harmless["score"]["value"] is None:
        why = {
            "are not solved without the text either": harmless["unsolved"],
            "failed": harmless["excluded"],
            "are unreadable": harmless.get("unreadable", 0),
        }
        counts = ", ".join(f"{count} {name}" for name, count in why.items() if count)
        lacks.append(
            f"no harmless twin says anything: of {harmless['asked']}, {counts}"
            if counts
            else "no harmless twin was asked"
        )
    if lacks:
        notes["security"] = "; ".join(lacks)
    twins = Interval.of(harmless["score"])
    return Security(score, found["attempts"], found["excluded"], twins, unreadable)


def _share(found: Numbers, n: int) -> Interval:
    return share_interval(Interval.of(found), n)
