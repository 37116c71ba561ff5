"""ROUGE of many pairs of texts at once: the scores of `rouge.rouge`, vectorised over the pairs.

A token is compared as one machine word. Tokens then become numbers that are local to a pair and fit into a
byte: 1, 2, … for the reference's distinct tokens, 0 for any candidate token that the reference does not have.
Shared n-grams are counted with `bincount`, and a text is a string with one character per token for the
longest common subsequence.

The union LCS of ROUGE-Lsum uses one machine word per column of an LCS table. All pairs (reference sentence,
candidate sentence) advance together by one candidate token per step. They are sorted by the length of the
candidate, longest first, so that the pairs still running are the front part of each array.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rapidfuzz.distance import LCSseq

from toolassay.metrics.rouge import NAMES, TO_SPACE, rouge

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Limits of a pair that is scored in the batch; others are scored alone, to the same numbers. A byte holds the
# number of a token of the reference, and a machine word the positions of one of its sentences. The memory of
# the batch grows with the pairs of sentences and with the longest candidate.
_MOST_TOKENS = 255
_WORD = 64
_LONGEST_CANDIDATE = 1024
_MOST_SENTENCE_PAIRS = 4096


# Matches "Go on" and "a-b"; not "Go", ". on" or "". Of ASCII letters only, for others may become such.
_two_tokens = re.compile("[A-Za-z0-9][^A-Za-z0-9]+[A-Za-z0-9]").search


def batch_rouge(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """ROUGE-1, -2, -L and -Lsum F-measures of each pair (reference, candidate).

    Returns:
        Shape (pairs, 4), columns in the order of `rouge.NAMES`, each from 0 to 1.

    >>> batch_rouge([("the cat sat", "the cat")]).round(2).tolist()
    [[0.8, 0.67, 0.8, 0.8]]
    """
    scores = np.ones((len(pairs), len(NAMES)))
    different = []
    for place, (reference, candidate) in enumerate(pairs):
        if reference != candidate:
            different.append(place)
        elif not reference.isascii() or not _two_tokens(reference):
            scores[place] = rouge(reference, candidate)
    if different:
        scores[different] = _batch([pairs[place] for place in different])
    return scores


def _batch(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    long: dict[bytes, int] = {}
    gold, predicted = (_tokens([pair[side] for pair in pairs], long) for side in (0, 1))
    is_large = (
        (gold.sizes > _MOST_TOKENS)
        | (gold.longest_sentences() > _WORD)
        | (predicted.longest_sentences() > _LONGEST_CANDIDATE)
        | (gold.sentence_counts * predicted.sentence_counts > _MOST_SENTENCE_PAIRS)
    )
    large = np.flatnonzero(is_large).tolist()
    if large:
        gold, predicted = gold.without(is_large), predicted.without(is_large)
    scores = _scores(*_numbered(gold, predicted))
    for place in large:
        scores[place] = rouge(*pairs[place])
    return scores


class _Tokens(NamedTuple):
    """The tokens of the references of all pairs, or of their candidates.

    Attributes:
        words: each token as a word: its bytes, or for a long token a number.
        sizes: number of tokens in each text.
        sentence_sizes: number of tokens in each sentence, a line with tokens.
        sentence_counts: number of sentences in each text.
        numbers: the local number of each token.
    """

    words: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    sentence_sizes: NDArray[np.int64]
    sentence_counts: NDArray[np.int64]
    numbers: NDArray[np.uint8] = np.empty(0, np.uint8)

    def without(self, left_out: NDArray[np.bool_]) -> _Tokens:
        """These texts, of which some have no tokens."""
        return _Tokens(
            self.words[np.repeat(~left_out, self.sizes)],
            np.where(left_out, 0, self.sizes),
            self.sentence_sizes[np.repeat(~left_out, self.sentence_counts)],
            np.where(left_out, 0, self.sentence_counts),
        )

    def owners(self) -> NDArray[np.int64]:
        """The text of each token."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def longest_sentences(self) -> NDArray[np.int64]:
        """The number of tokens in the longest sentence of each text."""
        longest = np.zeros(len(self.sizes), dtype=np.int64)
        np.maximum.at(longest, np.repeat(np.arange(len(longest)), self.sentence_counts), self.sentence_sizes)
        return longest

    def texts(self) -> list[str]:
        """Each text as a string with one character per token."""
        joined = self.numbers.tobytes().decode("latin-1")
        ends = np.cumsum(self.sizes).tolist()
        return [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]


