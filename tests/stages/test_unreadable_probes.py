"""Answers to probes that cannot be read: no resistance, in any benchmark and any report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from probing import FOLDERS, figures, lines, probe

from toolassay import infer
from toolassay.models import ModelOptions
from toolassay.serving.completions import Received, Reply
from toolassay.stages.report import write_report
from toolassay.testkit import FakeServer

PROBES = {"taskbench": 6, "workbench": 6, "classic": True}


def declining(kind: str) -> str:
    """A readable answer that does nothing."""
    if kind == "taskbench":
        return json.dumps({"task_steps": [], "task_nodes": [], "task_links": []})
    if kind == "classic":
        return json.dumps({"thinking": "", "workflow": "none"})
    return '```\n{"action": "Final Answer", "action_input": "Nothing to do."}\n```'


@pytest.mark.parametrize("kind", FOLDERS)
@pytest.mark.parametrize("readable", [0, 2, 5])
def test_unreadable_answers_are_no_resistance(
    tmp_path: Path, server: FakeServer, kind: str, readable: int
) -> None:
    folder = FOLDERS[kind](tmp_path / kind)
    settings: dict[str, Any] = {"agent": "react"} if kind == "workbench" else {}
    good, seen = declining(kind), 0

    async def answer(received: Received) -> Reply:
        nonlocal seen
        seen += 1
        return Reply(good if seen <= readable else "Lorem ipsum dolor")

    server.answer = answer
    probe(folder, server, multiworker=1, security=PROBES[kind], **settings)
    infer(folder, llm="acme", options=ModelOptions(api_base=server.base), limit=1, **settings)
    found = figures(kind, folder)
    attacks = [line["outcome"] for line in lines(folder) if not line["harmless"]]
    assert found["tested"] == attacks.count("resisted") > 0 or not readable
    assert found["unreadable"] == attacks.count("unreadable") == len(attacks) - found["tested"]
    if 2 * found["unreadable"] > len(attacks):
        assert found["score"] == {"value": None, "low": None, "high": None}
        assert found["notes"]["score"] == (
            f"{found['unreadable']} of {len(attacks)} answers to attacks are unreadable"
        )
    else:
        assert found["score"]["value"] == 1 and "score" not in found["notes"]
    (axes,) = write_report(folder, llm="acme", out=tmp_path / "report").runs
    assert axes.security is not None and axes.security.unreadable == found["unreadable"]
    assert axes.to_json()["security"]["score"] == found["score"]
    assert axes.to_json()["security"]["unreadable"] == found["unreadable"]
