"""From imported tools to scores, checked samples and exports, with the offline model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import difficult_tools, imported_folder, workshop_tools
from tests.support.running import files_below, inside, lines_of, shell


@pytest.mark.parametrize("tools", [workshop_tools(), difficult_tools()])
def test_every_stage_takes_imported_tools(tmp_path: Path, tools: dict[str, Any]) -> None:
    def ran(stage: str, *arguments: str | Path) -> None:
        done = inside(stage, *arguments)
        assert done.code == 0, done.err

    folder = imported_folder(tmp_path / "d", tools)
    ran("pipeline", "--data_dir", folder, "--dependency_type", "temporal", "--number_of_samples", "30")
    labels = lines_of(folder / "data.json")
    assert len(labels) == 30
    values = [item["value"] for label in labels for node in label["task_nodes"] for item in node["arguments"]]
    assert {int, str, list} <= set(map(type, values))
    ran("check", "--data_dir", folder, "--out", tmp_path / "checked")
    found = lines_of(tmp_path / "checked" / "gates.jsonl")
    assert [line["level"] for line in found] == ["pass"] * 30
    for form in ("openai", "sharegpt", "jsonl"):
        ran("export", "--data_dir", folder, "--to", form, "--out", tmp_path / form)
    chat = json.loads((tmp_path / "openai" / "train.jsonl").read_text().splitlines()[0])
    schemas = [item["function"]["parameters"] for item in chat["tools"]]
    if tools == workshop_tools():
        assert schemas == [tool["input_schema"] for tool in tools["nodes"]]
    scores = json.loads((folder / "metrics" / "offline.json").read_text())
    assert scores
    ran("report", "--data_dir", folder, "--out", tmp_path / "report")
    ran("variety", "--data_dir", folder, "--out", tmp_path / "variety")
    ran("infer", "--llm", "random", "--data_dir", folder)
    ran("evaluate", "--llm", "random", "--data_dir", folder)


def test_from_a_server_to_scores_without_a_key_in_any_file(tmp_path: Path) -> None:
    servers = Path(__file__).parents[1] / "mcp_servers"
    entry = {
        "command": sys.executable,
        "args": [str(servers / "hostile.py"), "environment", "--api-key", "planted-1a2b3c4d5e"],
        "env": {"SHOP_TOKEN": "planted-in-the-environment"},
    }
    shop = {"command": sys.executable, "args": [str(servers / "shop.py")]}
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"shop": shop, "echo": entry}}))
    key = {"OPENAI_API_KEY": "sk-planted-0123456789"}
    outputs = [shell("import", "mcp", config, "--data_dir", "mine", cwd=tmp_path, **key)]
    for stage in ("graph", "generate", "format", "infer", "evaluate"):
        more = ["--number_of_samples", "12"] if stage == "generate" else []
        model = [] if stage in ("graph", "format") else ["--llm", "offline"]
        outputs.append(shell(stage, "--data_dir", "mine", *model, *more, cwd=tmp_path, **key))
    assert [done.code for done in outputs] == [0] * 6, [done.err for done in outputs]
    nodes = json.loads((tmp_path / "mine" / "tool_desc.json").read_text())["nodes"]
    assert {"find", "buy"} < {node["id"] for node in nodes}
    assert any("SHOP_TOKEN" in node["desc"] and "[secret]" in node["desc"] for node in nodes)
    assert "n-F1" in outputs[-1].out
    written = b"".join(files_below(tmp_path / "mine").values())
    shown = "".join(done.out + done.err for done in outputs)
    for planted in ("planted", "sk-"):
        assert planted.encode() not in written
        assert planted not in shown