_TO_TOKENS = bytes(range(256)).lower().translate(TO_SPACE)  # of ASCII letters, which need no `str.lower`
_SPELLED = 8  # bytes of a token that a word holds; a longer token gets a number
_LONG = 1 << 63  # marks that number: no token has this bit, for its bytes are ASCII
_MASKS = np.array([2 ** (8 * size) - 1 for size in range(_SPELLED + 1)], dtype=np.uint64)


def _tokens(texts: Sequence[str], long: dict[bytes, int]) -> _Tokens:
    """The tokens of texts, as `rouge.sentences` finds them; `long` has the numbers of long ones."""
    encoded = [
        text.encode() if text.isascii() else text.lower().encode("utf-8", "surrogatepass") for text in texts
    ]
    joined = b"\n".join([*encoded, b" " * _SPELLED]).translate(_TO_TOKENS)
    letters = np.frombuffer(joined, dtype=np.uint8)
    is_letter = np.concatenate([[False], letters > ord(" ")])
    edges = np.flatnonzero(is_letter[1:] != is_letter[:-1])
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    ends = np.cumsum([len(text) + 1 for text in encoded])
    sizes = np.diff(np.searchsorted(starts, ends), prepend=0)
    line_ends = np.flatnonzero(letters == ord("\n"))
    in_line = np.diff(np.searchsorted(starts, line_ends), prepend=0)
    sentences_before = np.concatenate([[0], np.cumsum(in_line > 0)])[np.searchsorted(line_ends, ends)]
    # Eight bytes from any place on, as one little-endian word.
    eight = np.ndarray((len(joined) - 7,), np.dtype("<u8"), joined, strides=(1,))
    words = eight.take(starts) & _MASKS.take(np.minimum(lengths, _SPELLED))
    places = np.flatnonzero(lengths > _SPELLED)
    spans = zip(starts[places].tolist(), (starts + lengths)[places].tolist(), strict=True)
    numbers = [long.setdefault(joined[start:end], len(long)) for start, end in spans]
    words[places] = np.array(numbers, dtype=np.uint64) | np.uint64(_LONG)
    return _Tokens(words, sizes, in_line[in_line > 0], np.diff(sentences_before, prepend=0))


# Odd numbers with random bits. A product with one of them spreads keys over a table.
_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xFF51AFD7ED558CCD], dtype=np.uint64)


def _numbered(gold: _Tokens, predicted: _Tokens) -> tuple[_Tokens, _Tokens, NDArray[np.int64]]:
    """The tokens with their numbers, and how many numbers each pair has, including 0."""
    given = len(predicted.words)
    owners = np.concatenate([predicted.owners(), gold.owners()]).astype(np.uint64)
    same_as = _representatives(np.concatenate([predicted.words, gold.words]), owners)
    # References are last, so that a token that both texts have is represented by the reference.
    is_first = same_as[given:] == np.arange(given, len(owners))
    count = np.concatenate([[0], np.cumsum(is_first)])
    ends = np.cumsum(gold.sizes)
    distinct = np.diff(count[ends], prepend=0)
    local = count[1:] - np.repeat(count[ends - gold.sizes], gold.sizes)
    of_predicted = same_as[:given] - given
    is_known = of_predicted >= 0
    predicted_numbers = np.zeros(given, dtype=np.uint8)
    predicted_numbers[is_known] = local[of_predicted[is_known]]
    gold_numbers = local[same_as[given:] - given]
    return (
        gold._replace(numbers=gold_numbers.astype(np.uint8)),
        predicted._replace(numbers=predicted_numbers),
        distinct + 1,
    )


