"""Answers that the gates find faulty go back to the generator, and nothing is paid for twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Answering, served
from tests.support.builders import ROOT
from toolassay import build_graph, generate
from toolassay.errors import UsageError
from toolassay.gates.rubric import CRITERIA
from toolassay.models import ChatRequest, ChatResponse, ModelError
from toolassay.models.errors import FailureOutcome
from toolassay.offline import model_tasks
from toolassay.offline.offline_model import OfflineModel

BROKEN = "Please do it for Ada for Ada."


def written(request: ChatRequest) -> dict[str, Any]:
    """What the offline writer writes: it passes the gates."""
    task = request.task
    assert isinstance(task, model_tasks.BackInstructTask)
    found: dict[str, Any] = json.loads(OfflineModel()._back_instruct(task))
    return found


class Improving:
    """A generator whose first answers to each sample are bad: broken, unreadable or good."""

    def __init__(self, *first: Callable[[dict[str, Any]], str]) -> None:
        self.name, self.first = "improving", first
        self.asked: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatResponse:
        self.asked.append(request)
        turn = len(request.messages) // 2
        value = written(request)
        text = self.first[turn](value) if turn < len(self.first) else json.dumps(value)
        return ChatResponse(text, prompt_tokens=10, completion_tokens=5, extra={"signed": turn})

    async def close(self) -> None: ...


def broken(value: dict[str, Any]) -> str:
    return json.dumps({**value, "user_request": BROKEN})


def unreadable(value: dict[str, Any]) -> str:
    return "I would rather not."


def folder_at(path: Path) -> Path:
    path.mkdir(exist_ok=True, parents=True)
    (path / "tool_desc.json").write_bytes((ROOT / "data_multimedia" / "tool_desc.json").read_bytes())
    build_graph(path)
    return path


def run(folder: Path, model: Improving, **more: Any) -> bool:
    with served(model):
        return generate(folder, llm="improving", **{"seed": 1, "number_of_samples": 4, "rewrite": 2, **more})[
            1
        ]


def requests_of(folder: Path) -> list[str]:
    lines = (folder / "data_raw.json").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["result"]["user_request"] for line in lines]


def rewriting(folder: Path) -> dict[str, Any]:
    lines = (folder / "statistics.json").read_text(encoding="utf-8").splitlines()
    found: dict[str, Any] = json.loads(lines[-1])["rewriting"]
    return found


def test_the_findings_go_back_until_an_answer_passes(tmp_path: Path) -> None:
    model, folder = Improving(broken), folder_at(tmp_path)
    assert run(folder, model)
    assert len(model.asked) == 8
    last = model.asked[-1].messages
    assert [one["role"] for one in last] == ["user", "assistant", "user"]
    assert "'for Ada for Ada'" in last[-1]["content"]
    assert BROKEN not in requests_of(folder)
    facts = rewriting(folder)
    assert facts["passed_at"] == {"1": 4} and facts["never"] == 0
    assert (facts["requests"], facts["prompt_tokens"], facts["completion_tokens"]) == (4, 40, 20)
    assert facts["by_gate"]["language"] == {"found": 4, "fixed": 4}


def test_after_the_last_rewrite_the_last_readable_answer_is_kept(tmp_path: Path) -> None:
    model, folder = Improving(broken, unreadable, unreadable), folder_at(tmp_path)
    assert run(folder, model, number_of_samples=1)
    assert requests_of(folder) == [BROKEN]
    assert rewriting(folder)["never"] == 1


class BrokenError(Exception):
    """A fault that no run expects."""


class Stopping(Improving):
    """Breaks at its fourth request."""

    async def complete(self, request: ChatRequest) -> ChatResponse:
        if len(self.asked) == 3:
            raise BrokenError
        return await super().complete(request)


def test_an_interrupted_sample_goes_on_with_its_next_rewrite(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    with pytest.raises(BrokenError):
        run(folder, Stopping(broken), number_of_samples=2, multiworker=1)
    again = Improving(broken)
    assert run(folder, again, number_of_samples=2, multiworker=1)
    assert [len(one.messages) for one in again.asked] == [3]
    assert again.asked[0].messages[1]["signed"] == 0
    assert BROKEN not in requests_of(folder)


class Failing(Improving):
    """A generator whose rewrites fail in a way that further attempts would not change."""

    outcome: FailureOutcome = "context overflow"

    async def complete(self, request: ChatRequest) -> ChatResponse:
        if len(request.messages) > 1:
            self.asked.append(request)
            raise ModelError("no", outcome=self.outcome)
        return await super().complete(request)


def test_a_rewrite_that_fails_for_good_leaves_the_answer_before_it(tmp_path: Path) -> None:
    model, folder = Failing(broken), folder_at(tmp_path)
    assert run(folder, model, number_of_samples=1)
    assert requests_of(folder) == [BROKEN]
    assert run(folder, model, number_of_samples=1) and len(model.asked) == 2


@pytest.mark.parametrize("first", [broken, unreadable])
def test_a_budget_that_ends_before_a_rewrite_loses_no_answer(
    tmp_path: Path, first: Callable[[dict[str, Any]], str]
) -> None:
    model, folder = Failing(first), folder_at(tmp_path)
    model.outcome = "budget stop"
    assert not run(folder, model, number_of_samples=1)
    whole = Improving(first)
    assert run(folder, whole, number_of_samples=1)
    assert [len(request.messages) for request in whole.asked] == [3]


def test_a_critic_sends_samples_back(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    writer = Improving()
    said = [{key: {"yes": word, "why": "Unclear."} for key in CRITERIA} for word in (False, True)]
    reviews = iter(["Hm.", *map(json.dumps, said)])  # the first answer is requested again
    critic = Answering(lambda _: ChatResponse(next(reviews)), "critic")
    with served(writer, critic):
        generate(folder, llm="improving", seed=1, number_of_samples=1, rewrite=2, critic=["critic"])
    assert critic.closed == 1
    assert len(writer.asked) == 2
    assert "a reviewer says" in writer.asked[1].messages[-1]["content"]
    assert rewriting(folder)["by_gate"] == {key: {"found": 1, "fixed": 1} for key in sorted(CRITERIA)}


def test_critics_that_would_change_nothing_are_refused(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    with pytest.raises(UsageError, match="rewrite"):
        generate(folder, llm="offline", number_of_samples=1, seed=1, critic=["judge"], rewrite=0)
    with pytest.raises(UsageError, match="no say"):
        generate(folder, llm="offline", number_of_samples=1, seed=1, critic=["offline"], rewrite=1)
