"""What was read of requests and plans that models wrote, and who wrote, judged and read them.

    python -m measurements.gold_reading

`gold_reading.jsonl` has a verdict on each sample that passed gates and critic: `verdict` names it,
`written_by`, `judged_by` and `read_by` name the contexts of a model in `gold_reading_contexts.json`, which
says of each what it is and what it saw, as far as that was recorded. No person has labelled these samples.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from toolassay.console.tables import Table
from toolassay.metrics.confidence_interval import proportion_interval

HERE = Path(__file__).resolve().parent
ASKED = 12
"""Seeds of a library in a round; what is missing of them was declined."""
NAMES = {
    "retail": "retail desk of tau2-bench",
    "github": "GitHub, 48 tools",
    "bfcl": "BFCL",
    "desk": "booking desk of the tests, with a server",
    "notes": "notes server of the tests, with a server",
    "osm": "OpenStreetMap",
    "memory": "notes (knowledge graph)",
    "notion": "Notion's OpenAPI document",
    "toolsandbox": "ToolSandbox",
    "discourse": "Discourse",
    "spotify": "Spotify's OpenAPI document",
    "asana": "Asana's OpenAPI document",
    "tmdb": "TMDB's OpenAPI document",
    "tmdb2": "TMDB again",
    "word": "Word",
    "bio": "BioMCP",
    "bio2": "BioMCP again",
    "hn": "Hacker News",
    "trains": "trains, described in Chinese",
    "trains2": "trains again",
    "desktop": "Desktop Commander",
}


def verdicts() -> list[dict[str, Any]]:
    """The lines of `gold_reading.jsonl`."""
    return [json.loads(line) for line in (HERE / "gold_reading.jsonl").read_text("utf-8").splitlines()]


def contexts() -> list[dict[str, Any]]:
    """The entries of `gold_reading_contexts.json`: `ids`, `role`, `what`, `saw`."""
    found: list[dict[str, Any]] = json.loads((HERE / "gold_reading_contexts.json").read_text("utf-8"))
    return found


def row(first: Sequence[str], read: Sequence[dict[str, Any]], asked: int) -> tuple[str, ...]:
    """The counts of some verdicts."""
    good, several = (
        [one for one in read if one["publishable"]],
        [one for one in read if len(one["calls"]) > 1],
    )
    value, low, high = proportion_interval(len(good), len(read))
    assert value is not None and low is not None and high is not None
    return (
        *first,
        str(asked),
        str(asked - len(read)),
        f"{len(good)} of {len(read)}",
        f"{value:.0%} [{low:.0%}, {high:.0%}]",
        f"{sum(one['publishable'] for one in several)} of {len(several)}",
        str(sum("BORDERLINE" in one["note"] for one in read)),
    )


def table(lines: Iterable[dict[str, Any]]) -> Table:
    """A row for each round and library, and sums."""
    lines, rows = list(lines), []
    groups = [[*found] for _, found in groupby(lines, lambda one: (one["round"], one["library"]))]
    for read in groups:
        rows.append(row((str(read[0]["round"]), NAMES[read[0]["library"]]), read, ASKED))
    for name, rounds in (("all of round 0", (0,)), ("all of rounds 1 to 7", range(1, 8)), ("all", range(8))):
        counted = [read for read in groups if read[0]["round"] in rounds]
        rows.append(row(("", name), [one for read in counted for one in read], ASKED * len(counted)))
    heads = (
        "round",
        "library",
        "seeds",
        "declined",
        "publishable",
        "share",
        "of several calls",
        "borderline",
    )
    return Table(heads, rows, "rlrrrlrr")


def main() -> None:
    """Print both tables."""
    print(table(verdicts()).markdown())
    print()
    named = [
        (
            one["ids"][0] if len(one["ids"]) == 1 else f"{one['ids'][0]} to {one['ids'][-1]}",
            one["what"],
            one["saw"],
        )
        for one in contexts()
    ]
    print(Table(("who", "what it is", "what it saw"), named, "lll").markdown())


if __name__ == "__main__":
    main()
