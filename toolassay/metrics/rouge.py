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

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Literal, NamedTuple

from rapidfuzz.distance import LCSseq

from toolassay.extras import needed
from toolassay.metrics.f1 import f1

NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")

RougeBackend = Literal["builtin", "rouge-score"]
"""Who computes ROUGE: this module, or the package `rouge-score`."""

# A translation table that keeps letters, digits and line breaks, and makes every other byte a blank.
_TO_SPACE = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789\n" else ord(" ") for byte in range(256)
)


class Rouge(NamedTuple):
    """The four F-measures of one pair of texts, each from 0 to 1."""

    rouge1: float
    rouge2: float
    rougeL: float
    rougeLsum: float


def rouge_scorer(backend: RougeBackend = "builtin") -> Callable[[str, str], Rouge]:
    """The function that scores a candidate text (second) against a reference text (first).

    Raises:
        UsageError: the package of the backend is not installed.

    >>> rouge_scorer("rouge-score")("the cat sat", "the cat").rouge1
    0.8
    """
    if backend == "builtin":
        return rouge
    score = _rouge_score().RougeScorer(list(NAMES)).score

    def by_package(reference: str, candidate: str) -> Rouge:
        found = score(reference, candidate)
        return Rouge(*(float(found[name].fmeasure) for name in NAMES))

    return by_package


def rouge_score_release() -> str:
    """Name and version of the installed package `rouge-score`, for a signature: `rouge-score-0.1.2`.

    Raises:
        UsageError: the package is not installed.
    """
    from importlib.metadata import version

    _rouge_score()
    return f"rouge-score-{version('rouge-score')}"


def _rouge_score() -> Any:
    return needed("rouge_score.rouge_scorer", "--rouge_backend rouge-score", "rouge-score")


def rouge(reference: str, candidate: str) -> Rouge:
    """The F-measures of a candidate text against one reference text; 0 if either has no tokens.

    >>> rouge("the cat sat", "the cat").rouge1
    0.8
    """
    gold = sentences(reference)
    predicted = gold if candidate == reference else sentences(candidate)
    wanted, given = list(chain(*gold)), list(chain(*predicted))
    if not wanted or not given:
        return Rouge(0.0, 0.0, 0.0, 0.0)
    if gold == predicted:
        return Rouge(1.0, float(len(wanted) > 1), 1.0, 1.0)  # one token has no bigram
    total = len(wanted) + len(given)
    return Rouge(
        2 * _shared(Counter(wanted), Counter(given)) / total,
        f1(
            shared := _shared(Counter(pairwise(wanted)), Counter(pairwise(given))),
            len(given) - 1 - shared,
            len(wanted) - 1 - shared,
        ),
        2 * LCSseq.similarity(wanted, given) / total,
        2 * union_lcs_hits(gold, predicted) / total,
    )


def sentences(text: str) -> list[list[bytes]]:
    r"""The tokens of each line; lines without tokens are left out.

    >>> sentences("Step 1: Go!\n\n42 é")
    [[b'step', b'1', b'go'], [b'42']]
    """
    lines = text.lower().encode("utf-8", "surrogatepass").translate(_TO_SPACE).split(b"\n")
    return [tokens for line in lines if (tokens := line.split())]


def _shared(gold: Mapping[Any, int], predicted: Mapping[Any, int]) -> int:
    """The number of shared elements, with repetitions."""
    return sum(min(count, predicted[gram]) for gram, count in gold.items() if gram in predicted)


def union_lcs_hits(reference: Sequence[Sequence[Hashable]], candidate: Sequence[Sequence[Hashable]]) -> int:
    """The number of reference tokens in the union LCS of their sentences, clipped by token counts.

    A token counts at most as often as it occurs in the candidate and in the reference.

    Args:
        reference: sentences, each a sequence of tokens.
        candidate: sentences, each a sequence of tokens.

    >>> union_lcs_hits([["a", "b", "c"]], [["a", "x"], ["c"]])
    2
    """
    wanted, given = Counter(chain(*reference)), Counter(chain(*candidate))
    left = {token: min(count, given[token]) for token, count in wanted.items() if token in given}
    candidates = dict.fromkeys(map(tuple, candidate))
    hits = 0
    for sentence in reference:
        places: dict[Hashable, int] = {}
        for place, token in enumerate(sentence):
            if token in left:
                places[token] = places.get(token, 0) | 1 << place
        union = 0
        for one in candidates if places else ():
            union |= _lcs_positions((1 << len(sentence)) - 1, (places.get(token, 0) for token in one))
        while union:
            lowest = union & -union
            union ^= lowest
            token = sentence[lowest.bit_length() - 1]
            if left[token]:
                left[token] -= 1
                hits += 1
    return hits


def _lcs_positions(everything: int, columns: Iterable[int]) -> int:
    """The reference positions of one LCS, as bits; bit i stands for position i.

    Args:
        everything: the bits of all positions.
        columns: for each candidate token, the reference positions that match it, as bits.
    """
    # Bit i of `flat` is set if the LCS length does not grow at row i of the current column.
    flat, last = everything, 0
    steps: list[tuple[int, int]] = []
    for column in columns:
        if column:
            matched = flat & column
            flat = ((flat + matched) | (flat - matched)) & everything
        elif not last:
            continue  # of a run of columns without a match one is enough: the traceback passes the others
        last = column
        steps.append((column, column | (everything ^ flat)))
    positions, rows = 0, everything
    for column, stops in reversed(steps):
        reached = stops & rows
        if not reached:
            break
        top = 1 << (reached.bit_length() - 1)
        if column & top:
            positions |= top
            rows = top - 1
        else:
            rows = (top << 1) - 1
    return positions
