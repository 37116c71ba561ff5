# ruff: noqa: E501 (a table is read by its rows)
"""Bad input: one line that names file, line and remedy; no traceback; nothing written."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import data_folder
from tests.support.running import files_below, inside, shell
from toolassay.testkit import FakeServer

Prepare = Callable[[Path], object]


def tools(*nodes: Any) -> str:
    return json.dumps({"nodes": list(nodes)}, indent=1)


def tool(name: str = "A") -> dict[str, Any]:
    return {"id": name, "desc": name, "input-type": ["text"], "output-type": ["text"]}


def text(name: str, content: str | bytes) -> Prepare:
    """Replace a file of the folder."""
    encoded = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(encoded)


def missing(name: str) -> Prepare:
    return lambda folder: (folder / name).unlink()


def both(*steps: Prepare) -> Prepare:
    def prepare(folder: Path) -> None:
        for step in steps:
            step(folder)

    return prepare


def graph(*links: Any, **more: Any) -> str:
    nodes = [tool("A"), tool("B")]
    return json.dumps({"nodes": nodes, "links": list(links), **more}, indent=1)


def graph_only(content: str) -> Prepare:
    """Replace the graph of the folder, which then holds the tools too."""
    return both(missing("tool_desc.json"), text("graph_desc.json", content))


LINK = {"source": "A", "target": "B", "type": "text"}

PLAN = {"task_steps": ["x"], "task_nodes": [{"task": "Painter", "arguments": ["x"]}], "task_links": []}


def predicted() -> Prepare:
    return lambda folder: prediction(folder, json.dumps({"id": "1", "result": PLAN}) + "\n")


def labelled() -> Prepare:
    label = {"id": "1", "type": "single", "n_tools": 1, "user_request": "x", **PLAN}
    return both(predicted(), text("data.json", json.dumps(label) + "\n"))


# stage, what is wrong, further arguments, what the line must say
CASES: dict[str, tuple[str, Prepare, tuple[str, ...], tuple[str, ...]]] = {
"temperature no number": ("infer", labelled(), ("--temperature", "nan"), ("--temperature nan", "from 0")),
"tools not UTF-8": ("graph", text("tool_desc.json", b"\xff\xfe{}"), (), ("tool_desc.json", "UTF-8")),
"an unknown tool in a link": ("generate", graph_only(graph(LINK, {**LINK, "target": "C"})), (), ("graph_desc.json:", "unknown tool 'C'", "Fix:")),
"no links": ("generate", text("graph_desc.json", tools(tool())), (), ("graph_desc.json", "links", "Fix:")),
"a size that cannot be had": ("generate", text("x", ""), ("--method", "chain", "--tool_number", "40"), ("chain of 40",)),
"raw not JSON": ("generate", text("data_raw.json", '{"id": 1}\n{x\n'), ("--seed", "1"), ("data_raw.json:", "Fix:")),
"template without nodes": ("generate", text("x", ""), ("--prompt_template", "{}/t.txt"), ("t.txt", "$nodes")),
"a broken journal of samples": ("generate", lambda folder: sample_file(folder, "journal.jsonl", "{x\n{}\n"), ("--seed", "1"), ("journal.jsonl:1", "Fix:")),
"a port that is none": ("generate", text("x", ""), ("--api_port", "99999"), ("api_port",)),
"no raw": ("format", text("x", ""), (), ("data_raw.json", "data_engine.py")),
"no requests": ("infer", missing("user_requests.json"), (), ("user_requests.json", "format_data.py")),
"request without text": ("infer", text("user_requests.json", '{"id": 1}\n'), (), ("user_requests.json:1", "user_request", "Fix:")),
"unknown demo": ("infer", text("data.json", '{"id": 1}\n'), ("--demo_ids", "9"), ("data.json", "'9'")),
"extra body missing": ("infer", text("x", ""), ("--extra_body", "none.json"), ("none.json", "no such file")),
"a broken manifest": ("infer", lambda folder: run_file(folder, "manifest.json", "{"), (), ("manifest.json:1", "Fix:")),
"a picture of nothing": ("visualize", missing("graph_desc.json"), (), ("graph_desc.json", "generate_graph.py")),
"labels not JSON": ("evaluate", both(predicted(), text("data.json", '{"id": 1}\n{x\n')), ("--llm", "gpt-4"), ("data.json:", "Fix:")),
"an unknown metric": ("evaluate", labelled(), ("--llm", "gpt-4", "-m", "charm"), ("'charm'", "Fix:")),
"another model": ("evaluate", labelled(), ("--llm", "other"), ("other.json", "found: gpt-4")),
"nothing to evaluate": ("evaluate", text("x", ""), (), ("predictions", "Fix:")),
}  # fmt: skip


def run_file(folder: Path, name: str, content: str) -> None:
    path = folder / "predictions" / "runs" / "gpt-4" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def sample_file(folder: Path, name: str, content: str) -> None:
    path = folder / "runs" / "gpt-4" / name
    path.parent.mkdir(parents=True)
    path.write_text(content)


def prediction(folder: Path, content: str) -> None:
    (folder / "predictions").mkdir()
    (folder / "predictions" / "gpt-4.json").write_text(content)


@pytest.mark.parametrize("case", CASES)
def test_one_line_and_nothing_written(tmp_path: Path, fake_server: FakeServer, case: str) -> None:
    stage, prepare, more, words = CASES[case]
    folder = data_folder(tmp_path / "data")
    (folder / "t.txt").write_text("$request but no tools")
    prepare(folder)
    before = files_below(tmp_path)
    served = ("--api_base", fake_server.base) if stage in ("generate", "infer") else ()
    more = tuple(argument.replace("{}", str(folder)) for argument in more)
    done = inside(stage, "--data_dir", folder, *served, *more)
    assert done.code == 2, (done, fake_server.prompts)
    for word in words:
        assert word in done.error
    after = files_below(tmp_path)
    new = {name for name in after if after[name] != before.get(name)}
    # The manifest of a run that never began is no half-written result, and binds nobody.
    assert all("/runs/" in name for name in new)
    assert before.keys() <= after.keys()
    assert not fake_server.received


@pytest.mark.parametrize("script", ["generate_graph.py", "inference.py"])
@pytest.mark.parametrize("kind", ["missing", "a file"])
def test_a_data_dir_that_is_none(tmp_path: Path, script: str, kind: str) -> None:
    if kind == "a file":
        (tmp_path / "none").write_text("")
    done = shell(script, "--data_dir", "none", cwd=tmp_path)
    assert done.code == 2
    assert "none" in done.error
    assert set(files_below(tmp_path)) <= {"none"}


def test_a_dotenv_that_is_no_text(tmp_path: Path, fake_server: FakeServer) -> None:
    data_folder(tmp_path / "data")
    (tmp_path / ".env").write_bytes(b"OPENAI_API_KEY=\xff")
    done = shell("inference.py", "--data_dir", "data", "--api_port", str(fake_server.port), cwd=tmp_path)
    assert done.code == 2
    assert ".env: not UTF-8 text" in done.error


@pytest.mark.parametrize("script", ["inference.py", "data_engine.py"])
def test_an_unreachable_server(tmp_path: Path, script: str) -> None:
    data_folder(tmp_path / "data")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    done = shell(script, "--data_dir", "data", "--api_port", str(port), cwd=tmp_path)
    assert done.code == 1
    assert f"cannot reach http://localhost:{port}/v1/chat/completions" in done.error
    assert "Fix: check --llm, --api_addr/--api_port" in done.error
    assert not (tmp_path / "data" / "data_raw.json").exists()
    assert not (tmp_path / "data" / "predictions" / "gpt-4.json").exists()


def test_a_folder_in_the_way_of_what_is_written(tmp_path: Path, fake_server: FakeServer) -> None:
    data_folder(tmp_path / "data")
    served = ("--data_dir", "data", "--api_port", str(fake_server.port))
    (tmp_path / "data" / "predictions" / "gpt-4.json").mkdir(parents=True)
    done = shell("inference.py", *served, cwd=tmp_path)
    assert done.code == 2
    assert "gpt-4.json" in done.error
    shutil.rmtree(tmp_path / "data" / "predictions")
    (tmp_path / "data" / "predictions").write_text("a file")
    done = shell("inference.py", *served, cwd=tmp_path)
    assert done.code == 1
    assert "predictions" in done.error
    (tmp_path / "data" / "statistics.json").mkdir()
    done = shell("data_engine.py", *served, "--number_of_samples", "1", cwd=tmp_path)
    assert done.code == 1
    assert "statistics.json" in done.error


@pytest.mark.parametrize(
    "words",
    [
        "check",
        "execute --executor mcp",
        "export --data_dir d --to openai",
        "pipeline",
        "release",
        "review",
        "split",
    ],
)
def test_a_required_option_is_asked_for(words: str, tmp_path: Path) -> None:
    done = shell(*words.split(), cwd=tmp_path)
    assert done.code == 2
    wanted = "--out" if words.startswith(("check", "export")) else "--data_dir"
    assert f"Missing option '{wanted}'" in done.err
    assert not files_below(tmp_path)
