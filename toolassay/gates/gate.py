"""The gate interface: findings, states and levels of a sample, and what reasons quote.

A gate reports a state for each sample, and a reason for every state but "pass".
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Protocol

from toolassay.backinstruct.critics import Spellings
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


_LONGEST_QUOTE = 60
_short = reprlib.Repr()
_short.maxlevel, _short.maxstring, _short.maxother = 3, _LONGEST_QUOTE, _LONGEST_QUOTE


def shown(value: Any) -> str:
    """A value in quotation marks, cut to be read in a sentence.

    >>> shown("a  b"), shown(["x", 2])
    ("'a b'", "['x', 2]")
    """
    if isinstance(value, str):
        text = " ".join(value[: 4 * _LONGEST_QUOTE].split())
        return f"'{text}'" if len(text) <= _LONGEST_QUOTE else f"'{text[: _LONGEST_QUOTE - 1]}…'"
    try:
        return " ".join(_short.repr(value).split())
    except (ValueError, RecursionError):  # a number of thousands of digits, lists within lists within lists
        return f"a {type(value).__name__}"


def listed(names: Iterable[Any]) -> str:
    """Values one after the other, the first few of them.

    >>> listed(["a", "b"]), listed("abcdefgh")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e', 'f' and 2 more")
    """
    names = list(names)
    text = ", ".join(map(shown, names[:6]))
    return text if len(names) <= 6 else f"{text} and {len(names) - 6} more"


@lru_cache(maxsize=8)
def tool_spellings(library: ToolLibrary) -> Spellings:
    """The tools of a library, and which of them a text means."""
    return Spellings(library.ids)
