"""Where the files of a TaskBench domain come from: a folder, or the hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.importers.hub import HubDataset
from toolassay.importers.taskbench import choose_files, files_in


@dataclass(frozen=True)
class Source:
    """Files of one domain, and where they come from.

    Attributes:
        labels: the files with labels, in order.
        beside: the other files there are, by their published names.
        facts: for `benchmark.json`: `source`, and `revision` where it is known.
    """

    labels: Sequence[Path]
    beside: Mapping[str, Path]
    facts: Mapping[str, str]


def from_folder(folder: Path, domain: str, file: str | None) -> Source:
    """Files that were downloaded.

    Raises:
        UsageError: there is no such folder, or it holds no labels.
    """
    found = files_in(folder, domain, file)
    return Source(
        [folder / name for name in found.labels],
        {name: folder / place for name, place in found.beside.items()},
        {"source": f"{found.labels[0]} of {folder.resolve().name}"},
    )


def from_hub(name: str, revision: str | None, domain: str, file: str | None) -> Source:
    """Files of a data set on the hub; only those that are wanted are fetched.

    Raises:
        UsageError: huggingface_hub is missing, or there are no labels of the domain.
        ToolassayError: the hub cannot be reached.
    """
    dataset = HubDataset(name, revision)
    found = choose_files(dataset.names, domain, file)
    if found is None:
        raise UsageError(f"{name} holds no labels of {domain}", fix="check --hub, --domain and --file")
    return Source(
        [dataset.fetch(place) for place in found.labels],
        {known: dataset.fetch(place) for known, place in found.beside.items()},
        {"source": f"{found.labels[0]} of {name} on the Hugging Face hub", "revision": dataset.revision},
    )
