from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.plans.gold import Gold

LABEL: dict[str, Any] = {
    "id": "a",
    "user_request": "Read me x.jpg",
    "task_steps": ["Step 1: read"],
    "task_nodes": [{"task": "Reader", "arguments": ["x.jpg"]}, {"task": "Writer", "arguments": ["<node-0>"]}],
    "task_links": [{"source": "Reader", "target": "Writer"}],
    "sampled_nodes": [{"task": "Reader"}, "Writer"],
    "sampled_links": [{"source": "Reader", "target": "Writer"}],
}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def test_a_whole_label_has_no_faults() -> None:
    gold = Gold.of(LABEL, 7)
    assert (gold.line, gold.faults) == (7, ())
    assert [node.arguments for node in gold.nodes] == [("x.jpg",), ("<node-0>",)]
    assert gold.links == gold.sampled_links == (("Reader", "Writer"),)
    assert gold.sampled_nodes == ("Reader", "Writer")
    assert gold.has_arguments


@pytest.mark.parametrize(
    ("key", "value", "where"),
    [
        ("user_request", "  ", "user_request"),
        ("task_steps", "one", "task_steps"),
        ("task_nodes", [], "task_nodes"),
        ("task_nodes", [{"task": 3}], "task_nodes[0].task"),
        ("task_links", [{"source": "Reader"}], "task_links[0]"),
        ("sampled_links", ["a"], "sampled_links[0]"),
    ],
)
def test_a_wrong_form_is_reported_with_its_place(key: str, value: Any, where: str) -> None:
    assert [fault.where for fault in Gold.of({**LABEL, key: value}).faults] == [where]


@given(st.dictionaries(st.sampled_from(list(LABEL)), anything))
def test_whatever_a_label_holds_it_can_be_read(record: dict[str, Any]) -> None:
    gold = Gold.of({**record, "id": 1})
    assert gold.id == 1
    assert all(fault.reason and fault.where for fault in gold.faults)
