"""Servers that misbehave in a call: what the plan's outcome is, and that other plans are not affected."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mcp_servers import command_of, is_running
from tests.support.plan_runs import LIMITS, WRITES, executed, planned
from toolassay.executors import McpExecutor
from toolassay.executors.executor import CallLimits
from toolassay.executors.plan_run import TRIES, RunRules
from toolassay.plans.execution_record import Execution

pytestmark = pytest.mark.usefixtures("temporary_files")

PASSWORD = "swordfish-2031"


@dataclass(frozen=True)
class Log:
    """What a hostile server wrote to its log: its processes, and the calls of `bad`."""

    path: Path

    @property
    def calls(self) -> int:
        return self.path.read_text().split().count("bad")

    @property
    def processes(self) -> list[int]:
        return [int(word) for word in self.path.read_text().split() if word.isdigit()]


async def run(
    tmp_path: Path,
    mode: str,
    *,
    calls: Sequence[str] = ("good", "bad"),
    limits: CallLimits = LIMITS,
    isolated: bool = True,
    rules: RunRules = WRITES,
) -> tuple[Execution, Log]:
    """Run a plan that calls `bad`, between plans that call only `good`, which must run."""
    source, log = tmp_path / "source", Log(tmp_path / "log")
    source.mkdir()
    plan = [(name, dict[str, object]()) for name in calls]
    before, after = planned("before", ("good", {})), planned("after", ("good", {}), ("good", {}))
    done = await executed(
        McpExecutor(),
        tmp_path,
        *(before, planned("plan", *plan), after),
        workers=1,
        rules=rules,
        limits=limits,
        server=f"PASSWORD={PASSWORD} {command_of('hostile_calls', mode, str(log.path))}",
        workspace=str(source) if isolated else "",
    )
    assert done["before"].outcome == done["after"].outcome == "ran"
    reason = done["plan"].reason
    assert reason.isprintable() and len(reason) < 400 and PASSWORD not in reason
    assert not [pid for pid in log.processes if is_running(pid)]
    return done["plan"], log


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("hang", "did not answer tools/call within 0.5 s"),
        ("crash", "ended with exit status 3 ('Segmentation fault') before it answered tools/call"),
        ("huge", "sent a message of more than 4 MiB"),
        ("large", "the result has 120,000 bytes, more than --max_result allows"),
        ("wrong_schema", "the result is not as its output schema says: id 'seven' is not"),
        ("no_result", "answered tools/call with something else than a result"),
        pytest.param(
            *("flood_notifications", "sent more than 10,000 messages that are no answer"),
            marks=pytest.mark.slow,
        ),
    ],
)
async def test_a_call_without_a_result_is_tried_again_and_rejects_no_plan(
    tmp_path: Path, mode: str, reason: str
) -> None:
    began = time.monotonic()
    limits = CallLimits(0.5 if mode == "hang" else 20, LIMITS.result_bytes, LIMITS.memory_bytes)
    plan, log = await run(tmp_path, mode, limits=limits)
    assert plan.outcome == "provider_error"
    assert reason in plan.reason
    assert log.calls == TRIES
    # What the last try did is shown; the call without a result is not.
    assert [(call.tool, call.error) for call in plan.calls] == [("good", None)]
    assert plan.answer == ()
    assert time.monotonic() - began < 30


async def test_a_server_that_takes_too_much_memory_is_ended_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    limits = CallLimits(60, LIMITS.result_bytes, 150 * 2**20)
    plan, log = await run(tmp_path, "memory", limits=limits)
    assert plan.outcome == "provider_error"
    assert "MiB of memory, more than --max_memory allows" in plan.reason
    assert log.calls == TRIES
    assert time.monotonic() - began < 20  # not the 60 s of the call, nor the grace of an idle server


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("is_error", "call 1 (bad): [31mdenied for *** xxx"),
        ("rpc_error", "answered tools/call with the error 'no rights for ***'"),
        ("json_error", 'call 1 (bad): {"error": "no such note", "id": 7}'),
        ("wrapped_text_error", "call 1 (bad): Error: no such note"),
    ],
)
async def test_a_refusal_fails_the_plan_without_another_try(tmp_path: Path, mode: str, reason: str) -> None:
    plan, log = await run(tmp_path, mode, calls=("good", "bad", "good"))
    assert plan.outcome == "failed", plan.reason
    assert reason in plan.reason
    assert log.calls == 1
    assert [call.tool for call in plan.calls] == ["good", "bad"]
    assert plan.calls[1].result is None and (plan.calls[1].error or "?") in plan.reason
    assert plan.state_after is not None


async def test_a_huge_result_is_not_kept_in_memory(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        await run(tmp_path, "huge")
        assert tracemalloc.get_traced_memory()[1] < 40 * 2**20  # of 64 MiB, three times
    finally:
        tracemalloc.stop()
