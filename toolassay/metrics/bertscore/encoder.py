"""Embed and match texts for BERTScore.

`scored_blocks` scores pairs in blocks, so that each text is embedded once in bounded memory. `BertEncoder`
loads the model, and computes tokens, embeddings and matches with the functions of `bert-score`.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from uuid import uuid4

from toolassay.errors import UsageError
from toolassay.files import read_json
from toolassay.metrics.bertscore.model import BertScoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TextPair = tuple[str, str]
"""The gold text and the predicted text."""


class Encoder(Protocol):
    """A model that embeds texts and compares the embeddings.

    Attributes:
        tokens_at_once: number of embedded tokens that memory may hold.
    """

    tokens_at_once: int

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text; empty if there is nothing to compare."""
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
    """Score distinct pairs block by block.

    Pairs that share a text are in one block if possible, and an embedding is kept until the last pair that
    needs it. A text is embedded again only if the embeddings to keep exceed half of the memory: the oldest
    are dropped. Texts of similar length are embedded and matched together. A pair with an empty text scores
    0, as in `bert-score`.

    Args:
        encoder: the model.
        pairs: the pairs, without repetition.

    Yields:
        Indices into `pairs`, and their precision, recall and F1: shape (indices, 3).
    """
    work = _Work(encoder, pairs)
    for number in related_order(pairs):
        if work.is_full_with(number):
            yield work.finish()
        work.add(number)
    if work.numbers:
        yield work.finish()


