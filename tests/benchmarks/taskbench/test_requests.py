"""Requests in, prediction lines out."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.benchmarks.taskbench.entries import PlanEntry
from toolassay.benchmarks.taskbench.inference import prediction_lines
from toolassay.errors import UsageError
from toolassay.records.dataset import Request, read_requests
from toolassay.records.requests import Chosen, Requests, key_of, request_fingerprint
from toolassay.runs.journal import Journal

IDS = st.lists(st.one_of(st.integers(0, 4), st.sampled_from(["0", "1", "é", "\ud83d"])), max_size=12)


def requests_file(folder: str, ids: list[int | str]) -> Path:
    path = Path(folder) / "user_requests.json"
    path.write_text(
        "".join(json.dumps({"id": i, "user_request": f"{n}"}) + "\n\n" for n, i in enumerate(ids))
    )
    return path


@given(IDS)
def test_the_last_line_of_an_id_counts(ids: list[int | str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = requests_file(name, ids)
        requests = Requests(path)
        every = list(read_requests(path))
        last = {request.id: request.line for request in every}
        expected = [request for request in every if last[request.id] == request.line]
        repeated = list(dict.fromkeys(one.id for one in every if last[one.id] != one.line))
        assert list(requests) == list(requests) == expected
        assert len(requests) == len(expected)
        assert requests.repeated == repeated


def test_a_file_that_changes_meanwhile_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "user_requests.json"
    path.write_text('{"id": 1, "user_request": "a"}\n')
    requests = Requests(path)
    assert len(list(requests)) == 1
    path.write_text('{"id": 1, "user_request": "b"}\n')
    os.utime(path, (1, 1))
    with pytest.raises(UsageError, match=r"changed while it was being used\. Fix: run it again"):
        list(requests)


def test_every_line_is_checked_before_the_first_is_used(tmp_path: Path) -> None:
    path = tmp_path / "user_requests.json"
    path.write_text('{"id": 1, "user_request": "a"}\n{"id": 2}\n')
    with pytest.raises(UsageError, match="2: has no 'user_request'"):
        Requests(path)


@given(IDS, st.integers(1, 5) | st.none(), st.data())
def test_those_chosen_are_the_first_of_those_named_in_the_order_of_the_file(
    ids: list[int | str], limit: int | None, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as name:
        requests = Requests(requests_file(name, ids))
        named = data.draw(st.none() | st.sets(st.sampled_from(ids), min_size=1)) if ids else None
        texts = None if named is None else {str(one) for one in named}
        wanted = [r for r in requests if texts is None or str(r.id) in texts][:limit]
        chosen = Chosen(requests, ids=named, limit=limit)
        assert [key_of(r.id) for r in chosen] == [key_of(r.id) for r in wanted]
        assert list(chosen) == wanted and len(chosen) == len(wanted)


PLAN = '{"task_steps": ["s"], "task_nodes": [{"task": "a", "arguments": []}], "task_links": []}'
REQUESTS = [Request(number, f"r{number}", number) for number in range(7)]


def entry(request: Request, **more: Any) -> dict[str, Any]:
    known = {"request": request_fingerprint(request.text), "outcome": "answered", "response": PLAN}
    return {**known, "finish_reason": "stop", **more}


def test_each_settled_request_has_its_line(tmp_path: Path) -> None:
    one, two, three, four, five, _, seven = REQUESTS
    journal = {
        "0": entry(one),
        "1": entry(two, response=PLAN[:40], finish_reason="length", outcome="malformed"),
        "2": entry(three, outcome="refused", response="no"),
        "3": entry(four, response="prose", reformatted=PLAN, reformatted_finish_reason="stop"),
        "4": {**entry(five), "request": request_fingerprint("as it was worded before")},
        "5": {
            "request": request_fingerprint("r5"),
            "outcome": "answered",
            "adopted": {"id": 5, "mine": True},
        },
        "6": entry(seven, response='{"task_steps": ["s"]}'),  # answered, said versions before
    }
    with Journal(tmp_path / "journal.jsonl") as recorded:
        for key, one_entry in journal.items():
            recorded.append(key, msgspec.convert(one_entry, PlanEntry))
        lines = list(prediction_lines(REQUESTS, recorded, "resource"))
    assert [line["id"] for line in lines] == [0, 1, 2, 3, 5, 6]
    outcomes = [None, "malformed", "refused", None, None, "malformed"]
    assert [line.get("outcome") for line in lines] == outcomes and lines[5]["result"] is None
    assert lines[1]["truncated"]
    assert lines[0]["result"] == lines[3]["result"]
    assert lines[4] == {"id": 5, "mine": True}
