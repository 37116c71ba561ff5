"""Import of the TaskBench data set: from the hub or downloaded files to a data folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.files import sha256_of, write_json_lines
from toolassay.graph import ToolFilesDiffer, ToolGraph
from toolassay.importers.taskbench import (
    ALIGNMENT,
    DOMAINS,
    GRAPH,
    TOOLS,
    from_folder,
    from_hub,
    read_taskbench,
)
from toolassay.stages.importing import arriving, new_folder
from toolassay.stages.screen import DEFAULT, WARNING, Screen
from toolassay.text_formatting import count_of
from toolassay.tools import ToolLibrary

HUB = "microsoft/Taskbench"
_CHECKOUT = Path(__file__).resolve().parents[2]


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
        screen: who listens.

    Raises:
        UsageError: an unknown domain, a missing or malformed file or row, a missing package, or the data
            folder holds other data.
        ToolassayError: the hub cannot be reached, or the folder cannot be written.
    """
    if domain not in DOMAINS:
        raise UsageError(f"unknown domain '{domain}'", fix=f"choose from {', '.join(DOMAINS)}")
    target = new_folder(data_dir)
    if folder is None:
        source = from_hub(hub, revision, domain, file)
    else:
        source = from_folder(Path(folder), domain, file)
    labels = list(read_taskbench(source.labels))
    if not labels:
        raise UsageError("holds no row", file=source.labels[0], fix="download it again")
    library = Path(tools) if tools is not None else source.beside.get(TOOLS) or _bundled(domain)
    copies = {ALIGNMENT: source.beside.get(ALIGNMENT), TOOLS: library}
    if library is not None:
        tools_read = ToolLibrary.load(library)
        if library == source.beside.get(TOOLS) and (graph := source.beside.get(GRAPH)):
            try:
                ToolGraph.load(graph, dependency_type=DOMAINS[domain], tools=tools_read)
                copies[GRAPH] = graph
            except ToolFilesDiffer as error:
                screen.say(f"{WARNING}{graph} is left out: {error}")
    with arriving(target) as work:
        for copied, path in copies.items():
            if path is not None:
                shutil.copyfile(path, work.path / copied)
        write_json_lines(
            work.user_requests,
            ({"id": label["id"], "user_request": label["user_request"]} for label in labels),
        )
        write_json_lines(work.data, labels)
        facts = {"domain": domain, "dependency_type": DOMAINS[domain], **source.facts}
        work.describe(**facts, source_sha256=sha256_of(source.labels[0]))
    if library is None:
        screen.say(
            f"{target.tool_desc} is needed before anything else: copy that of data_{domain}/ in Toolassay's"
            " repository, or import again with --tools FILE"
        )
    elif library != source.beside.get(TOOLS):
        screen.say(f"the tools are those of {library}")
    if GRAPH not in copies and library is not None:
        screen.say(f"there is no graph beside the data: toolassay graph --data_dir {target.path} makes it")
    screen.show(
        f"{target.path}: {count_of(len(labels), 'request')} with gold plans, from {source.facts['source']}"
    )
    return target


def _bundled(domain: str) -> Path | None:
    """The tools of a domain in a checkout; None where the package is installed without them."""
    path = _CHECKOUT / f"data_{domain}" / TOOLS
    return path if path.is_file() else None
