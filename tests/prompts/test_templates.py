from __future__ import annotations

from pathlib import Path

import pytest

from toolassay.errors import UsageError
from toolassay.prompts.templates import check_wording, read_tool_sentence, tool_sentence
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import Parameter, Tool


@pytest.mark.parametrize("name", ["data_huggingface", "data_multimedia", "data_dailylifeapis"])
def test_the_bundled_tools_are_read_back(root: Path, name: str) -> None:
    for tool in DataFolder(root / name).library():
        shown = read_tool_sentence(tool_sentence(tool))
        assert (shown["id"], shown["desc"]) == (tool.id, tool.description)
        assert tuple(shown.get("input-type", ())) == tool.inputs
        assert tuple(shown.get("output-type", ())) == tool.outputs
        assert shown.get("parameters", []) == [parameter.name for parameter in tool.parameters]


@pytest.mark.parametrize(
    ("tool", "sentence"),
    [
        (Tool("a"), "- a: ."),
        (Tool("a", "Two\nlines\u2028here"), "- a: Two lines here."),
        (Tool("a", "Ready?", outputs=("text",)), "- a: Ready? Takes nothing; gives text."),
        (
            Tool("a", "Takes notes.", ("text", "text"), ("text",), (Parameter("to"), Parameter("by"))),
            "- a: Takes notes. Takes text, text; gives text. Parameters: to, by.",
        ),
    ],
)
def test_a_tool_is_one_line(tool: Tool, sentence: str) -> None:
    assert tool_sentence(tool) == sentence
    shown = read_tool_sentence(sentence)
    assert shown["id"] == "a"
    assert tuple(shown.get("input-type", ())) == tool.inputs
    assert shown.get("parameters", []) == [parameter.name for parameter in tool.parameters]


def test_a_wording_is_known_and_alone() -> None:
    assert check_wording("default", with_template=True) == "default"
    assert check_wording("example", with_template=False) == "example"
    with pytest.raises(UsageError, match="remove one of them"):
        check_wording("example", with_template=True)
    with pytest.raises(UsageError, match="choose from default, example"):
        check_wording("short", with_template=False)
