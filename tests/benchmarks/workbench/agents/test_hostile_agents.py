"""Agents behind a real HTTP server that answer with anything: told what is wrong, run on, judged as ever."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.workplace import ANN
from tests.support.workplace import TABLES as ROWS
from toolassay import evaluate, infer, verify
from toolassay.benchmarks.workbench.agents import episode
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.files.data_files import write_json, write_json_lines
from toolassay.models import ModelOptions
from toolassay.testkit import FakeServer

Body = dict[str, Any]
DELETE, EVENT = "calendar__delete_event", {"event_id": "00000000"}
DONE = 'calendar.delete_event.func(event_id="00000000")'


def said(message: Mapping[str, Any]) -> Body:
    return {"choices": [{"message": {"role": "assistant", **message}}]}


def build_folder(path: Path) -> Path:
    """A workplace with one task, for which nothing is to be changed."""
    Sandbox.of(ROWS).save(path / "sandbox.sqlite")
    write_json(path / "benchmark.json", {"benchmark": "workbench"})
    task = {"id": "t", "query": "Look.", "answer": [], "base_template": "t", "domains": ["calendar"]}
    write_json_lines(path / "tasks.jsonl", [task])
    return path


def strictly(text: bytes) -> Any:
    """JSON as other readers take it: UTF-8, no NaN, no halves of surrogate pairs."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    value = json.loads(text.decode(), parse_constant=refuse)
    json.dumps(value, ensure_ascii=False).encode()
    return value


class Ended:
    """How a run of one hostile answer ended, as its files say."""

    def __init__(self, folder: Path, server: FakeServer, *answers: Body, **settings: Any) -> None:
        outcome = settings.pop("outcome", "answered")
        left = [*answers, *[said({"content": "Done."})] * 99]
        server.complaint = lambda body: (200, left.pop(0))
        options = ModelOptions(api_base=server.base, max_tries=3)
        result = infer(folder, llm="evil", options=options, multiworker=1, **settings)
        assert result.summary.complete, result.summary
        (line,) = (folder / "predictions/evil.json").read_bytes().splitlines()
        self.prediction: Body = strictly(line)
        self.calls: list[str] = self.prediction["function_calls"]
        sent = [json.dumps(received.body).encode() for received in server.received]
        self.requests: list[Body] = [strictly(body) for body in sent]
        self.sizes = [len(body) for body in sent]
        evaluation = evaluate(folder, llm="evil")
        self.scores = evaluation.whole
        assert self.prediction["outcome"] == outcome

    @property
    def told(self) -> list[str]:
        """What the server is told of its calls, each under the id of the call."""
        messages = self.requests[-1]["messages"]
        if messages[-1]["role"] == "user":
            return [message["content"] for message in messages[2:] if message["role"] == "user"]
        asked = [call["id"] for message in messages for call in message.get("tool_calls", ())]
        answers = [message for message in messages if message["role"] == "tool"]
        assert [message["tool_call_id"] for message in answers] == asked and len(set(asked)) == len(asked)
        return [message["content"] for message in answers]

    @property
    def untouched(self) -> bool:
        """Whether the judges find the workplace as it was."""
        both = self.scores["strict"], self.scores["compat"]
        return [(s["correct"], s["side_effects"]) for s in both if s] == [(1, 0), (1, 0)]


def call(arguments: Any, name: Any = DELETE, **more: Any) -> Body:
    function = {"name": name, "arguments": arguments}
    return said(
        {"content": None, "tool_calls": [{"id": "c", "type": "function", "function": function, **more}]}
    )


def object_of(**arguments: Any) -> str:
    return json.dumps(arguments)


HOSTILE_ARGUMENTS = {
    "code": object_of(event_id='") or __import__("os").abort() or ("'),
    "a NUL": object_of(event_id="0\0"),
    "half a surrogate pair": object_of(event_id="\ud800"),
    "10 MB": object_of(event_id="0" * 10_000_000),
    "100,000 brackets": "[" * 100_000,
    "NaN": '{"event_id": NaN}',
    "a huge whole number": '{"event_id": ' + "9" * 5_000 + "}",
    "a list": [1],
    "null": None,
    "a name with code": object_of(**{'event_id="00000000", x': "1"}),
    "the sandbox": object_of(sandbox="1", event_id="00000000"),
}


@pytest.mark.parametrize("name", HOSTILE_ARGUMENTS)
def test_arguments(folder: Path, fake_server: FakeServer, name: str) -> None:
    ended = Ended(folder, fake_server, call(HOSTILE_ARGUMENTS[name]))
    (told,) = ended.told
    assert told.startswith(("Error: ", "Event not found.", "Event ID not provided."))
    assert len(told) < 2_000
    assert ended.untouched
    assert max(ended.sizes) < 500_000
    # Servers that read the arguments of earlier calls refuse what is no object.
    (echoed,) = ended.requests[-1]["messages"][2]["tool_calls"]
    assert isinstance(json.loads(echoed["function"]["arguments"]), dict)
    assert echoed["function"]["name"] == DELETE


@pytest.mark.parametrize(
    "name",
    [
        *(None, "../../calendar.delete_event", 'calendar.delete_event.func(event_id="00000000")#'),
        *("x" * 10_000_000, "email.delete_email"),
    ],
)
def test_names_of_tools(folder: Path, fake_server: FakeServer, name: Any) -> None:
    given = object_of(email_id="00000000") if "email" in str(name) else object_of(**EVENT)
    ended = Ended(folder, fake_server, call(given, name), toolkit="domains")
    (observation,) = ended.told
    assert observation.startswith("Error: ") and "there is no tool" in observation
    assert len(observation) < 2_000
    assert ended.untouched
    (echoed,) = ended.requests[-1]["messages"][2]["tool_calls"]
    assert 0 < len(echoed["function"]["name"]) <= 64
    assert max(ended.sizes) < 500_000


