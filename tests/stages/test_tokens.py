"""`--max_tokens` and `--retry_malformed` on all three benchmarks, over HTTP."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import chat_folder, data_folder, running_server, workbench_folder
from tests.support.evaluating import metrics_of
from tests.support.running import Finished, entries_of, files_below, inside, lines_of, started
from toolassay.models import ToolCall
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer
from toolassay.testkit.fake_server import canned_answer

PLAN, WORK = "taskbench", "workbench"
TASKS = ("calendar-001", "calendar-002", "email-001")


class Model:
    """Answers in each benchmark's form, or says nothing."""

    def __init__(self) -> None:
        self.says_nothing: Callable[[int], bool] = lambda number: False
        self.count = 0

    def mute(self, which: Callable[[int], bool]) -> None:
        """Say nothing to the requests of these numbers, counted from now."""
        self.says_nothing, self.count = which, 0

    async def __call__(self, received: Received) -> Reply:
        self.count += 1
        return Reply("") if self.says_nothing(self.count - 1) else whole(received)


def whole(received: Received) -> Reply:
    if "tools" in received.body:
        if received.body["messages"][-1]["role"] == "tool":
            return Reply("Done.")
        return Reply(tool_calls=[ToolCall("c", "calendar__delete_event", '{"event_id": "00000166"}')])
    if "workflow" in received.prompt:
        name = "Return Goods" if "Return Goods" in received.prompt else "Book a Desk"
        return Reply(json.dumps({"thinking": "so", "workflow": name}))
    return Reply(canned_answer(received.prompt))


@dataclass
class Bench:
    """A benchmark's folder, and what is sent for it."""

    name: str
    folder: Path
    server: FakeServer
    model: Model
    items: int
    limit: int

    def infer(self, *more: str) -> Finished:
        return inside("infer", *self.given, *more)

    @property
    def given(self) -> list[str | Path]:
        where = ("--data_dir", self.folder, "--api_base", self.server.base)
        return [*where, "--llm", "m", "--multiworker", "1"]

    @property
    def run(self) -> Path:
        return self.folder / "predictions/runs/m"

    @property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run / "manifest.json").read_text())
        return found

    @property
    def lines(self) -> list[dict[str, Any]]:
        return lines_of(self.folder / "predictions/m.json")

    @property
    def outcomes(self) -> list[str]:
        return [line.get("outcome", "answered") for line in self.lines]

    def sent(self) -> list[int | None]:
        """The limits that were sent since the last call."""
        found = [received.body.get("max_tokens") for received in self.server.received]
        self.server.forget()
        return found


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[FakeServer]:
    with running_server(model) as server:
        yield server


def workplace(path: Path) -> Path:
    return workbench_folder(path, lambda task: task["id"] in TASKS)


@pytest.fixture(params=["taskbench", "workbench", "classic"])
def bench(
    request: pytest.FixtureRequest, tmp_path: Path, root: Path, server: FakeServer, model: Model
) -> Bench:
    places: dict[str, tuple[Callable[[Path], Path], int, int]] = {
        "taskbench": (data_folder, 5, 2000),
        "workbench": (workplace, 3, 2000),
        "classic": (chat_folder, 5, 512),
    }
    make, items, limit = places[request.param]
    return Bench(request.param, make(tmp_path / "data"), server, model, items, limit)


def test_the_limit_is_sent_and_recorded(bench: Bench) -> None:
    assert bench.infer().code == 0
    assert set(bench.sent()) == {bench.limit}
    done = bench.infer("--max_tokens", "77")
    assert done.code == 2 and "max_tokens" in done.error and not bench.sent()
    done = bench.infer("--max_tokens", "77", "--prediction_dir", "short")
    assert done.code == 0 and set(bench.sent()) == {77}
    manifest = json.loads((bench.folder / "short/runs/m/manifest.json").read_text())
    assert manifest["settings"]["max_tokens"] == 77
    extra = bench.folder.parent / "body.json"
    extra.write_text('{"max_tokens": null, "max_completion_tokens": 9}')
    assert bench.infer("--extra_body", str(extra), "--prediction_dir", "extra").code == 0
    assert set(bench.sent()) == {None}


def test_the_default_given_by_name_continues_a_run(bench: Bench) -> None:
    assert bench.infer("--limit", "1").code == 0
    assert bench.infer("--limit", "2", "--max_tokens", str(bench.limit)).code == 0
    assert len(bench.lines) == 2


def test_malformed_and_cut_off_answers_are_asked_again_and_the_others_kept(bench: Bench) -> None:
    bench.model.mute(lambda number: number == 0)
    # Of WorkBench the last answer of the second task is cut off: the call before it, and the word after.
    cut = 2 if bench.name == WORK else 1
    bench.server.behaviour = lambda prompt, number: "whole-but-cut" if number == cut else "whole"
    bench.infer()
    before, kept = bench.lines, bench.lines[2:]
    assert bench.outcomes[:2] == ["malformed", "answered" if bench.name == WORK else "malformed"]
    bench.server.behaviour = lambda prompt, number: "whole"
    bench.sent()
    assert bench.infer().code == 0 and not bench.sent()  # the same command asks nothing

    done = bench.infer("--retry_malformed", "true", "--max_tokens", "4000")
    assert done.code == 0, done.err
    assert set(bench.sent()) == {4000}
    assert bench.outcomes == ["answered"] * bench.items
    assert bench.lines[2:] == kept and bench.lines[0] != before[0]
    again = 2
    assert f"--retry_malformed: {again} " in done.err
    (noted,) = bench.manifest["asked_again"]
    assert (noted["items"], noted["max_tokens"]) == (again, 4000)
    assert bench.manifest["settings"].get("max_tokens") == (None if bench.name == PLAN else bench.limit)
    journal = [
        entry
        for entry in entries_of(bench.run / "journal.jsonl")
        if entry["outcome"] != "not run" and "again" not in entry  # the steps of an agent
    ]
    assert len(journal) == bench.items + again  # the old answers are still there
    assert [entry["asked_again"] for entry in journal[bench.items :]] == [1] * again

    assert bench.infer("--retry_malformed", "true", "--max_tokens", "4000").code == 0
    assert bench.infer().code == 0 and not bench.sent()
    assert bench.infer("--retry_malformed", "true", "--temperature", "0.9").code == 2


