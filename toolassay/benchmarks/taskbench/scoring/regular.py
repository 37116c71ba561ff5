"""Scores most plans in both modes from one reading: the numbers of `compat` and `strict`, in less time.

A plan is regular if it calls no tool twice, every argument is a text, and every reference is all of its
argument and leads to another call of the plan. Then both modes match calls by their tool, and a reference is
right if it leads to a call of the same tool, so that calls are compared one by one. Other plans, and those of
temporal and schema graphs, are left to the two modes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from operator import contains, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from toolassay.benchmarks.taskbench.scoring.compat import (
    LITERAL_TYPES,
    PLACES,
    REFERENCE,
    Converted,
    content_type,
    published_steps_text,
)
from toolassay.benchmarks.taskbench.scoring.strict import HallucinationCounter
from toolassay.normalised_plan import OTHER, PlanReader, steps_text
from toolassay.tools import ToolLibrary

if TYPE_CHECKING:
    from toolassay.benchmarks.taskbench.scoring.regular_columns import RegularCounts, RegularPlan

_MOST_INVENTED = 1_000  # names of invented tools that are kept
_LONGEST_NAME = 200  # characters; models invent names without end, and their parts are the square of that
_LISTS = {list}
_task, _arguments, _ends = itemgetter("task"), itemgetter("arguments"), itemgetter("source", "target")


class RegularItem(NamedTuple):
    """A label and a prediction whose plans are regular.

    Attributes:
        row: of the item in the next `RegularScorer.counts`.
        last: the argument that compat converts last.
        published_steps: the steps of gold and prediction as the published evaluator reads them.
        steps: the same as strict compares them.
    """

    row: int
    last: Converted | None
    published_steps: tuple[str, str]
    steps: tuple[str, str]


class _IrregularError(Exception):
    """A plan is not regular."""


def can_be_regular(library: ToolLibrary, output_types: Mapping[str, str]) -> bool:
    """Whether `RegularScorer` can distinguish the arguments of these tools.

    No id has "_", which compat and strict read differently, and no type continues another one with "-", for
    compat joins types and values by it.
    """
    types = _types(output_types)
    return not any("_" in name for name in library.ids) and not any(
        other.startswith(f"{kind}-") for kind in types for other in types
    )


def _types(output_types: Mapping[str, str]) -> frozenset[str]:
    return frozenset((*LITERAL_TYPES, *output_types.values(), OTHER))


class _Tools(dict[str, int]):
    """The number of each tool: its position in the library, or a number from there on for an invented one.

    Compat joins a tool, a type and a value by "-". A tool that continues the name of another one with a type
    has no number ("Painter-text" beside "Painter"), for the arguments of both may be spelled alike.

    Args:
        ids: the library.
        types: all types of arguments.

    Attributes:
        names: the name of each number.
    """

    def __init__(self, ids: Sequence[str], types: frozenset[str]) -> None:
        super().__init__()
        self.names = list(ids)
        self._types, self._continued = types, set[str]()
        self._most = len(ids) + _MOST_INVENTED
        for place, name in enumerate(ids):
            with suppress(_IrregularError):
                self._add(name, place)

    def __missing__(self, name: object) -> int:
        if not isinstance(name, str) or "_" in name or len(self.names) >= self._most:
            raise _IrregularError
        self._add(name, len(self.names))
        self.names.append(name)
        return self[name]

    def _add(self, name: str, place: int) -> None:
        if len(name) > _LONGEST_NAME:
            raise _IrregularError
        begun = {
            name[:at]
            for at, mark in enumerate(name)
            if mark == "-"
            for kind in self._types
            if f"{name[at + 1 :]}-".startswith(f"{kind}-") or kind.startswith(f"{name[at + 1 :]}-")
        }
        if name in self._continued or not begun.isdisjoint(self):
            raise _IrregularError
        self._continued |= begun
        self[name] = place


class RegularScorer:
    """Scores regular plans of resource graphs.

    Args:
        library: the tools, with their published ids (`can_be_regular`).
        output_types: the type of a reference in compat, by tool.
        reader: reads plans for the strict mode.
        inventions: knows which links exist.
    """

    def __init__(
        self,
        library: ToolLibrary,
        output_types: Mapping[str, str],
        reader: PlanReader,
        inventions: HallucinationCounter,
    ) -> None:
        # Late, for it imports numpy.
        from toolassay.benchmarks.taskbench.scoring.regular_columns import RegularColumns, RegularPlan

        self._tools = _Tools(library.ids, _types(output_types))
        self._output_types, self._reader, self._plan = output_types, reader, RegularPlan
        self._columns = RegularColumns(len(library), output_types, reader, inventions.link_exists)

    def read(self, label: Mapping[str, Any], result: Any, *, is_same: bool) -> RegularItem | None:
        """Read a label and a prediction; None unless both plans are regular.

        Args:
            label: the label, in the repository's form.
            result: the predicted plan, a JSON value of any form.
            is_same: whether the plan is known to be that of the label (`same_plan`).
        """
        try:
            gold = self._read(label)
            predicted = gold if is_same else self._read(result)
        except (_IrregularError, KeyError, TypeError, IndexError, RecursionError):
            return None
        return RegularItem(
            self._columns.add(gold, predicted),
            self._last(predicted) or self._last(gold),
            (gold.published_steps, predicted.published_steps),
            (gold.steps, predicted.steps),
        )

    def forget(self) -> None:
        """Forget the items that were read."""
        self._columns.forget()

    def counts(self) -> RegularCounts:
        """The counts of the items read since the last call; row n is that of item n."""
        return self._columns.counts(self._tools.names)

    def _read(self, value: Any) -> RegularPlan:
        """The plan in a JSON object.

        Raises:
            _IrregularError, KeyError, TypeError, IndexError, RecursionError: it is not regular.
        """
        nodes, steps, number_of = value["task_nodes"], value["task_steps"], self._tools.__getitem__
        if type(nodes) is not list or not nodes or type(steps) is not list or not steps:
            raise _IrregularError
        tools = list(map(number_of, map(_task, nodes)))
        if len(set(tools)) < len(tools):
            raise _IrregularError
        try:
            lines = published = "\n".join(steps)
        except TypeError:
            lines, published = steps_text(steps) or "", published_steps_text(steps)
        listed = value["task_links"]
        if type(listed) is not list:
            raise _IrregularError
        ends = list(chain.from_iterable(map(_ends, listed)))
        try:
            links = list(map(number_of, ends))
        except _IrregularError:
            links = list(map(number_of, map(self._reader.name, ends)))
        given = list(map(_arguments, nodes))
        if set(map(type, given)) != _LISTS:
            raise _IrregularError
        texts = list(chain.from_iterable(given))
        joined = "\0".join(texts)  # raises for what is no text
        if "<" in joined:
            found = sum(map(_references(len(nodes)).__contains__, texts))
            # Each "<" begins a reference, or else the references are counted, which takes longer.
            if found != joined.count("<") and found != joined.count(REFERENCE):
                raise _IrregularError
            if found and any(map(contains, given, PLACES)):  # a reference of a call to itself
                raise _IrregularError
        return self._plan(tools, list(map(len, given)), texts, links, lines, published)

    def _last(self, plan: RegularPlan) -> Converted | None:
        """The argument that compat converts last."""
        if not plan.texts:
            return None
        text = plan.texts[-1]
        if text in PLACES:
            name = self._tools.names[plan.tools[PLACES[text]]]
            return Converted(self._output_types.get(name, OTHER), name)
        return Converted(content_type(text), text)


@cache
def _references(calls: int) -> frozenset[str]:
    """The references to calls of a plan with so many."""
    return frozenset(text for text, place in PLACES.items() if place < calls)
