"""Select the model of BERTScore, and find or download its files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from toolassay.errors import ToolassayError, UsageError, install
from toolassay.files import read_json, safe_name, sha256_of

DEFAULT = "roberta-large"
"""The model of published BERTScores in English."""

# The layer that `bert-score` uses for roberta-large.
_DEFAULT_LAYERS = 17
# The hub renamed `roberta-large` to `FacebookAI/roberta-large`.
_OWNER = "FacebookAI/"
_NOT_COMPARABLE = "(not comparable with roberta-large)"
_PACKAGES = {"torch": "torch", "transformers": "transformers", "bert_score": "bert-score"}
# Patterns of the files that transformers needs; a folder without weights or tokenizer is no model.
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
_TOKENIZER = ("tokenizer*", "vocab*", "merges.txt", "*.model", "special_tokens_map.json", "added_tokens.json")
_NAME_ONE = "--bertscore_model takes a folder with config.json, weights and tokenizer, or a name on the hub"
_GET_ONE = f"pass --bertscore_model (a folder, or {DEFAULT}, which downloads 1.4 GB)"
# Timeout of the first request to the hub, in seconds.
_PATIENCE = 10


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
        folder: the folder of its files; None until they are downloaded.
        is_named_folder: whether the user passed a folder instead of a name on the hub.
        is_half: whether it runs in half precision.
    """

    name: str
    layers: int
    folder: Path | None
    is_named_folder: bool = False
    is_half: bool = False

    @property
    def signature(self) -> str:
        """The signature of scores in the form of `bert-score`, with a hash of the files for a folder."""
        who = self.name.replace("|", "_")
        if self.is_named_folder:
            who = f"folder:{safe_name(self.name)}@sha256-{self._fingerprint[:12]}"
        is_published = who.removeprefix(_OWNER) == DEFAULT and self.layers == _DEFAULT_LAYERS
        half = "half_" if self.is_half else ""
        return f"{who}_L{self.layers}_no-idf_{half}{_versions()}{'' if is_published else _NOT_COMPARABLE}"

    @property
    def key(self) -> str:
        """Identifies what a score depends on except the texts: files, layer, versions and precision."""
        return f"{self._fingerprint}_L{self.layers}_{_versions()}{'_half' if self.is_half else ''}"

    @property
    def overflows_half(self) -> bool:
        """Whether its numbers do not fit into half precision: activations of T5 exceed 65,504."""
        config = read_json(self.folder / "config.json") if self.folder else {}
        kind = config.get("model_type") if isinstance(config, dict) else None
        return "t5" in self.name.lower() or "t5" in str(kind)

    def files(self) -> Path:
        """The folder of its files, which are downloaded if missing; the default model is never downloaded.

        Raises:
            BertScoreError: the download failed.
        """
        return self.folder or _in_hub_cache(self.name) or _download(self.name)

    @cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self.files())


def choose_model(given: str | Path | None = None, layers: int | None = None) -> BertModel:
    """Resolve the model that the user selected, without a download.

    Args:
        given: a folder, or a name on the hub. Default: roberta-large, if it is in the hub's cache.
        layers: number of layers to run. Default: the number in the table of `bert-score` for a model of the
            hub, and all layers for a folder.

    Raises:
        UsageError: the folder does not exist, or has no model.
        BertScoreError: a package is missing, the number of layers is unknown, or the model has fewer.
    """
    folder = None if given is None else Path(given).expanduser()
    if folder is not None and not folder.is_dir() and _is_path(given):
        raise UsageError("no such folder", file=folder, fix=_NAME_ONE)
    if missing := _missing_packages():
        raise BertScoreError(f"not installed: {', '.join(missing)}", fix=install("bert"))
    if folder is None:
        found = _in_hub_cache(DEFAULT) or _in_hub_cache(_OWNER + DEFAULT)
        if found is None:
            raise BertScoreError(f"{DEFAULT} is not downloaded", fix=_GET_ONE)
        return _checked(BertModel(DEFAULT, layers or _layers_of_name(DEFAULT), found))
    if folder.is_dir():
        return _of_folder(folder, layers)
    name = str(given)
    local = _in_hub_cache(name)
    return _checked(BertModel(name, layers or _layers_of_name(name), local))


def require_bert_score() -> None:
    """Check that `bert-score` and what it needs is installed, for those who select it by name.

    Raises:
        UsageError: a package is missing.
    """
    if missing := _missing_packages():
        raise UsageError(
            f"--bertscore_backend bert-score needs packages: {', '.join(missing)}", fix=install("bert")
        )


