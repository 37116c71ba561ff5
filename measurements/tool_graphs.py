"""Graphs derived from schemas: recall of known pairs, time and memory, published links, edges to read.

    python -m measurements.tool_graphs recall OPENAPI.json [GOLD.json] [--schemathesis PYTHON] [--picture F]
    python -m measurements.tool_graphs size TOOL_DESC... [--cut N]
    python -m measurements.tool_graphs links TOOL_DESC GRAPH_DESC
    python -m measurements.tool_graphs sample GRAPH_DESC [--best 50] [--random 50] [--seed 1]

`recall` derives the links of an OpenAPI document and counts how many of the consecutive pairs of operations
of a RestBench file are among the best N: `[{"query": …, "solution": ["GET /search/movie", …]}]`. Without
GOLD.json it only counts links. schemathesis needs an environment of its own
(`pip install schemathesis==4.32.*`), whose interpreter `--schemathesis` names. `size` measures
`toolassay graph` in a process of its own, on a copy of the tools; with `--cut N` the first N tools of each
file, too. Limits: 60 seconds and 2 GB up to 16,000 tools. `links` compares with the links of a published
graph. `sample` prints edges as Markdown, to be read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from toolassay.graph.dependencies import Dependency

Pair = tuple[str, str]

NUMBERS = (10, 25, 50, 100, 121, 200, 300, 400)
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
LIMITED_TOOLS = 16_000
SECONDS = 60.0
MEGABYTES = 2_000.0

# Run by the interpreter of `--schemathesis`. The reference of an operation is `#/paths/~1movie~1{id}/get`.
SCHEMATHESIS = """
import json, sys
from importlib.metadata import version
import schemathesis

def name(reference):
    path, _, method = reference.removeprefix("#/paths/").rpartition("/")
    return method.upper() + " " + path.replace("~1", "/").replace("~0", "~")

schema = schemathesis.openapi.from_dict(json.load(open(sys.argv[1], encoding="utf-8-sig")))
pairs = {}
for response in schema.analysis.dependency_graph.iter_links():
    for link in response.links.values():
        pairs.setdefault((name(response.producer_operation_ref), name(link.operation_ref)))
