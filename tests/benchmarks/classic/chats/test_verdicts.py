"""A real majority: what the published cleaning meant to take and did not."""

from __future__ import annotations

import pytest

from toolassay.benchmarks.classic.chats.merge import majority_label
from toolassay.benchmarks.classic.chats.workbook import Annotation

NONE, EMPTY = "", None


def votes(*labels: str | None) -> dict[str, Annotation]:
    return {f"annotator {number}": Annotation(label) for number, label in enumerate(labels)}


@pytest.mark.parametrize(
    ("labels", "label", "voters", "conflict"),
    [
        (("w0", "w1", "w1"), "w1", 3, ""),
        ((NONE, NONE, "w1"), NONE, 3, ""),
        ((NONE, EMPTY, "w1"), None, 2, "a tie"),
        ((EMPTY, EMPTY), None, 0, "no annotator chose"),
        (("w0", "w1"), None, 2, "a tie"),
        (("w0", "w1", "w2", "w2"), None, 4, "no majority"),
        (("w0", "w1", "w2"), None, 3, "a tie"),
    ],
)
def test_the_label(labels: tuple[str | None, ...], label: str | None, voters: int, conflict: str) -> None:
    verdict = majority_label(votes(*labels))
    assert (verdict.label, verdict.voters, verdict.conflict) == (label, voters, conflict)


@pytest.mark.parametrize(
    ("labels", "label"),
    [(("w1", "w0"), "w1"), (("w0", "w1", "w2", "w2"), "w2"), (("w3", "w1", "w2", "w2", "w1"), "w1")],
)
def test_a_conflict_can_be_settled(labels: tuple[str, ...], label: str) -> None:
    verdict = majority_label(votes(*labels), settle=True)
    assert verdict.label == label and verdict.conflict
    assert majority_label(votes(EMPTY), settle=True).label is None


@pytest.mark.parametrize(
    ("answers", "second"),
    [
        ([("w1", "w2"), ("w1", "w2"), ("w1", None)], "w2"),
        ([("w1", "w2"), ("w1", None), ("w1", None)], ""),
        ([("w1", None), ("w2", "w1"), ("w1", "w2")], "w2"),
        ([("", None), ("", None), ("w1", None)], ""),
        ([("w1", "w3"), ("w1", "w2")], ""),
    ],
)
def test_the_second_label(answers: list[tuple[str | None, str | None]], second: str) -> None:
    given = {str(number): Annotation(*answer) for number, answer in enumerate(answers)}
    assert majority_label(given).second == second
