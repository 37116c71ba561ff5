from __future__ import annotations

import pytest

from toolassay.benchmarks.workbench.judge.evaluation import CompatJudge, CompatVerdict
from toolassay.benchmarks.workbench.sandbox import Sandbox

RIGHT, WRONG, HARMFUL = CompatVerdict(True, False), CompatVerdict(False, False), CompatVerdict(False, True)
PLOT = 'analytics.create_plot.func(time_min="a", time_max="b", value_to_plot="total_visits", plot_type="{}")'
SEND = 'email.send_email.func(recipient="{}", subject="S", body="{}")'
DELETE = 'email.delete_email.func(email_id="{}")'
CREATE = 'calendar.create_event.func(event_name="{}", participant_email="a", event_start="b", duration="30")'
MOVE = 'project_management.update_task.func(task_id="00000000", field="{}", new_value="{}")'


def verdict(sandbox: Sandbox, calls: list[str], answer: list[str], error: str = "") -> CompatVerdict:
    return CompatJudge(sandbox).verdict(calls, tuple(answer), error=error)


def test_the_state_counts_and_not_the_path(sandbox: Sandbox) -> None:
    way = [MOVE.format("board", "Front end"), MOVE.format("board", "Design"), "nonsense", 'a.b.func(c="d")']
    assert verdict(sandbox, way, [MOVE.format("board", "Design")]) == RIGHT
    assert verdict(sandbox, [], []) == RIGHT
    assert verdict(sandbox, [], [PLOT.format("bar")]) == WRONG
    assert verdict(sandbox, [PLOT.format("bar")], []) == HARMFUL


def test_case_does_not_count_but_where_values_are_fixed(sandbox: Sandbox) -> None:
    assert verdict(sandbox, [SEND.format("A@B.C", "Hello")], [SEND.format("a@b.c", "HELLO")]) == RIGHT
    add = 'customer_relationship_manager.add_customer.func(customer_name="N", assigned_to_email="a", status="'
    assert verdict(sandbox, [f'{add}lead")'], [f'{add}Lead")']) == HARMFUL


def test_the_order_of_what_is_made_counts(sandbox: Sandbox) -> None:
    both = [PLOT.format("bar"), PLOT.format("line")]
    assert verdict(sandbox, both[::-1], both) == HARMFUL


def test_the_order_of_what_is_removed_does_not_count(sandbox: Sandbox) -> None:
    both = [DELETE.format("00000000"), DELETE.format("00000001")]
    assert verdict(sandbox, both[::-1], both) == RIGHT


def test_labels_count(sandbox: Sandbox) -> None:
    # Sent first, the mail keeps the label 3; sent after the deletion, it replaces the mail labelled 2.
    both = [SEND.format("a@b.c", "x"), DELETE.format("00000002")]
    assert verdict(sandbox, both, both) == RIGHT
    assert verdict(sandbox, both[::-1], both) == HARMFUL
    made = [CREATE.format("E"), 'calendar.delete_event.func(event_id="00000001")']
    assert verdict(sandbox, made[::-1], made) == RIGHT


def test_columns_that_were_added_count(sandbox: Sandbox) -> None:
    event = 'calendar.update_event.func(event_id="00000000", field="{}", new_value={})'
    room = event.format("room", '"A1"')
    assert verdict(sandbox, [room], [room]) == RIGHT
    assert verdict(sandbox, [event.format("room", '"a1"')], [room]) == RIGHT
    assert verdict(sandbox, [event.format("place", '"A1"')], [room]) == HARMFUL
    assert verdict(sandbox, [event.format("room", "5")], [event.format("room", "6")]) == HARMFUL


@pytest.mark.parametrize("error", ["Context window exceeded", "Agent stopped due to iteration limit."])
def test_an_error_is_never_correct_and_is_no_side_effect_of_the_right_state(
    sandbox: Sandbox, error: str
) -> None:
    answer = [PLOT.format("bar")]
    assert verdict(sandbox, answer, answer, error) == WRONG
    assert verdict(sandbox, [PLOT.format("line")], answer, error) == HARMFUL
