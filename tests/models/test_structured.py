from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import dialects
import pytest
from dialects import taking
from hypothesis import given
from hypothesis import strategies as st
from simulated import Books

from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.structured_output import Form, SchemaForms, json_schema
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "maxItems": 2}},
    "required": ["a"],
    "additionalProperties": False,
}
FORMAT = json_schema("plan", SCHEMA)
GOOD = '{"a": ["x"]}'


def ask(
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


def sent(server: FakeServer) -> list[str | None]:
    return [request.body.get("response_format", {}).get("type") for request in server.received]


@pytest.mark.parametrize("client", ["aiohttp", "openai"])
def test_llama_cpp_gets_the_schema_as_json_object_and_its_500_is_no_try(
    fake_server: FakeServer, client: str
) -> None:
    fake_server.complaint = taking("json_object")
    told: list[Form] = []
    (answer,), _ = ask(fake_server, client=client, schemas=SchemaForms(on_change=told.append), max_tries=1)
    assert sent(fake_server) == ["json_schema", "json_object"]
    assert fake_server.received[1].body["response_format"] == {"type": "json_object", "schema": SCHEMA}
    assert (answer.text, answer.attempts, told) == (GOOD, 2, ["json_object"])


@pytest.mark.parametrize(
    "refusal",
    [
        dialects.LLAMA_CPP,
        dialects.OLD_OPENAI,
        dialects.VLLM,
        dialects.PYDANTIC,
    ],
)
def test_a_server_that_takes_no_form_is_asked_without(
    fake_server: FakeServer, refusal: tuple[int, Any]
) -> None:
    fake_server.complaint = taking(refusal=refusal)
    told: list[Form] = []
    ask(fake_server, schemas=SchemaForms(on_change=told.append), max_tries=1)
    assert sent(fake_server) == ["json_schema", "json_object", None]
    assert fake_server.received[-1].body["max_tokens"] == 50
    assert told == ["json_object", "none"]


def test_a_strict_mode_without_limits_of_lists_gets_the_schema_without_them(fake_server: FakeServer) -> None:
    def complaint(body: Mapping[str, Any]) -> tuple[int, Any] | None:
        return dialects.AZURE if "maxItems" in json.dumps(body) else None

    fake_server.complaint = complaint
    told: list[Form] = []
    ask(fake_server, 3, schemas=SchemaForms(on_change=told.append))
    assert told == ["plain_json_schema"]
    form = fake_server.received[-1].body["response_format"]
    assert form["type"] == "json_schema" and form["json_schema"]["strict"]
    assert form["json_schema"]["schema"]["properties"]["a"]["items"] == {"type": "string", "enum": ["x", "y"]}


@pytest.mark.parametrize("refusal", [dialects.OLD_OPENAI])
def test_all_that_are_in_flight_at_the_first_refusal_are_sent_again_in_the_next_form(
    fake_server: FakeServer, refusal: tuple[int, Any]
) -> None:
    fake_server.complaint = taking(refusal=refusal)
    told: list[Form] = []
    books = Books()
    schemas = SchemaForms(on_change=told.append)
    answers, _ = ask(fake_server, 40, books=books, connections=20, schemas=schemas, max_tries=1)
    assert len(answers) == 40 and told == ["json_object", "none"]
    outcomes = Counter(attempt.outcome for attempt in books.attempts)
    assert outcomes["answered"] == 40 and set(outcomes) == {"answered", f"HTTP {refusal[0]}"}
    assert len(books.attempts) == len(fake_server.received) <= 40 + 3 * 20


def test_a_form_that_is_known_is_sent_at_once(fake_server: FakeServer) -> None:
    fake_server.complaint = taking("json_object")
    ask(fake_server, schemas=SchemaForms("json_object"))
    assert sent(fake_server) == ["json_object"]


def test_a_form_that_no_version_knows_is_the_first(fake_server: FakeServer) -> None:
    assert SchemaForms("xml").form == "json_schema"


def test_where_a_schema_is_required_its_refusal_ends_the_run(fake_server: FakeServer) -> None:
    fake_server.complaint = taking()
    with pytest.raises(ModelError, match="--structured true: the server accepts no JSON schema") as caught:
        ask(fake_server, schemas=SchemaForms(required=True))
    assert caught.value.stops_run and sent(fake_server) == ["json_schema", "json_object"]
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
    assert not forms.learn(json.dumps(dialects.LLAMA_CPP[1]), FORMAT, 500)
    assert forms.learn(json.dumps(dialects.OLD_OPENAI[1]), FORMAT, 400)


def test_a_server_that_repeats_the_request_does_not_refuse_the_schema(fake_server: FakeServer) -> None:
    fake_server.behaviour = lambda prompt, number: "400-echo"
    with pytest.raises(ModelError):
        ask(fake_server)
    assert sent(fake_server)[0] == "json_schema" and "json_object" not in sent(fake_server)


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
    fake_server.complaint = taking(refusal=dialects.UNKNOWN_SCHEMA)
    own = {"response_format": {"type": "json_object", "schema": SCHEMA}}
    ask(fake_server, extra_body=own, max_tries=1)
    assert sent(fake_server) == ["json_object", None]


def test_a_form_without_a_schema_is_a_parameter_like_others(fake_server: FakeServer) -> None:
    fake_server.complaint = taking(refusal=dialects.LITELLM)
    with pytest.raises(ModelError, match="because you set it: response_format"):
        ask(fake_server, extra_body={"response_format": {"type": "json_object"}})
    assert set(sent(fake_server)) == {"json_object"}


def test_a_server_that_ignores_the_schema_is_named_once_and_counted(fake_server: FakeServer) -> None:
    told: list[str] = []
    _, model = ask(fake_server, 12, text="Sure! Here is a plan.", tell=told.append)
    assert len(told) == 1 and "may ignore response_format" in told[0]
    assert model.facts()["structured_output"] == {"form": "json_schema", "answers": 12, "misfits": 12}


@pytest.mark.parametrize("text", [GOOD, f"<think>Hm: {{.</think>\n{GOOD}", f"[THINK]Hm: {{.[/THINK]{GOOD}"])
def test_answers_that_fit_are_counted_and_not_warned_about(fake_server: FakeServer, text: str) -> None:
    told: list[str] = []
    _, model = ask(fake_server, 12, text=text, tell=told.append)
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
