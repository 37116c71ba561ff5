"""The models that are compared: by name or by path, and what their scores were made with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.taskbench.scoring.items import FIX, items_path
from toolassay.benchmarks.taskbench.scoring.signature import read_signature
from toolassay.errors import UsageError
from toolassay.files import read_json, safe_name, sha256_of
from toolassay.offline.marks import NO_TOOLS, WORDINGS, Mark, mark_of

_ITEMS_ENDING = ".items.jsonl"
# What may differ between models, or between metrics of the same tasks made by two versions.
_OF_THE_MODEL = ("predictions", "trials", "items", "bootstrap", "group", "n", WORDINGS, NO_TOOLS)

_CLUSTERS = {
    "workbench": "the tasks of one template",
    "classic": "the messages of one conversation",
}


@dataclass(frozen=True)
class ScoredModel:
    """A model and the file of its items."""

    name: str
    items: Path

    @property
    def metrics(self) -> Path:
        """The metrics file beside the items.

        >>> ScoredModel("acme", Path("metrics/acme.items.jsonl")).metrics.as_posix()
        'metrics/acme.json'
        """
        return self.items.with_name(f"{self.items.name.removesuffix(_ITEMS_ENDING)}.json")


def scored_models(given: Sequence[str], metrics_folder: Callable[[], Path]) -> list[ScoredModel]:
    """The models meant, each with a name of its own.

    Args:
        given: each the path of a file of items or of a metrics file, or a name.
        metrics_folder: says where the files of names are; not asked where there is none.

    Raises:
        UsageError: a model has no file of items.
    """
    files = [_scored_model(text, metrics_folder) for text in given]
    times = Counter(file.name for file in files)
    return [
        ScoredModel(text, file.items) if times[file.name] > 1 else file
        for text, file in zip(given, files, strict=True)
    ]


def _scored_model(given: str, metrics_folder: Callable[[], Path]) -> ScoredModel:
    if given.endswith(_ITEMS_ENDING):
        path = Path(given)
        name = path.name.removesuffix(_ITEMS_ENDING)
    elif given.endswith(".json"):
        path, name = items_path(Path(given)), Path(given).stem
    else:
        path, name = items_path(metrics_folder() / f"{safe_name(given)}.json"), given
    if not path.is_file():
        raise UsageError(
            "no such file of items", file=path, fix=f"run evaluate.py --llm {name}, or check the name"
        )
    return ScoredModel(name, path)


def differing_settings(first: ScoredModel, second: ScoredModel) -> Iterator[str]:
    """Warn of scores that were made with different data, metrics or versions."""
    made = [_signature(first), _signature(second)]
    if {} in made:
        who = (first, second)[made.index({})].name
        yield f"warning: no metrics file beside the items of {who} says what its scores were made with"
        return
    differing = [
        f"{name} ({made[0].get(name)} / {made[1].get(name)})"
        for name in dict.fromkeys([*made[0], *made[1]])
        if name not in _OF_THE_MODEL and made[0].get(name) != made[1].get(name)
    ]
    if differing:
        yield (
            f"warning: the scores of {first.name} and {second.name} were made with different "
            f"{', '.join(differing)}"
        )


def clusters_of(model: ScoredModel) -> str:
    """What the items of one cluster have in common, by the benchmark that its signature names."""
    return _CLUSTERS.get(_signature(model).get("benchmark", ""), "the items of one sampled subgraph")


def mark_of_scored(model: ScoredModel) -> Mark | None:
    """The mark of a model, by what its scores were made with."""
    return mark_of(model.name, _signature(model)) or mark_of(
        model.items.name.removesuffix(_ITEMS_ENDING), _signature(model)
    )


def torn(model: ScoredModel) -> Iterator[str]:
    """Warn of items that are not those the metrics beside them were made with (a stopped evaluation)."""
    known = _signature(model).get("items")
    if known is not None and known != sha256_of(model.items)[: len(known)]:
        yield (
            f"warning: the items of {model.name} are not those its metrics were made with: "
            f"run evaluate.py --llm {model.name} again"
        )


def _signature(model: ScoredModel) -> dict[str, str]:
    """What the scores were made with; empty where no metrics file says it."""
    if not model.metrics.is_file():
        return {}
    groups = read_json(model.metrics, fix=FIX)
    try:
        return read_signature(next(iter(groups.values()))["strict"]["signature"])
    except (AttributeError, KeyError, StopIteration, TypeError):
        return {}
