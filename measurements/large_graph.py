"""A library of 100,000 tools: time and memory of building its graph and drawing samples from it.

    python -m measurements.large_graph [--tools 100000] [--samples 10000] [--seed 0] [--rival 1000 3000]

Resource tools have 1 to 3 inputs and 1 or 2 outputs of 20 types, drawn with the seed; temporal tools have
parameters. Each row is a process of its own, so that its peak memory is its own. The rival is the
published way: every pair of tools is looked at, every link is an object, the list is written as JSON.
Limits: 10 seconds and 2 GB a kind.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS = 10.0
MEGABYTES = 2_000.0
TYPES = [f"type {number}" for number in range(20)]


def tool(kind: str, number: int, chance: random.Random) -> dict[str, Any]:
    """One tool of the library."""
    named = {"id": f"tool {number}", "desc": f"Does the work of kind {number % 997}."}
    if kind == "temporal":
        return {**named, "parameters": [{"name": "day", "type": "date", "desc": "The day."}]}
    inputs = [chance.choice(TYPES) for _ in range(chance.randint(1, 3))]
    return {**named, "input-type": inputs, "output-type": chance.sample(TYPES, chance.randint(1, 2))}


def ours(folder: Path, kind: str, samples: int, seed: int) -> dict[str, float]:
    """Seconds of each step, from the tool file to the last sample."""
    from toolassay.graph import ToolGraph
    from toolassay.sampling import Sampler
    from toolassay.tools import ToolLibrary

    watch = Watch()
    library = watch("load tools", lambda: ToolLibrary.load(folder / "tool_desc.json"))
    graph = watch("build", lambda: ToolGraph.build(library, kind))

    def write() -> None:
        with (folder / "graph_desc.json").open("w", encoding="utf-8") as stream:
            graph.write(stream)

    watch("write", write)
    again = watch("load graph", lambda: ToolGraph.load(folder / "graph_desc.json"))
    drawn = watch("sample", lambda: list(Sampler(again, seed).samples(samples)))
    assert len(drawn) == samples and again.number_of_links == graph.number_of_links
    return {**watch.seconds, "links": graph.number_of_links}


def published_way(folder: Path, kind: str, samples: int, seed: int) -> dict[str, float]:
    """The same up to the written graph, every link materialised (it is not sampled from)."""
    watch = Watch()
    nodes = watch("load tools", lambda: json.loads((folder / "tool_desc.json").read_text())["nodes"])

    def build() -> list[dict[str, str]]:
        links = []
        for source in nodes:
            for target in nodes:
                if source is target:
                    continue
                shared = {"complete"} if kind == "temporal" else None
                shared = shared or set(source["output-type"]) & set(target["input-type"])
                if shared:
                    links.append({"source": source["id"], "target": target["id"], "type": shared.pop()})
        return links

    links = watch("build", build)

    def write() -> None:
        with (folder / "graph_desc.json").open("w", encoding="utf-8") as stream:
            json.dump({"nodes": nodes, "links": links}, stream, indent=2)

    watch("write", write)
    return {**watch.seconds, "links": len(links)}


WAYS: dict[str, Callable[[Path, str, int, int], dict[str, float]]] = {
    "toolassay": ours,
    "published way": published_way,
}


class Watch:
    """Takes the seconds of named steps; what happens between two steps counts for the later one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._start = time.perf_counter()

    def __call__(self, name: str, step: Callable[[], Any]) -> Any:
        value = step()
        now = time.perf_counter()
        self.seconds[name], self._start = now - self._start, now
        return value


def measure(way: str, kind: str, tools: int, samples: int, seed: int) -> dict[str, float]:
    """One row, measured in a new process."""
    with tempfile.TemporaryDirectory() as name:
        chance = random.Random(f"{seed}:{kind}")
        nodes = (json.dumps(tool(kind, number, chance)) for number in range(tools))
        with (Path(name) / "tool_desc.json").open("w", encoding="utf-8") as stream:
            stream.write('{"nodes": [\n')
            stream.writelines(",\n" * (number > 0) + node for number, node in enumerate(nodes))
            stream.write("\n]}\n")
        command = [
            sys.executable,
            "-m",
            "measurements.large_graph",
            "--row",
            way,
            kind,
            name,
            str(samples),
            str(seed),
        ]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    row: dict[str, float] = json.loads(output)
    return row


def print_row(way: str, kind: str, folder: str, samples: str, seed: str) -> None:
    """What the new process does."""
    row = WAYS[way](Path(folder), kind, int(samples), int(seed))
    row["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(json.dumps(row))


def main() -> int:
    """Print the table; the exit code says whether the limits were kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tools", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rival", type=int, nargs="*", default=[1_000, 3_000], help="sizes for both ways")
    parser.add_argument("--row", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print_row(*options.row)
        return 0
    from rich.console import Console
    from rich.table import Table

    steps = ("load tools", "build", "write", "load graph", "sample")
    table = Table("way", "kind", "tools", "links", *(f"{step} s" for step in steps), "total s", "peak MB")
    for column in table.columns[2:]:
        column.justify = "right"
    kept = True
    plan = [(way, size) for size in options.rival for way in ("published way", "toolassay")]
    for way, size in [*plan, ("toolassay", options.tools)]:
        for kind in ("resource", "temporal"):
            row = measure(way, kind, size, options.samples, options.seed)
            total = sum(row.get(step, 0) for step in steps)
            if size == options.tools and way == "toolassay":
                kept = kept and total <= SECONDS and row["megabytes"] <= MEGABYTES
            seconds = [f"{row[step]:.2f}" if step in row else "" for step in steps]
            numbers = (f"{size:,}", f"{row['links']:,.0f}")
            table.add_row(way, kind, *numbers, *seconds, f"{total:.2f}", f"{row['megabytes']:,.0f}")
    Console(width=150).print(table)
    print(f"{options.samples:,} samples; limits of {SECONDS:.0f} s and {MEGABYTES:,.0f} MB", end=" ")
    print("kept" if kept else "NOT kept")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
