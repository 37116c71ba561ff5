"""Five axes of a model on several benchmarks: accuracy, stability, cost, latency, security."""

from toolassay.report.axes.axes import AXES, Axes, by_outcome
from toolassay.report.axes.from_metrics import read_axes
from toolassay.report.axes.picture import draw_axes
from toolassay.report.axes.tables import csv_table

__all__ = ["AXES", "Axes", "by_outcome", "csv_table", "draw_axes", "read_axes"]
