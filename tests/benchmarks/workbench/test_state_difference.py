from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workplace import ANN, TABLES, Desk

from toolassay.benchmarks.workbench.records import (
    CellChange,
    TableDifference,
    difference,
    state_changes,
    state_of,
)
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import call


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


def test_a_table_that_changed_in_any_way_is_compared(sandbox: Sandbox) -> None:
    first = sandbox.fork()
    Desk(first)("email.delete_email", email_id="00000000")
    second = first.fork()
    second.connection.execute("UPDATE tasks SET board = 'Other'")
    assert set(difference(second, first)) == {"tasks"}
    assert set(difference(sandbox, second)) == {"emails", "tasks"}
    assert set(difference(first, second)) == {"tasks"}
    assert difference(second, second.fork()) == {}
    with pytest.raises(ValueError, match="stop"), second.transaction():
        second.write("customers", "DELETE FROM customers")
        raise ValueError("stop")
    assert set(difference(first, second)) == {"tasks"}
