"""Which words of a request name a tool, and which only ask for its work: one line a case."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.gates.gate import Background, state_of
from toolassay.gates.leak_gate import LeakGate
from toolassay.plans.gold import Gold
from toolassay.tools.library import Tool, ToolLibrary

TOOLS = (
    *("Image Editing", "Text-to-Speech", "Image Search (by Image)", "Translation", "Summarization"),
    *("send_email", "check_in", "online_banking", "getWeather", "weather", "list-orders", "图像编辑"),
    *("pay_for_credit_card", "GET /users/{id}"),
)


def gate(*more: str) -> LeakGate:
    return LeakGate(Background(ToolLibrary([Tool(name) for name in (*TOOLS, *more)]), "temporal"))


def label(request: str, *tools: str, arguments: list[Any] | None = None) -> Gold:
    nodes: list[dict[str, Any]] = [{"task": tool} for tool in tools]
    if arguments is not None:
        nodes[0]["arguments"] = arguments
    return Gold.of({"id": 1, "user_request": request, "task_steps": [], "task_nodes": nodes})


@pytest.mark.parametrize(
    ("request_text", "tool"),
    [
        ("Make the sky blue with image_editing.", "Image Editing"),
        ("Make the sky blue by `image editing`.", "Image Editing"),
        ("Read it out by Text-to-Speech.", "Text-to-Speech"),
        ("Find it by Image Search (by Image).", "Image Search (by Image)"),
        ("Please use the send_\nemail to write to Bo.", "send_email"),
        ("Tell Bo, with the function send email.", "send_email"),
        ("Is it raining? getWeather knows.", "getWeather"),
        ("Pass <node-0> on.", "send_email"),
        ("请用图像编辑工具处理。", "图像编辑"),
        ("Invoke GET /users/{id} for Bo.", "GET /users/{id}"),
    ],
)
def test_a_tool_of_the_plan_that_is_named_is_a_reject(request_text: str, tool: str) -> None:
    findings = gate().check(label(request_text, tool))
    assert [(f.state, f.where) for f in findings] == [("reject", "user_request")]


@pytest.mark.parametrize(
    ("request_text", "tool"),
    [("Please use Translation on it.", "Translation"), ("Pay by Online Banking.", "online_banking")],
)
def test_what_may_name_a_tool_is_for_a_person_to_look_at(request_text: str, tool: str) -> None:
    assert state_of(gate().check(label(request_text, tool))) == "quarantine"


@pytest.mark.parametrize(
    "request_text",
    [
        "Send email to Bo about the weather in Rome.",
        "I want a translation, a summarization and the text to speech conversion.",
        "Pay for credit card bills with online banking, using image editing.",
        "Subscribe me to the magazine Image Editing Weekly.",
        "A video, search for it and list orders of magnitude.",
        "Step 1: Call Anna with the news. Step 2: find it. After steps 1 and 2, send it.",
        "See https://example.com/send_email.html and weather@example.com.",
    ],
)
def test_words_that_do_their_ordinary_work_are_no_names(request_text: str) -> None:
    assert gate().check(label(request_text, *TOOLS)) == []


def test_a_value_of_the_plan_is_not_a_name() -> None:
    request = "Post 'Image Editing made easy' on Reddit."
    assert state_of(gate().check(label(request, "Image Editing"))) == "reject"
    assert gate().check(label(request, "Image Editing", arguments=["Image Editing made easy"])) == []


def test_a_tool_that_the_plan_does_not_use_is_for_a_person_to_look_at() -> None:
    finding, *others = gate().check(label("Write to Bo by send_email.", "Translation"))
    assert (finding.state, others) == ("quarantine", [])
    assert finding.reason == "the request names the tool 'send_email', which the plan does not use"


def test_each_tool_is_reported_once_by_its_surest_mention() -> None:
    (finding,) = gate().check(
        label("Using image editing, I mean ImageEditing, image editing.", "Image Editing")
    )
    assert finding.state == "reject" and "by 'ImageEditing'" in finding.reason


def test_there_is_nothing_to_ask_without_a_request() -> None:
    assert [f.state for f in gate().check(label(" ", "weather"))] == ["not applicable"]


def test_ten_thousand_tools_are_found_like_ten() -> None:
    many = gate(*(f"do_thing_{number}_now" for number in range(10_000)))
    assert state_of(many.check(label("Call do_thing_7777_now at once.", "do_thing_7777_now"))) == "reject"


@given(
    st.text(alphabet=st.sampled_from("aZ _-./<>'\"`\n(Imgeditngsl012é中"), max_size=60),
    st.lists(st.text(max_size=8)),
)
def test_no_request_and_no_name_breaks_it(request_text: str, names: list[str]) -> None:
    library = ToolLibrary([Tool(name) for name in {"Image Editing", *names}])
    assert all(
        f.reason
        for f in LeakGate(Background(library, "resource")).check(label(request_text, *names, "Image Editing"))
    )
