"""Options of `infer` and `evaluate` for CLASSic folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ChatOptions:
    """Options of `infer` for CLASSic folders.

    Attributes:
        agent: "cot", "reasoning", "tools" (one function per workflow), "retrieval" or "recorded"; None for
            "cot", or "retrieval" with the offline model.
        order: Order of the workflows in the prompt: "table", "name", or the seed of a shuffle; None for
            "table".
        recorded: File with the answers of the agent "recorded".
        none_as: Recorded answers that mean no workflow; empty for "none".
    """

    agent: str | None = None
    order: str | None = None
    recorded: Path | None = None
    none_as: Sequence[str] = ()


@dataclass(frozen=True)
class ChatScoring:
    """Options of `evaluate` and `verify` for CLASSic folders.

    Attributes:
        orders: Prediction folders of runs of the same models with another order of the workflows.
    """

    orders: Sequence[str | Path] = ()
