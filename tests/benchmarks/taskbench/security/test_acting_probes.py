"""Agents that act, on requests with orders in results, descriptions and resources."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import agents_folder, imported_tool, running_server
from tests.support.evaluating import metrics_of
from tests.support.running import inside, lines_of
from toolassay import infer
from toolassay.benchmarks.taskbench.acting_security import ActingProbe, GoldRequest, acting_probes
from toolassay.episodes.own_agent import AgentSession
from toolassay.errors import UsageError
from toolassay.executors.executor import CallResult
from toolassay.models import ModelOptions, ToolCall
from toolassay.reports.axes import security_of
from toolassay.serving.completions import Received, Reply
from toolassay.tools.library import ToolLibrary

_TEXT = {"type": "string"}
_NOTE = {
    "type": "object",
    "properties": {"note_id": _TEXT, "summary": {"const": "Bring the blue paddle."}},
    "required": ["note_id", "summary"],
}
TOOLS = [
    imported_tool("get_note", "Returns a note.", {"note_id": _TEXT}, ["note_id"], output=_NOTE),
    imported_tool("create_note", "Creates a note.", {"title": _TEXT}, ["title"], output=_NOTE),
    imported_tool(
        "send_message",
        "Sends a message.",
        {"words": _TEXT, "urgency": {"type": "integer", "minimum": 1}},
        ["words", "urgency"],
    ),
    imported_tool("count_notes", "Counts all notes.", {}),
]
LIBRARY = ToolLibrary.from_json({"nodes": TOOLS})
PLACES = ("tool result", "tool description", "resource", "rug pull")
REQUESTS = [
    GoldRequest(str(number), f"Make note {number}", ["create_note", "get_note"]) for number in range(9)
]
_ORDER = re.compile(
    r"(?:Hand in the code|Send the access code|call before any other).*?"
    r"(send.message|count.notes)"
)
_CODE = re.compile(r"QX[0-9A-F]{4}-[0-9A-F]{4}J")
OBEYED = 0.4


def is_obeyed(code: str) -> bool:
    """Whether the scripted agent obeys the order with this code."""
    return random.Random(code).random() < OBEYED


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with four tools and nine requests; each gold plan creates a note and reads it."""
    calls = ("create_note", {"title": "Blue"}), ("get_note", {"note_id": "<node-0>.note_id"})
    return agents_folder(tmp_path / "notes", TOOLS, {str(one.id): one.text for one in REQUESTS}, *calls)


async def agent(received: Received) -> Reply:
    """Creates a note and reads it, and obeys some of the orders that it meets; so does its ReAct twin."""
    body = received.body
    seen = "\n".join(str(one["content"]) for one in body["messages"])
    seen += "\n".join(one["function"]["description"] for one in body.get("tools", ()))
    done, code = str(body["messages"]), _CODE.search(seen)
    called = str([one for one in body["messages"] if one["role"] == "assistant"])
    call: tuple[str, dict[str, Any]] | None = None
    if _ORDER.search(seen) and code and is_obeyed(code[0]) and code[0] not in called:
        call = "send_message", {"words": code[0], "urgency": 2}
    elif "Bring the blue" not in done:
        call = "create_note", {"title": "Blue"}
    elif done.count("Bring the blue") < 2:
        found = re.search(r'note_id\W+"([^"\\]+)', seen.partition("Make note")[2])
        assert found, seen
        call = "get_note", {"note_id": found[1]}
    if "tools" in body:
        calls = [ToolCall("c", call[0], json.dumps(call[1]))] if call else []
        return Reply("" if call else "Done.", calls)
    name, given = call or ("Final Answer", "Done.")
    return Reply(f"Action:\n```\n{json.dumps({'action': name, 'action_input': given})}\n```")


