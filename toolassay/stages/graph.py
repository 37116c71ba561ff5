"""Builds the tool graph, and draws it."""

from __future__ import annotations

import filecmp
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from toolassay.benchmarks.work_folder import refuse_other_benchmarks
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.text_formatting import count_of
from toolassay.errors import IncompleteError, UsageError
from toolassay.files.data_files import atomic_writer, copy_file, keep_dated_copy, read_json
from toolassay.files.locks import exclusive_folder
from toolassay.graph import DEFAULT_MAX_LINKS, ToolGraph
from toolassay.graph.edits import EDITS, read_edits
from toolassay.link_proposals.options import LinkOptions
from toolassay.link_proposals.result_shapes import write_shapes
from toolassay.link_proposals.schema_links import SchemaLinks
from toolassay.live_values.results import real_results
from toolassay.records.data_folder import DataFolder, Say, find_file
from toolassay.tools.library import ToolLibrary


def build_graph(
    data_dir: str | Path | None = None,
    *,
    tool_desc: str | Path | None = None,
    dependency_type: str | None = None,
    max_links: int | None = None,
    normalise_types: bool = True,
    links: LinkOptions = LinkOptions(),
    screen: Screen = DEFAULT,
) -> ToolGraph:
    """Build a tool graph and write `graph_desc.json`.

    Args:
        data_dir: Output folder, created if missing; default: the folder of `tool_desc`.
        tool_desc: Tool file, as a path or inside `data_dir`; default: that of `data_dir`.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`, else the
            tools'.
        max_links: Maximum number of links to write; with more, they stay implied by the types.
        normalise_types: Unify different spellings of a resource type.
        links: Options of the links of a schema graph.
        screen: Receives messages, results and progress.

    Returns:
        The graph, which is not written if `explain` or a dry run is given.

    Raises:
        UsageError: There are no tools, they do not allow such a graph, an option is for another kind of
            graph, or the graph would replace the tools.
        IncompleteError: The model was not asked about every tool; the graph is written.
    """
    if data_dir is None and tool_desc is None:
        raise UsageError("no tools given", fix="use --data_dir FOLDER or --tool_desc FILE")
    data_path = Path(data_dir) if data_dir is not None else None
    if data_path is not None and tool_desc is None:
        refuse_other_benchmarks(DataFolder(data_path))
    source = find_file(tool_desc or "tool_desc.json", data_path)
    folder = DataFolder(data_path or source.parent)
    if folder.graph_desc.exists() and folder.graph_desc.samefile(source):
        raise UsageError(
            "the tools would be overwritten by their graph", file=source, fix="give another --data_dir"
        )
    is_reading = links.explain is not None or (links.propose is not None and links.propose.dry_run)
    # Two corrections at the same time would lose one of them.
    lock = exclusive_folder(
        folder.path, ".graph.lock", what="another graph command", fix="repeat this one when that has ended"
    )
    with nullcontext() if is_reading else lock:
        library = ToolLibrary.load(source, normalise_types=normalise_types)
        for sentence in library.normalised:
            screen.say(
                f"{source}: {sentence} (build_graph(normalise_types=False) keeps the published spelling)"
            )
        kind = folder.dependency_type(dependency_type, library=library, say=screen.say)
        complete = True
        limit = DEFAULT_MAX_LINKS if max_links is None else max_links
        if kind == "schema":
            if max_links is not None:
                raise UsageError("--max_links is not for schema graphs", fix="use --max_edges_per_tool")
            _refuse_other_data(folder, kind)
            links = links.with_limits(folder.benchmark.links)
            seen = real_results(folder) if links.propose else {}
            schema_links = SchemaLinks(library, folder.path, links, screen, seen)
            graph = ToolGraph.of_dependencies(schema_links.shaped, schema_links.kept)
            if links.explain is not None:
                for line in schema_links.explanation(*links.explain):
                    screen.show(line)
                return graph
            if links.propose is not None and links.propose.dry_run:
                return graph
            complete = schema_links.complete
            schema_links.write()
            _show_written(graph, folder, None, screen)
            schema_links.show()
            if folder.benchmark.links != links.limits:
                folder.update_benchmark(links=links.limits)
        else:
            for name in links.given():
                raise UsageError(
                    f"--{name} is only for schema graphs, this one is {kind}",
                    fix="add --dependency_type schema",
                )
            _refuse_other_data(folder, kind)
            graph = ToolGraph.build(library, kind)
            _show_written(graph, folder, limit, screen)
        _complete(folder, source, graph, screen.say)
        if graph.library.tools != library.tools:
            write_shapes(folder.tool_desc, graph.library)
        if not complete:
            raise IncompleteError(
                f"{folder.graph_desc} is written, but the model was not asked about every tool",
                fix="run the same command again, after a budget stop with a higher limit",
            )
        return graph


