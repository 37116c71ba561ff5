"""MinHash signatures of many texts, in a file that the operating system pages in and out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from toolassay.variety.shingles import shingle_numbers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PERMUTATIONS = 256
SEED = 1
_BLOCK = 4_096


def write_signatures(contents: Iterable[str], path: Path) -> npt.NDArray[np.uint32]:
    """The MinHash signature of each text, one row a text.

    Broder, On the resemblance and containment of documents, Compression and Complexity of Sequences, 1997;
    the permutations are those of datasketch.

    Args:
        contents: the texts, `toolassay.variety.normal_form.content` of the requests.
        path: the file to write; read back as a memory map, so that ten million signatures need no
            ten gigabytes of memory.

    Returns:
        Shape (texts, `PERMUTATIONS`). The share of equal numbers in two rows estimates the Jaccard
        likeness of the two texts' shingles, with a standard error of at most 0.03.
    """
    import numpy as np
    from datasketch import MinHash

    sketch = MinHash(num_perm=PERMUTATIONS, seed=SEED, hashfunc=int)
    block = np.empty((_BLOCK, PERMUTATIONS), np.uint32)
    count = 0
    with path.open("wb") as stream:
        for text in contents:
            sketch.clear()
            sketch.update_batch(shingle_numbers(text).tolist())
            block[count % _BLOCK] = sketch.hashvalues
            count += 1
            if count % _BLOCK == 0:
                stream.write(block.data)
        stream.write(block[: count % _BLOCK].data)
    if not count:
        return np.empty((0, PERMUTATIONS), np.uint32)
    return np.memmap(path, np.uint32, "r", shape=(count, PERMUTATIONS))
