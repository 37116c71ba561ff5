"""ROUGE of many pairs of texts at once, vectorised over pairs; equal to `rouge.rouge` of each pair.

Tokens become numbers that are local to a pair: 1, 2, … for the distinct tokens of the reference, 0 for any
candidate token that the reference lacks. Overlaps are counts of these numbers.

For the union LCS of ROUGE-Lsum, one machine word holds a row of an LCS table. All pairs of a reference
sentence and a candidate sentence advance together, by one candidate token per step. The longest candidates
come first, so the pairs that are not finished are always the front of the arrays.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Protocol

import numpy as np

from toolassay.metrics.rouge import union_lcs_hits

if TYPE_CHECKING:
    from numpy.typing import NDArray


Sentences = list[list[bytes]]

_FIRST_CHARACTER = 0xE000  # above the surrogates, so that any number is a character
_LAST_LOCAL = 0x10FFFF - _FIRST_CHARACTER
_MOST_SENTENCE_PAIRS = 4096  # of a text; together with the next, it bounds the memory of `_lcs_members`
_LONGEST_CANDIDATE = 1024  # tokens of a sentence
_WORD = 64  # bits of a machine word; tokens of a reference sentence


def batch_rouge(pairs: Sequence[tuple[Sentences, Sentences]]) -> NDArray[np.float64]:
    """ROUGE-1, -2, -L and -Lsum F-measures of each pair (reference, candidate).

    Args:
        pairs: tokenised texts, with a list of tokens per line (`rouge.sentences`).

    Returns:
        The F-measures, shape (pairs, 4).
    """
    gold, predicted = _Side(), _Side()
    for reference, candidate in pairs:
        tokens = list(chain.from_iterable(reference))
        numbers = dict(zip(dict.fromkeys(tokens), count(1), strict=False))
        gold.add(map(numbers.__getitem__, tokens), reference, len(numbers))
        predicted.add(map(numbers.get, chain.from_iterable(candidate), repeat(0)), candidate, 0)
    gold_sizes, predicted_sizes = gold.sizes(), predicted.sizes()
    total = gold_sizes + predicted_sizes
    # Every (pair, local number) has a slot; slot 0 of a pair is for tokens that the gold text lacks.
    slots = np.asarray(gold.distinct) + 1
    first_slot = np.cumsum(slots) - slots
    gold_slots = np.repeat(first_slot, gold_sizes) + gold.numbers()
    predicted_slots = np.repeat(first_slot, predicted_sizes) + predicted.numbers()
    owner = np.repeat(np.arange(len(pairs)), slots)
    available = np.bincount(predicted_slots, minlength=len(owner))
    available[first_slot] = 0

    def shared(gold_counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """The tokens that each pair shares, clipped by the candidate's counts."""
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
    """Whether the union LCS fits into machine words and bounded memory; other pairs are scored one by one."""
    return (
        len(reference) * len(candidate) <= _MOST_SENTENCE_PAIRS
        and max(map(len, reference), default=0) <= _WORD
        and max(map(len, candidate), default=0) <= _LONGEST_CANDIDATE
    )


class _Side:
    """The references, or the candidates, of all pairs in flat arrays, one text after the other."""

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
        return np.asarray(self.tokens, dtype=np.int64)

    def sizes(self) -> NDArray[np.int64]:
        return np.asarray(self._sizes, dtype=np.int64)

    def texts(self) -> list[str]:
        """Each text as a string with one character per token, which `rapidfuzz` compares fastest."""
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
    """The number of bigrams that each pair shares, as multisets."""
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
    from rapidfuzz.distance import LCSseq

    lengths = map(LCSseq.similarity, gold.texts(), predicted.texts())
    return np.fromiter(lengths, dtype=np.float64, count=len(gold.sizes()))


_ONE = np.uint64(1)
# Or-ing a word with itself shifted by each of these sets all bits below its highest one.
_SMEARS = tuple(np.uint64(shift) for shift in (1, 2, 4, 8, 16, 32))


class Texts(Protocol):
    """Texts in flat arrays: token numbers, sizes of sentences, and the number of sentences of each text."""

    tokens: array[int]
    sentence_sizes: array[int]
    sentence_counts: array[int]


