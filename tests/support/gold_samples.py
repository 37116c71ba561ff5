"""Small sets of gold, and plans of every kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.support.builders import call_of, label_of
from toolassay.plans.call_plan import Argument, Call, CallPlan
from toolassay.tools.library import Parameter, Tool, ToolLibrary

RESOURCE = ToolLibrary(
    [
        Tool("Edit Image", "Edits.", inputs=("image", "text"), outputs=("image",)),
        Tool("Edit_Image", "Edits too.", inputs=("image",), outputs=("image",)),
        Tool("Answer", "Answers.", inputs=("text", "text"), outputs=("text",)),
        Tool("Fetch", "Fetches.", inputs=("url",), outputs=("image",)),
        Tool("画", "Paints.", inputs=("text",), outputs=("image",)),
    ]
)
TEMPORAL = ToolLibrary(
    [
        Tool("book", "Books.", parameters=(Parameter("seats", "integer"), Parameter("film title", "string"))),
        Tool("pay", "Pays.", parameters=(Parameter("amount", "number"), Parameter("by card", "boolean"))),
        Tool("tell", "Tells.", parameters=(Parameter("whom", "array"), Parameter("when", "date"))),
    ]
)


def named(**values: Any) -> list[Any]:
    """Arguments by name, with blanks for underscores."""
    return [{"name": name.replace("_", " "), "value": value} for name, value in values.items()]


def label(number: int, nodes: list[tuple[str, list[Any] | None]], **more: Any) -> dict[str, Any]:
    """A label of these calls; links are those of its references, and `links` of `more`."""
    links = [
        (nodes[int(text[6:-1])][0], tool)
        for tool, arguments in nodes
        for text in arguments or []
        if isinstance(text, str) and text.startswith("<node-")
    ]
    links += more.pop("links", [])
    return label_of(str(number), *map(call_of, nodes), links=links, **more)


def write_folder(
    path: Path, labels: list[dict[str, Any]], library: ToolLibrary = RESOURCE, kind: str = "resource"
) -> Path:
    """A data folder of these labels."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "tool_desc.json").write_text(json.dumps(library.to_json()), encoding="utf-8")
    (path / "data.json").write_text("".join(json.dumps(one) + "\n" for one in labels), encoding="utf-8")
    (path / "benchmark.json").write_text(json.dumps({"benchmark": "taskbench", "dependency_type": kind}))
    return path


def some_labels() -> list[dict[str, Any]]:
    """Singles, chains and a dag; with quotes, line ends and signs of other languages."""
    return [
        label(0, [("画", ['a «cat» on a "mat"\n中文 😀'])]),
        label(1, [("Fetch", ["https://a.example/x.png"]), ("Edit Image", ["<node-0>", "brighter"])]),
        label(2, [("Answer", ["A text.", "Why?"]), ("画", ["<node-0>"]), ("Edit_Image", ["<node-1>"])]),
        label(3, [("画", ["a"]), ("Answer", ["b", "c"]), ("Edit Image", ["<node-0>", "<node-1>"])]),
        label(4, [("Edit_Image", ["example.jpg"])]),
    ]


_literals = st.text(max_size=12).filter(lambda text: "<node-" not in text)
_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _literals,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_literals, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def plans(draw: st.DrawFn) -> CallPlan:
    """Plans over `TEMPORAL`: any values, references whole and within, links with and without data."""
    size = draw(st.integers(1, 6))
    calls, links = [], set()
    for place in range(size):
        tool = draw(st.sampled_from(TEMPORAL.tools))
        values = _json
        if place:
            before = st.integers(0, place - 1)
            values = (
                values
                | before.map(lambda number: f"<node-{number}>")
                | before.map(lambda number: [f"see <node-{number}>"])
            )
            links |= {(source, place) for source in draw(st.sets(before, max_size=2))}
        given = draw(st.permutations(tool.parameters).map(lambda names: names))
        names = [parameter.name for parameter in given][: draw(st.integers(0, len(given)))]
        calls.append(Call(tool.id, tuple(Argument(name, draw(values)) for name in names)))
    return CallPlan(
        draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)),
        draw(st.text(st.characters(codec="utf-8"), max_size=30)),
        (),
        tuple(calls),
        tuple(sorted(links)),
    )
