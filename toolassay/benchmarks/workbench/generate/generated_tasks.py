"""The 690 requests of a seed with their ground-truth calls, the proof of each request, and the test
whether tasks have these wordings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from glob import escape

from toolassay.benchmarks.workbench.calls import run_text

# These two define the templates.
from toolassay.benchmarks.workbench.generate import templates  # noqa: F401
from toolassay.benchmarks.workbench.generate.company import SeededRandom, Tables, texts
from toolassay.benchmarks.workbench.generate.draft import TASKS, TEMPLATES, Draft, Template, Unusable
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import ToolFailure
from toolassay.errors import ToolassayError

_TRIES = 20_000  # draws per template; a seed that needs more has too few fitting rows


class NoRoom(ToolassayError):
    """The tables have too few rows for a template's ten requests."""


def draw_tasks(tables: Tables, seed: int) -> list[Task]:
    """Draw ten different requests for each template.

    Raises:
        ToolassayError: the tables of this seed do not allow a template's mix of calls.
    """
    tasks: list[Task] = []
    for group, kinds in TEMPLATES.items():
        number = 0
        for template in kinds:
            for place, (gaps, calls) in enumerate(_fillings(template, tables, seed)):
                number += 1
                wording = template.wordings[place % len(template.wordings)]
                tasks.append(
                    Task(
                        query=wording.format(**gaps),
                        answer=calls,
                        base_template=template.wordings[0],
                        chosen_template=wording,
                        domains=template.domains,
                        group=group,
                        id=f"{group}-{number:03}",
                    )
                )
    return tasks


def _fillings(
    template: Template, tables: Tables, seed: int
) -> Iterator[tuple[dict[str, str], tuple[str, ...]]]:
    """Ten different fillings of a template, with the template's mix of calls."""
    rng = SeededRandom(seed, f"tasks/{template.name}")
    room, seen = Counter(template.mix._asdict()), set[tuple[str, ...]]()
    for _ in range(_TRIES):
        draft = Draft(tables, rng)
        try:
            calls = tuple(map(str, template.fill(draft)))
        except Unusable:
            continue
        # What makes a request unique: requests that differ only in the text of an e-mail count as equal.
        key = tuple(text for gap, text in draft.gaps.items() if not gap.endswith(("subject", "body")))
        if key in seen:
            continue
        size = ("none", "one", "many")[min(len(calls), 2)]
        if room[size]:
            room[size] -= 1
            seen.add(key)
            yield draft.gaps, calls
            if len(seen) == TASKS:
                return
    raise NoRoom(
        f"the tables of seed {seed} do not allow ten requests of the template {template.name}",
        fix="choose another seed",
    )


def prove_task(sandbox: Sandbox, task: Task) -> None:
    """Run the calls of a task on a copy of the sandbox.

    Raises:
        ToolassayError: a call fails or has no effect.
    """
    copy = sandbox.fork()
    try:
        for text in task.answer:
            before = copy.connection.total_changes
            run_text(copy, text)
            if copy.connection.total_changes == before:
                raise ToolassayError(f"{task.id}: no effect: {text}")
    except ToolFailure as failure:
        raise ToolassayError(f"{task.id}: {failure}") from failure
    finally:
        copy.close()


def has_our_wordings(tasks: Sequence[Task]) -> bool:
    """Whether at least half of the requests are worded by this generator.

    A task's own `chosen_template` counts only if its request is an instance of it; a reworded request is not.
    """
    groups = texts("wordings").values()
    known = {wording for group in groups for ways in group.values() for wording in ways}
    ours = [
        task.chosen_template in known and matches_wording(task.query, task.chosen_template) for task in tasks
    ]
    return 0 < len(tasks) <= 2 * sum(ours)


def matches_wording(request: str, wording: str) -> bool:
    """Whether a request is a wording with its gaps filled.

    >>> matches_wording("Cancel the Review of Ann.", "Cancel the {event} of {person}.")
    True
    >>> matches_wording("Please cancel Ann's Review.", "Cancel the {event} of {person}.")
    False
    """
    return fnmatchcase(request, re.sub(r"\{\w+\}", "*", escape(wording)))
