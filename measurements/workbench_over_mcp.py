"""Whether WorkBench judges calls over MCP as it judges them directly.

    python -m measurements.workbench_over_mcp [WORKPLACE] [--tasks N]

The tools of WORKPLACE (`data_workbench`) become a folder of imported tools. For each task an agent makes
calls through the MCP server of `infer(agent=…)`, in an environment of its own: the ground truth; all of it
but the last call; the calls of the next task. What the server recorded is judged by both judges of WorkBench,
as are the same calls as text, and by the outcome, which is compared with the strict verdict.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measurements.gold_agent import Calls, executed_workplace, gold_calls
from toolassay import SILENT, evaluate, infer
from toolassay.benchmarks.workbench.agents.episode import call_text
from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.judge.result_verdicts import CompatJudge
from toolassay.benchmarks.workbench.judge.strict import StrictJudge
from toolassay.benchmarks.workbench.tasks import Task, read_tasks
from toolassay.benchmarks.workbench.tools import toolset_of
from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.console.tables import Table
from toolassay.files.data_files import read_json_lines

PLACE = "predictions_agents"


@dataclass(frozen=True)
class Agreement:
    """Verdicts on one set of calls.

    Attributes:
        calls: Number of calls that were made over MCP.
        correct: Tasks that are correct by the strict judge.
        differ: Tasks whose compat or strict verdict over MCP is another than the direct one.
        outcomes: Tasks that are judged by the outcome.
        outcomes_differ: Those whose outcome is another than the strict verdict.
    """

    calls: int
    correct: int
    differ: int
    outcomes: int
    outcomes_differ: int


def over_mcp(folder: Path, llm: str, calls: Mapping[str, Calls], given: Mapping[str, Any]) -> dict[Any, Any]:
    """Make the calls of each request through the MCP server; by id, the recorded ones."""
    from mcp.client import Client

    async def agent(request: str, session: Any) -> str:
        async with Client(session.mcp_url) as server:
            for name, arguments in calls[request]:
                await server.call_tool(name, dict(arguments))
        return "Done."

    done = infer(folder, llm=llm, agent=agent, multiworker=2, screen=SILENT, **given)
    assert done.summary.complete, done.summary
    lines = read_json_lines(folder / PLACE / f"{llm}.json")
    return {line.value["id"]: line.value.get("calls", []) for line in lines}


def agreement(
    workplace: Path, folder: Path, llm: str, calls: Mapping[str, Calls], given: Mapping[str, Any]
) -> Agreement:
    """Compare the verdicts on calls over MCP with those on the same calls as text.

    Args:
        workplace: Folder of WorkBench.
        folder: Made from it by `executed_workplace`.
        llm: Name of the agent.
        calls: What it calls, by request.
        given: The result of `executed_workplace`.
    """
    sandbox = open_workplace(workplace)
    toolset, judges = toolset_of(sandbox), (CompatJudge(sandbox), StrictJudge(sandbox))
    tasks = {task.id: task for task in read_tasks(workplace)}

    def verdicts(task: Task, made: Calls) -> list[tuple[bool, bool]]:
        texts = []
        for name, arguments in made:
            tool = toolset.find(name)
            assert tool is not None, name
            text = call_text(WorkbenchCall(tool.name, tool.recorded_arguments(arguments)))
            assert text is not None
            texts.append(text)
        found = (judge.verdict(texts, task.answer) for judge in judges)
        return [(one.correct, bool(one.side_effects)) for one in found]

    recorded = over_mcp(folder, llm, calls, given)
    assert len(recorded) == len(calls)
    correct, differ = {}, 0
    for key, made in recorded.items():
        task = tasks[key]
        direct = verdicts(task, calls[task.query])
        differ += verdicts(task, [(one["tool"], one["arguments"]) for one in made]) != direct
        correct[key] = direct[1][0]
    evaluate(folder, llm=llm, prediction_dir=PLACE, screen=SILENT)
    items = folder / "metrics_agents" / "outcomes" / f"{llm}.items.jsonl"
    outcomes = {line.value["id"]: line.value["correct"] for line in read_json_lines(items)}
    return Agreement(
        sum(map(len, recorded.values())),
        sum(correct.values()),
        differ,
        len(outcomes),
        sum(correct[key] != is_right for key, is_right in outcomes.items()),
    )


def compare(workplace: Path, tasks: Sequence[Task], place: Path) -> dict[str, Agreement]:
    """The agreement of three agents on these tasks; `place` gets the folder."""
    folder = place / "folder"
    given = executed_workplace(workplace, folder, tasks)
    gold = gold_calls(folder)
    following = dict(zip(gold, [*list(gold.values())[1:], *list(gold.values())[:1]], strict=True))
    agents = {
        "ground truth": gold,
        "without the last call": {request: calls[:-1] for request, calls in gold.items()},
        "those of the next task": following,
    }
    return {
        name: agreement(workplace, folder, f"agent-{number}", calls, given)
        for number, (name, calls) in enumerate(agents.items())
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("workplace", nargs="?", default=Path("data_workbench"), type=Path)
    parser.add_argument("--tasks", type=int, help="only the first")
    arguments = parser.parse_args()
    tasks = read_tasks(arguments.workplace)[: arguments.tasks]
    with tempfile.TemporaryDirectory() as place:
        found = compare(arguments.workplace, tasks, Path(place))
    headings = ("calls", "tasks", "made over MCP", "strict", "verdicts differ", "outcomes", "outcomes differ")
    rows = [
        (name, len(tasks), f"{one.calls:,}", one.correct, one.differ, one.outcomes, one.outcomes_differ)
        for name, one in found.items()
    ]
    print(Table(headings, [tuple(map(str, row)) for row in rows]).markdown())


if __name__ == "__main__":
    main()
