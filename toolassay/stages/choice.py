"""Selects the gates of a check and the samples and data sets that they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.gates.critic.gate import TeacherGate
from toolassay.gates.duplicate_gates import ContaminationGate, DuplicateGate
from toolassay.gates.execution_gate import ExecutionGate
from toolassay.gates.gate import Background, Gate
from toolassay.gates.gate_pipeline import SampleContext, gate_pipeline, inspect, select_gates
from toolassay.gates.labelled_set import LabelledSet, Selected
from toolassay.gates.second_opinion_gate import SecondOpinionGate
from toolassay.screen import Screen
from toolassay.text_formatting import count_of
from toolassay.variety import Thresholds


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

    def __post_init__(self) -> None:
        self._names: set[str] = set()

    def validate(self, background: Background) -> None:
        """Validate the names before any file is read or any model is called.

        Raises:
            UsageError: A gate is unknown, or an option is given whose gate is skipped.
        """
        opinion = SecondOpinionGate((), background) if self.solvers else None
        whole_set: list[Gate] = [DuplicateGate(())]
        whole_set += [ContaminationGate((), ())] * self.other
        execution = ExecutionGate((), background) if self.executed else None
        known = SampleContext(execution=execution, second_opinion=opinion, whole_set=whole_set)
        line = self.select(gate_pipeline(background, known))
        self._names = {gate.name for gate in line}
        for flag, given, gate in (
            ("critic", self.critics, TeacherGate),
            ("solver", self.solvers, SecondOpinionGate),
            ("against", self.other, ContaminationGate),
        ):
            if given and gate.name not in self._names:
                raise UsageError(
                    f"--{flag} needs the gate '{gate.name}', which is left out",
                    fix=f"omit --{flag}, or run that gate",
                )

    def select(self, gates: Sequence[Gate]) -> tuple[Gate, ...]:
        """The requested ones among `gates`."""
        return select_gates(gates, self.only, self.without)

    def whole_set(self, labels: LabelledSet, other: LabelledSet | None, bars: Thresholds) -> list[Gate]:
        """The gates that compare samples with each other or with another set; they read the sets completely.

        A skipped duplicate gate reads nothing.
        """
        gates: list[Gate] = [DuplicateGate(labels if DuplicateGate.name in self._names else (), bars)]
        if other is not None:
            gates.append(ContaminationGate(labels, other, bars))
        return gates


def worth_reviewing(labels: LabelledSet, gates: Sequence[Gate], screen: Screen) -> Selected:
    """The samples that no rule gate rejects; only these are sent to critics and solvers."""
    first = [gate for gate in gates if not isinstance(gate, TeacherGate | SecondOpinionGate)]
    lines = {gold.line for gold in labels if inspect(gold, first).level != "reject"}
    left_out = len(labels) - len(lines)
    if left_out:
        screen.say(f"{count_of(left_out, 'sample')} that the rules reject are not sent to models")
    return Selected(labels, frozenset(lines))


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
