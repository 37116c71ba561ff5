"""A run that is continued repeats nothing, loses nothing and mixes nothing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import data_folder
from tests.support.running import entries_of, files_below, ids, infer, lines_of, write_lines
from toolassay.testkit import FakeServer


@pytest.mark.parametrize(
    "fault",
    [
        "500",
        "overflow",
        "null-content",
        "truncated",
    ],
)
def test_failed_requests_are_no_answers_and_are_tried_again_by_the_same_command(
    tmp_path: Path, fake_server: FakeServer, fault: str
) -> None:
    folder = data_folder(tmp_path, 6)
    fake_server.behaviour = lambda prompt, number: fault if "Request 2:" in prompt else "whole"
    done = infer(fake_server, folder)
    assert done.code == 3
    assert "1 requests have no answer: the same command asks them again" in done.err
    assert ids(folder / "predictions/gpt-4.json") == ["1000", "1001", "1003", "1004", "1005"]
    journal = entries_of(folder / "predictions/runs/gpt-4/journal.jsonl")
    assert Counter(entry["outcome"] for entry in journal)["answered"] == 5
    assert [entry["problem"] for entry in journal if entry["outcome"] != "answered"] != []
    fake_server.forget()
    fake_server.behaviour = lambda prompt, number: "whole"
    assert infer(fake_server, folder).code == 0
    assert ids(folder / "predictions/gpt-4.json") == [str(1000 + n) for n in range(6)]
    assert len(fake_server.received) == 1


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--temperature", "0.9"), "temperature: 0.2 -> 0.9"),
        (("--use_demos", "1"), "demo_ids: [] -> ['d1']"),
        (("--extra_body", "extra.json"), "extra_body changed"),
        (("--prompt_template", "template.txt"), "prompt changed"),
    ],
)
def test_changed_settings_are_refused_by_name_and_force_keeps_the_old_run(
    tmp_path: Path,
    fake_server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, str],
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("extra.json").write_text('{"top_k": 5}')
    Path("template.txt").write_text("$tools\n$demos\n# REQUEST #\n$request\n\nNow the JSON object:")
    folder = data_folder(Path("data"))
    plan = {
        "task_nodes": [{"task": "Painter", "arguments": ["x"]}],
        "task_steps": ["paint"],
        "task_links": [],
    }
    write_lines(folder / "data.json", [{"id": "d1", "type": "chain", "user_request": "Paint x", **plan}])
    assert infer(fake_server, folder).code == 0
    before = files_below(folder)
    fake_server.forget()

    done = infer(fake_server, folder, *more)
    assert done.code == 2
    assert named in done.error
    assert "--tag" in done.error and "--prediction_dir" in done.error and "--force" in done.error
    assert files_below(folder) == before
    assert not fake_server.received

    done = infer(fake_server, folder, *more, "--force", "true")
    assert done.code == 0, done.err
    assert len(fake_server.received) == 5
    (kept,) = (folder / "predictions/runs").glob("gpt-4.2*")
    assert (kept / "gpt-4.json").read_bytes() == before["predictions/gpt-4.json"]
    assert (kept / "journal.jsonl").read_bytes() == before["predictions/runs/gpt-4/journal.jsonl"]
    # The same command once more continues, it does not begin anew.
    assert infer(fake_server, folder, *more, "--force", "true").code == 0
    assert len(fake_server.received) == 5


def test_demonstrations_are_the_same_for_every_request_and_recorded(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path)
    labels: list[dict[str, Any]] = [
        {
            "id": f"d{n}",
            "type": shape,
            "user_request": f"Demonstration {n}",
            "task_steps": ["paint"],
            "task_nodes": [{"task": "Painter", "arguments": ["x"]}],
            "task_links": [],
        }
        for n, shape in enumerate(["single", "single", "dag", "chain", "chain"])
    ]
    write_lines(folder / "data.json", [{"id": "broken"}, *labels])
    assert infer(fake_server, folder, "--use_demos", "4", "--tag", "true").code == 0
    place = folder / "predictions_use_demos_4"
    manifest = json.loads((place / "runs/gpt-4/manifest.json").read_text())
    assert manifest["settings"]["demo_ids"] == ["d3", "d2", "d0", "d4"]
    heads = {prompt.partition("# REQUEST #")[0] for prompt in fake_server.prompts}
    assert len(heads) == 1
    head = heads.pop()
    places = [head.index(f"Demonstration {n}") for n in (3, 2, 0, 4)]
    assert places == sorted(places)
    assert "Demonstration 1" not in head
    fake_server.forget()
    done = infer(fake_server, folder, "--demo_ids", "d1, d4", "--tag", "true")
    assert done.code == 0, done.err
    manifest = json.loads((folder / "predictions_use_demos_2/runs/gpt-4/manifest.json").read_text())
    assert manifest["settings"]["demo_ids"] == ["d1", "d4"]


def test_predictions_without_a_journal_are_taken_over_and_not_lost(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path, 5)
    requests = lines_of(folder / "user_requests.json")
    plan = {"task_steps": ["x"], "task_nodes": [{"task": "Painter", "arguments": []}], "task_links": []}
    there = [
        {"id": "1000", "user_request": requests[0]["user_request"], "result": plan, "extra": 1},
        {"id": "1001", **plan},
        {"id": "gone", "user_request": "no longer asked", "result": plan},
        {"id": "1002", "user_request": "worded otherwise then", "result": plan},
    ]
    output = folder / "predictions/gpt-4.json"
    output.parent.mkdir()
    write_lines(output, there)
    output.write_text(output.read_text() + '{"id": "1003", "user_req')  # a crash of the published script
    before = output.read_bytes()
    assert infer(fake_server, folder).code == 0
    lines = lines_of(output)
    assert [line["id"] for line in lines] == [request["id"] for request in requests]
    assert lines[:2] == there[:2]
    assert len(fake_server.received) == 3
    assert (folder / "predictions/runs/gpt-4/adopted.jsonl").read_bytes() == before
    # A crash while taking over: the next start takes over the rest.
    journal = folder / "predictions/runs/gpt-4/journal.jsonl"
    journal.write_text(journal.read_text().splitlines(keepends=True)[0])
    fake_server.forget()
    assert infer(fake_server, folder).code == 0
    assert not fake_server.received
    assert lines_of(output) == lines


def test_unreadable_answers_are_rewritten_and_the_paid_answer_survives_a_failed_rewriting(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path, 3)

    def first_prose(prompt: str, number: int) -> str:
        if prompt.startswith("Below is an answer"):
            return rewriting
        return "prose" if "Request 1:" in prompt else "length" if "Request 2:" in prompt else "whole"

    rewriting = "400"
    fake_server.behaviour = first_prose
    more = ("--reformat", "true", "--reformat_by", "helper/one", "--multiworker", "1")
    assert infer(fake_server, folder, *more).code == 3
    asked = [request.body["model"] for request in fake_server.received]
    assert asked[:3] == ["gpt-4", "gpt-4", "helper/one"] and asked.count("gpt-4") == 3
    fake_server.forget()
    rewriting = "whole"
    assert infer(fake_server, folder, *more).code == 0
    # The answer that is prose, and the one that is cut off.
    assert [request.body["model"] for request in fake_server.received] == ["helper/one"] * 2
    lines = lines_of(folder / "predictions/gpt-4.json")
    assert [bool(line["result"]) for line in lines] == [True] * 3
    entries = {entry["key"]: entry for entry in entries_of(folder / "predictions/runs/gpt-4/journal.jsonl")}
    (prose, cut_off) = [entry for entry in entries.values() if "reformatted" in entry]
    assert prose["response"].startswith("I am sorry")
    assert prose["reformatted"].startswith("{") and cut_off["reformatted"].startswith("{")
