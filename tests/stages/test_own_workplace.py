"""A workplace of one's own in every command, asked of a real HTTP server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.evaluating import metrics_of
from tests.support.running import STAGE_OF, Finished, inside, lines_of
from toolassay.benchmarks.workbench.calls import parse_call
from toolassay.benchmarks.workbench.tools import PUBLISHED, Toolset
from toolassay.models import ToolCall
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

BEES = "If a copy of Winter Bees is free, lend it to Tom Akande."
JONAS = "Jonas Weber has just brought his book back."
WRONG = {
    BEES: [ToolCall("a", "desk__lend", '{"book_id": "B01", "member_id": "M04", "days": null}')],
    JONAS: [ToolCall("a", "desk__give_back", '{"loan_id": "3"}')],
}


def documented(root: Path, pattern: str) -> list[str]:
    """The matches of a pattern in the how-to page."""
    text = (root / "docs" / "own-workplace.md").read_text(encoding="utf-8")
    return re.findall(pattern, text, re.MULTILINE)


def follow(line: str, server: FakeServer) -> Finished:
    """Type it."""
    line = line.replace("NAME", "acme").replace("URL", server.base)
    program, *words = line.split()
    return inside(*words) if program == "toolassay" else inside(STAGE_OF[words[0]], *words[1:])


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Any:
    answers: dict[str, list[ToolCall]] = {}

    async def answer(received: Received) -> Reply:
        messages = received.body["messages"]
        if messages[-1]["role"] == "tool":
            return Reply("Done.")
        query = messages[1]["content"]
        return Reply(tool_calls=answers[query]) if answers.get(query) else Reply("Nothing to do.")

    fake = FakeServer(answer)
    fake.start()
    fake.answers = answers  # type: ignore[attr-defined]
    yield fake
    fake.stop()


def asked(text: str, place: int, toolset: Toolset = PUBLISHED) -> ToolCall:
    call = parse_call(text, toolset)
    assert call is not None
    return ToolCall(f"c{place}", call.name.replace(".", "__"), json.dumps(call.arguments))


def test_the_documented_commands(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    new, check, infer, evaluate, replay = documented(root, r"^    ((?:toolassay|python) .+)$")
    assert follow(new, server).code == follow(check, server).code == 0
    folder = tmp_path / "library"
    tasks = lines_of(folder / "tasks.jsonl")
    for file, language in (("tools.py", "python"), ("tasks.jsonl", "json")):
        shown, *_ = documented(root, f"^```{language}\n([^`]+)^```")
        assert shown in (folder / file).read_text(encoding="utf-8")
    for task in tasks:
        server.answers[task["query"]] = [asked(text, place) for place, text in enumerate(task["answer"])]
    server.answers.update(WRONG)
    before = (folder / "sandbox.sqlite").read_bytes()

    assert follow(infer, server).code == 0
    first = server.received[0].body
    assert "It is Tuesday, 2024-05-14, 10:00" in first["messages"][0]["content"]
    assert len(first["tools"]) == 8
    told = [
        r.body["messages"][-1]["content"] for r in server.received if r.body["messages"][1]["content"] == BEES
    ]
    assert told == [BEES, "Error: no copy is free"]
    predictions = lines_of(folder / "predictions/acme.json")
    assert [line["outcome"] for line in predictions] == ["answered"] * 8
    assert predictions[1]["function_calls"] == tasks[1]["answer"]
    assert predictions[4]["function_calls"] == ["desk.extend.func(loan_ids=[3, 4], days=7)"]

    table = follow(evaluate, server).out
    assert "87.5 %" in table and "compat " not in table and table.count("compat") == 1
    metrics = metrics_of(folder, "acme")
    assert metrics["compat"] is None and "published" in metrics["notes"]["compat"]
    assert (metrics["strict"]["correct"], metrics["strict"]["side_effects"]) == (7, 1)
    assert metrics["strict"]["wrong_email_total"] == 0
    assert "tools:" in metrics["strict"]["signature"]
    items = lines_of(folder / "metrics/acme.items.jsonl")
    assert items[3]["scores"]["correct"] == 0.0 and items[3]["scores"]["compat_correct"] is None
    verify = ("verify", "--data_dir", folder, "--llm", "acme")
    assert inside(*verify).code == 2  # which would run its tools
    assert inside(*verify, "--allow_tools").code == 0

    lines = [{"calls": [{"call": text} for text in line["function_calls"]]} for line in predictions]
    (tmp_path / "calls.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "done.jsonl: 8 sequences replayed" in follow(replay, server).err
    done = lines_of(tmp_path / "done.jsonl")
    assert done[2]["calls"][0]["msg"] == "no copy is free" and done[2]["state_changes"] == {}
    assert done[3]["state_changes"] == {
        "loans": {
            "gone": [],
            "new": [],
            "changed": [{"id": 3, "column": "returned_on", "old": None, "new": "2024-05-14"}],
        }
    }
    assert (folder / "sandbox.sqlite").read_bytes() == before
    for out in ("calls.jsonl", "library/tasks.jsonl"):
        refused = follow(f"{replay} --out {out}", server)
        assert refused.code == 2 and f"{out}: the lines would replace what is read" in refused.error
    assert follow(f"{evaluate} --save_dir {folder}/predictions", server).code == 2
    assert lines_of(folder / "predictions/acme.json") == predictions


def test_the_documented_server_answers(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert inside("workbench", "new", "library").code == 0
    _, shown = documented(root, "^```python\n([^`]+)^```")
    exec(shown, {})
    assert {str(line["function_calls"]) for line in lines_of(tmp_path / "library/predictions/fake.json")} == {
        "['desk.give_back.func(loan_id=2)']"
    }


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    inside("workbench", "new", folder)
    (tmp_path / "results.csv").write_text("query,function_calls,error\n" + BEES.join('""') + ",[],\n")
    data, out = ("--data_dir", folder), ("--out", tmp_path / "out", "--allow_tools")
    evaluate = ("workbench", "evaluate", *data, "--results", tmp_path / "results.csv", *out)
    for arguments, words in (
        (("infer", *data, "--llm", "offline", "--allow_tools"), "knows the published tools only"),
        (("evaluate", *data, "--llm", "acme"), "add --allow_tools"),
        (("workbench", "replay", *data, "--calls", "x", "--out", "y"), "add --allow_tools"),
        (evaluate, "add --mode strict"),
    ):
        done = inside(*arguments)
        assert done.code == 2 and words in done.error
    assert inside(*evaluate, "--mode", "strict").code == 0
    assert lines_of(tmp_path / "out/verdicts.jsonl")[0]["correct"] is True
