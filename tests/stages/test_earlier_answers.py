"""Answers that an earlier version took for plans, and that are malformed now."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.builders import data_folder
from tests.support.running import infer, lines_of
from toolassay.testkit import FakeServer

NO_NODES = '{"task_steps": ["Do it"]}'


def build_folder(path: Path) -> Path:
    return data_folder(path, 2)


def replace_first_answer(folder: Path) -> None:
    """The first answer of the run has no nodes, and its entry counts it as answered."""
    path = folder / "predictions/runs/gpt-4/journal.jsonl"
    first, *others = lines_of(path)
    first |= {"response": NO_NODES}
    path.write_text("".join(json.dumps(entry) + "\n" for entry in [first, *others]))


def outcomes(folder: Path) -> list[str]:
    return [line.get("outcome", "answered") for line in lines_of(folder / "predictions/gpt-4.json")]


def test_they_are_named_and_asked_again_on_request(folder: Path, fake_server: FakeServer) -> None:
    assert infer(fake_server, folder).code == 0
    replace_first_answer(folder)
    fake_server.forget()
    done = infer(fake_server, folder)
    assert done.code == 0
    assert "1 answer without a whole plan" in done.err
    assert not fake_server.received
    assert outcomes(folder) == ["malformed", "answered"]
    assert infer(fake_server, folder, "--retry_malformed").code == 0
    assert len(fake_server.received) == 1
    assert outcomes(folder) == ["answered", "answered"]
