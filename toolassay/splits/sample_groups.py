"""Groups of samples that must stay in one split.

Samples are grouped by a shared id, request or subgraph, or because their requests are near duplicates.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from networkx.utils import UnionFind

from toolassay.dataset import RequestId, Shape, shape_of
from toolassay.gold import Ends, Gold
from toolassay.variety.near_duplicates import Item, Thresholds, find_repeats
from toolassay.variety.normal_form import digest

# Matches ", " and "_"; nothing in "café2".
_NOT_WORDS = re.compile(r"[\W_]+")


class Stratum(NamedTuple):
    """A shape and a number of tools; `str` gives "chain of 3"."""

    shape: Shape
    size: int

    def __str__(self) -> str:
        return f"{self.shape} of {self.size}"


@dataclass(frozen=True, slots=True)
class Member:
    """The properties of a sample that splitting needs.

    Attributes:
        id: the id of the sample.
        stratum: its shape and number of tools.
        tools: the tools of its plan.
        keys: texts; two samples with a common key belong in one split.
    """

    id: RequestId
    stratum: Stratum
    tools: frozenset[str]
    keys: tuple[str, ...]

    @classmethod
    def of(cls, gold: Gold) -> Member:
        """The properties of a gold plan.

        Its keys are its id, its request without case and punctuation, and its subgraph: that of the gold
        plan, and the sampled one if the label has one. The order of nodes and links does not matter.

        >>> first = Gold.of({"id": 1, "user_request": "Go!", "task_nodes": [{"task": "a b"}, {"task": "c"}]})
        >>> other = Gold.of({"id": 2, "user_request": "Stop", "task_nodes": [{"task": "C"}, {"task": "a_b"}]})
        >>> set(Member.of(first).keys) & set(Member.of(other).keys)
        {'graph ["a b", "c"] []'}
        """
        tools = [node.tool for node in gold.nodes]
        keys = [f"id {gold.id}"]
        request = _plain(gold.request)
        if request:
            keys.append(f"request {request}")
        if tools:
            keys.append(_graph_key(tools, gold.links))
        if gold.sampled_nodes:
            keys.append(_graph_key(gold.sampled_nodes, gold.sampled_links or ()))
        stratum = Stratum(shape_of(len(tools), gold.links, tools=tools), len(tools))
        return cls(gold.id, stratum, frozenset(tools), tuple(dict.fromkeys(keys)))


def _plain(text: str) -> str:
    """A text without case, punctuation and double blanks; a text of punctuation alone stays unchanged."""
    return _NOT_WORDS.sub(" ", text.casefold()).strip() or text.strip()


@lru_cache(maxsize=100_000)
def _plain_name(tool: str) -> str:
    return _plain(tool)


def _graph_key(tools: Iterable[str], links: Iterable[Ends]) -> str:
    nodes = sorted(_plain_name(tool) for tool in tools)
    ends = sorted({(_plain_name(source), _plain_name(target)) for source, target in links})
    return f"graph {json.dumps(nodes, ensure_ascii=False)} {json.dumps(ends, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class SampleGroup:
    """Samples that must stay in one split.

    Attributes:
        name: the smallest of their keys, so that the name does not depend on the order of the samples.
        members: the samples, sorted by id.
    """

    name: str
    members: tuple[Member, ...]

    def __len__(self) -> int:
        return len(self.members)

    @property
    def strata(self) -> Counter[Stratum]:
        """The number of its samples in each stratum."""
        return Counter(member.stratum for member in self.members)

    def uses(self, tools: Collection[str]) -> bool:
        """Whether any of its samples uses one of these tools."""
        return any(not member.tools.isdisjoint(tools) for member in self.members)


def groups_of(members: Iterable[Member], together: Iterable[Sequence[int]] = ()) -> list[SampleGroup]:
    """Group the samples that share a key, directly or through other samples.

    Args:
        members: the samples, in any order.
        together: indices of further samples that must stay together, as `near_repeats` returns them.

    Returns:
        The groups, sorted by name.
    """
    known = list(members)
    sets = UnionFind(range(len(known)))
    first: dict[str, int] = {}
    for place, member in enumerate(known):
        for key in member.keys:
            sets.union(first.setdefault(key, place), place)
    for places in together:
        sets.union(*places)
    parts: defaultdict[int, list[Member]] = defaultdict(list)
    for place, member in enumerate(known):
        parts[sets[place]].append(member)
    groups = [
        SampleGroup(
            min(key for member in found for key in member.keys),
            tuple(sorted(found, key=lambda member: (str(member.id), member.keys))),
        )
        for found in parts.values()
    ]
    return sorted(groups, key=lambda group: group.name)


def near_repeats(golds: Iterable[Gold], thresholds: Thresholds | None = None) -> list[list[int]]:
    """The indices, from 0, of samples whose requests are near duplicates, directly or through others.

    Samples are compared in the order of a hash, not of the file: the search skips pairs in large groups of
    similar requests, and the order of the file must not decide which.

    Args:
        golds: the samples, iterated over once.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.

    Returns:
        One sorted list for each group of two or more samples.

    >>> texts = ["Crop a.jpg for me", "Pay the bill", "Could you please crop a.jpg?"]
    >>> near_repeats(Gold.of({"id": number, "user_request": text}) for number, text in enumerate(texts))
    [[0, 2]]
    """
    ranked = sorted(
        (digest([str(gold.id), gold.request]), Item.of(gold)._replace(key=place))
        for place, gold in enumerate(golds)
    )
    clusters = find_repeats((item for _, item in ranked), thresholds=thresholds).clusters()
    return sorted(sorted(int(place) for place in cluster) for cluster in clusters)
