"""The visualize stage: graph_desc.json -> graph_desc.png, graph_desc.pdf, graph_desc.html."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolassay.data_folder import DataFolder, find_file
from toolassay.errors import UsageError
from toolassay.files import read_json
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
    from toolassay.report import draw_graph, write_graph_page

    folder = DataFolder(Path(data_dir)).require()
    path = folder.graph_desc if graph_desc is None else find_file(graph_desc, folder.path)
    graph = folder.graph(folder.benchmark.get("dependency_type"), graph_desc=path, say=screen.say)
    edits = _edits(path.parent)
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


def _edits(folder: Path) -> list[dict[str, Any]]:
    """The edits of `graph_edits.json` beside the graph, which the page of a schema graph shows."""
    path = folder / "graph_edits.json"
    if not path.exists():
        return []
    value = read_json(path)
    edits = value.get("edits") if isinstance(value, dict) else None
    if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
        raise UsageError("has no list of edits", file=path, fix='write {"edits": [{"action": …}, …]}')
    return edits
