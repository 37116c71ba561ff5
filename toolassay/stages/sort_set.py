"""Runs samples through the gates, in parts on any engine, and writes each to the file of its level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolassay.engines import Engine
from toolassay.files import LineRange
from toolassay.gates.coverage import Coverage, SampleCounts
from toolassay.gates.critic import TeacherGate
from toolassay.gates.gate import LEVELS, Gate
from toolassay.gates.gate_pipeline import GateFunnel, GateRecipe, Inspection, SampleContext, inspect
from toolassay.gates.labelled_set import LabelledSet, LabelReader
from toolassay.gates.repair import repair
from toolassay.gold import Gold
from toolassay.screen import Screen
from toolassay.stages.checked import CheckedFolder
from toolassay.stages.checked_writer import SampleLines


class LabelPart(NamedTuple):
    """Some lines of a file of labels, and what is known about the samples on them."""

    lines: LineRange
    known: SampleContext


@dataclass
class CheckedPart:
    """What the gates found in a part.

    Attributes:
        funnel: Number of samples per gate and level.
        coverage: Number of samples per tool and edge.
        lines: Lines for the output files, if requested.
        repairs: Number of repairs by kind.
        repairable: Number of samples that a repair would bring to a better level, if requested.
    """

    funnel: GateFunnel
    coverage: SampleCounts = field(default_factory=SampleCounts)
    lines: SampleLines = field(default_factory=SampleLines)
    repairs: Counter[str] = field(default_factory=Counter)
    repairable: int = 0


@dataclass(frozen=True)
class CheckTask:
    """The check of the parts of a file, for an engine.

    Attributes:
        reader: Reads the labels.
        recipe: The gates.
        writes: Whether the lines for the output files are wanted.
        tries_repair: Whether a sample that does not pass is repaired, to see if it would pass then.
    """

    reader: LabelReader
    recipe: GateRecipe
    writes: bool
    tries_repair: bool

    def start(self) -> Callable[[LabelPart], CheckedPart]:
        """Build the gates."""
        builder = self.recipe.build()

        def check(part: LabelPart) -> CheckedPart:
            found, gates = CheckedPart(GateFunnel(self.recipe.names)), builder.gates(part.known)
            for gold, repairs in self.reader.repaired(part.lines):
                self._add(found, gold, [change._asdict() for change in repairs], gates)
            return found

        return check

    def _add(
        self, part: CheckedPart, gold: Gold, repairs: list[dict[str, Any]], gates: tuple[Gate, ...]
    ) -> None:
        inspection = inspect(gold, gates)
        part.funnel.add(inspection)
        part.coverage.add(inspection, self.recipe.background.library)
        part.repairs.update(change["kind"] for change in repairs)
        if self.tries_repair:
            part.repairable += self._would_be_better(inspection, gates)
        if self.writes:
            facts: dict[str, Any] = {"repairs": len(repairs)} if repairs else {}
            for gate in gates:
                if isinstance(gate, TeacherGate) and (verdicts := gate.verdicts(gold)):
                    facts["verdicts"] = verdicts
            part.lines.add(inspection, facts, [{"id": gold.id, **change} for change in repairs])

    def _would_be_better(self, inspection: Inspection, gates: tuple[Gate, ...]) -> bool:
        """Whether a repair would bring a sample to a better level."""
        if inspection.level == "pass":
            return False
        record, repairs = repair(inspection.gold.record, self.recipe.background)
        if not repairs:
            return False
        level = inspect(Gold.of(record, inspection.gold.line), gates).level
        return LEVELS.index(level) < LEVELS.index(inspection.level)


def checked_parts(
    labels: LabelledSet, known: SampleContext, task: CheckTask, engine: Engine
) -> Iterator[CheckedPart]:
    """Check a set in parts, in file order.

    Raises:
        UsageError: The file of labels changed during the check.
    """
    parts = (LabelPart(lines, known.within(lines.numbers)) for lines in labels.parts)
    return engine.map(task, parts)


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
    known: SampleContext,
    recipe: GateRecipe,
    place: CheckedFolder,
    coverage: Coverage,
    *,
    is_repaired: bool,
    engine: Engine,
    screen: Screen,
) -> Sorted:
    """Run each sample through the gates and write it to the files of its level.

    Args:
        labels: The samples, repaired if requested.
        known: What is known about them beyond their labels.
        recipe: The gates.
        place: Output folder; its files are all replaced at the end, or none is.
        coverage: Counts the samples of each tool and edge of the graph; empty.
        is_repaired: Whether repair was requested.
        engine: Where the gates run.
        screen: Receives progress.

    Raises:
        UsageError: The file of labels changed during the check.
        ToolassayError: A file cannot be written.
    """
    funnel, kinds, repairable = GateFunnel(recipe.names), Counter[str](), 0
    task = CheckTask(labels.reader, recipe, writes=True, tries_repair=not is_repaired)
    with (
        place.writing(coverage.graph, repairs=is_repaired) as writer,
        screen.progress("check", len(labels)) as advance,
    ):
        for part in checked_parts(labels, known, task, engine):
            funnel.extend(part.funnel)
            coverage.extend(part.coverage)
            writer.write(part.lines)
            kinds.update(part.repairs)
            repairable += part.repairable
            for _ in range(part.funnel.total):
                advance()
    return Sorted(funnel, kinds if is_repaired else None, repairable, coverage)
