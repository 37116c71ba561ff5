"""ROUGE-1, -2, -L and -Lsum: the F-measures of `rouge-score`, computed faster.

Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004. Tokens are the lower-cased runs of
`a-z0-9`, without stemming. ROUGE-Lsum takes each line as a sentence and, for each reference sentence, the
union of its longest common subsequences (LCS) with every candidate sentence (`union_lcs_hits`). Ties between
several LCS are broken as in `rouge-score`.

The values of an LCS table grow by 0 or 1 from row to row; one big integer per column holds these steps
(Hyyrö, 2004). The traceback starts in the last cell. On a match it goes to the previous row and column;
otherwise to the previous column if the table steps up at this row, else to the previous row.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rapidfuzz.distance import LCSseq

from toolassay.extras import needed
from toolassay.metrics.f1 import f1

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def union_lcs_hits(reference: Sequence[Sequence[Hashable]], candidate: Sequence[Sequence[Hashable]]) -> int:
    """The number of reference tokens in the union LCS of their sentences, clipped by token counts.

    A token counts at most as often as it occurs in the candidate and in the reference.

    Args:
        reference: sentences, each a sequence of tokens.
        candidate: sentences, each a sequence of tokens.

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
    """The positions of `reference` in its LCS with any candidate; bit i stands for position i."""
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
        everything: the bits of all positions.
        columns: for each candidate token, the reference positions that match it, as bits.
    """
    # Bit i of `flat` is set if the LCS length does not grow at row i of the current column.
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


# A translation table that keeps letters, digits and line breaks, and makes every other byte a blank.
TO_SPACE = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789\n" else ord(" ") for byte in range(256)
)
_TOKEN = re.compile("[a-z0-9]+")
_WORK_AT_ONCE = 15_000  # pairs of sentences in one batch, 300 bytes each: more do not fit into the cache
NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")

RougeBackend = Literal["builtin", "rouge-score"]
"""Who computes ROUGE: this module, or the package `rouge-score`."""


class Rouge(NamedTuple):
    """The four F-measures of one pair of texts, each from 0 to 1."""

    rouge1: float
    rouge2: float
    rougeL: float
    rougeLsum: float


def sentences(text: str) -> list[list[bytes]]:
    r"""The tokens of each line; lines without tokens are left out.

    >>> sentences("Step 1: Go!\n\n42 é")
    [[b'step', b'1', b'go'], [b'42']]
    """
    lines = text.lower().encode("utf-8", "surrogatepass").translate(TO_SPACE).split(b"\n")
    return [tokens for line in lines if (tokens := line.split())]


def rouge(reference: str, candidate: str) -> Rouge:
    """The F-measures of a candidate text against one reference text; 0 if either has no tokens.

    >>> rouge("the cat sat", "the cat").rouge1
    0.8
    """
    if candidate == reference:
        count = len(list(islice(_TOKEN.finditer(reference.lower()), 2)))  # one token has no bigram
        return Rouge(float(count > 0), float(count > 1), float(count > 0), float(count > 0))
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
    return f1(shared, predicted - shared, gold - shared)


def _overlap(gold: Counter[object], predicted: Counter[object]) -> float:
    if len(gold) > len(predicted):
        gold, predicted = predicted, gold
    shared = sum(min(count, predicted[gram]) for gram, count in gold.items() if gram in predicted)
    return _f1(shared, gold.total(), predicted.total())


class ReferenceRouge:
    """ROUGE computed by the package `rouge-score`, without stemming. It is the reference of this module.

    Raises:
        UsageError: the package is not installed.

    >>> ReferenceRouge().score("the cat sat", "the cat").rouge1
    0.8
    """

    def __init__(self) -> None:
        self._scorer = _rouge_scorer().RougeScorer(list(NAMES))

    def score(self, reference: str, candidate: str) -> Rouge:
        """The F-measures of a candidate text against one reference text."""
        found = self._scorer.score(reference, candidate)
        return Rouge(*(float(found[name].fmeasure) for name in NAMES))


def rouge_score_release() -> str:
    """Name and version of the installed package `rouge-score`, for a signature: `rouge-score-0.1.2`.

    Raises:
        UsageError: the package is not installed.
    """
    from importlib.metadata import version

    _rouge_scorer()
    return f"rouge-score-{version('rouge-score')}"


def _rouge_scorer() -> Any:
    return needed("rouge_score.rouge_scorer", "--rouge_backend rouge-score", "rouge-score")


class RougeCollector:
    """Scores pairs of texts in batches, each distinct pair once; `add` returns the number of a pair.

    The distinct texts stay in memory.

    Args:
        backend: who computes the scores.

    Raises:
        UsageError: the package of the backend is not installed.

    >>> collector = RougeCollector()
    >>> [collector.add("a b", "a"), collector.add("a", "a"), collector.add("a b", "a")]
    [0, 1, 0]
    >>> collector.scores().shape
    (2, 4)
    """

    def __init__(self, backend: RougeBackend = "builtin") -> None:
        self._reference = ReferenceRouge() if backend == "rouge-score" else None
        self._numbers: dict[tuple[str, str], int] = {}
        self._scores = array("d")
        self._waiting: list[tuple[str, str]] = []
        self._work = 0

    def add(self, reference: str, candidate: str, *, wanted: bool = True) -> int:
        """Add a pair of texts.

        Args:
            reference: the reference text.
            candidate: the candidate text.
            wanted: if false, a new pair gets a number and no scores.

        Returns:
            The row of the pair in `scores`.
        """
        known = len(self._numbers)
        number = self._numbers.setdefault((reference, candidate), known)
        if not wanted or number < known:
            return number
        if self._reference is not None:
            self._scores.extend(self._reference.score(reference, candidate))
            return number
        self._waiting.append((reference, candidate))
        self._work += (reference.count("\n") + 1) * (candidate.count("\n") + 1)
        if self._work > _WORK_AT_ONCE:
            self._score_waiting()
        return number

    def __len__(self) -> int:
        return len(self._numbers)

    def _score_waiting(self) -> None:
        from toolassay.metrics.rouge_batch import batch_rouge

        self._scores.frombytes(batch_rouge(self._waiting).tobytes())
        self._waiting.clear()
        self._work = 0

    def scores(self) -> NDArray[np.float64]:
        """The scores of all distinct pairs: shape (pairs, 4), columns in the order of `NAMES`."""
        import numpy as np

        self._score_waiting()
        return np.array(self._scores, dtype=np.float64).reshape(-1, len(NAMES))
