"""Metrics of other packages, found by entry point. Each scores one item from 0 to 1."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from toolassay.errors import ToolassayError, UsageError
from toolassay.extras import installed_entry_points

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


def load_metrics(names: Sequence[str], taken: Collection[str]) -> dict[str, ItemMetric]:
    """Load installed metrics, by name.

    Args:
        names: those to load.
        taken: names that a metric must not have, since metrics of this package have them.

    Raises:
        UsageError: a metric cannot be loaded, or its name is invalid or taken.
    """
    points = {point.name: point for point in installed_entry_points(GROUP)} if names else {}
    metrics: dict[str, ItemMetric] = {}
    for name in names:
        target = points[name].value
        if not _NAME.fullmatch(name) or name in taken:
            raise UsageError(
                f"the installed metric '{name}' ({target}) cannot have that name",
                fix="use lower-case letters, digits and '_', and no name of a built-in metric",
            )
        try:
            metrics[name] = points[name].load()()
        except Exception as error:
            # Importing another package, and calling what it registers, can raise anything.
            raise UsageError(
                f"metric '{name}' is registered as {target} but cannot be loaded: {error}",
                fix="repair or uninstall that package",
            ) from error
    return metrics


def item_scores(
    metrics: Mapping[str, ItemMetric], label: Mapping[str, Any], result: Mapping[str, Any]
) -> list[float]:
    """The score of an item by each metric; NaN if one does not apply.

    Raises:
        ToolassayError: a metric failed, or returned no number from 0 to 1; the error names the item.
    """
    scores = []
    for name, metric in metrics.items():
        try:
            score = metric.score(label, result)
            if score is not None and not 0 <= float(score) <= 1:
                raise ValueError(f"{score:g} is not 0 to 1")
            scores.append(float("nan") if score is None else float(score))
        except Exception as error:
            raise ToolassayError(
                f"the installed metric '{name}' failed on item {label.get('id')!r}: {error}",
                fix="correct that metric, or name the metrics you want with -m",
            ) from error
    return scores
