"""What stands in the manifest beside every run, and what an endpoint that refuses parameters adds."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

import pytest

import toolassay
from tests.support.builders import data_folder
from tests.support.running import entries_of, generate, ids, infer, inside, lines_of, manifest, write_lines
from toolassay.models import ModelOptions
from toolassay.testkit import FakeServer

REFUSED = {
    "max_tokens": {
        "error": {
            "message": "Unsupported parameter: 'max_tokens' is not supported with this model."
            " Use 'max_completion_tokens' instead.",
            "param": "max_tokens",
        }
    },
    "presence_penalty": {
        "detail": [{"loc": ["body", "presence_penalty"], "msg": "Extra inputs are not permitted"}]
    },
}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_manifest_of_an_inference(
    tmp_path: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    folder = data_folder(tmp_path, 3)
    base = fake_server.base.replace("//", "//me:PASSWORD@") + "?key=SECRET"
    more = ("--data_dir", folder, "--api_base", base, "--multiworker", "2")
    assert inside("infer", *more).code == 0
    (start,) = manifest(folder / "predictions/runs/gpt-4")["starts"]
    assert start["command"][:3] == ["infer.py", "--data_dir", str(folder)]
    shown = f"{fake_server.base}?key=***".replace("//", "//***@")
    assert start["command"][3:] == ["--api_base", shown, "--multiworker", "2"]
    assert start["versions"]["toolassay"] == toolassay.__version__
    assert start["versions"]["python"] == platform.python_version()
    assert {"aiohttp", "numpy", "platform"} < start["versions"].keys()
    assert start["endpoint"] == {"url": shown, "client": "aiohttp", "stream": False}
    assert (start["requests"], start["asked"]) == (3, 3)
    for name in ("user_requests.json", "tool_desc.json", "graph_desc.json"):
        assert start["sha256"][name] == sha256(folder / name)
    assert len(start["sha256"]["prompt"]) == 64
    assert start["time"] <= start["ended"]
    (client,) = start["clients"]
    assert (client["model"], client["concurrency"]) == ("gpt-4", 2)


def test_each_start_is_noted_and_new_requests_are_no_change_of_settings(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path, 3)
    assert infer(fake_server, folder).code == 0
    requests = lines_of(folder / "user_requests.json")
    requests[0]["user_request"] = "Something else."
    write_lines(folder / "user_requests.json", [*requests, {"id": "new", "user_request": "One more."}])
    assert infer(fake_server, folder).code == 0
    assert len(fake_server.received) == 5
    assert ids(folder / "predictions/gpt-4.json") == ["1000", "1001", "1002", "new"]
    first, second = manifest(folder / "predictions/runs/gpt-4")["starts"]
    name = "user_requests.json"
    assert first["sha256"][name] != second["sha256"][name] == sha256(folder / name)
    assert (first["requests"], second["requests"]) == (3, 4)


def test_the_manifest_of_a_generation_and_of_a_call_from_python(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path, 1)
    assert generate(fake_server, folder, "--number_of_samples", "3", "--seed", "7").code == 0
    made = manifest(folder / "runs/gpt-4")
    assert made["settings"]["seed"] == 7
    (start,) = made["starts"]
    assert "--number_of_samples" in start["command"] and start["samples"] == 3
    assert start["sha256"].keys() == {"tool_desc.json", "graph_desc.json", "graph", "prompt"}
    assert start["clients"][0]["concurrency"] == "adaptive"

    toolassay.infer(folder, llm="acme", options=ModelOptions(api_base=fake_server.base))
    toolassay.infer(folder, llm="offline")
    (asked,) = manifest(folder / "predictions/runs/acme")["starts"]
    (offline,) = manifest(folder / "predictions/runs/offline")["starts"]
    assert asked["command"] is offline["command"] is None
    assert asked["endpoint"]["url"] == fake_server.base and offline["endpoint"] is None
    assert offline["clients"] == [] and offline["sha256"]["prompt"]


@pytest.mark.parametrize("stage", ["infer", "generate"])
def test_refused_parameters_are_said_once_kept_and_known_to_the_next_start(
    tmp_path: Path, fake_server: FakeServer, stage: str
) -> None:
    fake_server.refused_parameters = dict(REFUSED)
    folder = data_folder(tmp_path, 12)
    ask, run = {
        "infer": (infer, folder / "predictions/runs/gpt-4"),
        "generate": (generate, folder / "runs/gpt-4"),
    }[stage]
    more = ("--number_of_samples", "12", "--seed", "1") if stage == "generate" else ()
    done = ask(fake_server, folder, "--multiworker", "6", *more)
    assert done.code == 0, done.err
    assert done.err.count("the endpoint refuses ") == 1
    assert "max_tokens (sent as max_completion_tokens), presence_penalty (left out)" in done.err
    assert {entry["outcome"] for entry in entries_of(run / "journal.jsonl")} == {"answered"}
    ledger = lines_of(run / "ledger.jsonl")
    assert len(ledger) == len(fake_server.received) > 12
    refused = manifest(run)["refused_parameters"]
    assert {(fact["parameter"], fact.get("instead")) for fact in refused} == {
        ("max_tokens", "max_completion_tokens"),
        ("presence_penalty", None),
    }
    assert all((fact["model"], fact["endpoint"]) == ("gpt-4", fake_server.base) for fact in refused)

    fake_server.forget()
    (run / "journal.jsonl").unlink()
    for name in ("predictions/gpt-4.json", "data_raw.json"):
        (folder / name).unlink(missing_ok=True)
    done = ask(fake_server, folder, "--multiworker", "6", *more)
    assert done.code == 0 and "refuses" not in done.err
    assert len(fake_server.received) == 12
    assert all(request.body["max_completion_tokens"] for request in fake_server.received)


def test_azure_from_the_command_line(
    tmp_path: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "AZURE-SECRET")
    folder = data_folder(tmp_path, 1)
    done = inside("infer", "--data_dir", folder, "--api_version", "2024-10-21")
    assert done.code == 2 and "no --api_version any more: set OPENAI_API_VERSION" in done.error
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", fake_server.base.removesuffix("/v1"))
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert inside("infer", "--data_dir", folder, "--client", "openai").code == 0
    assert "api-version=2024-10-21" in fake_server.received[0].query
    (start,) = manifest(folder / "predictions/runs/gpt-4")["starts"]
    assert start["endpoint"]["api_version"] == "2024-10-21" and "openai" in start["versions"]


def test_a_missing_v1_is_said_once_kept_and_known_to_the_next_start(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path, 3)
    base = fake_server.base.removesuffix("/v1")
    asked = ("--data_dir", folder, "--api_base", base)
    done = inside("infer", *asked, "--limit", "2")
    assert done.code == 0, done.err
    assert done.err.count(f"{fake_server.base} answers and is used") == 1
    run = folder / "predictions/runs/gpt-4"
    assert manifest(run)["version_paths"] == [{"endpoint": base, "path": "/v1"}]
    lost = [line for line in lines_of(run / "ledger.jsonl") if line["outcome"] == "HTTP 404"]
    assert len(lost) == 1

    done = inside("infer", *asked)
    assert done.code == 0 and "answers and is used" not in done.err
    assert len(lines_of(run / "ledger.jsonl")) == 4
