"""What the client makes of real servers, each with the same tests.

Run with `TOOLASSAY_SERVERS=FOLDER python -m pytest -m server`; docs/servers.md says how to make FOLDER.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

import pytest

from tests.real_servers import (
    fastchat_server,
    litellm_proxy,
    llama_cpp_server,
    transformers_serve,
    vllm_server,
)
from tests.real_servers.inference_job import REQUESTS, Job, add_request
from tests.real_servers.serving import Server
from tests.support.running import entries_of, ids, lines_of

RECIPES = [
    module.RECIPE
    for module in (transformers_serve, vllm_server, fastchat_server, llama_cpp_server, litellm_proxy)
]
pytestmark = [
    pytest.mark.server,
    pytest.mark.parametrize("server", RECIPES, indirect=True, ids=lambda recipe: recipe.name, scope="module"),
]


def entries(job: Job) -> dict[str, Any]:
    """The journal; fails if an item is in it twice."""
    lines = entries_of(job.run / "journal.jsonl")
    assert max(Counter(line["key"] for line in lines).values()) == 1
    return {line["key"]: line for line in lines}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", ["aiohttp", "openai"])
def test_every_request_ends_once_and_is_in_the_books(
    job: Job, server: Server, client: str, stream: bool
) -> None:
    if stream and not server.recipe.streams:
        pytest.skip(f"the streams of {server.recipe.name} break")
    done = job.infer("--client", client, "--stream", str(stream).lower())
    assert done.code == 0, done.err
    requested = ids(job.folder / "data/user_requests.json")
    assert ids(job.folder / "data/predictions/tiny.json") == requested
    journal = entries(job)
    assert len(journal) == REQUESTS
    assert {entry["outcome"] for entry in journal.values()} == {server.recipe.outcome}
    assert {entry.get("finish_reason", "stop") for entry in journal.values()} == {server.recipe.finish_reason}
    kinds = ("prompt_tokens", "completion_tokens")
    counts = [entry.get(kind) for entry in journal.values() for kind in kinds]
    if stream and not server.recipe.usage_streamed:
        assert counts == [None] * 2 * REQUESTS
        assert f"those of {REQUESTS} answers, not said" in done.err
    else:
        assert min(counts) > 0
    lines = lines_of(job.folder / "data/predictions/tiny.json")
    assert all(line.get("truncated", False) == (server.recipe.finish_reason == "length") for line in lines)
    ledger = lines_of(job.run / "ledger.jsonl")
    assert [(line["outcome"], line["attempt"]) for line in ledger] == [("answered", 1)] * REQUESTS
    assert {line["item"]: line.get("prompt_tokens") for line in ledger} == {
        key: entry.get("prompt_tokens") for key, entry in journal.items()
    }
    assert all(("first_token_seconds" in line) == stream for line in ledger)


def test_a_prompt_longer_than_the_context_is_said_and_not_tried_again(job: Job, server: Server) -> None:
    if not server.recipe.overflows:
        pytest.skip(f"{server.recipe.name} computes on, however long the prompt")
    added = add_request(job, "Translate this: " + "tomatoes are red and " * 4000)
    done = job.infer()
    assert done.code == 3, done.err
    journal = entries(job)
    assert journal[next(key for key in journal if added in key)]["outcome"] == "context overflow"
    assert Counter(entry["outcome"] for entry in journal.values())[server.recipe.outcome] == REQUESTS
    assert len(lines_of(job.run / "ledger.jsonl")) == REQUESTS + 1


def test_a_model_that_is_not_there_is_one_line(job: Job, server: Server) -> None:
    if server.recipe.any_name:
        pytest.skip(f"{server.recipe.name} answers under every name")
    done = job.infer("--llm", "nobody")
    assert done.code == 1
    assert "nobody" in done.error
    assert not (job.folder / "data/predictions/nobody.json").exists()


def test_a_stream_that_breaks_before_its_first_word_is_one_line(job: Job, server: Server) -> None:
    if server.recipe.streams:
        pytest.skip("its streams are whole")
    done = job.infer("--stream", "true", "--max_tries", "1")
    assert done.code == 1
    assert "the connection broke" in done.error


def test_a_schema_makes_plans_of_a_model_that_has_learnt_nothing(job: Job, server: Server) -> None:
    if server.recipe.schema is None:
        pytest.skip(f"{server.recipe.name} ignores schemas")
    tools = [tool["id"] for tool in json.loads((job.folder / "data/tool_desc.json").read_text())["nodes"]]
    node = {
        "type": "object",
        "properties": {
            "task": {"enum": tools},
            "arguments": {"type": "array", "items": {"enum": ["example.jpg", "<node-0>"]}, "maxItems": 2},
        },
        "required": ["task", "arguments"],
        "additionalProperties": False,
    }
    plan = {
        "type": "object",
        "properties": {
            "task_steps": {"type": "array", "items": {"enum": ["use it"]}, "maxItems": 2},
            "task_nodes": {"type": "array", "items": node, "minItems": 1, "maxItems": 2},
        },
        "required": ["task_steps", "task_nodes"],
        "additionalProperties": False,
    }
    (job.folder / "extra.json").write_text(
        json.dumps({"max_tokens": 400, "response_format": server.recipe.schema(plan)})
    )
    done = job.infer()
    assert done.code == 0, done.err
    assert {entry["outcome"] for entry in entries(job).values()} == {"answered"}
    named = {
        node["task"]
        for line in lines_of(job.folder / "data/predictions/tiny.json")
        for node in line["result"]["task_nodes"]
    }
    assert named <= set(tools)


def test_a_server_killed_in_the_middle_costs_nothing_that_was_answered(job: Job, server: Server) -> None:
    process = job.start("--multiworker", "1", "--max_tries", "1")
    journal = job.run / "journal.jsonl"
    end = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    server.kill()
    _, err = process.communicate(timeout=120)
    server.start()
    assert process.returncode == 3, err
    assert "requests have no answer: the same command asks them again" in err
    assert "Traceback" not in err
    before = {entry["key"]: entry for entry in lines_of(journal) if "response" in entry}
    assert 0 < len(before) < REQUESTS
    done = job.infer("--multiworker", "1", "--max_tries", "1")
    assert done.code == 0, done.err
    after = {entry["key"]: entry for entry in lines_of(journal) if "response" in entry}
    assert len(after) == REQUESTS
    assert before.items() <= after.items()
    answered = [line["item"] for line in lines_of(job.run / "ledger.jsonl") if line["outcome"] == "answered"]
    assert sorted(answered) == sorted(after)
