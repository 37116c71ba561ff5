"""The schemas that structured output is held to: every gold plan fits, an unknown tool does not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.builders import difficult_tools, workshop_tools
from tests.support.result_schemas import fits
from toolassay.files.data_files import read_json_lines
from toolassay.prompts.plan_schemas import MOST_NODES, plan_schema, sample_schema
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import read_labels
from toolassay.tools.library import Parameter, Tool, ToolLibrary

IMPORTED = {"workshop": workshop_tools, "difficult": difficult_tools}
NAMES = ("huggingface", "multimedia", "dailylifeapis")
APIS = [Tool(name, parameters=(Parameter("city"), Parameter("date"))) for name in ("book", "cancel")]


@pytest.fixture(params=NAMES)
def folder(request: pytest.FixtureRequest, root: Any) -> DataFolder:
    return DataFolder(root / f"data_{request.param}")


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_every_gold_plan_fits_and_none_with_an_unknown_tool(folder: DataFolder) -> None:
    schema = plan_schema(folder.library(), folder.dependency_type(None))
    labels = [label for _, label in read_labels(folder.data)]
    assert len(labels) >= 300
    for label in labels:
        plan = {key: label[key] for key in schema["properties"]}
        assert fits(plan, schema), label["id"]
        assert len(plan["task_nodes"]) <= MOST_NODES
        wrong = copy.deepcopy(plan)
        wrong["task_nodes"][0]["task"] = "Time Machine"
        assert not fits(wrong, schema)


def test_every_generated_sample_fits_the_schema_of_its_subgraph(folder: DataFolder) -> None:
    library, dependency_type = folder.library(), folder.dependency_type(None)
    for _, record in read_json_lines(folder.data_raw):
        tools = [library[node["id"]] for node in record["sampled_nodes"]]
        check = "check_by_teacher" in record["result"]
        schema = sample_schema(tools, len(record["sampled_links"]), dependency_type, check=check)
        assert fits(record["result"], schema), record["id"]
        assert not fits({**record["result"], "check_by_teacher": 7}, schema)


@pytest.mark.parametrize("name", [*NAMES, *IMPORTED])
def test_the_schemas_keep_to_strict_mode_and_to_what_all_servers_take(name: str, root: Path) -> None:
    is_imported, folder = name in IMPORTED, DataFolder(root / f"data_{name}")
    library = ToolLibrary.from_json(IMPORTED[name]()) if is_imported else folder.library()
    dependency_type = "temporal" if is_imported else folder.dependency_type(None)
    for schema in (
        plan_schema(library, dependency_type),
        sample_schema(library.tools[:3], 2, dependency_type, check=True),
    ):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for part in objects(schema):
            assert part.keys() == {"type", "properties", "required", "additionalProperties"}
            assert part["required"] == list(part["properties"]) and part["additionalProperties"] is False
        text = json.dumps(schema)
        assert not any(f'"{word}"' in text for word in ("pattern", "minItems", "maxLength", "$ref", "oneOf"))


def test_a_temporal_tool_takes_its_own_parameters_only() -> None:
    library = ToolLibrary([*APIS, Tool("mail", parameters=(Parameter("to"),)), Tool("free")])
    schema = plan_schema(library, "temporal")

    def plan(task: str, parameter: str) -> dict[str, Any]:
        node = {"task": task, "arguments": [{"name": parameter, "value": "<node-0>"}]}
        return {"task_steps": ["Go."], "task_nodes": [node], "task_links": []}

    assert fits(plan("book", "city"), schema) and fits(plan("mail", "to"), schema)
    assert not fits(plan("book", "to"), schema) and not fits(plan("mail", "city"), schema)
    assert fits(plan("free", "anything"), schema)
    linked = {**plan("book", "city"), "task_links": [{"source": "book", "target": "mail"}]}
    assert fits(linked, schema)
    assert not fits({**linked, "task_links": [{"source": "book", "target": "fly"}]}, schema)


def test_in_a_large_library_all_tools_share_a_form() -> None:
    tools = [Tool(f"t{n}", parameters=(Parameter(f"p{n}"), Parameter("date"))) for n in range(200)]
    schema = plan_schema(ToolLibrary(tools), "temporal")
    node = schema["properties"]["task_nodes"]["items"]
    names = node["properties"]["arguments"]["items"]["properties"]["name"]["enum"]
    assert len(node["properties"]["task"]["enum"]) == 200
    assert names[:3] == ["p0", "date", "p1"] and len(names) == 201