def related_order(pairs: Sequence[TextPair]) -> list[int]:
    """The indices of the pairs, sorted so that pairs connected by shared texts are adjacent.

    The connected pairs with the longest text come first.

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


def pair_shards(pairs: Sequence[TextPair], device: str) -> Iterator[list[int]]:
    """Indices of pairs that are scored together, related ones in one shard where possible.

    A score depends in its last digits on the texts that are embedded beside it. Shards depend on the pairs
    and the device only, so scores do not depend on where the shards are scored.

    >>> [len(shard) for shard in pair_shards([("a" * 9_000, "b" * 9_000)] * 3, "cpu")]
    [1, 1, 1]
    """
    limit = _SHARD_LETTERS[_kind(device)]
    shard: list[int] = []
    letters = 0
    for number in related_order(pairs):
        size = sum(map(len, pairs[number]))
        if shard and letters + size > limit:
            yield shard
            shard, letters = [], 0
        shard.append(number)
        letters += size
    if shard:
        yield shard


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Group indices of `lengths`, longest first, into batches of at most `budget` tokens with padding.

    A single text longer than `budget` is a batch of its own.

    Args:
        lengths: number of tokens of each text.
        budget: maximum of the longest text's length times the number of texts.

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
    """The current block of pairs, and the embeddings that later pairs need."""

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
        """Whether the block is not empty and a further pair would exceed the memory."""
        new = sum(len(self._read(text)) for text in set(self._pairs[number]) if text not in self._sizes)
        return bool(self.numbers) and self._total + new > self._encoder.tokens_at_once

    def add(self, number: int) -> None:
        """Add a pair to the block."""
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
        """Score the block and start an empty one; returns what `scored_blocks` yields."""
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
        """Drop embeddings that no later pair needs, and the oldest ones beyond half of the memory."""
        total = 0
        kept = []
        for text in reversed(self._sizes):
            total += self._sizes[text] if self._uses[text] else 0
            if self._uses[text] and total <= self._encoder.tokens_at_once // 2:
                kept.append(text)
        self._sizes = {text: self._sizes[text] for text in reversed(kept)}
        self._total = sum(self._sizes.values())
        self._embedded = {text: self._embedded[text] for text in self._sizes if text in self._embedded}


# Bytes of embeddings in memory.
_MEMORY = {"cpu": 64 * 2**20, "cuda": 1024 * 2**20}
# Tokens, with padding, in one call of the model.
_BATCH_TOKENS = {"cpu": 1024, "cuda": 32_768}
# Letters of a shard: several batches, four letters or so a token.
_SHARD_LETTERS = {"cpu": 32_000, "cuda": 1_000_000}
# The value with which bert-score pads embeddings; a mask excludes it from the scores.
_PADDING = 2.0
# The limit on tokens if neither the tokenizer nor the model states one: that of BERT.
_LONGEST = 512


class Embedded(NamedTuple):
    """A text as tensors.

    Attributes:
        vectors: shape (tokens, hidden size).
        weights: the weight of each token, shape (tokens,): 0 for separators, otherwise 1.
    """

    vectors: Any
    weights: Any


def _kind(device: str) -> str:
    return "cpu" if device == "cpu" else "cuda"


def cuda_is_there() -> bool:
    """Whether torch is installed and has a CUDA device."""
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def chosen_device(asked: str | None, has_cuda: Callable[[], bool] = cuda_is_there) -> str:
    """The device to compute on: the one that was asked for, else CUDA if there is one, else the CPU.

    >>> chosen_device(None, lambda: True), chosen_device("cpu", lambda: True)
    ('cuda', 'cpu')
    """
    return asked or ("cuda" if has_cuda() else "cpu")


def uses_half(precision: str | None, device: str, *, overflows: bool = False) -> bool:
    """Whether a model runs in half precision (16-bit floats).

    Args:
        precision: "full", "half", or None for half on CUDA.
        device: where it runs.
        overflows: whether its numbers do not fit into half precision.

    Raises:
        UsageError: "half" is impossible.

    >>> uses_half(None, "cuda"), uses_half(None, "cpu"), uses_half("full", "cuda")
    (True, False, False)
    """
    if precision == "half" and (device != "cuda" or overflows):
        why = "this model overflows in it" if overflows else f"the device is {device}, it needs cuda"
        raise UsageError(f"--bertscore_precision half: {why}", fix="omit it, or write full")
    return precision != "full" and device == "cuda" and not overflows


class BertEncoder:
    """A language model on a device.

    Args:
        folder: the folder of its files.
        layers: number of layers to run; the output of the last of them is compared.
        device: "cpu", "cuda" or "mps". Default: `chosen_device`.
        threads: maximum number of CPU threads. Default: torch decides.
        half: whether the model runs in half precision. Embeddings are compared in single precision anyway.

    Raises:
        BertScoreError: the device is not available.
        Exception: any exception of torch or transformers for unusable files.
    """

    def __init__(
        self,
        folder: Path,
        layers: int,
        *,
        device: str | None = None,
        threads: int | None = None,
        half: bool = False,
    ) -> None:
        import torch
        from bert_score import utils

        self.device = chosen_device(device)
        _check_device(self.device)
        if threads is not None:
            torch.set_num_threads(max(1, min(threads, torch.get_num_threads())))
        with _quiet(), _readable_path(folder) as path:
            self._model = utils.get_model(path, layers).to(self.device)
            if half:
                self._model = self._model.half()
            self._tokenizer = utils.get_tokenizer(path)
        limit = _positions(self._model)
        if self._tokenizer.model_max_length > limit:
            self._tokenizer.model_max_length = limit  # bert-score cuts longer texts off at this length
        self._separators = {self._tokenizer.sep_token_id, self._tokenizer.cls_token_id}
        kind = _kind(self.device)
        self._batch_tokens = _BATCH_TOKENS[kind]
        self.tokens_at_once = _MEMORY[kind] // (4 * self._model.config.hidden_size)

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text with its separators; empty if there is nothing between them."""
        from bert_score.utils import sent_encode

        text = text.encode("utf-8", "replace").decode().strip()  # tokenizers fail on unpaired surrogates
        numbers: list[int] = sent_encode(self._tokenizer, text) if text else []
        return numbers if set(numbers) - self._separators else []

    def embed(self, texts: Mapping[str, list[int]]) -> dict[str, Embedded]:
        """The embeddings of texts, on the device."""
        import torch
        from bert_score.utils import bert_encode, padding

        names, tokens = list(texts), list(texts.values())
        fill = self._tokenizer.pad_token_id or 0
        embedded: dict[str, Embedded] = {}
        for batch in batches([len(numbers) for numbers in tokens], self._batch_tokens):
            ids, _, mask = padding([tokens[at] for at in batch], fill)
            vectors = bert_encode(self._model, ids.to(self.device), mask.to(self.device)).float()
            for row, at in enumerate(batch):
                weights = [float(number not in self._separators) for number in tokens[at]]
                own = vectors[row, : len(weights)].clone()  # a view would keep the whole batch in memory
                embedded[names[at]] = Embedded(own, torch.tensor(weights, device=self.device))
        return embedded

    def match(self, pairs: Sequence[TextPair], embedded: Mapping[str, Embedded]) -> NDArray[np.float64]:
        """Precision, recall and F1 of each pair: shape (pairs, 3)."""
        import numpy as np
        import torch
        from bert_score.utils import greedy_cos_idf

        lengths = [sum(len(embedded[text].weights) for text in pair) for pair in pairs]
        scores = np.empty((len(pairs), 3))
        for batch in batches(lengths, 4 * self._batch_tokens):
            gold, predicted = ([embedded[pairs[at][side]] for at in batch] for side in (0, 1))
            with torch.no_grad():
                found = greedy_cos_idf(*_padded(gold), *_padded(predicted))
            scores[batch] = torch.stack(found, dim=1).cpu().numpy()
        return scores


