"""What `gates.jsonl` says of a planted set, beside the key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from measurements.planted_defects.forms import EXPECTED
from measurements.planted_defects.planting import Planted
from measurements.planted_defects.samples import Record, read_lines

GateLines = Mapping[Any, Record]


class Share(NamedTuple):
    """So many of so many, with the exact (Clopper-Pearson) interval of 95 %."""

    hits: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the share.

        >>> [round(end, 3) for end in Share(95, 100).interval]
        [0.887, 0.984]
        """
        from scipy.stats import binomtest

        if not self.of:
            return 0.0, 1.0
        found = binomtest(self.hits, self.of).proportion_ci(0.95, method="exact")
        return float(found.low), float(found.high)


class Judged(NamedTuple):
    """A planted sample and what the gates said of it."""

    data_set: str
    seed: int
    planted: Planted
    level: str
    reasons: tuple[str, ...]
    named: bool

    @property
    def found(self) -> bool:
        """Whether it was held back."""
        return self.level != "pass"


@dataclass
class Result:
    """What was found and what was held back wrongly, over all sets and seeds.

    Attributes:
        judged: every planted sample.
        clean: by set, the ids of the samples that stood there unplanted at least once.
        alarms: by set, those of them that were held back at least once, and what was said.
        rejected: by set, those of them that were rejected at least once.
        unclean: by set, the samples that our own reading finds fault with: neither planted nor counted.
    """

    judged: list[Judged] = field(default_factory=list)
    clean: dict[str, set[Any]] = field(default_factory=dict)
    alarms: dict[str, dict[Any, list[str]]] = field(default_factory=dict)
    rejected: dict[str, set[Any]] = field(default_factory=dict)
    unclean: dict[str, dict[Any, list[str]]] = field(default_factory=dict)

    def add(
        self, name: str, seed: int, records: Iterable[Record], key: Sequence[Planted], gates: GateLines
    ) -> None:
        """Add a run of `toolassay check` over a set.

        Raises:
            ValueError: `gates.jsonl` lacks a sample.
        """
        planted = {line.id for line in key}
        for line in key:
            level, findings = _line(gates, line.id, name)
            named = any(str(f.get("gate", "")).casefold() in EXPECTED[line.kind] for f in findings)
            self.judged.append(Judged(name, seed, line, level, reasons(findings), named and level != "pass"))
        clean, alarms = self.clean.setdefault(name, set()), self.alarms.setdefault(name, {})
        for record in records:
            if record["id"] in planted or record["id"] in self.unclean.get(name, {}):
                continue
            clean.add(record["id"])
            level, findings = _line(gates, record["id"], name)
            if level == "reject":
                self.rejected.setdefault(name, set()).add(record["id"])
            if level != "pass":
                alarms.setdefault(record["id"], list(reasons(findings)))

    def false_alarms(self, *names: str) -> Share:
        """Clean samples held back at least once, of all clean samples of these sets."""
        names = names or tuple(self.clean)
        return Share(
            sum(len(self.alarms[name]) for name in names), sum(len(self.clean[name]) for name in names)
        )

    def false_rejects(self, *names: str) -> Share:
        """Clean samples rejected at least once, of all clean samples of these sets."""
        names = names or tuple(self.clean)
        return Share(
            sum(len(self.rejected.get(name, ())) for name in names),
            sum(len(self.clean[name]) for name in names),
        )


def _line(gates: GateLines, id: Any, name: str) -> tuple[str, list[Record]]:
    if id not in gates:
        raise ValueError(f"gates.jsonl of {name} lacks the sample {id!r}")
    line = gates[id]
    return str(line["level"]), findings_of(line)


def findings_of(line: Record) -> list[Record]:
    """The findings of a line of `gates.jsonl` that speak against the sample; what is not applicable does not.

    >>> findings_of({"id": 1, "level": "reject", "reasons": [{"gate": "leak", "reason": "it says so"}]})
    [{'gate': 'leak', 'reason': 'it says so'}]
    """
    lists = [value for value in line.values() if isinstance(value, list)]
    found = [item for items in lists for item in items if isinstance(item, dict) and "gate" in item]
    return [item for item in found if item.get("state") not in ("pass", "not applicable")]


def reasons(findings: Iterable[Record]) -> tuple[str, ...]:
    """`gate: reason (where)` of each finding."""
    return tuple(f"{f.get('gate')}: {f.get('reason')} ({f.get('where') or 'sample'})" for f in findings)


def read_gates(path: Path) -> GateLines:
    """The lines of a `gates.jsonl`, by id."""
    return {line["id"]: line for line in read_lines(path)}
