from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolassay.errors import UsageError
from toolassay.tools.library import Parameter, ToolLibrary


def library_of(tmp_path: Path, nodes: Any, **settings: Any) -> ToolLibrary:
    path = tmp_path / "tool_desc.json"
    path.write_text(json.dumps({"nodes": nodes}, indent=2))
    return ToolLibrary.load(path, **settings)


def test_both_forms_may_stand_in_one_library(tmp_path: Path) -> None:
    """The published reader decides by the first tool and drops the parameters of the later ones."""
    library = library_of(
        tmp_path,
        [
            {"id": "a", "desc": "A.", "input-type": ["text"], "output-type": "audio"},
            {
                "id": "b",
                "description": "B.",
                "parameters": [{"name": "day", "type": "date", "desc": "D"}, "x"],
            },
            {"id": "c", "input-type": ["text"], "parameters": [{"name": "y"}]},
        ],
    )

    assert library["a"].outputs == ("audio",)
    assert library["b"].parameters == (Parameter("day", "date", "D"), Parameter("x"))
    assert library["b"].description == "B."
    assert (library["c"].inputs, library["c"].parameters) == (("text",), (Parameter("y"),))
    assert library.has_types


def test_types_are_spelt_one_way(tmp_path: Path) -> None:
    nodes = [{"id": "a", "output-type": ["Image", "TEXT "]}, {"id": "b", "input-type": ["image"]}]
    library = library_of(tmp_path, nodes)

    assert library["a"].outputs == ("image", "text")
    assert library.normalised == (
        "resource type 'Image' read as 'image'",
        "resource type 'TEXT ' read as 'text'",
    )
    published = library_of(tmp_path, nodes, normalise_types=False)
    assert published["a"].outputs == ("Image", "TEXT ")
    assert published.normalised == ()


def test_a_bare_list_of_tools(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text('[{"id": "a"},\n{"id": "b"},\n{"id": "a"}]')

    with pytest.raises(UsageError, match=r"tools\.json:3: tool id 'a' occurs twice"):
        ToolLibrary.load(path)


@pytest.mark.parametrize(
    ("nodes", "line", "message"),
    [
        (
            [{"id": "x", "desc": "text", "input-type": ["text"]}, {"id": "text"}, {"id": "text"}],
            14,
            "'text' occ",
        ),
        ([{"id": "a"}, 7], 6, "tool 2 .*`object`"),
        ([{"id": "a"}, {"desc": "no id"}], 6, "tool 2 .*`id`"),
        ([{"id": "a", "desc": 3}], 5, "tool 1 .*desc"),
        ([{"id": "a", "input-type": [1]}], 5, "tool 1 .*input-type"),
        ([{"id": "a", "parameters": {"day": "date"}}], 5, "tool 1 .*parameters"),
        ([{"id": "a", "parameters": ["day", {"name": "day"}]}], 5, "two parameters of one name"),
    ],
)
def test_a_malformed_tool_is_named_with_its_line(nodes: Any, line: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        library_of(tmp_path, nodes)

    assert caught.value.line == line
    assert f"tool_desc.json:{line}: " in str(caught.value)
    assert "Fix: " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"nodes": []}', "the tool library is empty"),
        ("{}", "no list of tools"),
        ("3", "no list of tools"),
    ],
)
def test_no_tools(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "tool_desc.json").write_text(text)

    with pytest.raises(UsageError, match=rf"tool_desc\.json: {message}"):
        ToolLibrary.load(tmp_path / "tool_desc.json")


def test_published_libraries_come_back_unchanged(reference: Path) -> None:
    for name in ("huggingface", "multimedia", "dailylifeapis"):
        path = reference / "taskbench" / name / "tool_desc.json"
        assert ToolLibrary.load(path, normalise_types=False).to_json() == json.loads(path.read_text())


def test_a_key_with_an_underscore_is_named_and_not_overlooked(tmp_path: Path) -> None:
    path = tmp_path / "tool_desc.json"
    path.write_text('{"nodes": [\n{"id": "a",\n "input_type": ["text"]}]}')
    with pytest.raises(UsageError, match=r"tool_desc\.json:3: .*'input_type'\. Fix: write 'input-type'"):
        ToolLibrary.load(path)


def test_a_parameter_may_have_the_empty_name_as_in_json_schema() -> None:
    schema = {"type": "object", "properties": {"": {"type": "string"}, "a": {"type": "string"}}}
    node = {"id": "odd", "desc": "Odd.", "parameters": [{"name": ""}, {"name": "a"}], "input_schema": schema}
    assert [one.name for one in ToolLibrary.from_json({"nodes": [node]})["odd"].parameters] == ["", "a"]
