"""The options of `infer` and `evaluate` in a folder of CLASSic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ChatOptions:
    """The options of `infer` in a folder of CLASSic.

    Attributes:
        agent: "cot" (None), "reasoning", "tools" (a function a workflow), "retrieval" (None of the offline
            model) or "recorded".
        order: of the workflows shown: "table" (None), "name", or the seed of a shuffle.
        recorded: the file of answers that the agent "recorded" repeats.
        none_as: what a recorded answer says where it chose none; empty for "none".
    """

    agent: str | None = None
    order: str | None = None
    recorded: Path | None = None
    none_as: Sequence[str] = ()


@dataclass(frozen=True)
class ChatScoring:
    """The options of `evaluate` and `verify` in a folder of CLASSic.

    Attributes:
        orders: more prediction folders of the same models, which saw the workflows in another order.
    """

    orders: Sequence[str | Path] = ()
