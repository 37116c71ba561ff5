"""Runs the samples of a check through the gates and writes each to the file of its level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from toolassay.gates.coverage import Coverage
from toolassay.gates.critic.gate import TeacherGate
from toolassay.gates.gate import LEVELS, Background, Gate
from toolassay.gates.gate_funnel import GateFunnel
from toolassay.gates.gate_pipeline import Inspection, inspect
from toolassay.gates.labelled_set import LabelledSet
from toolassay.gates.repair import repair
from toolassay.gold import Gold
from toolassay.screen import Screen
from toolassay.stages.checked import CheckedFolder


class Sorted(NamedTuple):
    """The counts of a check.

    Attributes:
        funnel: Number of samples per gate and level.
        repairs: Number of repairs by kind; None if repair was not requested.
        repairable: Number of samples that a repair would bring to a better level; 0 if repair was requested.
        coverage: Number of samples per tool and edge.
    """

    funnel: GateFunnel
    repairs: Counter[str] | None
    repairable: int
    coverage: Coverage


def sort_set(
    labels: LabelledSet,
    gates: Sequence[Gate],
    place: CheckedFolder,
    background: Background,
    coverage: Coverage,
    *,
    is_repaired: bool,
    screen: Screen,
) -> Sorted:
    """Run each sample through the gates and write it to the files of its level.

    Args:
        labels: The samples, repaired if requested.
        gates: The gates, in order.
        place: Output folder; its files are all replaced at the end, or none is.
        background: Tools that repairs refer to.
        coverage: Counts the samples of each tool and edge of the graph; empty.
        is_repaired: Whether repair was requested.
        screen: Receives progress.

    Raises:
        UsageError: The file of labels changed during the check.
        ToolassayError: A file cannot be written.
    """
    funnel, kinds, repairable = GateFunnel(gates), Counter[str](), 0
    teachers = [gate for gate in gates if isinstance(gate, TeacherGate)]
    with (
        place.writing(coverage.graph, repairs=is_repaired) as writer,
        screen.progress("check", len(labels)) as advance,
    ):
        for gold, repairs in labels.repaired():
            inspection = inspect(gold, gates)
            funnel.add(inspection)
            coverage.add(inspection)
            facts: dict[str, Any] = {"repairs": len(repairs)} if repairs else {}
            for teacher in teachers:
                if verdicts := teacher.verdicts(gold):
                    facts["verdicts"] = verdicts
            writer.add(inspection, facts, [{"id": gold.id, **change._asdict()} for change in repairs])
            kinds.update(change.kind for change in repairs)
            repairable += not is_repaired and _would_be_better(inspection, gates, background)
            advance()
    return Sorted(funnel, kinds if is_repaired else None, repairable, coverage)


def _would_be_better(inspection: Inspection, gates: Sequence[Gate], background: Background) -> bool:
    """Whether a repair would bring a sample to a better level."""
    if inspection.level == "pass":
        return False
    record, repairs = repair(inspection.gold.record, background)
    if not repairs:
        return False
    level = inspect(Gold.of(record, inspection.gold.line), gates).level
    return LEVELS.index(level) < LEVELS.index(inspection.level)
