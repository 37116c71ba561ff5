"""The hub's layout, read back as the hub reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolassay.benchmarks.classic.chats.build import publish_set
from toolassay.benchmarks.classic.data import MessageRow, Workflow, read_data, write_tables
from toolassay.console.screen import Screen
from toolassay.errors import UsageError

ROWS = [
    MessageRow("a", "None", 'NA, "really"', "w1", "", 0, "hr"),
    MessageRow("a", "one\r\ntwo\rthree", "", "", "", 1, "hr"),
]


@pytest.fixture
def merged(tmp_path: Path) -> Path:
    folder = tmp_path / "set"
    write_tables(folder, ROWS, [Workflow("w1", "Leave", "", "hr")], {"hr": "People"})
    (folder / "README.md").write_text("---\nconfigs: old\n---\n\n# Our chats\n", encoding="utf-8")
    (folder / "votes.csv").write_text("ann,ben\n")
    (folder / "jailbreak_prompts.csv").write_text("turn_1_prompt,turn_2_prompt,turn_3_prompt,note\na,b,c,x\n")
    return folder


def card(folder: Path) -> tuple[Any, str]:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the card")
    _, front, body = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


def test_csv_reads_back_and_the_card_declares_four_configurations(merged: Path, tmp_path: Path) -> None:
    told: list[str] = []
    publish_set(merged, tmp_path / "hub", screen=Screen(show=told.append))
    assert read_data(tmp_path / "hub") == read_data(merged)
    front, body = card(tmp_path / "hub")
    assert front == {
        "configs": [
            {"config_name": name, "data_files": [{"split": "test", "path": f"{name}.csv"}]}
            for name in ("messages", "workflows", "domains", "jailbreak_prompts")
        ]
    }
    assert body == "\n# Our chats\n" and not (tmp_path / "hub/votes.csv").exists()
    assert "note" not in (tmp_path / "hub/jailbreak_prompts.csv").read_text(encoding="utf-8")
    assert told == [f"hf upload OWNER/NAME {tmp_path / 'hub'} . --repo-type dataset"]


def test_parquet_keeps_texts_numbers_and_missing_labels(merged: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pip install '.[hub]'")
    publish_set(merged, tmp_path / "hub", parquet=True)
    front, _ = card(tmp_path / "hub")
    tables = {
        config["config_name"]: parquet.read_table(
            tmp_path / "hub" / config["data_files"][0]["path"]
        ).to_pylist()
        for config in front["configs"]
    }
    assert tables["messages"][0] == {
        "conversation_uuid": "a",
        "request_content": "None",
        "response_content": 'NA, "really"',
        "true_workflow_uuid": "w1",
        "true_workflow_uuid_2": None,
        "request_idx": 0,
        "domain_uuid": "hr",
    }
    assert tables["messages"][1]["request_content"] == "one\r\ntwo\rthree"
    assert tables["messages"][1]["response_content"] == ""
    assert tables["domains"] == [{"domain_uuid": "hr", "domain_name": "People"}]
    assert tables["jailbreak_prompts"] == [{"turn_1_prompt": "a", "turn_2_prompt": "b", "turn_3_prompt": "c"}]


def test_a_malformed_set_is_refused_and_a_folder_with_files_is_left_alone(
    merged: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="is not empty"):
        publish_set(merged, merged)
    (merged / "workflows.csv").write_text("workflow_uuid,name,description,domain_uuid\n")
    with pytest.raises(UsageError, match="the label 'w1' is not a workflow"):
        publish_set(merged, tmp_path / "hub")
    assert not (tmp_path / "hub").exists()
