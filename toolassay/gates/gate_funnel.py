"""How many samples each gate holds back; the counts add up to the samples that entered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolassay.gates.gate import LEVELS, STATES, Level, State
from toolassay.gates.gate_pipeline import Inspection
from toolassay.tables import Table, Value

_MOST = 5  # kinds of reasons that the report shows for each gate
_KINDS = 2000  # kinds of reasons that are kept for each gate of a whole set, so that memory is bounded
# A list of particulars: matches "…, … and …", not "… is …".
_LIST = re.compile(r"…(?:(?:,| and)* …)+(?: more)?")
# What differs between reasons of one kind (quoted texts, nodes, numbers): matches "'a'", "<node-2>" and
# "3.5", not the apostrophes of "doesn't" and "isn't".
_PARTICULARS = re.compile(r"(?<!\w)'.*?'(?!\w)|\"[^\"]*\"|“[^”]*”|<node-\d+>|\d[\d.,:-]*")


class FunnelRow(NamedTuple):
    """The samples that enter a gate, and how many it rejects and quarantines."""

    gate: str
    entering: int
    reject: int
    quarantine: int

    @property
    def leaving(self) -> int:
        """How many enter the next gate."""
        return self.entering - self.reject - self.quarantine


class GateFunnel:
    """Counts samples by gate.

    The funnel counts a sample at the first gate that holds it back, by its final level: a quarantined sample
    that a later gate rejects is a reject. The states count every sample at every gate.

    Args:
        gates: the names of the gates, from first to last.
    """

    def __init__(self, gates: Sequence[str]) -> None:
        self.levels: Counter[Level] = Counter(dict.fromkeys(LEVELS, 0))
        self.states: dict[str, Counter[State]] = {gate: Counter() for gate in gates}
        self._held: dict[str, Counter[Level]] = {gate: Counter() for gate in gates}
        self._reasons: dict[str, Counter[str]] = {gate: Counter() for gate in gates}

    @property
    def total(self) -> int:
        """The number of samples."""
        return self.levels.total()

    def add(self, inspection: Inspection) -> None:
        """Count one sample."""
        self.levels[inspection.level] += 1
        for gate, state in inspection.states.items():
            self.states[gate][state] += 1
        if (gate_name := inspection.held_back_by) is not None:
            self._held[gate_name][inspection.level] += 1
        found = (one for one in inspection.findings if _counts(one.state))
        # In order: of two kinds that are equally common, the report names the one that was met first.
        for gate, kind in dict.fromkeys((one.gate, kind_of(one.reason)) for one in found):
            self._reasons[gate][kind] += 1

    def extend(self, other: GateFunnel) -> None:
        """Add the counts of the samples that follow, with the same gates."""
        self.levels.update(other.levels)
        for gate in self.states:
            self.states[gate].update(other.states[gate])
            self._held[gate].update(other._held[gate])
            counted = self._reasons[gate]
            for kind, count in other._reasons[gate].items():
                if kind in counted or len(counted) < _KINDS:
                    counted[kind] += count

    @property
    def rows(self) -> list[FunnelRow]:
        """The gates from first to last; the samples that leave one enter the next."""
        rows, entering = [], self.total
        for gate, held in self._held.items():
            row = FunnelRow(gate, entering, held["reject"], held["quarantine"])
            rows.append(row)
            entering = row.leaving
        return rows

    @property
    def reasons(self) -> dict[str, list[tuple[str, int]]]:
        """The most common kinds of reasons at each gate, and the number of samples with each."""
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
    """The funnel in Markdown."""
    headings = ("gate", "entering", "rejected", "quarantined", "leaving")
    return Table(headings, [(*row, row.leaving) for row in rows]).markdown()


def states_table(states: Mapping[str, Counter[State]]) -> str:
    """The states of all samples at each gate, whatever the other gates found; in Markdown."""
    rows: list[Sequence[Value]] = [
        [gate, *(counted[state] for state in STATES)] for gate, counted in states.items()
    ]
    return Table(("gate", *STATES), rows).markdown()


def rewriting_table(facts: Mapping[str, Any]) -> str:
    """What rewriting gained, in Markdown: the samples that pass after each number of rewrites."""
    rows: list[Sequence[Value]] = [
        [f"after {n}" if n != "0" else "at once", count] for n, count in facts["passed_at"].items()
    ]
    return Table(("passes", "samples"), [*rows, ("never", facts["never"])]).markdown()


def funnel_page(funnel: GateFunnel, signature: str, rewriting: Mapping[str, Any] | None = None) -> str:
    """The text of `funnel.md`: both tables, the picture, rewriting, the reasons and the signature."""
    parts = [
        "# What passes the gates",
        f"{funnel.total:,} samples: {levels_text(funnel)}.",
        "Each sample is counted at the first gate that holds it back:",
        funnel_table(funnel.rows),
        "![The funnel](funnel.png)",
        "The states of all samples at each gate:",
        states_table(funnel.states),
    ]
    if rewriting:
        tokens = rewriting["prompt_tokens"] + rewriting["completion_tokens"]
        cost = f"Rewriting took {rewriting['requests']:,} requests and {tokens:,} tokens."
        parts += ["What rewriting gained when the samples were generated:", rewriting_table(rewriting), cost]
    for gate, kinds in funnel.reasons.items():
        listed = "\n".join(f"- {count:,}: {kind}" for kind, count in kinds)
        parts += [f"The most common reasons of the gate {gate}, with the number of samples:", listed]
    return "\n\n".join([*parts, f"`{signature}`"]) + "\n"


def levels_text(funnel: GateFunnel) -> str:
    """The number of samples at each level, as part of a sentence."""
    names = {"pass": "pass", "quarantine": "in quarantine", "reject": "rejected"}
    return ", ".join(f"{funnel.levels[level]:,} {names[level]}" for level in LEVELS)
