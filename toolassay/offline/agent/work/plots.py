"""Charts."""

from __future__ import annotations

from datetime import timedelta

from toolassay.offline.agent.desk import Made, Steps, figures
from toolassay.offline.agent.reading import Reading

_SOURCES = ("direct", "referral", "search engine", "social media")
_KINDS = {"bar": ("bar", "bars"), "scatter": ("scatter",), "histogram": ("histogram", "histograms")}


def calls(reading: Reading, condition: bool) -> Steps[list[Made] | None]:
    """The charts of the figures that a request names, or of the traffic source it describes."""
    if not reading.has("charts?", "plot", "histograms?", "bars", "line"):
        return None
    if not condition:
        return []
    past = [day for day in reading.days if day < reading.today]
    first, last = min(past), max(past)
    alone = reading.has("alone", "one day", "no other day")
    if first == last and not alone:
        last = reading.today - timedelta(days=1)
    kind = next((kind for kind, words in _KINDS.items() if reading.has(*words)), "line")
    values = reading.metrics
    if not values and reading.sources:
        values = [_value(name) for name in reading.sources]
    if not values:
        counts = {}
        for name in _SOURCES:
            counts[name] = sum((yield from figures(name, first, last)).values())
        best = min if reading.has("fewest", "least", "smallest") else max
        values = [_value(best(counts, key=counts.__getitem__))]
    return [
        (
            "analytics.create_plot",
            {"time_min": str(first), "time_max": str(last), "value_to_plot": value, "plot_type": kind},
        )
        for value in values
    ]


def _value(source: str) -> str:
    return f"visits_{source.replace(' ', '_')}"