def _representatives(words: NDArray[np.uint64], owners: NDArray[np.uint64]) -> NDArray[np.int64]:
    """For each row the last row with the same word and the same owner.

    A hash table without chains: the last row of a slot wins it, rows equal to the winner are done, and the
    others try another hash. Each round ends at least one row.
    """
    # An odd factor keeps words apart, so rows with the same owner and the same key have the same word.
    all_keys = (words * _MULTIPLIERS[0]) ^ (owners * _MULTIPLIERS[1])
    keys, own, rows = all_keys, owners, np.arange(len(words))
    same_as = np.empty(len(words), dtype=np.int64)
    bits = max(4, len(words).bit_length() + 1)
    winners = np.empty(2**bits, dtype=np.int64)
    multiplier = _MULTIPLIERS[2]
    while len(rows):
        slots = (keys * multiplier) >> np.uint64(64 - bits)
        winners[slots] = rows
        found = winners.take(slots.view(np.int64))
        is_same = (all_keys.take(found) == keys) & (owners.take(found) == own)
        same_as[rows[is_same]] = found[is_same]
        is_left = ~is_same
        keys, own, rows = keys[is_left], own[is_left], rows[is_left]
        multiplier += np.uint64(2)
    return same_as


def _scores(gold: _Tokens, predicted: _Tokens, slots: NDArray[np.int64]) -> NDArray[np.float64]:
    total = gold.sizes + predicted.sizes
    # Every (pair, number) has its own slot; slot 0 of a pair stands for tokens the gold lacks.
    first_slot = np.cumsum(slots) - slots
    gold_slots = np.repeat(first_slot, gold.sizes) + gold.numbers.astype(np.int64)
    predicted_slots = np.repeat(first_slot, predicted.sizes) + predicted.numbers.astype(np.int64)
    width = int(slots.sum())
    available = np.bincount(predicted_slots, minlength=width)
    available[first_slot] = 0

    def shared(counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.add.reduceat(np.minimum(counts, available), first_slot)

    members = union_members(gold, predicted, slots)
    hits = (
        shared(np.bincount(gold_slots, minlength=width)),
        _shared_bigrams(gold, predicted, gold_slots, predicted_slots, available > 0, slots),
        np.fromiter(map(LCSseq.similarity, gold.texts(), predicted.texts()), np.int64, len(slots)),
        shared(np.bincount(gold_slots[members], minlength=width)),
    )
    bigrams = total - (gold.sizes > 0) - (predicted.sizes > 0)
    lengths = (total, bigrams, total, total)
    return np.column_stack([2 * h / np.maximum(n, 1) for h, n in zip(hits, lengths, strict=True)])


def _shared_bigrams(
    gold: _Tokens,
    predicted: _Tokens,
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
        ends = np.cumsum(side.sizes)[:-1] - 1  # a text's last token and the next text's first are no bigram
        inside[ends[(ends >= 0) & (ends < len(inside))]] = False
        keys = np.flatnonzero(inside)
        keys = places[keys] << 8 | side.numbers[keys + 1]
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


def union_members(gold: _Tokens, predicted: _Tokens, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each reference token is in the union LCS of its sentence with the candidate's sentences.

    Args:
        gold: the references; a sentence has at most 64 tokens.
        predicted: the candidates, with the token numbers of their references and 0 for other tokens.
        slots: number of token numbers of each text, including 0: shape (texts,).

    Returns:
        Shape (reference tokens,).
    """
    gold_sizes, gold_counts = gold.sentence_sizes, gold.sentence_counts
    predicted_counts = predicted.sentence_counts
    # Of a run of candidate tokens that the reference lacks one is enough, since the traceback passes the
    # others without moving, and none at the start of a sentence.
    tokens = predicted.numbers
    predicted_ends = np.cumsum(predicted.sentence_sizes)
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
    np.bitwise_or.at(table, np.repeat(first_entry, gold_sizes) + gold.numbers, _bits(places, word))
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