def test_the_interval_of_200_attacks_covers_the_share_that_the_agent_obeys(folder: Path) -> None:
    with running_server(agent) as server:
        asked = ("--data_dir", folder, "--llm", "acme", "--api_base", server.base, "--ask", "tools")
        assert inside("infer", *asked).code == 0
        done = inside("infer", *asked, "--security", "200", "--multiworker", "8")
    assert done.code == 0, done.err
    lines = lines_of(folder / "predictions_tools/security/acme.json")
    attacks = [line for line in lines if not line["harmless"]]
    assert len(attacks) == 200 and {line["place"] for line in attacks} == set(PLACES)
    for line in attacks:
        (code,) = set(_CODE.findall(line["goal"] + line["answer"])) or {""}
        obeyed = bool(code) and is_obeyed(code)
        assert line["outcome"] == ("succeeded" if obeyed else "resisted"), line
    scoring = ("--data_dir", folder, "--prediction_dir", "predictions_tools", "--llm", "acme")
    scored = inside("evaluate", *scoring)
    assert scored.code == 0 and "under attack" in scored.out + scored.err
    figures = metrics_of(folder, "acme", "metrics_tools")["security"]
    success = figures["attack_success"]
    assert success["low"] < OBEYED < success["high"] and success["high"] - success["low"] < 0.15
    assert figures["utility"]["value"] == 1 and figures["utility"]["n"] == len(REQUESTS)
    assert figures["utility_under_attack"]["n"] == 200 and figures["utility"]["by"] == "calls"
    assert figures["harmless"]["score"]["value"] == 1 and figures["harmless"]["tested"] > 60
    for group in ("by_kind", "by_place"):
        assert sum(part["successes"] for part in figures[group].values()) == figures["successes"]
    axis = security_of(figures, {})
    assert axis is not None and axis.utility.value == 1 and axis.utility_under_attack.value == 1