def union_members(
    gold: Texts, predicted: Texts, slots: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which reference tokens are in the union LCS of their sentence with the candidate's sentences.

    Args:
        gold: the references; no sentence of a chosen text is longer than 64 tokens.
        predicted: the candidates, numbered like their references; 0 for tokens that the reference lacks.
        slots: the number of token numbers that each text uses, 0 included.
        chosen: the texts to compute; tokens of other texts are never members.

    Returns:
        A truth value for each reference token.
    """
    gold_sizes, predicted_sizes = _array(gold.sentence_sizes), _array(predicted.sentence_sizes)
    gold_counts, predicted_counts = _array(gold.sentence_counts), _array(predicted.sentence_counts)
    text = np.repeat(np.arange(len(slots)), gold_counts)
    places = _ramp(gold_sizes)
    table, first_entry = _match_table(gold, gold_sizes, places, text, slots)
    # One row for each reference sentence and each candidate sentence of the same text.
    partners = np.where(chosen, predicted_counts, 0)[text]
    reference = np.repeat(np.arange(len(text)), partners)
    candidate = (np.cumsum(predicted_counts) - predicted_counts)[text[reference]] + _ramp(partners)
    order = np.argsort(-predicted_sizes[candidate], kind="stable")
    reference, candidate = reference[order], candidate[order]
    found = _lcs_members(
        table,
        first_entry[reference],
        _full(gold_sizes)[reference],
        _array(predicted.tokens),
        (np.cumsum(predicted_sizes) - predicted_sizes)[candidate],
        predicted_sizes[candidate],
    )
    union = np.zeros(len(text), dtype=np.uint64)
    np.bitwise_or.at(union, reference, found)
    return (np.repeat(union, gold_sizes) >> np.minimum(places, 63).astype(np.uint64) & _ONE).astype(bool)


def _match_table(
    gold: Texts,
    sizes: NDArray[np.int64],
    places: NDArray[np.int64],
    text: NDArray[np.int64],
    slots: NDArray[np.int64],
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """For each reference sentence and token number, the positions of the token as bits."""
    width = slots[text]
    first_entry = np.cumsum(width) - width
    table = np.zeros(int(width.sum()), dtype=np.uint64)
    entries = np.repeat(first_entry, sizes) + _array(gold.tokens)
    np.bitwise_or.at(table, entries, _ONE << np.minimum(places, 63).astype(np.uint64))
    return table, first_entry


def _lcs_members(
    table: NDArray[np.uint64],
    first_entry: NDArray[np.int64],
    full: NDArray[np.uint64],
    tokens: NDArray[np.int64],
    start: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> NDArray[np.uint64]:
    """The reference positions of one LCS per row, as bits; rows are sorted by descending candidate size.

    The steps and the walk back are those of `rouge._lcs_positions`.
    """
    steps = int(sizes[0]) if len(sizes) else 0
    running = np.searchsorted(-sizes, -np.arange(steps), side="left").tolist()
    flat = full.copy()
    columns: list[NDArray[np.uint64]] = []
    stops: list[NDArray[np.uint64]] = []
    for step, front in enumerate(running):
        column = table[first_entry[:front] + tokens[start[:front] + step]]
        state = flat[:front]
        matched = state & column
        np.bitwise_and((state + matched) | (state - matched), full[:front], out=state)
        columns.append(column)
        stops.append(column | (full[:front] & ~state))
    members = np.zeros(len(sizes), dtype=np.uint64)
    rows = full.copy()
    for front, column, stop in zip(reversed(running), reversed(columns), reversed(stops), strict=True):
        reached = stop & rows[:front]
        for shift in _SMEARS:
            reached |= reached >> shift
        hit = (reached ^ (reached >> _ONE)) & column
        members[:front] |= hit
        rows[:front] = reached ^ hit
    return members


def _full(sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """For each size up to 64, a word with that number of low bits set."""
    kept = np.minimum(sizes, 63).astype(np.uint64)
    return np.where(sizes >= 64, ~np.uint64(0), (_ONE << kept) - _ONE)


def _ramp(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … size-1 for each size, concatenated."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)


def _array(numbers: array[int]) -> NDArray[np.int64]:
    return np.asarray(numbers, dtype=np.int64)
