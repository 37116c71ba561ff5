"""Metrics of other packages, found by entry point. Each scores one item from 0 to 1."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from toolassay.errors import ToolassayError, UsageError
from toolassay.extras import installed_entry_points

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "toolassay.metrics"
# A name becomes a column and an argument of `-m`: "same_length" may, "Same-Length" may not.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class ItemMetric(Protocol):
    """A score of one predicted plan.

    An entry point of the group `toolassay.metrics` names a class, or a function without arguments that
    returns such an object. The name of the entry point is the name of the metric.

    >>> class SameLength:
    ...     def score(self, label, result):
    ...         return float(len(label["task_nodes"]) == len(result["task_nodes"]))
    """

    def score(self, label: Mapping[str, Any], result: Mapping[str, Any]) -> float | None:
        """The score of a plan that could be parsed, 0 to 1; None if the metric does not apply to the item.

        Args:
            label: the label, in the repository's form (`task_steps`, `task_nodes`, `task_links`, …).
            result: the predicted plan: an object with a list of `task_nodes`, each with a `task`.
        """
        ...


def installed_metrics() -> tuple[str, ...]:
    """The names of the metrics that are installed, sorted."""
    return tuple(sorted({point.name for point in installed_entry_points(GROUP)}))


class InstalledMetrics:
    """Some of the installed metrics, by name."""

    def __init__(self, metrics: Mapping[str, ItemMetric]) -> None:
        self.names = tuple(metrics)
        self._metrics = metrics

    @classmethod
    def load(cls, names: Sequence[str], taken: Collection[str] = ()) -> InstalledMetrics:
        """Load metrics.

        Args:
            names: those to load.
            taken: names that a metric must not have, since metrics of this package have them.

        Raises:
            UsageError: a metric cannot be loaded, or its name is invalid or taken.
        """
        points = {point.name: point for point in installed_entry_points(GROUP)} if names else {}
        return cls({name: _loaded(points[name], taken) for name in names})

    def scores(self, label: Mapping[str, Any], result: Mapping[str, Any]) -> list[float]:
        """The score of an item by each metric, in the order of `names`; NaN if one does not apply.

        Raises:
            ToolassayError: a metric failed, or returned no number from 0 to 1; the error names the item.
        """
        return [self._score(name, metric, label, result) for name, metric in self._metrics.items()]

    @staticmethod
    def _score(name: str, metric: ItemMetric, label: Mapping[str, Any], result: Mapping[str, Any]) -> float:
        try:
            score = metric.score(label, result)
            if score is not None and not 0 <= float(score) <= 1:
                raise ValueError(f"{score:g} is not 0 to 1")
            return float("nan") if score is None else float(score)
        except Exception as error:
            raise ToolassayError(
                f"the installed metric '{name}' failed on item {label.get('id')!r}: {error}",
                fix="correct that metric, or name the metrics you want with -m",
            ) from error


def _loaded(point: EntryPoint, taken: Collection[str]) -> ItemMetric:
    if not _NAME.fullmatch(point.name) or point.name in taken:
        raise UsageError(
            f"the installed metric '{point.name}' ({point.value}) cannot have that name",
            fix="use lower-case letters, digits and '_', and no name of a built-in metric",
        )
    try:
        metric: ItemMetric = point.load()()
    except Exception as error:
        raise UsageError(
            f"metric '{point.name}' is registered as {point.value} but cannot be loaded: {error}",
            fix="repair or uninstall that package",
        ) from error
    return metric
