"""The gate interface: findings, states and levels of a sample, and the values that reasons quote.

A gate reports a state for each sample, and a reason for every state except "pass".
"""

from __future__ import annotations

import re
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, get_args

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from toolassay.backinstruct.critics import Spellings
from toolassay.backinstruct.generator import Turn
from toolassay.backinstruct.teacher_review import TeacherVerdict
from toolassay.console.text_formatting import shortened, some_of
from toolassay.errors import made_by
from toolassay.files.data_files import read_json_lines, record_of
from toolassay.graph import DependencyType, ToolGraph
from toolassay.plans.gold import Gold
from toolassay.records.dataset import RequestId
from toolassay.tools.library import Tool, ToolLibrary

Level = Literal["pass", "quarantine", "reject"]
State = Literal["pass", "quarantine", "reject", "unknown", "not applicable"]
LEVELS: tuple[Level, ...] = ("pass", "quarantine", "reject")
STATES: tuple[State, ...] = ("pass", "quarantine", "reject", "unknown", "not applicable")


_FORMER_NAMES = {"knowability": "grounding"}


def current_name(gate: str) -> str:
    """The name of a gate for one that it had: older `gates.jsonl` and options still have these.

    >>> current_name("knowability"), current_name("leak")
    ('grounding', 'leak')
    """
    return _FORMER_NAMES.get(gate, gate)


class Finding(msgspec.Struct, frozen=True):
    """One problem that a gate reports for one sample.

    Attributes:
        gate: name of the gate.
        state: any state; "pass" for a doubt that a critic removed, or for what a judge decides later.
        reason: a sentence for people that quotes the values at fault.
        where: path in the label, such as `task_nodes[1].arguments[0]` or `user_request`; empty if the
            problem concerns the whole sample.
        author: the model that gave the verdict; absent for a rule, or if unknown.
    """

    gate: str
    state: State
    reason: str
    where: str = ""
    author: str | UnsetType = UNSET


class CheckedSample(msgspec.Struct, frozen=True):
    """A line of `gates.jsonl`.

    Attributes:
        id: the id of the sample.
        level: the worst result of any gate.
        findings: the findings of all gates, in the order of the gates.
        gates: the state of each gate.
        repairs: the number of repairs; absent without any.
        verdicts: the verdict of each critic, None if it was not asked; absent without critics.
    """

    id: RequestId
    level: Level
    findings: Sequence[Finding] = ()
    gates: dict[str, State] = {}
    repairs: int | UnsetType = UNSET
    verdicts: dict[str, TeacherVerdict | None] | UnsetType = UNSET


def read_gates(path: Path) -> Iterator[CheckedSample]:
    """The lines of a `gates.jsonl`.

    Raises:
        UsageError: the file is missing, or a line has another form (names its number).
    """
    fix = made_by("check")
    for number, value in read_json_lines(path, fix=fix):
        row = record_of(value, CheckedSample, file=path, line=number, fix=fix)
        findings = [replace(finding, gate=current_name(finding.gate)) for finding in row.findings]
        yield replace(row, findings=findings)


@dataclass(frozen=True, slots=True)
class Background:
    """The tools that samples are checked against.

    Attributes:
        library: the tools.
        kind: the dependency type, which decides the form of arguments.
        graph: the tool graph; None if the data folder has none.
    """

    library: ToolLibrary
    kind: DependencyType
    graph: ToolGraph | None = None

    def takes_inputs(self, tool: Tool) -> bool:
        """Whether calls of the tool list values for its typed inputs; otherwise they name its parameters."""
        return tool.is_resource and (self.kind == "resource" or not tool.parameters)


class Gate(Protocol):
    """One check of every sample.

    `check` returns no finding if the sample passes. A gate that cannot check a sample (it has no arguments,
    or no sampled nodes to compare with) returns one finding "not applicable" with the reason, never a pass.
    """

    @property
    def name(self) -> str:
        """The name of the gate in `gates.jsonl`."""
        ...

    def check(self, gold: Gold) -> list[Finding]:
        """Find what is wrong with one sample. Must not raise, whatever the sample holds."""
        ...


