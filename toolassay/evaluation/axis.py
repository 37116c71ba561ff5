"""The interface between benchmarks and reports: names, and accuracy and stability of one model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class About(NamedTuple):
    """Names of a benchmark and its definition of a correct item.

    Attributes:
        name: Name in `benchmark.json`.
        title: Name in reports.
        item: Singular noun of an item.
        right: Condition for a correct item, completing "an item is right if ...".
        default_folder: Default data folder of its commands.
        cluster: Description of a cluster of dependent items, e.g. "the tasks of one template"; empty for the
            items of one sampled subgraph.
        order: Rank among the built-in benchmarks in lists and help.
    """

    name: str
    title: str
    item: str
    right: str
    default_folder: str = ""
    cluster: str = ""
    order: int = 100


class Axis(NamedTuple):
    """Accuracy and stability in the metrics of a model.

    Attributes:
        items: Number of labelled items.
        accuracy: `value`, `low` and `high`, from 0 to 1.
        stability: `pass^k`, `answer_agreement`, `trials` and `tasks` (number of items with k runs); None with
            one trial.
        cost: For runs without a ledger: `usd_per_1000_messages`, `usd_per_solved_message`,
            `messages_of_unknown_cost`.
        latency: For runs without a ledger: `p50` and `p95`, in seconds.
        harm: Share of items with unwanted changes, as `accuracy`; None where nothing is carried out.
    """

    items: int
    accuracy: Mapping[str, Any]
    stability: Mapping[str, Any] | None = None
    cost: Mapping[str, Any] = MappingProxyType({})
    latency: Mapping[str, Any] = MappingProxyType({})
    harm: Mapping[str, Any] | None = None
