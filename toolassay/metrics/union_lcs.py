"""The hits of ROUGE-Lsum: unions of longest common subsequences, bit-parallel, with `rouge-score`'s ties.

The table of an LCS grows by 0 or 1 from row to row; one big integer a column holds these steps (Hyyrö,
2004). Walking back from the corner, the reference row is kept only where `rouge-score` keeps it: on a
match, both go back; else the column goes back where the table steps up at this row, else the row does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def union_lcs_hits(reference: Sequence[Sequence[Hashable]], candidate: Sequence[Sequence[Hashable]]) -> int:
    """How many reference tokens the union LCS of each reference sentence hits, clipped by token counts.

    Args:
        reference: sentences, each a sequence of tokens.
        candidate: likewise.

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
    """The positions of `reference` that are in its LCS with any candidate, as bits."""
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
    """The positions of one LCS; `columns` are the matches of each candidate token."""
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
