"""The TaskBench data set, from a folder or from the hub: which files it has, and their labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from toolassay.dataset import label_record
from toolassay.errors import UsageError
from toolassay.graph import DependencyType
from toolassay.importers.hub import HubDataset, read_rows

DOMAINS: dict[str, DependencyType] = {
    "huggingface": "resource",
    "multimedia": "resource",
    "dailylifeapis": "temporal",
}
TOOLS, GRAPH, ALIGNMENT = "tool_desc.json", "graph_desc.json", "alignment_ids.json"
# Where labels may be, the first that is there: JSON needs no further package, and nothing was converted.
_LABELS = (
    *("data.json", "data.jsonl", "test.json", "test.jsonl", "data.parquet", "test.parquet"),
    *("test-*.parquet", "test/*.parquet", "test/*.arrow", "data-*.arrow"),
)
_LISTS = ("task_steps", "task_nodes", "task_links")


@dataclass(frozen=True)
class DomainFiles:
    """The files of one domain, by name: those with labels in order, and what stands beside them."""

    labels: Sequence[str]
    beside: dict[str, str]


def choose_files(names: Iterable[str], domain: str, wanted: str | None = None) -> DomainFiles | None:
    """The files of a domain among the names of a repository or a folder; None where there are no labels.

    Args:
        names: paths with slashes.
        domain: its files lie in `data_{domain}/`, in `{domain}/`, or at the top.
        wanted: the name of the file with labels, instead of the first of the usual ones.

    >>> choose_files(["data_multimedia/data.parquet", "README.md"], "multimedia")
    DomainFiles(labels=['data_multimedia/data.parquet'], beside={})
    """
    known = sorted(names)
    for place in (f"data_{domain}/", f"{domain}/", ""):
        inside = [name.removeprefix(place) for name in known if name.startswith(place)]
        for pattern in _LABELS if wanted is None else (wanted,):
            labels = [place + name for name in inside if fnmatchcase(name, pattern)]
            if labels:
                beside = {name: place + name for name in (TOOLS, GRAPH, ALIGNMENT) if name in inside}
                return DomainFiles(labels, beside)
    return None


def files_in(folder: Path, domain: str, wanted: str | None = None) -> DomainFiles:
    """The files of a domain in a folder that was downloaded.

    Raises:
        UsageError: there is no such folder, or it holds no labels.
    """
    if not folder.is_dir():
        raise UsageError("no such folder", file=folder, fix="check --from")
    names = [
        path.relative_to(folder).as_posix()
        for pattern in ("*", "*/*", "*/*/*")
        for path in folder.glob(pattern)
        if path.is_file()
    ]
    found = choose_files(names, domain, wanted)
    if found is None:
        raise UsageError(
            f"holds no labels of {domain}",
            file=folder,
            fix=f"it should have data_{domain}/{wanted or 'data.json'}",
        )
    return found


def read_taskbench(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """The labels in files of the hub's or the repository's form, in the repository's form.

    Raises:
        UsageError: a file is missing or malformed, or a row is no label (with its number).
    """
    for path in paths:
        for number, value in read_rows(path):
            label = label_record(path, number, value)
            problem = _problem(label)
            if problem is not None:
                raise UsageError(
                    problem, file=path, line=number, fix="mend that row, or download the file again"
                )
            yield label


def _problem(label: dict[str, Any]) -> str | None:
    """What keeps a row from being a label."""
    text = label.get("user_request")
    if not isinstance(text, str) or not text.strip():
        return "has no text under 'instruction' or 'user_request'"
    for key in _LISTS:
        value = label.get(key)
        if not isinstance(value, list):
            return f"'{key}' is no list (nor JSON of one in a string)"
    if not all(isinstance(node, dict) and isinstance(node.get("task"), str) for node in label["task_nodes"]):
        return "'task_nodes' holds something without a 'task'"
    for link in label["task_links"]:
        if not isinstance(link, dict) or not {"source", "target"} <= link.keys():
            return "'task_links' holds something without 'source' and 'target'"
    return None


@dataclass(frozen=True)
class TaskbenchSource:
    """Files of one domain, and where they come from.

    Attributes:
        labels: the files with labels, in order.
        beside: the other files there are, by their published names.
        facts: for `benchmark.json`: `source`, and `revision` where it is known.
    """

    labels: Sequence[Path]
    beside: Mapping[str, Path]
    facts: Mapping[str, str]


def from_folder(folder: Path, domain: str, file: str | None) -> TaskbenchSource:
    """Files that were downloaded.

    Raises:
        UsageError: there is no such folder, or it holds no labels.
    """
    found = files_in(folder, domain, file)
    return TaskbenchSource(
        [folder / name for name in found.labels],
        {name: folder / place for name, place in found.beside.items()},
        {"source": f"{found.labels[0]} of {folder.resolve().name}"},
    )


def from_hub(name: str, revision: str | None, domain: str, file: str | None) -> TaskbenchSource:
    """Files of a data set on the hub; only those that are wanted are fetched.

    Raises:
        UsageError: huggingface_hub is missing, or there are no labels of the domain.
        ToolassayError: the hub cannot be reached.
    """
    dataset = HubDataset(name, revision)
    found = choose_files(dataset.names, domain, file)
    if found is None:
        raise UsageError(f"{name} holds no labels of {domain}", fix="check --hub, --domain and --file")
    return TaskbenchSource(
        [dataset.fetch(place) for place in found.labels],
        {known: dataset.fetch(place) for known, place in found.beside.items()},
        {"source": f"{found.labels[0]} of {name} on the Hugging Face hub", "revision": dataset.revision},
    )
