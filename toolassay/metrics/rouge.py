"""ROUGE-1, -2, -L and -Lsum: the F-measures of `rouge-score`, computed for many pairs of texts at once.

Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004. Tokens are the lower-cased runs of
`a-z0-9`, without stemming. ROUGE-Lsum takes each line as a sentence and, for each reference sentence, the
union of its longest common subsequences (LCS) with every candidate sentence (`_is_in_union`). Ties between
several LCS are broken as in `rouge-score`.

The values of an LCS table grow by 0 or 1 from row to row; one big integer per column holds these steps
(Hyyrö, 2004), side by side for all pairs of sentences of a batch. The traceback starts in the last cell. On a
match it goes to the previous row and column; otherwise to the previous column if the table steps up at this
row, else to the previous row.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from rapidfuzz.distance import LCSseq

from toolassay.extras import needed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")

TextPair = tuple[str, str]
"""A reference (gold) text and a candidate (predicted) text."""

RougeBackend = Literal["builtin", "rouge-score"]
"""Who computes ROUGE: this module, or the package `rouge-score`."""

# Whether a text has any token after lower-casing: "a" and "7"; not "é" or "…", which ROUGE ignores.
_TOKEN = re.compile(r"[a-z0-9]")
# A translation table that keeps letters, digits and line breaks, and makes every other byte a blank.
_TO_SPACE = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789\n" else ord(" ") for byte in range(256)
)
# Pairs are compared in batches with this sum of products of their lengths, in characters. It bounds the
# memory of the LCS tables. Batches of a fifth or five times the size take up to a quarter longer.
_BATCH_CELLS = 20_000_000


def rouge_scorer(backend: RougeBackend = "builtin") -> Callable[[Sequence[TextPair]], NDArray[np.float64]]:
    """The function that scores pairs of texts as `rouge` does.

    Raises:
        UsageError: the package of the backend is not installed.

    >>> rouge_scorer("rouge-score")([("the cat sat", "the cat")]).round(2).tolist()
    [[0.8, 0.67, 0.8, 0.8]]
    """
    if backend == "builtin":
        return rouge
    score = _rouge_score().RougeScorer(list(NAMES)).score

    def by_package(pairs: Sequence[TextPair]) -> NDArray[np.float64]:
        import numpy as np

        scored = [score(*pair) for pair in pairs]
        values = [[by_name[name].fmeasure for name in NAMES] for by_name in scored]
        return np.array(values, dtype=np.float64).reshape(-1, len(NAMES))

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


def has_tokens(text: str) -> bool:
    """Whether ROUGE reads anything of a text; of most scripts but the Latin one it does not.

    >>> has_tokens("Step 1"), has_tokens("翻译文本")
    (True, False)
    """
    return _TOKEN.search(text.lower()) is not None


def rouge(pairs: Sequence[TextPair]) -> NDArray[np.float64]:
    """The four F-measures of each pair of texts, shape (pairs, 4); 0 if either text has no tokens.

    >>> rouge([("the cat sat", "the cat")]).round(2).tolist()
    [[0.8, 0.67, 0.8, 0.8]]
    """
    import numpy as np

    scores = np.zeros((len(pairs), len(NAMES)))
    # The longest candidate line of a batch decides its number of columns.
    longest = [max(map(len, candidate.split("\n"))) for _, candidate in pairs]
    order = np.argsort(longest, kind="stable")
    cells = np.cumsum([len(pairs[index][0]) * len(pairs[index][1]) for index in order])
    cuts = np.flatnonzero(np.diff(cells // _BATCH_CELLS)) + 1
    for batch in np.split(order, cuts):
        scores[batch] = _batch_scores([pairs[index] for index in batch])
    return scores


def _batch_scores(pairs: Sequence[TextPair]) -> NDArray[np.float64]:
    import numpy as np

    is_equal = np.array([reference == candidate for reference, candidate in pairs], dtype=np.bool_)
    ids, text = _tokens(
        [
            part
            for reference, candidate in pairs
            for part in (reference, "" if reference == candidate else candidate)
        ]
    )
    words = np.flatnonzero(ids)
    side = text[words] % 2
    pair = text[words] // 2
    wanted, given = np.bincount(text[words], minlength=2 * len(pairs)).reshape(-1, 2).T
    total = np.maximum(wanted + given, 1)
    # Grams are numbered within their pair: the same word in another pair is another gram.
    grams, shared, owner = _grams(pair * len(ids) + ids[words], side, pair)
    follows = np.flatnonzero(text[words][1:] == text[words][:-1])
    bigrams = grams[follows] * len(shared) + grams[follows + 1]
    _, shared_bigrams, owner_of_bigram = _grams(bigrams, side[follows], pair[follows])

    listed = ids[words].tolist()
    ends = np.cumsum(np.column_stack([wanted, given])).tolist()
    lcs = [
        LCSseq.similarity(listed[start:middle], listed[middle:end])
        for start, middle, end in zip([0, *ends[1::2]], ends[::2], ends[1::2], strict=False)
    ]
    in_union = grams[_is_in_union(ids, text, grams)[words]]
    hits = np.minimum(np.bincount(in_union, minlength=len(shared)), shared)
    number = len(pairs)
    scores = np.column_stack(
        [
            2 * np.bincount(owner, shared, number) / total,
            2 * np.bincount(owner_of_bigram, shared_bigrams, number) / np.maximum(total - 2, 1),
            2 * np.array(lcs) / total,
            2 * np.bincount(owner, hits, number) / total,
        ]
    )
    scores[is_equal] = (wanted[is_equal, None] > [0, 1, 0, 0]).astype(np.float64)  # one token has no bigram
    return scores


def _tokens(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""Numbers of the tokens of all texts, 0 at the end of each line that has any, and the text of each.

    >>> ids, text = _tokens(["Go, go!\n\n42 é", "go"])
    >>> ids.tolist(), text.tolist()
    ([1, 1, 0, 2, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1])
    """
    import numpy as np

    whole = "\n".join([*texts, ""]).lower().encode("utf-8", "surrogatepass").translate(_TO_SPACE)
    numbers = defaultdict(count(1).__next__, {b".": 0})
    ids = np.fromiter(map(numbers.__getitem__, whole.replace(b"\n", b" . ").split()), dtype=np.int64)
    is_end = ids == 0
    lines = [part.count("\n") + 1 for part in texts]
    text = np.repeat(np.arange(len(texts)), lines)[np.cumsum(is_end) - is_end]
    is_kept = ~is_end | np.append(False, ~is_end[:-1])  # an end after another ends an empty line
    return ids[is_kept], text[is_kept]


