from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from toolassay.metrics.rouge import NAMES, RougeCollector, rouge, union_lcs_hits
from toolassay.metrics.rouge_batch import batch_rouge

_SCORER = RougeScorer(list(NAMES))

words = st.sampled_from([*"abcd", "the", "A", "9", "İx", "é", "café", "中文", "K", "ß", "-", ""])
lines = st.lists(words, max_size=12).map(" ".join)
texts = st.lists(lines, max_size=5).map("\n".join) | st.text(max_size=60)
pairs = st.tuples(texts, texts)


def _reference(gold: str, predicted: str) -> list[float]:
    scores = _SCORER.score(gold, predicted)
    return [scores[name].fmeasure for name in NAMES]


@given(pairs)
@settings(max_examples=300, deadline=None)
def test_one_pair_equals_rouge_score(pair: tuple[str, str]) -> None:
    assert np.abs(np.array(rouge(*pair)) - _reference(*pair)).max() < 1e-12


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_ties_between_subsequences_are_broken_as_in_rouge_score(seed: int) -> None:
    generator = np.random.default_rng(seed)

    def text() -> str:
        sizes = generator.integers(1, 30, generator.integers(1, 6))
        return "\n".join(" ".join(f"w{n}" for n in generator.integers(0, 25, size)) for size in sizes)

    many = [(text(), text()) for _ in range(5)]
    scores = batch_rouge(many)
    assert np.abs(scores - [_reference(*pair) for pair in many]).max() < 1e-12


@given(st.lists(pairs, max_size=6))
@settings(deadline=None)
def test_many_pairs_equal_rouge_score(many: list[tuple[str, str]]) -> None:
    collector = RougeCollector()
    numbers = [collector.add(*pair) for pair in many]
    expected = np.array([_reference(*pair) for pair in many]).reshape(-1, 4)
    assert np.abs(collector.scores()[numbers] - expected).max(initial=0) < 1e-12


@pytest.mark.parametrize(
    "text", ["", "-", "a", "A.", "a b", "-A-B", "a\u212ab", "\u212a b", "é", "a é", "ẞa\n\n9"]
)
def test_equal_texts_equal_rouge_score(text: str) -> None:
    assert batch_rouge([(text, text)]).tolist() == [_reference(text, text)]


def test_long_sentences_go_beyond_one_machine_word() -> None:
    generator = np.random.default_rng(0)
    many = []
    for size in (62, 63, 64, 65, 66, 130, 1500):
        gold = " ".join(generator.choice(list("abcdefgh"), size))
        predicted = " ".join(generator.choice(list("abcdefgh"), size)) + "\na b c d"
        many.append((gold, predicted))
    scores = batch_rouge(many)
    for row, pair in zip(scores, many, strict=True):
        assert np.abs(row - _reference(*pair)).max() < 1e-12


def test_many_sentences_are_scored_one_by_one_to_the_same_number() -> None:
    gold = "\n".join(f"w{n % 7} x w{n % 3}" for n in range(80))
    predicted = "\n".join(f"w{n % 5} x" for n in range(80))
    scores = batch_rouge([(gold, predicted)])
    assert np.abs(scores[0] - _reference(gold, predicted)).max() < 1e-12


def test_long_tokens_and_many_distinct_ones() -> None:
    long = "a" * 23
    many = [
        (f"{long} {long}b {long}bc {long}bcd", f"{long}bcd {long}bc {long}x {long}"),
        (" ".join(f"w{n}" for n in range(256)), " ".join(f"w{n}" for n in range(0, 300, 3))),
        (" ".join(f"w{n}" for n in range(255)), " ".join(f"w{n}" for n in range(0, 300, 3))),
        ("abcdefgh abcdefghi abcdefgh1 b", "abcdefghi abcdefgh abcdefgh2 b"),
    ]
    many = [("\n".join(gold[at : at + 99] for at in range(0, len(gold), 99)), given) for gold, given in many]
    assert np.abs(batch_rouge(many) - [_reference(*pair) for pair in many]).max() < 1e-12


def test_each_distinct_pair_has_one_number() -> None:
    collector = RougeCollector()
    assert [collector.add(*pair) for pair in (("a", "b"), ("a", "c"), ("a", "b"))] == [0, 1, 0]
    # The boundary between the texts belongs to the pair.
    assert collector.add("ab", "c") != collector.add("a", "bc")
    assert collector.scores().shape == (4, 4)


def test_pairs_added_after_scoring_are_scored_too() -> None:
    collector = RougeCollector()
    collector.add("a", "a")
    collector.scores()
    collector.add("a", "b")
    assert collector.scores()[:, 0].tolist() == [1.0, 0.0]


def test_nothing_to_compare() -> None:
    assert RougeCollector().scores().shape == (0, 4)
    assert union_lcs_hits([], [["a"]]) == 0


@given(st.lists(pairs, max_size=4))
@settings(max_examples=50, deadline=None)
def test_the_collector_gives_the_numbers_of_rouge_score_itself(many: list[tuple[str, str]]) -> None:
    collector = RougeCollector("rouge-score")
    numbers = [collector.add(*pair) for pair in many]
    assert collector.scores()[numbers].tolist() == [_reference(*pair) for pair in many]


def test_rouge_score_skips_pairs_without_scores() -> None:
    collector = RougeCollector("rouge-score")
    assert [collector.add("a", "b", wanted=False), len(collector)] == [0, 1]
    assert collector.scores().shape == (0, 4)
