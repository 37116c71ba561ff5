"""What a benchmark tells a report: its names, and accuracy and repeats of one model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class About(NamedTuple):
    """What a benchmark is called, what one item of it is, and when an item is right.

    Attributes:
        name: as `benchmark.json` says it.
        title: as people write it.
        item: the noun of one item.
        right: when an item is right.
    """

    name: str
    title: str
    item: str
    right: str


class Axis(NamedTuple):
    """What the metrics of a model say about accuracy and repeats.

    Attributes:
        items: labelled items.
        accuracy: value, low and high; shares of 1.
        stability: `pass^k`, `answer_agreement`, `trials` and `tasks` (items with k runs); None of one trial.
        cost: without a ledger: `usd_per_1000_messages`, `usd_per_solved_message`, `messages_of_unknown_cost`.
        latency: without a ledger: `p50` and `p95`, seconds.
    """

    items: int
    accuracy: Mapping[str, Any]
    stability: Mapping[str, Any] | None = None
    cost: Mapping[str, Any] = MappingProxyType({})
    latency: Mapping[str, Any] = MappingProxyType({})
