"""The bundled libraries, which the writer has phrases for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from toolassay.dataset import Sample
from toolassay.graph import ToolGraph
from toolassay.sampling import Sampler
from toolassay.tools import ToolLibrary

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
