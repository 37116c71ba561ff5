"""The gate "grounding" on gold of another project: BFCL's questions with their possible answers.

    python -m measurements.bfcl_grounding BFCL [--show 20] [--seed 0]

BFCL is a folder with `data/NAME.json` (questions and functions) and `possible_answer/NAME.json`, as in the
first version of the Berkeley Function Calling Leaderboard. The gold plan of a question has the first possible
value of each argument; an argument that may be left out is left out. Printed: how many samples pass, and how
many of the slot defects are found that `planted_defects` plants in those that pass. `--show N` prints N
findings to read. Nobody wrote these samples for the gates, and a few of their answers are wrong.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from measurements.planted_defects.forms import World
from measurements.planted_defects.kinds.wrong_slot import FORMS
from measurements.planted_defects.samples import DataSet
from toolassay.gates.gate import Background, Finding, state_of
from toolassay.gates.grounding import GroundingGate
from toolassay.plans.gold import Gold
from toolassay.tools.library import ToolLibrary

_TYPES = {"dict": "object", "float": "number", "tuple": "array"}


def main(arguments: list[str]) -> int:
    """Measure a folder of BFCL."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bfcl", type=Path)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    clean: Counter[str] = Counter()
    planted: dict[str, Counter[str]] = {form.name: Counter() for form in FORMS}
    shown: list[tuple[str, Finding]] = []
    for path in sorted((given.bfcl / "possible_answer").glob("*.json")):
        for record, library in samples(given.bfcl / "data" / path.name, path):
            gate = GroundingGate(Background(library, "temporal"))
            findings = gate.check(Gold.of(record, 1))
            clean[state_of(findings)] += 1
            shown += [(record["user_request"], finding) for finding in findings]
            if findings:
                continue
            for form in FORMS:
                broken = copy.deepcopy(record)
                chance = random.Random(f"{given.seed} {record['id']} {form.name}")
                world = World(DataSet("bfcl", given.bfcl, {}, True, ()), (), chance)
                if form.plant(broken, world) is not None:
                    planted[form.name][state_of(gate.check(Gold.of(broken, 1)))] += 1
    print("| samples | pass | quarantine | reject |\n| ---: | ---: | ---: | ---: |")
    print(f"| {clean.total():,} | {clean['pass']} | {clean['quarantine']} | {clean['reject']} |\n")
    print("| slot defect | planted | quarantine | reject | found |\n| --- | ---: | ---: | ---: | ---: |")
    for name, states in planted.items():
        found = states["quarantine"] + states["reject"]
        share = f"{found / states.total():.0%}" if states.total() else "–"
        print(f"| {name} | {states.total()} | {states['quarantine']} | {states['reject']} | {share} |")
    random.Random(given.seed).shuffle(shown)
    for request, finding in shown[: given.show]:
        print(f"- {finding.state}: {finding.reason}\n  {request[:300]}")
    return 0


def samples(questions: Path, answers: Path) -> Iterator[tuple[dict[str, Any], ToolLibrary]]:
    """Each question as a label, with the library of its functions."""
    asked = {row["id"]: row for row in _rows(questions)}
    for answer in _rows(answers):
        row = asked[answer["id"]]
        functions = row["function"] if isinstance(row["function"], list) else [row["function"]]
        tools = [_tool(function) for function in functions]
        truth = answer["ground_truth"]
        calls = truth if isinstance(truth, list) else [truth]
        nodes = [_node(name, values) for call in calls for name, values in call.items()]
        label = {"id": row["id"], "user_request": row["question"], "task_steps": []}
        library = ToolLibrary.from_json({"nodes": list({tool["id"]: tool for tool in tools}.values())})
        yield {**label, "task_nodes": nodes, "task_links": []}, library


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    parameters = []
    for name, about in function["parameters"].get("properties", {}).items():
        kind = str(about.get("type", "string"))
        parameter = {"name": name, "type": _TYPES.get(kind, kind), "desc": about.get("description", "")}
        parameters.append(parameter | ({"enum": about["enum"]} if "enum" in about else {}))
    return {"id": function["name"], "desc": function["description"], "parameters": parameters}


def _node(name: str, possible: Any) -> dict[str, Any]:
    chosen = possible.items() if isinstance(possible, dict) else ()
    arguments = [{"name": key, "value": _first(values)} for key, values in chosen if "" not in values]
    return {"task": name, "arguments": arguments}


def _first(values: Any) -> Any:
    value = values[0] if isinstance(values, list) else values
    if not isinstance(value, dict):
        return value
    return {key: _first(inner) for key, inner in value.items() if "" not in inner}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
