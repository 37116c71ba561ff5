from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.errors import UsageError
from toolassay.records.dataset import (
    is_paths,
    read_labels,
    read_requests,
    reference_index,
    repository_form,
    shape_of,
)

PAIRS = st.sets(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), max_size=8
)


@given(st.integers(1, 6), PAIRS)
def test_a_chain_is_one_simple_path_over_all_nodes(size: int, pairs: set[tuple[int, int]]) -> None:
    pairs = {(s, t) for s, t in pairs if s < size and t < size}
    graph: nx.DiGraph[int] = nx.DiGraph(sorted(pairs))
    graph.add_nodes_from(range(size))
    degrees = [*dict(graph.in_degree()).values(), *dict(graph.out_degree()).values()]
    is_path = (
        nx.is_weakly_connected(graph)
        and nx.is_directed_acyclic_graph(graph)
        and max(degrees) <= 1
        and size > 1
    )
    expected = "single" if size == 1 else "chain" if is_path else "dag"
    assert shape_of(size, pairs) == expected


@given(st.integers(1, 6), PAIRS)
def test_paths_have_no_branch_and_no_cycle(size: int, pairs: set[tuple[int, int]]) -> None:
    pairs = {(s, t) for s, t in pairs if s < size and t < size}
    graph: nx.DiGraph[int] = nx.DiGraph(sorted(pairs))
    degrees = [*dict(graph.in_degree()).values(), *dict(graph.out_degree()).values(), 0]
    assert is_paths(size, pairs) == (max(degrees) <= 1 and nx.is_directed_acyclic_graph(graph))


@pytest.mark.parametrize(
    ("argument", "index"),
    [
        ("<node-0>", 0),
        (" <node-12> ", 12),
        ("<node--1>", None),
        ("see <node-0>", None),
        (3, None),
        (None, None),
    ],
)
def test_only_a_whole_argument_is_a_reference(argument: object, index: int | None) -> None:
    assert reference_index(argument) == index


def test_the_hub_form_is_renamed_and_decoded() -> None:
    hub = {
        "id": "1",
        "instruction": "Do it.",
        "tool_steps": '["Step 1"]',
        "tool_nodes": '[{"task": "a", "arguments": ["[not a list"]}]',
        "tool_links": [],
        "sampled_nodes": '[{"task": "a"}]',
        "type": "single",
    }
    record = repository_form(hub)
    assert record["user_request"] == "Do it."
    assert record["task_steps"] == ["Step 1"]
    assert record["task_nodes"] == [{"task": "a", "arguments": ["[not a list"]}]
    assert record["sampled_nodes"] == [{"task": "a"}]
    assert repository_form(record) == record


def test_text_that_only_looks_like_json_stays_text() -> None:
    assert repository_form({"task_steps": "[broken"}) == {"task_steps": "[broken"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"user_request": "x"}', "has no 'id'"),
        ('{"id": "a"}', "no 'user_request' text"),
        ("{", "not valid JSON"),
        (f'{{"id": {"9" * 5000}}}', "not valid JSON"),
        ('{"id": true}', "has an 'id' that is not a text or whole number"),
    ],
)
def test_a_bad_request_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "user_requests.json"
    path.write_text(f'{{"id": 1, "user_request": "fine"}}\n\n{line}\n')
    with pytest.raises(UsageError, match=rf"user_requests\.json:3: .*{message}"):
        list(read_requests(path))


def test_published_labels_have_the_shape_they_say(reference: Path) -> None:
    for _, label in read_labels(reference / "gnn4taskplan" / "ultratool" / "data.json"):
        tools = [node["task"] for node in label["task_nodes"]]
        links = [(link["source"], link["target"]) for link in label["task_links"]]
        assert shape_of(len(tools), links, tools=tools) == label["type"]
