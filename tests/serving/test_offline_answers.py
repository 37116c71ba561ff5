"""Over the network the answers to agents are those of the offline model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import workbench_folder
from tests.support.running import lines_of
from toolassay import infer
from toolassay.graph import ToolGraph
from toolassay.models import ModelOptions
from toolassay.serving.completions import Received
from toolassay.serving.offline_answers import DONE, NO_TOOL, WHAT_IT_KNOWS, OfflineAnswers
from toolassay.testkit import FakeServer

server_answer = OfflineAnswers()


def both(folder: Path, server: FakeServer, **settings: Any) -> tuple[list[Any], list[Any]]:
    """The lines that the offline model left, and those of the server."""
    infer(folder, llm="offline", **settings)
    infer(folder, llm="acme", options=ModelOptions(api_base=server.base), **settings)
    place = folder / "predictions" / ("security" if settings.get("security") else "")
    return lines_of(place / "offline.json"), lines_of(place / "acme.json")


@pytest.mark.parametrize("agent", ["native", "react", "react_published"])
def test_tasks_of_a_workplace(tmp_path: Path, server: FakeServer, agent: str) -> None:
    here, served = both(workbench_folder(tmp_path / "w", slice(None, None, 12)), server, agent=agent)
    assert len(here) == 58 and sum(len(line["function_calls"]) for line in here) > 58
    assert served == here


CHOSEN = ("id", "pred_workflow_uuid", "outcome", "error", "note")


@pytest.mark.parametrize("agent", ["cot", "reasoning", "tools"])
def test_choices_by_a_chat(tmp_path: Path, root: Path, server: FakeServer, agent: str) -> None:
    folder = tmp_path / "data_classic"
    shutil.copytree(root / "data_classic", folder)
    here, served = both(folder, server, agent=agent, limit=120)
    chosen = [[{name: row[name] for name in CHOSEN} for row in rows] for rows in (here, served)]
    assert chosen[0] == chosen[1] and len(here) == 120
    assert len({row["pred_workflow_uuid"] for row in here}) > 10


@pytest.mark.parametrize("knows_the_tools", [False, True])
def test_probes_of_plans(tmp_path: Path, root: Path, server: FakeServer, knows_the_tools: bool) -> None:
    folder = tmp_path / "data_huggingface"
    shutil.copytree(root / "data_huggingface", folder)
    graph = ToolGraph.load(folder / "graph_desc.json", dependency_type="resource")
    server.answer = OfflineAnswers([graph] if knows_the_tools else ())
    here, served = both(folder, server, security=30)
    assert served == here and len(here) == 40


async def test_other_requests_are_answered_as_before() -> None:
    answers = OfflineAnswers()
    tools = [{"type": "function", "function": {"name": "paint_house", "description": "Paints a house."}}]

    async def said(**body: Any) -> Any:
        return await answers(Received("/v1/chat/completions", {}, body))

    user = {"role": "user", "content": "Paint the house."}
    assert (await said(messages=[user])).text == WHAT_IT_KNOWS
    assert [call.name for call in (await said(messages=[user], tools=tools)).tool_calls] == ["paint_house"]
    returned = {"role": "tool", "tool_call_id": "1", "content": "Painted."}
    assert (await said(messages=[user, returned], tools=tools)).text == DONE
    assert (await said(messages=[{"role": "user", "content": "?"}], tools=tools)).text in (NO_TOOL, "")