print(json.dumps({"version": version("schemathesis"), "pairs": list(pairs)}))
"""


class Curve(NamedTuple):
    """Pairs of operations in the order of a program, the best first.

    Attributes:
        name: The program.
        pairs: The pairs.
    """

    name: str
    pairs: Sequence[Pair]


def gold_pairs(value: Iterable[dict[str, Any]]) -> set[Pair]:
    """The distinct pairs of consecutive operations in solutions; an operation after itself is left out.

    >>> sorted(gold_pairs([{"query": "", "solution": ["GET /a", "GET /b ", "GET /b"]}]))
    [('GET /a', 'GET /b')]
    """
    solutions = ([call.strip() for call in item["solution"]] for item in value)
    return {pair for calls in solutions for pair in pairwise(calls) if pair[0] != pair[1]}


def found_pairs(pairs: Sequence[Pair], gold: set[Pair], number: int) -> int:
    """How many of the known pairs are among the first `number`."""
    return len(gold.intersection(pairs[:number]))


def derived(document: Path) -> tuple[list[Pair], set[str]]:
    """The links between the operations of a document by score, and the operations."""
    from toolassay.graph.derive import derive_dependencies
    from toolassay.importers.intake import take_in
    from toolassay.importers.openapi import IMPORTER, OpenApiOptions
    from toolassay.tools.library import ToolLibrary

    nodes = take_in(IMPORTER.name, IMPORTER.read(str(document), OpenApiOptions())).nodes
    library = ToolLibrary.from_json({"nodes": list(nodes)})
    names = {tool.id: f"{tool.source['method']} {tool.source['path']}" for tool in library}
    links = sorted(derive_dependencies(library), key=lambda link: -link.score)
    return [(names[link.source], names[link.target]) for link in links], {*names.values()}


def schemathesis_pairs(python: Path, document: Path) -> Curve:
    """The pairs of operations that schemathesis finds, in its own order; self-links are left out."""
    command = [str(python), "-c", SCHEMATHESIS, str(document)]
    answer = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    pairs = [(source, target) for source, target in answer["pairs"] if source != target]
    return Curve(f"schemathesis {answer['version']}", pairs)


def recall(options: argparse.Namespace) -> int:
    """Print the recall of known pairs by the number of edges."""
    pairs, operations = derived(options.document)
    curves = [Curve("toolassay", pairs)]
    if options.schemathesis:
        curves.append(schemathesis_pairs(options.schemathesis, options.document))
    counts = ", ".join(f"{curve.name} {len(curve.pairs):,} edges" for curve in curves)
    print(f"{len(operations):,} operations; {counts}\n")
    if options.gold is None:
        return 0
    gold = gold_pairs(json.loads(options.gold.read_text(encoding="utf-8")))
    unknown = sum(not operations.issuperset(pair) for pair in gold)
    print(
        f"{len(gold)} distinct pairs, {unknown} of them with an operation that the document does not have\n"
    )
    print(f"| edges | {' | '.join(curve.name for curve in curves)} |")
    print("| ---: |" + " ---: |" * len(curves))
    for number in sorted({*NUMBERS, *(len(curve.pairs) for curve in curves)}):
        cells = (
            str(found_pairs(curve.pairs, gold, number)) if number <= len(curve.pairs) else ""
            for curve in curves
        )
        print(f"| {number:,} | {' | '.join(cells)} |")
    if options.picture:
        draw(curves, gold, options.picture)
    return 0


def draw(curves: Sequence[Curve], gold: set[Pair], path: Path) -> None:
    """Plot the recall by the number of edges."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for curve in curves:
        numbers = range(len(curve.pairs) + 1)
        axes.plot(numbers, [found_pairs(curve.pairs, gold, n) / len(gold) for n in numbers], label=curve.name)
    axes.set(xlabel="edges, best first", ylabel=f"recall of {len(gold)} pairs", ylim=(0, 1))
    axes.set_xlim(left=0)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def cut(path: Path, number: int, folder: Path) -> int:
    """Write the first tools of a file to a folder; returns how many."""
    from toolassay.files.data_files import atomic_writer, write_nodes

    nodes = json.loads(path.read_text(encoding="utf-8"))["nodes"][:number]
    with atomic_writer(folder / "tool_desc.json") as stream:
        write_nodes(stream, nodes)
        stream.write("\n}\n")
    return len(nodes)


