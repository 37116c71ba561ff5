"""The pictures of a variety report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolassay.report.variety_pictures import draw_variety

NAMES = ["sizes_and_shapes.png", "tools.png"]


@pytest.fixture
def figures() -> dict[str, Any]:
    return {
        "sizes": {"single": {"1": 9}, "chain": {"2": 20, "40": 1}},
        "tools": {"tools": 3, "used": 2, "uses": {"a" * 99: 7, "$b_$": 2, "c": 0}},
    }


def test_the_same_figures_give_the_same_bytes(figures: dict[str, Any], tmp_path: Path) -> None:
    made = draw_variety(figures, tmp_path / "one")
    assert [path.name for path in made] == NAMES
    for path in draw_variety(figures, tmp_path / "two"):
        assert path.read_bytes() == (tmp_path / "one" / path.name).read_bytes()
    assert all(path.stat().st_size > 5_000 for path in made)
    figures["tools"] = {"not_applicable": "nothing there"}
    assert [path.name for path in draw_variety(figures, tmp_path / "one")] == NAMES[:1]
    assert [path.name for path in (tmp_path / "one").iterdir()] == NAMES[:1]


def test_many_tools_are_drawn_as_a_curve(figures: dict[str, Any], tmp_path: Path) -> None:
    figures["tools"] = {"tools": 5_000, "used": 5_000, "uses": {str(n): 5_000 - n for n in range(5_000)}}
    assert (tmp_path / "tools.png") in draw_variety(figures, tmp_path)
