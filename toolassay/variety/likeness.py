"""How alike the requests of a sample are to one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_SURROGATES = 0xD800, 0x800
_ROWS = 250


def nearest(texts: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    """For each text, ROUGE-L with the one that is most like it.

    The measure by which Self-Instruct tells how new an instruction is, and drops those above 0.7 (Wang and
    others, Self-Instruct: Aligning Language Models with Self-Generated Instructions, ACL 2023). The more
    texts, the higher it is: compare only samples of one size.

    Args:
        texts: at least two, each as its words; every two are compared.

    Returns:
        Shape (texts,): the F1 of the longest common subsequence of words; 0 where there is no other text.

    >>> nearest([["crop", "the", "photo"], ["crop", "the", "picture"], ["pay", "it"]]).round(2).tolist()
    [0.67, 0.67, 0.0]
    """
    import numpy as np
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    # A character for each word: the similarity of texts is then that of their words.
    letters: dict[str, str] = {}
    written = ["".join(letters.setdefault(word, _letter(len(letters))) for word in text) for text in texts]
    best = np.zeros(len(written))
    for start in range(0, len(written), _ROWS):
        # 1 - (insertions + deletions) / (words of both) = 2 · common / (words of both): ROUGE-L's F1.
        rows = cdist(
            written[start : start + _ROWS], written, scorer=Indel.normalized_similarity, dtype=np.float64
        )
        rows[np.arange(len(rows)), start + np.arange(len(rows))] = 0
        best[start : start + len(rows)] = rows.max(axis=1)
    return best


def _letter(number: int) -> str:
    first, count = _SURROGATES
    return chr(number if number < first else number + count)
