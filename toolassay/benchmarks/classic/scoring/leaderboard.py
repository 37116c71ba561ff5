"""CLASSic on the leaderboard: columns read from a metrics file, and the published figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from toolassay.benchmarks.benchmark import Scores, published_rows
from toolassay.benchmarks.classic.scoring.prediction_rows import rows_fingerprint_of
from toolassay.evaluation.item_detail import Axis
from toolassay.evaluation.metrics_file import ColumnScores, Standing
from toolassay.metrics.confidence_interval import Interval
from toolassay.records.data_folder import DataFolder

_ALL = "domain:all"
_STRICT = {"accuracy": "messages", "conversations": "conversations", "by workflow": "by_workflow"}
"""Of each column with an interval its name in strict accuracy."""
_COMPAT = {
    "accuracy": ("accuracy", "row_pass@1"),
    "conversations": ("accuracy", "convo_pass@1"),
    "stability": ("stability", "row_pass^2"),
}
"""Of each column its axis and name in compat."""
HEADINGS = ("accuracy", "conversations", "by workflow", "macro F1", "none F1", "stability")
CAPTION = (
    "Percent of the messages, in all trials. accuracy: the choice is right. conversations: all messages of "
    "one are right. by workflow: the mean over workflows. macro F1: of the workflows. none F1: of starting "
    "nothing. strict: an answer that cannot be read is never right; with 95 % intervals; stability: "
    "the same answer in every trial. compat: as the published evaluator counts; stability: row_pass^2. "
    "%: messages that were asked and scored."
)


def _standing(numbers: Mapping[str, Any]) -> Standing:
    strict = numbers["strict"]
    compat = numbers["compat"]
    n = int(numbers["n"])
    coverage = strict["coverage"]
    accuracy = strict["accuracy"][_ALL]
    shares = {heading: accuracy[name] for heading, name in _STRICT.items()}
    if (agreement := strict["stability"][_ALL].get("answer_agreement")) is not None:
        shares["stability"] = agreement
    bounds = compat.get("compat_intervals", {})
    published = {
        heading: {**bounds.get(name, {}), "value": (compat[axis] or {}).get(_ALL, {}).get(name)}
        for heading, (axis, name) in _COMPAT.items()
    }
    judged, as_published = (
        {heading: Interval.of(interval) for heading, interval in columns.items()}
        for columns in (shares, published)
    )
    judged["macro F1"] = Interval(accuracy["macro_f1"], None, None)
    judged["none F1"] = Interval(accuracy["none"]["f1"], None, None)
    return Standing(ColumnScores(n, coverage, judged), ColumnScores(n, coverage, as_published))


def _axis(numbers: Mapping[str, Any]) -> Axis:
    """Strict accuracy of messages in all trials; without a ledger, cost and time by the rows."""
    strict = numbers["strict"]
    repeats = strict["stability"][_ALL]
    stability = {**repeats, **repeats["messages"]} if repeats["trials"] > 1 else None
    cost, latency = ((strict.get(axis) or {}).get(_ALL, {}) for axis in ("cost", "latency"))
    accuracy = Interval.of(strict["accuracy"][_ALL]["messages"])
    return Axis(numbers["n"], accuracy, stability, cost, latency)


@cache
def published_means(domain: str) -> dict[str, dict[str, float]]:
    """The published means of a domain, by model and metric; empty for a domain that was not published.

    Args:
        domain: "all" or one of six. Metrics are cost (US dollars a message), latency (seconds), accuracy
            (`row_pass@1`), stability (`row_pass^2`) and security.

    >>> published_means("all")["GPT-4o"]["security"]
    0.89
    """
    means: dict[str, dict[str, float]] = {}
    for line in published_rows("classic"):
        if line["domain"] == domain:
            means.setdefault(line["model"], {})[line["metric"]] = float(line["mean"])
    return means


def _published_agents(folder: DataFolder, domain: str | None) -> dict[str, dict[str, float]]:
    """The published agents over all domains: accuracy and stability, in percent."""
    shown = ("accuracy", "stability")
    return {
        model: {name: 100 * figures[name] for name in shown if name in figures}
        for model, figures in published_means("all").items()
    }


SCORES = Scores(
    HEADINGS,
    HEADINGS[0],
    CAPTION,
    _standing,
    _axis,
    "toolassay.benchmarks.classic.commands:print_chat_scores",
    published=_published_agents,
    fingerprint=rows_fingerprint_of,
)
