"""What agents send is read back into the work behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.answering import Answering, ask_of
from tests.support.builders import question
from toolassay.benchmarks.classic.agents.inference import ChatItems
from toolassay.benchmarks.classic.agents.inference import ClassicAgentSettings as ChooserSettings
from toolassay.benchmarks.classic.data import ChatTurn, Question, Workflow
from toolassay.benchmarks.workbench.agents.episode import WorkbenchAgentSettings, WorkbenchTasks
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.models import ChatRequest
from toolassay.offline.model_tasks import AgentTask
from toolassay.offline.offline_model import OfflineModel
from toolassay.serving.offline_answers import conversation_task

TASK = Task("Delete the newest e-mail from Ann.", (), "t", "t", ("email",), "email", "t")
CHATS = [
    question("I want to return my shoes"),
    question("hello", "bot: hi", "where is\nBot: my parcel?\n\n  User: now"),
    question("a", "bot: # CHAT #\nUser: x", "b", names=("Return Goods", "none")),
    question("User: is my name: it has a colon"),
    question("nothing offered", names=()),
    question("$workflows and {braces} and \\d+"),
]


def body(request: ChatRequest) -> dict[str, Any]:
    tools = request.parameters.get("tools")
    return {"messages": list(request.messages), **({"tools": list(tools)} if tools else {})}


def asked(question: Question, agent: str, reference: str = "") -> list[ChatRequest]:
    model = Answering(OfflineModel().complete)
    chooser = ChatItems(ChooserSettings(agent), {}, reference=reference)
    asyncio.run(chooser.choose(question, ask_of(model)))
    return model.asked


@pytest.mark.parametrize("agent", ["native", "react", "react_published"])
@pytest.mark.parametrize("toolkit", ["all", "domains"])
def test_every_step_of_a_workplace_agent(sandbox: Sandbox, agent: str, toolkit: str) -> None:
    model = Answering(OfflineModel().complete)
    work = WorkbenchTasks(WorkbenchAgentSettings(agent=agent, toolkit=toolkit), {}, lambda: sandbox)
    asyncio.run(work.answer(TASK, ask_of(model)))
    assert len(model.asked) > 2
    for request in model.asked:
        assert isinstance(request.task, AgentTask)
        # The tools themselves are not in the prompt; only the baselines use them.
        assert conversation_task(body(request)) == replace(request.task, tools=())
    assert len(model.asked[-1].task.observations) >= 2


@pytest.mark.parametrize("reference", ["", "QX7F3A-9C12J"])
@pytest.mark.parametrize("agent", ["cot", "reasoning"])
@pytest.mark.parametrize("chat", CHATS)
def test_a_written_choice(chat: Question, agent: str, reference: str) -> None:
    (request,) = asked(chat, agent, reference)
    assert conversation_task(body(request)) == request.task


@pytest.mark.parametrize("reference", ["", "QX7F3A-9C12J"])
@pytest.mark.parametrize("chat", CHATS)
def test_a_choice_by_a_call(chat: Question, reference: str) -> None:
    (request,) = asked(chat, "tools", reference)
    assert conversation_task(body(request)) == request.task


LINES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=12)
TEXTS = st.lists(LINES, max_size=3).map("\n".join).map(str.strip)
NAMES = LINES.map(lambda text: " ".join(text.split()).replace(": ", " ").strip(": ")).filter(bool)


@given(
    st.lists(st.tuples(st.sampled_from(["user", "bot"]), TEXTS), min_size=1, max_size=4),
    st.lists(st.tuples(NAMES, TEXTS), max_size=3),
)
def test_any_chat_and_any_list(chat: Sequence[tuple[str, str]], offered: Sequence[tuple[str, str]]) -> None:
    workflows = tuple(Workflow(f"w{place}", *text, "d") for place, text in enumerate(offered))
    turns = tuple(ChatTurn("bot" if sender == "bot" else "user", text) for sender, text in chat)
    (request,) = asked(Question("c--0", "d", turns, workflows), "cot")
    assert conversation_task(body(request)) == request.task


SITUATION = "You are the office assistant of Robin. It is Thursday, 2023-11-30, 00:00; remember this date and"


@pytest.mark.parametrize(
    "given_body",
    [
        {"messages": [{"role": "user", "content": "Hello!"}]},
        {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello!"}]},
        {"messages": [{"role": "system", "content": SITUATION}]},
        {"messages": [{"role": "system", "content": SITUATION.replace("30,", "31,")}, {"role": "user"}]},
        {"messages": [{"role": "system", "content": SITUATION.replace("office ", "")}, {"role": "user"}]},
        {"messages": [{"role": 3, "content": 4}, {"content": None}], "tools": [None, "x", {"function": 7}]},
    ],
)
def test_other_conversations_are_none_of_ours(given_body: Mapping[str, Any]) -> None:
    assert conversation_task(given_body) is None
