"""BERTScore (Zhang et al., 2020) by the package `bert-score`: similarity of two texts by a language model.

Torch and the packages around it are imported when something is scored.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from toolassay.console.screen import Progress, no_progress
from toolassay.engines import Engine, OneProcess
from toolassay.errors import ToolassayError, UsageError, install
from toolassay.files.data_files import read_json, safe_name, sha256_of
from toolassay.metrics.rouge import TextPair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


DEFAULT = "roberta-large"
"""The model of published BERTScores in English."""

_DEFAULT_LAYERS = 17  # the layer that `bert-score` uses for roberta-large
_OWNER = "FacebookAI/"  # the hub renamed `roberta-large` to `FacebookAI/roberta-large`
_PACKAGES = {"torch": "torch", "transformers": "transformers", "bert_score": "bert-score"}
# Patterns of the files that transformers needs; a folder without weights or tokenizer is no model.
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
_TOKENIZER = ("tokenizer*", "vocab*", "merges.txt", "*.model", "special_tokens_map.json", "added_tokens.json")
_NAME_ONE = "--bertscore_model takes a folder with config.json, weights and tokenizer, or a name on the hub"
_GET_ONE = f"pass --bertscore_model (a folder, or {DEFAULT}, which downloads 1.4 GB)"
# Seconds: of the first request to the hub, and until another process has written the cache.
_PATIENCE = 10
_PAIRS_AT_ONCE = 500  # bert-score keeps the embeddings of a call in memory: up to 500 MB with roberta-large
_KEYS_AT_ONCE = 500  # of one query; old versions of SQLite allow 999
_TABLE = "CREATE TABLE IF NOT EXISTS scores (pair BLOB PRIMARY KEY, p REAL, r REAL, f REAL) WITHOUT ROWID"

Result = TypeVar("Result")


class BertScoreError(ToolassayError):
    """BERTScore cannot be computed; an evaluation goes on without it."""

    def __init__(self, message: str, *, fix: str | None = None) -> None:
        super().__init__(f"BERTScore is left out: {message}", fix=fix)


@dataclass(frozen=True)
class BertModel:
    """A model, and the layer whose output is compared.

    Attributes:
        name: the name on the hub, or the name of the folder.
        layers: number of layers to run.
        folder: the folder of its files, if the user passed one.
    """

    name: str
    layers: int
    folder: Path | None = None

    @cached_property
    def signature(self) -> str:
        """The signature of scores in the form of `bert-score`, with a hash of the files for a folder."""
        from importlib.metadata import version

        who = self.name.replace("|", "_")
        if self.folder is not None:
            who = f"folder:{safe_name(self.name)}@sha256-{fingerprint(self.folder)[:12]}"
        is_published = who.removeprefix(_OWNER) == DEFAULT and self.layers == _DEFAULT_LAYERS
        versions = f"version={version('bert-score')}(hug_trans={version('transformers')})"
        comparable = "" if is_published else "(not comparable with roberta-large)"
        return f"{who}_L{self.layers}_no-idf_{versions}{comparable}"


def choose_model(given: str | Path | None = None, layers: int | None = None) -> BertModel:
    """Resolve the model that the user selected, without a download.

    Args:
        given: a folder, or a name on the hub. Default: roberta-large, if it is in the hub's cache.
        layers: number of layers to run. Default: the number in the table of `bert-score` for a model of the
            hub, and all layers for a folder.

    Raises:
        UsageError: the folder does not exist, or has no model.
        BertScoreError: a package is missing, or the number of layers is unknown.
    """
    folder = None if given is None else Path(given).expanduser()
    # A name on the hub is `name` or `owner/name`.
    if folder is not None and not folder.is_dir():
        name = str(given)
        if isinstance(given, Path) or name.startswith((".", "/", "~")) or name.count("/") > 1:
            raise UsageError("no such folder", file=folder, fix=_NAME_ONE)
    if missing := [name for module, name in _PACKAGES.items() if find_spec(module) is None]:
        raise BertScoreError(f"not installed: {', '.join(missing)}", fix=install("bert"))
    if folder is not None and folder.is_dir():
        return BertModel(folder.resolve().name, layers or _layers_in(folder), folder.resolve())
    name = DEFAULT if given is None else str(given)
    if given is None and not (is_on_disk(DEFAULT) or is_on_disk(_OWNER + DEFAULT)):
        raise BertScoreError(f"{DEFAULT} is not downloaded", fix=_GET_ONE)
    from bert_score.utils import model2layers

    layer = layers or model2layers.get(name, model2layers.get(name.removeprefix(_OWNER)))
    if layer is None:
        raise BertScoreError(f"bert-score has no layer for {name}", fix="pass --bertscore_layers")
    return BertModel(name, int(layer))


def _layers_in(folder: Path) -> int:
    """The number of layers in the `config.json` of a folder with a model."""
    files = {path.name for path in folder.iterdir()}
    needed = (("config.json",), _WEIGHTS, _TOKENIZER)
    if not all(any(fnmatch.filter(files, pattern) for pattern in patterns) for patterns in needed):
        raise UsageError("holds no model for BERTScore", file=folder, fix=_NAME_ONE)
    layers = read_json(folder / "config.json").get("num_hidden_layers")
    if not isinstance(layers, int):
        raise BertScoreError(
            f"config.json in {folder} has no number of layers", fix="pass --bertscore_layers"
        )
    return layers


def is_on_disk(name: str) -> bool:
    """Whether a model is in the hub's cache; asks no server."""
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(name, "config.json"), str)


