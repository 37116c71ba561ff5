"""The facts that a generated sample asks for: where in the results of its gold plan their values are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from toolassay.executors.executor import CallResult
from toolassay.executors.plan_run import Unresolvable, picked
from toolassay.plans.execution_record import Execution
from toolassay.tools.output_paths import EACH, parse_reference


class FactSource(msgspec.Struct, frozen=True, rename={"sources": "from"}, omit_defaults=True):
    """Where the value of a fact is, as a sample has it.

    Attributes:
        sources: References to results of the plan (`<node-2>.weekday`).
        op: What is computed of their values; empty for the value itself.
        unit: Its unit, or the noun of what is counted.
    """

    sources: str | list[str]
    op: Literal["", "count", "sum", "min", "max", "difference"] = ""
    unit: str = ""

    def value(self, execution: Execution) -> Any:
        """The value in the results of an execution.

        Raises:
            Unresolvable: A result lacks it, or nothing can be computed of it.
        """
        results = {node: CallResult.of(result) for node, result in execution.results.items()}
        values: list[Any] = []
        for text in [self.sources] if isinstance(self.sources, str) else self.sources:
            reference = parse_reference(text)
            if reference is None:
                raise Unresolvable(f"'{text}' is no reference to a result")
            value = picked(reference, results).value
            is_list = isinstance(value, list) and (self.op or EACH in reference.path)
            values += value if is_list else [value]
        if self.op:
            return _OPERATIONS[self.op](values)
        return values[0] if len(values) == 1 else values


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
