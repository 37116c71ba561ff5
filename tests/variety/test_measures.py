"""What a variety report measures, and its page."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from toolassay.graph import ToolGraph
from toolassay.plans.gold import Gold
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import read_labels
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.variety.measures import (
    VarietyPart,
    distinct_2,
    measure_variety,
    moving_type_token_ratio,
    nearest_rouge,
    variety_page,
)


@pytest.fixture(scope="module")
def golds(root: Any) -> list[Gold]:
    return [Gold.of(record, line) for line, record in read_labels(DataFolder(root / "data_huggingface").data)]


@pytest.fixture(scope="module")
def graph(root: Any) -> ToolGraph:
    return ToolGraph.load(DataFolder(root / "data_huggingface").graph_desc)


def measured(golds: Iterable[Gold], **more: Any) -> dict[str, Any]:
    return measure_variety([VarietyPart(golds)], **more)


def test_everything_is_counted(golds: list[Gold], graph: ToolGraph) -> None:
    figures = measured(golds, library=graph.library, graph=graph)
    assert figures["requests"] == figures["plans"] == figures["sample"]["requests"] == len(golds)
    assert list(figures["sizes"]) == ["single", "chain", "dag"]
    assert sum(sum(counts.values()) for counts in figures["sizes"].values()) == len(golds)
    nearest = figures["likeness"]["nearest"]
    assert 0.2 < nearest["low"] < nearest["value"] < nearest["high"] < 0.7
    assert figures["tools"]["share"] == 1 and 0 < figures["links"]["share"] <= 1
    assert figures["repeats"]["exact"] == figures["repeats"]["near"] == 0


def test_repeats_are_counted(golds: list[Gold]) -> None:
    twice = [*golds[:20], Gold.of({**golds[0].record, "id": "again"}, 21)]
    repeats = measured(twice)["repeats"]
    assert (repeats["exact"], repeats["clusters"], repeats["share"]) == (1, 1, 1 / 21)


def test_parts_of_any_size_give_the_same_figures(golds: list[Gold], graph: ToolGraph) -> None:
    parts = [VarietyPart(golds[start : start + 7]) for start in range(0, 91, 7)]
    whole = measured(golds[:91], graph=graph, sample=20)
    assert whole == measure_variety(parts, graph=graph, sample=20) and whole["sample"]["requests"] == 20


def test_the_sample_is_drawn_uniformly_by_the_seed(golds: list[Gold]) -> None:
    one, again, other = (measured(golds, sample=50, seed=seed)["wording"] for seed in (1, 1, 2))
    assert one == again != other
    texts = [Gold.of({"id": number, "user_request": "a " * (number + 1)}) for number in range(10)]
    words = [measured(texts, sample=5, seed=seed)["wording"]["words"] for seed in range(200)]
    assert sum(words) / 200 == pytest.approx(5 * 5.5, rel=0.05)


def test_requests_without_plans_are_measured_by_their_words() -> None:
    figures = measured(Gold.of({"id": n, "user_request": f"Crop it {n}."}) for n in "ab")
    assert figures["wording"]["words"] == 6 and figures["wording"]["distinct_2"] == 3 / 4
    page = variety_page(figures, [])
    assert "sizes: not applicable, the labels have no plans." in page and "| distinct-2 | 0.750 |" in page


def test_nothing_at_all() -> None:
    for golds in ([], [Gold.of({"id": 1, "user_request": "?!"})]):
        figures = measured(golds)
        assert figures["requests"] == 0
        assert variety_page(figures, []).count("not applicable") == 5


def test_tools_and_links_that_are_used() -> None:
    library = ToolLibrary(
        [
            Tool("speak", "", ("text",), ("audio",)),
            Tool("hear", "", ("audio",), ("text",)),
            Tool("m|x", "", ("audio", "audio"), ("audio",)),
        ]
    )
    nodes: list[dict[str, Any]] = [{"task": tool, "arguments": []} for tool in ("speak", "hear", "fly")]
    links = [{"source": "speak", "target": "hear"}, {"source": "speak", "target": "fly"}]
    label = {"id": 1, "user_request": "Say it", "task_nodes": nodes, "task_links": links}
    figures = measured([Gold.of(label)], library=library, graph=ToolGraph.build(library, "resource"))
    assert figures["tools"] == {
        "tools": 3,
        "used": 2,
        "share": 2 / 3,
        "never_used": ["m|x"],
        "uses": {"speak": 1, "hear": 1, "m|x": 0},
    }
    assert figures["links"] == {"possible": 4, "used": 1, "share": 0.25, "not_in_graph": 1}
    assert "Never used: m\\|x." in variety_page(figures, [])


def made_up(count: int) -> list[list[str]]:
    chance = random.Random(0)
    return [chance.choices("abcdefghijklmnop", k=chance.randint(1, 12)) for _ in range(count)]


def test_pairs_are_counted_within_texts() -> None:
    assert distinct_2([["a", "b", "a"], ["b", "a"]]) == 2 / 3
    assert distinct_2([["a"], []]) is None


def test_the_moving_ratio_is_that_of_every_window() -> None:
    texts = made_up(20)
    run = [word for text in texts for word in text]
    windows = [len(set(run[start : start + 10])) / 10 for start in range(len(run) - 9)]
    assert moving_type_token_ratio(texts, 10) == pytest.approx(sum(windows) / len(windows))
    assert moving_type_token_ratio([["a", "a"]], 10) == 0.5
    assert moving_type_token_ratio([]) is None


def test_likeness_is_rouge_l_with_the_nearest_other() -> None:
    texts = made_up(300)
    expected = [max(f1(texts[n], other) for other in texts[:n] + texts[n + 1 :]) for n in range(10)]
    assert nearest_rouge(texts)[:10] == pytest.approx(np.array(expected))
    assert nearest_rouge([]).tolist() == [] and nearest_rouge([["a"]]).tolist() == [0]


def f1(a: list[str], b: list[str]) -> float:
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, word in enumerate(a):
        for j, second in enumerate(b):
            rows[i + 1][j + 1] = rows[i][j] + 1 if word == second else max(rows[i][j + 1], rows[i + 1][j])
    return 2 * rows[-1][-1] / (len(a) + len(b))


def test_openings_and_sequences_of_tools_are_counted() -> None:
    def gold(number: int, request: str, *tools: str) -> Gold:
        nodes = [{"task": tool} for tool in tools]
        return Gold.of({"id": number, "user_request": request, "task_nodes": nodes})

    part = VarietyPart(
        [
            gold(1, "I need a list of rooms", "list", "show"),
            gold(2, "I need a list, please", "list", "show"),
            gold(3, "Close the ticket", "close"),
        ]
    )
    figures = measure_variety([part])
    assert figures["wording"]["openings"][0] == {"words": "i need a list", "share": 2 / 3}
    assert figures["motifs"] == {"different": 2, "most_frequent": ["list", "show"], "share": 2 / 3}
