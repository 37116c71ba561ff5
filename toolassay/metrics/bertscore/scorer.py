"""BERTScore of pairs of texts; each distinct pair is scored once and cached in an SQLite file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypeVar

from toolassay.engines import Engine
from toolassay.engines.processes import cores
from toolassay.errors import UsageError
from toolassay.metrics.bertscore.encoder import (
    Encoder,
    ReferenceScorer,
    TextPair,
    chosen_device,
    pair_shards,
    scored_blocks,
    uses_half,
)
from toolassay.metrics.bertscore.model import BertModel, BertScoreError, choose_model, first_line
from toolassay.progress_callback import Progress, no_progress
from toolassay.version import OLD_NAME

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Scores = tuple[float, float, float]
Precision = Literal["full", "half"]
QueryResult = TypeVar("QueryResult")

# Seconds to wait while another process writes the cache.
_PATIENCE = 30
# Keys in one query; old versions of SQLite allow 999.
_AT_ONCE = 500
REFERENCE = "bert-score"
"""Begins the signature of scores by `ReferenceBertScore`; a colon follows, which no name on the hub has."""

_TABLE = "CREATE TABLE IF NOT EXISTS scores (pair BLOB PRIMARY KEY, p REAL, r REAL, f REAL) WITHOUT ROWID"


def cache_file() -> Path | None:
    """The path `toolassay/bertscore.sqlite3` in the user's cache folder; None without such a folder.

    A cache under the package's old name stays in use if there is none under the new name.
    """
    folder = _cache_folder()
    if folder is None:
        return None
    current, old = (folder / name / "bertscore.sqlite3" for name in ("toolassay", OLD_NAME))
    return old if old.exists() and not current.exists() else current


def _cache_folder() -> Path | None:
    given = os.environ.get("XDG_CACHE_HOME")
    if given:
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    folder = {"win32": home / "AppData" / "Local", "darwin": home / "Library" / "Caches"}
    return folder.get(sys.platform, home / ".cache")


def pair_key(model: str, gold: str, predicted: str) -> bytes:
    """The key of a score in the cache, a hash of 16 bytes; `model` is `BertModel.key`."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (model, gold, predicted):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


