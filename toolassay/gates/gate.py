"""What a gate is, and what it says: a state for each sample, and a reason for all but a pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from toolassay.gold import Gold
from toolassay.graph import DependencyType, ToolGraph
from toolassay.tools import Tool, ToolLibrary

Level = Literal["pass", "quarantine", "reject"]
State = Literal["pass", "quarantine", "reject", "unknown", "not applicable"]
LEVELS: tuple[Level, ...] = ("pass", "quarantine", "reject")
STATES: tuple[State, ...] = ("pass", "quarantine", "reject", "unknown", "not applicable")


class Finding(NamedTuple):
    """What one gate has to say of one sample.

    Attributes:
        gate: its name.
        state: anything but "pass".
        reason: a sentence for people, naming the values at fault.
        where: the place in the label, such as `task_nodes[1].arguments[0]` or `user_request`; empty where
            it is the whole sample.
        author: the model whose verdict it is; empty for a rule, or if unknown.
    """

    gate: str
    state: State
    reason: str
    where: str = ""
    author: str = ""

    def to_json(self) -> dict[str, str]:
        """The finding as an object of `gates.jsonl`; `author` only where there is one."""
        value: dict[str, str] = self._asdict()
        return value if self.author else {name: text for name, text in value.items() if name != "author"}


@dataclass(frozen=True, slots=True)
class Background:
    """What samples are held against: their tools, how these depend on one another, and the tool graph."""

    library: ToolLibrary
    kind: DependencyType
    graph: ToolGraph | None = None

    def takes_inputs(self, tool: Tool) -> bool:
        """Whether calls of the tool fill its inputs by their types; else they name its parameters."""
        return tool.is_resource and (self.kind == "resource" or not tool.parameters)


class Gate(Protocol):
    """One question asked of every sample.

    `check` gives no finding where the sample passes. A gate that cannot ask its question (there are no
    arguments, there was no sample) gives one finding "not applicable" that says why, never a pass.
    """

    @property
    def name(self) -> str:
        """The word that stands in `gates.jsonl`."""
        ...

    def check(self, gold: Gold) -> list[Finding]:
        """What is wrong with one sample; must not raise, whatever the sample holds."""
        ...


def state_of(findings: Iterable[Finding]) -> State:
    """The state of one gate: the worst of its findings.

    >>> state_of([]), state_of([Finding("leak", "quarantine", ""), Finding("leak", "reject", "")])
    ('pass', 'reject')
    """
    states = {finding.state for finding in findings}
    order: tuple[State, ...] = ("reject", "quarantine", "unknown", "not applicable")
    return next((state for state in order if state in states), "pass")


def level_of(states: Iterable[State]) -> Level:
    """The level of a sample by the states of all gates.

    What is unknown is for a person to decide: such a sample is put in quarantine, neither passed nor failed.

    >>> level_of(["pass", "not applicable"]), level_of(["pass", "unknown"]), level_of(["unknown", "reject"])
    ('pass', 'quarantine', 'reject')
    """
    found = set(states)
    if "reject" in found:
        return "reject"
    return "quarantine" if found & {"quarantine", "unknown"} else "pass"