def test_the_old_answer_stays_until_the_new_one_is_there(bench: Bench) -> None:
    bench.model.mute(lambda number: True)
    bench.infer("--limit", "2")
    before = files_below(bench.folder / "predictions")["m.json"]
    bench.server.behaviour = lambda prompt, number: "400"
    done = bench.infer("--limit", "2", "--retry_malformed", "true")
    assert done.code == 3 and "--retry_malformed: 0 " in done.err
    assert files_below(bench.folder / "predictions")["m.json"] == before
    assert "asked_again" not in bench.manifest
    bench.server.behaviour = lambda prompt, number: "overflow"
    assert bench.infer("--limit", "2", "--retry_malformed", "true").code == 3
    assert files_below(bench.folder / "predictions")["m.json"] == before
    assert bench.infer("--limit", "2").code == 0  # they are answered, if badly


@pytest.mark.parametrize(
    "bench",
    [PLAN, *(pytest.param(name, marks=pytest.mark.slow) for name in (WORK, "classic"))],
    indirect=True,
)
def test_an_interrupted_retry_goes_on(bench: Bench) -> None:
    bench.model.mute(lambda number: True)
    bench.infer()
    assert bench.outcomes == ["malformed"] * bench.items
    bench.model.mute(lambda number: False)
    bench.server.forget()
    bench.server.behaviour = lambda prompt, number: "whole" if number < 3 else "hold"
    process = started("infer", *bench.given, "--retry_malformed", "true", cwd=bench.folder.parent)
    bench.server.wait_for(4)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while "in flight" not in (said := process.stderr.readline()):
        assert said, "the run ended before Ctrl-C was heard"
    bench.server.release()
    process.communicate(timeout=60)
    replaced = bench.outcomes.count("answered")
    assert replaced == (2 if bench.name == WORK else 4) and len(bench.lines) == bench.items
    bench.server.behaviour = lambda prompt, number: "whole"
    assert bench.infer().code == 0  # without the flag the old answers count
    assert bench.outcomes.count("answered") == replaced
    assert bench.infer("--retry_malformed", "true").code == 0
    assert bench.outcomes == ["answered"] * bench.items
    assert sum(noted["items"] for noted in bench.manifest["asked_again"]) == bench.items


def test_evaluate_says_what_was_asked_again(bench: Bench) -> None:
    bench.model.mute(lambda number: number == 0)
    bench.infer()
    bench.infer("--retry_malformed", "true", "--max_tokens", "3000")
    if bench.name == PLAN:
        gold = [
            {"id": line["id"], "user_request": line["user_request"], "type": "single", **line["result"]}
            for line in bench.lines
        ]
        labels = "".join(json.dumps({**line, "n_tools": 2, "seed": 1}) + "\n" for line in gold)
        (bench.folder / "data.json").write_text(labels)
    done = inside("evaluate", "--data_dir", bench.folder, "--llm", "m")
    phrase = "answers asked again with --retry_malformed: 1 (max_tokens 3000)"
    assert f"m: {phrase}" in done.err, done.err
    metrics = metrics_of(bench.folder)
    assert metrics["notes"]["answers"] == phrase
    done = inside("verify", "--data_dir", bench.folder, "--llm", "m")
    assert done.code == 0 and "equal: predictions and scores are" in done.out, done.out


def test_a_workbench_run_that_began_without_a_limit_goes_on_without_one(
    tmp_path: Path, root: Path, server: FakeServer, model: Model
) -> None:
    bench = Bench(WORK, workplace(tmp_path / "data"), server, model, 3, 2000)
    assert bench.infer("--limit", "1").code == 0
    manifest = bench.manifest
    del manifest["settings"]["max_tokens"]
    (bench.run / "manifest.json").write_text(json.dumps(manifest))
    bench.sent()
    assert bench.infer().code == 0
    assert set(bench.sent()) == {None} and len(bench.lines) == 3
    assert "max_tokens" in bench.infer("--max_tokens", "2000").error
    assert bench.infer("--trials", "2").code == 0  # a further trial is made as the first was
    assert set(bench.sent()) == {None}


def test_a_security_run_sends_the_limit_too(bench: Bench) -> None:
    if bench.name == "classic":
        pytest.skip("the small chats hold no attacks")
    done = bench.infer("--security", "2", "--max_tokens", "88")
    assert set(bench.sent()) == {88}, done.err
    assert "does not go with --security" in bench.infer("--security", "2", "--retry_malformed", "true").error


def test_recorded_answers_are_not_asked_again(tmp_path: Path, server: FakeServer, model: Model) -> None:
    bench = Bench("classic", chat_folder(tmp_path / "data"), server, model, 5, 512)
    (tmp_path / "answers.csv").write_text("conversation_uuid,request_idx,workflow\nc1,0,w-return\n")
    given = ("--agent", "recorded", "--recorded", str(tmp_path / "answers.csv"))
    assert "asks no model" in bench.infer(*given, "--retry_malformed", "true").error
