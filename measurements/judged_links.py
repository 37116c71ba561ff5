"""Derived links against those that a model expects of the tools, and against links that a model judged.

    python -m measurements.judged_links FOLDER [--links]

FOLDER holds `expected_links.json` (by library, pairs of tools that must be linked), `links.jsonl` (links with
`sensible` 0 or 1), and for each library a folder with `tool_desc.json`. Prints for each library how many of
its links carry a value, how many expected links are there, how many right ones are kept, and how many wrong
ones are still made. A wrong one is still made if the same field fills the same argument, or if the pair is
linked at all where even the order was found senseless. `--links` lists expected links that are missing, and
every link.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from toolassay.console.tables import Table
from toolassay.graph.dependencies import DEFAULT_MIN_CONFIDENCE, Dependency, fields_of
from toolassay.graph.derive import derive_dependencies
from toolassay.tools.library import ToolLibrary


def graph_of(path: Path) -> dict[tuple[str, str], Dependency]:
    """The links of a library at default settings, by pair."""
    links = derive_dependencies(ToolLibrary.load(path))
    return {(link.source, link.target): link for link in links if link.score >= DEFAULT_MIN_CONFIDENCE}


def is_made(judged: dict[str, Any], link: Dependency | None) -> bool:
    """Whether the graph has a judged link."""
    if link is None:
        return False
    if judged["sensible"]:
        return True
    same = {(one["from"], one["to"]) for one in judged["fields"]} & {*map(tuple, fields_of(link))}
    return bool(same) or not (fields_of(link) or judged.get("idea_right_field_wrong"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--links", action="store_true")
    options = parser.parse_args()
    expected = json.loads((options.folder / "expected_links.json").read_text("utf-8"))
    judged = [json.loads(line) for line in (options.folder / "links.jsonl").read_text("utf-8").splitlines()]
    rows = []
    for path in sorted(options.folder.glob("*/tool_desc.json")):
        name, graph = path.parent.name, graph_of(path)
        pairs = [(source, target) for source, target in expected.get(name, ())]
        found = [pair for pair in pairs if pair in graph]
        values = sum(bool(fields_of(link)) for link in graph.values())
        counts = Counter(
            (bool(one["sensible"]), is_made(one, graph.get((one["source"], one["target"]))))
            for one in judged
            if one["library"] == name
        )
        cells = [
            f"{counts[sensible, True]} of {counts[sensible, True] + counts[sensible, False]}"
            if counts
            else "–"
            for sensible in (True, False)
        ]
        rows.append((name, f"{len(graph)}", f"{values}", f"{len(found)} of {len(pairs)}", *cells))
        for source, target in pairs if options.links else ():
            if (source, target) not in graph:
                print(f"  missing {source} -> {target}")
        for link in graph.values() if options.links else ():
            flows = ", ".join(f"{one.source or 'result'} => {one.target}" for one in fields_of(link))
            shared = ", ".join(f"{one.source} = {one.target}" for one in link.shared)
            print(f"  {link.score:.2f} {link.source} -> {link.target}: {flows or 'order'} [{shared}]")
    heads = ("library", "links", "with a value", "expected found", "judged right, kept", "judged wrong, made")
    print(Table(heads, rows).markdown())


if __name__ == "__main__":
    main()
