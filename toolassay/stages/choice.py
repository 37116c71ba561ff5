"""Selects the gates of a check and the samples and data sets that they need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolassay.data_folder import DataFolder
from toolassay.engines import Engine
from toolassay.errors import UsageError
from toolassay.gates.critic import TeacherGate
from toolassay.gates.duplicate_gates import (
    CONTAMINATION,
    DUPLICATE,
    ContaminationGate,
    DuplicateGate,
    RepeatGate,
)
from toolassay.gates.gate import Background
from toolassay.gates.gate_pipeline import (
    ExecutionGate,
    GateRecipe,
    SampleContext,
    gate_pipeline,
    inspect,
    select_gates,
)
from toolassay.gates.labelled_set import LabelledSet, LabelReader, Selected
from toolassay.gates.second_opinion_gate import SecondOpinionGate
from toolassay.screen import Screen
from toolassay.stages.sort_set import LabelPart
from toolassay.text_formatting import count_of
from toolassay.variety.near_duplicates import Thresholds


@dataclass
class Choice:
    """The requested gates.

    Args:
        only: Names of the gates to run; None for all.
        without: Names of the gates to skip.
        critics: Models that review the samples.
        solvers: Models that solve the requests.
        other: Whether `--against` names another data set.
        executed: Whether the plans of the set were executed.
    """

    only: Sequence[str] | None
    without: Sequence[str]
    critics: Sequence[str] = ()
    solvers: Sequence[str] = ()
    other: bool = False
    executed: bool = False

    def names(self, background: Background) -> tuple[str, ...]:
        """The names of the requested gates, in order, before any file is read or any model is called.

        Raises:
            UsageError: A gate is unknown, or an option is given whose gate is skipped.
        """
        opinion = SecondOpinionGate((), background) if self.solvers else None
        whole_set = [RepeatGate(DUPLICATE, {})] + [RepeatGate(CONTAMINATION, {})] * self.other
        execution = ExecutionGate((), background) if self.executed else None
        known = SampleContext(execution=execution, second_opinion=opinion, whole_set=whole_set)
        gates = select_gates(gate_pipeline(background, known), self.only, self.without)
        names = tuple(gate.name for gate in gates)
        for flag, given, gate in (
            ("critic", self.critics, TeacherGate.name),
            ("solver", self.solvers, SecondOpinionGate.name),
            ("against", self.other, CONTAMINATION),
        ):
            if given and gate not in names:
                raise UsageError(
                    f"--{flag} needs the gate '{gate}', which is left out",
                    fix=f"omit --{flag}, or run that gate",
                )
        return names


def whole_set_gates(
    names: Collection[str],
    labels: LabelledSet,
    other: LabelledSet | None,
    bars: Thresholds,
    engine: Engine,
) -> list[RepeatGate]:
    """The gates that compare samples with each other or with another set; they read the sets completely.

    Args:
        names: Names of the requested gates; the others read nothing.
        labels: The samples.
        other: The other set; None without one.
        bars: Minimum similarity of near duplicates.
        engine: Where requests are read and hashed.
    """
    gates: list[RepeatGate] = []
    if DUPLICATE in names:
        gates.append(DuplicateGate(labels, bars, engine))
    if other is not None:
        gates.append(ContaminationGate(labels, other, bars, engine))
    return gates


def worth_reviewing(
    labels: LabelledSet, known: SampleContext, recipe: GateRecipe, engine: Engine, screen: Screen
) -> Selected:
    """The samples that no rule gate rejects; only these are sent to critics and solvers."""
    models = (TeacherGate.name, SecondOpinionGate.name)
    task = WorthTask(
        labels.reader, replace(recipe, names=tuple(name for name in recipe.names if name not in models))
    )
    parts = (LabelPart(lines, known.within(lines.numbers)) for lines in labels.parts)
    lines = {line for part in engine.map(task, parts) for line in part}
    left_out = len(labels) - len(lines)
    if left_out:
        screen.say(f"{count_of(left_out, 'sample')} that the rules reject are not sent to models")
    return Selected(labels, frozenset(lines))


@dataclass(frozen=True)
class WorthTask:
    """Finds the samples that no gate rejects, for an engine."""

    reader: LabelReader
    recipe: GateRecipe

    def start(self) -> Callable[[LabelPart], list[int]]:
        """Build the gates."""
        builder = self.recipe.build()

        def worth(part: LabelPart) -> list[int]:
            gates = builder.gates(part.known)
            golds = (gold for gold, _ in self.reader.repaired(part.lines))
            return [gold.line for gold in golds if inspect(gold, gates).level != "reject"]

        return worth


def other_set(path: Path, checked: DataFolder) -> LabelledSet:
    """The data set of `--against`: a file of labels or requests, or a data folder with one.

    Raises:
        UsageError: It is missing, malformed, or the data set that is checked.
    """
    if path.resolve() in (checked.path.resolve(), checked.data.resolve()):
        raise UsageError(
            "is the data set that is checked",
            file=path,
            fix="name another data set with --against; duplicates within a set are found without it",
        )
    if not path.exists():
        raise UsageError("no such file or folder", file=path, fix="check --against")
    if not path.is_dir():
        return LabelledSet(path)
    folder = DataFolder(path)
    if not folder.data.exists() and not folder.user_requests.exists():
        raise UsageError("holds neither data.json nor user_requests.json", file=path, fix="check --against")
    return LabelledSet(folder.data if folder.data.exists() else folder.user_requests)
