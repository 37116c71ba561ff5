"""Large graphs: time and memory of building and loading them, and of drawing samples from them.

    python -m measurements.large_graph implied [--tools 100000] [--samples 10000] [--rival 1000 3000]
    python -m measurements.large_graph listed [--links 1000000] [--tools 10000] [--times 3]

Resource tools have 1 to 3 inputs and 1 or 2 outputs of 20 types, drawn with the seed; temporal tools have
parameters. Each row is a process of its own, so that its peak memory is its own.

`implied`: links follow from the tools. The rival is the published way: every pair of tools is looked at,
every link is an object, the list is written as JSON. Limits: 10 seconds and 2 GB a kind.

`listed`: random links are listed in `graph_desc.json`, in the published layout. The rival reads the same
file with `json` and makes a `networkx.DiGraph` of it, without checking anything. Seconds are those of the
whole process, the median of several runs. Limits: 2 seconds and 300 MB a kind.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

IMPLIED_LIMITS = 10.0, 2_000.0
LISTED_LIMITS = 2.0, 300.0
"""Maximum seconds and megabytes."""
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
    from toolassay.tools.library import ToolLibrary

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


def load(folder: Path, kind: str, samples: int, seed: int) -> dict[str, float]:
    """Seconds of loading a folder with tools and a graph, and of one sample."""
    from toolassay.records.data_folder import DataFolder
    from toolassay.sampling import Sampler

    watch = Watch()
    graph = watch("load graph", lambda: DataFolder(folder).graph(None))
    after_load = peak_megabytes()
    watch("sample", lambda: list(Sampler(graph, seed).samples(1)))
    return {**watch.seconds, "links": graph.number_of_links, "megabytes": after_load}


def load_networkx(folder: Path, kind: str, samples: int, seed: int) -> dict[str, float]:
    """The same file as a `DiGraph`."""
    import networkx as nx

    watch = Watch()

    def graph_of() -> nx.DiGraph[str]:
        value = json.loads((folder / "graph_desc.json").read_text(encoding="utf-8"))
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(node["id"] for node in value["nodes"])
        links = value["links"]
        graph.add_edges_from((link["source"], link["target"], {"type": link["type"]}) for link in links)
        return graph

    graph = watch("load graph", graph_of)
    return {**watch.seconds, "links": graph.number_of_edges(), "megabytes": peak_megabytes()}


def write_listed(folder: Path, kind: str, tools: int, links: int, seed: int) -> None:
    """A data folder with random links, at most one for each pair of tools."""
    from toolassay.graph import ToolGraph
    from toolassay.graph.links import ListedLinks, NumberedLink
    from toolassay.tools.library import ToolLibrary

    write_tools(folder, kind, tools, seed)
    library = ToolLibrary.load(folder / "tool_desc.json")
    chance = random.Random(f"{seed}:{kind}:links")
    takers = {name: [place for place, one in enumerate(library) if name in one.inputs] for name in TYPES}
    drawn: dict[tuple[int, int], str] = {}
    while len(drawn) < links:
        source = chance.randrange(tools)
        name = chance.choice(library.tools[source].outputs or ("complete",))
        target = chance.choice(takers[name]) if name in takers else chance.randrange(tools)
        if source != target:
            drawn.setdefault((source, target), name)
    listed = ListedLinks(tools, (NumberedLink(*pair, name) for pair, name in drawn.items()))
    with (folder / "graph_desc.json").open("w", encoding="utf-8") as stream:
        ToolGraph(library, "temporal" if kind == "temporal" else "resource", listed).write(stream)


WAYS: dict[str, Callable[[Path, str, int, int], dict[str, float]]] = {
    "toolassay": ours,
    "published way": published_way,
    "load": load,
    "networkx": load_networkx,
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


def peak_megabytes() -> float:
    """The peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def write_tools(folder: Path, kind: str, tools: int, seed: int) -> None:
    """`tool_desc.json`, one tool a line."""
    chance = random.Random(f"{seed}:{kind}")
    nodes = (json.dumps(tool(kind, number, chance)) for number in range(tools))
    with (folder / "tool_desc.json").open("w", encoding="utf-8") as stream:
        stream.write('{"nodes": [\n')
        stream.writelines(",\n" * (number > 0) + node for number, node in enumerate(nodes))
        stream.write("\n]}\n")


def measure(way: str, kind: str, folder: Path, samples: int, seed: int) -> dict[str, float]:
    """One row, measured in a new process."""
    start = time.perf_counter()
    row: dict[str, float] = json.loads(in_new_process("row", way, kind, folder, samples, seed))
    return {"process": time.perf_counter() - start, **row}


