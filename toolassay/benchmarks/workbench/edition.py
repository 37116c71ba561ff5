"""The editions of WorkBench: what the programs of 2024 and of 2026 ("WorkBench Revisited") do differently."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import msgspec


@dataclass(frozen=True, eq=False)
class Edition:
    """How the published tools answer and how `compat` judges. The defaults of flags are those of 2024.

    Attributes:
        name: in `benchmark.json`, signatures, metrics and `published.csv`.
        layout: the folder below `processed/` with its tasks, which is also the ending of their files.
        task_version: the version of the tasks in that folder; others are in folders of their names below it.
        replies: what tools reply if nothing is found, and to a plot of an unknown value or type.
        texts: descriptions of arguments that differ, by "tool argument".
        gives_json: tools return JSON text, in which a missing cell is NaN, instead of Python objects.
        is_literal: searches take their text as it is, not as a pattern; that for tasks minds case and returns
            200 at most.
        searches_ends: the lower bound of a search for events is compared with their end, not their start.
        appends_mail: sent mail is always a new row, with an id of eight digits, and can be searched.
        converts_durations: an average over all visits turns their durations into numbers, for later calls.
        counts_failures: a call that is unknown or fails makes a run incorrect. Values are read as texts.
        is_ordered: order and labels of rows count.
        harmless: domains whose changes are no side effects.
        plot_end: an end of plots that counts as another one: that end and the other, as call texts.
    """

    name: str
    layout: str
    task_version: str
    replies: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)
    gives_json: bool = False
    is_literal: bool = False
    searches_ends: bool = False
    appends_mail: bool = False
    converts_durations: bool = True
    counts_failures: bool = False
    is_ordered: bool = True
    harmless: frozenset[str] = frozenset()
    plot_end: tuple[str, str] | None = None

    @property
    def facts(self) -> dict[str, str]:
        """The part of signatures, manifests and metrics; none for 2024, whose scores never named it."""
        return {} if self.name == PUBLISHED.name else {"edition": self.name}

    def result(self, value: Any) -> Any:
        """What a tool returns, as the agent gets it."""
        return json.dumps(_with_nan(value)) if self.gives_json and not isinstance(value, str) else value

    def judged_calls(self, calls: Iterable[str]) -> tuple[str, ...]:
        """Calls as `compat` replays them."""
        if self.plot_end is None:
            return tuple(calls)
        return tuple(
            text.replace(*self.plot_end) if text.startswith("analytics.create_plot") else text
            for text in calls
        )


def _with_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_nan(item) for item in value]
    if isinstance(value, dict):
        return {name: float("nan") if cell is None else cell for name, cell in value.items()}
    return value


EDITIONS = {
    edition.name: edition
    for edition in msgspec.json.decode(
        files(__package__).joinpath("editions.json").read_bytes(), type=tuple[Edition, ...]
    )
}
"""Every edition by its name; of two with one layout, the first is that of a folder that names none. In
that of 2026, since July, plots may end on the last day with data or today.
"""
PUBLISHED = EDITIONS["2024"]
