"""Pictures and pages. matplotlib is imported when a picture is drawn, as the import takes long."""

from toolassay.report.graph_page import write_graph_page
from toolassay.report.graph_picture import draw_graph
from toolassay.report.sample_picture import draw_sample

__all__ = ["draw_graph", "draw_sample", "write_graph_page"]
