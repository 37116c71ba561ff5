"""Pictures and pages. What draws is imported when it is asked for: matplotlib is heavy."""

from toolassay.report.graph_page import write_graph_page
from toolassay.report.graph_picture import draw_graph
from toolassay.report.sample_picture import draw_sample

__all__ = ["draw_graph", "draw_sample", "write_graph_page"]
