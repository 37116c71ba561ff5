"""What a run used is said and written down, and a limit ends it with nothing lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.builders import data_folder
from tests.support.running import entries_of, generate, ids, infer, lines_of
from toolassay.testkit import FakeServer

HEAD = "model,prompt_usd_per_million,completion_usd_per_million,as_of\n"


@pytest.mark.parametrize("workers", [(), ("--multiworker", "1")])
def test_a_number_of_requests_is_kept_to_and_a_higher_one_goes_on(
    tmp_path: Path, fake_server: FakeServer, workers: tuple[str, ...]
) -> None:
    folder = data_folder(tmp_path, 20)
    done = infer(fake_server, folder, "--max_requests", "12", *workers)
    assert done.code == 3
    assert len(fake_server.received) == 12
    assert "stopped: --max_requests 12 leaves no room for another request; 8 left" in done.err
    assert "The same command with a higher --max_requests goes on where this one stopped" in done.err
    run = folder / "predictions/runs/gpt-4"
    summary = json.loads((run / "summary.json").read_text())
    assert sum(summary["outcomes"].values()) == 20
    assert summary["outcomes"]["answered"] == 12
    assert summary["stop"].startswith("--max_requests")
    journal = entries_of(run / "journal.jsonl")
    assert {entry["outcome"] for entry in journal} == {"answered", "budget stop"}
    assert len(lines_of(folder / "predictions/gpt-4.json")) == 12

    assert infer(fake_server, folder, "--max_requests", "12", *workers).code == 3
    assert len(fake_server.received) == 12
    assert infer(fake_server, folder, "--max_requests", "20", *workers).code == 0
    assert len(fake_server.received) == 20
    assert ids(folder / "predictions/gpt-4.json") == [str(1000 + n) for n in range(20)]


def test_tokens_and_dollars_are_never_overspent(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path, 60)
    prices = tmp_path / "prices.csv"
    prices.write_text(f"{HEAD}gpt-4,10,20,2026-01-01\n")
    more = ("--max_cost", "0.3", "--prices", prices)
    assert infer(fake_server, folder, *more).code == 3
    lines = lines_of(folder / "predictions/runs/gpt-4/ledger.jsonl")
    spent = sum(line["cost"] for line in lines)
    worst = 0.02 * 2 + max(line["prompt_tokens"] for line in lines) * 10e-6  # 2,000 tokens of answer
    assert 0.3 - worst <= spent <= 0.3
    assert len(lines) == len(fake_server.received) < 60

    used = sum(line["prompt_tokens"] + line["completion_tokens"] for line in lines)
    limit = used + 10_000
    assert infer(fake_server, folder, "--max_tokens_total", str(limit)).code == 3
    lines = lines_of(folder / "predictions/runs/gpt-4/ledger.jsonl")
    assert used < sum(line["prompt_tokens"] + line["completion_tokens"] for line in lines) <= limit


def test_a_limit_in_dollars_without_a_price_is_refused_before_anything_is_written(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path, 2)
    hosted = ("--api_base", "https://models.example/v1", "--max_cost", "1")
    for ask in (infer, generate):
        done = ask(fake_server, folder, "--llm", "acme", *hosted)
        assert done.code == 2
        assert "'acme'" in done.error and "--prices FILE" in done.error
    done = infer(fake_server, folder, *hosted, "--reformat", "true", "--reformat_by", "acme")
    assert done.code == 2 and "'acme'" in done.error
    assert not (folder / "predictions").exists() and not (folder / "runs").exists()
    assert not fake_server.received


def test_what_was_used_is_said_and_written_down(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path, 5)
    fake_server.fail_first("500", "429")
    done = infer(fake_server, folder)
    assert done.code == 0
    assert "requests: 7 sent, 2 of them again after a failure" in done.err
    assert "1 HTTP 500" in done.err and "1 HTTP 429" in done.err
    assert "money: $0.0000 (local, no price)" in done.err and "(median)" in done.err
    used = json.loads((folder / "predictions/runs/gpt-4/summary.json").read_text())["used"]
    assert used["requests"] == 7 and used["outcomes"]["answered"] == 5
    lines = lines_of(folder / "predictions/runs/gpt-4/ledger.jsonl")
    assert len(lines) == 7
    assert {line["role"] for line in lines} == {"planner"}
    assert {json.loads(line["item"]) for line in lines} == {str(1000 + n) for n in range(5)}
    assert used["cost_usd"] == pytest.approx(sum(line["cost"] for line in lines))

    assert generate(fake_server, folder, "--llm", "acme", "--number_of_samples", "3").code == 0
    (end,) = [line for line in lines_of(folder / "statistics.json") if line["event"] == "ended"]
    assert end["used"]["requests"] == 3 and end["used"]["prices"] == {"acme": "local, no price"}
    (part,) = end["used"]["by_model_and_role"]
    assert (part["model"], part["role"]) == ("acme", "generator")
