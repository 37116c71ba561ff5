"""Which gates a check has: those asked for, and what they need beyond a single sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.gates.critic.gate import TeacherGate
from toolassay.gates.duplicate_gates import ContaminationGate, DuplicateGate
from toolassay.gates.gate import Background, Gate
from toolassay.gates.gate_pipeline import SampleContext, gate_pipeline, inspect, select_gates
from toolassay.gates.labelled_set import LabelledSet, Selected
from toolassay.gates.second_opinion_gate import SecondOpinionGate
from toolassay.screen import Screen
from toolassay.text_formatting import count_of
from toolassay.variety import Thresholds


@dataclass
class Choice:
    """The gates asked for.

    Args:
        only: only these; None for all.
        without: all but these.
        critics: the critics to ask.
        solvers: the models to solve the requests.
        other: whether there is another set that must not be repeated.
    """

    only: Sequence[str] | None
    without: Sequence[str]
    critics: Sequence[str] = ()
    solvers: Sequence[str] = ()
    other: bool = False

    def __post_init__(self) -> None:
        self._names: set[str] = set()

    def settle(self, background: Background) -> None:
        """Find out the names before anything is read or asked.

        Raises:
            UsageError: there is no such gate, or something is given that only a gate left out would use.
        """
        opinion = SecondOpinionGate((), background) if self.solvers else None
        whole_set: list[Gate] = [DuplicateGate(())]
        whole_set += [ContaminationGate((), ())] * self.other
        line = self.of(gate_pipeline(background, SampleContext(second_opinion=opinion, whole_set=whole_set)))
        self._names = {gate.name for gate in line}
        for flag, given, gate in (
            ("critic", self.critics, TeacherGate),
            ("solver", self.solvers, SecondOpinionGate),
            ("against", self.other, ContaminationGate),
        ):
            if given and gate.name not in self._names:
                raise UsageError(
                    f"--{flag} is given, and the gate '{gate.name}' left out", fix="take the one or the other"
                )

    def of(self, gates: Sequence[Gate]) -> tuple[Gate, ...]:
        """Those of some gates that are asked for."""
        return select_gates(gates, self.only, self.without)

    def whole_set(self, labels: LabelledSet, other: LabelledSet | None, bars: Thresholds) -> list[Gate]:
        """The gates made from the whole set; one that is left out is not made, for it reads everything."""
        gates: list[Gate] = [DuplicateGate(labels if DuplicateGate.name in self._names else (), bars)]
        if other is not None:
            gates.append(ContaminationGate(labels, other, bars))
        return gates


def worth_asking(labels: LabelledSet, gates: Sequence[Gate], screen: Screen) -> Selected:
    """The samples that the rules do not reject: models are asked about no others."""
    first = [gate for gate in gates if not isinstance(gate, TeacherGate | SecondOpinionGate)]
    lines = {gold.line for gold in labels if inspect(gold, first).level != "reject"}
    left_out = len(labels) - len(lines)
    if left_out:
        screen.say(f"models are not asked about {count_of(left_out, 'sample')} that the rules reject")
    return Selected(labels, frozenset(lines))


def other_set(path: Path, checked: DataFolder) -> LabelledSet:
    """Another set: a file of labels or requests, or a data folder with one.

    Raises:
        UsageError: there is none, it is malformed, or it is the one that is checked.
    """
    if path.resolve() in (checked.path.resolve(), checked.data.resolve()):
        raise UsageError(
            "is the set that is checked: all of it would repeat itself",
            file=path,
            fix="give another with --against; repeats within a set are found without it",
        )
    if not path.exists():
        raise UsageError("no such file or folder", file=path, fix="check --against")
    if not path.is_dir():
        return LabelledSet(path)
    folder = DataFolder(path)
    if not folder.data.exists() and not folder.user_requests.exists():
        raise UsageError("holds neither data.json nor user_requests.json", file=path, fix="check --against")
    return LabelledSet(folder.data if folder.data.exists() else folder.user_requests)
