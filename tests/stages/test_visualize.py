from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.builders import text_tools
from tests.support.film_graphs import film_library
from toolassay import build_graph, visualize
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json


def test_three_pictures_are_made_and_named(tmp_path: Path) -> None:
    write_json(tmp_path / "tool_desc.json", text_tools("abc"))
    build_graph(tmp_path)
    shown: list[str] = []
    made = visualize(tmp_path, screen=Screen(show=shown.append))
    assert [path.name for path in made] == ["graph_desc.png", "graph_desc.pdf", "graph_desc.html"]
    assert [str(path) for path in made] == shown
    assert made[0].read_bytes().startswith(b"\x89PNG")
    assert made[1].read_bytes().startswith(b"%PDF")


def film_folder(path: Path) -> Path:
    """A folder with a schema graph."""
    write_json(path / "tool_desc.json", film_library().to_json())
    build_graph(path, dependency_type="schema")
    return path


def test_the_page_of_a_schema_graph_has_the_edits_of_the_folder_and_names_it(tmp_path: Path) -> None:
    folder = film_folder(tmp_path / "my films")
    edits = [{"action": "remove", "source": "actor", "target": "film_details", "note": "</script>"}]
    write_json(folder / "graph_edits.json", {"edits": edits})
    page = visualize(folder, screen=Screen())[-1].read_text(encoding="utf-8")
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert data["edits"] == edits
    assert data["folder"] == f"'{folder}'"
    assert page.count("</script>") == 3
    assert page == visualize(folder, screen=Screen())[-1].read_text(encoding="utf-8")


def test_malformed_edits_are_an_error_before_anything_is_drawn(tmp_path: Path) -> None:
    folder = film_folder(tmp_path)
    write_json(folder / "graph_edits.json", {"edits": [{"action": "paint"}]})
    with pytest.raises(UsageError, match=r"graph_edits\.json.*edit 1"):
        visualize(folder, screen=Screen())
    assert not (folder / "graph_desc.png").exists()
