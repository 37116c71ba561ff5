from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from toolassay.metrics.rouge import NAMES, rouge, rouge_scorer

_SCORER = RougeScorer(list(NAMES))

words = st.sampled_from([*"abcd", "the", "A", "9", "İx", "é", "café", "中文", "K", "ß", "-", ""])
lines = st.lists(words, max_size=12).map(" ".join)
texts = st.lists(lines, max_size=5).map("\n".join) | st.text(max_size=60)
pairs = st.tuples(texts, texts)


def _reference(gold: str, predicted: str) -> list[float]:
    scores = _SCORER.score(gold, predicted)
    return [scores[name].fmeasure for name in NAMES]


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_one_pair_equals_rouge_score(pair: tuple[str, str]) -> None:
    assert np.abs(np.array(rouge(*pair)) - _reference(*pair)).max() < 1e-12


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_ties_between_subsequences_are_broken_as_in_rouge_score(seed: int) -> None:
    generator = np.random.default_rng(seed)

    def text() -> str:
        sizes = generator.integers(1, 30, generator.integers(1, 6))
        return "\n".join(" ".join(f"w{n}" for n in generator.integers(0, 25, size)) for size in sizes)

    pair = text(), text()
    assert np.abs(np.array(rouge(*pair)) - _reference(*pair)).max() < 1e-12


def test_long_texts_equal_rouge_score() -> None:
    generator = np.random.default_rng(0)
    many = [
        ("\n".join(f"w{n % 7} x w{n % 3}" for n in range(80)), "\n".join(f"w{n % 5} x" for n in range(80))),
        ("a" * 23 + " abcdefgh abcdefghi", "abcdefghi " + "a" * 23 + " abcdefgh"),
    ]
    for size in (62, 130, 1500):
        gold, predicted = (" ".join(generator.choice(list("abcdefgh"), size)) for _ in range(2))
        many.append((gold, f"{predicted}\na b c d"))
    for pair in many:
        assert np.abs(np.array(rouge(*pair)) - _reference(*pair)).max() < 1e-12


@given(pairs)
@settings(max_examples=50, deadline=None)
def test_the_backend_gives_the_numbers_of_rouge_score_itself(pair: tuple[str, str]) -> None:
    assert list(rouge_scorer("rouge-score")(*pair)) == _reference(*pair)
