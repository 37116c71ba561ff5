"""Whether agents with one defect each are told apart from a perfect one, on eighteen hard tasks.

    python -m measurements.told_apart

The tasks of `measurements/hard_bookings/` (written by one large language model, judged by another) are
executed on the real server `examples/booking_desk.py`. Two programs are right: one makes the calls
of the gold and states the facts; one does the same, and makes repeated calls in the other order. Four have
one defect: other values are said; the first item of every list is taken; only the first of repeated calls is
made; all that the calls returned is said.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from toolassay import SILENT, evaluate, execute, infer
from toolassay.console.tables import Table
from toolassay.episodes.own_agent import AgentSession
from toolassay.executors import McpExecution
from toolassay.executors.executor import CallResult, Refusal
from toolassay.executors.fact_sources import facts_in_words
from toolassay.executors.plan_run import resolve_arguments
from toolassay.files.data_files import read_json_lines
from toolassay.plans.execution_record import Execution, read_executions
from toolassay.plans.gold import Gold

HERE = Path(__file__).resolve().parent
SERVER = f"{sys.executable} {HERE.parent}/examples/booking_desk.py {{workspace}}/desk.db"
# What chooses or repeats: "[0]" and "[*]" stay; "[max price]", '[state="OPEN"]' and "[each]" become "[0]".
_CHOICE = re.compile(r"(?:\[(?!\d+\]|\*\])[^\]]*\])+")
Agent = Callable[[str, AgentSession], Awaitable[str]]


class Programs:
    """The programs, which know the gold."""

    def __init__(self, golds: Mapping[str, Gold], executions: Mapping[Any, Execution]) -> None:
        self._golds = golds
        self._executions = executions

    async def perfect(self, request: str, session: AgentSession) -> str:
        """All calls, and the facts."""
        return self._told(request, await self._calls(request, session))

    async def other_order(self, request: str, session: AgentSession) -> str:
        """All calls, repeated ones from the last to the first, and the facts."""
        return self._told(request, await self._calls(request, session, order=-1))

    async def other_values(self, request: str, session: AgentSession) -> str:
        """All calls, and other numbers and names."""
        text = self._told(request, await self._calls(request, session))
        text = re.sub(r"\d+", lambda number: str(int(number[0]) + 1).zfill(len(number[0])), text)
        return re.sub(r"\b(Ines|Tom|Mei|Ola|Porto|Ghent|Turku)\b", "Ada", text)

    async def first_item(self, request: str, session: AgentSession) -> str:
        """The first item of every list, and the facts of what it found."""
        results: dict[int, CallResult] = {}
        for number, node in enumerate(self._golds[request].nodes):
            arguments = {
                argument["name"]: _CHOICE.sub("[0]", value)
                if isinstance(value := argument["value"], str)
                else value
                for argument in node.arguments or ()
            }
            result = await session.call(node.tool, dict(resolve_arguments(arguments, results, None)))
            results[number] = CallResult.of(result)
        return self._told(request, {number: result.value for number, result in results.items()})

    async def first_of_each(self, request: str, session: AgentSession) -> str:
        """Of repeated calls the first one, and the facts of what it did."""
        return self._told(request, await self._calls(request, session, most=1))

    async def says_all(self, request: str, session: AgentSession) -> str:
        """All calls, and all that they returned."""
        results = await self._calls(request, session)
        return "\n".join(json.dumps(result) for result in results.values())

    async def _calls(
        self, request: str, session: AgentSession, *, most: int | None = None, order: Literal[1, -1] = 1
    ) -> dict[int, Any]:
        """The calls of the gold; of a node with several calls the list of their results.

        Args:
            request: What the person says.
            session: Where calls are made.
            most: How many calls of one node are made; all by default.
            order: -1 for the last call of a node first.
        """
        results: dict[int, Any] = {}
        made = self._executions[self._golds[request].id].calls
        for node, together in groupby(made, key=lambda call: call.node):
            calls = list(together)
            found = [await session.call(call.tool, dict(call.arguments)) for call in calls[:most][::order]]
            is_repeated = isinstance(calls[0].repetition, int)
            results[node] = found[::order] if is_repeated else found[0]
        return results

    def _told(self, request: str, results: Mapping[int, Any]) -> str:
        given = {number: CallResult.of(result) for number, result in results.items()}
        try:
            words = facts_in_words(self._golds[request], given)
        except ValueError:
            words = ""
        return f"Here it is: {words}." if words else "Done."


def guarded(program: Agent) -> Agent:
    """A program that stops where a call is refused."""

    async def work(request: str, session: AgentSession) -> str:
        try:
            return await program(request, session)
        except (Refusal, ValueError) as error:
            return f"That was refused: {error}"

    return work


def main() -> None:
    """Run the programs and print how they are judged."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "mine"
        shutil.copytree(HERE / "hard_bookings", folder)
        (Path(temporary) / "desk").mkdir()
        options = McpExecution(server=SERVER, workspace=f"{temporary}/desk")
        execute(folder, executor="mcp", options=options, allow_writes=True, screen=SILENT)
        labels = [label for _, label in read_json_lines(folder / "data.json")]
        golds = {label["user_request"]: Gold.of(label) for label in labels}
        kinds = {label["id"]: label["task_kind"] for label in labels}
        programs = Programs(golds, {line.id: line for line in read_executions(folder / "executions.jsonl")})
        rows = []
        for name in ("perfect", "other_order", "other_values", "first_item", "first_of_each", "says_all"):
            infer(
                folder,
                llm=name,
                agent=guarded(getattr(programs, name)),
                executor="mcp",
                executor_options=options,
                allow_writes=True,
                screen=SILENT,
            )
            evaluate(folder, llm=name, prediction_dir="predictions_agents", screen=SILENT)
            path = folder / "metrics_agents" / "outcomes" / f"{name}.items.jsonl"
            rows.append(_row(name.replace("_", " "), [line for _, line in read_json_lines(path)], kinds))
        headers = ["program", "outcome", "state", "facts", "undecided", *sorted(set(kinds.values()))]
        print(Table(headers, rows).markdown())


def _row(name: str, items: list[dict[str, Any]], kinds: Mapping[str, str]) -> list[str]:
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for item in items:
        by_kind[kinds[item["id"]]].append(item["correct"] is True)
    with_facts = [item for item in items if item["facts_by"]]
    return [
        name,
        f"{sum(item['correct'] is True for item in items)} of {len(items)}",
        f"{sum(item['state'] is True for item in items)} of {len(items)}",
        f"{sum(item['facts'] == 1 for item in with_facts)} of {len(with_facts)}",
        str(sum(item["correct"] is None for item in items)),
        *(f"{sum(by_kind[kind])} of {len(by_kind[kind])}" for kind in sorted(by_kind)),
    ]


if __name__ == "__main__":
    main()
