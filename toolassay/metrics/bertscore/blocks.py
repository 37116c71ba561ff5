"""The order in which pairs of texts are scored: each text is embedded once, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TextPair = tuple[str, str]
"""What the gold says, and what the prediction says."""


class Encoder(Protocol):
    """A model that embeds texts and compares the embeddings.

    `tokens_at_once` is how many embedded tokens fit into the memory meant for them.
    """

    tokens_at_once: int

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text; none where there is nothing to compare."""
        ...

    def embed(self, texts: Mapping[str, list[int]]) -> dict[str, Any]:
        """The embedding of each text, from its tokens."""
        ...

    def match(self, pairs: Sequence[TextPair], embedded: Mapping[str, Any]) -> NDArray[np.float64]:
        """Precision, recall and F1 of each pair: shape (pairs, 3)."""
        ...


def scored_blocks(
    encoder: Encoder, pairs: Sequence[TextPair]
) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """Scores distinct pairs block by block: the numbers of the pairs, and their scores (pairs, 3).

    Pairs that share a text stand together, long ones first, and an embedding is kept until the last pair
    that needs it. So each text is embedded once, unless more of them are needed again later than fit into
    half of the memory meant for embeddings: then the oldest are embedded anew. Texts of like length are
    embedded and matched together. A pair with nothing to compare on one side scores 0, as in `bert-score`.
    """
    work = _Work(encoder, pairs)
    for number in related_order(pairs):
        if work.is_full_with(number):
            yield work.finish()
        work.add(number)
    if work.numbers:
        yield work.finish()


def related_order(pairs: Sequence[TextPair]) -> list[int]:
    """The numbers of the pairs, those that share texts (also by way of others) together, long ones first.

    >>> related_order([("a", "b"), ("long", "text"), ("c", "b"), ("long", "b c d")])
    [1, 3, 0, 2]
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not pairs:
        return []
    known: dict[str, int] = {}
    ends = np.array([[known.setdefault(text, len(known)) for text in pair] for pair in pairs])
    joined = coo_array((np.ones(len(pairs), dtype=bool), (ends[:, 0], ends[:, 1])), shape=(len(known),) * 2)
    count, family_of = connected_components(joined, directed=False)
    lengths = np.fromiter(map(len, known), dtype=np.int64, count=len(known))
    longest = np.zeros(count, dtype=np.int64)
    np.maximum.at(longest, family_of, lengths)
    family = family_of[ends[:, 0]]
    order: list[int] = np.lexsort((ends[:, 1], ends[:, 0], family, -longest[family])).tolist()
    return order


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places in `lengths`, longest first, in batches that hold at most `budget` when padded, or one.

    >>> list(batches([2, 9, 3, 4], 9))
    [[1], [3, 2], [0]]
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


class _Work:
    """The block that is being filled, and the embeddings that are still needed."""

    def __init__(self, encoder: Encoder, pairs: Sequence[TextPair]) -> None:
        self._encoder = encoder
        self._pairs = pairs
        self._uses = Counter(text for pair in pairs for text in pair)
        self._tokens: dict[str, list[int]] = {}
        self._embedded: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._total = 0
        self.numbers: list[int] = []

    def is_full_with(self, number: int) -> bool:
        """Whether a pair would be too much for the block, which is not empty."""
        new = sum(len(self._read(text)) for text in set(self._pairs[number]) if text not in self._sizes)
        return bool(self.numbers) and self._total + new > self._encoder.tokens_at_once

    def add(self, number: int) -> None:
        """Put a pair into the block."""
        self.numbers.append(number)
        for text in self._pairs[number]:
            if text not in self._sizes:
                self._sizes[text] = len(self._read(text))
                self._total += self._sizes[text]

    def _read(self, text: str) -> list[int]:
        if text not in self._tokens:
            self._tokens[text] = self._encoder.tokens(text)
        return self._tokens[text]

    def finish(self) -> tuple[list[int], NDArray[np.float64]]:
        """Score the block and begin another."""
        import numpy as np

        numbers, self.numbers = self.numbers, []
        fresh = {text: tokens for text in self._sizes if (tokens := self._tokens.pop(text, []))}
        self._embedded |= self._encoder.embed(fresh)
        pairs = [self._pairs[number] for number in numbers]
        places = [at for at, pair in enumerate(pairs) if all(self._sizes[text] for text in pair)]
        scores = np.zeros((len(pairs), 3))
        if places:
            scores[places] = self._encoder.match([pairs[at] for at in places], self._embedded)
        self._uses.subtract(text for pair in pairs for text in pair)
        self._forget()
        return numbers, scores

    def _forget(self) -> None:
        """Drop the embeddings that no pair needs any more, and the oldest of too many."""
        total = 0
        kept = []
        for text in reversed(self._sizes):
            total += self._sizes[text] if self._uses[text] else 0
            if self._uses[text] and total <= self._encoder.tokens_at_once // 2:
                kept.append(text)
        self._sizes = {text: self._sizes[text] for text in reversed(kept)}
        self._total = sum(self._sizes.values())
        self._embedded = {text: self._embedded[text] for text in self._sizes if text in self._embedded}
