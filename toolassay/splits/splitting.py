"""Assign groups of samples to splits, so that each stratum has the requested shares."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toolassay.dataset import SHAPES, RequestId, Shape
from toolassay.splits.sample_groups import Member, SampleGroup, Stratum, groups_of
from toolassay.tables import Result

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
DEFAULT_SHARES: Mapping[Split, float] = {"train": 0.8, "dev": 0.1, "test": 0.1}


def assign(
    groups: Sequence[SampleGroup],
    shares: Mapping[Split, float] = DEFAULT_SHARES,
    *,
    seed: int = 0,
    hold_out: Collection[str] = (),
) -> list[Split]:
    """The split of each group, in the order of `groups`.

    Greedy stratification of whole groups, the largest first (after Sechidis, Tsoumakas and Vlahavas, On the
    Stratification of Multi-Label Data, ECML PKDD 2011, who take the rarest label first). A group is drawn
    among the splits that lack at least half of its size, weighted by what they lack of its strata, so that
    frequent subgraphs are not all in "train". If no split lacks that much, the group goes where its strata
    lack most. A split that has its share over all strata gets no more groups.

    Args:
        groups: in any order; the order does not change the result.
        shares: the share of each split; they add up to 1.
        seed: seed of the draws.
        hold_out: tools that must not be trained on; groups that use one go to "test" and are assigned first.
    """
    splits = [split for split in SPLITS if shares.get(split, 0) > 0]
    totals: Counter[Stratum] = Counter()
    for group in groups:
        totals.update(group.strata)
    wanted = {split: {each: count * shares[split] for each, count in totals.items()} for split in splits}
    missing = {split: totals.total() * shares[split] for split in splits}
    chosen: dict[int, Split] = {}
    draw = random.Random(seed)
    ranks = {place: _rank(seed, group) for place, group in enumerate(groups)}
    held = {place for place, group in enumerate(groups) if hold_out and group.uses(hold_out)}
    for place in sorted(ranks, key=lambda place: (place not in held, -len(groups[place]), ranks[place])):
        strata, size = groups[place].strata, len(groups[place])
        if place in held:
            split: Split = "test"
        else:
            needs = {name: sum(wanted[name][each] for each in strata) for name in splits}
            split = _drawn(draw, size, needs, missing)
        chosen[place] = split
        if split in wanted:
            missing[split] -= size
            for each, count in strata.items():
                wanted[split][each] -= count
    return [chosen[place] for place in range(len(groups))]


def _drawn(
    draw: random.Random, size: int, needs: Mapping[Split, float], missing: Mapping[Split, float]
) -> Split:
    """Draw the split of a group.

    Args:
        draw: the random generator.
        size: number of samples in the group.
        needs: number of samples that each split lacks in the strata of the group.
        missing: number of samples that each split lacks in all strata.
    """
    room = [name for name in needs if missing[name] >= size / 2]
    willing = [name for name in room if needs[name] >= size / 2]
    if willing:
        return draw.choices(willing, [needs[name] for name in willing])[0]
    return max(room, key=needs.__getitem__) if room else max(missing, key=missing.__getitem__)


def _rank(seed: int, group: SampleGroup) -> str:
    return hashlib.sha256(f"{seed} {group.name}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, repr=False)
class Splitting(Result):
    """Groups with their splits, and the settings of the assignment.

    Attributes:
        groups: the groups, sorted by name.
        splits: the split of each group, in the same order.
        shares: the requested share of each split.
        seed: seed of the draws.
        hold_out: tools that must not be trained on.
        near: threshold of near duplicates; None if only exact repeats are kept together.
    """

    groups: Sequence[SampleGroup]
    splits: Sequence[Split]
    shares: Mapping[Split, float]
    seed: int
    hold_out: tuple[str, ...] = ()
    near: float | None = None

    @classmethod
    def of(
        cls,
        members: Iterable[Member],
        shares: Mapping[Split, float] = DEFAULT_SHARES,
        *,
        seed: int = 0,
        hold_out: Collection[str] = (),
        together: Iterable[Sequence[int]] = (),
        near: float | None = None,
    ) -> Splitting:
        """Group samples with `groups_of`, and assign the groups with `assign`; the arguments are theirs."""
        groups = groups_of(members, together)
        splits = assign(groups, shares, seed=seed, hold_out=hold_out)
        return cls(groups, splits, dict(shares), seed, tuple(sorted(hold_out)), near)

    def counts(self) -> dict[Stratum, dict[Split, int]]:
        """The number of samples of each stratum in each split, sorted by shape and size."""
        found: defaultdict[Stratum, Counter[Split]] = defaultdict(Counter)
        for group, split in zip(self.groups, self.splits, strict=True):
            for stratum, count in group.strata.items():
                found[stratum][split] += count
        order = sorted(found, key=lambda stratum: (SHAPES.index(stratum.shape), stratum.size))
        return {stratum: {split: found[stratum][split] for split in SPLITS} for stratum in order}

    def group_counts(self) -> Counter[Stratum]:
        """The number of groups with samples of each stratum."""
        return Counter(stratum for group in self.groups for stratum in group.strata)

    def largest(self) -> dict[Stratum, int]:
        """The size of the largest group that has samples of each stratum."""
        found: dict[Stratum, int] = {}
        for group in self.groups:
            for stratum, count in group.strata.items():
                found[stratum] = max(found.get(stratum, 0), count)
        return found

    def ids(self, split: Split) -> dict[Shape, list[RequestId]]:
        """The ids in a split by shape, without repetition, sorted as texts."""
        found: dict[Shape, dict[RequestId, None]] = {shape: {} for shape in SHAPES}
        for group, name in zip(self.groups, self.splits, strict=True):
            if name == split:
                for member in group.members:
                    found[member.stratum.shape][member.id] = None
        return {shape: sorted(ids, key=str) for shape, ids in found.items()}
