"""What is counted of each label, one after another, in little memory."""

from __future__ import annotations

import random
from array import array
from collections import Counter, defaultdict

from toolassay.dataset import shape_of
from toolassay.gold import Gold
from toolassay.variety.normal_form import words
from toolassay.variety.plans import PlanDigest

SAMPLE = 1_000
NO_PLAN = ""
"""The shape of a label without a plan."""

Ends = tuple[str, str]


class Tally:
    """Counts over labels.

    Args:
        sample: of how many requests the words are kept; drawn evenly (reservoir sampling, Vitter 1985).
        seed: what they are drawn with.

    Attributes:
        requests: how many have words.
        plans: how many have a plan.
        different_plans: the digests of plans whose values are known.
        valued: how many plans have known values.
        sizes: number of plans by (shape, number of nodes).
        tools: plans by tool that they name.
        links: plans by link that they name.
        lengths: the words in each request, by shape.
        openings: requests by their first two words; a request of one word has an empty second.
        kept: the sample: the shape and the words of each.
    """

    def __init__(self, *, sample: int = SAMPLE, seed: int = 0) -> None:
        self._size = sample
        self._chance = random.Random(seed)
        self.requests = self.plans = self.valued = 0
        self.different_plans: set[int] = set()
        self.sizes: Counter[tuple[str, int]] = Counter()
        self.tools: Counter[str] = Counter()
        self.links: Counter[Ends] = Counter()
        self.lengths: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self.openings: Counter[tuple[str, str]] = Counter()
        self.kept: list[tuple[str, list[str]]] = []

    def add(self, gold: Gold, plan: PlanDigest) -> None:
        """Count one label."""
        shape = NO_PLAN
        if gold.nodes:
            tools = [node.tool for node in gold.nodes]
            shape = shape_of(len(tools), gold.links, tools=tools)
            self.plans += 1
            self.sizes[shape, len(tools)] += 1
            self.tools.update(set(tools))
            self.links.update(set(gold.links))
        if plan.whole:
            self.valued += 1
            self.different_plans.add(plan.whole)
        said = words(gold.request)
        if said:
            self._add_words(shape, said)

    def _add_words(self, shape: str, said: list[str]) -> None:
        self.requests += 1
        self.lengths[shape].append(len(said))
        self.openings[said[0], said[1] if len(said) > 1 else ""] += 1
        if len(self.kept) < self._size:
            self.kept.append((shape, said))
        else:
            place = self._chance.randrange(self.requests)
            if place < self._size:
                self.kept[place] = shape, said
