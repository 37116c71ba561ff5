"""CLASSic on the leaderboard: columns read from a metrics file, and the published figures."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from toolassay.evaluation.metrics_file import ColumnScores, Standing, partly_asked, signature_of, standing_of
from toolassay.metrics.confidence_interval import Interval, share_interval
from toolassay.report.leaderboard.ranking import LeaderboardRow

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


def read_chat_standing(path: Path, group: str) -> Standing:
    """The scores of a group in a metrics file of CLASSic.

    Raises:
        UsageError: it is no such file, or lacks the group.
    """
    return standing_of(path, group, _standing)


def _standing(numbers: Mapping[str, Any]) -> Standing:
    strict, compat = numbers["strict"], numbers["compat"]
    n, coverage, asked = int(numbers["n"]), _percent(strict["coverage"]), partly_asked(strict)
    return Standing(
        ColumnScores(n, coverage, _strict(strict), asked),
        ColumnScores(n, coverage, _compat(compat, strict), asked),
        str(strict.get("signature", "")),
        signature_of(numbers),
    )


def _strict(numbers: Mapping[str, Any]) -> dict[str, Interval]:
    accuracy = numbers["accuracy"][_ALL]
    agreement = numbers["stability"][_ALL].get("answer_agreement")
    shares = {heading: accuracy[name] for heading, name in _STRICT.items()}
    shares |= {"stability": agreement} if agreement is not None else {}
    found = {heading: _share(heading, one, numbers) for heading, one in shares.items()}
    found["macro F1"] = Interval(_percent(accuracy["macro_f1"]), None, None)
    found["none F1"] = Interval(_percent(accuracy["none"]["f1"]), None, None)
    return found


def _compat(numbers: Mapping[str, Any], strict: Mapping[str, Any]) -> dict[str, Interval]:
    bounds = numbers.get("compat_intervals", {})
    return {
        heading: _share(
            heading,
            {**bounds.get(name, {}), "value": (numbers[axis] or {}).get(_ALL, {}).get(name)},
            strict,
        )
        for heading, (axis, name) in _COMPAT.items()
    }


def _share(heading: str, found: Mapping[str, float | None], strict: Mapping[str, Any]) -> Interval:
    """A column in percent; shares of messages and conversations have at least Wilson's interval."""
    n = {"by workflow": 0, "conversations": strict.get("n_conversations", 0)}
    n_share = n.get(heading, strict.get("n_scored", 0))
    return Interval(*map(_percent, share_interval(Interval.of(found), n_share)))


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


@dataclass(frozen=True)
class PublishedFigure:
    """One published figure.

    Args:
        domain: "all" or one of six.
        model: its name.
        metric: cost (US dollars a message), latency (seconds), accuracy (`row_pass@1`), stability
            (`row_pass^2`) or security.
        mean: over runs.
        std: over runs; None where there was one.
    """

    domain: str
    model: str
    metric: str
    mean: float
    std: float | None


@cache
def published_figures() -> tuple[PublishedFigure, ...]:
    """All 141 figures.

    >>> len(published_figures()), published_figures()[0].metric
    (141, 'cost')
    """
    text = files("toolassay.benchmarks.classic").joinpath("published.csv").read_text(encoding="utf-8")
    return tuple(
        PublishedFigure(
            line["domain"],
            line["model"],
            line["metric"],
            float(line["mean"]),
            float(line["std"]) if line["std"] else None,
        )
        for line in csv.DictReader(text.splitlines())
    )


def published_rows(domain: str) -> dict[str, dict[str, float]]:
    """The means of a domain, by model and metric; empty for a domain that was not published.

    >>> published_rows("all")["GPT-4o"]["security"]
    0.89
    """
    found: dict[str, dict[str, float]] = {}
    for figure in published_figures():
        if figure.domain == domain:
            found.setdefault(figure.model, {})[figure.metric] = figure.mean
    return found


def published_agent_rows() -> list[LeaderboardRow]:
    """The published agents over all domains: accuracy and stability, in percent."""
    return [
        LeaderboardRow(
            model,
            "published",
            {
                name: Interval(100 * figures[name], None, None)
                for name in ("accuracy", "stability")
                if name in figures
            },
        )
        for model, figures in published_rows("all").items()
    ]
