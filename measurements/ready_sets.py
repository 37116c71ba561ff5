"""Whether the ready sets put agents of graded strength in order.

    python -m measurements.ready_sets [BASE_URL MODEL]

Programs that know the gold do all that a request asks for with a probability of 100, 80, 50, 20 and 0 %,
drawn by request; else they take the first item of each list. On `data_desk/` they work on the server
`examples/booking_desk.py`, on `data_allotment/` in its world. Then a served model, if one is named, on the
first 30 requests of each set.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from measurements.told_apart import Agent, Programs, guarded
from toolassay import SILENT, evaluate, execute, infer
from toolassay.console.tables import Table, percent, percent_interval
from toolassay.episodes.own_agent import AgentSession
from toolassay.executors import McpExecution
from toolassay.files.data_files import read_json_lines
from toolassay.metrics.confidence_interval import proportion_interval
from toolassay.plans.execution_record import read_executions
from toolassay.plans.gold import Gold

ROOT = Path(__file__).resolve().parents[1]
MOST = 30  # requests that the model is asked
STRENGTHS = (1.0, 0.8, 0.5, 0.2, 0.0)
HEADS = ("set", "agent", "outcome", "state", "facts", "undecided")


def of_strength(programs: Programs, strength: float) -> Agent:
    """A program that is right with a probability, drawn by request."""

    async def work(request: str, session: AgentSession) -> str:
        is_right = Random(request).random() < strength
        return await (programs.perfect if is_right else programs.first_item)(request, session)

    return guarded(work)


def measured(folder: Path, own: Mapping[str, Any], model: tuple[str, str] | None) -> list[list[str]]:
    """Measure all agents on a set; a row for each."""
    execute(folder, **own, screen=SILENT)
    labels = [label for _, label in read_json_lines(folder / "data.json")]
    golds = {label["user_request"]: Gold.of(label) for label in labels}
    executions = {line.id: line for line in read_executions(folder / "executions.jsonl")}
    programs = Programs(golds, executions)
    rows = []
    for strength in STRENGTHS:
        name = f"right_{strength:.0%}".replace("%", "")
        infer(folder, llm=name, agent=of_strength(programs, strength), **_as_agent(own), screen=SILENT)
        rows.append(row(folder, name, "predictions_agents"))
    if model is not None:
        base_url, name = model
        infer(
            folder,
            llm=name,
            api_base=base_url,
            ask="tools",
            max_seconds=900.0,
            multiworker=1,
            limit=MOST,
            **_as_agent(own),
        )
        rows.append(row(folder, name, "predictions_tools"))
    return rows


def _as_agent(own: Mapping[str, Any]) -> dict[str, Any]:
    return {"executor_options" if name == "options" else name: value for name, value in own.items()}


def row(folder: Path, name: str, predictions: str) -> list[str]:
    """How an agent is judged."""
    evaluate(folder, llm=name, prediction_dir=predictions, screen=SILENT)
    path = folder / predictions.replace("predictions", "metrics") / "outcomes" / f"{name}.items.jsonl"
    items = [line for _, line in read_json_lines(path)]
    right = sum(item["correct"] is True for item in items)
    interval = proportion_interval(right, len(items))
    with_facts = [item for item in items if item["facts_by"]]
    return [
        folder.name,
        name.replace("_", " "),
        f"{percent(right / len(items))} {percent_interval(interval.low, interval.high)} of {len(items)}",
        f"{sum(item['state'] is True for item in items)} of {len(items)}",
        f"{sum(item['facts'] == 1 for item in with_facts)} of {len(with_facts)}",
        str(sum(item["correct"] is None for item in items)),
    ]


def main(words: list[str]) -> int:
    """Measure both sets, and print the table."""
    model = (words[0], words[1]) if len(words) == 2 else None
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in ("data_desk", "data_allotment"):
            folder = Path(temporary) / name
            shutil.copytree(ROOT / name, folder)
            own: dict[str, Any] = {"executor": "world"}
            if (folder / "workspace").is_dir():
                server = f"{sys.executable} {ROOT}/examples/booking_desk.py {{workspace}}/desk.db"
                options = McpExecution(server=server, workspace=str(folder / "workspace"), fresh="worker")
                own = {"executor": "mcp", "options": options, "allow_writes": True}
            rows += measured(folder, own, model)
    print(Table(HEADS, rows).markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
