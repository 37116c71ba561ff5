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
from collections.abc import Callable, Hashable, Mapping, Sequence
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
    shared = _shared(Counter(wanted), Counter(given))
    pairs = sum(_shared(Counter(pairwise(wanted)), Counter(pairwise(given))).values())
    return Rouge(
        2 * sum(shared.values()) / total,
        f1(pairs, len(given) - 1 - pairs, len(wanted) - 1 - pairs),
        2 * LCSseq.similarity(wanted, given) / total,
        2 * union_lcs_hits(gold, predicted, shared) / total,
    )


def sentences(text: str) -> list[list[bytes]]:
    r"""The tokens of each line; lines without tokens are left out.

    >>> sentences("Step 1: Go!\n\n42 é")
    [[b'step', b'1', b'go'], [b'42']]
    """
    lines = text.lower().encode("utf-8", "surrogatepass").translate(_TO_SPACE).split(b"\n")
    return [tokens for line in lines if (tokens := line.split())]


def _shared(gold: Mapping[Any, int], predicted: Mapping[Any, int]) -> dict[Any, int]:
    """How often both have each element that they share."""
    return {gram: min(count, predicted[gram]) for gram, count in gold.items() if gram in predicted}


def union_lcs_hits(
    reference: Sequence[Sequence[Hashable]],
    candidate: Sequence[Sequence[Hashable]],
    shared: Mapping[Hashable, int],
) -> int:
    """The number of reference tokens in the union LCS of their sentences, clipped by token counts.

    Args:
        reference: sentences, each a sequence of tokens.
        candidate: sentences, each a sequence of tokens.
        shared: how often each token occurs in both texts; it counts no more often.

    >>> union_lcs_hits([["a", "b", "c"]], [["a", "x"], ["c"]], {"a": 1, "c": 1})
    2
    """
    left = dict(shared)
    # A bit for each reference token, with a zero after each sentence, which stops the carry of an addition.
    # All pairs of sentences are compared at once, so the bits are repeated for each candidate sentence.
    places = dict.fromkeys(left, 0)
    tokens: list[Hashable] = []
    for sentence in reference:
        for bit, token in enumerate(sentence, start=len(tokens)):
            if token in left:
                places[token] |= 1 << bit
        tokens += [*sentence, None]
    candidates = [
        tuple(places.get(token, 0) for token in one) for one in dict.fromkeys(map(tuple, candidate))
    ]
    width = len(tokens)
    copies = sum(1 << width * place for place in range(len(candidates)))
    every = copies * _bits_of(reference, 0)
    halvings = [1 << n for n in range(max(map(len, reference), default=0).bit_length())]
    below = [(shift, copies * _bits_of(reference, shift)) for shift in halvings]
    # Bit i of `flat` is set if the LCS length does not grow at row i of the current column.
    flat = every
    steps: list[tuple[int, int]] = []
    for back in range(max(map(len, candidates), default=0), 0, -1):
        column = 0
        for place, one in enumerate(candidates):
            if back <= len(one):
                column |= one[-back] << width * place
        matched = flat & column
        flat = ((flat + matched) | (flat - matched)) & every
        steps.append((column, column | (every ^ flat)))
    found, rows = 0, every
    for column, stops in reversed(steps):
        reached = stops & rows
        for shift, inside in below:  # sets all bits below the highest one of each sentence
            reached |= reached >> shift & inside
        hit = (reached ^ (reached >> 1 & below[0][1])) & column
        found |= hit
        rows = reached ^ hit
    union = 0
    while found:
        union |= found & (1 << width) - 1
        found >>= width
    hits = 0
    for bit, token in enumerate(tokens):
        if union >> bit & 1 and left[token]:
            left[token] -= 1
            hits += 1
    return hits


def _bits_of(reference: Sequence[Sequence[Hashable]], shift: int) -> int:
    """The bits of all reference tokens with a token `shift` places after them in their sentence."""
    bits, start = 0, 0
    for sentence in reference:
        bits |= (1 << max(0, len(sentence) - shift)) - 1 << start
        start += len(sentence) + 1
    return bits
