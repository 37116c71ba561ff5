"""The funnel: how many samples each gate holds back. Its counts add up to the number of samples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolassay.gates.gate import LEVELS, STATES, Gate, Level, State
from toolassay.gates.gate_pipeline import Inspection

# Kinds of reasons shown for each gate.
_MOST = 5
# Kinds of reasons counted for each gate: a limit on memory where every reason differs.
_KINDS = 2000
# A list whose items are already replaced, which becomes one "…".
# Matches "…, … and …" and "…, … and … more"; not a single "…".
_LIST = re.compile(r"…(?:(?:,| and)* …)+(?: more)?")
# Quotations, references and numbers, which differ between samples with the same problem.
# Matches 'Image Editing', <node-2> and 1,024; not the apostrophes of "the plan's own, a tool's own".
_PARTICULARS = re.compile(r"(?<!\w)'.*?'(?!\w)|\"[^\"]*\"|“[^”]*”|<node-\d+>|\d[\d.,:-]*")


class FunnelRow(NamedTuple):
    """The counts of one gate.

    Attributes:
        gate: name of the gate.
        entering: samples that no earlier gate held back.
        reject: of these, samples held back here and rejected in the end.
        quarantine: of these, samples held back here and quarantined in the end.
    """

    gate: str
    entering: int
    reject: int
    quarantine: int

    @property
    def leaving(self) -> int:
        """The samples that enter the next gate."""
        return self.entering - self.reject - self.quarantine


class GateFunnel:
    """Counts inspections.

    The funnel counts a sample once, at the first gate that holds it back, with its final level: a sample that
    one gate quarantines and a later gate rejects is a reject of the first gate. `states` counts it at every
    gate.

    Args:
        gates: the gates in the order in which samples pass them.
    """

    def __init__(self, gates: Sequence[Gate]) -> None:
        self.levels: Counter[Level] = Counter(dict.fromkeys(LEVELS, 0))
        self.states: dict[str, Counter[State]] = {gate.name: Counter() for gate in gates}
        self._held: dict[str, Counter[Level]] = {gate.name: Counter() for gate in gates}
        self._reasons: dict[str, Counter[str]] = {gate.name: Counter() for gate in gates}

    @property
    def total(self) -> int:
        """The number of samples counted so far."""
        return self.levels.total()

    def add(self, inspection: Inspection) -> None:
        """Count one sample."""
        self.levels[inspection.level] += 1
        for gate, state in inspection.states.items():
            self.states[gate][state] += 1
        if (gate_name := inspection.held_back_by) is not None:
            self._held[gate_name][inspection.level] += 1
        kinds = {(found.gate, kind_of(found.reason)) for found in inspection.findings if _counts(found.state)}
        for gate, kind in kinds:
            counted = self._reasons[gate]
            if kind in counted or len(counted) < _KINDS:
                counted[kind] += 1

    @property
    def rows(self) -> list[FunnelRow]:
        """One row for each gate, in order; `leaving` of the last row is the number of samples that pass."""
        rows, entering = [], self.total
        for gate, held in self._held.items():
            row = FunnelRow(gate, entering, held["reject"], held["quarantine"])
            rows.append(row)
            entering = row.leaving
        return rows

    @property
    def reasons(self) -> dict[str, list[tuple[str, int]]]:
        """For each gate with findings: its five most common kinds of reasons and their numbers of samples."""
        return {gate: counted.most_common(_MOST) for gate, counted in self._reasons.items() if counted}

    def to_json(self, settings: Mapping[str, Any], signature: str) -> dict[str, Any]:
        """The object of `funnel.json`.

        Args:
            settings: the settings of the check, as they are to be recorded.
            signature: the settings and versions in one line.
        """
        return {
            "input": self.total,
            "levels": {level: self.levels[level] for level in LEVELS},
            "gates": {
                gate: {state: counted[state] for state in STATES} for gate, counted in self.states.items()
            },
            "funnel": [{**row._asdict(), "leaving": row.leaving} for row in self.rows],
            "reasons": {
                gate: [{"reason": kind, "samples": count} for kind, count in kinds]
                for gate, kinds in self.reasons.items()
            },
            "settings": dict(settings),
            "signature": signature,
        }


def kind_of(reason: str) -> str:
    """A reason with "…" for its quotations and numbers, so that equal problems count as one kind.

    >>> kind_of("'Image Editing' takes image, text; got 'example.wav', an audio file")
    '… takes image, text; got …, an audio file'
    >>> kind_of("it lacks 'a', 'b' and 'c'")
    'it lacks …'
    """
    return _LIST.sub("…", _PARTICULARS.sub("…", reason))


def _counts(state: State) -> bool:
    return state in ("reject", "quarantine", "unknown")


def funnel_table(rows: Sequence[FunnelRow]) -> str:
    """The funnel as a Markdown table."""
    lines = ["| gate | entering | rejected | quarantined | leaving |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [
        f"| {row.gate} | {row.entering:,} | {row.reject:,} | {row.quarantine:,} | {row.leaving:,} |"
        for row in rows
    ]
    return "\n".join(lines)


def states_table(states: Mapping[str, Counter[State]]) -> str:
    """The number of samples in each state at each gate, independent of other gates; a Markdown table."""
    lines = [f"| gate | {' | '.join(STATES)} |", f"| --- |{' ---: |' * len(STATES)}"]
    lines += [
        f"| {gate} | {' | '.join(f'{counted[state]:,}' for state in STATES)} |"
        for gate, counted in states.items()
    ]
    return "\n".join(lines)


def funnel_page(funnel: GateFunnel, signature: str) -> str:
    """The text of `funnel.md`: both tables, the picture, the reasons and the signature."""
    parts = [
        "# What passes the gates",
        f"{funnel.total:,} samples: {levels_text(funnel)}.",
        "Each sample is counted at the first gate that holds it back:",
        funnel_table(funnel.rows),
        "![The funnel](funnel.png)",
        "The states of all samples at each gate:",
        states_table(funnel.states),
    ]
    for gate, kinds in funnel.reasons.items():
        listed = "\n".join(f"- {count:,}: {kind}" for kind, count in kinds)
        parts += [f"The most common reasons of the gate {gate}, with the number of samples:", listed]
    return "\n\n".join([*parts, f"`{signature}`"]) + "\n"


def levels_text(funnel: GateFunnel) -> str:
    """The number of samples at each level: "2 pass, 1 in quarantine, 0 rejected"."""
    names = {"pass": "pass", "quarantine": "in quarantine", "reject": "rejected"}
    return ", ".join(f"{funnel.levels[level]:,} {names[level]}" for level in LEVELS)
