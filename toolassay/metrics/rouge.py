"""ROUGE-1, -2, -L and -Lsum (Lin, 2004), equal to the F-measures of `rouge-score`, and faster.

Tokens are lower-cased runs of `a-z0-9`, without stemming. For ROUGE-Lsum each line is a sentence. It counts,
for each reference sentence, the union of its longest common subsequences (LCS) with every candidate sentence
(`union_lcs_hits`). Of several LCS, the one that `rouge-score` finds is taken.

The table of an LCS grows by 0 or 1 from row to row; one big integer per column holds these steps (Hyyrö,
2004). The walk back from the corner makes the choices of `rouge-score`: at a match, it goes back by a row and
a column; otherwise by a column if the table steps up at this row, and by a row if not.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import LCSseq

from toolassay.metrics.f1 import f1

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def union_lcs_hits(reference: Sequence[Sequence[Hashable]], candidate: Sequence[Sequence[Hashable]]) -> int:
    """The number of reference tokens in the union LCS of their sentence, clipped by the counts of each token.

    Args:
        reference: sentences, each a sequence of tokens.
        candidate: sentences of the other text.

    >>> union_lcs_hits([["a", "b", "c"]], [["a", "x"], ["c"]])
    2
    """
    left_reference = Counter(token for sentence in reference for token in sentence)
    left_candidate = Counter(token for sentence in candidate for token in sentence)
    candidates = list(dict.fromkeys(map(tuple, candidate)))
    hits = 0
    for sentence in map(tuple, reference):
        union = _union(sentence, candidates)
        while union:
            lowest = union & -union
            union ^= lowest
            token = sentence[lowest.bit_length() - 1]
            if left_reference[token] > 0 and left_candidate[token] > 0:
                left_reference[token] -= 1
                left_candidate[token] -= 1
                hits += 1
    return hits


def _union(reference: tuple[Hashable, ...], candidates: Sequence[tuple[Hashable, ...]]) -> int:
    """The positions of `reference` that are in its LCS with any candidate, as the bits of an integer."""
    everything = (1 << len(reference)) - 1
    matches: dict[Hashable, int] = {}
    for place, token in enumerate(reference):
        matches[token] = matches.get(token, 0) | 1 << place
    union = 0
    for candidate in candidates:
        if candidate == reference:
            return everything
        union |= _lcs_positions(matches, everything, [matches.get(token, 0) for token in candidate])
        if union == everything:
            return union
    return union


def _lcs_positions(matches: dict[Hashable, int], everything: int, columns: Sequence[int]) -> int:
    """The positions of one LCS as bits.

    Args:
        matches: the positions of each reference token, as bits.
        everything: a bit for every position.
        columns: `matches` of each candidate token, in order; 0 for one that the reference lacks.
    """
    flat = everything
    stops = []
    for column in columns:
        if column:
            matched = flat & column
            flat = ((flat + matched) | (flat - matched)) & everything
        stops.append(column | (everything & ~flat))
    positions, rows = 0, everything
    for column, stop in zip(reversed(columns), reversed(stops), strict=True):
        reached = stop & rows
        if not reached:
            break
        top = 1 << (reached.bit_length() - 1)
        if column & top:
            positions |= top
            rows = top - 1
        else:
            rows = (top << 1) - 1
    return positions


_TO_SPACE = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789\n" else ord(" ") for byte in range(256)
)
_BYTES_A_SENTENCE_PAIR = 500  # estimated memory of `rouge_batch` for one
_WORK_AT_ONCE = 16_000_000  # estimated bytes; with more waiting, the pairs are scored
NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")


class Rouge(NamedTuple):
    """The four F-measures of a pair of texts, each from 0 to 1."""

    rouge1: float
    rouge2: float
    rougeL: float
    rougeLsum: float


def sentences(text: str) -> list[list[bytes]]:
    r"""The tokens of each line; a line without tokens is left out.

    >>> sentences("Step 1: Go!\n\n42 é")
    [[b'step', b'1', b'go'], [b'42']]
    """
    lines = text.lower().encode("utf-8", "surrogatepass").translate(_TO_SPACE).split(b"\n")
    return [tokens for line in lines if (tokens := line.split())]


def rouge(reference: str, candidate: str) -> Rouge:
    """The F-measures of a candidate against a reference; all are 0 if one of them has no tokens.

    >>> rouge("the cat sat", "the cat").rouge1
    0.8
    """
    gold, predicted = sentences(reference), sentences(candidate)
    if not gold or not predicted:
        return Rouge(0.0, 0.0, 0.0, 0.0)
    if gold == predicted:
        return Rouge(1.0, float(sum(map(len, gold)) > 1), 1.0, 1.0)
    gold_all = [token for sentence in gold for token in sentence]
    predicted_all = [token for sentence in predicted for token in sentence]
    return Rouge(
        _overlap(Counter(gold_all), Counter(predicted_all)),
        _overlap(Counter(pairwise(gold_all)), Counter(pairwise(predicted_all))),
        _f1(LCSseq.similarity(gold_all, predicted_all), len(gold_all), len(predicted_all)),
        _f1(union_lcs_hits(gold, predicted), len(gold_all), len(predicted_all)),
    )


def _f1(shared: int, gold: int, predicted: int) -> float:
    """F1 from the number of shared elements and the sizes of both sides."""
    return f1(shared, predicted - shared, gold - shared)


def _overlap(gold: Counter[object], predicted: Counter[object]) -> float:
    """F1 of two multisets of n-grams."""
    if len(gold) > len(predicted):
        gold, predicted = predicted, gold
    shared = sum(min(count, predicted[gram]) for gram, count in gold.items() if gram in predicted)
    return _f1(shared, gold.total(), predicted.total())


class RougeCollector:
    """Scores pairs of texts in batches, each distinct pair once. `add` numbers the pairs.

    >>> collector = RougeCollector()
    >>> [collector.add("a b", "a"), collector.add("a", "a"), collector.add("a b", "a")]
    [0, 1, 0]
    >>> collector.scores().shape
    (2, 4)
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._scores = array("d")
        self._waiting: list[tuple[list[list[bytes]], list[list[bytes]]]] = []
        self._work = 0

    def add(self, reference: str, candidate: str, *, wanted: bool = True) -> int:
        """Add a pair.

        Args:
            reference: a text.
            candidate: a text.
            wanted: False numbers a new pair without scoring it, for other metrics of the same pairs.

        Returns:
            The number of the pair, from 0; a repeated pair keeps its number.
        """
        both = f"{len(reference)} {reference}{candidate}".encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(both, digest_size=16).digest()
        known = len(self._numbers)
        number = self._numbers.setdefault(key, known)
        if wanted and number == known:
            pair = sentences(reference), sentences(candidate)
            self._waiting.append(pair)
            self._work += len(both) + len(pair[0]) * len(pair[1]) * _BYTES_A_SENTENCE_PAIR
            if self._work > _WORK_AT_ONCE:
                self._score_waiting()
        return number

    def __len__(self) -> int:
        return len(self._numbers)

    def _score_waiting(self) -> None:
        from toolassay.metrics.rouge_batch import batch_rouge

        self._scores.extend(batch_rouge(self._waiting).ravel())
        self._waiting.clear()
        self._work = 0

    def scores(self) -> NDArray[np.float64]:
        """The scores of all wanted pairs, shape (pairs, 4), with columns in the order of `NAMES`."""
        import numpy as np

        self._score_waiting()
        return np.array(self._scores, dtype=np.float64).reshape(-1, len(NAMES))
