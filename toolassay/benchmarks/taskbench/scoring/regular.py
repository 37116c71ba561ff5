"""Scores most plans in both modes from one reading: the numbers of `compat` and `strict`, in less time.

A plan is regular if it calls no tool twice, every argument is a text, and every reference is all of its
argument and leads to another call of the plan. Then both modes match calls by their tool, and a reference is
right if it leads to a call of the same tool, so that calls are compared one by one. Other plans, and those of
temporal and schema graphs, are left to the two modes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from rapidfuzz.distance import Indel, LCSseq

from toolassay.benchmarks.taskbench.scoring.compat import (
    PLACES,
    CompatItem,
    Converted,
    content_type,
    published_steps_text,
)
from toolassay.benchmarks.taskbench.scoring.strict import (
    HallucinationCounter,
    Hallucinations,
    StrictItem,
)
from toolassay.evaluation.call_alignment import UNMATCHED
from toolassay.metrics.f1 import MatchCounts, match_counts, multiset_counts, set_counts, shared_count
from toolassay.normalised_plan import Argument, PlanReader, steps_text
from toolassay.tools import ToolLibrary

_MOST_INVENTED = 1_000  # names of invented tools that are kept

Source = tuple[str]
"""A reference: the name of the tool of the call that it leads to."""
Token = str | Source
"""An argument: a literal, or a reference."""


class RegularItem(NamedTuple):
    """The counts of one item in both modes, the inventions of its prediction, and the steps of gold and
    prediction as strict compares them.
    """

    compat: CompatItem
    strict: StrictItem
    inventions: Hallucinations
    steps: tuple[str, str]


class _IrregularError(Exception):
    """A plan is not regular."""


class _Positions(dict[str, int]):
    """The position of each tool in the library, -1 for an invented one."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__((name, place) for place, name in enumerate(ids))
        self._most = len(self) + _MOST_INVENTED

    def __missing__(self, name: object) -> int:
        if not isinstance(name, str) or "_" in name or len(self) >= self._most:
            raise _IrregularError
        self[name] = -1
        return -1


@dataclass(slots=True)
class _RegularPlan:
    """A regular plan.

    Attributes:
        names: the tool of each call.
        positions: their positions in the library.
        tokens: the arguments of each call.
        links: the listed links as pairs of tools.
        steps: the steps as lines of text.
        published_steps: the same as the published evaluator reads them.
        types: each argument in compat, without its value.
        values: each argument in compat, with its value.
        sources: the links in compat, those of references.
        last: the last argument.
    """

    names: list[str]
    positions: list[int]
    tokens: list[list[Token]]
    links: list[tuple[str, str]]
    steps: str
    published_steps: str
    types: list[str]
    values: list[str]
    sources: list[tuple[str, str]]
    last: Converted | None