def _missing_packages() -> list[str]:
    return [name for module, name in _PACKAGES.items() if find_spec(module) is None]


def fingerprint(folder: Path) -> str:
    """A hash of the weights, the configuration and the tokenizer in a folder, in hexadecimal."""
    patterns = ("config.json", *_WEIGHTS, "*.index.json", *_TOKENIZER)
    files = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    lines = "".join(f"{path.name} {sha256_of(path)}\n" for path in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def first_line(error: BaseException) -> str:
    r"""The first line of an error's message that is not blank, or the name of its class.

    >>> first_line(OSError("no network\nsee …")), first_line(MemoryError())
    ('no network', 'MemoryError')
    """
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _layers_of_name(name: str) -> int:
    """The best layer of a model on the hub, by the table of `bert-score`."""
    try:
        from bert_score.utils import model2layers
    except Exception as error:  # a broken torch, or versions that do not fit together
        raise BertScoreError(f"bert-score cannot be loaded ({first_line(error)})") from error
    found: int | None = model2layers.get(name, model2layers.get(name.removeprefix(_OWNER)))
    if found is None and "/" not in name:
        raise UsageError(
            f"'{name}' is neither a folder nor a model that bert-score knows",
            fix="check --bertscore_model, or pass --bertscore_layers too",
        )
    if found is None:
        raise BertScoreError(f"bert-score has no layer for {name}", fix="pass --bertscore_layers")
    return found


def _versions() -> str:
    from importlib.metadata import version

    return f"version={version('bert-score')}(hug_trans={version('transformers')})"


def _is_path(given: str | Path | None) -> bool:
    """Whether the text is a path and not a name on the hub, which is `name` or `owner/name`.

    `models/bert` is a path if there is a folder `models`.
    """
    name = str(given)
    return (
        isinstance(given, Path)
        or name.startswith((".", "/", "~"))
        or name.endswith("/")
        or "\\" in name
        or name.count("/") > 1
        or ("/" in name and Path(name).parent.is_dir())
    )


def _of_folder(folder: Path, layers: int | None) -> BertModel:
    if not (folder / "config.json").is_file() or not _has(folder, _WEIGHTS) or not _has(folder, _TOKENIZER):
        raise UsageError("holds no model for BERTScore", file=folder, fix=_NAME_ONE)
    chosen = layers or _layers_in(folder)
    if chosen is None:
        raise BertScoreError(
            f"config.json in {folder} has no number of layers", fix="pass --bertscore_layers"
        )
    return _checked(BertModel(folder.resolve().name, chosen, folder, is_named_folder=True))


def _checked(model: BertModel) -> BertModel:
    available = _layers_in(model.folder) if model.folder else None
    if available is not None and model.layers > available:
        raise BertScoreError(
            f"{model.name} has {available} layers, not {model.layers}", fix="lower --bertscore_layers"
        )
    return model


def _layers_in(folder: Path) -> int | None:
    """The number of layers in a model's `config.json`; None if it has none."""
    config = read_json(folder / "config.json")
    names = ("num_hidden_layers", "num_layers", "n_layers", "n_layer")
    counts = (config.get(name) for name in names) if isinstance(config, dict) else ()
    return next((count for count in counts if isinstance(count, int)), None)


def _has(folder: Path, patterns: tuple[str, ...]) -> bool:
    return any(path.is_file() for pattern in patterns for path in folder.glob(pattern))


def _in_hub_cache(name: str) -> Path | None:
    """The folder of a model in the hub's cache, without a network request; None if it is not complete."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(name, "config.json")
    except HFValidationError as error:
        raise BertScoreError(
            f"'{name}' is neither a folder nor a name on the hub", fix="check --bertscore_model"
        ) from error
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    return folder if _has(folder, _WEIGHTS) and _has(folder, _TOKENIZER) else None


def _download(name: str) -> Path:
    """Download the files of a model from the hub and return their folder."""
    try:
        from huggingface_hub import model_info
        from transformers import AutoModel, AutoTokenizer

        # Without a network this request fails soon; transformers would retry for minutes.
        model_info(name, timeout=_PATIENCE)
        AutoTokenizer.from_pretrained(name)
        AutoModel.from_pretrained(name)
    except Exception as error:
        raise BertScoreError(
            f"{name} is not in the cache and cannot be downloaded ({first_line(error)})",
            fix="check the name and the network, or pass a folder with --bertscore_model",
        ) from error
    folder = _in_hub_cache(name)
    if folder is None:
        raise BertScoreError(f"{name} has no usable weights or no usable tokenizer")
    return folder
