"""What the runs of agents add up to: repeats, cost, latency, classes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import running_server, workbench_folder
from tests.support.evaluating import metrics_of
from tests.support.running import inside
from toolassay import evaluate, infer
from toolassay.models import ModelOptions, ToolCall
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

IDS = ["calendar-001", "calendar-002", "email-001"]
RIGHT = ToolCall("", "calendar__delete_event", '{"event_id": "00000166"}')  # for calendar-001
HEAD = "model,prompt_usd_per_million,completion_usd_per_million,as_of\n"


def build_folder(path: Path) -> Path:
    """One task of each template, and a second one of one template."""
    return workbench_folder(path, lambda task: task["id"][-1] == "1" or task["id"] in IDS)


@pytest.fixture
def lucky() -> Iterator[FakeServer]:
    """An agent that deletes the event with an even seed, and nothing with an odd one."""

    async def answer(received: Received) -> Reply:
        last = received.body["messages"][-1]["role"]
        if last == "tool" or received.body["seed"] % 2:
            return Reply("Done.")
        return Reply(tool_calls=[RIGHT])

    with running_server(answer) as server:
        yield server


def run(server: FakeServer, folder: Path, **more: Any) -> None:
    options = ModelOptions(api_base=server.base, extra_body={"seed": 0})
    infer(folder, **{"llm": "acme", "ids": IDS, "options": options, **more})


def values(repeats: dict[str, Any], name: str) -> dict[str, float]:
    return {k: round(found["value"], 4) for k, found in repeats[name].items()}


def test_trials_say_how_sure_a_success_is(folder: Path, lucky: FakeServer) -> None:
    run(lucky, folder, trials=3)
    done = inside("evaluate", "--data_dir", folder, "--llm", "all")
    assert done.code == 3
    assert "warning: acme: 3 of 70 asked (excluded: 67 not run); other items are not scored" in done.err
    metrics = metrics_of(folder, "acme")
    for mode in ("strict", "compat"):
        repeats = metrics[mode]["repeats"]
        assert repeats["trials"] == 3 and repeats["runs"] == {"3": 3}
        assert repeats["tasks"] == {"1": 3, "2": 3, "3": 3}
        # One task of three is right in two trials of three.
        assert values(repeats, "pass@k") == {"1": 0.2222, "2": 0.3333, "3": 0.3333}
        assert values(repeats, "pass^k") == {"1": 0.2222, "2": 0.1111, "3": 0.0}
        assert repeats["pass@k"]["1"]["low"] <= 0.2222 <= repeats["pass@k"]["1"]["high"]
        assert metrics[mode]["correct"] == 1  # in the first run
    assert "pass^k over 3 trials (strict): k=1 22.2 %" in done.out
    assert "trials:3-" in metrics["strict"]["signature"]


def test_a_trial_of_other_settings_is_left_out(folder: Path, lucky: FakeServer) -> None:
    run(lucky, folder, trials=2)
    run(lucky, folder, force=True, temperature=1.0)
    done = inside("evaluate", "--data_dir", folder, "--llm", "acme")
    assert "trials/1/acme.json was made with other settings than the first run: left out" in done.err
    assert "repeats" not in metrics_of(folder, "acme")["strict"]


def test_cost_is_that_of_the_servers_log(folder: Path, lucky: FakeServer, tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text(f"{HEAD}acme,2,8,2026-01-01\n")
    lucky.behaviour = lambda prompt, number: "500-bare" if number % 3 == 1 else "whole"
    run(lucky, folder, trials=2, prices=prices)
    done = inside("evaluate", "--data_dir", folder, "--llm", "acme")
    metrics = metrics_of(folder, "acme")
    cost, latency = metrics["cost"], metrics["latency"]
    asked, said = lucky.whole_tokens
    assert cost["usd"] == pytest.approx((asked * 2 + said * 8) / 1e6)
    assert cost["usd_per_1000_tasks"] == pytest.approx(cost["usd"] / 6 * 1000)
    assert cost["usd_per_correct_task"] == pytest.approx(cost["usd"])
    assert cost["requests"] == len(lucky.received) and metrics["notes"] == {}
    assert cost["failures"] == {"HTTP 500": lucky.kinds.count("500-bare")}
    assert latency["tasks"] == cost["tasks"] == 6
    # With the even seed two answers a task, with the odd one a single one.
    assert latency["answers_per_task"] == {"mean": 1.5, "p50": 1.0, "p90": 2.0, "p95": 2.0, "p99": 2.0}
    assert f"{cost['usd_per_1000_tasks']:.2f}" in done.out


def test_what_groups_the_metrics_have(folder: Path) -> None:
    infer(folder, llm="offline", limit=3, toolkit="domains")
    shutil.rmtree(folder / "predictions/runs")  # without it every task is expected, and nothing was used
    result = evaluate(folder, llm="offline")
    assert result.whole["cost"] is result.whole["latency"] is None and result.whole["notes"].keys() == {
        "cost",
        "latency",
    }
    for metrics in (result.whole["compat"], result.whole["strict"]):
        assert metrics is not None
        assert len(metrics["by_group"]) == 6 and "multi_domain" in metrics["by_group"]
        assert len(metrics["by_base_template"]) == 69 and len(metrics["by_domains_column"]) > 6
        assert list(metrics["by_gt_action_count"])[:3] == ["0", "1", "2"]
        # A task that was not run called nothing, but that is no class of errors.
        assert metrics["error_classes"]["no_actions"]["n"] == 0
