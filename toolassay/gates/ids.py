"""The gate "id": each id once."""

from __future__ import annotations

from collections.abc import Mapping

from toolassay.gates.gate import Finding
from toolassay.gold import Gold


class IdGate:
    """Rejects a sample whose id an earlier one has.

    Args:
        first: for each line that repeats an id, the line that had it first.
    """

    name = "id"

    def __init__(self, first: Mapping[int, int]) -> None:
        self._first = first

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for a later sample of the same id."""
        line = self._first.get(gold.line)
        if line is None:
            return []
        return [Finding(self.name, "reject", f"the id {gold.id!r} is that of line {line} too", "id")]
