"""What a variety report measures, and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolassay.data_folder import DataFolder
from toolassay.dataset import read_labels
from toolassay.gold import Gold
from toolassay.graph import ToolGraph
from toolassay.variety.measures import RequestSample, VarietyPart, measure_parts, measure_variety
from toolassay.variety.variety_report import variety_page


@pytest.fixture(scope="module")
def golds(root: Path) -> list[Gold]:
    return [Gold.of(record, line) for line, record in read_labels(DataFolder(root / "data_huggingface").data)]


@pytest.fixture(scope="module")
def graph(root: Path) -> ToolGraph:
    return ToolGraph.load(DataFolder(root / "data_huggingface").graph_desc)


@pytest.fixture(scope="module")
def figures(golds: list[Gold], graph: ToolGraph) -> dict[str, Any]:
    return measure_variety(golds, library=graph.library, graph=graph)


def test_everything_is_counted(figures: dict[str, Any], golds: list[Gold]) -> None:
    assert figures["requests"] == figures["plans"] == figures["sample"]["requests"] == len(golds)
    assert sum(shape["plans"] for shape in figures["shapes"].values()) == len(golds)
    assert sum(sum(counts.values()) for counts in figures["sizes"].values()) == len(golds)
    assert list(figures["shapes"]) == ["single", "chain", "dag"]
    lengths = figures["lengths"]
    assert sum(map(sum, lengths["histogram"].values())) == sum(figures["likeness"]["histogram"]) == len(golds)
    assert len(lengths["edges"]) == len(lengths["histogram"]["dag"]) + 1
    assert sum(count for *_, count in figures["first_words"]["openings"]) == len(golds)
    assert figures["likeness"]["nearest"]["low"] < figures["likeness"]["nearest"]["value"]
    assert figures["tools"]["share"] == 1 and 0 < figures["links"]["share"] <= 1


def test_clean_data_holds_no_repeats(figures: dict[str, Any]) -> None:
    assert figures["repeats"]["exact"] == figures["repeats"]["near"] == 0


def test_repeats_are_counted(golds: list[Gold]) -> None:
    twice = [*golds[:20], Gold.of({**golds[0].record, "id": "again"}, 21)]
    repeats = measure_variety(twice)["repeats"]
    assert (repeats["exact"], repeats["clusters"], repeats["plans_said_before"]) == (1, 1, 1)


def test_parts_of_any_size_give_the_same_figures(golds: list[Gold], graph: ToolGraph) -> None:
    some = golds[:90]
    parts = [VarietyPart.of(some[start : start + 7]) for start in range(0, 90, 7)]
    whole, joined = (
        measure_variety(some, graph=graph, sample=20),
        measure_parts(parts, graph=graph, sample=20),
    )
    assert whole == joined and whole["sample"]["requests"] == 20


def test_the_sample_is_drawn_by_the_seed(golds: list[Gold]) -> None:
    one, again, other = (measure_variety(golds, sample=50, seed=seed)["wording"] for seed in (1, 1, 2))
    assert one == again != other


def test_every_request_is_as_likely_to_be_drawn() -> None:
    drawn = [0] * 10
    for seed in range(600):
        sample = RequestSample(5, seed)
        for number in range(10):
            sample.add("", str(number))
        for _, text in sample.kept:
            drawn[int(text)] += 1
    assert all(240 < count < 360 for count in drawn)


def test_requests_without_plans_are_measured_by_their_words() -> None:
    figures = measure_variety(
        Gold.of({"id": number, "user_request": f"Crop it {number}."}) for number in "ab"
    )
    for part in ("tools", "links", "sizes", "shapes"):
        assert "not_applicable" in figures[part]
    assert figures["lengths"]["mean"] == 3
    page = variety_page(figures, ["lengths.png"])
    assert "Not applicable: the labels have no plans." in page
    assert "(lengths.png)" in page and "(tools.png)" not in page


def test_plans_without_arguments_are_measured(graph: ToolGraph) -> None:
    nodes = [{"task": graph.library.ids[0]}]
    label = {"id": 1, "user_request": "Do it", "task_nodes": nodes, "task_links": []}
    figures = measure_variety([Gold.of(label)], library=graph.library, graph=graph)
    assert figures["tools"]["used"] == 1 and figures["shapes"]["single"]["nearest"] is None
    assert figures["repeats"]["plans_said_before"] is None
    assert "Never used: " in variety_page(figures, [])


def test_nothing_at_all() -> None:
    figures = measure_variety([])
    assert figures["requests"] == 0
    assert variety_page(figures, []).count("Not applicable") == 7
    blank = measure_variety([Gold.of({"id": 1, "user_request": "?!"})])
    assert blank["requests"] == 0 and variety_page(blank, [])


def test_names_break_no_table() -> None:
    label = {
        "id": 1,
        "user_request": "a | b",
        "task_nodes": [{"task": "x|y", "arguments": []}],
        "task_links": [{"source": "x|y", "target": "z"}],
    }
    figures = measure_variety([Gold.of(label)])
    figures["tools"] = {
        "tools": 1,
        "used": 0,
        "share": 0.0,
        "evenness": None,
        "never_used": ["a|b\nc"],
        "unknown": {},
    }
    assert "Never used: a\\|b c." in variety_page(figures, [])
