"""Reviews as a sheet, Excel or CSV, for people without a browser: written, and read back."""

from toolassay.review.sheets.read import read_sheet
from toolassay.review.sheets.rows import COLUMNS, rows_of
from toolassay.review.sheets.take import take_sheet
from toolassay.review.sheets.write import write_sheet

__all__ = ["COLUMNS", "read_sheet", "rows_of", "take_sheet", "write_sheet"]
