"""The pictures of a variety report."""

from toolgraph.report.variety.pictures import draw_variety

__all__ = ["draw_variety"]
