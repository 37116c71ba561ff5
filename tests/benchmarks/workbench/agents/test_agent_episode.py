"""The loop between a model and the tools, with models that say what a script says."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.answering import Scripted, ask_of
from toolassay.benchmarks.workbench.agents.episode import (
    NO_ANSWER,
    ToolExecutor,
    WorkbenchAgentSettings,
    WorkbenchTasks,
)
from toolassay.benchmarks.workbench.judge.error_classes import ITERATION_LIMIT
from toolassay.benchmarks.workbench.judge.strict import StrictJudge
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import TOOLS
from toolassay.errors import UsageError
from toolassay.models import ChatResponse, ModelError, ToolCall
from toolassay.models.errors import TIME_LIMIT

DELETE = 'calendar.delete_event.func(event_id="00000000")'
TASK = Task("Cancel it.", (DELETE,), "t", "t", ("calendar",), "calendar", "calendar-001")


def wants(*calls: tuple[str, Any], ids: Sequence[str] = ()) -> ChatResponse:
    made = [
        ToolCall(ids[n] if ids else f"c{n}", name, given if isinstance(given, str) else json.dumps(given))
        for n, (name, given) in enumerate(calls)
    ]
    return ChatResponse("", "tool_calls", tool_calls=tuple(made), seconds=1.0)


def action(name: str, given: Any) -> ChatResponse:
    return ChatResponse(
        f"Thought: so.\nAction:\n```\n{json.dumps({'action': name, 'action_input': given})}\n```"
    )


def run(
    sandbox: Sandbox, *says: ChatResponse | ModelError, **settings: Any
) -> tuple[dict[str, Any], dict[str, Any], Scripted]:
    model = Scripted(*says)
    work = WorkbenchTasks(WorkbenchAgentSettings(**settings), {"temperature": 0}, lambda: sandbox)
    entry = msgspec.to_builtins(asyncio.run(work.answer(TASK, ask_of(model, key=TASK.id))))
    end: dict[str, Any] = {
        name: entry[name] for name in ("outcome", "response", "error", "limit") if name in entry
    }
    told = (one["content"] for one in entry["messages"][2:] if one["role"] != "assistant")
    return end, {**entry, "observations": [text.removeprefix("Observation: ") for text in told]}, model


def test_calls_run_and_their_results_are_sent_until_the_final_answer(sandbox: Sandbox) -> None:
    before = sandbox.image()
    end, progress, model = run(
        sandbox,
        wants(
            ("calendar__search_events", {"query": "budget"}),
            ("calendar.delete_event", {"event_id": "00000000"}),
        ),
        wants(("calendar__search_events", {"query": "budget"})),
    )
    assert end == {"outcome": "answered", "response": "Done.", "error": ""}
    assert progress["function_calls"][1] == DELETE
    assert "Budget review" in progress["observations"][0]
    assert progress["observations"][1:] == ["Event deleted successfully.", "No events found."]
    roles = [message["role"] for message in model.asked[-1].messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "tool"]
    assert model.asked[0].role == "agent" and model.asked[0].item == "calendar-001"
    assert len(model.asked[0].parameters["tools"]) == 27 and model.asked[0].parameters["temperature"] == 0
    assert sandbox.image() is before
    assert StrictJudge(sandbox).verdict(progress["function_calls"], TASK.answer).correct


def test_react_does_one_action_an_answer(sandbox: Sandbox) -> None:
    end, progress, model = run(
        sandbox,
        ChatResponse(action("calendar.delete_event", {"event_id": "00000000"}).text + "\nObservation: mine"),
        ChatResponse("```json\nno json\n```"),
        ChatResponse('```\n["neither"]\n```'),
        action("calendar.fly", {}),
        action("Final Answer", "Done so."),
        agent="react",
        toolkit="domains",
    )
    assert end["response"] == "Done so."
    assert progress["function_calls"] == [DELETE, "calendar.fly.func()"]
    assert progress["observations"][0] == "Event deleted successfully."
    assert all(text.startswith("Error: ") for text in progress["observations"][1:])
    system = model.asked[0].messages[0]["content"]
    assert "calendar.delete_event(event_id" in system and "email." not in system
    assert "mine" not in model.asked[1].messages[2]["content"]
    assert model.asked[1].messages[3] == {
        "role": "user",
        "content": "Observation: Event deleted successfully.",
    }


@pytest.mark.parametrize("body", ['say "yes"', "back\\slash", "both ' and \"", "ä \U0001f600"])
def test_what_is_recorded_does_what_was_done(sandbox: Sandbox, body: str) -> None:
    given = {"recipient": "ann.lee@acme.example", "subject": "S", "body": body}
    _, progress, _ = run(sandbox, wants(("email__send_email", given)))
    verdict = StrictJudge(sandbox).verdict(progress["function_calls"], ())
    (change,) = verdict.unwanted
    assert dict(change.cells)["body"] == body.lower()


def test_limits_end_an_episode_with_its_calls_kept(sandbox: Sandbox) -> None:
    again = [wants(("calendar__search_events", {})) for _ in range(9)]
    end, progress, model = run(sandbox, *again, max_steps=3)
    assert (end["outcome"], end["error"], len(progress["function_calls"])) == ("answered", ITERATION_LIMIT, 3)
    assert end["limit"] == "steps"
    end, _, model = run(sandbox, *again, max_seconds=2.0)
    assert end["error"] == ITERATION_LIMIT and len(model.asked) == 2
    assert end["limit"] == "time" and "limit" not in run(sandbox)[0]


@pytest.mark.parametrize("answers", [0, 2])
def test_an_answer_that_takes_too_long_ends_the_task_and_what_was_done_counts(
    sandbox: Sandbox, answers: int
) -> None:
    said = [wants(("calendar__search_events", {})) for _ in range(answers)]
    end, progress, _ = run(sandbox, *said, ModelError("no answer", kind=TIME_LIMIT))
    assert end == {"outcome": "answered", "response": "", "error": ITERATION_LIMIT, "limit": "time"}
    assert (progress["steps"], len(progress["function_calls"])) == (answers, answers)


def test_a_run_that_called_nothing_is_tried_again(sandbox: Sandbox) -> None:
    says = (ChatResponse("I am sorry."), wants(("calendar__delete_event", {"event_id": "00000000"})))
    end, progress, model = run(sandbox, *says, resample=2)
    assert end["response"] == "Done." and progress["function_calls"] == [DELETE]
    assert len(model.asked[1].messages) == 2
    end, _, model = run(sandbox, resample=2, resample_temperature=0.9)
    assert [request.parameters.get("temperature") for request in model.asked] == [0, 0.9, 0.9]


def test_refusals_and_empty_answers(sandbox: Sandbox) -> None:
    assert run(sandbox, ChatResponse("no", refused=True))[0]["outcome"] == "refused"
    assert run(sandbox, ChatResponse(" "))[0] == {"outcome": "malformed", "response": " ", "error": NO_ANSWER}


@pytest.mark.parametrize("agent", ["native", "react", "react_published"])
def test_what_the_server_sent_beside_an_answer_goes_back_with_it_after_an_interrupt_too(
    sandbox: Sandbox, agent: str, tmp_path: Path
) -> None:
    extra = {"thoughts": "hm", "extra": [1], "content": [{"type": "thinking", "signature": "c2ln"}]}
    call = ToolCall(
        "c0", "calendar__delete_event", '{"event_id": "0"}', {"mark": {"a": 1}, "function": {"b": 2}}
    )
    said = replace(action("calendar.delete_event", {"event_id": "0"}), extra=extra)
    if agent == "native":
        said = ChatResponse("", tool_calls=(call,), extra=extra)
    first = Scripted(said, ModelError("gone", transient=True))
    other = Scripted()
    work = WorkbenchTasks(WorkbenchAgentSettings(agent=agent), {}, lambda: sandbox)
    with pytest.raises(ModelError):
        asyncio.run(work.answer(TASK, ask_of(first, tmp_path)))
    (tmp_path / "again").mkdir()
    shutil.copy(tmp_path / "journal.jsonl", tmp_path / "again")  # a file that no other process writes
    asyncio.run(work.answer(TASK, ask_of(other, tmp_path / "again")))
    sent = [model.asked[-1].messages[2] for model in (first, other)]
    assert sent[0] == sent[1]
    calls = sent[0].pop("tool_calls", None)  # type: ignore[attr-defined]
    assert sent[0] == {"role": "assistant", **extra}
    function = {"name": "calendar__delete_event", "arguments": call.arguments, "b": 2}
    told = [{"id": "c0", "type": "function", "mark": {"a": 1}, "function": function}]
    assert calls == (told if agent == "native" else None)


def test_settings_that_do_not_exist() -> None:
    with pytest.raises(UsageError, match="unknown --agent 'magic'"):
        WorkbenchAgentSettings(agent="magic")
    with pytest.raises(UsageError, match="max_steps"):
        WorkbenchAgentSettings(max_steps=0)
    for seconds in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(UsageError, match="--max_seconds"):
            WorkbenchAgentSettings(max_seconds=seconds)


MAIL = {"recipient": "ann.lee@acme.example", "subject": "Hello", "body": "x" * 9_000}


def do(hands: ToolExecutor, name: str, **arguments: Any) -> str:
    return hands.execute(ToolCall("c", name, json.dumps(arguments)))


def test_what_was_done_is_there_after_a_rest(sandbox: Sandbox) -> None:
    before = sandbox.image()
    hands = ToolExecutor(sandbox, TOOLS.values())
    made = [do(hands, "email.send_email", **MAIL) for _ in range(3)]
    hands.set_aside()
    event = {"event_name": "Talk", "participant_email": "a@b.c", "event_start": "2023-12-01 09:00:00"}
    number = do(hands, "calendar.create_event", **event, duration="30")
    hands.set_aside()
    assert "Talk" in do(hands, "calendar.search_events", query="talk")
    hands.set_aside()
    changed = do(hands, "calendar.update_event", event_id=number, field="event_name", new_value="Walk")
    hands.set_aside()
    assert "Walk" in do(hands, "calendar.search_events", query="walk")
    assert len(made) == 3 and changed == "Event updated successfully."
    assert do(hands, "email.search_emails", query="hello").count('"subject": "Hello"') == 3
    hands.close()
    assert sandbox.image() is before
