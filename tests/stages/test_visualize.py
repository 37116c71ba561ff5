from __future__ import annotations

from pathlib import Path

import pytest
from builders import imported_folder, imported_tool, text_tools

from toolassay import build_graph, visualize
from toolassay.errors import UsageError
from toolassay.files import write_json
from toolassay.screen import Screen


def test_three_pictures_are_made_and_named(tmp_path: Path) -> None:
    write_json(tmp_path / "tool_desc.json", text_tools("abc"))
    build_graph(tmp_path)
    shown: list[str] = []
    made = visualize(tmp_path, screen=Screen(show=shown.append))
    assert [path.name for path in made] == ["graph_desc.png", "graph_desc.pdf", "graph_desc.html"]
    assert [str(path) for path in made] == shown
    assert made[0].read_bytes().startswith(b"\x89PNG")
    assert made[1].read_bytes().startswith(b"%PDF")


def test_a_missing_graph_is_reported_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="generate_graph"):
        visualize(tmp_path)


def test_a_graph_too_large_for_a_picture_still_has_its_page(tmp_path: Path) -> None:
    imported_folder(tmp_path, {"nodes": [imported_tool(f"t{number}", "", {}) for number in range(201)]})
    said: list[str] = []
    made = visualize(tmp_path, screen=Screen(say=said.append))
    assert [path.name for path in made] == ["graph_desc.html"]
    assert len([line for line in said if "no picture" in line and "too large to draw" in line]) == 1
