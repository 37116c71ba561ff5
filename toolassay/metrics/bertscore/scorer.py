"""BERTScore of pairs of texts: each different pair once, and never again while it is in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from toolassay.errors import UsageError
from toolassay.metrics.bertscore.blocks import Encoder, TextPair, scored_blocks
from toolassay.metrics.bertscore.cache import ScoreCache, cache_file, pair_key
from toolassay.metrics.bertscore.model import BertModel, BertScoreError, choose_model, first_line
from toolassay.watching import Progress, no_progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Result = TypeVar("Result")


class BertScore:
    """Scores pairs of texts with a model that is looked for, loaded and downloaded only when needed.

    Args:
        model: a folder, or a name of the hub, which may be downloaded; None takes roberta-large if it is on
            this disk, and downloads nothing.
        layers: how many layers are run; None: those `bert-score` knows to be best, all of a folder's.
        device: "cpu", "cuda" or "mps"; None takes cuda where there is one, else the CPU.
        cache: whether scores are kept in, and taken from, the user's cache folder; or the file itself.
        threads: at most so many on the CPU; None leaves that to torch.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        layers: int | None = None,
        device: str | None = None,
        cache: bool | Path = True,
        threads: int | None = None,
    ) -> None:
        self._asked = model, layers
        self._device = device
        self._threads = threads
        self._cache = cache if isinstance(cache, Path) else cache_file() if cache else None
        self._model: BertModel | None = None
        self._encoder: Encoder | None = None
        self._name: str | None = None
        self._failure: BertScoreError | None = None

    @property
    def name(self) -> str:
        """The model, its layer and the versions of what runs it, for a signature; "none" if it cannot be had.

        Raises:
            UsageError: a folder was named that is none, or holds no model.
        """
        try:
            return self._guarded(self._signature)
        except BertScoreError:
            return "none"

    def scores(self, pairs: Sequence[TextPair], *, progress: Progress = no_progress) -> NDArray[np.float64]:
        """Precision, recall and F1 of each pair of gold and predicted text, shape (pairs, 3).

        They are those of `bert_score.BERTScorer` without idf and without rescaling; blank texts score 0.

        Raises:
            UsageError: a folder was named that is none, or holds no model.
            BertScoreError: no packages, no model, no network, no such device, or it failed on the way; it is
                not tried again.
        """
        return self._guarded(lambda: self._scores(pairs, progress))

    def _guarded(self, action: Callable[[], Result]) -> Result:
        """What `action` gives; whatever torch and the libraries around it raise becomes a line."""
        if self._failure is not None:
            raise self._failure
        try:
            return action()
        except UsageError:
            raise
        except BertScoreError as error:
            self._failure = error
            raise
        except Exception as error:
            what = self._model.name if self._model else "bert-score"
            self._failure = BertScoreError(f"{what} failed ({first_line(error)})")
            raise self._failure from error

    def _signature(self) -> str:
        if self._name is None:
            self._name = self._chosen().signature
        return self._name

    def _chosen(self) -> BertModel:
        if self._model is None:
            self._model = choose_model(*self._asked)
        return self._model

    def _loaded(self, model: BertModel) -> Encoder:
        if self._encoder is None:
            from toolassay.metrics.bertscore.encoder import BertEncoder

            self._encoder = BertEncoder(
                model.files(), model.layers, device=self._device, threads=self._threads
            )
        return self._encoder

    def _scores(self, pairs: Sequence[TextPair], progress: Progress) -> NDArray[np.float64]:
        import numpy as np

        place = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
        different = list(place)
        values = np.zeros((len(different), 3))
        model = self._chosen()
        key_of_model = model.key if different else ""
        keys = [pair_key(key_of_model, *pair) for pair in different]
        with ScoreCache(self._cache) as cache:
            found = cache.find(keys)
            for number, key in enumerate(keys):
                values[number] = found.get(key, 0.0)
            wanted = [number for number, key in enumerate(keys) if key not in found]
            if wanted:
                with progress("BERTScore", len(wanted)) as advance:
                    texts = [different[number] for number in wanted]
                    for numbers, rows in scored_blocks(self._loaded(model), texts):
                        own = [wanted[number] for number in numbers]
                        values[own] = rows
                        cache.add(
                            (keys[n], (p, r, f)) for n, (p, r, f) in zip(own, rows.tolist(), strict=True)
                        )
                        for _ in own:
                            advance()
        return values[[place[pair] for pair in pairs]]
