"""ROUGE of many pairs of texts at once: the scores of `rouge.rouge`, vectorised over the pairs.

Tokens become numbers that are local to a pair and fit into a byte: 1, 2, … for the reference's distinct
tokens, 0 for any candidate token that the reference does not have. Shared n-grams are then counted with
`bincount`, and a text is a string with one character per token for the longest common subsequence.

The union LCS of ROUGE-Lsum uses one machine word per column of an LCS table. All pairs (reference sentence,
candidate sentence) advance together by one candidate token per step. They are sorted by the length of the
candidate, longest first, so that the pairs still running are the front part of each array.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from toolassay.metrics.rouge import NAMES, rouge_of_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray


Sentences = list[list[bytes]]

# Limits of a pair that is scored in the batch; others are scored alone, to the same numbers. A byte holds the
# number of a token and a machine word the positions of one reference sentence. The memory of the batch grows
# with the pairs of sentences and with the longest candidate.
_NUMBERS = range(1, 256)
_WORD = 64
_LONGEST_CANDIDATE = 1024
_MOST_SENTENCE_PAIRS = 4096


class RougeBatch:
    """Pairs of tokenised texts (see `rouge.sentences`), numbered in the order in which they are added.

    >>> batch = RougeBatch()
    >>> batch.add([[b"the", b"cat", b"sat"]], [[b"the", b"cat"]])
    >>> batch.scores().round(2).tolist()
    [[0.8, 0.67, 0.8, 0.8]]
    """

    def __init__(self) -> None:
        self._gold, self._predicted = _Side(), _Side()
        self._distinct = array("q")
        self._alone: dict[int, Sequence[float]] = {}

    def __len__(self) -> int:
        return len(self._distinct)

    def add(self, reference: Sentences, candidate: Sentences) -> None:
        """Add a pair."""
        tokens = list(chain.from_iterable(reference))
        numbers = dict(zip(dict.fromkeys(tokens), _NUMBERS, strict=False))
        sizes, candidate_sizes = list(map(len, reference)), list(map(len, candidate))
        if (
            len(numbers) == len(_NUMBERS)
            or len(sizes) * len(candidate_sizes) > _MOST_SENTENCE_PAIRS
            or (sizes and max(sizes) > _WORD)
            or (candidate_sizes and max(candidate_sizes) > _LONGEST_CANDIDATE)
        ):
            self._alone[len(self)] = rouge_of_tokens(reference, candidate)
            candidate, tokens, sizes, candidate_sizes, numbers = [], [], [], [], {}
        self._distinct.append(len(numbers))
        self._gold.add(bytes(map(numbers.__getitem__, tokens)), sizes)
        given = chain.from_iterable(candidate)
        self._predicted.add(bytes(map(numbers.get, given, repeat(0))), candidate_sizes)

    def scores(self) -> NDArray[np.float64]:
        """ROUGE-1, -2, -L and -Lsum F-measures: shape (pairs, 4), in the order of `rouge.NAMES`, 0 to 1."""
        gold, predicted, pairs = self._gold, self._predicted, len(self)
        if not pairs:
            return np.empty((0, len(NAMES)))
        gold_sizes, predicted_sizes = gold.sizes(), predicted.sizes()
        total = gold_sizes + predicted_sizes
        # Every (pair, number) has its own slot; slot 0 of a pair stands for tokens the gold lacks.
        slots = np.asarray(self._distinct) + 1
        first_slot = np.cumsum(slots) - slots
        gold_slots = np.repeat(first_slot, gold_sizes) + gold.numbers().astype(np.int64)
        predicted_slots = np.repeat(first_slot, predicted_sizes) + predicted.numbers().astype(np.int64)
        width = int(slots.sum())
        available = np.bincount(predicted_slots, minlength=width)
        available[first_slot] = 0

        def shared(counts: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.add.reduceat(np.minimum(counts, available), first_slot)

        members = union_members(gold, predicted, slots)
        hits = (
            shared(np.bincount(gold_slots, minlength=width)),
            _shared_bigrams(gold, predicted, gold_slots, predicted_slots, available > 0, slots),
            np.fromiter(map(_longest_common, gold.texts(), predicted.texts()), np.int64, pairs),
            shared(np.bincount(gold_slots[members], minlength=width)),
        )
        bigrams = total - (gold_sizes > 0) - (predicted_sizes > 0)
        lengths = (total, bigrams, total, total)
        scores = np.column_stack([2 * h / np.maximum(n, 1) for h, n in zip(hits, lengths, strict=True)])
        for place, alone in self._alone.items():
            scores[place] = alone
        return scores


def batch_rouge(pairs: Sequence[tuple[Sentences, Sentences]]) -> NDArray[np.float64]:
    """The scores of a `RougeBatch` of these pairs (reference, candidate)."""
    batch = RougeBatch()
    for pair in pairs:
        batch.add(*pair)
    return batch.scores()


class _Side:
    """The references of all pairs, or their candidates, concatenated.

    Attributes:
        tokens: the token numbers.
        sentence_sizes: number of tokens in each sentence.
        sentence_counts: number of sentences in each text.
    """

    def __init__(self) -> None:
        self.tokens = bytearray()
        self.sentence_sizes = array("q")
        self.sentence_counts = array("q")
        self._sizes = array("q")

    def add(self, numbers: bytes, sentence_sizes: list[int]) -> None:
        self.tokens += numbers
        self.sentence_sizes.fromlist(sentence_sizes)
        self.sentence_counts.append(len(sentence_sizes))
        self._sizes.append(len(numbers))

    def numbers(self) -> NDArray[np.uint8]:
        return np.frombuffer(bytes(self.tokens), dtype=np.uint8)

    def sizes(self) -> NDArray[np.int64]:
        return _array(self._sizes)

    def texts(self) -> list[str]:
        """Each text as a string with one character per token."""
        joined = self.tokens.decode("latin-1")
        ends = np.cumsum(self.sizes()).tolist()
        return [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _longest_common(gold: str, predicted: str) -> int:
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(gold, predicted)


def _shared_bigrams(
    gold: _Side,
    predicted: _Side,
    gold_slots: NDArray[np.int64],
    predicted_slots: NDArray[np.int64],
    is_shared: NDArray[np.bool_],
    slots: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The number of bigrams that each pair shares, with repetitions: shape (pairs,)."""
    sides = []
    for side, places in ((gold, gold_slots), (predicted, predicted_slots)):
        inside = is_shared[places]
        inside = inside[1:] & inside[:-1]
        ends = np.cumsum(side.sizes())[:-1] - 1  # a text's last token and the next text's first are no bigram
        inside[ends[(ends >= 0) & (ends < len(inside))]] = False
        keys = np.flatnonzero(inside)
        keys = places[keys] << 8 | side.numbers()[keys + 1]
        keys.sort()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        sides.append((keys[starts], np.diff(starts, append=len(keys))))
    (wanted, wanted_counts), (given, given_counts) = sides
    if not len(wanted):
        return np.zeros(len(slots), dtype=np.int64)
    found = np.minimum(np.searchsorted(wanted, given), len(wanted) - 1)
    is_found = wanted[found] == given
    counts = np.minimum(wanted_counts[found], given_counts)[is_found]
    owners = np.searchsorted(np.cumsum(slots), given[is_found] >> 8, side="right")
    return np.bincount(owners, counts, minlength=len(slots)).astype(np.int64)


