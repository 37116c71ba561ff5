"""One workbook for each annotator: written, and read back."""

from toolassay.benchmarks.classic.chats.workbook.read import read_answers
from toolassay.benchmarks.classic.chats.workbook.write import write_workbook

__all__ = ["read_answers", "write_workbook"]
