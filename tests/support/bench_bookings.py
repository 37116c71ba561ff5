"""A small data set with a schema graph: free workbenches are found, one is booked, and guests are invited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.builders import imported_tool, node, plan_of, write_labels
from toolassay.files.data_files import write_json, write_json_lines
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Dependency
from toolassay.graph.links import FieldPair
from toolassay.tools.library import ToolLibrary

_BENCH = {"type": "object", "properties": {"id": {"type": "string"}, "price": {"type": "number"}}}
TOOLS = {
    "nodes": [
        imported_tool(
            "find_benches",
            "Finds workbenches that are free on a day.",
            {"day": {"type": "string", "format": "date"}},
            ["day"],
            output={"type": "object", "properties": {"benches": {"type": "array", "items": _BENCH}}},
        ),
        imported_tool(
            "book_bench",
            "Books a workbench for a number of hours.",
            {"bench_id": {"type": "string"}, "hours": {"type": "integer"}},
            ["bench_id", "hours"],
            output={"type": "object", "properties": {"booking": _BENCH}},
        ),
        imported_tool(
            "invite_guests",
            "Invites guests to a booking.",
            {
                "booking_id": {"type": "string"},
                "guests": {"type": "array", "items": {"type": "string"}},
                "filter": {
                    "type": "object",
                    "properties": {"bench_ids": {"type": "array", "items": {"type": "string"}}},
                },
            },
            ["booking_id"],
        ),
        imported_tool("close_day", "Closes the books of the day.", {}),
    ]
}
LIBRARY = ToolLibrary.from_json(TOOLS)
GRAPH = ToolGraph.of_dependencies(
    LIBRARY,
    [
        Dependency("find_benches", "book_bench", "bench_id", 0.9, (FieldPair("benches[].id", "bench_id"),)),
        Dependency(
            "find_benches",
            "invite_guests",
            "filter.bench_ids",
            0.5,
            (FieldPair("benches[].id", "filter.bench_ids"),),
        ),
        Dependency(
            "book_bench", "invite_guests", "booking_id", 0.9, (FieldPair("booking.id", "booking_id"),)
        ),
    ],
)


FIND = node("find_benches", day="2031-04-02")
PLANS = {
    "Find workbenches that are free on 2031-04-02.": plan_of(FIND),
    "Find a workbench that is free on 2031-04-02, and book it for 3 hours.": plan_of(
        FIND,
        node("book_bench", bench_id="<node-0>.benches[0].id", hours=3),
        links=(("find_benches", "book_bench"),),
    ),
    "Find workbenches on 2031-04-02, book the first for 2 hours, and invite Ann to all of them.": plan_of(
        FIND,
        node("book_bench", bench_id="<node-0>.benches[0].id", hours=2),
        node(
            "invite_guests",
            booking_id="<node-1>.booking.id",
            guests=["Ann"],
            filter={"bench_ids": "<node-0>.benches[*].id"},
        ),
        links=(
            ("find_benches", "book_bench"),
            ("find_benches", "invite_guests"),
            ("book_bench", "invite_guests"),
        ),
    ),
}
"""The gold plan of each request."""


WORLD = {
    "now": "2031-04-01T09:00:00+00:00",
    "things": {
        "bench": {"key": "id"},
        "booking": {"key": "id", "references": {"bench_id": "bench"}},
        "invitation": {"key": "id", "references": {"booking_id": "booking"}},
    },
    "records": {
        "bench": [{"id": "b-7", "price": 4}, {"id": "b-8", "price": 6}],
        "booking": [{"id": "k-12", "bench_id": "b-8", "hours": 1}],
        "invitation": [{"id": "i-1", "booking_id": "k-12", "guests": ["Bo"]}],
    },
    "tools": {
        "find_benches": {"op": "list", "thing": "bench", "result": {"benches": "${records}"}},
        "book_bench": {
            "op": "create",
            "thing": "booking",
            "fields": {"bench_id": "${arguments.bench_id}", "hours": "${arguments.hours}"},
            "result": {"booking": {"id": "${record.id}", "price": "${record.bench_id.price}"}},
        },
        "invite_guests": {
            "op": "create",
            "thing": "invitation",
            "fields": {"booking_id": "${arguments.booking_id}", "guests": "${arguments.guests}"},
        },
        "close_day": {"op": "setting", "name": "closed", "value": True},
    },
    "settings": {"closed": False},
}
"""A world of these tools."""


def renumbered(value: Any, places: Sequence[int]) -> Any:
    """The plan with node n at place `places[n]`."""

    def moved(item: Any) -> Any:
        if isinstance(item, list):
            return [moved(one) for one in item]
        if isinstance(item, dict):
            return {key: moved(one) for key, one in item.items()}
        if isinstance(item, str) and item.startswith("<node-"):
            number, _, path = item.removeprefix("<node-").partition(">")
            return f"<node-{places[int(number)]}>{path}"
        return item

    nodes: list[Any] = [None] * len(places)
    for call, place in zip(value["task_nodes"], places, strict=True):
        nodes[place] = moved(call)
    return {**value, "task_nodes": nodes}


def bookings_folder(path: Path) -> Path:
    """A TaskBench folder with `TOOLS`, `GRAPH`, and the labels of `PLANS`; the ids are 1, 2 and 3."""
    write_json(path / "tool_desc.json", TOOLS)
    with (path / "graph_desc.json").open("w", encoding="utf-8") as stream:
        GRAPH.write(stream)
    write_json(path / "benchmark.json", {"benchmark": "taskbench", "dependency_type": "schema"})
    shapes = ("single", "chain", "dag")
    write_labels(
        path,
        [
            {"id": str(number), "user_request": request, "type": shape, "n_tools": number, **gold}
            for number, (shape, (request, gold)) in enumerate(zip(shapes, PLANS.items(), strict=True), 1)
        ],
    )
    return path


def write_answers(folder: Path, llm: str, plans: Mapping[str, Any], *, trial: int = 0) -> None:
    """Predictions of a model, one for each request of `plans`."""
    numbers = {request: str(number) for number, request in enumerate(PLANS, start=1)}
    write_json_lines(
        folder / "predictions" / (f"trials/{trial}" if trial else "") / f"{llm}.json",
        [
            {"id": numbers[request], "user_request": request, "result": answer}
            for request, answer in plans.items()
        ],
    )
