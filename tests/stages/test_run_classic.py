"""`toolassay classic run`: from configuration files to scores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.builders import chat_folder
from tests.support.evaluating import metrics_of
from tests.support.running import files_below, inside, lines_of
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

KEY = "sk-planted-0123456789abcdef"


async def none_at_all(received: Received) -> Reply:
    return Reply('{"thinking": "", "workflow": "none"}')


server_answer = none_at_all


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    chat_folder(tmp_path / "data_classic")
    return tmp_path


def test_it_runs_and_scores(place: Path) -> None:
    done = inside("classic", "run", "--agent", "retrieval", "--eval", "no_security", "--eval.n_trials=2")
    assert done.code == 0, done.err
    assert "data_classic/predictions/trials/1/offline.json: 5 lines" in done.out
    assert "row_pass@1" in done.out and done.out.rstrip().endswith("data_classic/metrics/offline.json")
    assert "security" not in done.err
    metrics = metrics_of(place / "data_classic", "offline")
    assert metrics["compat"]["n_rows"] == 10
    manifest = json.loads((place / "data_classic/predictions/runs/offline/manifest.json").read_text())
    assert manifest["starts"][0]["command"][-1] == "--eval.n_trials=2"


@pytest.mark.parametrize(
    ("agent", "model"),
    [("cot_gpt4", "gpt-4o"), ("cot_gemini", "gemini-1.5-pro"), ("reasoning_gpto3mini", "o3-mini")],
)
def test_the_published_agents_and_flags(place: Path, server: FakeServer, agent: str, model: str) -> None:
    flags = "--data real --eval no_security --n_workers 1 --is_debug --is_force_refresh"
    run = f"--agent {agent} {flags} --path_to_output_dir out --run_uuid 7 --agent.api_base={server.base}"
    done = inside("classic", "run", *run.split())
    assert done.code == 0, done.err
    assert {received.body["model"] for received in server.received} == {model}
    assert len(lines_of(place / f"out/7/{model}.json")) == 5


def test_values_of_the_command_line_reach_the_server(place: Path, server: FakeServer) -> None:
    arguments = [
        f"--agent.api_base={server.base}",
        "--set",
        "agent.temperature=0.5",
        "--agent.base_model=a=b",
    ]
    done = inside("classic", "run", *arguments, "--set", "eval.limit=2", "--multiworker", "1")
    assert done.code == 0, done.err
    assert len(server.received) == 2
    body = server.received[0].body
    assert (body["model"], body["temperature"], "top_p" in body) == ("a=b", 0.5, False)
    assert "security is not measured" in done.err
    dry = inside("classic", "run", *arguments, "--dry_run")
    assert "requests: 3 to send; 2 of 5 messages are answered" in dry.out
    server.behaviour = lambda prompt, number: "400"
    assert inside("classic", "run", *arguments).code == 3
    assert [row["outcome"] for row in lines_of(place / "data_classic/predictions/a_b.json")][2:] == [
        "provider error"
    ] * 3


def test_no_key_is_written_anywhere(place: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (place / "mine.yaml").write_text(f"agent: {{name: cot, api_key: {KEY}}}")
    login = server.base.replace("http://", "http://me:pw@")
    for wrong in (["--agent", "mine.yaml"], [f"--agent.api_key={KEY}"], [f"--set=agent.api_key={KEY}"]):
        refused = inside("classic", "run", f"--agent.api_base={server.base}", *wrong)
        assert refused.code == 2 and "OPENAI_API_KEY" in refused.error
        assert KEY not in refused.out + refused.err
    (place / "mine.yaml").unlink()
    assert not server.received and not (place / "data_classic/predictions").exists()
    assert inside("classic", "run", f"--agent.api_base={server.base}").code == 0
    assert server.received[0].key == KEY
    monkeypatch.delenv("OPENAI_API_KEY")
    more = ["--set", f"agent.api_base={login}", "--prediction_dir", "other"]
    assert inside("classic", "run", *more).code == 0
    everything = b"".join(files_below(place).values()).decode()
    assert KEY not in everything and "me:pw" not in everything


def test_what_is_missing_is_one_line(place: Path) -> None:
    for arguments, told in (
        (["--set", "dataset.path_or_name=acme/chats"], "toolassay import classic --repo acme/chats"),
        (["--agent", "recorded"], "--recorded FILE and --agent recorded require each other"),
        (["--agent.client=curl"], "`$.agent.client`"),
        (["--evl=default"], "No such flag: --evl"),
        (["--trials", "2"], "No such flag: --trials"),
        (["--api_key", "hush"], "OPENAI_API_KEY"),
    ):
        done = inside("classic", "run", *arguments)
        assert done.code == 2 and told in done.error and "hush" not in done.err
    shutil.rmtree(place / "data_classic")
    assert "are not in the current folder" in inside("classic", "run").error