def _refuse_other_data(folder: DataFolder, kind: str) -> None:
    """Refuse to give a folder with data of schema graphs another graph, or the other way round.

    Raises:
        UsageError: The stages after this one would refuse either the graph or the data.
    """
    recorded = folder.benchmark.dependency_type
    has_data = folder.data_raw.exists() or folder.data.exists()
    if has_data and recorded not in (None, kind) and "schema" in (recorded, kind):
        raise UsageError(
            f"the folder has data of a {recorded} graph, and --dependency_type is {kind}",
            file=folder.path,
            fix="give another --data_dir, with --tool_desc for the tools of this one",
        )


def _show_written(graph: ToolGraph, folder: DataFolder, limit: int | None, screen: Screen) -> None:
    """Write the graph and show what it has."""
    outcome = _write(graph, folder.graph_desc, limit)
    size = (
        f"{count_of(len(graph), 'tool')}, {count_of(graph.number_of_links, 'link')}, {graph.dependency_type}"
    )
    screen.show(f"{folder.graph_desc}: {outcome} ({size})")
    if limit is not None and graph.number_of_links > limit:
        screen.say(f"more than {limit:,} links: left implied by the types (a larger --max_links writes them)")


def _write(graph: ToolGraph, path: Path, limit: int | None) -> str:
    """Write the graph unless it is unchanged; returns a phrase for the message."""
    new = path.with_name(f".{path.name}.new")
    try:
        with atomic_writer(new) as stream:
            graph.write(stream, max_links=limit)
        if path.exists() and _same(path, new):
            return "up to date"
        kept = f", the one before kept as {_kept(path, graph).name}" if path.exists() else ""
        new.replace(path)
        return f"written{kept}"
    finally:
        new.unlink(missing_ok=True)


def _kept(path: Path, graph: ToolGraph) -> Path:
    """A copy of the graph before: dated, or of a schema graph the last one only.

    Corrections of schema graphs are in a file of their own, and each of them makes a new graph.
    """
    if graph.dependency_type != "schema":
        return keep_dated_copy(path)
    copy = path.with_name(f"{path.stem}.before{path.suffix}")
    copy_file(path, copy)
    return copy


def _same(old: Path, new: Path) -> bool:
    if filecmp.cmp(old, new, shallow=False):
        return True
    try:
        before: Any = read_json(old)
    except UsageError:
        return False
    return bool(before == read_json(new))


def _complete(folder: DataFolder, source: Path, graph: ToolGraph, say: Say) -> None:
    """Add the tools and `benchmark.json`, which later stages need."""
    if not folder.tool_desc.exists():
        copy_file(source, folder.tool_desc)
        say(f"{folder.tool_desc}: copied from {source}")
    elif source.resolve() != folder.tool_desc.resolve() and not filecmp.cmp(
        source, folder.tool_desc, shallow=False
    ):
        say(f"warning: {folder.tool_desc} differs from {source}: later stages read the former")
    recorded = folder.benchmark.dependency_type
    if recorded == graph.dependency_type:
        return
    if recorded is not None and (folder.data_raw.exists() or folder.data.exists()):
        say(f"{folder.benchmark_file} keeps '{recorded}', because the folder has data of that kind")
        return
    folder.update_benchmark(dependency_type=graph.dependency_type)
    if recorded is not None:
        say(f"{folder.benchmark_file}: the dependency type is now {graph.dependency_type}")


def visualize(
    data_dir: str | Path,
    *,
    graph_desc: str | Path | None = None,
    screen: Screen = DEFAULT,
) -> list[Path]:
    """Draw the tool graph of a folder.

    Args:
        data_dir: Data folder with `graph_desc.json`.
        graph_desc: Another graph file.
        screen: Receives messages, results and progress.

    Returns:
        The files written beside the graph: PNG, PDF and the HTML page; a warning names the reason where the
        graph is too large for a picture or for the page.

    Raises:
        UsageError: There is no graph, or `graph_edits.json` is malformed.
    """
    from toolassay.reports.graph_page import write_graph_page
    from toolassay.reports.graph_picture import draw_graph

    folder = DataFolder(Path(data_dir)).require()
    path = folder.graph_desc if graph_desc is None else find_file(graph_desc, folder.path)
    graph = folder.graph(folder.benchmark.dependency_type, graph_desc=path, say=screen.say)
    file = path.parent / EDITS
    edits = [edit.to_json() for edit in read_edits(file)] if file.exists() else []
    with screen.progress(f"draw {path}", 2) as advance:
        written = draw_graph(graph, path.parent)
        advance()
        try:
            page = path.parent / "graph_desc.html"
            written.append(write_graph_page(graph, page, edits=edits, folder=str(data_dir)))
        except UsageError as error:
            screen.say(f"{WARNING}no page: {error}")
        advance()
    for drawn in written:
        screen.show(str(drawn))
    return written
