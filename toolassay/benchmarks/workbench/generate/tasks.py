"""The 690 requests of a seed, each with its ground-truth calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.templates import GROUPS, TASKS, Filled, Template
from toolassay.benchmarks.workbench.generate.world import World
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.errors import ToolassayError

_TRIES = 20_000


@dataclass(frozen=True)
class MadeTask(Task):
    """A task, and where it comes from.

    Args:
        id: unique, e.g. `calendar-007`.
        template: the name of its template.
    """

    id: str
    template: str

    def to_json(self) -> dict[str, Any]:
        """A line of `tasks.jsonl`."""
        return {
            "id": self.id,
            "query": self.query,
            "answer": list(self.answer),
            "base_template": self.base_template,
            "chosen_template": self.chosen_template,
            "domains": list(self.domains),
        }


class NoRoom(ToolassayError):
    """A workplace has too few cases of some request."""


def draw_tasks(world: World, seed: int) -> list[MadeTask]:
    """Ten requests for each template, no two alike.

    Raises:
        ToolassayError: the tables of this seed do not allow the mix of requests.
    """
    tasks: list[MadeTask] = []
    for group, templates in GROUPS.items():
        number = 0
        for template in templates:
            for place, filled in enumerate(_fillings(template, world, seed)):
                number += 1
                wording = template.wordings[place % len(template.wordings)]
                tasks.append(
                    MadeTask(
                        query=wording.format(**filled.slots),
                        answer=tuple(map(str, filled.calls)),
                        base_template=template.wordings[0],
                        chosen_template=wording,
                        domains=template.domains,
                        group=group,
                        id=f"{group}-{number:03}",
                        template=template.name,
                    )
                )
    return tasks


def _matter(filled: Filled) -> tuple[str, ...]:
    """What a request is about: requests that differ only in the words of an e-mail are alike."""
    return tuple(text for gap, text in filled.slots.items() if not gap.endswith(("subject", "body")))


def _fillings(template: Template, world: World, seed: int) -> Iterator[Filled]:
    """Ten different ways to fill a template, with the template's mix of calls."""
    dice = Dice(seed, f"tasks/{template.name}")
    room, seen = Counter(template.mix._asdict()), set[tuple[str, ...]]()
    for _ in range(_TRIES):
        filled = template.fill(world, dice)
        if filled is None or (key := _matter(filled)) in seen:
            continue
        size = ("none", "one", "many")[min(len(filled.calls), 2)]
        if room[size]:
            room[size] -= 1
            seen.add(key)
            yield filled
            if len(seen) == TASKS:
                return
    raise NoRoom(
        f"seed {seed} leaves no room for ten requests of the kind {template.name}", fix="take another seed"
    )
