"""The workflow of docs/report.md, each of its commands run by bash as it is written."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import AGENT_KIT, ROOM_TOOLS, agents_folder
from tests.support.running import shell
from tests.support.workflows import carried_out, workflow_of
from toolassay import evaluate, infer
from toolassay.episodes.own_agent import AgentSession

AGENT = f'{AGENT_KIT}\ncall("create_room", title="Blue")\n'


@pytest.fixture(scope="module")
def workflow(root: Path) -> dict[str, Any]:
    return workflow_of(root / "docs/report.md")


@pytest.fixture(scope="module")
def checked_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent that makes the gold call, its data folder, and the metrics of its last run."""
    place = tmp_path_factory.mktemp("main") / "repository"
    requests = {f"r{n}": f"Make room number {n}, called Blue" for n in range(8)}
    agents_folder(place / "bench", ROOM_TOOLS, requests, ("create_room", {"title": "Blue"}))
    (place / "agent.py").write_text(AGENT)
    (place / "requirements.txt").write_text("")
    scored = shutil.copytree(place / "bench", place.with_name("scored"))

    async def agent(request: str, session: AgentSession) -> str:
        await session.call("create_room", {"title": "Blue"})
        return ""

    assert infer(scored, llm="my-agent", agent=agent).summary.complete
    evaluate(scored, llm="my-agent")
    shutil.copytree(scored / "metrics_agents", place / "baseline")
    return place


@pytest.fixture
def repository(checked_out: Path, tmp_path: Path) -> Path:
    """A checkout of a job."""
    return Path(shutil.copytree(checked_out, tmp_path / "repository"))


def test_an_agent_that_is_as_good_as_before_passes(
    workflow: dict[str, Any], repository: Path, root: Path
) -> None:
    assert carried_out(workflow, repository, root) == [0, 0, 0, 0]
    assert "my-agent" in (repository / "summary.md").read_text(encoding="utf-8")
    assert (repository / "report/index.html").exists() and (repository / "report.xml").exists()


def test_a_worse_agent_fails_the_job(workflow: dict[str, Any], repository: Path, root: Path) -> None:
    (repository / "agent.py").write_text(AGENT.replace("Blue", "Green"))
    given = ("--data_dir", "bench", "--llm", "my-agent")
    agent = ("--agent_command", f"{sys.executable} agent.py")
    assert shell("infer", *given, *agent, cwd=repository).code == 0
    assert shell("evaluate", *given, cwd=repository).code == 0
    assert carried_out(workflow, repository, root, only=slice(3, None)) == [4]
    assert "<failure" in (repository / "report.xml").read_text(encoding="utf-8")