def fingerprint(folder: Path) -> str:
    """A hash of the weights, the configuration and the tokenizer in a folder, in hexadecimal."""
    patterns = ("config.json", *_WEIGHTS, "*.index.json", *_TOKENIZER)
    files = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    lines = "".join(f"{path.name} {sha256_of(path)}\n" for path in files)
    return hashlib.sha256(lines.encode()).hexdigest()


@dataclass(frozen=True)
class PairsTask:
    """Scores pairs that are not blank with `bert_score.BERTScorer`, for an engine.

    Attributes:
        model: the model; a folder has the same path, and a name is looked up in the hub's cache, everywhere.
        signature: of the scores in the main process.
        device: to compute on; None for CUDA if available, otherwise the CPU.
        threads: maximum number of CPU threads.
    """

    model: BertModel
    signature: str
    device: str | None
    threads: int

    def start(self) -> Callable[[Sequence[TextPair]], NDArray[np.float64]]:
        """Load the model, which is downloaded if it is a missing one of the hub.

        Raises:
            BertScoreError: this worker has other files of it, or other versions of the packages.
        """
        import numpy as np
        import torch
        from bert_score import BERTScorer
        from transformers.utils import logging

        model = replace(self.model)  # without the signature that the main process computed
        if model.signature != self.signature:
            raise BertScoreError(
                f"a worker of the engine has another {model.name}, or other packages",
                fix="install the same model and packages where the workers run",
            )
        if model.folder is None and not is_on_disk(model.name):
            from huggingface_hub import model_info

            model_info(model.name, timeout=_PATIENCE)  # fails soon without a network; transformers retries
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        torch.set_num_threads(max(1, min(self.threads, torch.get_num_threads())))
        where = str(model.folder or model.name)
        scorer = BERTScorer(model_type=where, num_layers=model.layers, device=self.device)

        def scores(pairs: Sequence[TextPair]) -> NDArray[np.float64]:
            # Tokenizers fail on unpaired surrogates.
            clean = [[text.encode("utf-8", "replace").decode() for text in pair] for pair in pairs]
            measured = scorer.score([predicted for _, predicted in clean], [gold for gold, _ in clean])
            return np.stack([np.asarray(part, dtype=np.float64) for part in measured], axis=1)

        return scores


