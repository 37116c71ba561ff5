"""An importer of spreadsheets: one tool a row, with the columns `name`, `description` and `arguments`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from toolassay.console.screen import SILENT, Screen
from toolassay.declarations import Option
from toolassay.errors import UsageError
from toolassay.importers.importer import Importer, Incoming, IncomingTool, Note, Skipped


@dataclass(frozen=True)
class SheetOptions:
    """Options of `toolassay import csv`."""

    delimiter: Annotated[str, Option("Character between two cells.")] = ","


class SheetImporter(Importer):
    """Reads CSV files."""

    name = "csv"
    title = "CSV file"
    help = "Import the tools of a spreadsheet."
    source_help = "SOURCE is a CSV file with the columns name, description and arguments."
    options = SheetOptions

    def read(self, source: str, options: SheetOptions, *, screen: Screen = SILENT) -> Incoming:
        """Read the rows; `arguments` are names with blanks between them, all of them texts."""
        try:
            with Path(source).open(encoding="utf-8", newline="") as stream:
                rows = list(csv.DictReader(stream, delimiter=options.delimiter))
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", file=source, fix="check the path") from None
        tools, skipped = [], []
        for number, row in enumerate(rows, start=2):
            if not row.get("name"):
                skipped.append(Skipped(f"line {number}", "has no name"))
                continue
            names = (row.get("arguments") or "").split()
            schema = {
                "type": "object",
                "properties": {name: {"type": "string"} for name in names},
                "required": names,
            }
            lost = [Note("price", "is not part of a tool")] if row.get("price") else []
            tools.append(IncomingTool(row["name"], row.get("description") or "", schema, losses=lost))
        return Incoming(tools, source, skipped)


IMPORTER = SheetImporter()
