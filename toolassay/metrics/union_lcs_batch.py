"""The union LCS of ROUGE-Lsum for many pairs of texts: `union_lcs` with a machine word for each LCS table.

All (reference sentence, candidate sentence) pairs advance together, one candidate token a step, longest
candidates first, so that a step works on the front part of the arrays that is still running.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from array import array

    from numpy.typing import NDArray

_ONE = np.uint64(1)
_SMEARS = tuple(np.uint64(shift) for shift in (1, 2, 4, 8, 16, 32))


class Texts(Protocol):
    """Texts end to end: token numbers, the size of each sentence, the number of sentences of each text."""

    tokens: array[int]
    sentence_sizes: array[int]
    sentence_counts: array[int]


def union_members(
    gold: Texts, predicted: Texts, slots: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which reference tokens are in the union LCS of their sentence with the candidate's sentences.

    Args:
        gold: the references; no sentence of a chosen text is longer than 64 tokens.
        predicted: the candidates, numbered as the references, 0 for tokens the reference lacks.
        slots: how many numbers each text uses, 0 included.
        chosen: the texts to work on; the tokens of others are not members.

    Returns:
        One truth value for each reference token.
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
    """For each reference sentence and token number, the places of the token as bits."""
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
    """The reference places of one LCS of each row; rows are ordered by falling size of the candidate."""
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
    """A word with the lowest `size` bits set, for sizes up to 64."""
    kept = np.minimum(sizes, 63).astype(np.uint64)
    return np.where(sizes >= 64, ~np.uint64(0), (_ONE << kept) - _ONE)


def _ramp(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … size-1 for each size, end to end."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)


def _array(numbers: array[int]) -> NDArray[np.int64]:
    return np.asarray(numbers, dtype=np.int64)
