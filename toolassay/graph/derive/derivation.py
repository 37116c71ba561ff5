"""Finds the dependencies of a library by an inverted index from things to the arguments that take them."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from toolassay.console.text_formatting import some_of
from toolassay.graph.dependencies import ORDER, Dependency
from toolassay.graph.derive.evidence import (
    KNOWN_BY,
    Match,
    Similarity,
    ToolFields,
    addresses,
    described_fields,
    link_score,
    match,
    mentions,
    reasons,
    route_fit,
    shared_arguments,
    with_similarity,
)
from toolassay.graph.derive.fields import (
    IDENTITIES,
    OF_USERS,
    Given,
    Route,
    Taken,
    Words,
    in_words,
    name_words,
    noun_phrase,
    route_of,
    things_of_tool,
    verb_of,
    word_groups,
    word_list,
)
from toolassay.graph.derive.given_fields import given_fields, taken_fields
from toolassay.graph.links import FieldPair
from toolassay.tools.library import ToolLibrary

LEAST = 0.2
"""Links with a lower score are not derived at all."""
_MOST_LINKS = 60  # links from one tool
_COMMON = 30  # tools that may give a thing in passing, not by an id, before it is context: a namespace
_RARE = 0.05  # a thing that n tools list counts n to the power of minus this
# An argument that more than this share of the tools take is context (an account, a project) and links little.
# In a library of fewer tools than `_MANY` the share says nothing.
_OFTEN = 0.4
_MANY = 30
_ROLE = 0.9  # certainty that an assignee is a user
_LONGEST = 1_000  # characters of a description that are compared
_LEAST_PART = 0.5  # of the best match that a further field must reach
_FOLLOWS = 0.5  # score of an order of tools that work on one thing, before their descriptions are compared

Progress = Callable[[int, int], None]


def _by_role(argument: Taken, roles: frozenset[str], person: str) -> Taken:
    """An argument that names a person by a role, such as an assignee, as one that names a person."""
    is_role = argument.thing[-1:] and argument.thing[-1] in roles
    return replace(argument, thing=(person,), full=(person,)) if is_role else argument


def _with_role(given: Given, roles: frozenset[str], person: str) -> Given:
    """A field that has a person in a role, with that person as an owner."""
    known = {owner.thing for owner in given.owners}
    owners = [
        owner._replace(thing=(person,), full=(), certainty=owner.certainty * _ROLE)
        for owner in given.owners
        if owner.thing[-1] in roles and (person,) not in known
    ]
    return replace(given, owners=(*given.owners, *owners[:1])) if owners else given


def _is_written(argument: Taken, subjects: Set[str]) -> bool:
    """Whether an argument of a tool that makes or changes something is a value to write."""
    is_known = argument.attribute in KNOWN_BY or not subjects.isdisjoint(argument.thing[-1:])
    return not (is_known or argument.route)


def _members(
    routes: Sequence[Route | None], taken: Sequence[Sequence[Taken]], in_paths: Set[str]
) -> dict[tuple[str, ...], Words]:
    """By path what a parameter names that follows it, if no other path leads to such things.

    "/databases" lists what "/databases/{index_name}" takes; "/standings" has no seasons, "/posts" no users.
    """
    return {
        route.parts[: route.parts.index(f"{{{argument.path}}}")]: argument.thing
        for route, fields in zip(routes, taken, strict=True)
        for argument in fields
        if route is not None
        and f"{{{argument.path}}}" in route.parts
        and argument.attribute not in OF_USERS
        and in_paths.isdisjoint(argument.thing[-1:])
    }


class _Demand(NamedTuple):
    """An argument as several tools take it alike, and those tools."""

    taken: Taken
    tools: list[int]


class Derivation:
    """What is known of all tools of a library, and the links that follow from it.

    Args:
        library: The tools.
        progress: Called with the work done and its total.
    """

    def __init__(self, library: ToolLibrary, *, progress: Progress = lambda *_: None) -> None:
        self.library = library
        self._progress = progress
        routes = [route_of(tool) for tool in library]
        taken = [taken_fields(tool, route) for tool, route in zip(library, routes, strict=True)]
        # An issue's comment is not that of a discussion, if tools give either; a pending order is an order.
        subjects = {
            noun_phrase(tool)
            for tool, route in zip(library, routes, strict=True)
            if verb_of(tool, route) in ("find", "search", "make")
        }
        taken = [
            [
                argument
                if {argument.full, argument.full[: -len(argument.thing)]} & subjects
                else replace(argument, full=argument.thing)
                for argument in fields
            ]
            for fields in taken
        ]
        in_paths = {
            owner.thing[-1]
            for tool, route in zip(library, routes, strict=True)
            if route is not None
            for owner in things_of_tool(tool, route)[:1]
        }
        named = {words[-1] for words in subjects if words}
        known = in_paths | named
        person = next((word for word in word_groups("persons") if word in known), "")
        # The followers of "/me/followers" are users, too.
        roles = word_list("roles of persons") - named if person else frozenset()
        taken = [[_by_role(argument, roles, person) for argument in fields] for fields in taken]
        taken = [
            [replace(argument, is_written=_is_written(argument, known)) for argument in fields]
            if verb_of(tool, route) in ("make", "change")
            else fields
            for tool, route, fields in zip(library, routes, taken, strict=True)
        ]
        argument_nouns = frozenset(
            argument.thing[-1] for fields in taken for argument in fields if argument.thing
        )
        members = _members(routes, taken, in_paths)
        self.tools: list[ToolFields] = []
        for number, (tool, route) in enumerate(zip(library, routes, strict=True)):
            member = () if route is None else members.get(route.parts, ())
            given = given_fields(tool, route, argument_nouns | roles, member)
            given = [_with_role(field, roles, person) for field in given]
            self.tools.append(ToolFields(tool, route, verb_of(tool, route), taken[number], given))
            progress(number + 1, 2 * len(library))
        self.tools = [
            replace(tool, given=[*tool.given, *described_fields(tool, argument_nouns)]) for tool in self.tools
        ]
        self._demand = self._index()
        self._count()
        self._about: dict[Words, list[int]] = defaultdict(list)
        for number, fields in enumerate(self.tools):
            for thing in fields.about if fields.route is None and not fields.lists else ():
                self._about[thing].append(number)
        self._mentions = mentions(self.tools)
        self._addresses = addresses(self.tools)
        self._similarity = Similarity(
            [" ".join((*name_words(tool), tool.description[:_LONGEST])) for tool in library]
        )

    def _index(self) -> dict[str, list[_Demand]]:
        """The arguments by the last word of their thing; those that are alike in all but the tool are one."""
        demands: dict[Taken, _Demand] = {}
        for number, tool in enumerate(self.tools):
            for taken in tool.taken:
                if taken.thing:
                    demands.setdefault(taken, _Demand(taken, [])).tools.append(number)
        index: dict[str, list[_Demand]] = defaultdict(list)
        for demand in demands.values():
            index[demand.taken.thing[-1]].append(demand)
        return index

    def _count(self) -> None:
        """Count how many tools give each thing, and how many take it."""
        supply = Counter[str]()
        passing = Counter[str]()
        takers = Counter[str]()
        for tool in self.tools:
            takers.update({taken.thing[-1] for taken in tool.taken if taken.thing})
            if tool.verb == "remove":
                continue
            owners = [(given, owner.thing[-1]) for given in tool.given for owner in given.owners]
            passing.update({thing for given, thing in owners if not given.own})
            supply.update(
                {
                    thing
                    for given, thing in owners
                    if given.own and given.attribute in (*IDENTITIES, "") and (given.listed or not tool.needs)
                }
            )
        self._rivals = {
            thing: len({demand.taken.collection for demand in demands} - {()})
            for thing, demands in self._demand.items()
        }
        size = len(self.tools)
        # By thing: how far a tool is trusted that gives it, and one that gives it in passing.
        self._trust: dict[str, tuple[float, float]] = {}
        for thing in self._demand:
            # The only tool that lists something is more certain to be meant than one of many; and what nearly
            # every tool takes, such as the account, is known before the first call.
            rare = max(1, supply[thing]) ** -_RARE
            context = 1 - max(0.0, takers[thing] / size - _OFTEN) if size >= _MANY else 1.0
            in_passing = min(1.0, _COMMON / max(1, passing[thing])) ** 0.5
            self._trust[thing] = rare * context, rare * context * in_passing

    def links(self) -> Iterator[Dependency]:
        """All links, by source, then target."""
        size = len(self.tools)
        for number in range(size):
            yield from self._links_of(number)
            self._progress(size + number + 1, 2 * size)

    def _links_of(self, number: int) -> list[Dependency]:
        matches_by_target = [
            (target, chosen)
            for target, matches in self._matches(number).items()
            if (chosen := _chosen(matches, self.tools[target]))
        ]
        scores = self._scores(number, matches_by_target)
        best = heapq.nsmallest(
            _MOST_LINKS,
            zip(scores, matches_by_target, strict=True),
            key=lambda scored: (-scored[0], scored[1][0]),
        )
        links = {
            target: self._link(number, target, score, chosen)
            for score, (target, chosen) in best
            if score >= LEAST
        }
        for target, reason in self._follow_ups(number):
            if target not in links or links[target].score < _FOLLOWS:
                links[target] = self._follow_up(number, target, reason)
        kept = heapq.nsmallest(_MOST_LINKS, links, key=lambda target: (-links[target].score, target))
        return [links[target] for target in sorted(kept)]

    def _follow_ups(self, number: int) -> Iterator[tuple[int, str]]:
        """The tools that work on what a tool reads or lists, where no field is known to lead there; and why.

        Those of operations are not listed where schemas say what leads where.
        """
        source = self.tools[number]
        if (source.route and source.is_informative) or source.verb not in ("find", "search"):
            return
        for argument in source.needs if not source.lists else ():
            if argument.thing not in source.about:
                continue
            for demand in self._demand.get(argument.thing[-1], ()):
                if demand.taken.required and demand.taken.key == argument.key:
                    why = (
                        f"both take {in_words(argument.thing, argument.attribute)}, and the source only reads"
                    )
                    yield from ((target, why) for target in demand.tools if self.tools[target].acts)
        if source.lists and source.about and not source.is_informative:
            for target in self._about.get(source.about[0], ()):
                other = self.tools[target]
                is_new = other.verb == "make"
                if (
                    target != number
                    and not is_new
                    and any(not source.known(argument) for argument in other.needs)
                ):
                    yield target, f"the source lists what the target works on: {' '.join(source.about[0])}"

    def _follow_up(self, source: int, target: int, reason: str) -> Dependency:
        first = self.tools[source]
        second = self.tools[target]
        (alike,) = self._similarity.of(source, [target])
        return Dependency(
            first.tool.id,
            second.tool.id,
            score=with_similarity(_FOLLOWS, alike, is_described=True),
            reasons=(reason,),
            kind="observed",
            origin="description",
            shared=shared_arguments(first, second, (), self._addresses),
        )

    def _matches(
        self, number: int, *, only: int | None = None, least: float = LEAST
    ) -> dict[int, dict[str, Match]]:
        """The best match for each argument of each tool that a tool can feed.

        Args:
            number: The tool that gives.
            only: The only tool that takes, if others do not matter.
            least: Score below which a match is left out.
        """
        source = self.tools[number]
        matches_by_target: dict[int, dict[str, Match]] = defaultdict(dict)
        for given in source.given:
            for owner in given.owners:
                head = owner.thing[-1]
                trusted, in_passing = self._trust.get(head, (1.0, 1.0))
                trust = trusted if given.own or given.attribute in IDENTITIES else in_passing
                for demand in self._demand.get(head, ()):
                    matched = match(source, given, owner, demand.taken)
                    if matched is None:
                        continue
                    score = matched.score * trust * route_fit(source, demand.taken, self._rivals[head])
                    if score < least:
                        continue
                    matched = matched._replace(score=score)
                    path = demand.taken.path
                    for target in demand.tools if only is None else {only} & {*demand.tools}:
                        matches = matches_by_target[target]
                        if path not in matches or matches[path].score < score:
                            matches[path] = matched
        matches_by_target.pop(number, None)
        for target, mention in self._mentions.get(number, {}).items():
            if only is None or target == only:
                if derived := matches_by_target.get(target, {}).get(mention.taken.path):
                    mention = mention._replace(given=derived.given)
                matches_by_target[target][mention.taken.path] = mention
        return matches_by_target

    def _scores(self, number: int, chosen_by_target: Sequence[tuple[int, list[Match]]]) -> list[float]:
        """The scores of the links from one tool to others."""
        source = self.tools[number]
        alike = self._similarity.of(number, [target for target, _ in chosen_by_target])
        return [
            with_similarity(
                link_score(source, self.tools[target], chosen),
                share,
                is_described=chosen[0].given.is_described,
            )
            for (target, chosen), share in zip(chosen_by_target, alike, strict=True)
        ]

    def _link(self, source: int, target: int, score: float, matches: Sequence[Match]) -> Dependency:
        giver = self.tools[source]
        taker = self.tools[target]
        fields = [FieldPair(matched.given.path, matched.taken.path) for matched in matches if matched.flows]
        shared = shared_arguments(giver, taker, matches, self._addresses)
        return Dependency(
            giver.tool.id,
            taker.tool.id,
            fields[0].target if fields else ORDER,
            min(1.0, score),
            tuple(fields),
            tuple(reasons(giver, taker, matches, shared)),
            kind="dependency" if fields else "observed",
            origin="description" if matches[0].given.is_described else "schema",
            shared=shared,
        )

    def between(self, source: str, target: str) -> Dependency | None:
        """The link from one tool to another, also one whose score is too low to be derived."""
        first = self.library.index(source)
        second = self.library.index(target)
        if first == second:
            return None
        if derived := next((link for link in self._links_of(first) if link.target == target), None):
            return derived
        # Weak matches only if there are no others: they are not part of a derived link.
        matches = self._matches(first, only=second).get(second)
        matches = matches or self._matches(first, only=second, least=0.0).get(second, {})
        chosen = _chosen(matches, self.tools[second])
        if not chosen:
            return None
        (score,) = self._scores(first, [(second, chosen)])
        return self._link(first, second, score, chosen)

    def explain(self, source: str, target: str) -> list[str]:
        """Why there is or is no link from one tool to another, in sentences."""
        first, second = (self.tools[self.library.index(name)] for name in (source, target))
        link = self.between(source, target)
        if link is not None:
            flows = [f"{pair.source or 'the whole result'} → {pair.target}" for pair in link.fields]
            verdict = "" if link.score >= LEAST else f", less than {LEAST}: not a link"
            if not verdict and all(
                link.target != target for link in self._links_of(self.library.index(source))
            ):
                verdict = f", but not among the {_MOST_LINKS} best links of {source}"
            return [f"score {link.score:.2f} from {link.origin}{verdict}", *flows, *link.reasons]
        given = dict.fromkeys(
            in_words(owner.thing, field.attribute) for field in first.given for owner in field.owners[:1]
        )
        taken = dict.fromkeys(f"`{argument.path}` ({argument.meaning})" for argument in second.taken)
        settings = [
            parameter.name
            for parameter in second.tool.parameters
            if parameter.name not in {t.path for t in second.taken}
        ]
        gives, takes, kept = (some_of([*names], _MOST_NAMED) for names in (given, taken, settings))
        lines = ["no field of the result fits an argument"]
        lines.append(f"{source} gives {gives or 'nothing that an argument of any tool names'}")
        lines.append(f"{target} takes {takes or 'nothing that another tool could give'}")
        if kept:
            lines.append(f"not compared, because they are settings or free text: {kept}")
        return lines


def _chosen(matches: dict[str, Match], target: ToolFields) -> list[Match]:
    """The matches of a link, the best first, without weak ones and without a field for two arguments.

    Numbers without an attribute come together: a latitude with the longitude of the same object. What a thing
    has is not what it is changed to. A search that is narrowed by a city's id is not by its name, too.
    """
    together = Counter(
        matched.given.path.rpartition(".")[0] for matched in matches.values() if matched.given.is_measure
    )
    usable = (
        matched
        for matched in matches.values()
        if not matched.given.is_measure or together[matched.given.path.rpartition(".")[0]] > 1
    )
    # Of equal ones the least nested, so that the order of the other tools does not matter.
    ranked = sorted(
        usable, key=lambda matched: (-matched.score, matched.taken.path.count("."), matched.taken.path)
    )
    chosen: list[Match] = []
    for matched in ranked:
        taken = matched.taken
        if matched.score >= ranked[0].score * _LEAST_PART and all(
            (matched.given.is_described or matched.given.path != other.given.path)
            and (taken.required or not taken.thing or taken.thing != other.taken.thing)
            for other in chosen
        ):
            chosen.append(matched)
    is_changed = target.verb == "change" and any(
        matched.taken.required and matched.flows for matched in chosen
    )
    return [matched for matched in chosen if matched.taken.required or not is_changed]


# Fields and arguments that an explanation names: it stays a few lines on a terminal.
_MOST_NAMED = 12


def derive_dependencies(library: ToolLibrary, *, progress: Progress = lambda *_: None) -> list[Dependency]:
    """The dependencies of a library, by source, then target, in library order.

    Args:
        library: The tools. Tools without `output_schema` get weaker links from names and descriptions
            (origin "description").
        progress: Called with the work done and its total.
    """
    return list(Derivation(library, progress=progress).links())
