"""Recognises what an object is by its fields: an item with `name`, `known_for` and `gender` is a person.

An object of a thing is known where its schema names it, or where an operation returns the things that its
path names (`GET /person/{person_id}`). An object of an unknown thing that has mostly the fields of a known
one is that thing, too. Fields that many objects have count little (inverse document frequency).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from toolassay.graph.derive.evidence import ToolFields
from toolassay.graph.derive.fields import BY_CONTAINER, BY_PATH_BEFORE, IDENTIFYING, Given, Owner
from toolassay.graph.derive.names import IDENTITIES, Words, meaning_of, word_list

_LEAST = 0.2  # similarity that counts, with a margin to the next thing below the likely one
_LIKELY, _MARGIN = 0.35, 1.5
_FEW = 2  # uncommon fields that both objects must have
_RIVAL = 0.9  # of the best similarity that the thing named by a path must have to be kept
_SEVERAL, _USUAL = 8, 0.2  # objects, or share of them, above which a field says nothing
_MOST_FIELDS = 200
_MOST_SHAPES = 200  # objects with which one is compared


class Shapes:
    """The fields of known objects.

    Args:
        tools: All tools.
        wanted: The last words of the things that arguments refer to.
    """

    def __init__(self, tools: Sequence[ToolFields], wanted: frozenset[str]) -> None:
        known: dict[frozenset[str], set[Words]] = defaultdict(set)
        objects: set[frozenset[str]] = set()
        for one in tools:
            single = _returned(one)
            for given in one.given:
                if not given.bare or given.attribute not in IDENTIFYING or len(given.shape) > _MOST_FIELDS:
                    continue
                objects.add(given.shape)
                listed = given.own and given.listed and given.depth == 0
                names = {
                    owner.thing
                    for owner in given.owners
                    # The name of a container may be a role, such as `cast`.
                    if owner.certainty >= (BY_PATH_BEFORE if listed else 1.0)
                    and owner.certainty != BY_CONTAINER
                }
                if single and given.own and not given.listed and given.depth == 0:
                    names.add(single)
                for thing in names:
                    if thing[-1] in wanted:
                        known[given.shape].add(thing)
        # Things to which a name such as `network_id` refers: a container named after one contains just these.
        meanings = (meaning_of(taken.path.rpartition(".")[2]) for one in tools for taken in one.taken)
        self._identified = {one.thing[-1] for one in meanings if one.thing and one.attribute in IDENTITIES}
        self._number = len(objects) or 1
        self._frequency = Counter(name for shape in objects for name in shape)
        self._known = known
        self._by_field: dict[str, list[frozenset[str]]] = defaultdict(list)
        most = max(_SEVERAL, _USUAL * self._number)
        for shape in known:
            for name in shape - word_list("common fields"):
                if self._frequency[name] <= most:
                    self._by_field[name].append(shape)
        self._recognise = lru_cache(maxsize=50_000)(self._recognised)

    def named(self, given: Iterable[Given]) -> list[Given]:
        """The fields, with further owners where their object has the shape of a known thing."""
        return [named for one in given if (named := self._with_owners(one)).owners]

    def _with_owners(self, given: Given) -> Given:
        if not given.bare or given.named or given.depth > 1 or given.attribute not in IDENTITIES:
            return given
        certain = max((owner.certainty for owner in given.owners), default=0.0)
        if certain == 1.0:
            return given
        known = {owner.thing for owner in given.owners}
        if any(one.certainty == BY_CONTAINER and one.thing[-1] in self._identified for one in given.owners):
            return given
        likely = self._recognise(given.shape)
        if not given.own:
            likely = tuple(one for one in likely if one[0] >= _LIKELY)
        best = likely[0][0] if likely else 0.0
        if any(thing in known and share >= best * _RIVAL for share, thing in likely):
            return given
        found = tuple(
            Owner(
                thing,
                0.5 + 0.5 * share,
                f"it has the fields of {'an' if thing[0][0] in 'aeio' else 'a'} {' '.join(thing)}",
            )
            for share, thing in likely[:1]
        )
        return replace(given, owners=(*given.owners, *found)) if found else given

    def _recognised(self, shape: frozenset[str]) -> tuple[tuple[float, Words], ...]:
        """The things that an object with these fields may be, with the similarity, the most similar first."""
        if not len(shape) <= _MOST_FIELDS:
            return ()
        counts: Counter[frozenset[str]] = Counter()
        for name in shape - word_list("common fields"):
            shapes = self._by_field.get(name, ())
            if len(shapes) <= _MOST_SHAPES:
                counts.update(shapes)
        total = self._weight(shape)
        found: dict[Words, float] = {}
        for other, number in counts.most_common(_MOST_SHAPES):
            if number < _FEW:
                break
            both = self._weight(shape & other)
            share = (both / total + both / (total + self._weight(other) - both)) / 2
            for thing in self._known[other]:
                found[thing] = max(found.get(thing, 0.0), share)
        ranked = sorted(((share, thing) for thing, share in found.items() if share >= _LEAST), reverse=True)
        if ranked and ranked[0][0] < _LIKELY and len(ranked) > 1 and ranked[1][0] * _MARGIN > ranked[0][0]:
            return ()
        return tuple(ranked)

    def _weight(self, names: frozenset[str]) -> float:
        """The information of names of fields: rare ones have more."""
        return sum(
            math.log(1 + self._number / self._frequency[name]) for name in names if name in self._frequency
        )


def _returned(one: ToolFields) -> Words:
    """The thing of which an operation returns one, by the parameter at the end of its path."""
    if one.route is None or not one.route.ends_in_parameter or one.route.method != "GET":
        return ()
    last = one.route.parts[-1].strip("{}")
    return next((taken.thing for taken in one.taken if taken.path == last), ())
