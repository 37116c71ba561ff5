"""Five axes of a model on several benchmarks: accuracy, stability, cost, latency, security."""

from toolgraph.report.axes.axes import AXES, Axes
from toolgraph.report.axes.csv_table import csv_table
from toolgraph.report.axes.page import write_page
from toolgraph.report.axes.picture import draw_axes
from toolgraph.report.axes.reading import read_axes

__all__ = ["AXES", "Axes", "csv_table", "draw_axes", "read_axes", "write_page"]
