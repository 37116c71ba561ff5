"""The proof of a request: it passes for the ground truth, and for nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from toolassay.benchmarks.workbench.generate import GeneratedTask, draw_tables, draw_tasks, sandbox_of
from toolassay.benchmarks.workbench.generate.checks import gaps_of
from toolassay.benchmarks.workbench.generate.checks.lookups import parse_day
from toolassay.benchmarks.workbench.generate.generated_tasks import prove_task
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.sandbox.difference import difference
from toolassay.errors import ToolassayError

SEED = 1


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return sandbox_of(draw_tables(SEED))


@pytest.fixture(scope="module")
def tasks() -> list[GeneratedTask]:
    return draw_tasks(draw_tables(SEED), SEED)


def first(tasks: list[GeneratedTask], template: str, calls: int) -> GeneratedTask:
    return next(task for task in tasks if task.template == template and len(task.answer) == calls)


def test_every_ground_truth_does_what_the_request_says(sandbox: Sandbox, tasks: list[GeneratedTask]) -> None:
    before = sandbox.fork()
    for task in tasks:
        prove_task(sandbox, task)
    assert difference(before, sandbox) == {}


def test_a_source_without_visits_is_no_answer_to_the_fewest_visits() -> None:
    # With this seed no visit of the last four days came from one of the sources.
    tables = draw_tables(463)
    sandbox = sandbox_of(tables)
    popular = [task for task in draw_tasks(tables, 463) if task.template == "analytics.popular_source"]
    assert len(popular) == 10
    for task in popular:
        prove_task(sandbox, task)


def test_one_call_less_or_more_is_found(sandbox: Sandbox, tasks: list[GeneratedTask]) -> None:
    """For every template: what it would take for wrong ground truth to slip through."""
    plot = 'time_min="a", time_max="b", value_to_plot="total_visits", plot_type="bar"'
    extra = f"analytics.create_plot.func({plot})"
    for task in tasks[::5]:
        with pytest.raises(ToolassayError, match=task.id):
            prove_task(sandbox, replace(task, answer=(*task.answer, extra)))
        if task.answer:
            with pytest.raises(ToolassayError, match=task.id):
                prove_task(sandbox, replace(task, answer=task.answer[1:]))


def test_the_truth_of_another_request_is_found(sandbox: Sandbox, tasks: list[GeneratedTask]) -> None:
    for task, other in pairwise(tasks):
        if task.answer != other.answer and task.base_template == other.base_template:
            with pytest.raises(ToolassayError, match=task.id):
                prove_task(sandbox, replace(task, answer=other.answer))


def test_plots_in_another_order_are_found(sandbox: Sandbox, tasks: list[GeneratedTask]) -> None:
    task = first(tasks, "analytics.two_bars", 2)
    with pytest.raises(ToolassayError, match="asks for"):
        prove_task(sandbox, replace(task, answer=task.answer[::-1]))


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
    task = first(tasks, "email.delete_last", 1)
    with pytest.raises(ToolassayError, match=said):
        prove_task(sandbox, replace(task, answer=(call,)))


def test_a_request_that_names_an_unknown_customer_is_refused(
    sandbox: Sandbox, tasks: list[GeneratedTask]
) -> None:
    task = first(tasks, "customers.delete_one", 1)
    query = task.chosen_template.format(customer="Nobody Atall")
    with pytest.raises(ToolassayError, match="0 customers are called Nobody Atall"):
        prove_task(sandbox, replace(task, query=query))


def test_a_request_of_another_wording_is_not_read() -> None:
    with pytest.raises(ValueError, match="not a case of"):
        gaps_of("Meet {a}.", "Meat Mei.")


def test_a_gap_that_comes_twice_has_one_text() -> None:
    with pytest.raises(ValueError, match="not a case of"):
        gaps_of("{a} and {a}.", "Mei and Noor.")


def test_a_wrong_weekday_is_found() -> None:
    with pytest.raises(ValueError, match="no Tuesday, December 4"):
        parse_day("Tuesday, December 4")
