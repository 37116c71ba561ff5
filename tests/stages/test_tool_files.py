"""One tool library: every stage takes tools from `tool_desc.json` and links from `graph_desc.json`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import data_folder, tool_desc
from tests.support.running import generate, infer, inside
from toolassay.files.data_files import write_json
from toolassay.testkit import FakeServer

DIFFERS = "graph_desc.json: 'Shortener' is not in the graph; the graph also has 'Summariser'"
NOTICE = "using the descriptions of"

STAGES: dict[str, tuple[str, ...]] = {
    "infer": ("--llm", "offline"),
    "generate": ("--llm", "offline", "--number_of_samples", "2", "--seed", "1"),
    "sample": ("--num_nodes", "2"),
    "format": (),
    "evaluate": ("--llm", "offline", "-m", "f1"),
    "verify": ("--llm", "offline"),
    "check": ("--out", "checked"),
    "export": ("--to", "jsonl", "--out", "exported"),
}
"""Arguments of each command that reads tools, but for those with a test of their own below."""


def edit(folder: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the tools of a folder, in `tool_desc.json` only."""
    value = json.loads((folder / "tool_desc.json").read_text())
    change(value["nodes"])
    write_json(folder / "tool_desc.json", value)


def rename(nodes: list[dict[str, Any]]) -> None:
    nodes[1]["id"] = "Shortener"


def describe(nodes: list[dict[str, Any]]) -> None:
    nodes[1]["desc"] = "Makes a text shorter."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with labels and the scores of two models, all made before the tools were edited."""
    import toolassay

    folder = data_folder(tmp_path_factory.mktemp("made") / "data")
    toolassay.generate(folder, llm="offline", seed=3, number_of_samples=12, check=True)
    toolassay.format_data(folder, force=True)
    toolassay.infer(folder, llm="offline")
    shutil.copy(folder / "predictions/offline.json", folder / "predictions/copy.json")
    toolassay.evaluate(folder, llm=["offline", "copy"], metrics=["f1"])
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "data"))


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_refuses_other_tools_than_the_graph_has(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    monkeypatch.chdir(folder.parent)
    edit(folder, rename)
    done = inside(stage.split()[0], "--data_dir", folder, *STAGES[stage])
    assert done.code == 2, done.err
    assert f"{folder / 'tool_desc.json'}: differs from " in done.error and DIFFERS in done.error
    assert f"generate_graph.py --data_dir {folder} " in done.error


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_uses_other_descriptions_with_one_notice(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    monkeypatch.chdir(folder.parent)
    edit(folder, describe)
    more = ["--force"] if stage in ("infer", "generate") else []
    done = inside(stage.split()[0], "--data_dir", folder, *STAGES[stage], *more)
    assert done.code in (0, 1), done.err  # 1: verify, as scores name the hash of the tools
    assert (done.code == 1) == (stage == "verify")
    assert done.err.count(NOTICE) == 1, done.err


def test_a_regenerated_graph_ends_the_refusal(folder: Path) -> None:
    edit(folder, rename)
    assert inside("graph", "--data_dir", folder).code == 0
    done = inside("sample", "--data_dir", folder, "--num_nodes", "2")
    assert (done.code, NOTICE in done.err) == (0, False)


def test_a_pipeline_regenerates_the_graph_of_changed_tools(tmp_path: Path) -> None:
    folder = tool_desc(tmp_path / "data/tool_desc.json").parent
    assert inside("graph", "--data_dir", folder).code == 0
    edit(folder, lambda nodes: nodes[1].update({"output-type": ["audio"]}))
    done = inside("pipeline", "--data_dir", folder, "--number_of_samples", "2")
    assert done.code == 0, done.err
    nodes = json.loads((folder / "graph_desc.json").read_text())["nodes"]
    assert nodes[1]["output-type"] == ["audio"]
    assert len(list(folder.glob("graph_desc.2*.json"))) == 1


@pytest.mark.parametrize("stage", ["infer", "generate"])
def test_the_prompt_shows_the_edited_description_and_the_run_is_another_one(
    tmp_path: Path, fake_server: FakeServer, stage: str
) -> None:
    folder = data_folder(tmp_path, 2)
    ask = {"infer": infer, "generate": generate}[stage]
    changed = {"infer": "prompt changed", "generate": "graph changed"}[stage]
    more = ("--seed", "1", "--number_of_samples", "4") if stage == "generate" else ()
    assert ask(fake_server, folder, *more).code == 0
    edit(folder, lambda nodes: [node.update(desc=f"Edited {node['id']}.") for node in nodes])
    done = ask(fake_server, folder, *more)
    assert done.code == 2 and changed in done.error
    fake_server.forget()
    assert ask(fake_server, folder, *more, "--force").code == 0
    assert fake_server.received
    assert all("Edited " in str(request.body["messages"]) for request in fake_server.received)


def test_what_the_prompt_does_not_show_may_change(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path, 2, kind="temporal")
    assert infer(fake_server, folder).code == 0
    edit(folder, lambda nodes: nodes[0]["parameters"][0].update(desc="of the hotel"))
    done = infer(fake_server, folder)
    assert done.code == 0 and NOTICE in done.err
    assert len(fake_server.received) == 2


def test_tools_and_graph_given_from_two_places_must_agree(tmp_path: Path) -> None:
    source = data_folder(tmp_path / "source")
    edit(source, rename)
    new = tmp_path / "new"
    given = ("--graph_desc", source / "graph_desc.json", "--tool_desc", source / "tool_desc.json")
    done = inside("generate", "--data_dir", new, *given, "--llm", "offline")
    assert done.code == 2 and "tool_desc.json: differs from " in done.error
    assert not new.exists()
