"""The facts that a generated sample asks for: where in the results of its gold plan their values are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from toolassay.console.text_formatting import shortened
from toolassay.executors.executor import CallResult
from toolassay.executors.plan_run import Unresolvable, picked
from toolassay.plans.call_plan import Unfit
from toolassay.plans.called_plan import leaves, value_key
from toolassay.plans.execution_record import Execution
from toolassay.plans.gold import Gold
from toolassay.records.cases import is_case
from toolassay.tools.output_paths import EACH, Reference, Step, parse_reference

Operation = Literal["", "count", "sum", "min", "max", "difference"]
_LONGEST_VALUE = 60  # characters in a reason


class FactSource(msgspec.Struct, frozen=True, rename={"sources": "from"}, omit_defaults=True):
    """Where the value of a fact is, as a sample has it.

    Attributes:
        sources: References to results of the plan (`<node-2>.weekday`).
        op: What is computed of their values; empty for the value itself.
        unit: Its unit, or the noun of what is counted.
    """

    sources: str | list[str]
    op: Operation = ""
    unit: str = ""

    def value(self, results: Mapping[int, CallResult]) -> Any:
        """The value in the results of the calls of a plan.

        Raises:
            Unresolvable: A result lacks it, or nothing can be computed of it.
        """
        values: list[Any] = []
        for reference, value in self.picked(results):
            is_list = isinstance(value, list) and (self.op or EACH in reference.path)
            values += value if is_list else [value]
        if self.op:
            return _OPERATIONS[self.op](values)
        return values[0] if len(values) == 1 else values

    def picked(self, results: Mapping[int, CallResult]) -> Iterator[tuple[Reference, Any]]:
        """Each of its references, with what that names in the results.

        Raises:
            Unresolvable: A result lacks it.
        """
        for text in [self.sources] if isinstance(self.sources, str) else self.sources:
            reference = parse_reference(text)
            if reference is None:
                raise Unresolvable(f"'{text}' is no reference to a result")
            yield reference, picked(reference, results).value


FACTS = "facts"
"""The key of a label with its facts."""
UNJUDGEABLE = "nothing that an agent leaves or says can be judged"
"""What is wrong with a sample that changes nothing and has no fact."""


def facts_of(gold: Gold) -> list[FactSource] | None:
    """The facts of a generated sample; None if nothing is known of them, or it is a team's own case.

    Raises:
        msgspec.ValidationError: They are malformed.
    """
    written = gold.record.get(FACTS)
    return None if written is None or is_case(gold.record) else msgspec.convert(written, list[FactSource])


def results_of(execution: Execution) -> dict[int, CallResult]:
    """The results of the calls of a plan, by number of the node."""
    return {node: CallResult.of(result) for node, result in execution.results.items()}


def missing_facts(facts: Sequence[FactSource], results: Mapping[int, CallResult]) -> Iterator[str]:
    """What is wrong with facts that the results do not have."""
    for number, fact in enumerate(facts):
        try:
            value = fact.value(results)
        except Unresolvable as error:
            yield f"facts[{number}]: {error}"
            continue
        if isinstance(value, dict) or value in ([], ""):
            yield f"facts[{number}]: an object or nothing is no fact that can be told: name its parts"


def unreadable_fact(facts: Sequence[FactSource], gold: Execution, other: Execution) -> str:
    """A value of which the facts are made and that another plan does not return; empty if it returns all.

    It must be in a field of the same name, because a bare 3 is in many results.
    """
    given = {
        (_field(path), value_key(leaf)) for result in other.results.values() for path, leaf in leaves(result)
    }
    results = results_of(gold)
    for fact in facts:
        for reference, value in fact.picked(results):
            for path, leaf in leaves(value, (_field(reference.path),)):
                if (_field(path), value_key(leaf)) not in given:
                    return shortened(CallResult.of(leaf).text, _LONGEST_VALUE)
    return ""


def _field(path: Sequence[Step]) -> str:
    """The name of the field to which a path leads; empty for a result without names."""
    return next((part for part in reversed(path) if isinstance(part, str) and part != EACH), "")


def facts_in_words(gold: Gold, results: Mapping[int, CallResult]) -> str:
    """The facts of a sample with their units, as an answer states them; empty without any.

    Args:
        gold: The sample.
        results: What its calls returned, by number of the node.

    Raises:
        Unfit: A result lacks a fact.
    """
    words = []
    try:
        told = [(fact.value(results), fact.unit) for fact in facts_of(gold) or ()]
    except (Unresolvable, msgspec.ValidationError) as error:
        raise Unfit(str(error), FACTS) from None
    for value, unit in told:
        members = value if isinstance(value, list) else [value]
        stated = ", ".join(CallResult.of(member).text for member in members)
        words.append(f"{stated} {unit}".strip())
    return "; ".join(words)


def _numbers(values: Sequence[Any]) -> list[float]:
    if not values or not all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    ):
        raise Unresolvable("only numbers have a sum or a difference")
    return list(values)


def _extreme(values: Sequence[Any], choose: Callable[[Sequence[Any]], Any]) -> Any:
    try:
        return choose(values)
    except (TypeError, ValueError):
        raise Unresolvable("the values cannot be compared") from None


def _difference(values: Sequence[Any]) -> float:
    if len(values) != 2:
        raise Unresolvable(f"a difference needs two values, there are {len(values)}")
    first, second = _numbers(values)
    return round(abs(first - second), 9)


_OPERATIONS: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "count": len,
    "sum": lambda values: round(sum(_numbers(values)), 9),
    "min": lambda values: _extreme(values, min),
    "max": lambda values: _extreme(values, max),
    "difference": _difference,
}
