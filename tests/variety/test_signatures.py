"""Signatures, and the pairs they bring together."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from toolassay.variety.minhash import (
    MAX_NEIGHBOURS,
    PERMUTATIONS,
    band_groups,
    equal_groups,
    jaccard,
    lsh_pairs,
    rows_per_band,
    shingle_numbers,
    shingles,
    write_signatures,
)

FIRST_NUMBERS = [36354155, 443391889, 63016073]


def test_they_are_the_same_in_every_process(tmp_path: Path) -> None:
    signatures = write_signatures(["crop photo not bigger"], tmp_path / "signatures")
    assert signatures[0, :3].tolist() == FIRST_NUMBERS


def test_they_estimate_the_likeness_of_texts(tmp_path: Path) -> None:
    chance = random.Random(0)
    vocabulary = ["".join(chance.choices("abcdefgh", k=6)) for _ in range(300)]
    one = chance.sample(vocabulary, 60)
    for changed in (0, 10, 30):
        other = [*one[changed:], *chance.sample(vocabulary, changed)]
        texts = " ".join(one), " ".join(other)
        rows = write_signatures(texts, tmp_path / "signatures")
        truth = jaccard(shingles(texts[0]), shingles(texts[1]))
        assert float((rows[0] == rows[1]).mean()) == pytest.approx(truth, abs=0.1)


def test_texts_shorter_than_a_shingle_have_one(tmp_path: Path) -> None:
    for text in ("", "a", "ab"):
        assert len(shingle_numbers(text)) == len(shingles(text)) == 1
    assert shingle_numbers("").tolist() != shingle_numbers("a").tolist()
    assert write_signatures([], tmp_path / "none").shape == (0, PERMUTATIONS)
    assert len(set(shingle_numbers("crop 😀").tolist())) == len(shingles("crop 😀"))


def test_a_pair_at_the_threshold_is_met_with_the_chance_that_is_asked() -> None:
    for threshold in (0.4, 0.6, 0.8, 1.0):
        rows = rows_per_band(threshold, PERMUTATIONS)
        assert 1 - (1 - threshold**rows) ** (PERMUTATIONS // rows) >= 0.97


def test_texts_that_agree_in_one_band_are_met() -> None:
    signatures = np.arange(40, dtype=np.uint32).reshape(4, 10)
    signatures[3, 5:] = signatures[1, 5:]
    met = [
        (one.tolist(), other.tolist())
        for group in band_groups(signatures, 5)
        for one, other in lsh_pairs(*group)
    ]
    assert met == [([1], [3])]


def test_a_crowd_meets_its_first_and_its_neighbours_and_no_more() -> None:
    size = 4 * MAX_NEIGHBOURS
    met = {
        pair
        for one, other in lsh_pairs(*equal_groups(np.zeros(size, np.uint64)))
        for pair in zip(one.tolist(), other.tolist(), strict=True)
    }
    assert met == {
        (one, other)
        for other in range(size)
        for one in range(other)
        if one < MAX_NEIGHBOURS or other - one <= MAX_NEIGHBOURS
    }


def test_a_small_group_meets_whole() -> None:
    met = [
        pair
        for one, other in lsh_pairs(*equal_groups(np.array([9, 9, 1, 9], np.uint64)))
        for pair in zip(one, other, strict=True)
    ]
    assert sorted(met) == [(0, 1), (0, 3), (1, 3)]
