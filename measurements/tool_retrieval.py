"""Recall@K of `--tools_in_context retrieved:K` in a library of many tools.

    python -m measurements.tool_retrieval FOLDER [--tools 10000] [--more FILE ...] [--requests 1000]

FOLDER has `tool_desc.json` and `data.json`. Its library is filled up to `--tools` with the tools of `--more`
(JSON or JSON Lines, in which each object with `name` and `description` is one), then with recombined ones,
which have the name of one tool and half of the descriptions of two others, so that all words are those of
real tools. Recall is the share of a gold plan's tools that are shown, averaged over requests.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from toolassay.console.tables import Table
from toolassay.files.data_files import read_json_lines
from toolassay.prompts.retrieval import Bm25
from toolassay.tools.library import Tool, ToolLibrary

KS = (5, 10, 20, 50, 100)


def named(value: Any) -> Iterator[Tool]:
    """The tools in a JSON value, however deep.

    >>> [tool.id for tool in named({"tools": [{"name": "a", "description": "Does it."}]})]
    ['a']
    """
    if isinstance(value, list):
        for one in value:
            yield from named(one)
    elif isinstance(value, dict):
        name, description = value.get("name"), value.get("description")
        if isinstance(name, str) and name and isinstance(description, str):
            yield Tool(name, description)
        for one in value.values():
            yield from named(one)


def tools_in(path: Path) -> Iterator[Tool]:
    """The tools of a JSON or JSON Lines file."""
    text = path.read_text(encoding="utf-8")
    try:
        yield from named(json.loads(text))
    except ValueError:
        for line in text.splitlines():
            yield from named(json.loads(line))


def filled(library: ToolLibrary, more: Sequence[Tool], count: int, rng: Random) -> ToolLibrary:
    """A library of `count` tools: those given, then `more`, then recombined ones."""
    tools = {tool.id: tool for tool in library}
    for tool in more:
        tools.setdefault(tool.id, tool)
    real = list(tools.values())
    while len(tools) < count:
        name, one, other = rng.sample(real, 3)
        halves = [text.description.split() for text in (one, other)]
        description = " ".join(halves[0][: len(halves[0]) // 2 + 1] + halves[1][len(halves[1]) // 2 :])
        made = Tool(f"{name.id}_{len(tools)}", description)
        tools[made.id] = made
    return ToolLibrary(list(tools.values()))


def recalls(
    library: ToolLibrary, requests: Sequence[tuple[str, frozenset[str]]]
) -> tuple[list[float], float]:
    """Recall at each of `KS`, and seconds of a request."""
    find = Bm25().index(library)
    totals, began = [0.0] * len(KS), time.perf_counter()
    for text, gold in requests:
        shown = find(text, KS[-1])
        for place, k in enumerate(KS):
            totals[place] += len(gold.intersection(shown[:k])) / len(gold)
    seconds = time.perf_counter() - began
    return [total / len(requests) for total in totals], seconds / len(requests)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tools", type=int, default=10_000)
    parser.add_argument("--more", type=Path, nargs="*", default=[])
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = Random(arguments.seed)
    library = ToolLibrary.load(arguments.folder / "tool_desc.json")
    labels = [line.value for line in read_json_lines(arguments.folder / "data.json")]
    golds = [
        (label["user_request"], frozenset(node["task"] for node in label["task_nodes"])) for label in labels
    ]
    golds = [(text, gold) for text, gold in golds if gold]
    requests = rng.sample(golds, min(arguments.requests, len(golds)))
    more = [tool for path in arguments.more for tool in tools_in(path)]
    rows = []
    for name, count, extra in (
        ("the folder's", len(library), []),
        ("with real ones", len({*library.ids, *(tool.id for tool in more)}), more),
        ("filled up", arguments.tools, more),
    ):
        larger = filled(library, extra, count, rng)
        found, seconds = recalls(larger, requests)
        shares = [f"{100 * share:.1f}" for share in found]
        rows.append((name, f"{len(larger):,}", *shares, f"{1000 * seconds:.1f}"))
    print(f"{len(requests):,} requests\n")
    print(Table(("library", "tools", *(f"recall@{k}" for k in KS), "ms a request"), rows).markdown())


if __name__ == "__main__":
    main()
