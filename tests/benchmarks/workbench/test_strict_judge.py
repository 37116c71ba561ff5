from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workplace import TABLES

from toolassay.benchmarks.workbench.judge.evaluation import (
    BESIDE,
    ORDER,
    REVERSED,
    UNFINISHED,
    CompatVerdict,
    disagreement,
)
from toolassay.benchmarks.workbench.judge.strict import StateChange, StrictJudge, StrictVerdict
from toolassay.benchmarks.workbench.sandbox import Sandbox

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


def test_a_second_time_is_a_side_effect(sandbox: Sandbox) -> None:
    found = verdict(sandbox, "send, send", "send")
    assert [change.kind for change in found.unwanted] == ["new"]


def test_an_error_is_never_correct(sandbox: Sandbox) -> None:
    found = verdict(sandbox, "send", "send", error="stopped")
    assert not found.correct and not found.side_effects and found.wanted_made == 1


def test_the_moment_of_sending_is_compared(sandbox: Sandbox) -> None:
    (change,) = verdict(sandbox, "send", "").unwanted
    assert dict(change.cells)["sent_datetime"] == "2023-11-30 00:00:00"


@given(
    st.lists(st.sampled_from(sorted(CALLS)), max_size=5), st.lists(st.sampled_from(sorted(CALLS)), max_size=5)
)
def test_what_is_made_and_what_is_missing_add_up(calls: list[str], answer: list[str]) -> None:
    judge = StrictJudge(Sandbox.of(TABLES))
    made, wanted = [CALLS[name] for name in calls], tuple(CALLS[name] for name in answer)
    found = judge.verdict(made, wanted)
    assert found.made - len(found.unwanted) == found.wanted - len(found.missing)
    assert found.correct == (not found.unwanted and not found.missing)
    assert judge.verdict(wanted, wanted).correct


@pytest.mark.parametrize(
    ("compat", "unwanted", "missing", "wanted", "reason"),
    [
        ((False, True), 0, 1, 2, UNFINISHED),
        ((False, True), 0, 0, 2, ORDER),
        ((False, True), 0, 0, 0, REVERSED),
        ((True, False), 1, 1, 1, BESIDE),
        ((True, False), 0, 1, 1, BESIDE),
        ((False, True), 1, 1, 1, None),
        ((True, False), 0, 0, 1, None),
    ],
)
def test_each_disagreement_has_its_reason(
    compat: tuple[bool, bool], unwanted: int, missing: int, wanted: int, reason: str | None
) -> None:
    change = StateChange("emails", "gone", "1")
    strict = StrictVerdict(not unwanted and not missing, (change,) * unwanted, (change,) * missing, wanted, 1)
    assert disagreement(CompatVerdict(*compat), strict) == reason
