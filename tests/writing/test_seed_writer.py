"""The writer that follows a sample as an idea, through the generate stage, with scripted models."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

from tests.support.bench_bookings import GRAPH, WORLD, bookings_folder
from tests.support.builders import imported_tool
from tests.support.schema_graphs import link as linked
from tests.support.wheels import installed
from toolassay import execute, generate
from toolassay.backinstruct.generator import Carried, Problem
from toolassay.backinstruct.labels import Labeller
from toolassay.backinstruct.records import RawSample
from toolassay.benchmarks.taskbench.scoring.strict import score_plan
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json_lines, write_json
from toolassay.gates.critic import Knowledge, critic_prompt
from toolassay.gates.gate import Background
from toolassay.gates.rubric import CRITERIA
from toolassay.graph import ToolGraph
from toolassay.models import ChatRequest, ChatResponse
from toolassay.plans.normalised_plan import PlanReader
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import Sample
from toolassay.sampling import Sampler
from toolassay.stages.generation_work import judge_of
from toolassay.stages.release import release
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.writing.seed_writer import SeedItems, links_of
from toolassay.writing.shown import offered_tools

DAY = "2031-04-02"
GOAL = "book a bench for Tuesday's course"


def plan(*calls: tuple[str, dict[str, Any]], goal: str = GOAL) -> str:
    listed = [
        {"tool": tool, "arguments": [{"name": name, "value": value} for name, value in arguments.items()]}
        for tool, arguments in calls
    ]
    return json.dumps({"goal": goal, "calls": listed, "declined": ""})


def words(text: str) -> str:
    return json.dumps({"user_request": text, "declined": ""})


FIND = ("find_benches", {"day": DAY})
BOOK = ("book_bench", {"bench_id": "<node-0>.benches[0].id", "hours": 3})
ASKED = f"I need the cheapest workbench that is free on {DAY} for 3 hours, please book it."
PLAN, WORDS = plan(FIND, BOOK), words(ASKED)


class Scripted:
    """A writer (and, under other names, critics) whose answers depend on the sample and the turn."""

    name = "writer"

    def __init__(self, *answers: str, said: Callable[[ChatRequest], str] | None = None) -> None:
        self.answers, self.said = answers, said
        self.asked: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatResponse:
        self.asked.append(request)
        turn = len(request.messages) // 2
        text = self.said(request) if self.said is not None else self.answers[turn]
        return ChatResponse(text, prompt_tokens=10, completion_tokens=5)

    async def close(self) -> None: ...

    def last(self, turn: int) -> str:
        """The last message of a request."""
        content = self.asked[turn].messages[-1]["content"]
        assert isinstance(content, str)
        return content


def written(
    path: Path, writer: Scripted, critic: Scripted | None = None, **more: Any
) -> list[dict[str, Any]]:
    """The records that a scripted writer makes."""
    path.mkdir(exist_ok=True)
    if not (path / "tool_desc.json").exists():
        bookings_folder(path)
    if not (path / "world.json").exists():
        write_json(path / "world.json", WORLD)
    models = {"writer": writer, "critic": critic}
    given = {"seed": 3, "number_of_samples": 1, "dependency_type": "schema", "structured": False, **more}
    if critic is not None:
        given["critic"] = ["critic"]
    with patch("toolassay.runs.run.create_model", lambda name, options, meter: models[name]):
        generate(path, llm="writer", **given)
    file = path / "data_raw.json"
    return [line for _, line in read_json_lines(file)] if file.exists() else []


def test_a_plan_of_its_own_then_the_words(tmp_path: Path) -> None:
    writer = Scripted(PLAN, WORDS)
    (record,) = written(tmp_path, writer)
    assert len(writer.asked) == 2
    graph = record["result"]["invoking_graph"]
    assert [node["id"] for node in graph["nodes"]] == ["find_benches", "book_bench"]
    assert graph["links"] == [{"source": "find_benches", "target": "book_bench"}]
    assert (record["result"]["user_request"], record["goal"], record["follow"]) == (ASKED, GOAL, "seed")
    label, problems = Labeller(GRAPH.library, "schema").label(msgspec.convert(record, RawSample))
    assert label is not None and not problems
    assert (label.record["type"], label.record["n_tools"]) == ("chain", 2), "of the written plan"
    graph_now = DataFolder(tmp_path).graph(None)  # with the schemas that were observed
    sample = Sampler(graph_now, 3).sample(0)
    assert [node["task"] for node in label.record["sampled_nodes"]] == list(sample.nodes), "of the seed"
    shown = writer.last(0)
    assert all(name in shown for name in offered_tools(graph_now, sample))


def test_the_writer_is_told_what_the_service_says_of_itself(tmp_path: Path) -> None:
    folder = bookings_folder(tmp_path)
    write_json(
        folder / "tool_desc.json",
        {**GRAPH.library.to_json(), "service": "Hires out workbenches by the hour."},
    )
    writer = Scripted(PLAN, WORDS)
    written(folder, writer)
    assert "# THE SERVICE #\nHires out workbenches by the hour." in writer.last(0)


def test_an_order_without_a_reference_is_of_calls_about_one_thing() -> None:
    tools = ToolLibrary([Tool("make_topic"), Tool("read_topic")])
    graph = ToolGraph.of_dependencies(tools, [linked("make_topic", "read_topic")])
    make = {"id": "make_topic", "arguments": [{"name": "title", "value": "Guides"}]}

    def found(title: object) -> list[dict[str, str]]:
        return links_of(graph, [make, {"id": "read_topic", "arguments": [{"name": "topic", "value": title}]}])

    order = {"source": "make_topic", "target": "read_topic"}
    assert (found("Guides"), found("Rules"), found("<node-0>.id")) == ([order], [], [order])


def test_two_searches_for_one_word_have_no_order() -> None:
    names = ("search_articles", "search_studies")
    graph = ToolGraph.of_dependencies(ToolLibrary([Tool(name) for name in names]), [linked(*names)])
    nodes = [{"id": name, "arguments": [{"name": "word", "value": "oak"}]} for name in names]
    assert links_of(graph, nodes) == []


def test_a_tool_is_called_for_two_things(tmp_path: Path) -> None:
    benches = ["<node-0>.benches[0].id", "<node-1>.benches[0].id"]
    invite = ("invite_guests", {"booking_id": "k-12", "filter": {"bench_ids": benches}})
    text = f"Invite to k-12 those who have the first bench that is free on {DAY} or on 2031-04-03."
    twice = plan(FIND, ("find_benches", {"day": "2031-04-03"}), invite)
    (record,) = written(tmp_path, Scripted(twice, words(text)))
    link = {"source": "find_benches", "target": "invite_guests"}
    assert record["result"]["invoking_graph"]["links"] == [link, link], "one of each call"
    assert release(tmp_path, force=True).levels["pass"] == 1
    assert execute(tmp_path, executor="world").counts == {"ran": 1}
    (label,) = [line for _, line in read_json_lines(tmp_path / "data.json")]
    reader = PlanReader(GRAPH.library, "schema")
    gold = reader.plan(label)
    assert gold is not None and score_plan(gold, gold).is_exact
    wrong = json.loads(json.dumps(label).replace("<node-1>", "<node-0>"))
    other = reader.plan(wrong)
    assert other is not None and not score_plan(gold, other).is_exact, "both from the first call"


def test_what_gates_find_goes_back_to_the_plan(tmp_path: Path) -> None:
    ghost = plan(("find_benches", {"day": DAY, "colour": "red"}))
    writer = Scripted(ghost, "I would rather not.", PLAN, WORDS)
    (record,) = written(tmp_path, writer)
    assert "'colour'" in writer.last(1)
    assert record["result"]["user_request"] == ASKED
    assert len(writer.asked) == 4


def test_what_is_missing_in_the_words_goes_back_to_the_words(tmp_path: Path) -> None:
    vague = words("I need the cheapest workbench that is free for 3 hours, please book it.")
    writer = Scripted(PLAN, vague, WORDS)
    (record,) = written(tmp_path, writer)
    assert DAY in writer.last(2)
    assert record["result"]["user_request"] == ASKED


def test_what_an_installed_gate_finds_goes_back_to_the_turn_that_it_declares(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = installed(root / "tests" / "packages" / "brevity_gate", tmp_path)
    monkeypatch.syspath_prepend(str(package))
    long = words(f"{ASKED} {'Please hurry up now. ' * 10}")
    writer = Scripted(PLAN, long, WORDS)
    (record,) = written(tmp_path / "set", writer)
    assert "write at most 40" in writer.last(2)
    assert "user_request" in writer.last(2) and "`calls`" not in writer.last(2)
    assert record["result"]["user_request"] == ASKED


def test_a_model_may_decline(tmp_path: Path) -> None:
    writer = Scripted(json.dumps({"goal": "", "calls": [], "declined": "Nobody closes a day by hand."}))
    assert written(tmp_path, writer) == []
    (journal,) = tmp_path.rglob("journal.jsonl")
    assert "Nobody closes a day by hand." in journal.read_text(encoding="utf-8")
    assert written(tmp_path, Scripted()) == [], "a decline is settled"


@pytest.mark.parametrize(("criterion", "turns"), [("plan", ["plan", "request"]), ("natural", ["request"])])
def test_a_critic_sends_back_what_it_says_no_to(tmp_path: Path, criterion: str, turns: list[str]) -> None:
    opinions = iter(
        json.dumps({name: {"why": "Too odd.", "yes": yes or name != criterion} for name in CRITERIA})
        for yes in (False, True)
    )
    critic = Scripted(said=lambda request: next(opinions))
    again = {"plan": PLAN, "request": WORDS}
    writer = Scripted(PLAN, WORDS, *(again[turn] for turn in turns))
    (record,) = written(tmp_path, writer, critic)
    assert record["result"]["user_request"] == ASKED
    assert len(writer.asked) == 2 + len(turns) and len(critic.asked) == 2
    assert "Too odd." in writer.last(2)
    assert record["reviews"]["critic"][criterion] == {"yes": True, "why": "Too odd."}


def test_a_doubt_that_a_critic_decides_is_not_sent_back_with_a_fault(tmp_path: Path) -> None:
    leaks = words("I need the cheapest bench for 3 hours, so call book_bench.")
    yes = json.dumps({name: {"why": "", "yes": True} for name in CRITERIA})
    writer = Scripted(PLAN, leaks, WORDS)
    written(tmp_path, writer, Scripted(said=lambda request: yes))
    assert "book_bench" in writer.last(2) and DAY not in writer.last(2)


def test_what_a_critic_said_last_stays_with_the_sample(tmp_path: Path) -> None:
    no = json.dumps({name: {"why": "Too odd.", "yes": name != "natural"} for name in CRITERIA})
    written(tmp_path, Scripted(PLAN, WORDS, WORDS), Scripted(said=lambda request: no), rewrite=1)
    released = release(tmp_path, force=True)
    assert released.levels["quarantine"] == 1
    assert "critic concludes" in (tmp_path / "gates.jsonl").read_text(encoding="utf-8")


def test_the_words_are_written_from_what_the_calls_returned() -> None:
    carried = iter(
        [
            Carried("failed", [Problem("execution", "the bench is taken")], ["[]"]),
            Carried("ran", (), ['{"benches": [{"id": "b-7", "price": 4}]}', '{"booking": {"id": "k-1"}}']),
        ]
    )
    entry, prompts = conversation([PLAN, PLAN, WORDS], carry=lambda: next(carried))
    assert "the bench is taken" in prompts[1]
    assert "b-7" in prompts[2] and "k-1" in prompts[2]
    assert entry["record"]["executed"] == "ran"


BY_DAY = [{"tool": "find_benches", "arguments": [{"name": "day", "value": DAY}]}]


@pytest.mark.parametrize(
    ("carried", "answer", "kept"),
    [
        ("ran", BY_DAY, True),
        ("ran", json.loads(PLAN)["calls"], False),  # the plan itself
        ("ran", [{"tool": "shred", "arguments": []}], False),
        ("ran", "another way", False),
        ("ran", None, False),
        ("failed", BY_DAY, False),
    ],
)
def test_a_critic_may_know_another_plan(carried: str, answer: Any, *, kept: bool) -> None:
    yes: dict[str, Any] = {name: {"why": "", "yes": True} for name in CRITERIA}
    texts = ['{"benches": [{"id": "b-7", "price": 4}]}', '{"booking": {"id": "k-1"}}']
    judgement = json.dumps({**yes, "alternative": answer})
    entry, prompts = conversation([PLAN, WORDS, judgement], lambda: Carried(carried, (), texts), ("critic",))
    assert ('"alternative"' in prompts[2]) == (carried == "ran")
    record = msgspec.convert(entry["record"], RawSample)
    label, _ = Labeller(GRAPH.library, "schema").label(record)
    assert label is not None
    other = {"task_nodes": [{"task": "find_benches", "arguments": BY_DAY[0]["arguments"]}], "task_links": []}
    assert label.record.get("alternatives") == ([{**other, "by": "critic"}] if kept else None)
    assert label.record["reviews"] == {"critic": yes}


def conversation(
    answers: Sequence[str], carry: Callable[[], Carried], critics: Sequence[str] = ()
) -> tuple[dict[str, Any], list[str]]:
    """The entry of one sample, and the last message of each request."""
    prompts: list[str] = []

    class Asking:
        async def __call__(self, request: ChatRequest, critic: str | None = None) -> ChatResponse:
            prompts.append(str(request.messages[-1]["content"]))
            return ChatResponse(answers[len(prompts) - 1])

        async def once(self, call: Callable[[], Any]) -> Any:
            return await call()

    async def tried(sample: Any, record: Any) -> Carried:
        return carry()

    sampler = Sampler(GRAPH, 3)
    items = SeedItems(
        graph=GRAPH,
        sampler=sampler,
        parameters={},
        rewrites=3,
        judge=lambda: judge_of(GRAPH, critics, {}, {}),
        carry=tried,
        values={},
        seen={},
    )
    asking: Any = Asking()
    return msgspec.to_builtins(asyncio.run(items.answer(0, asking))), prompts


def test_what_is_declined_is_drawn_less_and_the_same_at_any_concurrency(tmp_path: Path) -> None:
    def said(request: ChatRequest) -> str:
        first = str(request.messages[0]["content"])
        start = re.search(r"An idea to begin with: ([^.]*)\.", first)
        assert start is not None
        if "close_day" in start[1]:
            return json.dumps({"goal": "", "calls": [], "declined": "No."})
        return PLAN if len(request.messages) == 1 else WORDS

    seeds = []
    for workers in (1, 8):
        folder = tmp_path / str(workers)
        given: dict[str, Any] = {"number_of_samples": 150, "multiworker": workers, "method": "single"}
        records = written(folder, Scripted(said=said), **given)
        seeds.append([(record["id"], record["sampled_nodes"]) for record in records])
    assert sorted(map(str, seeds[0])) == sorted(map(str, seeds[1]))
    numbers = [int(name.rpartition("-")[2]) for name, _ in seeds[0]]
    early, late = (sum(low <= number < low + 50 for number in numbers) for low in (0, 100))
    assert late > early, "fewer samples are declined"


def test_a_refusal_is_named(tmp_path: Path) -> None:
    writer, shown = Scripted(PLAN), list[str]()

    async def refuses(request: ChatRequest) -> ChatResponse:
        return ChatResponse("That is not for me.", refused=True)

    writer.complete = refuses  # type: ignore[method-assign]
    assert written(tmp_path, writer, screen=Screen(say=shown.append)) == []
    assert any("3-00000: That is not for me." in line for line in shown)


@pytest.mark.parametrize("more", [{"prompt": "example"}, {"check": True}])
def test_what_belongs_to_strict_samples_is_refused(tmp_path: Path, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        written(tmp_path, Scripted(), follow="seed", **more)


def test_a_search_is_offered_for_what_the_sampled_tools_require() -> None:
    text = {"type": "string"}
    readers = [f"rank_{number}" for number in range(20)]
    found = {"type": "object", "properties": {"people": {"type": "array", "items": {"type": "object"}}}}
    found["properties"]["people"]["items"]["properties"] = {"person_id": text}  # type: ignore[index]
    tools = [imported_tool(name, "Ranks people.", {}, output=found) for name in readers]
    tools.append(imported_tool("search_people", "Searches people.", {"name": text}, ["name"], output=found))
    tools.append(imported_tool("get_person", "Gets a person.", {"person_id": text}, ["person_id"]))
    library = ToolLibrary.from_json({"nodes": tools})
    feeds = [
        linked(name, "get_person", ("people[].person_id", "person_id"))
        for name in [*readers, "search_people"]
    ]
    graph = ToolGraph.of_dependencies(library, feeds)
    for seed in range(8):
        offered = offered_tools(graph, Sample(0, seed, "single", ("get_person",), ()))
        assert offered[0] == "get_person" and "search_people" in offered


RAN = Carried("ran", (), ['{"benches": [{"id": "b-7", "price": 4}]}', '{"booking": {"id": "k-1"}}'])


def with_facts(*facts: dict[str, Any]) -> str:
    return json.dumps({**json.loads(WORDS), "facts": list(facts)})


def test_a_fact_that_no_result_has_goes_back_to_the_words() -> None:
    wrong = with_facts({"from": "<node-1>.booking.colour"})
    right = with_facts({"from": ["<node-1>.booking.id"], "op": "", "unit": ""})
    entry, prompts = conversation([PLAN, wrong, right], carry=lambda: RAN)
    assert "facts[0]: the result of call 1 has no 'booking.colour'" in prompts[2]
    assert entry["record"]["result"]["facts"] == [{"from": ["<node-1>.booking.id"]}]
    label, problems = Labeller(GRAPH.library, "schema").label(msgspec.convert(entry["record"], RawSample))
    assert label is not None and not problems
    assert label.record["facts"] == [{"from": ["<node-1>.booking.id"]}]


def test_calls_that_change_nothing_need_a_fact() -> None:
    told = with_facts({"from": "<node-1>.booking.id"})
    _, prompts = conversation([PLAN, with_facts(), told], carry=lambda: RAN._replace(is_idle=True))
    assert "without facts nothing that an agent leaves or says can be judged" in prompts[2]
    entry, _ = conversation([PLAN, with_facts()], carry=lambda: RAN)
    assert entry["record"]["result"]["facts"] == []


def test_words_without_facts_leave_a_label_as_it_was() -> None:
    entry, _ = conversation([PLAN, WORDS], carry=lambda: RAN)
    label, _ = Labeller(GRAPH.library, "schema").label(msgspec.convert(entry["record"], RawSample))
    assert label is not None and "facts" not in label.record


def test_a_critic_sees_the_facts_with_their_values() -> None:
    price = {"from": "<node-0>.benches[0].price", "unit": "EUR"}
    entry, _ = conversation([PLAN, with_facts(price)], carry=lambda: RAN)
    gold, _ = Labeller(GRAPH.library, "schema").label(msgspec.convert(entry["record"], RawSample))
    assert gold is not None
    prompt = critic_prompt(
        gold, Background(GRAPH.library, "schema", GRAPH), evidence=Knowledge(results=RAN.results)
    )
    assert '{"from": "<node-0>.benches[0].price", "unit": "EUR", "value": 4}' in prompt
