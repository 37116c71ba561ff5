"""ROUGE of many pairs of texts at once: the same numbers as `rouge.rouge`, each step over all pairs.

Tokens become numbers that are local to a pair: 1, 2, … for the reference's distinct tokens, 0 for any
candidate token the reference does not have. What two texts share is then counting over those numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain, count, repeat
from typing import TYPE_CHECKING

from toolassay.metrics.union_lcs import union_lcs_hits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Sentences = list[list[bytes]]

_FIRST_CHARACTER = 0xE000  # above the surrogates, so that any number is a character
_LAST_LOCAL = 0x10FFFF - _FIRST_CHARACTER
_MOST_SENTENCE_PAIRS = 4096
_LONGEST_CANDIDATE = 1024
_WORD = 64


def batch_rouge(pairs: Sequence[tuple[Sentences, Sentences]]) -> NDArray[np.float64]:
    """ROUGE-1, -2, -L and -Lsum F-measures of each pair (reference, candidate).

    Args:
        pairs: tokenised texts, one list of tokens a line (see `rouge.sentences`).

    Returns:
        An array of shape (pairs, 4).
    """
    import numpy as np

    from toolassay.metrics.union_lcs_batch import union_members

    gold, predicted = _Side(), _Side()
    for reference, candidate in pairs:
        tokens = list(chain.from_iterable(reference))
        numbers = dict(zip(dict.fromkeys(tokens), count(1), strict=False))
        gold.add(map(numbers.__getitem__, tokens), reference, len(numbers))
        predicted.add(map(numbers.get, chain.from_iterable(candidate), repeat(0)), candidate, 0)
    gold_sizes, predicted_sizes = gold.sizes(), predicted.sizes()
    total = gold_sizes + predicted_sizes
    # Every (pair, local number) has its own slot; slot 0 of a pair stands for tokens the gold lacks.
    slots = np.asarray(gold.distinct) + 1
    first_slot = np.cumsum(slots) - slots
    gold_slots = np.repeat(first_slot, gold_sizes) + gold.numbers()
    predicted_slots = np.repeat(first_slot, predicted_sizes) + predicted.numbers()
    owner = np.repeat(np.arange(len(pairs)), slots)
    available = np.bincount(predicted_slots, minlength=len(owner))
    available[first_slot] = 0

    def shared(gold_counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.bincount(owner, np.minimum(gold_counts, available), minlength=len(pairs)).astype(np.float64)

    unigrams = shared(np.bincount(gold_slots, minlength=len(owner)))
    bigrams = _shared_bigrams(gold, predicted, gold_slots, predicted_slots, len(pairs))
    longest = _longest_common(gold, predicted)
    small = [_is_small(*pair) for pair in pairs]
    members = union_members(gold, predicted, slots, np.array(small, dtype=bool))
    union = shared(np.bincount(gold_slots, members, minlength=len(owner)).astype(np.int64))
    for place, is_small in enumerate(small):
        if not is_small:
            union[place] = union_lcs_hits(*pairs[place])
    less = total - (gold_sizes > 0) - (predicted_sizes > 0)
    return np.column_stack(
        [
            2 * hits / np.maximum(length, 1)
            for hits, length in ((unigrams, total), (bigrams, less), (longest, total), (union, total))
        ]
    )


def _is_small(reference: Sentences, candidate: Sentences) -> bool:
    """Whether the union LCS fits machine words and a little memory; others are scored one by one."""
    return (
        len(reference) * len(candidate) <= _MOST_SENTENCE_PAIRS
        and max(map(len, reference), default=0) <= _WORD
        and max(map(len, candidate), default=0) <= _LONGEST_CANDIDATE
    )


class _Side:
    """The references, or the candidates, of all pairs, end to end."""

    def __init__(self) -> None:
        self.tokens = array("q")
        self.sentence_sizes = array("q")
        self.sentence_counts = array("q")
        self.distinct = array("q")
        self._sizes = array("q")

    def add(self, numbers: map[int], text: Sentences, distinct: int) -> None:
        before = len(self.tokens)
        self.tokens.extend(numbers)
        self.sentence_sizes.extend(map(len, text))
        self.sentence_counts.append(len(text))
        self.distinct.append(distinct)
        self._sizes.append(len(self.tokens) - before)

    def numbers(self) -> NDArray[np.int64]:
        import numpy as np

        return np.asarray(self.tokens, dtype=np.int64)

    def sizes(self) -> NDArray[np.int64]:
        import numpy as np

        return np.asarray(self._sizes, dtype=np.int64)

    def texts(self) -> list[str]:
        """Each text as a string with one character a token."""
        import numpy as np

        characters = np.minimum(self.numbers(), _LAST_LOCAL) + _FIRST_CHARACTER
        joined = characters.astype("<u4").tobytes().decode("utf-32-le")
        ends = np.cumsum(self.sizes()).tolist()
        return [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _shared_bigrams(
    gold: _Side,
    predicted: _Side,
    gold_slots: NDArray[np.int64],
    predicted_slots: NDArray[np.int64],
    pairs: int,
) -> NDArray[np.float64]:
    """How many bigrams each pair shares, repetitions counted."""
    import numpy as np

    base = int(max(gold.distinct, default=0)) + 1
    sides = []
    for side, slots in ((gold, gold_slots), (predicted, predicted_slots)):
        numbers = side.numbers()
        owner = np.repeat(np.arange(pairs), side.sizes())
        inside = (owner[1:] == owner[:-1]) & (numbers[1:] > 0) & (numbers[:-1] > 0)
        keys = slots[:-1][inside] * base + numbers[1:][inside]
        sides.append(np.unique(keys, return_counts=True))
    (wanted, wanted_counts), (given, given_counts) = sides
    _, of_wanted, of_given = np.intersect1d(wanted, given, assume_unique=True, return_indices=True)
    shared = np.minimum(wanted_counts[of_wanted], given_counts[of_given])
    slot_owner = np.repeat(np.arange(pairs), np.asarray(gold.distinct) + 1)
    return np.bincount(slot_owner[wanted[of_wanted] // base], shared, minlength=pairs).astype(np.float64)


def _longest_common(gold: _Side, predicted: _Side) -> NDArray[np.float64]:
    """The length of each pair's longest common subsequence."""
    import numpy as np
    from rapidfuzz.distance import LCSseq

    lengths = map(LCSseq.similarity, gold.texts(), predicted.texts())
    return np.fromiter(lengths, dtype=np.float64, count=len(gold.sizes()))