class BertScore:
    """Scores pairs of texts with a model that is resolved, downloaded and loaded on first use.

    Args:
        model: a folder, or a name on the hub, which may be downloaded. Default: roberta-large, if it is in
            the hub's cache; it is not downloaded.
        layers: number of layers to run. Default: the best number by the table of `bert-score` for a model of
            the hub, and all layers for a folder.
        device: "cpu", "cuda" or "mps". Default: cuda if available, otherwise the CPU.
        cache: whether to use the cache in the user's cache folder; or the path of the cache.
        threads: maximum number of CPU threads.
        engine: where pairs are scored; None for this process. The cache stays in this process.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        layers: int | None = None,
        device: str | None = None,
        cache: bool | Path | None = True,
        threads: int = 1,
        engine: Engine | None = None,
    ) -> None:
        self._asked = (model, layers)
        self._device = device
        self._threads, self._engine = threads, engine or OneProcess()
        if not isinstance(cache, Path):
            cache = cache_file() if cache else None
        self._cache = ScoreCache(cache)
        self._failure: BertScoreError | None = None

    @cached_property
    def _model(self) -> BertModel:
        return choose_model(*self._asked)

    @property
    def name(self) -> str:
        """The model, its layer and the package versions, for a signature; "none" if BERTScore is unavailable.

        Raises:
            UsageError: the folder does not exist, or has no model.
        """
        try:
            return self._guarded(lambda: self._model.signature)
        except BertScoreError:
            return "none"

    def scores(self, pairs: Sequence[TextPair], *, progress: Progress = no_progress) -> NDArray[np.float64]:
        """Precision, recall and F1 of each pair: shape (pairs, 3), without idf and rescaling.

        Args:
            pairs: the gold text and the predicted text of each pair; repeated pairs are scored once, and
                blank texts score 0.
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
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            subject = self._model.name if "_model" in vars(self) else "bert-score"
            self._failure = BertScoreError(f"{subject} failed ({next(iter(lines), type(error).__name__)})")
            raise self._failure from error

    def _scores(self, pairs: Sequence[TextPair], progress: Progress) -> NDArray[np.float64]:
        import numpy as np

        if not pairs:
            return np.zeros((0, 3))
        model = self._model
        key_of = {pair: pair_key(model.signature, *pair) for pair in pairs}
        known = self._cache.find(list(key_of.values()))
        known |= {key: (0.0, 0.0, 0.0) for pair, key in key_of.items() if not all(map(str.strip, pair))}
        wanted = [pair for pair, key in key_of.items() if key not in known]
        # Texts of similar length are padded together, in whatever order they come.
        wanted.sort(key=lambda pair: (-sum(map(len, pair)), pair))
        chunks = [wanted[start : start + _PAIRS_AT_ONCE] for start in range(0, len(wanted), _PAIRS_AT_ONCE)]
        if chunks:
            threads = max(1, self._threads // self._engine.workers)
            task = PairsTask(model, model.signature, self._device, threads)
            with progress("BERTScore", len(wanted)) as advance:
                for chunk, values in zip(chunks, self._engine.map(task, chunks), strict=True):
                    rows = {
                        key_of[pair]: tuple(row) for pair, row in zip(chunk, values.tolist(), strict=True)
                    }
                    self._cache.add(rows)
                    known |= rows
                    for _ in chunk:
                        advance()
        return np.array([known[key_of[pair]] for pair in pairs])


def cache_file() -> Path:
    """The path `toolassay/bertscore.sqlite3` in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "toolassay/bertscore.sqlite3"


def pair_key(signature: str, gold: str, predicted: str) -> bytes:
    """The key of a score in the cache, a hash of 16 bytes."""
    digest = hashlib.blake2b(digest_size=16, person=b"BERTScorer")
    for part in (signature, gold, predicted):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


class ScoreCache:
    """A cache of precision, recall and F1 in an SQLite file, safe for several processes at once.

    A file that cannot be read or written acts as an empty cache.

    Args:
        path: the file; None for an empty cache that keeps nothing.

    >>> cache = ScoreCache(None)
    >>> cache.add({b"key": (0.5, 0.5, 0.5)})
    >>> cache.find([b"key"])
    {}
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def find(self, keys: Sequence[bytes]) -> dict[bytes, tuple[float, ...]]:
        """The scores of the keys in the cache."""

        def read(connection: sqlite3.Connection) -> dict[bytes, tuple[float, ...]]:
            cached: dict[bytes, tuple[float, ...]] = {}
            for start in range(0, len(keys), _KEYS_AT_ONCE):
                part = keys[start : start + _KEYS_AT_ONCE]
                query = f"SELECT pair, p, r, f FROM scores WHERE pair IN ({','.join('?' * len(part))})"
                cached |= {key: tuple(scores) for key, *scores in connection.execute(query, part)}
            return cached

        return self._do(read) or {}

    def add(self, rows: Mapping[bytes, tuple[float, ...]]) -> None:
        """Write scores to disk."""
        values = [(key, *scores) for key, scores in rows.items()]
        self._do(lambda connection: connection.executemany("REPLACE INTO scores VALUES (?, ?, ?, ?)", values))

    def _do(self, action: Callable[[sqlite3.Connection], Result]) -> Result | None:
        if self._path is None:
            return None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.closing(sqlite3.connect(self._path, timeout=_PATIENCE)) as connection, connection:
                connection.execute(_TABLE)
                return action(connection)
        except (sqlite3.Error, OSError):  # no database, not writable, disk full, or locked for too long
            self._path = None
            return None
