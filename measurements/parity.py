"""Our compat scores beside the published evaluator's own, and what strict says instead.

Run with: python -m measurements.parity CASES

CASES is a folder of cases (`data.json`, `tool_desc.json`, `graph_desc.json`, `predictions/*.json`, and the
published evaluator's verdict in `expected_metrics.json` and `rouge_exact.jsonl`). The first table counts the
numbers compared and the largest difference, the second sets strict beside compat and counts what makes them
differ.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring.prediction_scores import score_predictions
from toolassay.benchmarks.taskbench.scoring.scorer import ScoringJob
from toolassay.evaluation.evaluation import Evaluation
from toolassay.graph import DependencyType, ToolGraph
from toolassay.tools.library import ToolLibrary

METRICS = ("f1", "ed", "link", "argument", "rouge")
TOLERANCE = 1e-9
COUNTED = ("labels", "compat leaves out", "no plan", "with invented tools")
COLUMNS = {
    "n-F1": ("node_micro_f1_no_matching", "node_f1"),
    "e-F1": ("link_binary_f1", "edge_f1"),
    "t-F1": ("argument_task_argname_binary_f1_no_matching", "argument_name_f1"),
    "v-F1": ("argument_task_argname_value_binary_f1_no_matching", "argument_value_f1"),
    "R1": ("step_rouge1", "rouge1"),
}


@dataclass
class Difference:
    """How many numbers were compared, the largest difference, and how many differ too much."""

    compared: int = 0
    largest: float = 0.0
    wrong: int = 0

    def add(self, expected: Mapping[str, Any], got: Mapping[str, Any], *, rouge: bool) -> None:
        """Compare the numbers of a group."""
        for key, value in expected.items():
            if key.startswith("step_rouge") and not rouge:
                continue
            if isinstance(value, dict):
                self.add(value, got.get(key, {}), rouge=rouge)
                continue
            own = got.get(key)
            difference = abs(own - value) if isinstance(own, int | float) else float("inf")
            self.compared += 1
            self.largest = max(self.largest, difference)
            self.wrong += difference > TOLERANCE


def kind_of(folder: Path) -> DependencyType:
    """What links mean in a case: its labels' arguments have names, or not."""
    with (folder / "data.json").open() as stream:
        for line in stream:
            for node in json.loads(line)["task_nodes"]:
                for argument in node.get("arguments", []):
                    return "temporal" if isinstance(argument, dict) else "resource"
    return "temporal"


def evaluate(folder: Path, items: Path) -> Evaluation:
    """Score a case in all groups."""
    (predictions,) = (folder / "predictions").glob("*.json")
    kind = kind_of(folder)
    library = ToolLibrary.load(folder / "tool_desc.json", normalise_types=False)
    choices = PlanScoring(metrics=METRICS, splits=("all",), n_tools=("all",), resamples=0)
    graph = ToolGraph.load(folder / "graph_desc.json", dependency_type=kind)
    job = ScoringJob(folder / "data.json", predictions, library, kind, choices, graph)
    return score_predictions(job, items=items)[0]


def case_difference(folder: Path, evaluation: Evaluation) -> Difference:
    """A case beside the published evaluator's own numbers; ROUGE beside the exact means."""
    difference = Difference()
    expected = json.loads((folder / "expected_metrics.json").read_text())
    for key, numbers in expected.items():
        difference.add(numbers, evaluation.groups[key].numbers, rouge=False)
    exact = [json.loads(line) for line in (folder / "rouge_exact.jsonl").read_text().splitlines()]
    with_rouge = [key for key, numbers in expected.items() if "step_rouge1" in numbers]
    for key, line in zip(with_rouge, exact, strict=True):
        line = {f"step_{name}": value for name, value in line.items() if name != "n"}
        difference.add(line, evaluation.groups[key].numbers, rouge=True)
    return difference


def why(items: Path) -> dict[str, int]:
    """What compat does not see, counted over the items."""
    counts: Counter[str] = Counter()
    for line in items.read_text().splitlines():
        item = json.loads(line)
        counts["labels"] += 1
        counts["compat leaves out"] += not (item["compat"] and item["compat"]["is_scored"])
        counts["no plan"] += item["outcome"] != "answered"
        counts["with invented tools"] += item["counts"]["invented_tools"] > 0
    return dict(counts)


def main(cases: Path) -> int:
    """Print both tables; 1 if anything differs."""
    folders = sorted(path.parent for path in cases.glob("*/expected_metrics.json"))
    rows, wrong = [], 0
    print("| case | numbers compared | largest difference | over 1e-9 |\n| --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        for folder in folders:
            items = Path(name) / f"{folder.name}.jsonl"
            evaluation = evaluate(folder, items)
            difference = case_difference(folder, evaluation)
            wrong += difference.wrong
            print(
                f"| {folder.name} | {difference.compared:,} | {difference.largest:.1e} | {difference.wrong} |"
            )
            rows.append((folder.name, evaluation.groups["overall_overall"].numbers, why(items)))
    heads = " | ".join(f"{name} compat | pooled | strict" for name in COLUMNS)
    print(f"\n| case | {' | '.join(COUNTED)} | {heads} |")
    print("| --- |" + " ---: |" * (len(COUNTED) + 3 * len(COLUMNS)))
    for name, numbers, counts in rows:
        cells = [
            f"{counts[key]:,}" for key in ("labels", "compat leaves out", "no plan", "with invented tools")
        ]
        for published, strict in COLUMNS.values():
            pooled = numbers["strict"].get(f"{strict}_pooled")
            values = (numbers.get(published), pooled, numbers["strict"][strict]["value"])
            cells += ["–" if value is None else f"{100 * value:.2f}" for value in values]
        print(f"| {name} | {' | '.join(cells)} |")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])) if len(sys.argv) > 1 else __doc__)
