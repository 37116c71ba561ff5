"""The pictures of a variety report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolassay.report.variety_pictures import draw_lengths, draw_tools, draw_variety

NAMES = ["first_words.png", "sizes_and_shapes.png", "tools.png", "lengths.png", "likeness.png"]


@pytest.fixture
def figures() -> dict[str, Any]:
    return {
        "requests": 30,
        "first_words": {
            "different_openings": 22,
            "openings": [
                ["i", "want", 9],
                ["$x^$", "", 1],
                *([f"word{n}", f"next{n}", 1] for n in range(20)),
            ],
        },
        "sizes": {"single": {"1": 9}, "chain": {"2": 20, "40": 1}},
        "tools": {"tools": 3, "used": 2, "uses": {"a" * 99: 7, "$b_$": 2, "c": 0}},
        "lengths": {"edges": [0, 5, 10], "histogram": {"single": [9, 0], "chain": [11, 10]}, "median": 5.0},
        "likeness": {"histogram": [0] * 5 + [25] + [1] * 4, "above": 0.7, "share_above": 0.13},
    }


def test_every_part_is_drawn_and_the_same_figures_give_the_same_bytes(
    figures: dict[str, Any], tmp_path: Path
) -> None:
    made = draw_variety(figures, tmp_path / "one")
    assert [path.name for path in made] == NAMES
    for part in ("sizes", "tools", "likeness"):
        figures[part] = {"not_applicable": "once is enough"}
    for path in draw_variety(figures, tmp_path / "two"):
        assert path.read_bytes() == (tmp_path / "one" / path.name).read_bytes()
    assert all(path.stat().st_size > 5_000 for path in made)


def test_what_is_not_applicable_has_no_picture(figures: dict[str, Any], tmp_path: Path) -> None:
    draw_variety(figures, tmp_path)
    for part in ("first_words", "sizes", "tools", "likeness"):
        figures[part] = {"not_applicable": "nothing there"}
    figures["lengths"]["histogram"] = {"": [20, 10]}
    assert [path.name for path in draw_variety(figures, tmp_path)] == ["lengths.png"]
    assert [path.name for path in tmp_path.iterdir()] == ["lengths.png"]


def test_many_tools_are_drawn_as_a_curve(figures: dict[str, Any], tmp_path: Path) -> None:
    figures["tools"] = {"tools": 5_000, "used": 5_000, "uses": {str(n): 5_000 - n for n in range(5_000)}}
    assert (tmp_path / "tools.png") in draw_variety(figures, tmp_path)


def test_scales_of_counts_show_no_halves(figures: dict[str, Any]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figures["lengths"]["histogram"] = {"single": [1, 0]}
    for draw, part in ((draw_lengths, "lengths"), (draw_tools, "tools")):
        figure = Figure()
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        draw(axes, figures[part])
        ticks = axes.get_yticks() if part == "lengths" else axes.get_xticks()
        assert all(tick == int(tick) for tick in ticks)
