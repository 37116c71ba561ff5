from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.checking import gold
from toolassay.gates import gate_pipeline
from toolassay.gates.critic import TeacherGate
from toolassay.gates.gate import STATES, Finding, State
from toolassay.gates.gate_pipeline import GateFunnel, Inspection, funnel_page, inspect, kind_of
from toolassay.plans.gold import Gold

NAMES = ("one", "two", "three")


class Said:
    """A gate that says what it is told, a state for each line."""

    def __init__(self, name: str, states: list[State]) -> None:
        self.name, self._states = name, states

    def check(self, gold: Gold) -> list[Finding]:
        state = self._states[gold.line]
        return [] if state == "pass" else [Finding(self.name, state, f"{state} of '{gold.line}'")]


@given(st.lists(st.tuples(*[st.sampled_from(STATES)] * 3), max_size=30))
def test_everything_adds_up(states: list[tuple[State, State, State]]) -> None:
    gates = [Said(name, [row[place] for row in states]) for place, name in enumerate(NAMES)]
    funnel = GateFunnel(NAMES)
    for line in range(len(states)):
        funnel.add(next(inspect([gold(line=line)], gates)))
    value = funnel.to_json({}, "")
    assert value["input"] == sum(value["levels"].values()) == len(states)
    assert all(sum(counted.values()) == len(states) for counted in value["gates"].values())
    rows = value["funnel"]
    assert [row["gate"] for row in rows] == list(NAMES)
    entering = len(states)
    for row in rows:
        assert row["entering"] == entering
        entering = row["leaving"]
        assert row["entering"] - row["reject"] - row["quarantine"] == entering >= 0
    assert entering == value["levels"]["pass"]
    for level in ("reject", "quarantine"):
        assert sum(row[level] for row in rows) == value["levels"][level]


def test_a_doubtful_one_that_a_later_gate_rejects_is_a_reject_of_the_first() -> None:
    gates = [Said("one", ["quarantine", "unknown"]), Said("two", ["reject", "not applicable"])]
    funnel = GateFunnel(NAMES[:2])
    for line in (0, 1):
        funnel.add(next(inspect([gold(line=line)], gates)))
    assert [(row.gate, row.reject, row.quarantine) for row in funnel.rows] == [("one", 1, 1), ("two", 0, 0)]
    assert funnel.reasons == {
        "one": [("quarantine of …", 1), ("unknown of …", 1)],
        "two": [("reject of …", 1)],
    }
    page = funnel_page(funnel, "a:b")
    assert "| one | 2 | 1 | 1 | 0 |" in page
    assert page.endswith("`a:b`\n")


def test_kinds_of_reasons_leave_the_particulars_out() -> None:
    assert kind_of("lacks 'a', 'b' and 'c' at 3.5 <node-7>, says \"x\"") == "lacks … at …, says …"
    assert kind_of("it doesn't fit and isn't known") == "it doesn't fit and isn't known"


@given(st.lists(st.tuples(*[st.sampled_from(STATES)] * 3), max_size=30), st.integers(0, 30))
def test_the_funnels_of_two_parts_add_up_to_that_of_the_whole(
    states: list[tuple[State, State, State]], cut: int
) -> None:
    gates = [Said(name, [row[place] for row in states]) for place, name in enumerate(NAMES)]
    whole, parts = GateFunnel(NAMES), (GateFunnel(NAMES), GateFunnel(NAMES))
    for line in range(len(states)):
        inspection = next(inspect([gold(line=line)], gates))
        whole.add(inspection)
        parts[line >= cut].add(inspection)
    joined = GateFunnel(NAMES)
    for part in parts:
        joined.extend(part)
    assert joined.to_json({}, "") == whole.to_json({}, "")


def test_a_set_keeps_a_bounded_number_of_kinds_of_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_pipeline, "_KINDS", 2)
    whole = GateFunnel(["one"])
    for kinds in ("ab", "bcc", "ca"):
        part = GateFunnel(["one"])
        for kind in kinds:
            found = [Finding("one", "reject", f"it is {kind}")]
            part.add(Inspection(gold(), "reject", {"one": "reject"}, found))
        whole.extend(part)
    assert whole.reasons == {"one": [("it is a", 2), ("it is b", 2)]}


@pytest.mark.parametrize(
    ("states", "judges"), [(["not applicable"] * 2, False), (["not applicable", "unknown"], True)]
)
def test_a_critic_that_judged_no_sample_has_no_row(states: list[State], judges: bool) -> None:
    gates = [Said("id", ["pass", "reject"]), Said(TeacherGate.name, states)]
    funnel = GateFunnel([gate.name for gate in gates])
    for line in (0, 1):
        funnel.add(next(inspect([gold(line=line)], gates)))
    names = ["id", *[TeacherGate.name] * judges]
    assert [row.gate for row in funnel.rows] == list(funnel.to_json({}, "")["gates"]) == names
    assert (TeacherGate.name in funnel_page(funnel, "a:b")) == judges
