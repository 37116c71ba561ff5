"""Groups dealt out to splits."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.records.dataset import SHAPES, SPLITS
from toolassay.variety.splits import DEFAULT_SHARES, Member, Splitting, Stratum


def members(sizes: list[tuple[int, int]]) -> list[Member]:
    """One group for each (tools, samples); tools also say the shape."""
    return [
        Member(
            f"{number}-{one}", Stratum(SHAPES[tools % 3], tools), frozenset({f"t{number}"}), (f"g{number}",)
        )
        for number, (tools, samples) in enumerate(sizes)
        for one in range(samples)
    ]


many = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 30)), min_size=1, max_size=60)


@given(many, st.integers(0, 5), st.randoms(use_true_random=False))
def test_every_sample_is_in_one_split_and_no_group_in_two(
    sizes: list[tuple[int, int]], seed: int, order: random.Random
) -> None:
    given_members = members(sizes)
    result = Splitting.of(given_members, seed=seed)
    order.shuffle(given_members)
    again = Splitting.of(given_members, seed=seed)

    assert (again.groups, again.splits) == (result.groups, result.splits)
    split_of = {name: split for split in SPLITS for ids in result.ids(split).values() for name in ids}
    assert split_of.keys() == {member.id for member in given_members}
    assert sum(len(ids) for split in SPLITS for ids in result.ids(split).values()) == len(given_members)
    groups = {(str(name).partition("-")[0], split) for name, split in split_of.items()}
    assert len(groups) == len(sizes)


@pytest.mark.parametrize("seed", range(2))
def test_strata_get_their_shares(seed: int) -> None:
    result = Splitting.of(members([(tools, 1) for tools in (1, 2, 3) for _ in range(100)]), seed=seed)

    for counts in result.counts().values():
        assert counts == {"train": 80, "dev": 10, "test": 10}


@pytest.mark.parametrize("seed", range(2))
def test_large_groups_are_missed_by_no_more_than_half_of_the_largest(seed: int) -> None:
    """As with 40 tools, of which each single is one subgraph."""
    draw = random.Random(seed)
    sizes = [(1, draw.randint(1, 60)) for _ in range(40)]
    result = Splitting.of(members(sizes), seed=seed)
    (counts,) = result.counts().values()
    total = sum(samples for _, samples in sizes)

    for split, share in DEFAULT_SHARES.items():
        assert abs(counts[split] - share * total) <= 30


def test_tools_held_out_are_tested_on_only() -> None:
    held = {"t0", "t7"}
    result = Splitting.of(members([(1, 3)] * 30), hold_out=held)

    for group, split in zip(result.groups, result.splits, strict=True):
        if group.uses(held):
            assert split == "test"
    (counts,) = result.counts().values()
    assert counts == {"train": 72, "dev": 9, "test": 9}


def test_a_split_without_a_share_stays_empty() -> None:
    result = Splitting.of(members([(1, 1)] * 10), {"train": 0.5, "dev": 0.0, "test": 0.5})
    (counts,) = result.counts().values()

    assert counts == {"train": 5, "dev": 0, "test": 5}
