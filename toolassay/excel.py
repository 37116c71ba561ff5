"""Sheets for people to fill in, made with openpyxl: a text stays a text, whatever it begins with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

LONGEST_CELL = 32_767
# What XML 1.0 cannot hold, halves of surrogate pairs among it.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CUT = " […]"


def cell_text(text: str) -> str:
    r"""A text as a cell can hold it: no control characters, cut at 32,767 characters.

    >>> cell_text("bell\x07"), len(cell_text("x" * 40_000))
    ('bell�', 32767)
    """
    clean = _NOT_IN_XML.sub("�", text)
    # Excel counts UTF-16 units: an emoji is two.
    if len(clean.encode("utf-16-le")) // 2 <= LONGEST_CELL:
        return clean
    units = clean.encode("utf-16-le")[: 2 * (LONGEST_CELL - len(_CUT))]
    return units.decode("utf-16-le", errors="ignore") + _CUT


def write_head(excel: Any, sheet: Any, widths: Mapping[str, int]) -> None:
    """The names of the columns, which stay in sight; the sheet is locked.

    Args:
        excel: openpyxl.
        sheet: an empty one.
        widths: of the columns, in characters.
    """
    sheet.append(list(widths))
    for number, width in enumerate(widths.values(), start=1):
        sheet.cell(1, number).font = excel.styles.Font(bold=True)
        sheet.cell(1, number).alignment = wrapped(excel)
        sheet.column_dimensions[excel.utils.get_column_letter(number)].width = width
    sheet.freeze_panes = "A2"
    sheet.protection.sheet = True
    # Locked cells may still be made wider, and looked through.
    sheet.protection.formatColumns = sheet.protection.formatRows = False


def write_row(excel: Any, sheet: Any, number: int, values: Sequence[str | int]) -> None:
    """One row, counted from 1; an empty text leaves its cell empty."""
    for column, value in enumerate(values, start=1):
        cell = sheet.cell(number, column)
        cell.alignment = wrapped(excel)
        if isinstance(value, int):
            cell.value = value
        elif value:
            cell.value = cell_text(value)
            cell.data_type = "s"  # whatever it begins with
            cell.number_format = "@"
            cell.quotePrefix = True


def unlock(excel: Any, cell: Any) -> None:
    """Let people write into a cell of a locked sheet."""
    cell.protection = excel.styles.Protection(locked=False)
    cell.alignment = wrapped(excel)


def offer_choices(excel: Any, sheet: Any, formula: str, what: str, columns: range, last: int) -> None:
    """A drop-down in the rows from 2 to `last` of some columns.

    Args:
        excel: openpyxl.
        sheet: where.
        formula: the choices: a range of cells, or texts in quotes with commas between.
        what: to choose, in words.
        columns: counted from 1.
        last: row.
    """
    rule = excel.worksheet.datavalidation.DataValidation(
        type="list", formula1=formula, allow_blank=True, showErrorMessage=True
    )
    rule.errorTitle, rule.error = "Not in the list", f"Choose {what}, or leave the cell empty."
    first, end = (excel.utils.get_column_letter(column) for column in (columns[0], columns[-1]))
    rule.add(f"{first}2:{end}{last}")
    sheet.add_data_validation(rule)


def wrapped(excel: Any) -> Any:
    """How long texts stand in a cell."""
    return excel.styles.Alignment(wrap_text=True, vertical="top")
