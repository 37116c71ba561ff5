"""MinHash: shingles of a text, signatures of many texts on disk, and locality-sensitive hashing (LSH).

Broder, On the resemblance and containment of documents, 1997; Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, chapter 3. Each band is searched alone, as a sorted array, because a hash table of all bands
takes several kilobytes per text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from toolassay.engines import Engine, OneProcess

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


SHINGLE_LENGTH = 4
"""Characters in a shingle; docs/variety.md has the comparison with words and other lengths."""
# 2^64 divided by the golden ratio: multiplicative hashing (Knuth) spreads similar shingles.
_FACTOR = 0x9E3779B97F4A7C15


def shingles(content: str) -> frozenset[str]:
    """The runs of four characters in a text that is padded with one blank on each side.

    >>> sorted(shingles("crop"))
    [' cro', 'crop', 'rop ']
    """
    padded = f" {content} "
    return frozenset(
        padded[place : place + SHINGLE_LENGTH] for place in range(max(1, len(padded) - SHINGLE_LENGTH + 1))
    )


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """The Jaccard similarity of two sets of shingles: shared over all. 1 for two empty sets.

    >>> jaccard(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    shared = len(first & second)
    whole = len(first) + len(second) - shared
    return shared / whole if whole else 1.0


def shingle_numbers(content: str) -> npt.NDArray[np.uint32]:
    """A hash of 32 bits for each shingle of a text, in order, equal in every process.

    >>> len(shingle_numbers("crop"))
    3
    """
    import numpy as np

    padded = f" {content} ".encode("utf-32-le", "surrogatepass")
    letters = np.frombuffer(padded, np.uint32).astype(np.uint64)
    if len(letters) < SHINGLE_LENGTH:
        letters = np.pad(letters, (0, SHINGLE_LENGTH - len(letters)))
    number = np.zeros(len(letters) - SHINGLE_LENGTH + 1, np.uint64)
    for place in range(SHINGLE_LENGTH):
        number = (number << np.uint64(16)) ^ letters[place : place + len(number)]
    return (number * np.uint64(_FACTOR) >> np.uint64(32)).astype(np.uint32)


PERMUTATIONS = 256
"""Length of a signature: the standard error of a similarity is then at most 0.5 / √256 = 0.03."""
SEED = 1
"""Seed of the permutations; fixed, so that every process finds the same candidates."""
# Texts whose signatures one process computes at once.
_BLOCK = 1_024


class SignatureTask:
    """Computes the MinHash signatures of texts, for an engine."""

    def start(self) -> Callable[[Sequence[str]], npt.NDArray[np.uint32]]:
        """The function that gives the signatures of some texts, shape (texts, `PERMUTATIONS`)."""
        import numpy as np
        from datasketch import MinHash

        sketch = MinHash(num_perm=PERMUTATIONS, seed=SEED, hashfunc=int)

        def signatures(texts: Sequence[str]) -> npt.NDArray[np.uint32]:
            block = np.empty((len(texts), PERMUTATIONS), np.uint32)
            for place, text in enumerate(texts):
                sketch.clear()
                sketch.update_batch(shingle_numbers(text).tolist())
                block[place] = sketch.hashvalues
            return block

        return signatures


def write_signatures(
    contents: Iterable[str], path: Path, engine: Engine | None = None
) -> npt.NDArray[np.uint32]:
    """Write the MinHash signature of each text to a file, one row per text.

    Broder, On the resemblance and containment of documents, Compression and Complexity of Sequences, 1997;
    the permutations are those of datasketch.

    Args:
        contents: the texts, `toolassay.variety.normal_form.content` of the requests.
        path: the file to write.
        engine: where they are computed. Default: in this process.

    Returns:
        A memory map of shape (texts, `PERMUTATIONS`), because ten million signatures take ten gigabytes. The
        share of equal numbers in two rows estimates the Jaccard similarity of the two texts' shingles, with a
        standard error of at most 0.03.
    """
    import numpy as np

    source = iter(contents)
    blocks = iter(lambda: list(islice(source, _BLOCK)), [])
    count = 0
    with path.open("wb") as stream:
        for block in (engine or OneProcess()).map(SignatureTask(), blocks):
            stream.write(block.data)
            count += len(block)
    if not count:
        return np.empty((0, PERMUTATIONS), np.uint32)
    return np.memmap(path, np.uint32, "r", shape=(count, PERMUTATIONS))


RECALL = 0.97
"""Least probability that a pair whose similarity is the threshold becomes a candidate."""
MAX_NEIGHBOURS = 64
"""Members of a group that each member is compared with, at its start and just before the member."""
# Pairs that are verified at once.
_CHUNK = 1 << 14


def rows_per_band(threshold: float, permutations: int, *, recall: float = RECALL) -> int:
    """The largest number of rows in a band that still finds a pair at the threshold with `recall`.

    A pair of similarity s agrees in one of b bands of r rows with probability 1 - (1 - s^r)^b (Leskovec and
    others, section 3.4.2). More rows give fewer candidates.

    Args:
        threshold: similarity of the pair, from 0 to 1.
        permutations: length of a signature; b is `permutations // r`.
        recall: the least probability.

    >>> rows_per_band(0.6, 256), rows_per_band(0.9, 256)
    (5, 15)
    """
    best = 1
    for rows in range(1, permutations + 1):
        if 1 - (1 - threshold**rows) ** (permutations // rows) < recall:
            break
        best = rows
    return best


def band_groups(
    signatures: npt.NDArray[np.uint32], rows: int
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """For each band, the texts that agree with another text in it, as `equal_groups` returns them.

    Args:
        signatures: shape (texts, permutations).
        rows: columns of `signatures` in a band.
    """
    import numpy as np

    odd = np.random.default_rng(0).integers(1, 1 << 63, rows, np.uint64) * np.uint64(2) + np.uint64(1)
    for start in range(0, signatures.shape[1] - rows + 1, rows):
        # Row by row, so that memory holds one number per text, not a whole band.
        mixed = np.zeros(len(signatures), np.uint64)
        for row, factor in enumerate(odd):
            mixed = (mixed ^ (mixed >> np.uint64(29))) * factor + signatures[:, start + row]
        yield equal_groups(mixed)


def equal_groups(numbers: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The indices of numbers that occur more than once.

    Returns:
        The indices, those of one number side by side and in ascending order; and the rank of each index
        within its group, from 0.

    >>> import numpy as np
    >>> [part.tolist() for part in equal_groups(np.array([7, 5, 7, 6, 5, 7], np.uint64))]
    [[1, 4, 0, 2, 5], [0, 1, 0, 1, 2]]
    """
    import numpy as np

    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    if not len(ranked):
        return order, order
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    sizes = np.diff(np.append(starts, len(ranked)))
    many = np.repeat(sizes > 1, sizes)
    rank = np.arange(len(ranked)) - np.repeat(starts, sizes)
    return order[many], rank[many]


def lsh_pairs(
    members: npt.NDArray[np.int64], rank: npt.NDArray[np.int64]
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """The pairs within groups, the earlier text first, in chunks.

    In a large group each member is paired with the first `MAX_NEIGHBOURS` members and with the
    `MAX_NEIGHBOURS` before it, so that the number of pairs is linear in the number of texts.

    Args:
        members: the indices, as `equal_groups` returns them.
        rank: the rank of each within its group.

    >>> import numpy as np
    >>> [(a.tolist(), b.tolist()) for a, b in lsh_pairs(np.array([1, 4, 0, 2, 5]), np.array([0, 1, 0, 1, 2]))]
    [([1, 0, 2, 0], [4, 2, 5, 5])]
    """
    import numpy as np

    def batches() -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        places = np.arange(len(members))
        largest = int(rank.max()) if len(rank) else 0
        for back in range(1, min(largest, MAX_NEIGHBOURS) + 1):
            later = places[rank >= back]
            yield members[later - back], members[later]
        for leader in range(min(largest - MAX_NEIGHBOURS, MAX_NEIGHBOURS)):
            later = places[rank > leader + MAX_NEIGHBOURS]
            yield members[later - rank[later] + leader], members[later]

    yield from _in_batches(batches())


def _in_batches(
    batches: Iterable[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Regroup batches of pairs into batches of at least `_CHUNK` pairs; the last may be smaller."""
    import numpy as np

    waiting: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
    count = 0
    for first, second in batches:
        for start in range(0, len(first), _CHUNK):
            waiting.append((first[start : start + _CHUNK], second[start : start + _CHUNK]))
            count += len(waiting[-1][0])
            if count >= _CHUNK:
                yield np.concatenate([one for one, _ in waiting]), np.concatenate([two for _, two in waiting])
                waiting, count = [], 0
    if waiting:
        yield np.concatenate([one for one, _ in waiting]), np.concatenate([two for _, two in waiting])