class ScoreCache:
    """A cache of scores in an SQLite file, safe for several processes at once.

    A failure never stops an evaluation: a corrupt file is renamed (`….broken`) and replaced, and a file that
    cannot be read or written acts as an empty cache.

    Args:
        path: the file; None for an empty cache that keeps nothing.

    >>> with ScoreCache(None) as cache:
    ...     cache.add([(b"key", (0.5, 0.5, 0.5))])
    ...     cache.find([b"key"])
    {}
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Scores]:
        """Precision, recall and F1 of the keys in the cache."""

        def read(connection: sqlite3.Connection) -> dict[bytes, Scores]:
            found: dict[bytes, Scores] = {}
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT pair, p, r, f FROM scores WHERE pair IN ({marks})", part)
                found |= {key: (p, r, f) for key, p, r, f in rows}
            return found

        return self._do(read) or {}

    def add(self, rows: Iterable[tuple[bytes, Scores]]) -> None:
        """Write scores to disk."""
        values = [(key, *scores) for key, scores in rows]
        self._do(lambda connection: connection.executemany("REPLACE INTO scores VALUES (?, ?, ?, ?)", values))

    def _do(self, action: Callable[[sqlite3.Connection], QueryResult]) -> QueryResult | None:
        for _ in range(2):
            if self._path is None:
                return None
            try:
                with self._open(self._path) as connection:  # one transaction
                    return action(connection)
            except (
                sqlite3.OperationalError,
                OSError,
            ):  # not writable, disk full, or locked beyond the timeout
                self.close()
                self._path = None
            except sqlite3.DatabaseError:
                self.close()
                with contextlib.suppress(OSError):
                    self._path.replace(self._path.with_name(f"{self._path.name}.broken"))
        return None

    def _open(self, path: Path) -> sqlite3.Connection:
        if self._connection is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_PATIENCE)
            self._connection.execute(_TABLE)
        return self._connection

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


Result = TypeVar("Result")


@dataclass(frozen=True)
class PairsTask:
    """Scores shards of pairs, for an engine.

    Attributes:
        model: the model. A model of the hub is looked up in each worker's own cache.
        key: of the model in the main process.
        device: to compute on.
        threads: maximum number of CPU threads of a worker.
    """

    model: BertModel
    key: str
    device: str
    threads: int

    def start(self) -> Callable[[Sequence[TextPair]], NDArray[np.float64]]:
        """Load the model.

        Raises:
            BertScoreError: this worker has other files of it, or other versions of the packages.
        """
        # A copy without the fingerprint that the main process computed.
        model = replace(self.model, folder=self.model.folder if self.model.is_named_folder else None)
        if model.key != self.key:
            raise BertScoreError(
                f"a worker of the engine has another {model.name}, or other packages",
                fix="install the same model and packages where the workers run",
            )
        encoder = _encoder(model, self.device, self.threads)
        return partial(_scores_of_shard, encoder)


def _encoder(model: BertModel, device: str, threads: int | None) -> Encoder:
    from toolassay.metrics.bertscore.encoder import BertEncoder

    return BertEncoder(model.files(), model.layers, device=device, threads=threads, half=model.is_half)


def _scores_of_shard(encoder: Encoder, pairs: Sequence[TextPair]) -> NDArray[np.float64]:
    import numpy as np

    values = np.zeros((len(pairs), 3))
    for numbers, rows in scored_blocks(encoder, pairs):
        values[numbers] = rows
    return values


class BertScore:
    """Scores pairs of texts with a model that is resolved, downloaded and loaded on first use.

    Args:
        model: a folder, or a name on the hub, which may be downloaded. Default: roberta-large, if it is in
            the hub's cache; it is not downloaded.
        layers: number of layers to run. Default: the best number by the table of `bert-score` for a model of
            the hub, and all layers for a folder.
        device: "cpu", "cuda" or "mps". Default: cuda if available, otherwise the CPU.
        precision: "full" or "half". Default: half on cuda, full elsewhere.
        cache: whether to use the cache in the user's cache folder; or the path of the cache.
        threads: maximum number of CPU threads. Default: torch decides.
        engine: where pairs are scored; None for this process. The cache stays in this process.
    """

    _runs_half: ClassVar[bool] = True

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        layers: int | None = None,
        device: str | None = None,
        precision: Precision | None = None,
        cache: bool | Path = True,
        threads: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        self._asked = model, layers
        self._given_device, self._precision = device, precision
        self._threads, self._engine = threads, engine
        self._cache = cache if isinstance(cache, Path) else cache_file() if cache else None
        self._model: BertModel | None = None
        self._encoder: Encoder | None = None
        self._name: str | None = None
        self._failure: BertScoreError | None = None

    @property
    def name(self) -> str:
        """The model, its layer and the package versions, for a signature; "none" if BERTScore is unavailable.

        Raises:
            UsageError: the folder does not exist, or has no model.
        """
        try:
            return self._guarded(self._signature)
        except BertScoreError:
            return "none"

    def scores(self, pairs: Sequence[TextPair], *, progress: Progress = no_progress) -> NDArray[np.float64]:
        """Precision, recall and F1 of each pair: shape (pairs, 3).

        The scores equal those of `bert_score.BERTScorer` without idf and rescaling; blank texts score 0.

        Args:
            pairs: the gold text and the predicted text of each pair; repeated pairs are scored once.
            progress: reports the pairs that are not in the cache.

        Raises:
            UsageError: the folder does not exist, or has no model.
            BertScoreError: a package, the model, the network or the device is missing, or scoring failed.
                Later calls raise the same error without a new attempt.
        """
        return self._guarded(lambda: self._scores(pairs, progress))

    def _guarded(self, action: Callable[[], Result]) -> Result:
        """The result of `action`; exceptions of torch and other libraries become a `BertScoreError`."""
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
            model = choose_model(*self._asked)
            if self._runs_half and self._precision != "full":
                overflows = self._device == "cuda" and model.overflows_half
                model = replace(model, is_half=uses_half(self._precision, self._device, overflows=overflows))
            self._model = model
        return self._model

    @cached_property
    def _device(self) -> str:
        return chosen_device(self._given_device)

    def _loaded(self, model: BertModel) -> Encoder:
        if self._encoder is None:
            self._encoder = _encoder(model, self._device, self._threads)
        return self._encoder

    def _blocks(
        self, model: BertModel, pairs: Sequence[TextPair]
    ) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
        """The scores of pairs, with their indices, as they become known."""
        shards = list(pair_shards(pairs, self._device))
        texts = ([pairs[number] for number in shard] for shard in shards)
        if self._engine is None:
            encoder = self._loaded(model)
            for shard, part in zip(shards, texts, strict=True):
                for numbers, rows in scored_blocks(encoder, part):
                    yield [shard[number] for number in numbers], rows
            return
        threads = max(1, (self._threads or cores()) // self._engine.workers)
        folder = model.folder and model.folder.resolve()  # a worker has another working directory
        task = PairsTask(replace(model, folder=folder), model.key, self._device, threads)
        yield from zip(shards, self._engine.map(task, texts), strict=True)

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
                    for numbers, rows in self._blocks(model, texts):
                        own = [wanted[number] for number in numbers]
                        values[own] = rows
                        cache.add(
                            (keys[n], (p, r, f)) for n, (p, r, f) in zip(own, rows.tolist(), strict=True)
                        )
                        for _ in own:
                            advance()
        return values[[place[pair] for pair in pairs]]


class ReferenceBertScore(BertScore):
    """`BertScore` with the numbers of `bert_score.BERTScorer` itself, in one call and without a cache.

    The cache stays out because it holds numbers of the built-in batches. All embeddings of a call are in
    memory at once, as in `bert-score`, and it always runs in full precision in this process.
    """

    _runs_half = False
    _scorer: ReferenceScorer | None = None

    def _signature(self) -> str:
        return f"{REFERENCE}:{super()._signature()}"

    def _scores(self, pairs: Sequence[TextPair], progress: Progress) -> NDArray[np.float64]:
        import numpy as np

        place = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
        if not place:
            return np.zeros((0, 3))
        model = self._chosen()
        if self._scorer is None:
            self._scorer = ReferenceScorer(model.files(), model.layers, device=self._device)
        with progress("BERTScore", len(place)) as advance:
            values = self._scorer.scores(list(place))
            for _ in place:
                advance()
        return values[[place[pair] for pair in pairs]]
