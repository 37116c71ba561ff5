"""The proof of a request: each of its calls succeeds and has an effect."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from toolassay.benchmarks.workbench.calls import parse_call
from toolassay.benchmarks.workbench.generate.company import draw_tables
from toolassay.benchmarks.workbench.generate.data_folder import sandbox_of
from toolassay.benchmarks.workbench.generate.generated_tasks import GeneratedTask, draw_tasks, prove_task
from toolassay.benchmarks.workbench.generate.template import SOURCES, between, daily
from toolassay.benchmarks.workbench.records import difference
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.errors import ToolassayError

SEED = 1


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return sandbox_of(draw_tables(SEED))


@pytest.fixture(scope="module")
def tasks() -> list[GeneratedTask]:
    return draw_tasks(draw_tables(SEED), SEED)


def test_the_proof_of_every_request_leaves_the_sandbox_as_it_was(
    sandbox: Sandbox, tasks: list[GeneratedTask]
) -> None:
    before = sandbox.fork()
    for task in tasks:
        prove_task(sandbox, task)
    assert difference(before, sandbox) == {}


# With seed 463, no visit of the last four days came from one of the sources.
@pytest.mark.parametrize("seed", [SEED, 463])
def test_the_source_of_the_fewest_visits_has_visits(seed: int) -> None:
    tables = draw_tables(seed)
    popular = [task for task in draw_tasks(tables, seed) if task.template == "analytics.popular_source"]
    assert len(popular) == 10
    for task in popular:
        call = parse_call(task.answer[0])
        assert call is not None
        since = date.fromisoformat(call.arguments["time_min"])
        totals = {SOURCES[source]: sum(between(daily(tables, source), since)) for source in SOURCES}
        chosen = totals.pop(call.arguments["value_to_plot"])
        assert chosen > max(totals.values()) if "most" in task.query else 0 < chosen < min(totals.values())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('email.delete_email.func(email_id="99999999")', "no effect"),
        ('email.delete_email.func(nothing="1")', "has no argument"),
        ("__import__('os').getcwd()", "not a call"),
    ],
)
def test_a_call_that_does_not_succeed_is_found(
    sandbox: Sandbox, tasks: list[GeneratedTask], call: str, said: str
) -> None:
    task = next(task for task in tasks if task.template == "email.delete_last" and task.answer)
    with pytest.raises(ToolassayError, match=said):
        prove_task(sandbox, replace(task, answer=(call,)))
