"""How varied words are, and how alike requests."""

from __future__ import annotations

import random

import numpy as np
import pytest

from toolassay.variety.diversity import distinct, moving_type_token_ratio, nearest_rouge

WORDS = list("abcdefghijklmnop")


def made_up(count: int, seed: int = 0) -> list[list[str]]:
    chance = random.Random(seed)
    return [chance.choices(WORDS, k=chance.randint(1, 12)) for _ in range(count)]


def test_distinct_counts_runs_within_texts() -> None:
    texts = [["a", "b", "a"], ["b", "a"]]
    assert [distinct(texts, length) for length in (1, 2, 3, 4)] == [2 / 5, 2 / 3, 1, None]
    assert distinct([], 1) is None


def test_the_moving_ratio_is_that_of_every_window() -> None:
    texts = made_up(20)
    run = [word for text in texts for word in text]
    windows = [len(set(run[start : start + 10])) / 10 for start in range(len(run) - 9)]
    assert moving_type_token_ratio(texts, 10) == pytest.approx(sum(windows) / len(windows))
    assert moving_type_token_ratio([["a", "a"]], 10) == 0.5
    assert moving_type_token_ratio([]) is None


def test_likeness_is_rouge_l_with_the_nearest_other() -> None:
    texts = made_up(30)
    expected = [
        max(f1(" ".join(one), " ".join(other)) for place, other in enumerate(texts) if place != mine)
        for mine, one in enumerate(texts)
    ]
    assert nearest_rouge(texts) == pytest.approx(np.array(expected))


def f1(one: str, other: str) -> float:
    a, b = one.split(), other.split()
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, word in enumerate(a):
        for j, second in enumerate(b):
            rows[i + 1][j + 1] = rows[i][j] + 1 if word == second else max(rows[i][j + 1], rows[i + 1][j])
    return 2 * rows[-1][-1] / (len(a) + len(b))


def test_likeness_of_few_and_of_many_words() -> None:
    assert nearest_rouge([]).tolist() == [] and nearest_rouge([["a"]]).tolist() == [0]
    assert nearest_rouge([["a"], ["a"]]).tolist() == [1, 1]
    many = [[f"w{number}" for number in range(56_000)], ["w55999", "w0"]]
    assert nearest_rouge(many)[1] == pytest.approx(2 / 56_002)
    assert len(nearest_rouge(made_up(300))) == 300
