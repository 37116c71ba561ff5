"""Finds the dependencies of a library by an inverted index from things to the arguments that take them."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from toolassay.graph.dependencies import Dependency
from toolassay.graph.derive.descriptions import Similarity, described_fields, mentions
from toolassay.graph.derive.evidence import Match, ToolFields, link_score, match, reasons, route_fit, with_similarity
from toolassay.graph.derive.fields import (
    Given,
    Owner,
    Taken,
    given_fields,
    route_of,
    taken_fields,
    things_of_tool,
    verb_of,
)
from toolassay.graph.derive.names import IDENTITIES, Words
from toolassay.graph.derive.shapes import Shapes
from toolassay.graph.links import FieldPair
from toolassay.tools import ToolLibrary

LEAST = 0.15
"""Links with a lower score are not derived at all."""
_MOST_LINKS = 100  # links from one tool
_COMMON = 25  # tools that may give a thing in passing before that says little
_RARE = 0.05  # a thing that n tools list counts n to the power of minus this
_OFTEN, _MANY = 0.4, 30  # share of the tools, of at least so many, from which an argument is context
_LEAST_PART = 0.5  # of the best match that a further field must reach


class _Demand(NamedTuple):
    """An argument as several tools take it alike, and those tools."""

    taken: Taken
    tools: list[int]


class Derivation:
    """What is known of all tools of a library, and the links that follow from it.

    Args:
        library: The tools.
        progress: Called with the number of tools done and their total.
    """

    def __init__(
        self, library: ToolLibrary, *, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        self.library = library
        self._progress = progress
        routes = [route_of(tool) for tool in library]
        taken = [taken_fields(tool, route) for tool, route in zip(library, routes, strict=True)]
        wanted = frozenset(one.thing[-1] for fields in taken for one in fields if one.thing)
        self.tools: list[ToolFields] = []
        for number, (tool, route) in enumerate(zip(library, routes, strict=True)):
            given = given_fields(tool, route, wanted)
            self.tools.append(ToolFields(tool, route, verb_of(tool, route), taken[number], given))
            progress(number + 1, 2 * len(library))
        shapes = Shapes(self.tools, wanted)
        self.tools = [
            replace(one, given=[*shapes.named(one.given), *described_fields(one, wanted)]) for one in self.tools
        ]
        self._demand = self._index()
        self._rivals = {
            thing: len({one.taken.route for one in demands if one.taken.thing[-1:] == (thing,)} - {()})
            for thing, demands in self._demand.items()
        }
        self._passing = Counter(
            thing
            for one in self.tools
            for thing in {o.thing[-1] for given in one.given if not given.own for o in given.owners}
        )
        self._supply = Counter(
            thing
            for one in self.tools
            if one.verb != "remove"
            for thing in {
                o.thing[-1]
                for given in one.given
                if given.own and (given.listed or not one.needs) and given.attribute in (*IDENTITIES, "")
                for o in given.owners
            }
        )
        takers = Counter(
            thing for one in self.tools for thing in {taken.thing[-1] for taken in one.taken if taken.thing}
        )
        # What nearly every tool takes, such as the account, is known before the first call.
        self._context = {
            thing: 1 - max(0.0, number / len(self.tools) - _OFTEN) if len(self.tools) >= _MANY else 1.0
            for thing, number in takers.items()
        }
        self._mentions = mentions(self.tools)
        self._similarity = Similarity(self.tools)

    def _index(self) -> dict[str, list[_Demand]]:
        found: dict[Taken, _Demand] = {}
        for number, one in enumerate(self.tools):
            for taken in one.taken:
                if taken.thing:
                    found.setdefault(taken, _Demand(taken, [])).tools.append(number)
        index: dict[str, list[_Demand]] = defaultdict(list)
        for demand in found.values():
            index[demand.taken.thing[-1]].append(demand)
        return index

    def links(self) -> Iterator[Dependency]:
        """All links, by source, then target."""
        size = len(self.tools)
        for number in range(size):
            yield from self._links_of(number)
            self._progress(size + number + 1, 2 * size)

    def _links_of(self, number: int) -> list[Dependency]:
        source = self.tools[number]
        found = [(target, self._chosen(matches)) for target, matches in self.matches(number).items()]
        scores = self._scores(number, found)
        best = heapq.nsmallest(
            _MOST_LINKS, zip(scores, found, strict=True), key=lambda one: (-one[0], one[1][0])
        )
        return [
            self._link(source, self.tools[target], score, chosen)
            for score, (target, chosen) in sorted(best, key=lambda one: one[1][0])
            if score >= LEAST
        ]

    def _scores(self, number: int, found: Sequence[tuple[int, list[Match]]]) -> list[float]:
        """The scores of the links from one tool to others."""
        source = self.tools[number]
        alike = self._similarity.of(number, [target for target, _ in found])
        return [
            with_similarity(
                link_score(source, self.tools[target], chosen), share, is_described=chosen[0].given.is_described
            )
            for (target, chosen), share in zip(found, alike, strict=True)
        ]

    def matches(self, number: int, *, least: float = LEAST) -> dict[int, dict[str, Match]]:
        """The best match for each argument of each tool that tool `number` can feed."""
        source = self.tools[number]
        found: dict[int, dict[str, Match]] = defaultdict(dict)
        for given in source.given:
            for owner in given.owners:
                head = owner.thing[-1]
                common = 1.0 if given.own else min(1.0, _COMMON / max(1, self._passing[head])) ** 0.5
                common *= self._context.get(head, 1.0)
                common *= max(1, self._supply[head]) ** -_RARE
                for demand in self._demand.get(head, ()):
                    one = match(source, given, owner, demand.taken)
                    if one is None:
                        continue
                    one = one._replace(
                        score=one.score * common * route_fit(source, demand.taken, self._rivals[head])
                    )
                    if one.score < least:
                        continue
                    path = demand.taken.path
                    for target in demand.tools:
                        known = found[target].get(path) if target in found else None
                        if target != number and (known is None or known.score < one.score):
                            found[target][path] = one
        for target, one in self._mentions.get(number, {}).items():
            path = one.taken.path
            known = found[target].get(path)
            if known is not None:
                one = one._replace(given=known.given, owner=replaced_owner(known.owner, one.owner))
            found[target][path] = one
        return found

    def _chosen(self, matches: dict[str, Match]) -> list[Match]:
        """The matches of a link, the best first, without weak ones and without a field for two arguments."""
        ranked = sorted(matches.values(), key=lambda one: -one.score)
        least = ranked[0].score * _LEAST_PART
        chosen: list[Match] = []
        for one in ranked:
            if one.score >= least and all(one.given.path != other.given.path for other in chosen):
                chosen.append(one)
        return chosen

    def _link(
        self, source: ToolFields, target: ToolFields, score: float, matches: Sequence[Match]
    ) -> Dependency:
        best = matches[0]
        return Dependency(
            source.tool.id,
            target.tool.id,
            best.taken.path,
            min(1.0, score),
            tuple(FieldPair(one.given.path, one.taken.path) for one in matches),
            tuple(reasons(source, target, matches)),
            origin="description" if best.given.is_described else "schema",
        )


def replaced_owner(known: Owner, mentioned: Owner) -> Owner:
    """The owner of a field whose argument names the source in its description."""
    return Owner(known.thing, mentioned.certainty, mentioned.why)


def derive_dependencies(
    library: ToolLibrary, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> list[Dependency]:
    """The dependencies of a library, by source, then target, in library order.

    Args:
        library: The tools. Tools without `output_schema` get weaker links from names and descriptions
            (origin "description").
        progress: Called with the work done and its total.
    """
    return list(Derivation(library, progress=progress).links())


def explain(library: ToolLibrary, source: str, target: str) -> list[str]:
    """Why there is or is no link between two tools, in sentences."""
    return []


__all__ = ["Derivation", "Given", "Words", "derive_dependencies", "explain", "things_of_tool"]
