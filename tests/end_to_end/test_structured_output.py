"""`--structured` from the command line: what is sent, what a refusal changes, and what is recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import chat_folder, data_folder
from tests.support.dialects import LITELLM, asked_forms, taking
from tests.support.running import entries_of, generate, infer, manifest
from toolassay.testkit import FakeServer

STAGES = pytest.mark.parametrize("stage", ["infer", "generate"])
SENT_AS_OBJECT = "the endpoint refuses the JSON schema as it was sent: it is sent as json_object\n"


def start(stage: str, server: FakeServer, folder: Path, *more: str) -> tuple[Any, Path]:
    """How a stage ended, and the folder of its run."""
    if stage == "infer":
        return infer(server, folder, *more), folder / "predictions/runs/gpt-4"
    samples = ("--number_of_samples", "12", "--seed", "1")
    return generate(server, folder, *samples, *more), folder / "runs/gpt-4"


@STAGES
def test_a_llama_cpp_server_gets_its_own_form_from_the_second_request_on(
    tmp_path: Path, fake_server: FakeServer, stage: str
) -> None:
    fake_server.complaint = taking("json_object")
    folder = data_folder(tmp_path, 12)
    more = ("--structured", "auto", "--multiworker", "6", "--max_tries", "1")
    done, run = start(stage, fake_server, folder, *more)
    assert done.code == 0, done.err
    assert done.err.count(SENT_AS_OBJECT) == 1
    assert {entry["outcome"] for entry in entries_of(run / "journal.jsonl")} == {"answered"}
    assert asked_forms(fake_server).count("json_object") == 12
    (fact,) = manifest(run)["structured_output"]
    assert fact == {"model": "gpt-4", "endpoint": fake_server.base, "form": "json_object"}
    (client,) = manifest(run)["starts"][0]["clients"]
    assert client["structured_output"]["answers"] == 12

    fake_server.forget()
    (run / "journal.jsonl").unlink()
    for name in ("predictions/gpt-4.json", "data_raw.json"):
        (folder / name).unlink(missing_ok=True)
    done, _ = start(stage, fake_server, folder, *more)
    assert done.code == 0 and "refuses" not in done.err
    assert asked_forms(fake_server) == ["json_object"] * 12


@STAGES
def test_where_no_form_is_taken_true_ends_the_run_in_one_line(
    tmp_path: Path, fake_server: FakeServer, stage: str
) -> None:
    fake_server.complaint = taking(refusal=LITELLM)
    folder = data_folder(tmp_path, 2)
    for _ in range(2):
        fake_server.forget()
        done, _ = start(stage, fake_server, folder, "--structured", "true", "--multiworker", "1")
        assert done.code == 1
        assert "--structured true: the server accepts no JSON schema for answers" in done.error
        assert asked_forms(fake_server) == ["json_schema", "json_object"]


def test_infer_sends_no_schema_unless_it_is_asked_to_and_says_so_in_its_settings(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path, 1)
    run = folder / "predictions/runs/gpt-4"
    assert infer(fake_server, folder).code == 0
    assert asked_forms(fake_server) == [None] and "structured" not in manifest(run)["settings"]
    assert infer(fake_server, folder, "--structured", "false").code == 0
    done = infer(fake_server, folder, "--structured")
    assert done.code == 2 and "structured: None -> True; schema changed" in done.error
    assert infer(fake_server, folder, "--structured", "--force", "true").code == 0
    assert manifest(run)["settings"]["structured"] is True
    form = fake_server.received[-1].body["response_format"]
    assert form["json_schema"]["name"] == "plan" and form["json_schema"]["strict"] is True
    node = form["json_schema"]["schema"]["properties"]["task_nodes"]["items"]
    assert "Painter" in node["properties"]["task"]["enum"]


def test_generate_sends_the_schema_of_each_sample_unless_switched_off(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path, 1)
    done, run = start("generate", fake_server, folder, "--check")
    assert done.code == 0 and "may ignore" not in done.err
    assert set(asked_forms(fake_server)) == {"json_schema"} and "structured" not in manifest(run)["settings"]
    for request in fake_server.received:
        schema = request.body["response_format"]["json_schema"]["schema"]
        graph = schema["properties"]["invoking_graph"]["properties"]
        tools = graph["nodes"]["items"]["properties"]["id"]["enum"]
        assert len(tools) == graph["nodes"]["maxItems"]
        assert all(f'"id": "{tool}"' in request.prompt for tool in tools)
        assert "check_by_teacher" in schema["required"]
    (client,) = manifest(run)["starts"][0]["clients"]
    assert client["structured_output"] == {"form": "json_schema", "answers": 12, "misfits": 0}
    fake_server.forget()
    done, run = start("generate", fake_server, folder, "--structured", "false", "--force")
    assert done.code == 0 and manifest(run)["settings"]["structured"] is False
    assert set(asked_forms(fake_server)) == {None}


def test_a_generation_of_an_earlier_version_goes_on(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path, 1)
    start("generate", fake_server, folder, "--structured", "false")
    path = folder / "runs/gpt-4/manifest.json"
    value = manifest(path.parent)
    del value["settings"]["structured"]
    path.write_text(json.dumps(value))
    benchmark = json.loads((folder / "benchmark.json").read_text())
    del benchmark["generation"]["structured"]
    (folder / "benchmark.json").write_text(json.dumps(benchmark))
    fake_server.forget()
    done = generate(fake_server, folder, "--number_of_samples", "13", "--seed", "1")
    assert done.code == 0 and len(fake_server.received) == 1


def test_what_an_earlier_version_noted_of_response_format_is_still_known(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path, 1)
    infer(fake_server, folder, "--structured", "auto")
    run = folder / "predictions/runs/gpt-4"
    noted = {
        "model": "gpt-4",
        "endpoint": fake_server.base,
        "parameter": "response_format",
        "instead": None,
    }
    (run / "manifest.json").write_text(json.dumps({**manifest(run), "refused_parameters": [noted]}))
    (run / "journal.jsonl").unlink()
    (folder / "predictions/gpt-4.json").unlink()
    fake_server.forget()
    assert infer(fake_server, folder, "--structured", "auto").code == 0
    assert asked_forms(fake_server) == [None]


@pytest.mark.parametrize("agent", ["cot", "reasoning"])
def test_the_agents_of_classic_use_the_same_forms(
    tmp_path: Path, fake_server: FakeServer, agent: str
) -> None:
    fake_server.complaint = taking("json_object")
    folder = chat_folder(tmp_path / "chats")
    flags = ("--agent", agent, "--multiworker", "1", "--max_tries", "1")
    assert infer(fake_server, folder, *flags).code == 0
    asked = asked_forms(fake_server)
    assert asked[0] == "json_schema" and set(asked[1:]) == {"json_object"}
    run = folder / "predictions/runs/gpt-4"
    assert "structured" not in manifest(run)["settings"]
    fake_server.forget()
    more = ("--structured", "false", "--prediction_dir", "p")
    assert infer(fake_server, folder, *flags, *more).code == 0
    assert set(asked_forms(fake_server)) == {None}
    assert manifest(folder / "p/runs/gpt-4")["settings"]["structured"] is False
    fake_server.forget()
    more = ("--structured", "auto", "--prediction_dir", "q")
    assert infer(fake_server, folder, *flags, *more).code == 0
    name = fake_server.received[-1].body["response_format"]["schema"]["properties"]["workflow"]
    assert "none" in name["enum"] and len(name["enum"]) > 1, "only an offered name can be written"
    done = infer(fake_server, folder, "--agent", "tools", "--structured", "true")
    assert done.code == 2 and "the agent tools sends no schema" in done.error
