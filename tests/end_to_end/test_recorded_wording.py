"""A run that was started keeps its wording, whatever this package's prompts say later."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import chat_folder, data_folder, running_server, workbench_folder
from tests.support.running import lines_of, started
from toolassay import generate, infer, verify
from toolassay.benchmarks.workbench.agents import prompt
from toolassay.models import ModelOptions
from toolassay.prompts import templates
from toolassay.runs.budget import Budget
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

NEW = "(reworded) "


def reword(patch: pytest.MonkeyPatch) -> None:
    """Change every template and fixed text of the package."""
    shipped = templates.template_file
    patch.setattr(templates, "template_file", lambda *place: NEW + shipped(*place))
    for name in ("_SITUATION", "REACT"):
        patch.setattr(prompt, name, NEW + getattr(prompt, name))


def answers_in(journal: Path) -> int:
    return sum("asked" in line for line in lines_of(journal)) if journal.exists() else 0


def test_a_killed_run_goes_on_with_the_wording_that_it_began_with(
    tmp_path: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data_folder(tmp_path / "data", 6)
    run = folder / "predictions/runs/gpt-4"
    fake_server.delay = 0.2
    command = ["--data_dir", "data", "--multiworker", "1", "--api_base", fake_server.base]
    process = started("inference.py", *command, cwd=tmp_path)
    try:
        while answers_in(run / "journal.jsonl") < 2:
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    paid = answers_in(run / "journal.jsonl")
    before = set(fake_server.prompts)
    fake_server.delay = 0.0
    fake_server.forget()
    reword(monkeypatch)

    served = ModelOptions(fake_server.base)
    done = infer(folder, llm="gpt-4", options=served)
    # The kill may have come between an answer and the end of its item.
    assert done.already in (paid - 1, paid) and done.summary.changed == 0
    assert len(fake_server.prompts) == 6 - paid
    asked = before | set(fake_server.prompts)
    assert len(asked) == 6 and not any(NEW in prompt for prompt in asked)

    fake_server.forget()
    infer(folder, llm="gpt-4", options=served, trials=2)
    assert len(fake_server.prompts) == 6 and not any(NEW in prompt for prompt in fake_server.prompts)
    fake_server.forget()
    infer(folder, llm="gpt-4", options=served, prediction_dir="fresh")
    infer(folder, llm="gpt-4", options=served, force=True)
    assert len(fake_server.prompts) == 12 and all(NEW in prompt for prompt in fake_server.prompts)
    assert len(list((folder / "predictions/runs").glob("gpt-4.2*"))) == 1


async def act_or_choose(received: Received) -> Reply:
    """An agent's first action, then its last one; or the choice of a workflow."""
    if "Observation:" in received.prompt:
        return Reply(f"```\n{json.dumps({'action': 'Final Answer', 'action_input': 'done'})}\n```")
    if "Action:" in received.prompt:
        search = {"action": "email.search_emails", "action_input": {"query": "x"}}
        return Reply(f"```\n{json.dumps(search)}\n```")
    return Reply('{"workflow": "Return Goods"}')


@pytest.mark.parametrize(
    ("build", "options"),
    [
        (lambda path: workbench_folder(path, slice(4)), {"agent": "react"}),
        (chat_folder, {"agent": "cot"}),
    ],
)
def test_agents_continue_and_are_verified_with_the_recorded_wording(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    build: Callable[[Path], Path],
    options: dict[str, Any],
) -> None:
    folder = build(tmp_path)
    with running_server(act_or_choose) as server:
        served = {"llm": "acme", "options": ModelOptions(server.base), **options}
        infer(folder, budget=Budget(requests=3), multiworker=1, **served)
        reword(monkeypatch)
        before = len(server.prompts)
        done = infer(folder, **served)
        assert before == 3 and done.summary.complete and done.summary.changed == 0
        assert not any(NEW in prompt for prompt in server.prompts)
        journal = lines_of(folder / "predictions/runs/acme/journal.jsonl")
        assert len(server.prompts) == sum("asked" in line for line in journal)
    assert verify(folder, llm="acme").lines.is_equal


def test_generation_and_its_critic_keep_their_wording(
    tmp_path: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data_folder(tmp_path)
    given: dict[str, Any] = {"llm": "gpt-4", "options": ModelOptions(fake_server.base), "critic": ["judge"]}
    given |= {"rewrite": 1, "seed": 3, "number_of_samples": 4, "check": True, "multiworker": 1}
    generate(folder, budget=Budget(requests=3), **given)
    reword(monkeypatch)
    generate(folder, **given)
    assert len(lines_of(folder / "data_raw.json")) == 4
    assert len(fake_server.prompts) == len(set(fake_server.prompts)) >= 8
    assert not any(NEW in prompt for prompt in fake_server.prompts)
