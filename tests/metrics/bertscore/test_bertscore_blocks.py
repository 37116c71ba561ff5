from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from toolassay.metrics.bertscore.encoder import TextPair, batches, related_order, scored_blocks

texts = st.text(alphabet="ab ", max_size=6)
pairs_of_texts = st.lists(st.tuples(texts, texts), unique=True, max_size=30)


class Counting:
    """An encoder whose tokens are letters, and whose scores can be worked out by hand."""

    def __init__(self, tokens_at_once: int) -> None:
        self.tokens_at_once = tokens_at_once
        self.embedded: Counter[str] = Counter()
        self.largest = 0

    def tokens(self, text: str) -> list[int]:
        return [ord(letter) for letter in text.strip()]

    def embed(self, texts: Mapping[str, list[int]]) -> dict[str, Any]:
        self.embedded.update(texts.keys())
        return {text: sum(tokens) for text, tokens in texts.items()}

    def match(self, pairs: Sequence[TextPair], embedded: Mapping[str, Any]) -> NDArray[np.float64]:
        self.largest = max(self.largest, sum(len(self.tokens(text)) for text in embedded))
        return np.array([[embedded[gold], embedded[predicted], 1] for gold, predicted in pairs], dtype=float)


def by_hand(pair: TextPair) -> list[float]:
    sums = [sum(map(ord, text.strip())) for text in pair]
    return [*sums, 1.0] if all(sums) else [0.0, 0.0, 0.0]


@given(pairs_of_texts, st.integers(1, 60))
def test_every_pair_is_scored_once_whatever_fits_into_memory(pairs: list[TextPair], budget: int) -> None:
    found = {
        number: row
        for numbers, rows in scored_blocks(Counting(budget), pairs)
        for number, row in zip(numbers, rows.tolist(), strict=True)
    }
    assert found == {number: by_hand(pair) for number, pair in enumerate(pairs)}


@given(pairs_of_texts)
def test_a_text_is_embedded_once_where_all_fit(pairs: list[TextPair]) -> None:
    encoder = Counting(10_000)
    list(scored_blocks(encoder, pairs))
    assert set(encoder.embedded.values()) <= {1}


def test_a_text_that_many_pairs_share_is_embedded_once_in_little_memory() -> None:
    encoder = Counting(40)
    pairs = [("shared", f"own {number:04d}") for number in range(500)]
    blocks = list(scored_blocks(encoder, pairs))
    assert len(blocks) > 100
    assert set(encoder.embedded.values()) == {1}
    assert encoder.largest <= 40


@given(pairs_of_texts)
def test_pairs_that_share_a_text_stand_together(pairs: list[TextPair]) -> None:
    order = related_order(pairs)
    assert sorted(order) == list(range(len(pairs)))
    golds = [pairs[number][0] for number in order]
    runs = [gold for at, gold in enumerate(golds) if at == 0 or golds[at - 1] != gold]
    assert len(runs) == len(set(runs))


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 100))
def test_batches_hold_everything_once_and_no_more_than_the_budget(lengths: list[int], budget: int) -> None:
    found = list(batches(lengths, budget))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) == 1 or max(lengths[place] for place in batch) * len(batch) <= budget