Subject = Literal["request", "plan", "values"]
"""What a gate judges: the words of the request, the calls and links of the plan, or values of arguments."""
# As in `gates.jsonl` and, with "_" for a blank, in --gates: "second opinion"; not "Leak" nor "a,b".
_NAME = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")


class RuleGate(ABC):
    """A gate that needs only the label and its tools: no model, and no other sample.

    The first line of the docstring of a subclass is its line in `toolassay check --help`.

    Attributes:
        name: Name of the gate: words in lower case.
        judges: What it judges. A gate that does not judge the request also judges drafts of plans, whose
            request is not yet written.
        goes_to: The turn of the writer (`generate`) that can correct what it finds: "plan" or "request".
        background: The tools.

    Raises:
        TypeError: A subclass lacks a declaration, or has one of another form.
    """

    name: ClassVar[str]
    judges: ClassVar[frozenset[Subject]]
    goes_to: ClassVar[Turn]

    def __init_subclass__(cls) -> None:
        """Check what the subclass declares, where its author sees it."""
        lacking = [attribute for attribute in ("name", "judges", "goes_to") if not hasattr(cls, attribute)]
        if lacking:
            raise TypeError(f"{cls.__name__} does not declare '{lacking[0]}'")
        turns = {"plan"} | (cls.judges & {"request"})
        for declaration, is_valid, form in (
            ("name", _NAME.fullmatch(cls.name), "words in lower case"),
            ("judges", cls.judges and cls.judges <= {*get_args(Subject)}, ", ".join(get_args(Subject))),
            ("goes_to", cls.goes_to in turns, "plan, or request if it is judged"),
        ):
            if not is_valid:
                value = getattr(cls, declaration)
                raise TypeError(f"{cls.__name__}.{declaration} is {value!r}: write {form}")

    def __init__(self, background: Background) -> None:
        self.background = background

    @property
    def tool_names(self) -> Spellings:
        """The index that resolves near spellings of the tools' names."""
        return tool_spellings(self.background.library)

    @abstractmethod
    def check(self, gold: Gold) -> list[Finding]:
        """As `Gate.check`."""


def state_of(findings: Iterable[Finding]) -> State:
    """The state of one gate: the worst of its findings.

    >>> state_of([]), state_of([Finding("leak", "quarantine", ""), Finding("leak", "reject", "")])
    ('pass', 'reject')
    """
    states = {finding.state for finding in findings}
    order: tuple[State, ...] = ("reject", "quarantine", "unknown", "not applicable")
    return next((state for state in order if state in states), "pass")


def level_of(states: Iterable[State]) -> Level:
    """The level of a sample, given the states of all its gates.

    "unknown" leads to quarantine: a person decides.

    >>> level_of(["pass", "not applicable"]), level_of(["pass", "unknown"]), level_of(["unknown", "reject"])
    ('pass', 'quarantine', 'reject')
    """
    present = set(states)
    if "reject" in present:
        return "reject"
    return "quarantine" if present & {"quarantine", "unknown"} else "pass"


# Reasons are shown in lists and table cells: a longer quotation would hide the sentence around it.
_LONGEST_QUOTE = 60
_short = reprlib.Repr()
_short.maxlevel = 3
_short.maxstring = _LONGEST_QUOTE
_short.maxother = _LONGEST_QUOTE


def shown(value: Any) -> str:
    """A value in quotation marks, with blanks collapsed, cut to 60 characters.

    >>> shown("a  b"), shown(["x", 2])
    ("'a b'", "['x', 2]")
    """
    if isinstance(value, str):
        text = " ".join(value[: 4 * _LONGEST_QUOTE].split())
        return f"'{shortened(text, _LONGEST_QUOTE)}'"
    try:
        return " ".join(_short.repr(value).split())
    except (ValueError, RecursionError):  # a number of thousands of digits, lists within lists within lists
        return f"a {type(value).__name__}"


def listed(names: Iterable[Any]) -> str:
    """The first six values as a comma-separated list, and the number of further ones.

    >>> listed(["a", "b"]), listed("abcdefgh")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e', 'f' and 2 more")
    """
    return some_of([*map(shown, names)], 6)


@lru_cache(maxsize=8)
def tool_spellings(library: ToolLibrary) -> Spellings:
    """The index that resolves near spellings of a library's tool names; cached, as every gate needs it."""
    return Spellings(library.ids)