def graph_cost(path: Path, number: int | None) -> dict[str, float]:
    """Tools, links, seconds and memory of `toolassay graph` with the first tools of a file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if number is None:
            shutil.copyfile(path, folder / "tool_desc.json")
        else:
            # In another process: what this one has had in memory counts for those that it starts.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                pool.submit(cut, path, number, folder).result()
        arguments = ["graph", "--data_dir", name, "--dependency_type", "schema", "--quiet"]
        command = [sys.executable, "-m", "toolassay", *arguments]
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    # Matches `written (54 tools, 1 link, schema)`; not `links by origin: 1 schema`.
    counts = re.search(r"\(([\d,]+) tools?, ([\d,]+) links?, schema\)", output)
    if process.returncode or counts is None:
        raise SystemExit(f"{path}: toolassay graph ended with {process.returncode}: {output}")
    return {
        "tools": int(counts[1].replace(",", "")),
        "links": int(counts[2].replace(",", "")),
        "seconds": seconds,
        "cpu": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss * 1024 / 1e6,
    }


def size(options: argparse.Namespace) -> int:
    """Print time and memory by the number of tools; the exit code says whether the limits were kept."""
    print("| tools | links | seconds | CPU seconds | peak memory |\n| ---: | ---: | ---: | ---: | ---: |")
    kept = True
    for path in options.tool_desc:
        for number in (None, *options.cut):
            row = graph_cost(path, number)
            print(
                f"| {row['tools']:,.0f} | {row['links']:,.0f} | {row['seconds']:.1f} | {row['cpu']:.1f} "
                f"| {row['megabytes']:,.0f} MB |",
                flush=True,
            )
            is_within = row["seconds"] <= SECONDS and row["megabytes"] <= MEGABYTES
            kept = kept and (is_within or row["tools"] > LIMITED_TOOLS)
    print(f"\nlimits of {SECONDS:.0f} s and {MEGABYTES:,.0f} MB {'kept' if kept else 'NOT kept'}")
    return 0 if kept else 1


def links(options: argparse.Namespace) -> int:
    """Print precision and recall of derived links against those of a published graph, by least score."""
    from toolassay.graph.derive import derive_dependencies
    from toolassay.tools.library import ToolLibrary

    library = ToolLibrary.load(options.tool_desc)
    listed = json.loads(options.graph_desc.read_text(encoding="utf-8"))["links"]
    gold = {(link["source"], link["target"]) for link in listed if link["source"] != link["target"]}
    possible = len(library) * (len(library) - 1)
    found = derive_dependencies(library)
    print(
        f"{len(library):,} tools, {len(gold):,} links; of all pairs, {len(gold) / possible:.1%} are links\n"
    )
    print("| least score | links | precision | recall | F1 |\n| ---: | ---: | ---: | ---: | ---: |")
    for least in THRESHOLDS:
        pairs = {(link.source, link.target) for link in found if link.score >= least}
        hits = len(pairs & gold)
        precision = f"{hits / len(pairs):.1%}" if pairs else "–"
        f1 = f"{2 * hits / (len(pairs) + len(gold)):.1%}"
        print(f"| {least} | {len(pairs):,} | {precision} | {hits / len(gold):.1%} | {f1} |")
    return 0


def drawn(links: Iterable[Dependency], seed: int) -> list[Dependency]:
    """The links in a random order that stays when others are added or removed, so that verdicts stay, too."""
    return sorted(links, key=lambda link: random.Random(f"{seed}:{link.source}:{link.target}").random())


def sample(options: argparse.Namespace) -> int:
    """Print the best links of a graph, and random ones of all, as Markdown."""
    from toolassay.graph import ToolGraph

    graph = ToolGraph.load(options.graph_desc)
    # Of links with equal scores random ones are printed, rather than those of the first tools.
    shuffled = drawn(graph.dependencies(), options.seed)
    best = sorted(shuffled, key=lambda link: -link.score)[: options.best]
    print(f"{len(graph):,} tools, {len(shuffled):,} links")
    for title, chosen in (("Best", best), ("Random", shuffled[: options.random])):
        print(f"\n## {title}\n")
        for number, link in enumerate(chosen, start=1):
            flows = ", ".join(f"`{pair.source or 'result'}` → `{pair.target}`" for pair in link.fields)
            print(f"{number}. {link.score:.2f} **{link.source}** → **{link.target}**: {flows}")
            print(f"    - {'; '.join(link.reasons)}")
            for name in (link.source, link.target):
                description = " ".join(graph.library[name].description.split())
                print(f"    - {name}: {shorten(description, 160, placeholder='…')}")
    return 0


def main() -> int:
    """Run the measurement that the arguments name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("recall", help="recall of known pairs by the number of edges")
    one.add_argument("document", type=Path, help="OpenAPI document")
    one.add_argument("gold", type=Path, nargs="?", help="RestBench file")
    one.add_argument("--schemathesis", type=Path, help="interpreter of an environment with schemathesis")
    one.add_argument("--picture", type=Path, help="file of a plot")
    one.set_defaults(run=recall)
    one = commands.add_parser("size", help="time and memory by the number of tools")
    one.add_argument("tool_desc", type=Path, nargs="+")
    one.add_argument(
        "--cut", type=int, nargs="*", default=[], help="numbers of tools, the first of each file"
    )
    one.set_defaults(run=size)
    one = commands.add_parser("links", help="precision and recall against a published graph")
    one.add_argument("tool_desc", type=Path)
    one.add_argument("graph_desc", type=Path)
    one.set_defaults(run=links)
    one = commands.add_parser("sample", help="edges to read, as Markdown")
    one.add_argument("graph_desc", type=Path)
    one.add_argument("--best", type=int, default=50)
    one.add_argument("--random", type=int, default=50)
    one.add_argument("--seed", type=int, default=1)
    one.set_defaults(run=sample)
    options = parser.parse_args()
    result: int = options.run(options)
    return result


if __name__ == "__main__":
    sys.exit(main())
