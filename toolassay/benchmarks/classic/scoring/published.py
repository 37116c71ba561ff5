"""The published leaderboard: five agents on the published data, which are not the data at hand."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Published:
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
def published_figures() -> tuple[Published, ...]:
    """All 141 figures.

    >>> len(published_figures()), published_figures()[0].metric
    (141, 'cost')
    """
    text = files("toolassay.benchmarks.classic").joinpath("published.csv").read_text(encoding="utf-8")
    return tuple(
        Published(
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
