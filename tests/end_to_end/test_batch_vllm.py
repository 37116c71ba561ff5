"""--batch vllm: an input file, the command of vLLM, and its output file, as vLLM 0.32 writes it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import data_folder
from tests.support.running import Finished, files_below, infer, inside, lines_of, write_lines
from toolassay.testkit import FakeServer, canned_answer


def start(folder: Path, *more: str | Path) -> Finished:
    return inside("infer", "--data_dir", folder, "--llm", "tiny", "--batch", "vllm", *more)


def batches(folder: Path) -> Path:
    return folder / "predictions/runs/tiny/batches"


def answer(line: dict[str, Any]) -> dict[str, Any]:
    """What vLLM writes about a request."""
    prompt = line["body"]["messages"][-1]["content"]
    text = canned_answer(prompt)
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": len(prompt), "completion_tokens": len(text)}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}
    response = {"status_code": 200, "request_id": "vllm-batch-1", "body": body}
    return {"id": "vllm-1", "custom_id": line["custom_id"], "response": response, "error": None}


def run_vllm(folder: Path, number: int = 1, *, only: int | None = None) -> list[dict[str, Any]]:
    """Answer an input file, or its first requests, in place of vLLM; returns the lines of the output."""
    lines = [answer(line) for line in lines_of(batches(folder) / f"{number}.input.jsonl")]
    write_lines(batches(folder) / f"{number}.output.jsonl", lines[:only])
    return lines


def test_a_round_trip_gives_the_files_of_single_requests(tmp_path: Path, fake_server: FakeServer) -> None:
    folder, single = data_folder(tmp_path / "data", 5), data_folder(tmp_path / "single", 5)
    done = start(folder)
    assert done.code == 3
    command = next(line for line in done.err.splitlines() if "run_batch" in line)
    places = [str(batches(folder) / f"1.{name}.jsonl") for name in ("input", "output")]
    assert shlex.split(command)[1:] == (
        ["-m", "vllm.entrypoints.openai.run_batch", "-i", places[0], "-o", places[1], "--model", "tiny"]
    )
    lines = lines_of(Path(places[0]))
    assert {line["body"]["model"] for line in lines} == {"tiny"} and len(lines) == 5
    again = start(folder)  # nothing is there yet: the same file, the same command
    assert again.code == 3 and command in again.err.splitlines()
    assert [path.name for path in batches(folder).iterdir()] == ["1.input.jsonl"]
    run_vllm(folder)
    done = start(folder)
    assert done.code == 0, done.err
    assert "money: $0.0000 (local, no price)" in done.err
    assert infer(fake_server, single, "--llm", "tiny").code == 0
    files = [path / "predictions/tiny.json" for path in (folder, single)]
    assert files[0].read_bytes() == files[1].read_bytes()
    ledger = lines_of(folder / "predictions/runs/tiny/ledger.jsonl")
    assert len(ledger) == 5 and {(line["seconds"], line["cost"]) for line in ledger} == {(None, 0.0)}
    manifest = json.loads((folder / "predictions/runs/tiny/manifest.json").read_text())
    assert manifest["starts"][0]["endpoint"] == {"batch": "vllm"}
    assert inside("verify", "--data_dir", folder, "--llm", "tiny").code == 0


def test_a_partial_output_is_used_and_the_rest_is_in_a_second_file(tmp_path: Path) -> None:
    folder = data_folder(tmp_path / "data", 5)
    start(folder)
    whole = run_vllm(folder, only=3)
    with (batches(folder) / "1.output.jsonl").open("a") as stream:
        stream.write(json.dumps(whole[3])[:200])  # vLLM was killed while it wrote
    done = start(folder)
    assert done.code == 3 and "2 requests to answer" in done.err and "2.input.jsonl" in done.err
    assert len(lines_of(folder / "predictions/tiny.json")) == 3
    missing = [line["custom_id"] for line in lines_of(batches(folder) / "2.input.jsonl")]
    assert missing == [line["custom_id"] for line in whole[3:]]
    # It was still running after all: its file has grown, and the second one is not needed.
    run_vllm(folder)
    done = start(folder)
    assert done.code == 0, done.err
    assert len(lines_of(folder / "predictions/runs/tiny/ledger.jsonl")) == 5


def test_what_vllm_refuses_is_an_outcome(tmp_path: Path) -> None:
    folder = data_folder(tmp_path / "data", 3)
    start(folder)
    lines = run_vllm(folder)
    said = {"message": "This model's maximum context length is 8192 tokens.", "code": 400}
    head = {"status_code": 400, "request_id": "vllm-batch-2", "body": None}
    lines[1] = {**lines[1], "response": head, "error": {"error": said}}
    lines[2] = {**lines[2], "response": {**head, "status_code": 500}, "error": {"error": {"message": "oops"}}}
    write_lines(batches(folder) / "1.output.jsonl", lines)
    done = start(folder)
    assert done.code == 3 and "1 answered, 1 context overflow, 1 not run" in done.out
    # A failure that may pass is tried again, with the id of a second attempt.
    (second,) = lines_of(batches(folder) / "2.input.jsonl")
    assert second["custom_id"] == lines[2]["custom_id"].removesuffix("-1") + "-2"
    run_vllm(folder, 2)
    done = start(folder, "--ids", _ids(tmp_path, "1002"))
    assert done.code == 0, done.err


def _ids(folder: Path, *ids: str) -> Path:
    path = folder / "ids.txt"
    path.write_text("\n".join(ids))
    return path


@pytest.mark.parametrize("field", [{"api_token": "sk-secret"}, {"provider": {"auth": {"key": "sk-secret"}}}])
def test_a_secret_never_gets_into_the_input_file(tmp_path: Path, field: dict[str, Any]) -> None:
    folder, extra = data_folder(tmp_path / "data", 3), tmp_path / "extra.json"
    extra.write_text(json.dumps(field))
    before = files_below(folder)
    done = start(folder, "--extra_body", extra)
    assert done.code == 2 and "to a file" in done.error
    assert files_below(folder) == before and "sk-secret" not in done.err