def _grams(
    keys: NDArray[np.int64], side: NDArray[np.int64], pair: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The number of each gram; by number, how often both texts have it, and its pair.

    Args:
        keys: of each gram; equal for equal grams.
        side: 0 in the reference, 1 in the candidate.
        pair: of each gram.
    """
    import numpy as np

    _, first, grams = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(2 * grams + side, minlength=2 * len(first)).reshape(-1, 2)
    return grams, counts.min(axis=1), pair[first]


def _is_in_union(
    ids: NDArray[np.int64], text: NDArray[np.int64], grams: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each token is one of a reference, and in the union LCS of its sentence.

    Args:
        ids: as `_tokens` gives them.
        text: as `_tokens` gives it; reference and candidate take turns.
        grams: of each token that is no end; equal for equal tokens of one pair.
    """
    import numpy as np

    is_word = ids > 0
    is_candidate = text % 2 == 1
    gram = np.zeros_like(ids)
    gram[is_word] = grams
    # The bits of an integer are a copy of the reference for each candidate sentence; `source` is the token of
    # each bit. The zero at the end of each reference sentence stops the carry of an addition.
    sizes = np.bincount(text)
    starts = np.cumsum(sizes) - sizes
    sentences = np.flatnonzero(~is_word & is_candidate)
    reference = text[sentences] - 1
    source = _ranges(starts[reference], sizes[reference])
    copies = np.cumsum(sizes[reference]) - sizes[reference]
    # Where a candidate token equals one of the reference. Columns count from the end of their sentence.
    candidates = np.flatnonzero(is_word & is_candidate)
    golds = np.flatnonzero(is_word & ~is_candidate)
    golds = golds[np.argsort(gram[golds], kind="stable")]
    counts = np.bincount(gram[golds], minlength=int(gram.max(initial=0)) + 1)
    occurs = counts[gram[candidates]]
    matching = golds[_ranges((np.cumsum(counts) - counts)[gram[candidates]], occurs)]
    sentence = np.searchsorted(sentences, candidates)
    columns = np.repeat(sentences[sentence] - candidates - 1, occurs)
    bits = np.repeat(copies[sentence], occurs) + matching - starts[text[matching]]
    bits = bits[np.argsort(columns, kind="stable")]
    bounds = np.cumsum(np.bincount(columns))[:-1]

    def integer(positions: NDArray[Any]) -> int:
        flags = np.zeros(len(source), dtype=np.uint8)
        flags[positions] = 1
        return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")

    every = integer(is_word[source])
    below = []  # shifts, and the bits with a token that far above them in their sentence
    shift = 1
    inside = every & every >> 1
    neighbours = inside
    while inside:
        below.append((shift, inside))
        inside &= inside >> shift
        shift *= 2
    # Bit i of `flat` is set if the LCS length does not grow at row i of the current column.
    flat = every
    steps: list[tuple[int, int]] = []
    for column in map(integer, reversed(np.split(bits, bounds))):
        matched = flat & column
        flat = ((flat + matched) | (flat - matched)) & every
        steps.append((column, column | (every ^ flat)))
    union = 0
    rows = every
    for column, stops in reversed(steps):
        reached = stops & rows
        for shift, inside in below:  # sets all bits below the highest one of each sentence
            reached |= reached >> shift & inside
        hit = (reached ^ (reached >> 1 & neighbours)) & column
        union |= hit
        rows = reached ^ hit
    packed = np.frombuffer(union.to_bytes(len(source) // 8 + 1, "little"), dtype=np.uint8)
    is_in = np.zeros(len(ids), dtype=np.bool_)
    is_in[source[np.flatnonzero(np.unpackbits(packed, count=len(source), bitorder="little"))]] = True
    return is_in


def _ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start on, as many as its size, one range after the other.

    >>> import numpy as np
    >>> _ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    import numpy as np

    return np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