class ReferenceScorer:
    """`bert_score.BERTScorer` without idf and rescaling, with a model loaded.

    Args:
        folder: the folder of the model's files.
        layers: number of layers to run.
        device: "cpu", "cuda" or "mps". Default: cuda if available, otherwise the CPU.
    """

    def __init__(self, folder: Path, layers: int, *, device: str | None = None) -> None:
        from bert_score import BERTScorer

        with _quiet(), _readable_path(folder) as path:
            self._scorer = BERTScorer(model_type=path, num_layers=layers, device=device)

    def scores(self, pairs: Sequence[TextPair]) -> NDArray[np.float64]:
        """Precision, recall and F1 of each pair of a gold and a predicted text: shape (pairs, 3)."""
        import numpy as np

        found = self._scorer.score([predicted for _, predicted in pairs], [gold for gold, _ in pairs])
        return np.stack([np.asarray(part, dtype=np.float64) for part in found], axis=1)


def _padded(texts: Sequence[Embedded]) -> tuple[Any, Any, Any]:
    """The padded vectors, the mask and the weights of several texts, as `greedy_cos_idf` takes them."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    vectors = pad_sequence([text.vectors for text in texts], batch_first=True, padding_value=_PADDING)
    weights = pad_sequence([text.weights for text in texts], batch_first=True)
    lengths = torch.tensor([len(text.weights) for text in texts], device=weights.device)
    mask = torch.arange(weights.shape[1], device=weights.device) < lengths[:, None]
    return vectors, mask, weights


def _positions(model: Any) -> int:
    """The maximum number of tokens of a model."""
    positions = getattr(model.config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        return _LONGEST
    first = getattr(getattr(model, "embeddings", None), "padding_idx", None)
    return positions - (0 if first is None else first + 1)  # RoBERTa starts after the index of the padding


def _check_device(device: str) -> None:
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise BertScoreError("the device cuda is not available", fix="omit --bertscore_device")
    if device == "mps" and not torch.backends.mps.is_available():
        raise BertScoreError("the device mps is not available", fix="omit --bertscore_device")


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the progress bars and notices of transformers, but not its errors."""
    from transformers.utils import logging

    level, had_bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if had_bar:
            logging.enable_progress_bar()


@contextmanager
def _readable_path(folder: Path) -> Iterator[str]:
    """A path for `bert-score`, which takes any path with "t5" in it for a T5 model: if needed, a link."""
    path = str(folder.resolve())
    config = read_json(folder / "config.json")
    if "t5" not in path or "t5" in str(config.get("model_type")):
        yield path
        return
    link = Path(tempfile.gettempdir(), f"model-{uuid4().hex}")
    link.symlink_to(folder.resolve(), target_is_directory=True)
    try:
        yield str(link)
    finally:
        link.unlink()
