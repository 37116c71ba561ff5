"""Counts many pairs of regular plans in both modes at once, column by column.

Calls, tools, texts and types are numbers; a predicted call has the number of the gold call of the same tool.
So an argument is one key of a call, a type and a value, and a link one of its two ends. Keys are compared as
sets for compat and as multisets for strict, and each different text is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rapidfuzz.distance import Indel, LCSseq

from toolassay.benchmarks.taskbench.scoring.compat import PLACES, content_type
from toolassay.normalised_plan import OTHER, TEXT, PlanReader, is_plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


class RegularPlan(NamedTuple):
    """A regular plan.

    Attributes:
        tools: the number of the tool of each call.
        sizes: the number of arguments of each call.
        texts: the arguments of all calls.
        links: the numbers of the tools of the listed links: source, target, source, target, …
        steps: the steps as lines of text.
        published_steps: the same as the published evaluator reads them.
    """

    tools: list[int]
    sizes: list[int]
    texts: list[str]
    links: list[int]
    steps: str
    published_steps: str


class RegularCounts(NamedTuple):
    """The counts of pairs of plans.

    Attributes:
        compat: the counts of `CompatTable`, shape (pairs, 9).
        compat_similarities: how similar the sequences of tools are in compat, shape (pairs,).
        tools: pairs and tools of the library: in both plans, only in the prediction, only in the gold.
        strict: the counts of `StrictTable`, shape (pairs, 16).
        strict_similarities: how similar the sequences of tools are in strict, shape (pairs,).
    """

    compat: Numbers
    compat_similarities: NDArray[np.float64]
    tools: tuple[tuple[Numbers, Numbers], ...]
    strict: Numbers
    strict_similarities: NDArray[np.float64]


class RegularColumns:
    """Collects pairs of regular plans, and counts them.

    Args:
        library: the number of tools in the library; tools from this number on are invented.
        output_types: the type of a reference in compat, by the name of the tool.
        reader: reads arguments for strict.
        link_exists: whether there is a link between two tools, by their names.
    """

    def __init__(
        self,
        library: int,
        output_types: Mapping[str, str],
        reader: PlanReader,
        link_exists: Callable[[str, str], bool],
    ) -> None:
        self._library, self._output_types, self._reader = library, output_types, reader
        self._link_exists = link_exists
        self._types = _Numbers()
        self.forget()

    def forget(self) -> None:
        """Forget the pairs."""
        self._gold, self._predicted = _Plans(), _Plans()

    def add(self, gold: RegularPlan, predicted: RegularPlan) -> int:
        """Add a pair. Returns its row in the next `counts`."""
        self._gold.add(gold)
        self._predicted.add(predicted)
        return len(self._gold.n_calls) - 1

    def counts(self, names: Sequence[str]) -> RegularCounts:
        """The counts of the pairs added since the last call, which are then forgotten.

        Args:
            names: the name of each tool.
        """
        pairs = _Pairs(_Side(self._gold), _Side(self._predicted), len(names))
        self.forget()
        gold, predicted, known = pairs.gold, pairs.predicted, self._library
        total, longest = gold.n_calls + predicted.n_calls, pairs.longest_common()
        similarities = 1 - (total - 2 * longest) / total
        invented = [pairs.sums(side.pair[side.tools >= known]) for side in (gold, predicted)]
        for pair in np.flatnonzero(invented[0] * invented[1]).tolist():
            # To compat, all invented tools are one.
            both = [np.minimum(side.tools_of(pair), known).tolist() for side in (gold, predicted)]
            similarities[pair] = Indel.normalized_similarity(*both)
        edges, hallucinations = self._link_counts(pairs, names, invented[1])
        arguments = self._argument_counts(pairs, names)
        chosen = (predicted, pairs.shared), (predicted, ~pairs.shared), (gold, pairs.absent)
        return RegularCounts(
            np.hstack(arguments[:3]),
            similarities,
            tuple(side.tools_among(which & (side.tools < known)) for side, which in chosen),
            np.hstack((pairs.nodes(), edges, *arguments[3:], hallucinations)),
            2 * longest / total,
        )

    def _link_counts(self, pairs: _Pairs, names: Sequence[str], invented: Numbers) -> tuple[Numbers, Numbers]:
        """The counts of listed links in strict, and the inventions of the predictions."""
        n_tools, predicted = len(names), pairs.predicted
        links = [side.sources * n_tools + side.targets for side in (pairs.gold, predicted)]
        keys = [side.link_pair * n_tools**2 + own for side, own in zip(pairs.sides, links, strict=True)]
        different, _ = _counted(links[1], as_sets=True)
        ends = (divmod(link, n_tools) for link in different.tolist())
        exist = np.array([self._link_exists(names[source], names[target]) for source, target in ends], bool)
        is_invented = ~exist[np.searchsorted(different, links[1])]
        hallucinations = (
            invented,
            predicted.n_calls,
            pairs.sums(predicted.link_pair[is_invented]),
            pairs.sums(predicted.link_pair),
        )
        edges = pairs.compared(keys, lambda keys: keys // n_tools**2, as_sets=False)
        return edges, np.stack(hallucinations, axis=1)

    def _argument_counts(self, pairs: _Pairs, names: Sequence[str]) -> list[Numbers]:
        """The counts of argument names, argument values and links in compat, and of the former in strict."""
        types = self._types
        other = types[OTHER]
        texts = _Texts([*pairs.gold.texts, *pairs.predicted.texts], types, self._reader)
        numbers = np.split(texts.numbers, [len(pairs.gold.texts)])
        references = [
            _References.of(side, texts.places[own]) for side, own in zip(pairs.sides, numbers, strict=True)
        ]
        # A reference has the type of its tool; in compat, its value is that of a text with the tool's name.
        published_to, types_to, number_of = np.zeros((3, len(names)), dtype=np.int64)
        for tool in {*references[0].tools.tolist(), *references[1].tools.tolist()}:
            name = names[tool]
            published_to[tool] = types[self._output_types.get(name, OTHER)]
            types_to[tool] = types[self._reader.output_type(name)]
            number_of[tool] = texts.number(name)
        n_calls, n_types, n_values = len(pairs.pair_of_call), len(types), texts.n_values
        n_strict_values = n_values + len(names)  # no literal equals a reference
        columns: list[list[Numbers]] = []
        for side, own, (at, targets, sources, tools) in zip(pairs.sides, numbers, references, strict=True):
            published, published_values = texts.published[own], own.copy()
            published[at], published_values[at] = published_to[tools], number_of[tools]
            kinds, values = texts.types[own], texts.values[own]
            # A reference to a tool that the gold lacks has no type of its own, for an extra call must not
            # earn more than one outside the plan.
            in_gold = side.call[sources] < len(pairs.gold.tools)
            kinds[at], values[at] = np.where(in_gold, types_to[tools], other), n_values + tools
            call = np.repeat(side.call, side.sizes) * n_types
            columns.append(
                [
                    call + published,
                    (call + published) * n_values + published_values,
                    side.call[targets] * n_calls + side.call[sources],
                    call + kinds,
                    (call + kinds) * n_strict_values + values,
                ]
            )
        per_call = (n_types, n_types * n_values, n_calls, n_types, n_types * n_strict_values)
        return [
            pairs.compared(keys, pairs.of_calls(size), as_sets=place < 3)
            for place, (size, *keys) in enumerate(zip(per_call, *columns, strict=True))
        ]


class _Numbers(dict[Hashable, int]):
    """Numbers things from 0 on, in the order in which they are asked for."""

    def __missing__(self, thing: Hashable) -> int:
        self[thing] = len(self)
        return self[thing]


class _Plans:
    """The gold plans of pairs, or the predicted ones, one after the other."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.tools: list[int] = []
        self.sizes: list[int] = []
        self.links: list[int] = []
        self.n_calls: list[int] = []
        self.n_links: list[int] = []

    def add(self, plan: RegularPlan) -> None:
        self.n_calls.append(len(plan.tools))
        self.n_links.append(len(plan.links) // 2)
        self.tools += plan.tools
        self.sizes += plan.sizes
        self.links += plan.links
        self.texts += plan.texts


class _Side:
    """The same as columns.

    Attributes:
        tools: the tool of each call.
        sizes: the number of its arguments.
        pair: its pair.
        call: its number; a predicted call shares that of the gold call of the same tool (`_Pairs`).
        n_calls: the number of calls of each plan.
        first: the first call of each plan.
        texts: the arguments of all calls.
        sources: the first end of each listed link.
        targets: the other end.
        link_pair: the pair of the link.
    """

    def __init__(self, plans: _Plans) -> None:
        self.tools, self.sizes, self.n_calls, links, n_links = (
            np.array(numbers, dtype=np.int64)
            for numbers in (plans.tools, plans.sizes, plans.n_calls, plans.links, plans.n_links)
        )
        rows = np.arange(len(self.n_calls))
        self.pair = np.repeat(rows, self.n_calls)
        self.call = np.arange(len(self.tools))
        self.first = np.cumsum(self.n_calls) - self.n_calls
        self.texts = plans.texts
        self.sources, self.targets = links.reshape(-1, 2).T
        self.link_pair = np.repeat(rows, n_links)

    def tools_of(self, pair: int) -> Numbers:
        """The tools of a plan."""
        return self.tools[self.first[pair] : self.first[pair] + self.n_calls[pair]]

    def tools_among(self, chosen: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
        """The pairs and the tools of the chosen calls."""
        return self.pair[chosen], self.tools[chosen]


class _Pairs:
    """Gold plans beside predicted ones. No plan has a tool twice, and both modes match calls by tools.

    Attributes:
        gold: the gold plans.
        predicted: the predicted plans.
        sides: both.
        matched: of each predicted call with a gold call of the same tool, that call.
        shared: whether a predicted call has one.
        absent: whether a gold call has no predicted one.
        pair_of_call: of each number of a call, the pair.
    """

    def __init__(self, gold: _Side, predicted: _Side, n_tools: int) -> None:
        self.gold, self.predicted, self.sides = gold, predicted, (gold, predicted)
        wanted, given = (side.pair * n_tools + side.tools for side in (gold, predicted))
        order = np.argsort(wanted)
        places, self.shared = _found(given, wanted[order])
        self.matched = order[places[self.shared]]
        self.absent = np.ones(len(wanted), dtype=bool)
        self.absent[self.matched] = False
        predicted.call += len(wanted)
        predicted.call[self.shared] = self.matched
        self.pair_of_call = np.concatenate((gold.pair, predicted.pair))

    def sums(self, pairs: Numbers, counts: Numbers | None = None) -> Numbers:
        """How often each pair occurs, or the sum of its counts."""
        return np.bincount(pairs, counts, len(self.gold.n_calls)).astype(np.int64)

    def nodes(self) -> Numbers:
        """The counts of calls, shape (pairs, 3)."""
        shared = self.sums(self.predicted.pair[self.shared])
        return np.stack((shared, self.predicted.n_calls - shared, self.gold.n_calls - shared), axis=1)

    def longest_common(self) -> Numbers:
        """The length of the longest common subsequence of the tools of each pair."""
        pair = self.predicted.pair[self.shared]
        longest = self.sums(pair)
        is_behind = (np.diff(self.matched) < 0) & (pair[1:] == pair[:-1])
        ends = np.cumsum(longest)
        for one in np.flatnonzero(self.sums(pair[1:][is_behind])).tolist():
            calls = self.matched[ends[one] - longest[one] : ends[one]].tolist()
            longest[one] = LCSseq.similarity(sorted(calls), calls)
        return longest

    def of_calls(self, keys_per_call: int) -> Callable[[Numbers], Numbers]:
        """Finds the pairs of keys that begin with a call."""
        return lambda keys: self.pair_of_call[keys // keys_per_call]

    def compared(
        self, keys: Sequence[Numbers], pair_of: Callable[[Numbers], Numbers], *, as_sets: bool
    ) -> Numbers:
        """The true positives, false positives and false negatives of each pair, shape (pairs, 3).

        Args:
            keys: those of the gold plans, and those of the predicted ones.
            pair_of: finds the pairs of keys.
            as_sets: whether a repeated key counts once.
        """
        (wanted, wanted_counts), (given, given_counts) = (_counted(own, as_sets=as_sets) for own in keys)
        places, is_shared = _found(given, wanted)
        shared = self.sums(
            pair_of(given[is_shared]), np.minimum(wanted_counts[places[is_shared]], given_counts[is_shared])
        )
        return np.stack(
            (
                shared,
                self.sums(pair_of(given), given_counts) - shared,
                self.sums(pair_of(wanted), wanted_counts) - shared,
            ),
            axis=1,
        )


def _found(keys: Numbers, ordered: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """The place of each key among ordered ones, and whether it is there. Keys are not negative."""
    places = np.searchsorted(ordered, keys)
    return places, np.append(ordered, -1)[places] == keys


def _counted(keys: Numbers, *, as_sets: bool) -> tuple[Numbers, Numbers]:
    """The different keys in order, and how often each counts."""
    keys = np.sort(keys)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.ones(len(starts), np.int64) if as_sets else np.diff(starts, append=len(keys))
    return keys[starts], counts


class _Texts:
    """What texts mean as arguments.

    Args:
        texts: the texts.
        types: numbers types.
        reader: reads literals for strict.

    Attributes:
        numbers: the number of each text, the same for the same text.
        places: of each number, the place of the call that the text refers to, -1 for a literal.
        published: of each number, the type of a literal in compat.
        types: the same in strict.
        values: of each number, the value of a literal in strict; a number, too.
    """

    def __init__(self, texts: Sequence[str], types: _Numbers, reader: PlanReader) -> None:
        self._number_of: dict[Any, int] = dict(zip(texts, range(len(texts)), strict=True))
        self.numbers = np.fromiter(map(self._number_of.__getitem__, texts), np.int64, len(texts))
        self.places = np.full(len(texts), -1)
        self.published, self.types = np.full((2, len(texts)), types[TEXT])
        self.values = np.arange(len(texts))
        unusual = [text for text in self._number_of if not is_plain(text)]
        places = [self._number_of[text] for text in unusual]
        self.places[places] = [PLACES.get(text, -1) for text in unusual]
        self.published[places] = [types[content_type(text)] for text in unusual]
        read = [reader.literal(text) for text in unusual]
        self.types[places] = [types[kind] for kind, _ in read]
        self.values[places] = [self.number(value) for _, value in read]

    def number(self, value: Hashable) -> int:
        """The number of a text or value."""
        return self._number_of.setdefault(value, len(self.numbers) + len(self._number_of))

    @property
    def n_values(self) -> int:
        return len(self.numbers) + len(self._number_of)


class _References(NamedTuple):
    """The references among the arguments of one side.

    Attributes:
        at: the places of the references among the arguments.
        targets: the calls that have them.
        sources: the calls that they lead to.
        tools: the tools of these.
    """

    at: Numbers
    targets: Numbers
    sources: Numbers
    tools: Numbers

    @classmethod
    def of(cls, side: _Side, places: Numbers) -> _References:
        """Find them; `places` has for each argument the call that it refers to, -1 for a literal."""
        at = np.flatnonzero(places >= 0)
        targets = np.repeat(np.arange(len(side.tools)), side.sizes)[at]
        sources = side.first[side.pair[targets]] + places[at]
        return cls(at, targets, sources, side.tools[sources])
