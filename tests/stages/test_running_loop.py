"""Library calls where an event loop is running already: a notebook cell, an async function."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.support.builders import data_folder, tool_desc
from tests.support.running import lines_of
from toolassay import check, evaluate, generate, infer, pipeline, verify
from toolassay.interface import flat
from toolassay.models import ModelOptions
from toolassay.stages.generate import play
from toolassay.testkit import FakeServer


async def test_the_pipeline_and_the_gates(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    tool_desc(folder / "tool_desc.json")
    assert pipeline(folder, number_of_samples=8).complete
    assert check(folder, out=tmp_path / "checked", critic="offline", solvers=["offline"]).complete
    assert infer(folder, llm="offline", security=3).summary.complete
    assert evaluate(folder, llm="offline").evaluation.groups["overall_overall"].numbers["security"]
    assert verify(folder, llm="offline").is_equal


async def test_a_model_behind_a_server(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data", 5)
    options = ModelOptions(api_base=fake_server.base)
    assert infer(folder, llm="served", options=options, trials=2).summary.outcomes == {"answered": 10}
    assert generate(folder, llm="served", options=options, number_of_samples=3)[1]
    assert flat(play)(folder, llm="served", options=options, seed=1) is not None


async def test_two_runs_side_by_side_in_threads_leave_the_loop_free(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path / "data", 4)
    options = ModelOptions(api_base=fake_server.base)
    fake_server.behaviour = lambda prompt, number: "hold"
    runs = [
        asyncio.create_task(asyncio.to_thread(infer, folder, llm=llm, options=options, multiworker=1))
        for llm in ("one", "two")
    ]
    await asyncio.to_thread(fake_server.wait_for, 2)  # both are under way
    fake_server.release()
    assert [run.written for run in await asyncio.gather(*runs)] == [4, 4]
    assert len(lines_of(folder / "predictions/two.json")) == 4
