from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolassay.benchmarks.taskbench.scoring.compat import (
    ArgumentConverter,
    Converted,
    NothingConverted,
    content_type,
)

TYPES = {"Alpha": "image", "Delta": "none"}


def _convert(arguments: Any, *, names: list[str] | None = None, last: Converted | None = None) -> Any:
    names = names or ["Alpha", "Beta"]
    nodes = [{"task": name, "arguments": []} for name in names]
    nodes[-1]["arguments"] = arguments
    converter = ArgumentConverter(TYPES, last)
    with_types, with_values, links = converter.convert(nodes, names, required=True)
    converted = [tuple(text.split("-", 2)) for text in with_values]
    assert with_types == [f"{name}-{kind}" for name, kind, _ in converted]
    return [(kind, value) for _, kind, value in converted], links, converter.borrowed


def test_content_types_are_the_published_guesses(reference: Path) -> None:
    cases = json.loads((reference / "taskbench_cases/micro/cases.json").read_text())
    table = next(case["content_type"] for case in cases if "content_type" in case)
    assert {text: content_type(text) for text in table} == table


def test_reference_carries_type_and_name_of_its_source() -> None:
    assert _convert(["see <node-0> here"]) == ([("image", "Alpha")], [("Alpha", "Beta")], 0)


def test_reference_to_the_last_node_by_minus_one() -> None:
    assert _convert(["<node--1>"])[1] == [("Beta", "Beta")]


def test_unknown_and_mute_sources() -> None:
    assert _convert(["<node-0>"], names=["Ghost", "Beta"])[0] == [("other", "Ghost")]
    assert _convert(["<node-0>"], names=["Delta", "Beta"])[0] == [("none", "Delta")]


def test_reference_to_itself_is_skipped() -> None:
    assert _convert(["<node-1>"]) == ([], [], 0)


def test_object_is_its_first_value_and_list_is_joined() -> None:
    assert _convert([{"name": "n", "value": "v"}])[0] == [("text", "n")]
    assert _convert([["a", "b.png"]])[0] == [("image", "a b.png")]


@pytest.mark.parametrize("bad", [3.5, None, {}, [1], "<node-9>", "a > b <node-0>", "<node-x>", True])
def test_bad_argument_borrows_the_last_one(bad: Any) -> None:
    assert _convert(["hello", bad]) == ([("text", "hello")] * 2, [], 1)
    assert _convert([bad], last=Converted("audio", "x"))[0] == [("audio", "x")]
    with pytest.raises(NothingConverted):
        _convert([bad])
