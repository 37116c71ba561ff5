"""The export stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.gold_samples import TEMPORAL, label, some_labels, write_folder
from tests.support.running import files_below, inside, lines_of, write_lines
from toolassay import export, split
from toolassay.console.screen import Screen
from toolassay.errors import ToolassayError
from toolassay.exporters.formats import formats
from toolassay.gates.gate import Level


def build_folder(path: Path) -> Path:
    return write_folder(path.rename(path.with_name("errands")), some_labels())


FAULTY = [
    label(7, [("Gone", ["x"])]),
    {**label(8, [("画", ["x"])]), "task_nodes": [{"task": "画", "arguments": ["<node-4>"]}]},
]


def test_faulty_samples_are_refused_with_reasons(folder: Path, tmp_path: Path) -> None:
    write_lines(folder / "data.json", [*some_labels(), *FAULTY])
    arguments = ("export", "--data_dir", folder, "--to", "jsonl", "--out", tmp_path / "out")
    done = inside(*arguments)
    assert (done.code, done.out) == (3, f"{tmp_path / 'out'}: 5 train\n")
    assert "warning: refused 7 (line 6): task_nodes[0] names the tool 'Gone'" in done.err
    refused = lines_of(tmp_path / "out" / "refused.jsonl")
    assert [(line["id"], line["line"], line["where"]) for line in refused] == [
        ("7", 6, "task_nodes[0]"),
        ("8", 7, "task_nodes[0].arguments[0]"),
    ]
    assert inside(*arguments, "--skip").code == 0
    write_lines(folder / "data.json", some_labels())
    assert inside(*arguments).code == 0
    assert not (tmp_path / "out" / "refused.jsonl").exists()


@pytest.mark.parametrize("to", [form.name for form in formats()])
def test_the_same_data_give_the_same_files(to: str, folder: Path, tmp_path: Path) -> None:
    split(folder)
    for name in ("a", "b"):
        export(folder, to=to, out=tmp_path / name, tools=4, seed=2)

    assert files_below(tmp_path / "a") == files_below(tmp_path / "b")


FUNNEL = {
    "input": 5,
    "levels": {"pass": 4, "quarantine": 1, "reject": 0},
    "gates": {"id": {"pass": 4, "quarantine": 1, "reject": 0, "unknown": 0, "not applicable": 0}},
    "funnel": [],
    "signature": "check|n:5",
}


def test_the_card_describes_the_data(folder: Path, tmp_path: Path) -> None:
    (folder / "benchmark.json").write_text(
        json.dumps({"dependency_type": "resource", "licence": "MIT", "source": "Our own.", "language": "de"})
    )
    write_lines(folder / "gates.jsonl", [{"id": str(n), "level": "pass", "findings": []} for n in range(5)])
    (folder / "funnel.json").write_text(json.dumps(FUNNEL))
    write_lines(folder / "data.json", [*some_labels(), *FAULTY])
    split(folder)
    export(folder, to="jsonl", out=tmp_path / "out")
    _, front, body = (tmp_path / "out" / "README.md").read_text().split("---\n", 2)
    matter = yaml.safe_load(front)

    assert (matter["license"], matter["language"], matter["pretty_name"]) == ("mit", ["de"], "errands")
    assert matter["size_categories"] == ["n<1K"]
    assert [item["path"] for item in matter["configs"][0]["data_files"]] == ["train.jsonl"]
    assert "| single | 1 | 2 | 2 |" in body
    assert "| all |  | 5 | 5 |" in body
    assert "| pass | 5 |" in body
    assert "2 samples refused" in body
    assert "the whole set of 5 samples the gates passed 4, quarantined 1 and rejected 0" in body
    assert "| id | 4 | 1 | 0 | 0 | 0 |" in body
    assert "Our own." in body
    assert "Splits: `split|format:1|" in body
    assert "TaskBench" in body


def test_only_what_the_gates_let_pass(folder: Path, tmp_path: Path) -> None:
    levels = ["pass", "quarantine", "reject", "pass"]  # the fifth they have not seen
    write_lines(folder / "gates.jsonl", [{"id": str(n), "level": one} for n, one in enumerate(levels)])

    found: dict[str, Any] = {}
    levels_wished: tuple[Level | None, ...] = ("pass", "quarantine", None)
    for level in levels_wished:
        result = export(folder, to="jsonl", out=tmp_path / "out", level=level)
        found[str(level)] = [row["id"] for row in lines_of(tmp_path / "out" / "train.jsonl")]
        assert result.left_out == 5 - len(found[str(level)])
    assert found == {"pass": ["0", "3"], "quarantine": ["0", "1", "3"], "None": ["0", "1", "2", "3", "4"]}


def test_splits(folder: Path, tmp_path: Path) -> None:
    (folder / "split_ids.json").write_text(json.dumps({"test_ids": {"single": ["0"]}}))
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"train_ids": ["0", "1", "2", "3"], "dev_ids": []}))

    assert export(folder, to="jsonl", out=tmp_path / "a").counts == {"train": 4, "test": 1}
    assert export(folder, to="jsonl", out=tmp_path / "a", splits="none").counts == {"train": 5}
    assert not (tmp_path / "a" / "test.jsonl").exists()
    result = export(folder, to="jsonl", out=tmp_path / "b", splits=other)
    assert (result.counts, result.refused) == ({"train": 4}, 1)
    assert lines_of(tmp_path / "b" / "refused.jsonl")[0]["reason"] == "is in no split of the split file"


def test_gold_without_arguments_is_reported(tmp_path: Path) -> None:
    said: list[str] = []
    data = [label(1, [("book", None), ("pay", None)], links=[("book", "pay")])]
    folder = write_folder(tmp_path / "data", data, TEMPORAL, "temporal")
    export(folder, to="openai", out=tmp_path / "out", screen=Screen(say=said.append))

    (line,) = lines_of(tmp_path / "out" / "train.jsonl")
    calls = [call["function"] for message in line["messages"] for call in message.get("tool_calls", [])]
    assert calls == [{"name": "book", "arguments": "{}"}, {"name": "pay", "arguments": "{}"}]
    assert lines_of(tmp_path / "out" / "index" / "train.jsonl") == [
        {"id": "1", "links": [[0, 1]], "has_arguments": False}
    ]
    assert any("1 sample without gold arguments" in line for line in said)


def test_options_of_chats(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "system.txt").write_text("You plan.\n")
    out = tmp_path / "out"
    common = ("export", "--data_dir", folder, "--out", out, "--system", tmp_path / "system.txt")
    chats = ("--to", "openai", "--parallel", "--arguments", "object", "--closing", "none")
    assert inside(*common, *chats).code == 0
    line = lines_of(out / "train.jsonl")[3]
    assert line["messages"][0] == {"role": "system", "content": "You plan."}
    assert len(line["messages"][2]["tool_calls"]) == 2
    assert isinstance(line["messages"][-1]["tool_calls"][0]["function"]["arguments"], dict)
    assert inside(*common, "--to", "sharegpt", "--tools", "2").code == 0
    line = lines_of(out / "train.jsonl")[0]
    assert (line["system"], len(json.loads(line["tools"]))) == ("You plan.", 2)
    info = json.loads((out / "dataset_info.json").read_text())
    assert info["errands_train"]["columns"]["messages"] == "conversations"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--tools", "many"], 2, "--tools 'many' is not all, gold, or a number from 1"),
        (["--splits", "gone.json"], 2, "gone.json: no such file. Fix: make it with toolassay split"),
        (["--level", "pass"], 2, "gates.jsonl: no such file. Fix: make it with toolassay check"),
        (["--system", "gone.txt"], 2, "gone.txt: no such file. Fix: check --system"),
    ],
)
def test_bad_input(arguments: list[str], code: int, message: str, folder: Path, tmp_path: Path) -> None:
    done = inside("export", "--data_dir", folder, "--to", "jsonl", "--out", tmp_path / "o", *arguments)

    assert done.code == code
    assert message in done.error
    assert not (tmp_path / "o").exists()


def test_nothing_to_export_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    write_lines(folder / "data.json", FAULTY)

    with pytest.raises(ToolassayError, match="none of 2 samples can be exported"):
        export(folder, to="jsonl", out=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["errands"]
