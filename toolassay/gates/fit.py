"""Fit: how well a value, or the output of another tool, matches the type of an input."""

from __future__ import annotations

from typing import Literal, NamedTuple

from toolassay.gates.gate import Background, State
from toolassay.tools import Tool, normal_type


class Fit(NamedTuple):
    """How well a value matches the type of an input.

    Attributes:
        grade: "doubtful" if the author may have meant it, "wrong" if every reader would reject it.
        what: what the value is instead ("an audio file"); empty if it fits.
    """

    grade: Literal["fits", "doubtful", "wrong"]
    what: str = ""

    @property
    def fits(self) -> bool:
        """Whether the grade is "fits"."""
        return self.grade == "fits"

    @property
    def state(self) -> State:
        """The state that a gate reports: doubtful values are quarantined, wrong ones rejected."""
        states: dict[str, State] = {"fits": "pass", "doubtful": "quarantine", "wrong": "reject"}
        return states[self.grade]

    @property
    def cost(self) -> int:
        """The cost of assigning the value to the input: two doubtful values cost less than a wrong one."""
        return {"fits": 0, "doubtful": 1, "wrong": 3}[self.grade]


FITS = Fit("fits")


def doubtful(what: str) -> Fit:
    """A fit that a person should review; `what` names the value's own type."""
    return Fit("doubtful", what)


def wrong(what: str) -> Fit:
    """A fit that every reader would reject; `what` names the value's own type."""
    return Fit("wrong", what)


def output_fit(source: Tool, target: Tool, slot: int, background: Background) -> Fit:
    """How well an output of `source` matches one input of `target`.

    One matching output is enough. A link that the graph lists although no types match always fits.

    Args:
        source: the tool that runs first.
        target: the tool that takes its output.
        slot: index of the input in `target.inputs`.
        background: the graph that may list such a link.
    """
    outputs = {normal_type(kind) for kind in source.outputs}
    if normal_type(target.inputs[slot]) in outputs or is_order_only(source, target, background):
        return FITS
    gives = " and ".join(source.outputs) or "nothing"
    return wrong(f"the output of '{source.id}' ({gives})")


def is_order_only(source: Tool, target: Tool, background: Background) -> bool:
    """Whether the graph links two tools that share no type: the link gives an order, but passes no value."""
    graph = background.graph
    if graph is None or {*map(normal_type, source.outputs)} & {*map(normal_type, target.inputs)}:
        return False
    return bool(graph.link_types(source.id, target.id))


def can_feed(source: Tool, target: Tool, background: Background) -> bool:
    """Whether an output of `source` fits any input of `target`."""
    return any(output_fit(source, target, slot, background).fits for slot in range(len(target.inputs)))
