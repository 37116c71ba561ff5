"""What each command costs by the number of items: seconds, CPU seconds and memory, and how they grow.

    python -m measurements.cost_by_size [SIZES] [--commands NAMES] [--engine ENGINE] [--csv F] [--picture F]

SIZES are numbers of items, by default 1000,10000. Each command is a process of its own, started with
`--quiet`; CPU seconds and peak memory are those that the operating system counts for it and its children.
The offline writer generates the data about the tools of data_multimedia, each size with another seed, so no
request is a copy. Predictions are gold plans of which a third lacks a call and a fifth has another value.
WorkBench's are those of the offline agent for data_workbench, copied with new ids and numbered requests.

Every command also runs on 10 items. What it takes then is its start, which is left out of the seconds per
1,000 items. "Growth" is the exponent between a size and the one before it, also without the start: 1 is
linear.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.files.data_files import read_json_lines, write_json_lines

ROOT = Path(__file__).resolve().parents[1]
START = 10
"""Items of the run that measures the start of a command."""
MODEL = "model-a"
COMMANDS = (
    *("generate", "format", "check", "check without language", "variety", "export", "evaluate", "report"),
    *("evaluate workbench", "report workbench"),
)
PLANS = frozenset(name for name in COMMANDS if "workbench" not in name)
"""Commands about plans, which read what `generate` and `format` write."""
ENGINES = frozenset({"check", "check without language", "variety", "evaluate"})
"""Commands that take `--engine`."""


class Cost(NamedTuple):
    """What one process took."""

    command: str
    items: int
    seconds: float
    cpu: float
    megabytes: float


def run(*arguments: str | Path) -> tuple[float, float, float]:
    """Run `toolassay`; returns seconds, CPU seconds, and megabytes of its largest process."""
    began = time.perf_counter()
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "toolassay", *map(str, arguments), "--quiet"],
            stdout=said,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        if process.returncode not in (0, 3):
            said.seek(0)
            sys.exit(f"{' '.join(map(str, arguments))}:\n{said.read().decode()[-2000:]}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def predictions(labels: Path) -> Iterator[dict[str, Any]]:
    """The gold plans, a third of them with a call less and a fifth with another value."""
    for number, label in read_json_lines(labels):
        nodes = [dict(node) for node in label["task_nodes"]]
        if number % 5 == 0:
            nodes[0] = {**nodes[0], "arguments": [f"other-{number}.txt"]}
        if number % 3 == 0:
            nodes.pop()
        names = {node["task"] for node in nodes}
        links = [link for link in label["task_links"] if {link["source"], link["target"]} <= names]
        plan = {"task_steps": label["task_steps"][: len(nodes)], "task_nodes": nodes, "task_links": links}
        yield {"id": label["id"], "user_request": label["user_request"], "result": plan}


def copy_of(item: dict[str, Any], number: int) -> dict[str, Any]:
    """A task or an answer with another id and other words: a repeated request is an error."""
    return {**item, "id": f"task-{number:07}", "query": f"{item['query']} (task {number})"}


def workbench(folder: Path, items: int) -> None:
    """The tasks of data_workbench and the answers of the offline agent, copied until there are enough."""
    source = folder.parent / "workbench answers"
    if not source.exists():
        shutil.copytree(ROOT / "data_workbench", source)
        run("infer", "--data_dir", source, "--llm", "offline")
    shutil.copytree(ROOT / "data_workbench", folder)
    (folder / "predictions").mkdir()
    answers = ("predictions/offline.json", f"predictions/{MODEL}.json")
    for name, target in (("tasks.jsonl", "tasks.jsonl"), answers):
        lines = [value for _, value in read_json_lines(source / name)]
        write_json_lines(folder / target, (copy_of(lines[n % len(lines)], n) for n in range(items)))


def costs(items: int, place: Path, commands: Sequence[str], engine: Sequence[str]) -> Iterator[Cost]:
    """Run the commands on a set of so many items, one after the other."""
    data, agents = place / f"data-{items}", place / f"workbench-{items}"
    data.mkdir()
    for name in ("tool_desc.json", "graph_desc.json"):
        shutil.copy(ROOT / "data_multimedia" / name, data)
    written = ("--llm", "offline", "--number_of_samples", str(items), "--seed", str(items))
    lines: dict[str, list[str | Path]] = {
        "generate": ["generate", "--data_dir", data, *written, "--dependency_type", "resource"],
        "format": ["format", "--data_dir", data],
        "check": ["check", "--data_dir", data, "--out", place / f"checked-{items}"],
        "check without language": [
            *("check", "--data_dir", data, "--out", place / f"other-checked-{items}"),
            *("--without", "language"),
        ],
        "variety": ["variety", "--data_dir", data, "--out", place / f"variety-{items}"],
        "export": ["export", "--data_dir", data, "--to", "openai", "--out", place / f"exported-{items}"],
        "evaluate": ["evaluate", "--data_dir", data, "--llm", MODEL],
        "report": ["report", "--data_dir", data, "--out", place / f"report-{items}"],
        "evaluate workbench": ["evaluate", "--data_dir", agents, "--llm", MODEL],
        "report workbench": ["report", "--data_dir", agents, "--out", place / f"agents-{items}"],
    }
    # What a command reads, an earlier one has written.
    needed = {*commands, "generate", "format"} if PLANS & set(commands) else set(commands)
    for name, arguments in lines.items():
        if name not in needed:
            continue
        if name == "evaluate":
            (data / "predictions").mkdir()
            write_json_lines(data / "predictions" / f"{MODEL}.json", predictions(data / "data.json"))
        if name == "evaluate workbench":
            workbench(agents, items)
        if name in ENGINES:
            arguments = [*arguments, *engine]
        yield Cost(name, items, *run(*arguments))


def table(found: Sequence[Cost]) -> Iterator[str]:
    """The lines of the table, by command and size."""
    yield "| command | items | seconds | CPU seconds | the start | CPU s per 1,000 | growth | peak |"
    yield f"| --- |{' ---: |' * 7}"
    for name in dict.fromkeys(cost.command for cost in found):
        sizes = sorted((cost for cost in found if cost.command == name), key=lambda cost: cost.items)
        start, before = sizes[0], None
        for cost in sizes[1:]:
            own = max(cost.cpu - start.cpu, 1e-3)
            growth = ""
            if before is not None:
                earlier = max(before.cpu - start.cpu, 1e-3)
                growth = f"{math.log(own / earlier) / math.log(cost.items / before.items):.2f}"
            cpu = f"{cost.cpu:.1f} | {start.cpu:.1f} | {own / cost.items * 1000:.2f}"
            memory = f"{cost.megabytes:,.0f} MB"
            yield f"| {name} | {cost.items:,} | {cost.seconds:.1f} | {cpu} | {growth} | {memory} |"
            before = cost


def draw(found: Sequence[Cost], path: Path) -> None:
    """CPU seconds and memory over the number of items, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.5), constrained_layout=True)
    for name in dict.fromkeys(cost.command for cost in found):
        sizes = sorted((cost for cost in found if cost.command == name), key=lambda cost: cost.items)
        items = [cost.items for cost in sizes]
        left.plot(items, [cost.cpu for cost in sizes], marker="o", label=name)
        right.plot(items, [cost.megabytes for cost in sizes], marker="o", label=name)
    for axes, what in ((left, "CPU seconds"), (right, "peak memory, MB")):
        axes.set(xscale="log", yscale="log", xlabel="items", ylabel=what)
        axes.grid(visible=True, which="major", alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center")
    figure.savefig(path, dpi=110)


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sizes", nargs="?", default="1000,10000", help="numbers of items [1000,10000]")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="only these, separated by commas")
    parser.add_argument("--engine", help="for the commands that take it, such as local:2")
    parser.add_argument("--csv", type=Path, help="where every figure is written")
    parser.add_argument("--picture", type=Path, help="where the curves are drawn")
    given = parser.parse_args()
    sizes = sorted({START, *(int(size) for size in given.sizes.split(","))})
    commands = [name.strip() for name in given.commands.split(",")]
    if unknown := set(commands) - set(COMMANDS):
        sys.exit(f"no such command: {', '.join(sorted(unknown))}")
    engine = ["--engine", given.engine] if given.engine else []
    found: list[Cost] = []
    with tempfile.TemporaryDirectory() as name:
        for items in sizes:
            for cost in costs(items, Path(name), commands, engine):
                found.append(cost)
                print(json.dumps(cost._asdict()), file=sys.stderr, flush=True)
    if given.csv:
        with given.csv.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(Cost._fields)
            writer.writerows([*cost[:2], *(f"{figure:.2f}" for figure in cost[2:])] for cost in found)
    if given.picture:
        draw(found, given.picture)
    print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
