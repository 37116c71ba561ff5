"""`--quiet`, and what is said in spite of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.builders import data_folder, tool_desc
from tests.support.running import generate, infer, inside, shell
from toolassay.testkit import FakeServer

STAGES = (
    ("generate_graph.py", "graph", ()),
    ("visualize_graph.py", "visualize", ()),
    (
        "data_engine.py",
        "generate",
        ("--llm", "offline", "--number_of_samples", "20", "--seed", "3", "--check", "true"),
    ),
    ("format_data.py", "format", ()),
    ("inference.py", "infer", ("--llm", "offline")),
    ("evaluate.py", "evaluate", ("--llm", "offline", "-m", "f1")),
)


def test_every_stage_says_results_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tool_desc(tmp_path / "data" / "tool_desc.json")
    for script, stage, more in STAGES:
        arguments = ("--quiet", "--data_dir", "data", *more)
        if stage == "generate":  # one as a process of its own; the others come in by the same door
            done = shell(script, *arguments, cwd=tmp_path)
        else:
            done = inside(stage, *arguments)
        assert (done.code, done.err) == (0, ""), script
        assert done.out.strip(), script
    wrong = inside("generate", "--quiet", "--data_dir", "nowhere")
    assert wrong.code == 2
    assert wrong.error


def test_why_a_run_is_incomplete_is_said_all_the_same(tmp_path: Path, fake_server: FakeServer) -> None:
    fake_server.behaviour = lambda prompt, number: "400" if number == 1 else "whole"
    folder = data_folder(tmp_path / "data", 4)
    done = infer(fake_server, folder, "-q", "--multiworker", "1")
    assert done.code == 3
    warning, reason = done.err.splitlines()
    assert warning == "warning: 1 requests have no answer: the same command asks them again"
    assert "the prompt breaks our rules" in reason
    fake_server.behaviour = lambda prompt, number: "prose"
    done = generate(fake_server, folder, "-q", "--number_of_samples", "2", "--max_requests", "1")
    assert done.code == 3
    lines = done.err.splitlines()
    # What follows a warning says which sample it is about.
    assert [line.partition(":")[0] for line in lines if not line.startswith("  ")] == ["warning", "warning"]
    assert "2 samples have no usable answer" in done.err and "stopped: --max_requests 1" in done.err


def test_faults_of_a_prediction_file_are_warned_of_and_counted(tmp_path: Path) -> None:
    folder = made(tmp_path)
    file = folder / "predictions/offline.json"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:-1], lines[-1][:20], '{"id": "nobody", "result": {}}', "7"]))
    for llm in ("offline", "all"):  # the second finds the metrics up to date
        done = inside("evaluate", "-q", "--data_dir", folder, "--llm", llm, "-m", "f1", "--min_coverage", "1")
        assert done.code == 3
        warnings = done.err.splitlines()
        assert all(line.startswith("warning: ") for line in warnings)
        for told in ("1 prediction(s) with an unknown id", "broken prediction line(s)", "(--min_coverage)"):
            assert told in done.err
    metrics = json.loads((folder / "metrics/offline.json").read_text())["overall_overall"]
    dropped = {"unknown_ids": 1, "broken_lines": 1, "lines_without_id": 1}
    assert metrics["strict"]["dropped"] == dropped


def made(place: Path) -> Path:
    """A folder with a small data set and the offline model's predictions."""
    tool_desc(place / "data" / "tool_desc.json")
    done = inside("pipeline", "--data_dir", place / "data", "--number_of_samples", "8")
    assert done.code == 0, done.err
    return place / "data"


WARNED = "warning: every user of this machine can read --api_key"


def test_a_key_on_the_command_line_is_warned_of(
    tmp_path: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    folder, other = data_folder(tmp_path / "data", 1), data_folder(tmp_path / "other", 1)
    for stage, more in ((infer, ()), (generate, ("--number_of_samples", "1"))):
        done = stage(fake_server, folder, "--quiet", "--api_key", "sk-12", *more)
        (line,) = done.err.splitlines()
        assert line.startswith(WARNED) and "OPENAI_API_KEY" in line and ".env" in line
        assert fake_server.received[-1].headers["Authorization"] == "Bearer sk-12"
        monkeypatch.setenv("OPENAI_API_KEY", "sk-34")
        assert WARNED not in stage(fake_server, other, *more).err
        assert fake_server.received[-1].headers["Authorization"] == "Bearer sk-34"
        monkeypatch.delenv("OPENAI_API_KEY")
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-56\n")
    monkeypatch.setitem(os.environ, "OPENAI_API_KEY", "")  # what the command reads vanishes with the test
    del os.environ["OPENAI_API_KEY"]
    assert WARNED not in infer(fake_server, folder, "--llm", "third").err
    assert fake_server.received[-1].headers["Authorization"] == "Bearer sk-56"
