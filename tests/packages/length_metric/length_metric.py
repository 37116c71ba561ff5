"""A metric of the length of plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class SameLength:
    """Whether a plan has as many calls as the gold; None for gold of one call."""

    def score(self, label: Mapping[str, Any], result: Mapping[str, Any]) -> float | None:
        """1 if it has, else 0."""
        if len(label["task_nodes"]) == 1:
            return None
        return float(len(label["task_nodes"]) == len(result["task_nodes"]))
