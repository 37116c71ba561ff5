"""The pictures of a variety report."""

from toolassay.report.variety.pictures import PICTURES, draw_variety

__all__ = ["PICTURES", "draw_variety"]
