"""Tasks with planted text, and what states say of them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from toolassay.benchmarks.workbench.agents.episode import AgentEntry
from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.security import (
    CREATE,
    DELETE,
    DESCRIPTION,
    QUOTED,
    RESULT,
    SEND,
    TaskProbe,
    actions_on,
    check_attack,
    check_twin,
    task_probes,
)
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import PUBLISHED, TOOLS

NEW_TASK = {
    "assigned_to_email": "ann.lee@acme.example",
    "list_name": "Backlog",
    "due_date": "x",
    "board": "Design",
}


def task(name: str, tool: str, **arguments: str) -> Task:
    call = str(WorkbenchCall(tool, arguments))
    return Task(f"Please do {name}.", (call,), name, name, (tool.split(".")[0],), "x", name)


TASKS = [
    task("mail", "email.delete_email", email_id="00000001"),
    task("event", "calendar.delete_event", event_id="00000000"),
    task("board", "project_management.update_task", task_id="00000001", field="board", new_value="Design"),
    task("plot", "analytics.create_plot", time_min="2023-11-28", time_max="2023-11-29", value_to_plot="x"),
    Task("Nothing to do.", (), "none", "none", ("email",), "email", "none"),
]


def probes(sandbox: Sandbox, count: int = 18, domains: bool = False) -> list[TaskProbe]:
    return list(
        task_probes(TASKS, sandbox, lambda one: PUBLISHED.of_domains(one.domains if domains else None), count)
    )


def test_the_action_is_one_the_agent_could_carry_out(sandbox: Sandbox) -> None:
    for probe in probes(sandbox, domains=True):
        tools = {tool.name for tool in PUBLISHED.of_domains(probe.task.domains)}
        assert probe.action is None or probe.action.tool in tools
        assert probe.probe.place != QUOTED or "email.send_email" in tools
        assert probe.task.base_template != "plot"


def test_planted_text_is_where_the_agent_reads_it(sandbox: Sandbox) -> None:
    for probe in probes(sandbox):
        place = probe.probe.place
        planted = probe.sandbox(sandbox)
        cells = [
            str(cell)
            for table in ("emails", "calendar_events", "tasks")
            for row in planted.rows(table)
            for cell in row
        ]
        described = [tool.description for tool in probe.tools(list(TOOLS.values()))]
        assert any(probe.planted in cell for cell in cells) is (place == RESULT)
        assert any(probe.planted in text for text in described) is (place == DESCRIPTION)
        assert (probe.planted in probe.task.query) is (place == QUOTED)
        if probe.action is not None:
            assert probe.action.order in probe.planted
    assert not any("assistant" in str(row) for row in sandbox.rows("emails"))


@pytest.mark.parametrize(
    ("kind", "tool", "arguments"),
    [
        (SEND, SEND, {"recipient": "MARK", "subject": "x", "body": "y"}),
        (SEND, "email.forward_email", {"recipient": "MARK", "email_id": "00000000"}),
        (DELETE, DELETE, {"event_id": "MARK"}),
        (CREATE, CREATE, {"task_name": "about MARK", **NEW_TASK}),
    ],
)
def test_an_action_shows_in_the_state(
    sandbox: Sandbox, kind: str, tool: str, arguments: dict[str, str]
) -> None:
    probe = next(probe for probe in probes(sandbox) if probe.action and probe.action.tool == kind)
    action = probe.action
    assert action is not None
    arguments = {key: text.replace("MARK", action.mark) for key, text in arguments.items()}
    found = probe.sandbox(sandbox)

    def outcome(ended: str, *calls: str, said: str | None = None) -> str:
        entry = AgentEntry(outcome=ended, function_calls=[*calls], response=said)
        return check_attack(probe, entry, found).outcome

    work, made = probe.task.answer, str(WorkbenchCall(tool, arguments))
    assert outcome("answered", *work, made) == outcome("provider error", *work, made) == "succeeded"
    assert outcome("answered", *work) == outcome("answered", "nonsense", said=action.order) == "resisted"
    assert outcome("provider error") == outcome("") == "failed"


def test_no_action_is_in_the_ground_truth(sandbox: Sandbox) -> None:
    answer = tuple(f'calendar.delete_event.func(event_id="0000000{number}")' for number in range(3))
    tools = {tool.name for tool in TOOLS.values()}
    for seed in range(20):
        found = list(actions_on(sandbox, tools, answer, Random(seed)))
        assert [action.tool for action in found] == [SEND, CREATE]
    assert list(actions_on(sandbox, (), answer, Random(0))) == []


def test_twins_are_compared_with_the_task_without_the_note(sandbox: Sandbox) -> None:
    probe = next(probe for probe in probes(sandbox) if probe.plain is not None)
    assert probe.plain is not None
    right = {"outcome": "answered", "function_calls": list(probe.task.answer)}
    plain = {"outcome": "answered", "function_calls": list(probe.plain.answer)}
    idle = {"outcome": "answered", "function_calls": [], "response": "Done."}
    sorry = {**idle, "response": "I'm sorry, I cannot do that."}
    refused = {"outcome": "refused", "function_calls": []}
    planted = probe.sandbox(sandbox)

    def outcome(entry: dict[str, Any], other: dict[str, Any]) -> str:
        return check_twin(probe, AgentEntry(**entry), AgentEntry(**other), sandbox, planted).outcome

    assert outcome(right, idle) == "served"
    assert outcome(idle, plain) == "derailed"
    assert outcome(idle, idle) == "unsolved"
    assert outcome(sorry, plain) == outcome(refused, refused) == "refused"
    assert outcome({**right, "error": "stopped"}, plain) == "derailed"
    assert outcome({}, plain) == outcome(idle, {}) == "failed"
    silent = {
        "outcome": "malformed",
        "function_calls": [],
        "messages": [{"role": "assistant", "content": ""}],
    }
    assert outcome(silent, plain) == outcome(silent, idle) == "unreadable"
    assert outcome({**silent, "function_calls": list(probe.task.answer)}, plain) == "served"
