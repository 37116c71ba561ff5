"""Whether the output of one tool can be an input of another."""

from __future__ import annotations

from toolgraph.gates.fits import FITS, Fit, wrong
from toolgraph.gates.gate import Background
from toolgraph.tools import Tool, normal_type


def output_fit(source: Tool, target: Tool, slot: int, background: Background) -> Fit:
    """Whether what `source` gives fits an input of `target`.

    Of several outputs any may be meant. A link that somebody wrote into the graph although the types do
    not say so is taken at its word.
    """
    outputs = {normal_type(kind) for kind in source.outputs}
    if normal_type(target.inputs[slot]) in outputs:
        return FITS
    inputs = {normal_type(kind) for kind in target.inputs}
    graph = background.graph
    if graph is not None and not outputs & inputs and graph.link_types(source.id, target.id):
        return FITS
    gives = " and ".join(source.outputs) or "nothing"
    return wrong(f"the output of '{source.id}' ({gives})")


def can_feed(source: Tool, target: Tool, background: Background) -> bool:
    """Whether any input of `target` can be what `source` gives."""
    return any(output_fit(source, target, slot, background).fits for slot in range(len(target.inputs)))
