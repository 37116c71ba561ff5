"""Back-Instruct for schema graphs: the prompt, the record of a sample, and its label."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from tests.support.builders import imported_tool
from tests.support.schema_graphs import CINEMA
from toolassay.backinstruct.labels import Labeller
from toolassay.backinstruct.prompt import BackInstructPrompt, read_instruction
from toolassay.backinstruct.records import raw_sample
from toolassay.graph import FieldPair, Link
from toolassay.offline.writer.instruction import write_instruction
from toolassay.prompts.plan_schemas import sample_schema
from toolassay.prompts.templates import Wording
from toolassay.records.dataset import Sample
from toolassay.tools.library import ToolLibrary

SAMPLE = Sample(
    0,
    3,
    "chain",
    ("search_movies", "list_shows", "open_doors"),
    (Link("search_movies", "list_shows", "filter.movie_id"), Link("list_shows", "open_doors", "order")),
    ((FieldPair("results[].id", "filter.movie_id"),), ()),
)
WRITTEN = [
    {
        "source": "search_movies",
        "target": "list_shows",
        "fields": [{"from": "results[].id", "to": "filter.movie_id"}],
    },
    {"source": "list_shows", "target": "open_doors", "fields": []},
]


@pytest.mark.parametrize("wording", ["default", "example"])
def test_the_prompt_shows_the_fields_that_flow(wording: Wording) -> None:
    prompt = BackInstructPrompt(CINEMA.library, "schema", wording=wording).render(SAMPLE)
    links = (
        "Link: search_movies -> list_shows\n"
        "  results[].id -> filter.movie_id\n"
        "Link: list_shows -> open_doors\n\n"
    )
    assert links in prompt
    assert "genre_ids" in prompt  # what a tool returns
    assert "$" not in prompt


def test_an_answer_that_repeats_the_form_is_none() -> None:
    wordings: tuple[Wording, ...] = ("default", "example")
    for wording in wordings:
        prompt = BackInstructPrompt(CINEMA.library, "schema", wording=wording)
        shown = next(
            line
            for message in prompt.messages(SAMPLE)
            for line in message["content"].splitlines()
            if line.startswith('{"task_steps"')
        )
        assert read_instruction(shown, "schema")[0] is None
    answer = json.dumps(write_instruction(SAMPLE, CINEMA.library, "schema"))
    assert read_instruction(answer, "schema")[0] == json.loads(answer)


def test_a_record_and_its_label_keep_the_fields() -> None:
    record = raw_sample(SAMPLE, CINEMA.library, write_instruction(SAMPLE, CINEMA.library, "schema"))
    assert record.to_json()["sampled_links"] == WRITTEN
    label, problems = Labeller(CINEMA.library, "schema").label(record)
    assert problems == [] and label is not None
    assert label.record["sampled_links"] == WRITTEN
    assert label.record["type"] == "chain"
    assert label.record["task_nodes"][1]["arguments"][0]["value"]["movie_id"] == "<node-0>.results[0].id"


@pytest.mark.parametrize("wording", ["default", "example"])
def test_the_prompt_shows_the_condition_of_a_link(wording: Wording) -> None:
    conditions = {("search_movies", "list_shows"): "only if it\n is in cinemas"}
    prompt = BackInstructPrompt(CINEMA.library, "schema", wording=wording, conditions=conditions)
    assert (
        "Link: search_movies -> list_shows\n"
        "  condition: only if it is in cinemas\n"
        "  results[].id -> filter.movie_id\n"
        "Link: list_shows -> open_doors\n"
    ) in prompt.render(SAMPLE)


def test_an_object_without_declared_keys_is_json_text_in_a_constrained_answer() -> None:
    fields = {"fields": {"type": "object"}, "tags": {"type": "array", "items": {"type": "object"}}}
    tool = imported_tool("add_note", "Adds a note.", fields, ["fields"])
    library = ToolLibrary.from_json({"nodes": [tool]})
    sample = Sample(0, 3, "single", ("add_note",), ())
    prompt = BackInstructPrompt(library, "schema").render(sample)
    assert "whose keys are not declared, such as `object`, is JSON text." in prompt
    schema = sample_schema(library.tools, 0, "schema", check=False)

    def answer(fields: object, tags: object) -> dict[str, object]:
        arguments = [{"name": "fields", "value": fields}, {"name": "tags", "value": tags}]
        graph = {"nodes": [{"id": "add_note", "arguments": arguments}], "links": []}
        return {"task_steps": ["Step 1"], "user_request": "Note Ann.", "invoking_graph": graph}

    text = answer('{"name": "Ann"}', ['{"a": 1}'])
    values = answer({"name": "Ann"}, [{"a": 1}])
    validator = Draft202012Validator(schema)
    assert validator.is_valid(text) and not validator.is_valid(values)
    for written in (text, values):  # a server without structured output may answer either
        result, _ = read_instruction(json.dumps(written), "schema")
        assert result is not None
        label, problems = Labeller(library, "schema").label(raw_sample(sample, library, result))
        assert problems == [] and label is not None
        arguments = label.record["task_nodes"][0]["arguments"]
        assert [argument["value"] for argument in arguments] == [{"name": "Ann"}, [{"a": 1}]]
