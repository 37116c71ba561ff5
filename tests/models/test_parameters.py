"""Parameters and schemas that a server refuses."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dialects import REFUSALS, asked_forms, taking
from tests.support.simulated import Books
from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.protocol import Message
from toolassay.models.refused_parameters import EXTRA, Change, Refusals
from toolassay.models.structured_output import Form, SchemaForms, json_schema
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

PARAMETERS = {"temperature": 0.2, "top_p": 0.1, "presence_penalty": 1.05, "max_tokens": 50}
RENAMED = "max_completion_tokens"
Body = Mapping[str, Any]


def ask(
    server: FakeServer, count: int = 1, earlier: Sequence[Message] = (), **options: Any
) -> tuple[list[ChatResponse], list[Change]]:
    """The answers to requests that are sent at once, and what was reported."""
    told: list[Change] = []
    refusals = Refusals(on_change=told.append)
    model = Client("m", ModelOptions(api_base=server.base, refusals=refusals, max_tries=1, **options))

    async def answer(received: Received) -> Reply:
        return Reply("yes")

    async def run() -> list[ChatResponse]:
        ends = [{"role": "user", "content": str(n)} for n in range(count)]
        requests = [ChatRequest([*earlier, end], PARAMETERS) for end in ends]
        try:
            return await asyncio.gather(*map(model.complete, requests))
        finally:
            await model.close()

    server.answer = answer
    return asyncio.run(run()), told


def refusing(*names: str, status: int = 400, said: Any = "Bad Request") -> Callable[[Body], Any]:
    return lambda body: (status, said) if any(name in body for name in names) else None


def both(body: Body) -> Any:
    return (400, "one of two") if {"temperature", "top_p"} <= body.keys() else None


def out_of_range(body: Body) -> Any:
    return (400, {"error": "too cold"}) if body.get("temperature", 1) < 1 else None


def one_by_one(body: Body) -> Any:
    name = next((name for name in PARAMETERS if name in body), None)
    return name and (400, {"error": {"message": "no", "param": name}})


@pytest.mark.parametrize("concurrent", [1, 12])
@pytest.mark.parametrize(
    ("complaint", "change", "most"),
    [
        (refusing("presence_penalty", said="Penalty is not enabled"), {"presence_penalty": None}, 1),
        (refusing("top_p"), {"top_p": None}, 4),
        (refusing("temperature"), {"temperature": None}, 8),
        (refusing("max_tokens", "temperature"), {"temperature": None, "max_tokens": RENAMED}, 10),
        (refusing("stream_options"), {"stream_options": None}, 1),
        (both, {"top_p": None}, 4),
        (out_of_range, {"temperature": None}, 8),
        (one_by_one, {**dict.fromkeys(PARAMETERS), "max_tokens": RENAMED}, 4),
    ],
)
def test_the_smallest_change_that_is_accepted_is_found_by_one_request(
    fake_server: FakeServer, complaint: Callable[[Body], Any], change: Change, most: int, concurrent: int
) -> None:
    fake_server.complaint = complaint
    answers, told = ask(fake_server, concurrent, stream="stream_options" in change, connections=concurrent)
    assert told == [change] and len(answers) == concurrent
    assert len(fake_server.received) <= most + 2 * concurrent
    accepted = [received.body for received in fake_server.received if complaint(received.body) is None]
    kept = PARAMETERS.keys() - change.keys()
    for body in accepted:
        assert {name: body[name] for name in kept} == {name: PARAMETERS[name] for name in kept}
        assert body.get("max_tokens", body.get(RENAMED)) == 50
    if concurrent == 1:
        assert answers[0].attempts == len(fake_server.received)


@pytest.mark.parametrize(
    ("complaint", "options", "word"),
    [
        (refusing("temperature"), {"sampling": {"temperature": 0.2}}, "because you set it: temperature"),
        (refusing("temperature"), {"extra_body": {"temperature": 0}}, "because you set it: temperature"),
        (one_by_one, {"sampling": {"top_p": 0.1}}, "no (never omitted, because you set it: top_p"),
        (refusing("max_tokens", RENAMED), {}, "Bad Request"),
    ],
)
def test_what_the_user_set_is_never_omitted_and_the_error_stays(
    fake_server: FakeServer, complaint: Callable[[Body], Any], options: dict[str, Any], word: str
) -> None:
    fake_server.complaint = complaint
    with pytest.raises(ModelError) as caught:
        ask(fake_server, **options)
    assert word in str(caught.value) and "HTTP 400" in str(caught.value)
    assert len(fake_server.received) <= 16
    for received in fake_server.received:
        assert received.body.keys() >= {**options.get("sampling", {}), **options.get("extra_body", {})}.keys()


def test_a_default_beside_what_the_user_set_may_be_omitted(fake_server: FakeServer) -> None:
    fake_server.complaint = both
    _, told = ask(fake_server, sampling={"top_p": 0.1})
    assert told == [{"temperature": None}]


@pytest.mark.parametrize("concurrent", [1, 3])
def test_fields_of_earlier_answers_that_are_refused_stay_away(
    fake_server: FakeServer, concurrent: int
) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}, "index": 0}
    message = {"role": "assistant", "content": None, "reasoning": "So.", "tool_calls": [call]}

    def complaint(body: Body) -> Any:
        said = {"error": {"message": "property 'messages.0.reasoning' is unsupported", "param": "messages"}}
        return (400, said) if any("reasoning" in one for one in body["messages"]) else None

    fake_server.complaint = complaint
    _, told = ask(fake_server, concurrent, [message, {"role": "tool", "tool_call_id": "a", "content": "1"}])
    assert told == [{EXTRA: None}] and len(fake_server.received) <= 2 * concurrent + 1
    (plain,) = fake_server.received[-1].body["messages"][0]["tool_calls"]
    assert plain == {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert PARAMETERS.keys() <= fake_server.received[-1].body.keys()


@pytest.mark.parametrize(
    ("complaint", "requests"),
    [
        (refusing("messages", said={"error": {"message": "no", "param": "messages[0].role"}}), 1),
        (refusing("messages", said="This model's maximum context length is 4096 tokens"), 1),
        (refusing("messages", status=500), 1),
    ],
)
def test_errors_about_something_else_try_nothing(
    fake_server: FakeServer, complaint: Callable[[Body], Any], requests: int
) -> None:
    fake_server.complaint = complaint
    with pytest.raises(ModelError):
        ask(fake_server)
    assert len(fake_server.received) == requests


def test_searches_without_success_are_few_and_nothing_is_remembered() -> None:
    refusals = Refusals()
    tries = [len(list(refusals.search(PARAMETERS, (), set()))) for _ in range(4)]
    assert tries == [15, 15, 0, 0] and refusals.known == {}


def test_after_an_answer_only_an_error_that_names_a_parameter_is_about_it(fake_server: FakeServer) -> None:
    said: list[Any] = [None, "Bad Request"]
    fake_server.complaint = lambda body: (400, said[0]) if said[0] and "top_p" in body else None
    model = Client("m", ModelOptions(api_base=fake_server.base, max_tries=1))

    async def run() -> None:
        request = ChatRequest([{"role": "user", "content": "Hi"}], PARAMETERS)
        await model.complete(request)
        said[0] = "Bad Request"
        with pytest.raises(ModelError):
            await model.complete(request)
        said[0] = {"detail": [{"loc": ["body", "top_p"]}]}
        await model.complete(request)
        await model.close()

    asyncio.run(run())
    assert len(fake_server.received) == 4
    assert "top_p" not in fake_server.received[-1].body


def test_what_an_earlier_start_learnt_is_not_omitted_where_the_user_sets_it() -> None:
    refusals = Refusals({"temperature": None, "max_tokens": RENAMED})
    assert refusals.fit({"temperature": 1, "max_tokens": 7}, kept=["temperature", "max_tokens"]) == {
        "temperature": 1,
        RENAMED: 7,
    }
    assert refusals.fit({"max_tokens": 7, RENAMED: 9, "temperature": 1}) == {RENAMED: 9}


def test_a_forced_call_is_omitted_last() -> None:
    changes = list(Refusals().search(["tool_choice", "top_p", "tools"], (), set()))
    assert [set(change) for change in changes] == [{"top_p"}, {"tool_choice"}, {"tool_choice", "top_p"}]


def test_a_schema_is_omitted_last_whatever_the_words_and_never_if_it_is_required() -> None:
    assert list(Refusals().search(["response_format", "top_p"], (), set()))[-2:] == [
        {"response_format": None},
        {"response_format": None, "top_p": None},
    ]
    assert not list(Refusals().search(["response_format"], ["response_format"], set()))


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "maxItems": 2}},
    "required": ["a"],
    "additionalProperties": False,
}
FORMAT = json_schema("plan", SCHEMA)
GOOD = '{"a": ["x"]}'


def ask_for_plans(
    server: FakeServer, count: int = 1, *, books: Books | None = None, text: str = GOOD, **options: Any
) -> tuple[list[ChatResponse], Client]:
    async def answer(received: Received) -> Reply:
        return Reply(text)

    server.answer = answer
    model = Client("m", ModelOptions(api_base=server.base, **options), books)

    async def run() -> list[ChatResponse]:
        requests = [
            ChatRequest([{"role": "user", "content": str(number)}], {"max_tokens": 50, **FORMAT})
            for number in range(count)
        ]
        try:
            return await asyncio.gather(*map(model.complete, requests))
        finally:
            await model.close()

    return asyncio.run(run()), model


@pytest.mark.parametrize("client", ["aiohttp", "openai"])
def test_llama_cpp_gets_the_schema_as_json_object_and_its_500_is_no_try(
    fake_server: FakeServer, client: str
) -> None:
    fake_server.complaint = taking("json_object")
    told: list[Form] = []
    (answer,), _ = ask_for_plans(
        fake_server, client=client, schemas=SchemaForms(on_change=told.append), max_tries=1
    )
    assert asked_forms(fake_server) == ["json_schema", "json_object"]
    assert fake_server.received[1].body["response_format"] == {"type": "json_object", "schema": SCHEMA}
    assert (answer.text, answer.attempts, told) == (GOOD, 2, ["json_object"])


@pytest.mark.parametrize(
    "refusal",
    [REFUSALS[name] for name in ("LLAMA_CPP", "OLD_OPENAI", "VLLM", "PYDANTIC")],
)
def test_a_server_that_takes_no_form_is_asked_without(
    fake_server: FakeServer, refusal: tuple[int, Any]
) -> None:
    fake_server.complaint = taking(refusal=refusal)
    told: list[Form] = []
    ask_for_plans(fake_server, schemas=SchemaForms(on_change=told.append), max_tries=1)
    assert asked_forms(fake_server) == ["json_schema", "json_object", None]
    assert fake_server.received[-1].body["max_tokens"] == 50
    assert told == ["json_object", "none"]


def test_a_strict_mode_without_limits_of_lists_gets_the_schema_without_them(fake_server: FakeServer) -> None:
    def complaint(body: Mapping[str, Any]) -> tuple[int, Any] | None:
        return REFUSALS["AZURE"] if "maxItems" in json.dumps(body) else None

    fake_server.complaint = complaint
    told: list[Form] = []
    ask_for_plans(fake_server, 3, schemas=SchemaForms(on_change=told.append))
    assert told == ["plain_json_schema"]
    form = fake_server.received[-1].body["response_format"]
    assert form["type"] == "json_schema" and form["json_schema"]["strict"]
    assert form["json_schema"]["schema"]["properties"]["a"]["items"] == {"type": "string", "enum": ["x", "y"]}


def test_all_that_are_in_flight_at_the_first_refusal_are_sent_again_in_the_next_form(
    fake_server: FakeServer,
) -> None:
    fake_server.complaint = taking(refusal=REFUSALS["OLD_OPENAI"])
    told: list[Form] = []
    books = Books()
    schemas = SchemaForms(on_change=told.append)
    answers, _ = ask_for_plans(fake_server, 40, books=books, connections=20, schemas=schemas, max_tries=1)
    assert len(answers) == 40 and told == ["json_object", "none"]
    outcomes = Counter(attempt.outcome for attempt in books.attempts)
    assert outcomes["answered"] == 40 and set(outcomes) == {"answered", "HTTP 400"}
    assert len(books.attempts) == len(fake_server.received) <= 40 + 3 * 20


def test_a_form_that_is_known_is_sent_at_once(fake_server: FakeServer) -> None:
    fake_server.complaint = taking("json_object")
    ask_for_plans(fake_server, schemas=SchemaForms("json_object"))
    assert asked_forms(fake_server) == ["json_object"]


def test_a_form_that_no_version_knows_is_the_first(fake_server: FakeServer) -> None:
    assert SchemaForms("xml").form == "json_schema"


def test_where_a_schema_is_required_its_refusal_ends_the_run(fake_server: FakeServer) -> None:
    fake_server.complaint = taking()
    with pytest.raises(ModelError, match="--structured true: the server accepts no JSON schema") as caught:
        ask_for_plans(fake_server, schemas=SchemaForms(required=True))
    assert caught.value.stops_run and asked_forms(fake_server) == ["json_schema", "json_object"]
    assert SchemaForms("none", required=True).form == "json_schema"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (500, "CUDA out of memory while decoding a grammar"),
        (500, "unsupported operand type(s). Request: response_format=json_schema"),
        (429, "Rate limit: requests with response_format are not supported above 3 a minute"),
    ],
)
def test_trouble_that_mentions_the_schema_does_not_drop_it(status: int, message: str) -> None:
    complaint = json.dumps({"error": {"message": message, "param": None}})
    assert not SchemaForms().learn(complaint, FORMAT, status)


def test_after_an_answer_a_failing_server_does_not_refuse_the_schema() -> None:
    forms = SchemaForms()
    forms.answered(FORMAT, GOOD, "stop")
    assert not forms.learn(json.dumps(REFUSALS["LLAMA_CPP"][1]), FORMAT, 500)
    assert forms.learn(json.dumps(REFUSALS["OLD_OPENAI"][1]), FORMAT, 400)


def test_a_server_that_repeats_the_request_does_not_refuse_the_schema(fake_server: FakeServer) -> None:
    fake_server.behaviour = lambda prompt, number: "400-echo"
    with pytest.raises(ModelError):
        ask_for_plans(fake_server)
    assert asked_forms(fake_server)[0] == "json_schema" and "json_object" not in asked_forms(fake_server)


@pytest.mark.parametrize(
    "message",
    [
        "This model does not support response format `json_schema`.",
        "Failed to parse grammar",
        "response_format: unknown variant `json_schema`, expected `json_object` or `regex`",
    ],
)
def test_refusals_of_the_schema_in_other_words(message: str) -> None:
    assert SchemaForms().learn(json.dumps({"error": {"message": message}}), FORMAT, 400)


def test_a_form_of_the_users_own_is_left_out_where_it_is_refused(fake_server: FakeServer) -> None:
    fake_server.complaint = taking(refusal=REFUSALS["UNKNOWN_SCHEMA"])
    own = {"response_format": {"type": "json_object", "schema": SCHEMA}}
    ask_for_plans(fake_server, extra_body=own, max_tries=1)
    assert asked_forms(fake_server) == ["json_object", None]


def test_a_server_that_ignores_the_schema_is_named_once_and_counted(fake_server: FakeServer) -> None:
    told: list[str] = []
    _, model = ask_for_plans(fake_server, 12, text="Sure! Here is a plan.", tell=told.append)
    assert len(told) == 1 and "may ignore response_format" in told[0]
    assert model.facts()["structured_output"] == {"form": "json_schema", "answers": 12, "misfits": 12}


@pytest.mark.parametrize("text", [GOOD, f"<think>Hm: {{.</think>\n{GOOD}", f"[THINK]Hm: {{.[/THINK]{GOOD}"])
def test_answers_that_fit_are_counted_and_not_warned_about(fake_server: FakeServer, text: str) -> None:
    told: list[str] = []
    _, model = ask_for_plans(fake_server, 12, text=text, tell=told.append)
    assert not told
    assert model.facts()["structured_output"] == {"form": "json_schema", "answers": 12, "misfits": 0}


@given(
    st.text() | st.recursive(st.none() | st.text(), lambda inner: st.lists(inner)).map(json.dumps),
    st.sampled_from([None, 400, 404, 422, 429, 500]),
)
def test_whatever_a_server_says_of_a_schema_is_read(complaint: str, status: int | None) -> None:
    forms = SchemaForms()
    first = forms.form
    assert forms.learn(complaint, FORMAT, status) == (forms.form != first)
