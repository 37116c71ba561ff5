"""What measurements of agents share: WorkBench as a folder of imported tools, and a model that makes the
calls of executed gold plans.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from toolassay import SILENT, build_graph, execute, import_tools
from toolassay.benchmarks.workbench.calls import parse_call
from toolassay.benchmarks.workbench.executor import WorkplaceExecution
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import toolset_of
from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.files.data_files import read_json_lines, write_json, write_json_lines
from toolassay.models import ToolCall
from toolassay.plans.execution_record import FILE, read_executions
from toolassay.serving.completions import Received, Reply, text_of

Calls = Sequence[tuple[str, Mapping[str, Any]]]
"""Calls in order: the tool and its arguments."""


def executed_workplace(workplace: Path, folder: Path, tasks: Sequence[Task]) -> dict[str, Any]:
    """Make a data folder with the tools of a workplace, and tasks whose ground truth is executed as plans.

    Args:
        workplace: Folder of WorkBench.
        folder: Made.
        tasks: Some of its tasks.

    Returns:
        The keywords of `infer` and `execute` that run calls on the workplace.
    """
    toolset = toolset_of(open_workplace(workplace))
    folder.mkdir(parents=True)
    tools = [
        {
            "name": tool.function_name,
            "description": tool.description,
            "inputSchema": tool.parameters,
            "annotations": {"readOnlyHint": not tool.changes_state},
        }
        for tool in toolset.tools.values()
    ]
    write_json(folder / "listing.json", {"tools": tools})
    import_tools("mcp", str(folder / "listing.json"), folder, screen=SILENT)
    build_graph(folder, dependency_type="schema", screen=SILENT)
    labels = []
    for task in tasks:
        calls = [parsed for text in task.answer if (parsed := parse_call(text, toolset))]
        names = [tool.function_name for call in calls if (tool := toolset.find(call.name))]
        assert len(names) == len(task.answer), task
        labels.append(
            {
                "id": task.id,
                "user_request": task.query,
                "type": "chain" if len(calls) > 1 else "single",
                "n_tools": len(calls),
                "task_steps": [f"Call {name}" for name in names],
                "task_nodes": [
                    {
                        "task": name,
                        "arguments": [{"name": key, "value": value} for key, value in made.items()],
                    }
                    for name, made in zip(names, (call.arguments for call in calls), strict=True)
                ],
                "task_links": [{"source": one, "target": other} for one, other in pairwise(names)],
            }
        )
    write_json_lines(folder / "data.json", labels)
    write_json_lines(folder / "user_requests.json", labels)
    given = {"executor": "workbench", "executor_options": WorkplaceExecution(str(workplace.absolute()))}
    execute(folder, executor="workbench", options=given["executor_options"], screen=SILENT)
    return given


def gold_calls(folder: Path) -> dict[str, Calls]:
    """By request, the calls that its executed gold plan made."""
    requests = {line["id"]: line["user_request"] for _, line in read_json_lines(folder / "data.json")}
    return {
        requests[one.id]: [(call.tool, call.arguments) for call in one.calls]
        for one in read_executions(folder / FILE)
    }


class GoldModel:
    """A model that makes the calls of the request that it is asked about, one an answer, then ends.

    Attributes:
        calls: By request.
    """

    def __init__(self, calls: Mapping[str, Calls]) -> None:
        self.calls = calls

    async def __call__(self, received: Received) -> Reply:
        """The next call, as a function call or, without `tools` in the request, as an action in text."""
        messages = received.body["messages"]
        texts = [text_of(one) for one in messages if one["role"] == "user"]
        calls = next(self.calls[text] for text in texts if text in self.calls)
        done = sum(one["role"] == "assistant" for one in messages)
        if "tools" not in received.body:
            name, given = calls[done] if done < len(calls) else ("Final Answer", "Done.")
            return Reply(f"Action:\n```\n{json.dumps({'action': name, 'action_input': given})}\n```")
        if done >= len(calls):
            return Reply("Done.")
        name, given = calls[done]
        return Reply("", [ToolCall(f"call_{done}", name, json.dumps(given))])
