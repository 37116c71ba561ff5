"""The folder a generation works in, and the graph it works with."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

from toolgraph.errors import UsageError
from toolgraph.folder import DataFolder, Say, find_file
from toolgraph.graph import ToolGraph
from toolgraph.tools import ToolLibrary


def work_folder(
    data_dir: str | Path | None,
    graph_desc: str | Path | None,
    tool_desc: str | Path | None,
    *,
    name: str,
    say: Say,
) -> DataFolder:
    """The folder to work in, holding a graph (and tools).

    An existing `data_dir` is used with the files it has; what it lacks is copied in from the given files.
    Without `data_dir` a folder `result_{time}_{name}` is made.

    Raises:
        UsageError: there is no graph to be found.
    """
    given = Path(data_dir) if data_dir is not None else None
    if given is None and graph_desc is None:
        raise UsageError("no graph given", fix="use --data_dir FOLDER or --graph_desc FILE")
    folder = DataFolder(given or Path(f"result_{datetime.now():%Y%m%d-%H%M%S}_{name}"))
    sources = {
        folder.graph_desc: None if graph_desc is None else find_file(graph_desc, given),
        folder.tool_desc: None if tool_desc is None else find_file(tool_desc, given),
    }
    if sources[folder.graph_desc] is None and not folder.graph_desc.exists():
        raise UsageError("no such file", file=folder.graph_desc, fix="make it with generate_graph.py")
    for target, source in sources.items():
        if source is None:
            continue
        if not target.exists():
            folder.path.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        elif source.resolve() != target.resolve():
            say(f"warning: {target} is used, {source} is not")
    return folder


def graph_of(folder: DataFolder, dependency_type: str | None, *, say: Say) -> ToolGraph:
    """The graph of a folder: its `graph_desc.json`, or what its tools imply.

    The dependency type is the flag's, else that of `benchmark.json`, else what the file says; it is
    written to `benchmark.json` where nothing stands there.

    Raises:
        UsageError: neither file is there, or one is malformed.
    """
    if folder.graph_desc.exists():
        known = dependency_type or folder.benchmark.get("dependency_type")
        if known is not None:
            known = folder.dependency_type(dependency_type, say=say)
        return ToolGraph.load(folder.graph_desc, dependency_type=known)
    library = ToolLibrary.load(folder.tool_desc)
    return ToolGraph.build(library, folder.dependency_type(dependency_type, library=library, say=say))
