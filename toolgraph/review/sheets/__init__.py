"""Reviews as a sheet, Excel or CSV, for people without a browser: written, and read back."""

from toolgraph.review.sheets.read import read_sheet
from toolgraph.review.sheets.rows import COLUMNS, rows_of
from toolgraph.review.sheets.take import take_sheet
from toolgraph.review.sheets.write import write_sheet

__all__ = ["COLUMNS", "read_sheet", "rows_of", "take_sheet", "write_sheet"]
