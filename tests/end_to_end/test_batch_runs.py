"""Runs whose requests are sent as a batch: the same files as without, at half the price."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import bundled_plans, data_folder
from tests.support.running import (
    Finished,
    files_below,
    generate,
    infer,
    inside,
    lines_of,
    shell,
    started,
)
from toolassay.testkit import FakeServer

HEAD = "model,prompt_usd_per_million,completion_usd_per_million,as_of"
KEY = "sk-a-very-secret-key-0123456789"


def batched(server: FakeServer, folder: Path, *more: str | Path) -> Finished:
    return infer(server, folder, "--batch", "openai", *more)


def run_folder(folder: Path) -> Path:
    return folder / "predictions/runs/gpt-4"


def requests_in(server: FakeServer) -> Counter[str]:
    """How many batches have each request; those that the server never worked on do not count."""
    return Counter(
        json.dumps(line["body"], sort_keys=True)
        for batch in server.batches.batches
        for line in batch.lines[: batch.completed + batch.failed]
    )


def ledger_of(folder: Path) -> list[dict[str, Any]]:
    return lines_of(run_folder(folder) / "ledger.jsonl")


def manifest_of(folder: Path) -> Any:
    return json.loads((run_folder(folder) / "manifest.json").read_text())


def test_a_batch_gives_the_files_of_single_requests(tmp_path: Path, fake_server: FakeServer) -> None:
    single, many = data_folder(tmp_path / "single", 7), data_folder(tmp_path / "batch", 7)
    assert infer(fake_server, single).code == 0
    done = batched(fake_server, many)
    assert done.code == 0, done.err
    assert "batch_1: 7 requests submitted" in done.err and "batch_1: completed, 7 of 7" in done.err
    assert [batch.status for batch in fake_server.batches.batches] == ["completed"]
    one, other = single / "predictions/gpt-4.json", many / "predictions/gpt-4.json"
    assert one.read_bytes() == other.read_bytes()
    for name in ("journal.jsonl", "ledger.jsonl"):
        ones, others = (
            {line.get("key") or line["item"]: line for line in lines_of(run_folder(folder) / name)}
            for folder in (single, many)
        )
        different = {field for item in ones for field in ones[item].keys() ^ others[item].keys()}
        unequal = {
            field
            for item in ones
            for field in ones[item].keys() & others[item].keys()
            if ones[item][field] != others[item][field]
        }
        if name == "journal.jsonl":
            assert (different, unequal) == (set(), set())
        else:  # that the time is unknown, and the id in the batch, are all that differs
            assert different == {"custom_id", "queued_seconds"}
            assert unequal <= {"time", "seconds"} and {line["seconds"] for line in others.values()} == {None}
    settings = [manifest_of(folder)["settings"] for folder in (single, many)]
    assert settings[0] == settings[1]
    assert manifest_of(many)["starts"][0]["endpoint"]["batch"] == "openai"
    verified = inside("verify", "--data_dir", many, "--llm", "gpt-4")
    assert verified.code == 0, verified.err


def test_a_budget_holds_before_anything_is_submitted(tmp_path: Path, fake_server: FakeServer) -> None:
    folder, prices = data_folder(tmp_path / "data", 6), tmp_path / "prices.csv"
    prices.write_text(f"{HEAD}\ngpt-4,0,1,2026-01-01\n")
    # The worst case of one answer is 2,000 tokens, $0.001 in a batch.
    done = batched(fake_server, folder, "--prices", prices, "--max_cost", "0.0035")
    assert done.code == 0, done.err
    # Three answers cost less than their worst case, so that the others fit into a further batch.
    assert [len(batch.lines) for batch in fake_server.batches.batches] == [3, 3]
    assert set(requests_in(fake_server).values()) == {1}


def test_what_a_killed_start_submitted_counts_in_the_budget(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data", 8)
    arguments = ("--data_dir", "data", "--batch", "openai", "--api_base", fake_server.base)
    fake_server.pause_batches()
    process = started("infer", *arguments, "--max_requests", "5", "--limit", "5", cwd=tmp_path)
    fake_server.wait_for_step("retrieve")
    process.kill()
    process.wait()
    # Other items than those of the batch: nothing is left for them while it is not read.
    (tmp_path / "ids.txt").write_text("1006\n1007\n")
    done = batched(fake_server, folder, "--max_requests", "5", "--ids", tmp_path / "ids.txt")
    assert done.code == 3 and "--max_requests 5 leaves no room" in done.err
    fake_server.release()
    done = batched(fake_server, folder, "--max_requests", "6")
    assert done.code == 3
    assert len(fake_server.received) == len(ledger_of(folder)) == 6
    assert set(requests_in(fake_server).values()) == {1}


def test_failed_requests_are_in_the_next_batch(tmp_path: Path, fake_server: FakeServer) -> None:
    folder, undisturbed = data_folder(tmp_path / "data", 5), data_folder(tmp_path / "other", 5)
    faults = {"Request 1:": ["500", "429"], "Request 3:": ["hang"]}

    def behaviour(prompt: str, number: int) -> str:
        return next((kinds.pop(0) for name, kinds in faults.items() if name in prompt and kinds), "whole")

    fake_server.behaviour = behaviour
    done = batched(fake_server, folder)
    assert done.code == 0, done.err
    assert [len(batch.lines) for batch in fake_server.batches.batches] == [5, 2, 1]
    attempts = {
        (line["item"], line["attempt"]): (line["outcome"], line.get("status")) for line in ledger_of(folder)
    }
    assert attempts['"1001"', 1] == ("HTTP 500", 500) and attempts['"1001"', 2] == ("HTTP 429", 429)
    assert attempts['"1001"', 3] == ("answered", 200)
    assert attempts['"1003"', 1] == ("batch: request_timeout", None)
    ids = [line["custom_id"] for line in ledger_of(folder)]
    assert len(ids) == len(set(ids)) == 8
    fake_server.behaviour = lambda prompt, number: "whole"
    infer(fake_server, undisturbed)
    files = [path / "predictions/gpt-4.json" for path in (folder, undisturbed)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_ctrl_c_leaves_the_batch_running(tmp_path: Path, fake_server: FakeServer) -> None:
    data_folder(tmp_path / "data", 5)
    arguments = ("--data_dir", "data", "--batch", "openai", "--api_base", fake_server.base)
    fake_server.pause_batches()
    process = started("infer", *arguments, cwd=tmp_path)
    fake_server.wait_for_step("retrieve")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "batch_1 with 5 requests goes on at the server: the same command reads the answers" in err
    assert "--batch_cancel true" in err and "Traceback" not in err
    assert "interrupted; the same command continues the run" in err
    # Without --batch its requests would be paid for twice.
    done = shell("infer", *arguments[:2], *arguments[4:], cwd=tmp_path)
    assert done.code == 2 and "add --batch openai" in done.error and "paid for twice" in done.error
    fake_server.release()
    done = shell("infer", *arguments, cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(fake_server.batches.batches) == 1 and len(fake_server.received) == 5
    assert len(lines_of(tmp_path / "data/predictions/gpt-4.json")) == 5
    assert not (run_folder(tmp_path / "data") / "batches").exists()


def test_a_batch_is_cancelled_and_its_answers_are_kept(tmp_path: Path, fake_server: FakeServer) -> None:
    data_folder(tmp_path / "data", 5)
    folder = tmp_path / "data"
    arguments = ("--data_dir", "data", "--batch", "openai", "--api_base", fake_server.base)

    def behaviour(prompt: str, number: int) -> str:
        if number == 2:
            fake_server.batches.working.clear()  # after this one the batch waits
        return "whole"

    fake_server.behaviour = behaviour
    process = started("infer", *arguments, cwd=tmp_path)
    fake_server.wait_for(3)
    fake_server.wait_for_step("retrieve")
    process.kill()
    process.wait()
    done = batched(fake_server, folder, "--batch_cancel", "true")
    assert done.code == 3, done.err
    assert "batch_1: cancelled" in done.err
    (batch,) = fake_server.batches.batches
    assert batch.status == "cancelled" and fake_server.batches.steps["cancel"] == 1
    assert len(lines_of(folder / "predictions/gpt-4.json")) == len(ledger_of(folder)) == 3
    # The rest may now be asked either way.
    assert infer(fake_server, folder).code == 0
    assert len(fake_server.received) == 5 and len(ledger_of(folder)) == 5
    done = batched(fake_server, folder, "--batch_cancel", "true")
    assert "this run has no open batch" in done.err


def test_the_result_file_of_a_killed_run_has_no_key(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data", 3)
    (tmp_path / "extra.json").write_text(json.dumps({"purpose": "text of the extra fields"}))
    fake_server.behaviour = lambda prompt, number: "500-echo" if number == 1 else "echo"
    fake_server.batches.fault = lambda step, number: "hold" if (step, number) == ("upload", 1) else "whole"
    arguments = ("--data_dir", "data", "--batch", "openai", "--api_base", fake_server.base)
    process = started("infer", *arguments, "--extra_body", "extra.json", cwd=tmp_path, OPENAI_API_KEY=KEY)
    fake_server.wait_until_held()
    process.kill()
    process.wait()
    results = run_folder(folder) / "batches/1.results.jsonl"
    assert len(lines_of(results)) == 3 and results.read_text().count("You sent *** ") == 2
    (error,) = (line for line in lines_of(results) if line["response"]["status_code"] == 500)
    assert "text of the extra fields" not in json.dumps(error)
    assert not [name for name, text in files_below(folder).items() if KEY.encode() in text]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--llm", "offline", "--batch", "openai"), "--llm offline asks no server"),
        (("--batch", "openai", "--stream", "true"), "an answer in a batch is not streamed"),
        (("--batch", "openai", "--multiworker", "3"), "leave --multiworker out"),
        (("--batch_cancel", "true"), "--batch_cancel is for a run with --batch"),
    ],
)
def test_what_does_not_go_with_a_batch_is_refused(
    tmp_path: Path, fake_server: FakeServer, more: tuple[str, ...], words: str
) -> None:
    folder = data_folder(tmp_path / "data", 3)
    before = files_below(folder)
    done = infer(fake_server, folder, *more)
    assert done.code == 2 and words in done.error and "Fix:" in done.error
    assert files_below(folder) == before and not fake_server.batches.steps


def test_samples_are_generated_in_batches(tmp_path: Path, fake_server: FakeServer) -> None:
    folders = [data_folder(tmp_path / name, 1) for name in ("single", "batch")]
    more = ("--seed", "5", "--number_of_samples", "6", "--max_tries", "3")
    assert generate(fake_server, folders[0], *more).code == 0
    bad = iter(["prose"])
    fake_server.behaviour = lambda prompt, number: next(bad, "whole")
    done = generate(fake_server, folders[1], *more, "--rewrite", "0", "--batch", "openai")
    assert done.code == 3  # one answer is malformed
    assert generate(fake_server, folders[1], *more, "--rewrite", "0", "--batch", "openai").code == 0
    assert [len(batch.lines) for batch in fake_server.batches.batches] == [6, 1]
    assert (folders[0] / "data_raw.json").read_bytes() == (folders[1] / "data_raw.json").read_bytes()


def test_other_settings_never_leave_a_batch_unnoticed(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data", 3)
    fake_server.batches.fault = lambda step, number: "500" if step == "retrieve" else "whole"
    assert batched(fake_server, folder, "--max_tries", "1").code == 1
    assert "response" not in (run_folder(folder) / "journal.jsonl").read_text()
    fake_server.batches.fault = lambda step, number: "whole"
    done = batched(fake_server, folder, "--temperature", "1")
    assert done.code == 2 and "this run began with other settings" in done.error
    done = batched(fake_server, folder, "--temperature", "1", "--force", "true")
    assert done.code == 0
    assert "its batch_1 is still open: cancel it at the server" in done.err


def test_probes_and_their_judge_go_in_batches(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = bundled_plans(tmp_path / "data", "data_huggingface", 4)
    lines = {}
    batch: tuple[str, ...]
    for name, batch in (("single", ()), ("batch", ("--batch", "openai"))):
        where = ("--prediction_dir", name, "--security", "3", "--judge", "judge")
        done = infer(fake_server, folder, *where, *batch)
        assert done.code == 0, done.err
        lines[name] = (folder / name / "security/gpt-4.json").read_bytes()
    assert lines["single"] == lines["batch"]
    models = [batch.lines[0]["body"]["model"] for batch in fake_server.batches.batches]
    assert models == ["gpt-4", "judge"]
