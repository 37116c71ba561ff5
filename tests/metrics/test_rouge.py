from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from toolassay.metrics.rouge import NAMES, TextPair, rouge, rouge_scorer

_SCORER = RougeScorer(list(NAMES))

words = st.sampled_from([*"abcd", "the", "A", "9", "İx", "é", "café", "中文", "K", "ß", "-", ""])
lines = st.lists(words, max_size=12).map(" ".join)
texts = st.lists(lines, max_size=5).map("\n".join) | st.text(max_size=60)
pairs = st.lists(st.tuples(texts, texts), max_size=6)


def _reference(pairs: Sequence[TextPair]) -> list[list[float]]:
    found = [_SCORER.score(*pair) for pair in pairs]
    return [[scores[name].fmeasure for name in NAMES] for scores in found]


def _assert_equal(pairs: Sequence[TextPair]) -> None:
    reference = np.array(_reference(pairs)).reshape(-1, len(NAMES))
    np.testing.assert_allclose(rouge(pairs), reference, rtol=0, atol=1e-12)


@given(pairs)
@settings(max_examples=30, deadline=None)
def test_pairs_scored_together_equal_rouge_score(pairs: list[TextPair]) -> None:
    _assert_equal(pairs)


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_ties_between_subsequences_are_broken_as_in_rouge_score(seed: int) -> None:
    generator = np.random.default_rng(seed)

    def text() -> str:
        sizes = generator.integers(1, 30, generator.integers(1, 6))
        return "\n".join(" ".join(f"w{n}" for n in generator.integers(0, 25, size)) for size in sizes)

    _assert_equal([(text(), text()) for _ in range(3)])


def test_long_texts_equal_rouge_score() -> None:
    generator = np.random.default_rng(0)
    many = [
        ("\n".join(f"w{n % 7} x w{n % 3}" for n in range(80)), "\n".join(f"w{n % 5} x" for n in range(80))),
        ("a" * 23 + " abcdefgh abcdefghi", "abcdefghi " + "a" * 23 + " abcdefgh"),
    ]
    for size in (62, 130, 1500):
        gold, predicted = (" ".join(generator.choice(list("abcdefgh"), size)) for _ in range(2))
        many.append((gold, f"{predicted}\na b c d"))
    _assert_equal(many)


def test_scores_do_not_depend_on_the_other_pairs() -> None:
    generator = np.random.default_rng(0)
    sizes = [*generator.integers(1, 40, 80), 2400, 2400, 2400, 2400]  # the long pairs fill a batch each
    drawn = [" ".join(generator.choice(list("abcd"), size)) for size in sizes]
    many = list(zip(drawn[::2], drawn[1::2], strict=True))
    assert rouge(many).tolist() == [rouge([pair])[0].tolist() for pair in many]


@given(pairs)
@settings(max_examples=50, deadline=None)
def test_the_backend_gives_the_numbers_of_rouge_score_itself(pairs: list[TextPair]) -> None:
    assert rouge_scorer("rouge-score")(pairs).tolist() == _reference(pairs)
