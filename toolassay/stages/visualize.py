"""The visualize stage: graph_desc.json -> graph_desc.png, graph_desc.pdf, graph_desc.html."""

from __future__ import annotations

from pathlib import Path

from toolassay.data_folder import DataFolder, find_file
from toolassay.errors import UsageError
from toolassay.graph.edits import EDITS, read_edits
from toolassay.screen import DEFAULT, WARNING, Screen


def visualize(
    data_dir: str | Path = "data_huggingface",
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
        UsageError: There is no graph, it is too large for both, or `graph_edits.json` is malformed.
    """
    from toolassay.report.graph_page import write_graph_page
    from toolassay.report.graph_picture import draw_graph

    folder = DataFolder(Path(data_dir)).require()
    path = folder.graph_desc if graph_desc is None else find_file(graph_desc, folder.path)
    graph = folder.graph(folder.benchmark.get("dependency_type"), graph_desc=path, say=screen.say)
    file = path.parent / EDITS
    edits = [edit.to_json() for edit in read_edits(file)] if file.exists() else []
    with screen.progress(f"draw {path}", 2) as advance:
        made: list[Path] = []
        refused: UsageError | None = None
        try:
            made += draw_graph(graph, path.parent)
        except UsageError as error:
            refused = error
        advance()
        try:
            page = path.parent / "graph_desc.html"
            made.append(write_graph_page(graph, page, edits=edits, folder=str(data_dir)))
        except UsageError as error:
            if refused is not None:
                raise refused from None
            screen.say(f"{WARNING}no page: {error}")
        advance()
    if refused is not None:
        screen.say(f"{WARNING}no picture: {refused}")
    for picture in made:
        screen.show(str(picture))
    return made