def in_new_process(*arguments: object) -> str:
    """What this script prints when called with these arguments."""
    command = [sys.executable, "-m", "measurements.large_graph", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def print_row(way: str, kind: str, folder: str, samples: str, seed: str) -> None:
    """What the new process does."""
    row = WAYS[way](Path(folder), kind, int(samples), int(seed))
    print(json.dumps({"megabytes": peak_megabytes(), **row}))


def print_verdict(
    heads: Sequence[str], rows: Sequence[Sequence[str]], limits: tuple[float, float], kept: bool
) -> int:
    """Print the table; the exit code says whether the limits were kept."""
    from toolassay.console.tables import Table  # late: it would count for the memory of a row

    print(Table(heads, rows, f"ll{'r' * (len(heads) - 2)}").markdown())
    print(f"\nLimits of {limits[0]:.0f} s and {limits[1]:,.0f} MB {'kept' if kept else 'NOT kept'}.")
    return 0 if kept else 1


def implied(options: argparse.Namespace) -> int:
    """Graphs that follow from their tools."""
    steps = ("load tools", "build", "write", "load graph", "sample")
    heads = ("way", "kind", "tools", "links", *(f"{step} s" for step in steps), "total s", "peak MB")
    rows = []
    seconds, megabytes = IMPLIED_LIMITS
    kept = True
    plan = [(way, size) for size in options.rival for way in ("published way", "toolassay")]
    for way, size in [*plan, ("toolassay", options.tools)]:
        for kind in ("resource", "temporal"):
            with tempfile.TemporaryDirectory() as name:
                write_tools(Path(name), kind, size, options.seed)
                row = measure(way, kind, Path(name), options.samples, options.seed)
            total = sum(row.get(step, 0) for step in steps)
            if size == options.tools and way == "toolassay":
                kept = kept and total <= seconds and row["megabytes"] <= megabytes
            shown = [f"{row[step]:.2f}" if step in row else "" for step in steps]
            numbers = (f"{size:,}", f"{row['links']:,.0f}")
            rows.append((way, kind, *numbers, *shown, f"{total:.2f}", f"{row['megabytes']:,.0f}"))
    return print_verdict(heads, rows, IMPLIED_LIMITS, kept)


def listed(options: argparse.Namespace) -> int:
    """Graphs whose links a file lists."""
    columns = ("way", "kind", "tools", "links", "file MB", "load s", "process s", "peak MB", "first sample s")
    table = []
    seconds, megabytes = LISTED_LIMITS
    kept = True
    for kind in ("resource", "temporal"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # Not in this process: Linux counts the memory of a process as that of the processes it starts.
            in_new_process("write", folder, kind, options.tools, options.links, options.seed)
            size = (folder / "graph_desc.json").stat().st_size / 1e6
            runs = {
                way: [measure(way, kind, folder, 1, options.seed) for _ in range(options.times)]
                for way in ("networkx", "load")
            }
        whole: dict[str, float] = {}
        for way, rows in runs.items():
            load, whole[way] = (
                statistics.median(row[key] for row in rows) for key in ("load graph", "process")
            )
            sample = statistics.median(row.get("sample", 0) for row in rows)
            # Loading is measured, not the sample after it.
            whole[way] -= sample
            peak = max(row["megabytes"] for row in rows)
            if way == "load":
                kept = kept and whole[way] <= seconds and peak <= megabytes
            table.append(
                (
                    *("toolassay" if way == "load" else way, kind, f"{options.tools:,}"),
                    *(f"{rows[0]['links']:,.0f}", f"{size:.0f}", f"{load:.2f}", f"{whole[way]:.2f}"),
                    *(f"{peak:,.0f}", f"{sample:.2f}" if way == "load" else ""),
                    f"{whole[way] / whole['networkx']:.0%}",
                )
            )
    return print_verdict((*columns, "of networkx"), table, LISTED_LIMITS, kept)


def main() -> int:
    """Print a table; the exit code says whether the limits were kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parts = parser.add_subparsers(dest="part", required=True)
    part = parts.add_parser("implied")
    part.add_argument("--tools", type=int, default=100_000)
    part.add_argument("--samples", type=int, default=10_000)
    part.add_argument("--seed", type=int, default=0)
    part.add_argument("--rival", type=int, nargs="*", default=[1_000, 3_000], help="sizes for both ways")
    part = parts.add_parser("listed")
    part.add_argument("--links", type=int, default=1_000_000)
    part.add_argument("--tools", type=int, default=10_000)
    part.add_argument("--times", type=int, default=3)
    part.add_argument("--seed", type=int, default=0)
    parts.add_parser("row").add_argument("row", nargs=5)
    parts.add_parser("write").add_argument("row", nargs=5)
    options = parser.parse_args()
    if options.part == "row":
        print_row(*options.row)
        return 0
    if options.part == "write":
        folder, kind, tools, links, seed = options.row
        write_listed(Path(folder), kind, int(tools), int(links), int(seed))
        return 0
    return implied(options) if options.part == "implied" else listed(options)


if __name__ == "__main__":
    sys.exit(main())
