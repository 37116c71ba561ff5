"""Which samples must not be parted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gold_samples import label
from toolassay.plans.gold import Gold
from toolassay.variety.splits import Member, groups_of


def grouped(*labels: dict[str, Any]) -> list[list[Any]]:
    groups = groups_of(Member.of(Gold.of(one)) for one in labels)
    return sorted([member.id for member in group.members] for group in groups)


A = label(
    1,
    [("Fetch", ["https://a.example"]), ("Edit Image", ["<node-0>", "brighter"])],
    user_request="Request 1, please.",
)


@pytest.mark.parametrize(
    "other",
    [
        label(2, [("Fetch", ["https://b.example"]), ("Edit Image", ["<node-0>", "darker"])]),
        label(2, [("Edit Image", ["darker", "<node-1>"]), ("Fetch", ["https://b.example"])]),
        label(2, [("fetch", ["x"]), ("edit_image", ["<node-0>"])]),
        label(2, [("Answer", ["x"])], user_request="request 1 PLEASE!"),
        label(2, [("Answer", ["x"])], sampled_nodes=["Edit Image", "Fetch"])
        | {"sampled_links": [{"source": "Fetch", "target": "Edit Image"}]},
        label(1, [("Answer", ["x"])], user_request="of the same id") | {"id": 1},
    ],
    ids=["other values", "another order", "another spelling", "one request", "one sample", "one id"],
)
def test_repeats_are_not_parted(other: dict[str, Any]) -> None:
    assert len(grouped(A, other)) == 1


@pytest.mark.parametrize(
    "other",
    [
        label(2, [("Fetch", ["https://b.example"]), ("Edit Image", ["a.jpg", "darker"])]),
        label(2, [("Edit Image", ["a.jpg", "b"]), ("Fetch", ["<node-0>"])]),
        label(2, [("Fetch", ["https://b.example"])]),
        label(2, [("Fetch", ["x"]), ("Edit Image", ["<node-0>"]), ("Fetch", ["y"])]),
    ],
    ids=["no link", "the other way", "fewer tools", "a tool twice"],
)
def test_other_subgraphs_may_be_parted(other: dict[str, Any]) -> None:
    assert grouped(A, other) == [["1"], ["2"]]


def test_repeats_of_repeats_are_one_group() -> None:
    bridge = label(2, [("Answer", ["x"])], user_request="Request 1 please")
    far = label(3, [("Answer", ["y"])])

    assert grouped(A, bridge, far) == [["1", "2", "3"]]
    assert grouped(far, A) == [["1"], ["3"]]


def test_requests_without_words_do_not_repeat_each_other() -> None:
    assert (
        len(grouped(label(1, [("a", None)], user_request="?"), label(2, [("b", None)], user_request=""))) == 2
    )


def test_labels_without_links_or_nodes_are_read() -> None:
    assert len(grouped({"id": 1}, {"id": 2, "task_nodes": 3})) == 2
