"""The visualize stage: graph_desc.json -> graph_desc.png, graph_desc.pdf, graph_desc.html."""

from __future__ import annotations

from pathlib import Path

from toolassay.data_folder import DataFolder, find_file
from toolassay.errors import UsageError
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
        The files written beside the graph: PNG, PDF and, unless the graph is too large, the HTML page.

    Raises:
        UsageError: There is no graph, or it is too large to draw.
    """
    from toolassay.report import draw_graph, write_graph_page

    folder = DataFolder(Path(data_dir)).require()
    path = folder.graph_desc if graph_desc is None else find_file(graph_desc, folder.path)
    graph = folder.graph(folder.benchmark.get("dependency_type"), graph_desc=path, say=screen.say)
    with screen.progress(f"draw {path}", 2) as advance:
        made = draw_graph(graph, path.parent)
        advance()
        try:
            made.append(write_graph_page(graph, path.parent / "graph_desc.html"))
        except UsageError as error:
            screen.say(f"{WARNING}no page: {error}")
        advance()
    for picture in made:
        screen.show(str(picture))
    return made
