"""Both judges, and the differences of states that they judge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.workplace import ANN, TABLES, Desk
from toolassay.benchmarks.workbench.calls import replay_changes
from toolassay.benchmarks.workbench.judge.result_verdicts import CompatJudge, CompatVerdict
from toolassay.benchmarks.workbench.judge.strict import StateChange, StrictJudge, StrictVerdict
from toolassay.benchmarks.workbench.records import (
    CellChange,
    Records,
    TableDifference,
    difference,
    numbered_rows,
    state_changes,
    state_left,
    state_of,
)
from toolassay.benchmarks.workbench.sandbox import CALENDAR, EMAILS, JUDGED, Sandbox
from toolassay.benchmarks.workbench.tools import call

CALLS = {
    "plot": 'analytics.create_plot.func("a", "b", "total_visits", "bar")',
    "send": 'email.send_email.func(recipient="a@b.c", subject="S", body="B")',
    "send other": 'email.send_email.func(recipient="a@b.c", subject="T", body="B")',
    "delete": 'email.delete_email.func(email_id="00000002")',
    "delete last": 'email.delete_email.func(email_id="00000001")',
    "move": 'project_management.update_task.func("00000000", "board", "Design")',
    "move back": 'project_management.update_task.func("00000000", "board", "Back end")',
    "add": 'customer_relationship_manager.add_customer.func("N", "a@b.c", "Won")',
    "louder": 'calendar.update_event.func("00000001", "event_name", "STAND-UP")',
    "drop": 'customer_relationship_manager.delete_customer.func(customer_id="00000001")',
}
BAD = 'calendar.update_event.func("00000001", "event_name", value="x")'
COLUMN = 'calendar.update_event.func("00000001", "room", "n")'


def verdict(sandbox: Sandbox, calls: str, answer: str, error: str = "") -> StrictVerdict:
    made, wanted = ([CALLS[name] for name in text.split(", ") if name] for text in (calls, answer))
    return StrictJudge(sandbox).verdict(made, tuple(wanted), error=error)


@pytest.mark.parametrize(
    ("calls", "answer"),
    [
        ("", ""),
        ("send, delete", "delete, send"),
        ("send other, send", "send, send other"),
        ("drop, add", "add, drop"),
        ("delete last, send", "send, delete last"),
        ("move, move back", ""),
        ("move, move", "move"),
    ],
)
def test_order_labels_and_ways_do_not_count(sandbox: Sandbox, calls: str, answer: str) -> None:
    found = verdict(sandbox, calls, answer)
    assert found.correct and not found.side_effects


def test_credit_is_partial_and_side_effects_are_named(sandbox: Sandbox) -> None:
    found = verdict(sandbox, "send, plot, drop", "send, delete")
    assert not found.correct
    assert (found.wanted_made, found.made_wanted) == (1 / 2, 1 / 3)
    assert set(found.unwanted) == {
        StateChange("plots", "new", None, (("file_path", "plots/a_b_total_visits_bar.png"),)),
        StateChange("customers", "gone", "00000001"),
    }
    assert found.missing == (StateChange("emails", "gone", "00000002"),)
    told = found.to_json()
    assert told["unwanted_count"] == 2
    assert {"table": "customers", "change": "gone", "id": "00000001", "cells": {}} in told["unwanted"]


def test_an_error_is_never_correct(sandbox: Sandbox) -> None:
    found = verdict(sandbox, "send", "send", error="stopped")
    assert not found.correct and not found.side_effects and found.wanted_made == 1


@given(
    st.lists(st.sampled_from(sorted(CALLS)), max_size=5), st.lists(st.sampled_from(sorted(CALLS)), max_size=5)
)
def test_what_is_made_and_what_is_missing_add_up(calls: list[str], answer: list[str]) -> None:
    judge = StrictJudge(Sandbox.of(TABLES))
    made, wanted = [CALLS[name] for name in calls], tuple(CALLS[name] for name in answer)
    found = judge.verdict(made, wanted)
    assert found.made_count - len(found.unwanted) == found.wanted_count - len(found.missing)
    assert found.correct == (not found.unwanted and not found.missing)
    assert judge.verdict(wanted, wanted).correct


def test_rows_gone_and_new_and_cells_changed(sandbox: Sandbox) -> None:
    desk = Desk(sandbox.fork())
    desk("project_management.delete_task", task_id="00000000")
    desk("project_management.update_task", task_id="00000001", field="board", new_value="Front end")
    desk("analytics.create_plot", time_min="a", time_max="b", value_to_plot="total_visits", plot_type="bar")
    found = difference(sandbox, desk.sandbox)
    assert set(found) == {"tasks", "plots"}
    assert found["tasks"] == TableDifference(
        gone=[("00000000", "Fix login", ANN, "Backlog", "2023-12-01", "Back end")],
        changed=[CellChange("00000001", "board", "Design", "Front end")],
    )
    assert found["plots"].new == [{"file_path": "plots/a_b_total_visits_bar.png"}]


def test_a_row_made_after_one_with_its_id_was_removed_is_a_new_row(sandbox: Sandbox) -> None:
    desk = Desk(sandbox.fork())
    desk("calendar.delete_event", event_id="00000002")
    made = desk("calendar.create_event", event_name="x", participant_email="y", event_start="z", duration="1")
    assert made == "00000002"
    found = difference(sandbox, desk.sandbox)["calendar_events"]
    assert [cells[0] for cells in found.gone] == ["00000002"]
    assert [row["event_name"] for row in found.new] == ["x"]
    assert not found.changed


def test_an_added_column_is_a_change_of_each_row(sandbox: Sandbox) -> None:
    desk = Desk(sandbox.fork())
    desk("calendar.update_event", event_id="00000001", field="room", new_value="A")
    assert difference(sandbox, desk.sandbox)["calendar_events"].changed == [
        CellChange("00000001", "room", None, "A"),
        CellChange("00000000", "room", None, "n"),
        CellChange("00000002", "room", None, "n"),
    ]


def test_state_changes_have_label_and_position(sandbox: Sandbox) -> None:
    desk = Desk(sandbox.fork())
    desk("email.delete_email", email_id="00000002")
    changes = state_changes(state_of(sandbox), state_of(desk.sandbox))
    assert changes == {
        "email": {
            "columns": None,
            "n_rows": 2,
            "first_label": 1,
            "last_label": 2,
            "labels_are_0_to_n_minus_1": False,
            "gone": [[0, list(TABLES["emails"][0])]],
            "new": [],
        }
    }


@given(st.lists(st.sampled_from(["00000000", "00000001", "00000002", "3"]), max_size=6))
def test_a_difference_accounts_for_every_row(ids: list[str]) -> None:
    sandbox = Sandbox.of(TABLES)
    after = sandbox.fork()
    for mail in ids:
        call(after, "email.delete_email", {"email_id": mail})
        call(after, "email.forward_email", {"email_id": "00000001", "recipient": "a@b.c"})
    found = difference(sandbox, after).get("emails", TableDifference())
    count = len(sandbox.rows("emails")) - len(found.gone) + len(found.new)
    assert count == len(after.rows("emails"))


@given(runs=st.lists(st.lists(st.sampled_from([*CALLS.values(), BAD, COLUMN]), max_size=5), max_size=4))
@pytest.mark.parametrize("overwrites", [True, False])
def test_a_watched_sandbox_shows_what_a_copy_does_and_is_then_as_before(
    runs: list[list[str]], overwrites: bool
) -> None:
    sandbox = Sandbox.of(TABLES)
    watched, before = sandbox.watched(overwrites=overwrites), state_of(sandbox)
    rows = {str(table.domain): numbered_rows(sandbox, table) for table in JUDGED}
    for calls in runs:
        copy = sandbox.fork(overwrites=overwrites)
        replay_changes(copy, calls)
        with watched.undone() as after:
            replay_changes(after, calls)
            assert difference(sandbox, after) == difference(sandbox, copy)
            left = {str(table.domain): state_left(after, table, rows[str(table.domain)]) for table in JUDGED}
            assert left == state_of(copy)
            assert Records(after, EMAILS).all() == Records(copy, EMAILS).all()
        assert state_of(watched) == before
        assert Records(watched, CALENDAR).all() == Records(sandbox, CALENDAR).all()


def test_a_table_that_changed_in_any_way_is_compared(sandbox: Sandbox) -> None:
    first = sandbox.fork()
    Desk(first)("email.delete_email", email_id="00000000")
    second = first.fork()
    second.connection.execute("UPDATE tasks SET board = 'Other'")
    assert set(difference(second, first)) == {"tasks"}
    assert set(difference(sandbox, second)) == {"emails", "tasks"}
    assert set(difference(first, second, {"project_management"})) == {"tasks"}
    assert difference(first, second, {"email"}) == difference(second, second.fork()) == {}
    with pytest.raises(ValueError, match="stop"), second.transaction():
        second.connection.execute("DELETE FROM customers")
        raise ValueError("stop")
    assert set(difference(first, second)) == {"tasks"}


RIGHT, WRONG, HARMFUL = CompatVerdict(True, False), CompatVerdict(False, False), CompatVerdict(False, True)
PLOT = 'analytics.create_plot.func(time_min="a", time_max="b", value_to_plot="total_visits", plot_type="{}")'
SEND = 'email.send_email.func(recipient="{}", subject="S", body="{}")'
DELETE = 'email.delete_email.func(email_id="{}")'
CREATE = 'calendar.create_event.func(event_name="{}", participant_email="a", event_start="b", duration="30")'
MOVE = 'project_management.update_task.func(task_id="00000000", field="{}", new_value="{}")'


def compat_verdict(sandbox: Sandbox, calls: list[str], answer: list[str], error: str = "") -> CompatVerdict:
    return CompatJudge(sandbox).verdict(calls, tuple(answer), error=error)


def test_the_state_counts_and_not_the_path(sandbox: Sandbox) -> None:
    way = [MOVE.format("board", "Front end"), MOVE.format("board", "Design"), "nonsense", 'a.b.func(c="d")']
    assert compat_verdict(sandbox, way, [MOVE.format("board", "Design")]) == RIGHT
    assert compat_verdict(sandbox, [], []) == RIGHT
    assert compat_verdict(sandbox, [], [PLOT.format("bar")]) == WRONG
    assert compat_verdict(sandbox, [PLOT.format("bar")], []) == HARMFUL


def test_case_does_not_count_but_where_values_are_fixed(sandbox: Sandbox) -> None:
    assert compat_verdict(sandbox, [SEND.format("A@B.C", "Hello")], [SEND.format("a@b.c", "HELLO")]) == RIGHT
    add = 'customer_relationship_manager.add_customer.func(customer_name="N", assigned_to_email="a", status="'
    assert compat_verdict(sandbox, [f'{add}lead")'], [f'{add}Lead")']) == HARMFUL


def test_labels_count(sandbox: Sandbox) -> None:
    # Sent first, the mail keeps the label 3; sent after the deletion, it replaces the mail labelled 2.
    both = [SEND.format("a@b.c", "x"), DELETE.format("00000002")]
    assert compat_verdict(sandbox, both, both) == RIGHT
    assert compat_verdict(sandbox, both[::-1], both) == HARMFUL
    made = [CREATE.format("E"), 'calendar.delete_event.func(event_id="00000001")']
    assert compat_verdict(sandbox, made[::-1], made) == RIGHT


def test_columns_that_were_added_count(sandbox: Sandbox) -> None:
    event = 'calendar.update_event.func(event_id="00000000", field="{}", new_value={})'
    room = event.format("room", '"A1"')
    assert compat_verdict(sandbox, [room], [room]) == RIGHT
    assert compat_verdict(sandbox, [event.format("room", '"a1"')], [room]) == RIGHT
    assert compat_verdict(sandbox, [event.format("place", '"A1"')], [room]) == HARMFUL
    assert compat_verdict(sandbox, [event.format("room", "5")], [event.format("room", "6")]) == HARMFUL
