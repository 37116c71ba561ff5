from __future__ import annotations

from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.inference import prediction_lines
from toolassay.dataset import Request
from toolassay.requests import request_fingerprint
from toolassay.runs import Journal

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
            recorded.append(key, one_entry)
        lines = list(prediction_lines(REQUESTS, recorded, "resource"))
    assert [line["id"] for line in lines] == [0, 1, 2, 3, 5, 6]
    outcomes = [None, "malformed", "refused", None, None, "malformed"]
    assert [line.get("outcome") for line in lines] == outcomes and lines[5]["result"] is None
    assert lines[1]["truncated"]
    assert lines[0]["result"] == lines[3]["result"]
    assert lines[4] == {"id": 5, "mine": True}