def union_members(gold: _Side, predicted: _Side, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each reference token is in the union LCS of its sentence with the candidate's sentences.

    Args:
        gold: the references; a sentence has at most 64 tokens.
        predicted: the candidates, with the token numbers of their references and 0 for other tokens.
        slots: number of token numbers of each text, including 0: shape (texts,).

    Returns:
        Shape (reference tokens,).
    """
    gold_sizes, gold_counts = _array(gold.sentence_sizes), _array(gold.sentence_counts)
    predicted_counts = _array(predicted.sentence_counts)
    # Of a run of candidate tokens that the reference lacks one is enough, since the traceback passes the
    # others without moving, and none at the start of a sentence.
    tokens = predicted.numbers()
    predicted_ends = np.cumsum(_array(predicted.sentence_sizes))
    is_kept = tokens > 0
    after_known = np.concatenate([[False], is_kept[:-1]])
    after_known[predicted_ends[:-1]] = False
    is_kept |= after_known
    predicted_sizes = np.diff(np.cumsum(is_kept)[predicted_ends - 1], prepend=0)
    tokens = tokens[is_kept]
    text = np.repeat(np.arange(len(slots)), gold_counts)
    places = _ramp(gold_sizes)
    word = np.uint32 if gold_sizes.max(initial=0) <= 32 else np.uint64
    # The positions of each token in each reference sentence, as bits.
    width = slots[text]
    first_entry = np.cumsum(width) - width
    table = np.zeros(int(width.sum()), dtype=word)
    np.bitwise_or.at(table, np.repeat(first_entry, gold_sizes) + gold.numbers(), _bits(places, word))
    # One row for each pair of a reference sentence and a candidate sentence of the same text.
    partners = predicted_counts[text]
    reference = np.repeat(np.arange(len(text)), partners)
    candidate = (np.cumsum(predicted_counts) - predicted_counts)[text[reference]] + _ramp(partners)
    order = np.argsort(-predicted_sizes[candidate], kind="stable")
    reference, candidate = reference[order], candidate[order]
    found = _lcs_members(
        table,
        first_entry[reference],
        (_bits(gold_sizes - 1, word) << word(1)) - word(1),
        reference,
        tokens,
        (np.cumsum(predicted_sizes) - predicted_sizes)[candidate],
        predicted_sizes[candidate],
    )
    union = np.zeros(len(text), dtype=word)
    np.bitwise_or.at(union, reference, found)
    is_member: NDArray[np.bool_] = np.repeat(union, gold_sizes) & _bits(places, word) > 0
    return is_member


def _lcs_members(
    table: NDArray[Any],
    first_entry: NDArray[np.int64],
    full: NDArray[Any],
    reference: NDArray[np.int64],
    tokens: NDArray[np.uint8],
    start: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> NDArray[Any]:
    """The reference positions of one LCS for each row, as bits: `rouge._lcs_positions` over all rows.

    Args:
        table: the positions of each token in each reference sentence.
        first_entry: index into `table` for the reference sentence of each row.
        full: the bits of all positions of each reference sentence.
        reference: the reference sentence of each row.
        tokens: the token numbers of all candidates.
        start: index into `tokens` for the candidate sentence of each row.
        sizes: number of tokens in the candidate sentence of each row, in descending order.
    """
    full = full[reference]
    one = table.dtype.type(1)
    shifts = [table.dtype.type(2**n) for n in range(5 if table.dtype == np.uint32 else 6)]
    steps = int(sizes[0]) if len(sizes) else 0
    running = np.searchsorted(-sizes, -np.arange(steps), side="left").tolist()
    flat = full.copy()
    columns: list[NDArray[Any]] = []
    stops: list[NDArray[Any]] = []
    for step, front in enumerate(running):
        column = table[first_entry[:front] + tokens[start[:front] + step]]
        state = flat[:front]
        matched = state & column
        np.bitwise_and((state + matched) | (state - matched), full[:front], out=state)
        columns.append(column)
        stops.append(column | (full[:front] ^ state))
    members = np.zeros(len(sizes), dtype=table.dtype)
    rows = full
    for front, column, stop in zip(reversed(running), reversed(columns), reversed(stops), strict=True):
        reached = stop
        reached &= rows[:front]
        for shift in shifts:  # sets all bits below the highest one
            reached |= reached >> shift
        hit = (reached ^ (reached >> one)) & column
        members[:front] |= hit
        rows[:front] = reached ^ hit
    return members


def _bits(places: NDArray[np.int64], word: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """A word with the bit of each place set."""
    bits: NDArray[Any] = word(1) << places.astype(word)
    return bits


def _ramp(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The concatenation of 0, 1, … size - 1 for each size."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)


def _array(numbers: array[int]) -> NDArray[np.int64]:
    return np.asarray(numbers, dtype=np.int64)
