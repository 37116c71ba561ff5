from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolassay.backinstruct.prompt import BackInstructPrompt, read_instruction
from toolassay.backinstruct.records import raw_sample, read_raw, sample_id
from toolassay.files.data_files import write_json_lines
from toolassay.graph import DependencyType
from toolassay.models.json_answers import ECHO
from toolassay.records.dataset import Sample
from toolassay.tools.library import Tool, ToolLibrary

LIBRARY = ToolLibrary([Tool("a", inputs=("text",))])
SAMPLE = Sample(5, 7, "single", ("a",), ())
RESULT: dict[str, Any] = {
    "task_steps": ["Step 1"],
    "user_request": "Do it.",
    "invoking_graph": {"nodes": [{"id": "a", "input": ["x"]}], "links": []},
}


def test_a_record_has_the_published_keys_and_the_verdicts() -> None:
    result = {**RESULT, "check_by_teacher": "Executable: yes. Correct: yes."}
    record = raw_sample(SAMPLE, LIBRARY, result).to_json()
    published = ("id", "seed", "method", "number_of_tools", "sampled_nodes", "sampled_links", "result")
    assert list(record)[:7] == list(published)
    assert record["sampled_nodes"] == [{"id": "a", "input-type": ["text"], "output-type": []}]
    assert record["critics"] == {"node": True, "link": True, "both": True, "llm": "pass"}
    assert record["id"] == sample_id(SAMPLE) == "7-00005"


def test_keys_that_others_added_to_a_line_are_kept(tmp_path: Path) -> None:
    line = raw_sample(SAMPLE, LIBRARY, RESULT, "a goal").to_json() | {"note": {"by": "Ann"}, "seed": None}
    write_json_lines(tmp_path / "data_raw.json", [line])
    (read,) = read_raw(tmp_path / "data_raw.json")
    assert read.to_json() == line and read.goal == "a goal"


@pytest.mark.parametrize(
    "text",
    [
        "no JSON at all",
        '{"task_steps": [], "user_request": "x", "invoking_graph": {"nodes": []}}',
        '{"task_steps": [], "user_request": "x", "invoking_graph": {"nodes": [{"input": ["a"]}]}}',
        '{"task_steps": [], "user_request": "x"}',
        '{"task_steps": ["Step 1"], "user_request": "x", "invoking_graph": {"nodes": [{"id": "a"',
    ],
)
def test_an_answer_with_a_part_missing_or_cut_off_is_no_instruction(text: str) -> None:
    found, answer = read_instruction(text, "resource")
    assert found is None
    assert answer.problem


@pytest.mark.parametrize("kind", ["resource", "temporal"])
def test_what_the_prompt_shows_is_never_gold(kind: DependencyType) -> None:
    published = BackInstructPrompt(LIBRARY, kind).render(SAMPLE)
    (form,) = (line for line in published.splitlines() if line.startswith("{"))
    worked = BackInstructPrompt(LIBRARY, kind, wording="example").messages(SAMPLE)[1]["content"]
    valid = form.replace("…]", '"…"]').replace(", …", "")
    indented = json.dumps(json.loads(worked), indent=2)
    for echo in (form, form.replace("…", "..."), valid, worked, f"Sure:\n```json\n{indented}\n```"):
        found, answer = read_instruction(echo, kind)
        assert (found, answer.problem) == (None, ECHO)
        assert read_instruction(f"{echo}\n{json.dumps(RESULT)}", kind)[0] == RESULT
