"""How well a value, or the output of another tool, fits the input that takes it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from toolassay.gates.gate import Background, State
from toolassay.tools import Tool, normal_type


class Fit(NamedTuple):
    """Whether a value fits, and if not, what it is ("an audio file")."""

    grade: Literal["fits", "doubtful", "wrong"]
    what: str = ""

    @property
    def fits(self) -> bool:
        """Whether there is nothing to say."""
        return self.grade == "fits"

    @property
    def state(self) -> State:
        """What a gate says of it."""
        states: dict[str, State] = {"fits": "pass", "doubtful": "quarantine", "wrong": "reject"}
        return states[self.grade]

    @property
    def cost(self) -> int:
        """What it costs to put the value there: two doubtful ones are better than a wrong one."""
        return {"fits": 0, "doubtful": 1, "wrong": 3}[self.grade]


FITS = Fit("fits")


def doubtful(what: str) -> Fit:
    """It may be meant so; a person should look."""
    return Fit("doubtful", what)


def wrong(what: str) -> Fit:
    """A reader would agree that it does not fit."""
    return Fit("wrong", what)


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