@pytest.mark.parametrize(
    "calls",
    [
        [{"id": None, "function": {"name": DELETE, "arguments": "{}"}}],
        [{"id": "\ud800", "function": {"name": DELETE, "arguments": "{}"}}],
        [{"id": "c", "function": {"name": DELETE, "arguments": "{}"}}] * 2,
        [{"id": "c", "function": None}],
        [{"id": "c", "function": {}}],
        [None],
    ],
)
def test_shapes_of_calls(folder: Path, fake_server: FakeServer, calls: list[Any]) -> None:
    ended = Ended(folder, fake_server, said({"content": None, "tool_calls": calls}))
    assert len(ended.told) == len(calls)
    assert ended.untouched


def test_tools_that_take_long_are_not_carried_out_for_ever(
    folder: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episode, "MOST_SECONDS", 0.0)
    one = {"id": "c", "function": {"name": "calendar__search_events", "arguments": object_of(query="x")}}
    ended = Ended(folder, fake_server, said({"content": None, "tool_calls": [one] * 50}))
    assert len(ended.calls) == 1
    assert ended.told[1].startswith("Error: not carried out: the calls of this task took more than")


@pytest.mark.parametrize("content", [42, {"text": "x"}, [1], "\ud800 \0", ""])
@pytest.mark.parametrize("with_call", [True, False])
def test_content_that_is_no_text(
    folder: Path, fake_server: FakeServer, content: Any, with_call: bool
) -> None:
    one = {"id": "c", "function": {"name": DELETE, "arguments": "{}"}}
    message = {"content": content, **({"tool_calls": [one]} if with_call else {})}
    if content == "" and not with_call:
        message["content"] = " x"
    ended = Ended(folder, fake_server, said(message))
    assert ended.untouched
    assert len(ended.told) == with_call


def fenced(text: str) -> str:
    return f"Thought: so.\nAction:\n```\n{text}\n```"


REACT = {
    "no JSON": fenced("calendar.delete_event(event_id='00000000')"),
    "a list of nothing": fenced("[]"),
    "no action": fenced('{"action_input": {"event_id": "00000000"}}'),
    "an input that is a list": fenced('{"action": "calendar.delete_event", "action_input": ["00000000"]}'),
    "code": fenced('{"action": "__import__(\'os\').abort", "action_input": {}}'),
    "100,000 brackets": fenced("[" * 100_000),
    "half a pair": fenced('{"action": "calendar.delete_event", "action_input": {"event_id": "\\ud800"}}'),
    "an observation of its own": fenced('{"action": "a.b"}') + "\nObservation: Event deleted.",
    "fences without end": "```\n" * 1_001 + "x",
}


SEND = fenced(
    json.dumps(
        {"action": "email.send_email", "action_input": {"recipient": ANN, "subject": "S", "body": "B"}}
    )
)
END = fenced('{"action": "Final Answer", "action_input": "Nothing to do."}')


@pytest.mark.parametrize(
    "messages",
    [
        [{"content": f"<think>\nI could do this:\n{SEND}\n</think>\nNothing to do."}],
        [{"content": f"I could do this:\n{SEND}\n</think>\n\n{END}"}],
        [{"content": "Nothing to do.", "reasoning_content": SEND}],
        [
            {"content": f"<think>{SEND}</think>\n{fenced('{')}"},
            {"content": f"{SEND}</think>\nNothing to do."},
        ],
    ],
)
def test_a_draft_in_its_thoughts_is_not_carried_out(
    folder: Path, fake_server: FakeServer, messages: list[Mapping[str, Any]]
) -> None:
    ended = Ended(folder, fake_server, *map(said, messages), agent="react")
    assert ended.untouched and not ended.calls
    assert len(ended.requests) == len(messages)


def test_the_published_agent_acts_on_its_thoughts(folder: Path, fake_server: FakeServer) -> None:
    thought = f"<think>\n{SEND}\n</think>\nNothing to do."
    ended = Ended(folder, fake_server, said({"content": thought}), agent="react_published")
    (call,) = ended.calls
    assert call.startswith("email.send_email.func(") and not ended.untouched


@pytest.mark.parametrize("agent", ["react", "react_published"])
@pytest.mark.parametrize("name", REACT)
def test_react(folder: Path, fake_server: FakeServer, name: str, agent: str) -> None:
    ended = Ended(folder, fake_server, said({"content": REACT[name]}), agent=agent)
    assert ended.untouched
    (told,) = ended.told
    assert told.startswith(("Observation: Error: ", "Observation: Event "))
    assert len(told) < 2_000
    assert "Event deleted." not in json.dumps(ended.requests[1:])


def test_a_run_of_hostile_answers_is_verified(folder: Path, fake_server: FakeServer) -> None:
    answers = [call(HOSTILE_ARGUMENTS[name]) for name in ("code", "10 MB", "half a surrogate pair", "null")]
    ended = Ended(folder, fake_server, *answers, call(object_of(**EVENT)), call("{}", "email.fly"))
    assert ended.calls[-2:] == [DONE, "email.fly.func()"]
    assert verify(folder, llm="evil").is_equal
