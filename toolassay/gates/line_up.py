"""Which gates a sample goes through, in order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from toolassay.errors import UsageError
from toolassay.gates.critic import CriticVerdict
from toolassay.gates.gate import Background, Gate
from toolassay.gates.graph import GraphGate
from toolassay.gates.ids import IdGate
from toolassay.gates.knowability import KnowabilityGate
from toolassay.gates.leak import LeakGate
from toolassay.gates.schema import SchemaGate
from toolassay.gates.second_opinion import SecondOpinionGate
from toolassay.gates.teacher import TeacherGate
from toolassay.gates.wiring import WiringGate


@dataclass(frozen=True)
class Known:
    """What is known of samples beyond what each says itself.

    Attributes:
        repeated: for each line that repeats an id, the line that had it first.
        critics: for each critic that was asked, its verdicts by line.
        teacher: the model that wrote the reviews stored with the labels; empty if unknown.
        second_opinion: the gate that knows what solvers answered; None where none was asked.
        whole_set: the gates made from the whole set: duplicates, contamination.
    """

    repeated: Mapping[int, int] = field(default_factory=dict)
    critics: Mapping[str, Mapping[int, CriticVerdict]] = field(default_factory=dict)
    teacher: str = ""
    second_opinion: SecondOpinionGate | None = None
    whole_set: Sequence[Gate] = ()


_ALONE = Known()


def line_up(background: Background, known: Known = _ALONE) -> tuple[Gate, ...]:
    """The gates a sample goes through, in the order in which the funnel shows them.

    Args:
        background: the tools and their graph.
        known: what else is known; without it, a sample is looked at alone.
    """
    opinions = () if known.second_opinion is None else (known.second_opinion,)
    return (
        IdGate(known.repeated),
        *rules(background),
        *known.whole_set,
        TeacherGate(known.critics, known.teacher),
        *opinions,
    )


def rules(background: Background) -> tuple[Gate, ...]:
    """The gates that need nothing but the sample and its tools."""
    return (
        SchemaGate(background),
        GraphGate(background),
        WiringGate(background),
        KnowabilityGate(background),
        LeakGate(background),
    )


def chosen(
    gates: Sequence[Gate], only: Collection[str] | None = None, without: Collection[str] = ()
) -> tuple[Gate, ...]:
    """Some of the gates, in their order; names may be written with underscores.

    Raises:
        UsageError: there is no gate of a name, or none is left.
    """
    names = {_spelled(gate.name) for gate in gates}
    for name in (*(only or ()), *without):
        if _spelled(name) not in names:
            raise UsageError(
                f"there is no gate '{name}'", fix=f"choose from {', '.join(gate.name for gate in gates)}"
            )
    kept = tuple(
        gate
        for gate in gates
        if (only is None or _spelled(gate.name) in map(_spelled, only))
        and _spelled(gate.name) not in map(_spelled, without)
    )
    if not kept:
        raise UsageError("no gate is left", fix="leave --without out, or name fewer")
    return kept


def _spelled(name: str) -> str:
    return name.replace("_", " ").strip().casefold()
