"""Imports the TaskBench data set from the hub or from downloaded files."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError, as_called
from toolassay.files.data_files import copy_file, record_of, sha256_of, write_json_lines
from toolassay.graph import DependencyType, ToolFilesDiffer, ToolGraph
from toolassay.importers.data_files import DataSource, arriving, new_folder, read_rows
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import WholeLabel, label_record
from toolassay.tools.library import ToolLibrary

DOMAINS: dict[str, DependencyType] = {
    "huggingface": "resource",
    "multimedia": "resource",
    "dailylifeapis": "temporal",
}
TOOLS = "tool_desc.json"
GRAPH = "graph_desc.json"
ALIGNMENT = "alignment_ids.json"
# Where labels may be, the first that is there: JSON needs no further package, and nothing was converted.
_LABELS = (
    *("data.json", "data.jsonl", "test.json", "test.jsonl", "data.parquet", "test.parquet"),
    *("test-*.parquet", "test/*.parquet", "test/*.arrow", "data-*.arrow"),
)


@dataclass(frozen=True)
class DomainFiles:
    """The files of one domain: label files in order, and the other files by name."""

    labels: Sequence[str]
    beside: dict[str, str]


def choose_files(names: Iterable[str], domain: str, wanted: str | None = None) -> DomainFiles | None:
    """The files of a domain among the names of a repository or a folder; None where there are no labels.

    Args:
        names: paths with slashes.
        domain: its files are in `data_{domain}/`, in `{domain}/`, or at the top.
        wanted: the name of the file with labels, instead of the first of the usual ones.

    >>> choose_files(["data_multimedia/data.parquet", "README.md"], "multimedia")
    DomainFiles(labels=['data_multimedia/data.parquet'], beside={})
    """
    known = sorted(names)
    for prefix in (f"data_{domain}/", f"{domain}/", ""):
        inside = [name.removeprefix(prefix) for name in known if name.startswith(prefix)]
        for pattern in _LABELS if wanted is None else (wanted,):
            labels = [prefix + name for name in inside if fnmatchcase(name, pattern)]
            if labels:
                beside = {name: prefix + name for name in (TOOLS, GRAPH, ALIGNMENT) if name in inside}
                return DomainFiles(labels, beside)
    return None


def read_taskbench(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """The labels in files of the hub's or the repository's form, in the repository's form.

    Raises:
        UsageError: a file is missing or malformed, or a row is no label (with its number).
    """
    for path in paths:
        for number, value in read_rows(path):
            label = label_record(path, number, value)
            fix = "fix that row, or download the file again"
            record_of(label, WholeLabel, file=path, line=number, fix=fix)
            yield label


HUB = "microsoft/Taskbench"
_CHECKOUT = Path(__file__).resolve().parents[3]


def import_taskbench(
    data_dir: str | Path,
    *,
    domain: str,
    hub: str = HUB,
    revision: str | None = None,
    folder: str | Path | None = None,
    file: str | None = None,
    tools: str | Path | None = None,
    screen: Screen = DEFAULT,
) -> DataFolder:
    """Make a data folder of one domain of TaskBench.

    Writes `data.json`, `user_requests.json`, `benchmark.json`, and `tool_desc.json`, `graph_desc.json` and
    `alignment_ids.json` where the source has them. Nothing is written before all of it is read and checked,
    and a file that is there already is never replaced by another.

    Args:
        data_dir: made if missing.
        domain: huggingface, multimedia or dailylifeapis.
        hub: the repository on the hub.
        revision: of it; None for the newest.
        folder: downloaded files instead of the hub.
        file: the file with the labels, where it has another name than usual, e.g. `improved.parquet`.
        tools: a `tool_desc.json` instead of the source's.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: an unknown domain, a missing or malformed file or row, a missing package, or the data
            folder holds other data.
        ToolassayError: the hub cannot be reached, or the folder cannot be written.
    """
    if domain not in DOMAINS:
        raise UsageError(f"unknown domain '{domain}'", fix=f"choose from {', '.join(DOMAINS)}")
    target = new_folder(data_dir)
    names, fetch, origin, revised = DataSource.open(hub, revision, folder)
    chosen_files = choose_files(names, domain, file)
    if chosen_files is None:
        fix = f"check --domain and --file: it should have data_{domain}/{file or 'data.json'}"
        raise UsageError(f"{origin} holds no labels of {domain}", fix=fix)
    facts = {"source": f"{chosen_files.labels[0]} of {origin}", **revised}
    files = [fetch(name) for name in chosen_files.labels]
    beside = {name: fetch(path) for name, path in chosen_files.beside.items()}
    labels = list(read_taskbench(files))
    if not labels:
        raise UsageError("holds no row", file=files[0], fix="download it again")
    library = Path(tools) if tools is not None else beside.get(TOOLS) or _bundled(domain)
    copies = {ALIGNMENT: beside.get(ALIGNMENT), TOOLS: library}
    if library is not None:
        tools_read = ToolLibrary.load(library)
        if library == beside.get(TOOLS) and (graph := beside.get(GRAPH)):
            try:
                ToolGraph.load(graph, dependency_type=DOMAINS[domain], tools=tools_read)
                copies[GRAPH] = graph
            except ToolFilesDiffer as error:
                screen.say(f"{WARNING}{graph} is left out: {error}")
    with arriving(target) as work:
        for copied, path in copies.items():
            if path is not None:
                copy_file(path, work.path / copied)
        write_json_lines(
            work.user_requests,
            ({"id": label["id"], "user_request": label["user_request"]} for label in labels),
        )
        write_json_lines(work.data, labels)
        facts = {"domain": domain, "dependency_type": DOMAINS[domain], **facts}
        work.update_benchmark(**facts, source_sha256=sha256_of(files[0]))
    if library is None:
        screen.say(
            f"{target.tool_desc} is needed before anything else: copy that of data_{domain}/ in Toolassay's"
            " repository, or import again with --tools FILE"
        )
    elif library != beside.get(TOOLS):
        screen.say(f"the tools are those of {library}")
    if GRAPH not in copies and library is not None:
        quoted_path = shlex.quote(str(target.path))
        screen.say(f"there is no graph beside the data: {as_called('graph', data_dir=quoted_path)} makes it")
    screen.show(f"{target.path}: {count_of(len(labels), 'request')} with gold plans, from {facts['source']}")
    return target


def _bundled(domain: str) -> Path | None:
    """The tools of a domain in a source checkout; None in an installed package."""
    path = _CHECKOUT / f"data_{domain}" / TOOLS
    return path if path.is_file() else None
