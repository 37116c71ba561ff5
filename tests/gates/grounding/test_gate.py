"""What the gate makes of whole plans."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import node
from toolassay.backinstruct.teacher_review import TeacherVerdict
from toolassay.gates.critic import CriticVerdict, TeacherGate
from toolassay.gates.gate import Background, Finding, read_gates, state_of
from toolassay.gates.gate_pipeline import Inspection, inspect, rule_gates, select_gates
from toolassay.gates.grounding import GroundingGate
from toolassay.plans.gold import Gold
from toolassay.records.dataset import read_labels
from toolassay.tools.library import ToolLibrary

LIBRARY = ToolLibrary.from_json(
    {
        "nodes": [
            {
                "id": "forecast",
                "desc": "Weather.",
                "parameters": [
                    {"name": "city", "type": "string"},
                    {"name": "units", "type": "string", "enum": ["metric", "imperial"]},
                    {"name": "hourly", "type": "boolean"},
                    {"name": "days", "type": "integer", "default": 5},
                ],
            },
            {"id": "note", "desc": "Takes a note.", "parameters": [{"name": "text", "type": "string"}]},
        ]
    }
)
GATE = GroundingGate(Background(LIBRARY, "temporal"))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def check(request: str, *nodes: dict[str, Any], links: list[dict[str, str]] | None = None) -> list[Finding]:
    label = {"id": 1, "user_request": request, "task_steps": [], "task_nodes": list(nodes)}
    return GATE.check(Gold.of({**label, "task_links": links or []}))


def forecast(**arguments: Any) -> dict[str, Any]:
    return node("forecast", **arguments)


def test_each_ungrounded_value_is_reported_with_its_place() -> None:
    findings = check(
        "The weather in Oslo", forecast(city="Oslo"), {"task": "note", "arguments": ["x.jpg", "Oslo"]}
    )
    assert [(f.gate, f.state, f.where) for f in findings] == [
        ("grounding", "quarantine", "task_nodes[1].arguments[0]")
    ]
    assert findings[0].reason == "'x.jpg' is not in the request"


def test_there_is_nothing_to_ask_of_a_plan_without_arguments() -> None:
    assert [f.state for f in check("Hello", {"task": "note"})] == ["not applicable"]
    assert check("Hello", {"task": "note", "arguments": []}) == []


def test_references_are_no_values() -> None:
    nodes = (
        forecast(city="Oslo"),
        {"task": "note", "arguments": ["<node-0>", "forecast", {"name": "text", "value": "<node-0>"}]},
    )
    assert check("The weather in Oslo", *nodes) == []


def test_every_value_of_a_list_and_an_object_is_asked_for() -> None:
    findings = check(
        "Note Anna and Bo",
        {"task": "note", "arguments": [["Anna", "Cy"], {"name": "text", "value": {"to": "Di"}}]},
    )
    assert [f.reason for f in findings] == [
        "'Cy' is not in the request",
        "'text': 'Di' is not in the request",
    ]


def test_what_an_earlier_call_gave_is_known() -> None:
    giver = {**forecast(city="Oslo"), "output": {"station": ["KX-77"], "low": -3}}
    taker = {"task": "note", "arguments": ["KX-77", -3]}
    assert check("Weather in Oslo", giver, taker) == []
    assert [f.where for f in check("Weather in Oslo", taker, giver)] == [
        "task_nodes[0].arguments[0]",
        "task_nodes[0].arguments[1]",
    ]
    link = [{"source": "forecast", "target": "note"}]
    assert check("Weather in Oslo", taker, giver, links=link) == []


def test_what_is_decided_rather_than_said_passes() -> None:
    assert check("Weather in Oslo", forecast(city="Oslo", units="metric", hourly=True, days=5)) == []
    assert check("Weather in Oslo", forecast(hourly="false")) == []
    assert [f.state for f in check("Weather in Oslo", forecast(days=6))] == ["quarantine"]


def test_another_value_of_the_same_list_is_not_decided() -> None:
    (finding,) = check("Weather in Oslo, imperial units", forecast(city="Oslo", units="metric"))
    assert (finding.state, finding.where) == ("reject", "task_nodes[0].arguments[1]")
    assert "'imperial'" in finding.reason
    assert state_of(check("Set hourly to false", forecast(hourly=True))) == "reject"


def test_a_choice_that_another_call_has_is_no_contradiction() -> None:
    nodes = forecast(city="Oslo", units="imperial"), forecast(city="Rome", units="metric")
    findings = check("Oslo in imperial units, Rome in the usual ones", *nodes)
    assert [(f.state, f.where) for f in findings] == [("quarantine", "task_nodes[1].arguments[1]")]


@pytest.mark.parametrize("folder", ["data_huggingface", "data_multimedia", "data_dailylifeapis"])
def test_the_projects_own_data_pass(root: Any, folder: str) -> None:
    gate = GroundingGate(Background(ToolLibrary.load(root / folder / "tool_desc.json"), "resource"))
    labels = [Gold.of(line.value, line.number) for line in read_labels(root / folder / "data.json")]
    assert [gold.id for gold in labels if gate.check(gold)] == []


@given(st.text(max_size=60), st.lists(anything, max_size=4), anything)
def test_no_label_breaks_it(request_text: str, arguments: list[Any], output: Any) -> None:
    node = {"task": "note", "arguments": arguments, "output": output}
    for finding in check(request_text, node, forecast(city=request_text)):
        assert finding.reason and "{" + "it}" not in finding.reason


@given(
    st.text(alphabet=st.sampled_from("a1 -/:.,@+()$%'\"é#T"), max_size=40),
    st.text(alphabet="a1 -/:.,@+()$%'T", max_size=40),
)
def test_no_marks_break_it(request_text: str, value: str) -> None:
    check(request_text, {"task": "note", "arguments": [value]})
    assert check(f"Note {value} here", {"task": "note", "arguments": [f"{value} here"]}) == []


@given(
    st.integers(0, 10**12),
    st.sampled_from(["{:d}", "{:,}", "{:d}.00", "$ {:,}", "{:d} %"]),
    st.sampled_from([str, int, "{:,}".format]),
)
def test_a_number_is_known_however_it_is_written(number: int, said: str, written: Any) -> None:
    request = f"Take {said.format(number)} of it, please."
    assert check(request, {"task": "note", "arguments": [written(number)]}) == []
    assert check(request, {"task": "note", "arguments": [written(number + 3)]}) != []


@given(
    st.dates(datetime.date(2000, 1, 1), datetime.date(2099, 12, 31)),
    st.sampled_from(
        ["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%b %d", "%d.%m.%Y", "%m/%d/%Y", "%A, %d of %B %Y"]
    ),
    st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d.%m.%Y", "%a, %d %b %Y"]),
)
def test_a_day_is_known_however_it_is_written(day: datetime.date, said: str, written: str) -> None:
    request = f"Do it on {day.strftime(said)}, please."
    assert check(request, {"task": "note", "arguments": [day.strftime(written)]}) == []
    other = day + datetime.timedelta(days=1 if day.day < 12 else -1)
    if "." not in written and "/" not in said and "." not in said:
        assert check(request, {"task": "note", "arguments": [other.strftime(written)]}) != []


@given(
    st.times(),
    st.sampled_from(["%H:%M", "%I:%M %p", "%I.%M%p"]),
    st.sampled_from(["%H:%M", "%H:%M:00", "%I:%M %p"]),
)
def test_a_time_is_known_however_it_is_written(time: datetime.time, said: str, written: str) -> None:
    request = f"Do it at {time.strftime(said)}, please."
    assert check(request, {"task": "note", "arguments": [time.strftime(written)]}) == []
    other = time.replace(minute=(time.minute + 7) % 60)
    assert check(request, {"task": "note", "arguments": [other.strftime(written)]}) != []


@given(
    st.lists(
        st.sampled_from(["bright", "coral", "reefs", "café", "it's", "well-known", "Ωmega"]),
        min_size=1,
        max_size=6,
    ),
    st.randoms(),
)
def test_a_text_is_known_however_it_is_spelled(words: list[str], random: Any) -> None:
    text = " ".join(words)
    ways = [
        str.upper,
        str.title,
        lambda t: t.replace(" ", "\n"),
        lambda t: f"“{t}”",
        lambda t: t.replace("'", "’"),
    ]
    ways += [
        lambda t: t.replace("é", "e"),
        lambda t: t.replace("-", "‑"),
        lambda t: t.replace("é", "e\u0301"),
    ]
    request = f"Draw {random.choice(ways)(text)}; thanks."
    assert check(request, {"task": "note", "arguments": [text]}) == []
    assert check(request, {"task": "note", "arguments": [f"{text} zeppelin"]}) != []


def test_the_former_name_of_the_gate_is_accepted(tmp_path: Path) -> None:
    gates = rule_gates(Background(LIBRARY, "temporal"))
    assert [gate.name for gate in select_gates(gates, only=["knowability"])] == ["grounding"]
    assert "grounding" not in {gate.name for gate in select_gates(gates, without=["Knowability"])}
    finding = {"gate": "knowability", "state": "reject", "reason": "x", "where": ""}
    line = {"id": "a", "level": "reject", "findings": [finding]}
    (tmp_path / "gates.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert [one.findings[0].gate for one in read_gates(tmp_path / "gates.jsonl")] == ["grounding"]


def inspected(request: str, verdicts: dict[str, TeacherVerdict], **arguments: Any) -> Inspection:
    """The inspection of a plan of one call, with the verdicts of critics."""
    label = {"id": 1, "user_request": request, "task_nodes": [forecast(**arguments)]}
    answers = {name: {1: CriticVerdict(verdict, "", "answered")} for name, verdict in verdicts.items()}
    return next(inspect([Gold.of(label, 1)], [GATE, TeacherGate(answers)]))


def test_a_critic_that_passes_the_sample_releases_what_is_quarantined() -> None:
    found = inspected("Weather in the Big Apple", {"judge": "pass"}, city="New York")
    assert (found.level, found.states["grounding"]) == ("pass", "pass")
    (finding,) = found.findings
    assert (finding.gate, finding.state, finding.author) == ("grounding", "pass", "judge")
    assert finding.reason.endswith(" not in the request; judge confirms it")


@pytest.mark.parametrize(
    "verdicts",
    [{}, {"judge": "fail"}, {"judge": "unknown"}, {"offline": "pass"}, {"judge": "pass", "other": "fail"}],
)
def test_without_a_critic_that_confirms_it_stays_in_quarantine(verdicts: dict[str, TeacherVerdict]) -> None:
    found = inspected("Weather in the Big Apple", verdicts, city="New York")
    assert found.states["grounding"] == "quarantine"


def test_a_critic_never_overrules_a_reject() -> None:
    found = inspected("Weather in Oslo, imperial units", {"judge": "pass"}, city="Oslo", units="metric")
    assert (found.level, found.states["grounding"]) == ("reject", "reject")
