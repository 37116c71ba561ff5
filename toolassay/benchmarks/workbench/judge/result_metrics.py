"""Metrics of one result file: the counts of the published evaluator, and strict means with 95 %
confidence intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from toolassay.benchmarks.workbench.judge.error_classes import CONTEXT_OVERFLOW, ITERATION_LIMIT, NOT_RUN
from toolassay.benchmarks.workbench.judge.evaluation import ResultFile, RunVerdict
from toolassay.metrics.confidence_interval import mean_intervals

_LONGEST_ERROR = 120


def metrics_of(file: ResultFile, verdicts: Sequence[RunVerdict]) -> dict[str, Any]:
    """The published counts and shares of one file.

    Args:
        file: gives the names of the model and of the tool selection.
        verdicts: one per row.

    Returns:
        The published counts. Each group (by number of wanted actions, template, domains) has `n`, `correct`
        and `side_effects`.
    """
    n = len(verdicts)
    correct = sum(v.correct for v in verdicts)
    effects = sum(v.side_effects for v in verdicts)
    exact = sum(v.classes.exact_match for v in verdicts)
    harmless = sum(not v.correct and not v.side_effects for v in verdicts)
    harmful = sum(not v.correct and v.side_effects for v in verdicts)
    return {
        "domain": _domain(verdicts),
        "model": file.model,
        "tool_selection": file.tool_selection,
        "n": n,
        "correct": correct,
        "accuracy_pct": percentage(correct, n),
        "side_effects": effects,
        "side_effects_pct": percentage(effects, n),
        "errors_without_side_effects": harmless,
        "errors_with_side_effects": harmful,
        "correct_with_side_effects": sum(v.correct and v.side_effects for v in verdicts),
        "exact_match": exact,
        "exact_match_pct": percentage(exact, n),
        "correct_not_exact": sum(v.correct and not v.classes.exact_match for v in verdicts),
        "exact_not_correct": sum(v.classes.exact_match and not v.correct for v in verdicts),
        **_class_counts(verdicts),
        "gt_no_actions": _group(v for v in verdicts if not v.task.answer),
        "gt_nonzero_actions": _group(v for v in verdicts if v.task.answer),
        "gt_two_or_more_actions": _group(v for v in verdicts if len(v.task.answer) > 1),
        **_error_counts(verdicts),
        "error_classes": error_classes(verdicts),
        "by_gt_action_count": _groups(verdicts, lambda v: len(v.task.answer)),
        "by_base_template": _groups(verdicts, lambda v: v.task.base_template),
        "by_domains_column": _groups(verdicts, lambda v: str(list(v.task.domains))),
        "upstream_stdout": (
            f"Accuracy: {_share(correct, n)}\n"
            f"Errors without unwanted side effects: {_share(harmless, n)}\n"
            f"Errors with unwanted side effects: {_share(harmful, n)}\n"
        ),
    }


def error_classes(verdicts: Sequence[RunVerdict]) -> dict[str, dict[str, float | None]]:
    """For each error class, the number of runs (`n`) and their percentage of all runs (`pct`).

    A run may be in several classes, and one with `no_actions` may be correct. A task that was not run is in
    none.
    """
    n = len(verdicts)
    classes = {
        "no_actions": sum(v.classes.no_actions and v.result.error != NOT_RUN for v in verdicts),
        "wrong_email": sum(v.classes.wrong_email for v in verdicts),
        "end_date": sum(v.classes.end_date_minor_error for v in verdicts),
        "meeting_start_time": sum(v.classes.meeting_start_time_error for v in verdicts),
        "iteration_limit": sum(v.result.error == ITERATION_LIMIT for v in verdicts),
        "context_overflow": sum(v.result.error == CONTEXT_OVERFLOW for v in verdicts),
    }
    return {name: {"n": count, "pct": percentage(count, n)} for name, count in classes.items()}


def percentage(part: int, whole: int) -> float | None:
    """A share in percent, rounded to two decimals; None if `whole` is 0.

    >>> percentage(1, 3)
    33.33
    """
    return round(100 * part / whole, 2) if whole else None


def _share(part: int, whole: int) -> str:
    return f"{percentage(part, whole)}% ({part} out of {whole})"


def _domain(verdicts: Sequence[RunVerdict]) -> str | None:
    """The group that all tasks belong to; None if they belong to several."""
    groups = {v.task.group for v in verdicts}
    return groups.pop() if len(groups) == 1 else None


def _class_counts(verdicts: Sequence[RunVerdict]) -> dict[str, int]:
    wrong_email = [v for v in verdicts if v.classes.wrong_email]
    end_date = [v for v in verdicts if v.classes.end_date_minor_error]
    start = [v for v in verdicts if v.classes.meeting_start_time_error]
    return {
        "no_actions_predicted": sum(v.classes.no_actions for v in verdicts),
        "failed_to_follow_react": sum(
            v.classes.no_actions and not v.correct and not v.side_effects for v in verdicts
        ),
        "wrong_email_total": len(wrong_email),
        "wrong_email_no_side_effects": sum(not v.side_effects for v in wrong_email),
        "wrong_email_with_side_effects": sum(
            v.side_effects and not v.classes.end_date_minor_error and not v.classes.meeting_start_time_error
            for v in wrong_email
        ),
        "end_date_minor_error_total": len(end_date),
        "end_date_minor_error_with_side_effects": sum(
            v.side_effects and not v.classes.wrong_email and not v.classes.meeting_start_time_error
            for v in end_date
        ),
        "meeting_start_time_error_total": len(start),
        "meeting_start_time_error_no_side_effects": sum(not v.side_effects for v in start),
        "meeting_start_time_error_with_side_effects": sum(v.side_effects for v in start),
    }


def _error_counts(verdicts: Sequence[RunVerdict]) -> dict[str, Any]:
    errors = Counter(v.result.error for v in verdicts if v.result.error)
    shown: Counter[str] = Counter()
    for text, count in errors.items():
        shown[text[:_LONGEST_ERROR]] += count
    return {
        "context_window_errors": errors[CONTEXT_OVERFLOW],
        "iteration_or_time_limit": errors[ITERATION_LIMIT],
        "any_error": errors.total(),
        "errors_by_text": dict(shown.most_common()),
    }


def _group(verdicts: Iterable[RunVerdict]) -> dict[str, int]:
    found = list(verdicts)
    return {
        "n": len(found),
        "correct": sum(v.correct for v in found),
        "side_effects": sum(v.side_effects for v in found),
    }


def _groups(
    verdicts: Sequence[RunVerdict], key: Callable[[RunVerdict], int | str]
) -> dict[str, dict[str, int]]:
    """Counts for each value of the key: numbers in ascending order, strings in order of appearance."""
    found: dict[int | str, list[RunVerdict]] = {}
    for verdict in verdicts:
        found.setdefault(key(verdict), []).append(verdict)
    names = sorted(found, key=lambda name: name if isinstance(name, int) else 0)
    return {str(name): _group(found[name]) for name in names}


def strict_metrics(verdicts: Sequence[RunVerdict]) -> dict[str, Any]:
    """Means of one file with 95 % confidence intervals.

    The bootstrap resamples templates, not single tasks: tasks of one template are not independent.

    Returns:
        `unwanted_changes` (a count) and, under `intervals`, `accuracy`, `side_effects`,
        `wanted_changes_made`, `made_changes_wanted` and `exact_match`: shares between 0 and 1, each with
        `value`, `low` and `high`.
    """
    import numpy as np

    templates = {name: number for number, name in enumerate({v.task.base_template: 0 for v in verdicts})}
    scores: dict[str, list[float | None]] = {
        "accuracy": [float(v.correct) for v in verdicts],
        "side_effects": [float(v.side_effects) for v in verdicts],
        "wanted_changes_made": [v.strict.wanted_made if v.strict else None for v in verdicts],
        "made_changes_wanted": [v.strict.made_wanted if v.strict else None for v in verdicts],
        "exact_match": [float(v.classes.exact_match) for v in verdicts],
    }
    intervals = mean_intervals(
        (np.array([np.nan if x is None else x for x in column]) for column in scores.values()),
        clusters=np.array([templates[v.task.base_template] for v in verdicts], dtype=np.int64),
    )
    return {
        "unwanted_changes": sum(len(v.strict.unwanted) for v in verdicts if v.strict),
        "intervals": {name: found.to_json() for name, found in zip(scores, intervals, strict=True)},
    }
