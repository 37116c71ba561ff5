from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from toolassay.benchmarks.workbench.generate.company import draw_tables
from toolassay.benchmarks.workbench.generate.generated_tasks import (
    draw_tasks,
    has_our_wordings,
    matches_wording,
)
from toolassay.benchmarks.workbench.tasks import Task, read_tasks


@pytest.fixture(scope="module")
def bundled(root: Path) -> list[Task]:
    return read_tasks(root / "data_workbench")


def test_the_bundled_requests_are_ours_and_so_are_those_of_another_seed(bundled: list[Task]) -> None:
    assert has_our_wordings(bundled) and has_our_wordings(bundled[:3])
    assert has_our_wordings(draw_tasks(draw_tables(2), 2))


def test_reworded_requests_are_not_ours_whatever_they_say_of_their_template(bundled: list[Task]) -> None:
    reworded = [replace(task, query=f"Hi Robin, {task.query.lower()} Thanks!") for task in bundled]
    assert not has_our_wordings(reworded)
    most = [*reworded[:400], *bundled[400:]]
    assert not has_our_wordings(most) and has_our_wordings([*reworded[:300], *bundled[300:]])


def test_the_published_requests_are_not_ours(reference: Path) -> None:
    assert not has_our_wordings(read_tasks(reference / "workbench"))


@pytest.mark.parametrize(
    ("request_", "wording", "expected"),
    [
        ("Cancel the Review of Ann.", "Cancel the {event} of {person}.", True),
        ("Cancel the Review.", "Cancel the {event} of {person}.", False),
        ("Cancel Review", "Cancel {event}", True),
        ("Review: cancel it", "{event}: cancel it", True),
        ("Cancel it", "Cancel it", True),
        ("Cancel it now", "Cancel it", False),
        ("ab", "{x}ab{y}b", False),  # what ends the wording is not found twice
        ("abb", "{x}ab{y}b", True),
    ],
)
def test_a_request_is_made_of_a_wording_where_its_fixed_texts_follow_each_other(
    request_: str, wording: str, expected: bool
) -> None:
    assert matches_wording(request_, wording) is expected
