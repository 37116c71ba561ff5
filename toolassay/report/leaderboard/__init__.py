"""Leaderboards: rows of models in order, and a table in each format. Scores are in percent."""

from toolassay.report.leaderboard.ranking import Board, LeaderboardRow
from toolassay.report.leaderboard.tables import csv_table, latex_table, markdown_table

__all__ = ["Board", "LeaderboardRow", "csv_table", "latex_table", "markdown_table"]
