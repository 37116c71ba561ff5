"""Whether the output of one tool can be an input of another."""

from __future__ import annotations

from toolassay.gates.fit import FITS, Fit, wrong
from toolassay.gates.gate import Background
from toolassay.tools import Tool, normal_type


def output_fit(source: Tool, target: Tool, slot: int, background: Background) -> Fit:
    """Whether what `source` gives fits an input of `target`.

    Of several outputs any may be meant. A link that somebody wrote into the graph although the types do
    not say so is taken at its word.
    """
    outputs = {normal_type(kind) for kind in source.outputs}
    if normal_type(target.inputs[slot]) in outputs or is_order_only(source, target, background):
        return FITS
    gives = " and ".join(source.outputs) or "nothing"
    return wrong(f"the output of '{source.id}' ({gives})")


def is_order_only(source: Tool, target: Tool, background: Background) -> bool:
    """Whether the graph has a link from one tool to another through which nothing can flow."""
    graph = background.graph
    if graph is None or {*map(normal_type, source.outputs)} & {*map(normal_type, target.inputs)}:
        return False
    return bool(graph.link_types(source.id, target.id))


def can_feed(source: Tool, target: Tool, background: Background) -> bool:
    """Whether any input of `target` can be what `source` gives."""
    return any(output_fit(source, target, slot, background).fits for slot in range(len(target.inputs)))
