"""The data folder of a generation and its tool graph."""

from __future__ import annotations

import filecmp
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from toolassay.benchmarks.registry import benchmark_of, default_benchmark
from toolassay.errors import ToolassayError, UsageError, made_by
from toolassay.files.data_files import copy_file, write_json
from toolassay.graph import ToolGraph
from toolassay.records.data_folder import DataFolder, Say, find_file

_DATABASES = (".sqlite", ".sqlite3", ".db")  # which could become a workplace


@dataclass(frozen=True)
class WorkFolder:
    """A data folder and the files to copy into it; `make` does so."""

    folder: DataFolder
    copies: dict[Path, Path]

    def graph(self, dependency_type: str | None, *, say: Say) -> ToolGraph:
        """The tool graph of the folder, as it will be after `make`.

        Raises:
            UsageError: It is malformed, or not the graph of the folder's tools.
        """
        tools = self.copies.get(self.folder.tool_desc, self.folder.tool_desc)
        return graph_of(
            self.folder,
            dependency_type,
            say=say,
            graph_desc=self.copies.get(self.folder.graph_desc),
            tool_desc=tools if tools.exists() else None,
        )

    def make(self, graph: ToolGraph) -> None:
        """Create the folder, copy the missing files, and record the dependency type in `benchmark.json`.

        Raises:
            ToolassayError: It cannot be written.
        """
        try:
            self.folder.path.mkdir(parents=True, exist_ok=True)
            for target, source in self.copies.items():
                copy_file(source, target)
        except OSError as error:
            raise ToolassayError(
                f"cannot be written: {error.strerror}",
                file=error.filename2 or error.filename or self.folder.path,
                fix="check the folder's permissions and space",
            ) from error
        if not self.folder.tool_desc.exists():
            write_json(self.folder.tool_desc, graph.library.to_json())
        if self.folder.benchmark.dependency_type is None:
            self.folder.update_benchmark(dependency_type=graph.dependency_type)


def work_folder(
    data_dir: str | Path | None,
    graph_desc: str | Path | None,
    tool_desc: str | Path | None,
    *,
    name: str,
    say: Say,
) -> WorkFolder:
    """The data folder of a generation.

    An existing `data_dir` keeps its files; missing ones are copied from the given files. Without `data_dir`,
    the folder is a new one, `result_{time}_{name}`.

    Raises:
        UsageError: There is no graph, or `data_dir` is a file.
    """
    given = Path(data_dir) if data_dir is not None else None
    if given is None and graph_desc is None:
        raise UsageError("no graph given", fix="use --data_dir FOLDER or --graph_desc FILE")
    if given is not None and given.exists() and not given.is_dir():
        raise UsageError("is a file, a folder is needed", file=given, fix="check --data_dir")
    folder = DataFolder(given or _new_folder(name))
    if graph_desc is None:
        refuse_other_benchmarks(folder)
    sources = {
        folder.graph_desc: None if graph_desc is None else find_file(graph_desc, given),
        folder.tool_desc: None if tool_desc is None else find_file(tool_desc, given),
    }
    if sources[folder.graph_desc] is None and not folder.graph_desc.exists():
        raise UsageError("no such file", file=folder.graph_desc, fix=made_by("graph"))
    copies: dict[Path, Path] = {}
    for target, source in sources.items():
        if source is None:
            continue
        if not target.exists():
            copies[target] = source
        elif source.resolve() != target.resolve() and not filecmp.cmp(source, target, shallow=False):
            say(f"warning: {target} is used, {source} is not")
    return WorkFolder(folder, copies)


def graph_of(
    folder: DataFolder,
    dependency_type: str | None,
    *,
    say: Say,
    graph_desc: Path | None = None,
    tool_desc: Path | None = None,
) -> ToolGraph:
    """The graph of a folder as in `DataFolder.graph`, else the one that its tools imply.

    The dependency type is that of the flag, else of `benchmark.json`, else of the graph file.

    Raises:
        UsageError: There is neither graph nor tools, or a file is malformed.
        ToolFilesDiffer: Graph and tool file have different tools.
    """
    refuse_other_benchmarks(folder)
    if graph_desc is not None or folder.graph_desc.exists():
        known = dependency_type or folder.benchmark.dependency_type
        if known is not None:
            known = folder.dependency_type(dependency_type, say=say)
        return folder.graph(known, graph_desc=graph_desc, tool_desc=tool_desc, say=say)
    library = folder.library()
    return ToolGraph.build(library, folder.dependency_type(dependency_type, library=library, say=say))


def refuse_other_benchmarks(folder: DataFolder) -> None:
    """Refuse a folder of a benchmark without a tool graph.

    Raises:
        UsageError: It belongs to another benchmark, or has files that could be converted to a folder of one.
    """
    benchmark = benchmark_of(folder)
    if folder.tool_desc.exists() or folder.graph_desc.exists():
        return
    if benchmark is not default_benchmark():
        raise UsageError(
            f"is a {benchmark.about.title} folder, without a tool graph",
            file=folder.path,
            fix="use infer and evaluate on it, or give a folder with tool_desc.json",
        )
    if databases := sorted(path for path in folder.path.glob("*") if path.suffix in _DATABASES):
        raise UsageError(
            f"holds no benchmark, but {databases[0].name}",
            file=folder.path,
            fix=f"make one of it with `toolassay workbench new NAME --sandbox {databases[0]}`",
        )


def graph_fingerprint(graph: ToolGraph) -> str:
    """SHA-256 of the parts of a graph that affect answers: tools, dependency type and listed links."""
    digest = hashlib.sha256(json.dumps(graph.library.to_json()).encode())
    digest.update(graph.dependency_type.encode())
    if not graph.is_implied:
        for link in graph.links():
            digest.update(json.dumps(link).encode())
        for dependency in graph.dependencies():
            digest.update(json.dumps([dependency.score, dependency.kind, dependency.fields]).encode())
    return digest.hexdigest()


def _new_folder(name: str) -> Path:
    path = Path(f"result_{datetime.now():%Y%m%d-%H%M%S}_{name}")
    count = 1
    while path.exists():
        count += 1
        path = path.with_name(f"{path.name.removesuffix(f'-{count - 1}')}-{count}")
    return path
