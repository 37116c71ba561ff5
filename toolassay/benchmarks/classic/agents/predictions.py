"""Converts journal entries to rows of the prediction file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.inference import entry_of, is_settled
from toolassay.benchmarks.classic.data import Example
from toolassay.files import write_json_lines
from toolassay.runs import Journal

_FAILED = ("provider error", "not run")
"""Outcomes that a continued run repeats; until then the prediction file has a row with the outcome."""


def prediction_rows(
    examples: Iterable[Example], journal: Journal, *, trial: int, order: str, free: bool
) -> Iterator[dict[str, Any]]:
    """One row per question that was sent, in the order of the table.

    Args:
        examples: of the folder.
        journal: of the run.
        trial: its number.
        order: of the candidates.
        free: whether the model uses no tokens, so that they count 0; unknown numbers are null otherwise.
    """
    for example in examples:
        entry = entry_of(journal, example.question)
        if not (is_settled(entry) or entry.get("outcome") in _FAILED):
            continue
        answers = entry.get("answers", ())
        nothing = 0 if free else None
        yield {
            "example_idx": example.number,
            "trial_idx": trial,
            "id": example.id,
            "conversation_uuid": example.conversation,
            "request_idx": example.request_idx,
            "domain_uuid": example.domain,
            "y_workflow_uuids": list(example.labels),
            "pred_workflow_uuid": entry.get("workflow"),
            "outcome": entry["outcome"],
            "error": entry.get("error") or entry.get("problem", ""),
            "note": entry.get("note", ""),
            "order": order,
            "time_to_pred": _rounded(_sum(answers, "seconds"), 4),
            "time_to_first_token": _rounded(_first(answers), 4),
            "tokens_input": nothing if free else _sum(answers, "prompt_tokens"),
            "tokens_output": nothing if free else _sum(answers, "completion_tokens"),
            "cost": _rounded(_sum(answers, "cost"), 10),
        }


def write_predictions(output: Path, rows: Callable[[], Iterator[Mapping[str, Any]]]) -> int:
    """Write the prediction file; nothing if no question was sent. Returns the number of lines."""
    return write_json_lines(output, rows()) if next(rows(), None) is not None else 0


def _sum(answers: Sequence[Mapping[str, Any]], name: str) -> Any:
    """The sum over all answers; None if there are none or one lacks the value."""
    values = [answer.get(name) for answer in answers]
    return sum(values) if values and None not in values else None


def _first(answers: Sequence[Mapping[str, Any]]) -> Any:
    """Seconds from the first request to the first token of the last answer, which contains the choice."""
    if not answers or answers[-1].get("first_token_seconds") is None:
        return None
    before = _sum(answers[:-1], "seconds") if len(answers) > 1 else 0.0
    return None if before is None else before + answers[-1]["first_token_seconds"]


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
