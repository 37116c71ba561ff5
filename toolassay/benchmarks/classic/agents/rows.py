"""Journal entries as rows of the prediction file, in the published columns and a few more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.inference import entry_of, is_settled
from toolassay.benchmarks.classic.data import Example
from toolassay.files import write_json_lines
from toolassay.runs import Journal

_TOLD = ("provider error", "not run")
"""Ends that are tried again by the same command; until then a row says so."""


def prediction_rows(
    examples: Iterable[Example], journal: Journal, *, trial: int, order: str, free: bool
) -> Iterator[dict[str, Any]]:
    """A row for each question that was asked, in the order of the table.

    Args:
        examples: of the folder.
        journal: of the run.
        trial: its number.
        order: of the candidates.
        free: whether the model uses no tokens; what nobody knows is null else.
    """
    for example in examples:
        entry = entry_of(journal, example.question)
        if not (is_settled(entry) or entry.get("outcome") in _TOLD):
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
            "error": entry.get("error", ""),
            "note": entry.get("note", ""),
            "order": order,
            "time_to_pred": _rounded(_sum(answers, "seconds"), 4),
            "time_to_first_token": _rounded(_first(answers), 4),
            "tokens_input": nothing if free else _sum(answers, "prompt_tokens"),
            "tokens_output": nothing if free else _sum(answers, "completion_tokens"),
            "cost": _rounded(_sum(answers, "cost"), 10),
        }


def write_predictions(output: Path, rows: Callable[[], Iterator[Mapping[str, Any]]]) -> int:
    """Write the prediction file anew; none where nothing was asked. Returns its lines."""
    return write_json_lines(output, rows()) if next(rows(), None) is not None else 0


def _sum(answers: Sequence[Mapping[str, Any]], name: str) -> Any:
    """Of all answers; None where there are none, or one of them does not say it."""
    values = [answer.get(name) for answer in answers]
    return sum(values) if values and None not in values else None


def _first(answers: Sequence[Mapping[str, Any]]) -> Any:
    """Seconds from the first request to the first token of the last answer, by which the choice shows."""
    if not answers or answers[-1].get("first_token_seconds") is None:
        return None
    before = _sum(answers[:-1], "seconds") if len(answers) > 1 else 0.0
    return None if before is None else before + answers[-1]["first_token_seconds"]


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
