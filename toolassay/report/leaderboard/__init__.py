"""Models side by side: the rows, and one renderer a format. What is shown is in percent."""

from toolassay.report.leaderboard.board import Board, Row
from toolassay.report.leaderboard.csv_table import csv_table
from toolassay.report.leaderboard.latex import latex_table
from toolassay.report.leaderboard.markdown import markdown_table

__all__ = ["Board", "Row", "csv_table", "latex_table", "markdown_table"]
