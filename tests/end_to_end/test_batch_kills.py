"""kill -9 while a batch is submitted, followed and read: one batch for each request, and no byte differs."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.support.builders import data_folder
from tests.support.running import entries_of, lines_of, shell, started, write_lines
from toolassay.testkit import FakeServer

ITEMS = 5
slow = pytest.mark.slow


def arguments(server: FakeServer) -> tuple[str, ...]:
    return ("--data_dir", "data", "--batch", "openai", "--api_base", server.base)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -9


def undisturbed(place: Path, server: FakeServer) -> bytes:
    """The predictions of a run without a batch; the record of the server is cleared."""
    data_folder(place / "data", ITEMS)
    done = shell("infer", "--data_dir", "data", "--api_base", server.base, cwd=place)
    assert done.code == 0, done.err
    server.forget()
    return (place / "data/predictions/gpt-4.json").read_bytes()


def check(place: Path, server: FakeServer, expected: bytes, *, attempts: int = ITEMS) -> None:
    """Every request was worked on once, booked once, and answered as without a batch."""
    run = place / "data/predictions/runs/gpt-4"
    assert (place / "data/predictions/gpt-4.json").read_bytes() == expected
    assert len(server.received) == attempts
    ids = Counter(
        line["custom_id"]
        for batch in server.batches.batches
        for line in batch.lines[: batch.completed + batch.failed]
    )
    assert len(ids) == attempts and set(ids.values()) == {1}
    booked = [line["custom_id"] for line in lines_of(run / "ledger.jsonl")]
    assert sorted(booked) == sorted(ids)
    assert not (run / "batches").exists()


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        pytest.param("upload", "hold", id="before the upload", marks=slow),
        pytest.param("upload", "hold-after", id="before the id of the file is written", marks=slow),
        pytest.param("create", "hold", id="before the batch is created", marks=slow),
        pytest.param("create", "hold-after", id="before the id of the batch is written"),
        pytest.param("retrieve", "hold", id="while it is followed", marks=slow),
        pytest.param("content", "hold", id="before it is read", marks=slow),
        pytest.param("content", "hold-middle", id="while it is read", marks=slow),
    ],
)
def test_a_killed_run_goes_on_with_the_batch_it_has(
    tmp_path: Path, fake_server: FakeServer, step: str, fault: str
) -> None:
    expected = undisturbed(tmp_path / "other", fake_server)
    data_folder(tmp_path / "data", ITEMS)
    fake_server.batches.fault = lambda done, number: fault if (done, number) == (step, 0) else "whole"
    process = started("infer", *arguments(fake_server), cwd=tmp_path)
    fake_server.wait_until_held()
    kill(process)
    fake_server.release()
    done = shell("infer", *arguments(fake_server), cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(fake_server.batches.batches) == 1
    assert len([file for file in fake_server.batches.files if file.facts["purpose"] == "batch"]) == 1
    check(tmp_path, fake_server, expected)


@pytest.mark.parametrize("step", [pytest.param("upload", marks=slow), "create"])
def test_a_run_killed_in_its_second_batch_repeats_nothing_of_the_first(
    tmp_path: Path, fake_server: FakeServer, step: str
) -> None:
    expected = undisturbed(tmp_path / "other", fake_server)
    data_folder(tmp_path / "data", ITEMS)
    fake_server.behaviour = lambda prompt, number: "500" if number in (1, 3) else "whole"
    fake_server.batches.fault = lambda done, number: "hold" if (done, number) == (step, 1) else "whole"
    process = started("infer", *arguments(fake_server), cwd=tmp_path)
    fake_server.wait_until_held()
    kill(process)
    run = tmp_path / "data/predictions/runs/gpt-4"
    assert len(entries_of(run / "journal.jsonl")) == 3
    # As if the kill had come between the ledger and the journal of two answers.
    lines = lines_of(run / "journal.jsonl")
    write_lines(run / "journal.jsonl", [line for line in lines if line["key"] == lines[0]["key"]])
    fake_server.release()
    done = shell("infer", *arguments(fake_server), cwd=tmp_path)
    assert done.code == 0, done.err
    assert [len(batch.lines) for batch in fake_server.batches.batches] == [5, 2]
    check(tmp_path, fake_server, expected, attempts=ITEMS + 2)


def test_the_state_survives_a_torn_line(tmp_path: Path, fake_server: FakeServer) -> None:
    expected = undisturbed(tmp_path / "other", fake_server)
    data_folder(tmp_path / "data", ITEMS)
    fake_server.batches.fault = lambda step, number: "hold" if (step, number) == ("retrieve", 0) else "whole"
    process = started("infer", *arguments(fake_server), cwd=tmp_path)
    fake_server.wait_for_step("retrieve")
    kill(process)
    # A power failure may lose the end of the file: here the id of the batch.
    state = tmp_path / "data/predictions/runs/gpt-4/batches.jsonl"
    *kept, last = state.read_bytes().splitlines(keepends=True)
    assert json.loads(last)["id"] == "batch_1"
    state.write_bytes(b"".join([*kept, last[:-9]]))
    fake_server.release()
    done = shell("infer", *arguments(fake_server), cwd=tmp_path)
    assert done.code == 0, done.err
    assert "batch_1: found again" in done.err and len(fake_server.batches.batches) == 1
    check(tmp_path, fake_server, expected)
