"""The model itself: loading, tokens, embeddings and matching, by the functions of `bert-score`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from toolassay.files import read_json
from toolassay.metrics.bertscore.blocks import TextPair, batches
from toolassay.metrics.bertscore.model import BertScoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MEMORY = {"cpu": 64 * 2**20, "cuda": 1024 * 2**20}  # bytes of embeddings at once
_BATCH_TOKENS = {"cpu": 1024, "cuda": 32_768}  # padded, in one call of the model
_PADDING = 2.0  # as bert-score fills up embeddings; masked
_LONGEST = 512  # tokens, where neither the tokenizer nor the model knows its limit
_NO_LIMIT = 1_000_000  # tokenizers without a limit say some huge number


class Embedded(NamedTuple):
    """A text as tensors.

    Attributes:
        vectors: one a token, shape (tokens, hidden size).
        weights: what each token counts, shape (tokens,): 0 for the separators, else 1.
    """

    vectors: Any
    weights: Any


class BertEncoder:
    """A model on a device.

    Args:
        folder: its files.
        layers: how many of its layers are run.
        device: "cpu", "cuda" or "mps"; None takes cuda where there is one, else the CPU.
        threads: at most so many on the CPU; None leaves that to torch.

    Raises:
        BertScoreError: there is no such device.
        Exception: whatever torch or transformers raise for files they cannot use.
    """

    def __init__(
        self, folder: Path, layers: int, *, device: str | None = None, threads: int | None = None
    ) -> None:
        import torch
        from bert_score import utils

        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        _check_device(self.device)
        if threads is not None:
            torch.set_num_threads(max(1, min(threads, torch.get_num_threads())))
        with _quiet(), _readable_path(folder) as path:
            self._model = utils.get_model(path, layers).to(self.device)
            self._tokenizer = utils.get_tokenizer(path)
        limit = _positions(self._model)
        if self._tokenizer.model_max_length > limit:
            self._tokenizer.model_max_length = limit  # what is longer is cut off, as bert-score does
        self._separators = {self._tokenizer.sep_token_id, self._tokenizer.cls_token_id}
        kind = "cpu" if self.device == "cpu" else "cuda"
        self._batch_tokens = _BATCH_TOKENS[kind]
        self.tokens_at_once = _MEMORY[kind] // (4 * self._model.config.hidden_size)

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text with its separators; none where there is nothing between them."""
        from bert_score.utils import sent_encode

        text = text.encode("utf-8", "replace").decode().strip()  # half of a surrogate pair has no token
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
            vectors = bert_encode(self._model, ids.to(self.device), mask.to(self.device))
            for row, at in enumerate(batch):
                weights = [float(number not in self._separators) for number in tokens[at]]
                own = vectors[row, : len(weights)].clone()  # a part of the batch would keep all of it
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


def _padded(texts: Sequence[Embedded]) -> tuple[Any, Any, Any]:
    """Vectors, mask and weights of several texts as `bert-score` has them."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    vectors = pad_sequence([text.vectors for text in texts], batch_first=True, padding_value=_PADDING)
    weights = pad_sequence([text.weights for text in texts], batch_first=True)
    lengths = torch.tensor([len(text.weights) for text in texts], device=weights.device)
    mask = torch.arange(weights.shape[1], device=weights.device) < lengths[:, None]
    return vectors, mask, weights


def _positions(model: Any) -> int:
    """How many tokens a model can take."""
    positions = getattr(model.config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        return _LONGEST
    first = getattr(getattr(model, "embeddings", None), "padding_idx", None)
    return positions - (0 if first is None else first + 1)  # RoBERTa counts from behind the padding


def _check_device(device: str) -> None:
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise BertScoreError("there is no cuda here", fix="leave --bertscore_device out")
    if device == "mps" and not torch.backends.mps.is_available():
        raise BertScoreError("there is no mps here", fix="leave --bertscore_device out")


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the bars and the notices of loading; errors are said."""
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
    """A path that `bert-score` understands: it takes any path with "t5" in it for a T5 model."""
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
