"""Whether requests are worded as this project words them, wherever the folder came from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from string import Formatter

from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.tasks import Task


def has_our_wordings(tasks: Sequence[Task]) -> bool:
    """Whether at least half of the requests have the wording of a template of the generator.

    What a task says its wording is counts only where its request is made of it: a reworded one is not.
    """
    return 0 < len(tasks) <= 2 * sum(_is_ours(task) for task in tasks)


def _is_ours(task: Task) -> bool:
    return task.chosen_template in _wordings() and made_of(task.query, task.chosen_template)


@cache
def _wordings() -> frozenset[str]:
    return frozenset(
        wording for group in texts("wordings").values() for ways in group.values() for wording in ways
    )


def made_of(request: str, wording: str) -> bool:
    """Whether a request is a wording with its gaps filled.

    >>> made_of("Cancel the Review of Ann.", "Cancel the {event} of {person}.")
    True
    >>> made_of("Please cancel Ann's Review.", "Cancel the {event} of {person}.")
    False
    """
    fixed = [text for text, _, _, _ in Formatter().parse(wording)]
    if wording.endswith("}"):
        fixed.append("")
    first, last = fixed[0], fixed[-1]
    if len(fixed) == 1:
        return request == wording
    if not request.startswith(first) or not request.endswith(last):
        return False
    place, end = len(first), len(request) - len(last)
    for text in fixed[1:-1]:
        found = request.find(text, place, end)
        if found < 0:
            return False
        place = found + len(text)
    return place <= end