class RegularScorer:
    """Scores regular plans of resource graphs.

    Args:
        library: the tools, with their published ids, none of which has "_".
        output_types: the type of a reference in compat, by tool.
        reader: reads plans for the strict mode.
        inventions: counts invented links.
        with_steps: whether steps are compared.
    """

    def __init__(
        self,
        library: ToolLibrary,
        output_types: Mapping[str, str],
        reader: PlanReader,
        inventions: HallucinationCounter,
        *,
        with_steps: bool,
    ) -> None:
        self._positions = _Positions(library.ids)
        self._output_types, self._reader, self._inventions = output_types, reader, inventions
        self._with_steps = with_steps

    def score(self, label: Mapping[str, Any], result: Any, *, is_same: bool) -> RegularItem | None:
        """The counts of a label and a prediction; None unless both plans are regular.

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
        own = {name: place for place, name in enumerate(gold.names)}
        matched = [own.get(name, UNMATCHED) for name in predicted.names]
        item = CompatItem(counts_arguments=True, is_scored=True, last=predicted.last or gold.last)
        if self._with_steps:
            item.steps = gold.published_steps, predicted.published_steps
        item.argument_names = set_counts(gold.types, predicted.types)
        item.argument_values = set_counts(gold.values, predicted.values)
        item.links = set_counts(gold.sources, predicted.sources)
        names, values = self._argument_counts(gold, predicted, matched)
        nodes, similarity = _compare_names(item, gold, predicted, matched)
        return RegularItem(
            item,
            StrictItem(nodes, multiset_counts(gold.links, predicted.links), names, values, similarity),
            self._inventions.counted(predicted.positions.count(-1), len(predicted.names), predicted.links),
            (gold.steps, predicted.steps),
        )

    def _read(self, value: Any) -> _RegularPlan:
        """The plan in a JSON object.

        Raises:
            _IrregularError, KeyError, TypeError, IndexError, RecursionError: it is not regular.
        """
        nodes, steps, position_of = value["task_nodes"], value["task_steps"], self._positions
        if type(nodes) is not list or not nodes or type(steps) is not list or not steps:
            raise _IrregularError
        names = [node["task"] for node in nodes]
        positions = list(map(position_of.__getitem__, names))
        if len(set(names)) < len(names):
            raise _IrregularError
        try:
            lines = published = "\n".join(steps)
        except TypeError:
            lines, published = steps_text(steps) or "", published_steps_text(steps)
        listed = value["task_links"]
        if type(listed) is not list:
            raise _IrregularError
        links = [(link["source"], link["target"]) for link in listed]
        try:
            list(map(position_of.__getitem__, chain.from_iterable(links)))  # raises for what is no name
        except _IrregularError:
            name_of = self._reader.name
            links = [(name_of(source), name_of(target)) for source, target in links]
            list(map(position_of.__getitem__, chain.from_iterable(links)))
        tokens: list[list[Token]] = []
        types: list[str] = []
        values: list[str] = []
        sources: list[tuple[str, str]] = []
        kind = shown = ""
        for place, (node, name) in enumerate(zip(nodes, names, strict=True)):
            given = node["arguments"]
            if type(given) is not list:
                raise _IrregularError
            own = given
            for at, text in enumerate(given):
                if type(text) is not str:
                    raise _IrregularError
                if "<node-" in text:
                    source = PLACES[text]
                    if source == place:
                        raise _IrregularError
                    shown = names[source]
                    kind = self._output_types.get(shown, "other")
                    sources.append((shown, name))
                    if own is given:
                        own = given.copy()
                    own[at] = (shown,)
                else:
                    kind, shown = content_type(text) if "." in text else "text", text
                key = f"{name}-{kind}"
                types.append(key)
                values.append(f"{key}-{shown}")
            tokens.append(own)
        last = Converted(kind, shown) if types else None
        return _RegularPlan(names, positions, tokens, links, lines, published, types, values, sources, last)

    def _argument_counts(
        self, gold: _RegularPlan, predicted: _RegularPlan, matched: Sequence[int]
    ) -> tuple[MatchCounts, MatchCounts]:
        """The argument names and values of strict."""
        wanted_total, given_total = len(gold.types), len(predicted.types)
        if gold is predicted:
            return match_counts(wanted_total, 0, 0), match_counts(wanted_total, 0, 0)
        names = values = 0
        for given, place in zip(predicted.tokens, matched, strict=True):
            if place == UNMATCHED:
                continue
            wanted = gold.tokens[place]
            if wanted == given:
                names += len(given)
                values += len(given)
                continue
            left, others = wanted.copy(), []
            for token in given:
                if token in left:
                    left.remove(token)
                    names += 1
                    values += 1
                else:
                    others.append(token)
            if left and others:
                mine, theirs = self._strict(left, gold.names), self._strict(others, gold.names)
                names += shared_count([name for name, _ in mine], [name for name, _ in theirs])
                values += shared_count(mine, theirs)
        return (
            match_counts(names, given_total - names, wanted_total - names),
            match_counts(values, given_total - values, wanted_total - values),
        )

    def _strict(self, tokens: list[Token], gold: list[str]) -> list[Argument]:
        """Arguments in strict: a reference to a tool that the gold lacks has no type of its own, for an extra
        call must not earn more than one outside the plan.
        """
        reader = self._reader
        return [
            reader.literal(token)
            if isinstance(token, str)
            else (reader.output_type(token[0]) if token[0] in gold else "other", token)
            for token in tokens
        ]


def _compare_names(
    item: CompatItem, gold: _RegularPlan, predicted: _RegularPlan, matched: Sequence[int]
) -> tuple[MatchCounts, float]:
    """Compare tools for compat. Returns the nodes and the edit similarity of strict."""
    shared = [place for place in matched if place != UNMATCHED]
    wanted, given, common = len(gold.names), len(predicted.names), len(shared)
    nodes = match_counts(common, given - common, wanted - common)
    item.right = [position for place in shared if (position := gold.positions[place]) >= 0]
    if common < given:
        places = zip(predicted.positions, matched, strict=True)
        item.extra = [position for position, place in places if place == UNMATCHED and position >= 0]
    if common < wanted:
        left = enumerate(gold.positions)
        item.absent = [position for place, position in left if place not in shared and position >= 0]
    if shared != sorted(shared):
        common = LCSseq.similarity(gold.names, [gold.names[place] for place in shared])
    total = wanted + given
    # To compat, all invented tools are one.
    if -1 in gold.positions and -1 in predicted.positions:
        item.similarity = Indel.normalized_similarity(gold.positions, predicted.positions)
    else:
        item.similarity = 1 - (total - 2 * common) / total
    return nodes, 2 * common / total
