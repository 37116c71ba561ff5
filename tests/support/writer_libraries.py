"""The bundled libraries, which the writer has phrases for, and the literals of what it writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from toolassay.graph import ToolGraph
from toolassay.records.dataset import Sample
from toolassay.sampling import Sampler
from toolassay.tools.library import ToolLibrary

ROOT = Path(__file__).resolve().parents[2]

NAMES = ("huggingface", "multimedia", "dailylifeapis")


@cache
def graph_of(name: str) -> ToolGraph:
    """The tool graph of one of the libraries."""
    library = ToolLibrary.load(ROOT / f"data_{name}" / "tool_desc.json")
    return ToolGraph.build(library, "temporal" if name == "dailylifeapis" else "resource")


def samples_of(graph: ToolGraph, count: int, *, seed: int, shape: str | None = None) -> Iterator[Sample]:
    """Samples of all shapes, or singles only."""
    shapes = {"single": 3, "chain": 7, "dag": 8} if shape is None else {shape: 1}
    return Sampler(graph, seed, shapes=shapes).samples(count)


def literals_of(reply: Mapping[str, Any], library: ToolLibrary) -> list[str]:
    """What the user states of the gold: every input that is no tool, every argument that is no switch."""
    nodes = reply["invoking_graph"]["nodes"]
    inputs = [text for node in nodes for text in node.get("input", ()) if text not in library]
    values = [argument["value"] for node in nodes for argument in node.get("arguments", ())]
    return inputs + [value for value in values if value not in ("true", "false")]
