"""From a request to calls: one rule a kind of work. What no rule fits is left alone."""

from __future__ import annotations

import json
from collections.abc import Sequence

from toolassay.models import ChatResponse, ToolCall
from toolassay.offline.agent.conditions import holds
from toolassay.offline.agent.desk import Made, Steps, everybody
from toolassay.offline.agent.reading import Reading, people_in
from toolassay.offline.agent.work import crm, mail, meetings, plots, projects, several
from toolassay.offline.tasks import AgentTask

_DONE = "Done."


def next_turn(task: AgentTask) -> ChatResponse:
    """What the agent says next. It forgets everything between turns and thinks again from the start."""
    steps = _carry_out(task)
    told = list(task.observations)
    try:
        wanted = next(steps)
        while len(told) >= len(wanted):
            before, told = told[: len(wanted)], told[len(wanted) :]
            wanted = steps.send(before)
    except StopIteration:
        return _say(task, _DONE)
    # A `next` that finds nothing inside a generator comes out as a RuntimeError.
    except (LookupError, ValueError, TypeError, AttributeError, RuntimeError):
        return _say(task, "I do not know how to do that.")
    return _call(task, wanted[len(told) :])


def _carry_out(task: AgentTask) -> Steps[None]:
    people = people_in(task.request, (yield from everybody()))
    reading = Reading(task.request, task.now, people)
    condition = yield from holds(reading)
    for rule in (plots.calls, several.calls, projects.calls, crm.calls, mail.calls, meetings.calls):
        made = yield from rule(reading, condition)
        if made is not None:
            if made:
                yield made
            return


def _call(task: AgentTask, made: Sequence[Made]) -> ChatResponse:
    if task.react:
        name, arguments = made[0]
        return ChatResponse(_block(name, arguments))
    calls = [
        ToolCall(f"call_{len(task.observations) + place}", name.replace(".", "__"), json.dumps(arguments))
        for place, (name, arguments) in enumerate(made)
    ]
    return ChatResponse("", "tool_calls", tool_calls=tuple(calls))


def _say(task: AgentTask, text: str) -> ChatResponse:
    return ChatResponse(_block("Final Answer", text) if task.react else text)


def _block(name: str, given: object) -> str:
    action = json.dumps({"action": name, "action_input": given}, ensure_ascii=False)
    return f"Action:\n```\n{action}\n```"