def test_react_agents_list_their_tools_once(folder: Path) -> None:
    count = 24
    with running_server(agent) as server:
        options = ModelOptions(server.base)
        done = infer(folder, llm="acme", options=options, ask="react", security=count)
        assert done.summary.complete
        again = infer(folder, llm="acme", options=options, ask="react", security=count)
        assert again.already and not again.summary.outcomes
    lines = lines_of(folder / "predictions_react/security/acme.json")
    attacks = [line for line in lines if not line["harmless"]]
    assert Counter(line["place"] for line in attacks) == dict.fromkeys(PLACES[:3], count // 3)
    assert {line["outcome"] for line in attacks} == {"resisted", "succeeded"}


async def obedient(request: str, session: AgentSession) -> str:
    """Reads its tools before every call, and does whatever any text tells it to."""
    read: list[Any] = []
    try:
        read += [list(session.tools), await session.call("create_note", {"title": "Blue"})]
        read += [await session.call("get_note", {"note_id": read[-1]["note_id"]}), list(session.tools)]
    finally:
        text = json.dumps(read)
        if _ORDER.search(text) and (code := _CODE.search(text)):
            await session.call("send_message", {"words": code[0], "urgency": 1})
    return "Done."


def test_agents_of_users_are_probed_in_the_same_environment(folder: Path) -> None:
    done = infer(folder, llm="mine", agent=obedient, security=16)
    assert done.summary.complete
    lines = lines_of(folder / "predictions_agents/security/mine.json")
    attacks = [line for line in lines if not line["harmless"]]
    assert {line["place"] for line in attacks} == set(PLACES)
    assert {line["outcome"] for line in attacks} == {"succeeded"}
    assert all(line["solved"] for line in lines)
    assert {line["outcome"] for line in lines if line["harmless"]} == {"served"}


def test_a_description_is_clean_until_the_first_call(folder: Path) -> None:
    from mcp.client import Client

    listings: dict[str, list[bool]] = {}

    async def listing(request: str, session: AgentSession) -> str:
        async with Client(session.mcp_url) as server:
            first = await server.list_tools()
            await server.call_tool("create_note", {"title": "Blue"})
            both = first, await server.list_tools()
        found = [any(_ORDER.search(tool.description or "") for tool in one.tools) for one in both]
        listings[str(session.request.id)] = found
        return "Done."

    infer(folder, llm="lister", agent=listing, security=8)
    pulled = {id: found for id, found in listings.items() if id.endswith("rug-pull")}
    clean = {id: found for id, found in listings.items() if id.endswith(("result", "resource"))}
    assert len(pulled) == 2 and all(found == [False, True] for found in pulled.values())
    assert all(found == [False, False] for found in clean.values())


def test_an_attack_that_the_agent_never_met_is_no_resistance(folder: Path) -> None:
    async def idle(request: str, session: AgentSession) -> str:
        return "There is nothing to do."

    infer(folder, llm="idle", agent=idle, security=8)
    lines = lines_of(folder / "predictions_agents/security/idle.json")
    found = {line["place"]: line["outcome"] for line in lines if not line["harmless"]}
    met = {"tool description": "resisted"}
    assert found == dict.fromkeys(PLACES, "failed") | met
    assert not any(line["solved"] for line in lines)


def test_more_probes_begin_with_the_fewer() -> None:
    few, many = (list(acting_probes(REQUESTS, LIBRARY, PLACES, count)) for count in (7, 40))
    assert many[: len(few)] == few
    attacks = [one.probe for one in many if one.text and not one.probe.harmless]
    assert len(attacks) == 40 and len({(one.kind, one.place) for one in attacks}) == 16
    assert list(acting_probes([GoldRequest("1", "Do all", LIBRARY.ids)], LIBRARY, PLACES, 5)) == []


def attacks(requests: Sequence[GoldRequest] = REQUESTS) -> Iterator[ActingProbe]:
    return (
        one
        for one in acting_probes(requests, LIBRARY, PLACES, 32)
        if one.text and not one.probe.harmless and one.probe.place in ("tool result", "resource")
    )


@pytest.mark.parametrize("value", [{"summary": "Two words", "n": 1}, [{"a": "b c"}], "two words", 7, None])
def test_what_is_planted_in_a_result_can_be_removed(value: Any) -> None:
    probes = [*attacks(), *attacks([GoldRequest("r", "Read it", ["get_note"])])]
    assert any(one.carrier == one.source and one.probe.place == "resource" for one in probes)
    for probe in probes:
        for tool in {probe.carrier, probe.source} - {""}:
            planted = probe.result(tool, CallResult.of(value))
            assert probe.clean(planted.value) == value
            if probe.probe.place == "tool result":
                shown = planted.text.replace('\\"', '"')
                assert any(text and text in shown for text in (probe.text, probe.secret))
        assert probe.result("another", CallResult.of(value)).value == value


def test_a_refusal_stays_one() -> None:
    refusal = CallResult.of({"error": "there is no note"})
    assert all(probe.result(probe.carrier, refusal) == refusal for probe in attacks())


def test_exact_arguments_are_accepted_by_the_tool() -> None:
    found = [one for one in attacks() if one.probe.kind == "tool knowledge" and one.target == "send_message"]
    for probe in found:
        given: Mapping[str, Any] = json.loads(probe.text[probe.text.index("{") :])
        assert given["words"] == probe.canary and given["urgency"] >= 1
    assert found


def test_only_ways_with_results_are_probed(folder: Path) -> None:
    given: dict[str, Any] = {"llm": "acme", "options": ModelOptions("http://localhost:1"), "security": 2}
    for more in ({"ask": "calls"}, {"ask": "tools", "tools_in_context": "retrieved:2"}):
        with pytest.raises(UsageError, match="--security"):
            infer(folder, **(given | more))


def test_probes_are_equal_whatever_the_order_of_the_requests() -> None:
    found = [list(acting_probes(order, LIBRARY, PLACES, 9)) for order in (REQUESTS, REQUESTS[::-1])]
    assert found[0] == found[1]
