"""Work orders for libraries that the offline writer has no phrases for: valid, and passed by the gates?

    python -m measurements.offline_libraries OUT FOLDER... [--samples 300] [--seed 0]

A FOLDER is what `toolassay import` wrote, or holds a hand-written `tool_desc.json`. For each, a copy in OUT
gets a graph, samples of the offline writer, and a check. Printed as a table: tools, tools that need a model,
samples, arguments that contradict their schema (by `jsonschema` itself, formats included), and how many
samples pass.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from toolassay import build_graph, check, format_data, generate
from toolassay.console.screen import Screen
from toolassay.errors import ToolassayError
from toolassay.files.data_files import read_json_lines
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import Tool, ToolLibrary

HEADER = (
    "| library | tools | need a model | links | samples | schema violations "
    "| pass | quarantine | reject | most held back by |"
)


def main(arguments: list[str]) -> int:
    """Measure the folders that are named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    print(HEADER)
    print("| --- " + "| ---: " * 8 + "| --- |")
    for folder in given.folders:
        print(row(folder, given.out / folder.name, given.samples, given.seed), flush=True)
    return 0


def row(source: Path, place: Path, count: int, seed: int) -> str:
    """The table row of one library."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in ("tool_desc.json", "benchmark.json"):
        if (source / name).exists():
            shutil.copy(source / name, place / name)
    messages: list[str] = []
    screen = Screen(say=messages.append)
    library = ToolLibrary.load(place / "tool_desc.json")
    try:
        build_graph(place, screen=screen)
        generate(place, llm="offline", number_of_samples=count, seed=seed, screen=screen)
        format_data(place, screen=screen)
        checked = check(place, out=place / "checked", screen=screen)
    except ToolassayError as error:
        return f"| {source.name} | {len(library)} |  |  |  |  |  |  |  |  | {error} |"
    finally:
        (place / "screen.txt").write_text("\n".join(messages), encoding="utf-8")
    labels = [label for _, label in read_json_lines(place / "data.json")]
    wrong = list(violations(labels, library))
    (place / "violations.txt").write_text("\n".join(wrong), encoding="utf-8")
    lines = [line for _, line in read_json_lines(place / "checked" / "gates.jsonl")]
    held = Counter(next((g for g, state in line["gates"].items() if state in _HELD), "") for line in lines)
    held.pop("", None)
    worst = ", ".join(f"{name} {number}" for name, number in held.most_common(2))
    levels = checked.levels
    links = sum(1 for _ in json.loads((place / "graph_desc.json").read_text())["links"] or ())
    return (
        f"| {source.name} | {len(library)} | {needing(library, DataFolder(place))} | {links:,} "
        f"| {len(labels)} "
        f"| {len(wrong)} "
        f"| {levels['pass']} | {levels['quarantine']} | {levels['reject']} | {worst} |"
    )


_HELD = ("reject", "quarantine", "unknown")


def needing(library: ToolLibrary, folder: DataFolder) -> int:
    """The number of tools that the offline writer leaves to a model."""
    from toolassay.offline.writer.instruction import needs_model

    return len(needs_model(library, folder.benchmark.dependency_type or "schema"))


def violations(labels: Iterable[dict[str, Any]], library: ToolLibrary) -> Iterator[str]:
    """Arguments that contradict the schema of their tool, one line each; references are valid anywhere."""
    validators: dict[str, Draft202012Validator] = {}
    for label in labels:
        for node in label["task_nodes"]:
            tool: Tool = library[node["task"]]
            if tool.input_schema is None:
                continue
            if tool.id not in validators:
                validators[tool.id] = Draft202012Validator(
                    dict(tool.input_schema), format_checker=FormatChecker()
                )
            arguments = {one["name"]: one["value"] for one in node["arguments"]}
            for error in validators[tool.id].iter_errors(arguments):
                if "<node-" not in json.dumps(error.instance) or error.validator in (
                    "required",
                    "additionalProperties",
                ):
                    yield f"{label['id']} {tool.id} {error.json_path}: {error.message[:200]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
