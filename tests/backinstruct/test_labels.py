"""The formatter's rules; those named F… are hazards of the published one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import links_of
from toolassay.backinstruct.critics import verdicts_of
from toolassay.backinstruct.labels import Labeller
from toolassay.backinstruct.records import RawSample
from toolassay.graph import DependencyType
from toolassay.plans.gold import Gold
from toolassay.tools.library import Parameter, Tool, ToolLibrary

LIBRARY = ToolLibrary(
    [
        Tool("Image Search", inputs=("text",), outputs=("image",)),
        Tool("Image Search (by Image)", inputs=("image",), outputs=("image",)),
        Tool("Question Answering", inputs=("text", "text"), outputs=("text",)),
        Tool("Visual Question Answering", inputs=("image", "text"), outputs=("text",)),
        Tool("Translation", inputs=("text",), outputs=("text",)),
        Tool("Text_Merger", inputs=("text", "text", "text"), outputs=("text",)),
        Tool("rent_power_tool", parameters=(Parameter("day"), Parameter("hours", "number"))),
    ]
)


ALIKE = ToolLibrary(
    [Tool(name, inputs=("text",), outputs=("text",)) for name in ("b", "get_text", "get text")]
)


def record(nodes: list[Any], links: list[Any] = [], **changes: Any) -> dict[str, Any]:  # noqa: B006
    result = {
        "task_steps": [f"Step {number}" for number in range(1, len(nodes) + 1)],
        "user_request": "Please help.",
        "invoking_graph": {"nodes": nodes, "links": links},
    } | changes
    return {
        "id": "0-00000",
        "seed": 0,
        "method": "chain",
        "number_of_tools": 9,
        "sampled_nodes": [{"id": "Translation"}],
        "sampled_links": [],
        "result": result,
    }


def label(
    raw: dict[str, Any], kind: DependencyType = "resource", library: ToolLibrary = LIBRARY
) -> tuple[dict[str, Any] | None, list[str]]:
    gold, problems = Labeller(library, kind).label(msgspec.convert(raw, RawSample))
    return None if gold is None else dict(gold.record), problems


def arguments(
    *nodes: tuple[str, list[Any]], links: Sequence[tuple[str, str]] = (), library: ToolLibrary = LIBRARY
) -> list[list[Any]]:
    raw = record([{"id": name, "input": inputs} for name, inputs in nodes], links_of(links))
    made, problems = label(raw, library=library)
    assert made is not None, problems
    return [node["arguments"] for node in made["task_nodes"]]


def test_a_name_becomes_a_reference() -> None:
    assert arguments(("Translation", ["hola"]), ("Image Search", ["Translation"])) == [["hola"], ["<node-0>"]]


@pytest.mark.parametrize(
    "spelling",
    [
        "translation",
        " Translation ",
        "<Translation>",
        "<Translation",
        "output of Translation",
        "<output_of_Translation>",
    ],
)
def test_f6_other_spellings_of_a_name_are_references_too(spelling: str) -> None:
    assert arguments(("Translation", ["hola"]), ("Image Search", [spelling]))[1] == ["<node-0>"]


def test_f2_a_longer_name_is_not_taken_for_the_shorter_one_in_it() -> None:
    nodes = (
        ("Image Search", ["cat"]),
        ("Image Search (by Image)", ["Image Search"]),
        ("Visual Question Answering", ["Image Search (by Image)", "Which breed?"]),
    )
    assert arguments(*nodes) == [["cat"], ["<node-0>"], ["<node-1>", "Which breed?"]]


def test_f3_text_that_mentions_a_tool_stays_text() -> None:
    essay = "Correct my essay about Translation studies"
    assert arguments(("Translation", ["hola"]), ("Image Search", [essay]))[1] == [essay]


def test_f4_its_own_name_is_no_self_reference() -> None:
    assert arguments(("Translation", ["Translation"])) == [["Translation"]]


def test_f5_f7_f9_three_inputs_numbers_and_a_bare_string_are_fine() -> None:
    assert arguments(("Text_Merger", ["a", 2, 3.5])) == [["a", "2", "3.5"]]
    made, _ = label(record([{"id": "Translation", "input": "hola"}]))
    assert made is not None
    assert made["task_nodes"][0]["arguments"] == ["hola"]


def test_f8_an_object_gives_its_value() -> None:
    nodes = (("Translation", ["hola"]), ("Image Search", [{"name": "query", "value": "Translation"}]))
    assert arguments(*nodes)[1] == ["<node-0>"]


def test_f13_of_two_nodes_of_one_tool_the_nearest_earlier_one_is_meant() -> None:
    nodes = (("Translation", ["a"]), ("Translation", ["b"]), ("Image Search", ["Translation"]))
    assert arguments(*nodes)[2] == ["<node-1>"]


def test_f12_the_number_of_tools_and_the_type_are_those_of_the_plan() -> None:
    made, _ = label(record([{"id": "Translation", "input": ["a"]}]))
    assert made is not None
    assert (made["n_tools"], made["type"]) == (1, "single")
    assert made["sampled_nodes"] == [{"task": "Translation"}]


def test_nodes_are_put_in_an_order_in_which_references_point_back() -> None:
    assert arguments(("Image Search", ["Translation"]), ("Translation", ["hola"])) == [["hola"], ["<node-0>"]]


def test_ids_that_differ_only_in_spelling_are_distinguished() -> None:
    nodes = (("get_text", ["hola"]), ("get text", ["hola"]), ("b", ["get text", "get_text"]))
    assert arguments(*nodes, library=ALIKE)[2] == ["<node-1>", "<node-0>"]
    _, problems = label(record([{"id": "Get Text", "input": ["x"]}]), library=ALIKE)
    assert problems == ["unknown tool 'Get Text'"]


def test_a_name_without_a_link_from_it_is_the_users_text() -> None:
    nodes = (
        ("Translation", ["hola"]),
        ("Text_Merger", ["Translation", "x", "Image Search"]),
        ("Image Search", ["a"]),
    )
    linked = arguments(*nodes, links=[("image search", "Text Merger")])
    assert linked == [["hola"], ["a"], ["Translation", "x", "<node-1>"]]
    explicit = arguments(
        ("Translation", ["hola"]), ("Image Search", ["<node-0>"]), links=[("Image Search", "Translation")]
    )
    assert explicit[1] == ["<node-0>"]


def test_steps_move_with_their_nodes() -> None:
    nodes = [
        {"id": "Image Search", "input": ["Translation"]},
        {"id": "Text_Merger", "input": ["Image Search", "a", "b"]},
        {"id": "Translation", "input": ["hola"]},
    ]
    steps = ["Step 1: Search with the text of step 3", "Step 2: Merge 3 texts", "Step 3: Translate"]
    made, problems = label(record(nodes, task_steps=steps))
    assert made is not None, problems
    assert [node["task"] for node in made["task_nodes"]] == ["Translation", "Image Search", "Text_Merger"]
    assert made["task_steps"] == [
        "Step 1: Translate",
        "Step 2: Search with the text of step 1",
        "Step 3: Merge 3 texts",
    ]
    plain, _ = label(record(nodes, task_steps=["Search", "Merge", "Translate"]))
    assert plain is not None
    assert plain["task_steps"] == ["Translate", "Search", "Merge"]


def test_temporal_arguments_stay_as_they_are() -> None:
    values = [{"name": "day", "value": "Monday"}, {"name": "hours", "value": 3}]
    made, problems = label(record([{"id": "rent_power_tool", "arguments": values}]), "temporal")
    assert made is not None, problems
    assert made["task_nodes"] == [{"task": "rent_power_tool", "arguments": values}]
    mapped, _ = label(record([{"id": "rent_power_tool", "arguments": {"day": "Monday"}}]), "temporal")
    assert mapped is not None
    assert mapped["task_nodes"][0]["arguments"] == [{"name": "day", "value": "Monday"}]


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (record([]), "at `$.invoking_graph.nodes`"),
        (record([{"input": ["a"]}]), "has no id - at `$.invoking_graph.nodes[0]`"),
        (record([{"id": "Translation"}], user_request=" "), "at `$.user_request`"),
        (record([{"id": "Translation"}], task_steps=[1]), "at `$.task_steps[0]`"),
        (record([{"id": "Ghost", "input": []}]), "unknown tool 'Ghost'"),
        (
            record([{"id": "Translation", "input": ["<node-4>"]}]),
            "node 0 refers to <node-4>, which is no other node",
        ),
        (record([{"id": "Translation", "input": [None]}]), "an input of node 0 is not a text"),
        (record([{"id": "Translation", "input": ["a"]}], task_steps=["1", "2"]), "2 steps for 1 nodes"),
        (
            record(
                [{"id": "Translation", "input": ["a"]}], [{"source": "Translation", "target": "Image Search"}]
            ),
            "a link names 'Image Search', which is no node",
        ),
        (
            record(
                [
                    {"id": "Translation", "input": ["Image Search"]},
                    {"id": "Image Search", "input": ["Translation"]},
                ]
            ),
            "the references go in a circle",
        ),
    ],
)
def test_what_cannot_be_a_label_is_refused_with_the_reason(raw: dict[str, Any], problem: str) -> None:
    made, problems = label(raw)
    assert made is None
    assert any(one.endswith(problem) for one in problems)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.sampled_from(["Translation", "<node-1>", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "task", "input", "source", "target", "value"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@given(ANYTHING, ANYTHING, ANYTHING, st.sampled_from(["resource", "temporal"]))
def test_no_malformed_answer_is_more_than_a_problem(
    nodes: Any, links: Any, steps: Any, kind: DependencyType
) -> None:
    graph = {"nodes": nodes, "links": links}
    made, problems = label(record([], task_steps=steps, invoking_graph=graph), kind)
    assert (made is None) == bool(problems)
    if made is not None:
        verdicts_of(Gold.of(made))


CHAIN = ["Translation", "Image Search", "Image Search (by Image)", "Visual Question Answering"]


def linked(*pairs: tuple[int, int], sampled: list[tuple[int, int]] | None = None) -> dict[str, Any]:
    """Four nodes with links by number, sampled with others."""
    ends = [{"source": CHAIN[one], "target": CHAIN[two]} for one, two in pairs]
    drawn = [{"source": CHAIN[one], "target": CHAIN[two], "type": "x"} for one, two in sampled or []]
    raw = record([{"id": name, "input": ["x"]} for name in CHAIN], ends)
    return raw | {
        "sampled_nodes": [{"id": name} for name in CHAIN] if sampled else [],
        "sampled_links": drawn,
    }


WHOLE, FORK = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (2, 3)]


@pytest.mark.parametrize(
    ("links", "sampled", "shape"),
    [
        (WHOLE, WHOLE, "chain"),
        (WHOLE[:2], WHOLE, "chain"),
        ([(0, 1), (2, 3)], WHOLE, "chain"),
        (WHOLE[:2], None, "chain"),
        (FORK, WHOLE, "dag"),
        ([*WHOLE, (0, 2)], WHOLE, "dag"),
        (FORK, FORK, "dag"),
        (WHOLE, FORK, "chain"),
        ([(0, 1), (2, 3)], FORK, "dag"),
    ],
)
def test_a_chain_that_lost_a_link_is_not_a_dag(
    links: list[tuple[int, int]], sampled: list[tuple[int, int]] | None, shape: str
) -> None:
    made, problems = label(linked(*links, sampled=sampled))
    assert made is not None and not problems
    assert made["type"] == shape


def test_a_branch_that_only_arguments_show_is_one() -> None:
    raw = linked((0, 1), (1, 2))
    nodes = raw["result"]["invoking_graph"]["nodes"]
    nodes[3]["input"] = ["<node-1>"]
    made, _ = label(raw)
    assert made is not None and made["type"] == "dag"
    nodes[3]["input"] = ["<node-2>"]
    made, _ = label(raw)
    assert made is not None and made["type"] == "chain"
