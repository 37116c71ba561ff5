"""Every sample of a set through the gates, and to the file where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from toolassay.gates.critic.gate import TeacherGate
from toolassay.gates.gate import LEVELS, Background, Gate
from toolassay.gates.gate_funnel import GateFunnel
from toolassay.gates.gate_pipeline import Inspection, inspect
from toolassay.gates.labelled_set import LabelledSet
from toolassay.gates.repair import repair
from toolassay.gold import Gold
from toolassay.graph import ToolGraph
from toolassay.screen import Screen
from toolassay.stages.checked import CheckedFolder


class Sorted(NamedTuple):
    """What came of a set.

    Attributes:
        funnel: the counts.
        repairs: how often what was mended, by kind; None where nothing was to be.
        mendable: where nothing was to be mended: the samples that mending would bring to a better level.
    """

    funnel: GateFunnel
    repairs: Counter[str] | None
    mendable: int


def sort_set(
    labels: LabelledSet,
    gates: Sequence[Gate],
    place: CheckedFolder,
    background: Background,
    graph: ToolGraph,
    *,
    mended: bool,
    screen: Screen,
) -> Sorted:
    """Send each sample through the gates and write it where it belongs.

    Args:
        labels: the set, mended or not.
        gates: in order.
        place: where it is written; all files are replaced at the end, or none.
        background: what samples are mended against.
        graph: of the tools.
        mended: whether the labels are.
        screen: shown the progress.

    Raises:
        UsageError: the set changed in the meantime.
        ToolassayError: a file cannot be written.
    """
    funnel, kinds, mendable = GateFunnel(gates), Counter[str](), 0
    teachers = [gate for gate in gates if isinstance(gate, TeacherGate)]
    with (
        place.writing(graph, repairs=mended) as writer,
        screen.progress("check", len(labels)) as advance,
    ):
        for gold, repairs in labels.repaired():
            inspection = inspect(gold, gates)
            funnel.add(inspection)
            facts: dict[str, Any] = {"repairs": len(repairs)} if repairs else {}
            for teacher in teachers:
                if verdicts := teacher.verdicts(gold):
                    facts["verdicts"] = verdicts
            writer.add(inspection, facts, [{"id": gold.id, **change._asdict()} for change in repairs])
            kinds.update(change.kind for change in repairs)
            mendable += not mended and _would_be_better(inspection, gates, background)
            advance()
    return Sorted(funnel, kinds if mended else None, mendable)


def _would_be_better(inspection: Inspection, gates: Sequence[Gate], background: Background) -> bool:
    """Whether mending would bring a sample to a better level."""
    if inspection.level == "pass":
        return False
    record, repairs = repair(inspection.gold.record, background)
    if not repairs:
        return False
    level = inspect(Gold.of(record, inspection.gold.line), gates).level
    return LEVELS.index(level) < LEVELS.index(inspection.level)
