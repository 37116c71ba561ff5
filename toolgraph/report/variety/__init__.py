"""The pictures of a variety report."""

from toolgraph.report.variety.pictures import PICTURES, draw_variety

__all__ = ["PICTURES", "draw_variety"]
