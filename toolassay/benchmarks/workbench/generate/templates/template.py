"""What a template is: wordings with gaps, and how to fill the gaps and answer the request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from toolassay.benchmarks.workbench.calls import Call
from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.generate.world import World

TASKS = 10


class Mix(NamedTuple):
    """How many of a template's ten tasks need no call, one call, several calls."""

    none: int = 0
    one: int = 0
    many: int = 0


class Filled(NamedTuple):
    """Texts for the gaps of a template, and the calls that do what the request then says."""

    slots: Mapping[str, str]
    calls: tuple[Call, ...]


Fill = Callable[[World, Dice], Filled | None]
"""One random way to fill a template; None where the draw made no fair request."""


@dataclass(frozen=True)
class Template:
    """A kind of request.

    Args:
        name: unique among all templates.
        domains: whose tools the work may need, the reading ones included.
        mix: how many tasks need no call, one, several; ten together.
        fill: fills the gaps.
    """

    name: str
    domains: tuple[str, ...]
    mix: Mix
    fill: Fill = field(repr=False)

    @property
    def wordings(self) -> Sequence[str]:
        """Ways to say it (in `data/wordings.json`), each with every gap; the first is the base template."""
        group, name = self.name.split(".")
        wordings: Sequence[str] = texts("wordings")[group][name]
        return wordings


def call(name: str, **arguments: str) -> Call:
    """A ground-truth call; every value is text.

    >>> str(call("calendar.delete_event", event_id="00000007"))
    'calendar.delete_event.func(event_id="00000007")'
    """
    return Call(name, arguments)
