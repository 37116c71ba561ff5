from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolassay.backinstruct.prompt import REQUIRED, BackInstructPrompt
from toolassay.errors import UsageError
from toolassay.graph import DependencyType, Link
from toolassay.prompts.templates import read_template
from toolassay.records.dataset import Sample
from toolassay.tools.library import Parameter, Tool, ToolLibrary

LIBRARY = ToolLibrary(
    [Tool("rent_power_tool", "Rents a tool.", parameters=(Parameter("day"),)), Tool("b", inputs=("text",))]
)
SAMPLE = Sample(3, 7, "chain", ("rent_power_tool", "b"), (Link("rent_power_tool", "b", "complete"),))


@pytest.mark.parametrize("kind", ["resource", "temporal"])
def test_nodes_links_and_the_variation_are_in_it(kind: DependencyType) -> None:
    prompt = BackInstructPrompt(LIBRARY, kind).render(SAMPLE)
    assert "Node 1: " in prompt
    assert "Link: rent_power_tool -> b" in prompt
    assert "7-3" in prompt
    assert "rent_power_API" not in prompt  # the published prompt renames tools
    assert "check_by_teacher" not in prompt
    assert "$" not in prompt


def test_the_teacher_is_asked_only_if_wanted() -> None:
    prompt = BackInstructPrompt(LIBRARY, "resource", check=True).render(SAMPLE)
    assert '"check_by_teacher": "…"' in prompt
    assert "Executable: yes" in prompt


@pytest.mark.parametrize("kind", ["resource", "temporal"])
def test_a_worked_example_has_a_whole_answer_and_no_placeholder(kind: DependencyType) -> None:
    turns = BackInstructPrompt(LIBRARY, kind, wording="example").messages(SAMPLE)
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    asked, answer, prompt = (turn["content"] for turn in turns)
    assert "- rent_power_tool: Rents a tool. Parameters: day.\n- b: . Takes text; gives nothing." in prompt
    assert "Link: rent_power_tool -> b" in prompt
    assert "7-3" in prompt
    assert not any(mark in text for mark in "…$" for text in (asked, answer, prompt))
    graph = json.loads(answer)["invoking_graph"]
    assert [node["id"] for node in graph["nodes"]] == [*graph["links"][0].values()]


def test_a_template_of_the_user_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Tools: $nodes\nLinks: $links\nPrice: $$5")
    template = read_template(path, REQUIRED)
    assert BackInstructPrompt(LIBRARY, "resource", template=template).render(SAMPLE).endswith("Price: $5")


def test_a_template_without_its_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Tools: $nodes")
    with pytest.raises(UsageError, match=r"\$nodes and \$links"):
        read_template(path, REQUIRED)
