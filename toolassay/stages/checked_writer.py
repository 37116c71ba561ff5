"""The lines of each sample for the output files of `toolassay check`, and the files they are written to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Literal

from toolassay.errors import ToolassayError
from toolassay.gates.gate import Level
from toolassay.gates.gate_pipeline import Inspection

Output = Literal[
    "gates", "rejected", "repairs", "passed", "passed requests", "quarantine", "quarantine requests"
]
"""An output file: `gates.jsonl`, `rejected.json`, `repairs.jsonl`, or the labels or requests of a level."""
_KEPT: Mapping[Level, tuple[Output, Output]] = {
    "pass": ("passed", "passed requests"),
    "quarantine": ("quarantine", "quarantine requests"),
}


class SampleLines:
    """The lines of some samples for each file. Any process can make them."""

    def __init__(self) -> None:
        self._lines: dict[Output, list[str]] = {}

    def add(self, inspection: Inspection, facts: Mapping[str, Any], repairs: list[dict[str, Any]]) -> None:
        """Add one sample.

        Args:
            inspection: Findings of the gates.
            facts: Additional fields of its line in `gates.jsonl`.
            repairs: Changes to the sample.
        """
        gold, line = inspection.gold, inspection.to_json()
        self._add("gates", {**line, **facts})
        for repair in repairs:
            self._add("repairs", repair)
        if inspection.level not in _KEPT:
            self._add("rejected", {**gold.record, "findings": line["findings"]})
            return
        labels, requests = _KEPT[inspection.level]
        self._add(labels, gold.record)
        self._add(requests, {"id": gold.id, "user_request": gold.request})

    def _add(self, output: Output, value: Mapping[str, Any]) -> None:
        self._lines.setdefault(output, []).append(json.dumps(value, ensure_ascii=False) + "\n")

    def text(self, output: Output) -> str:
        """The lines for a file."""
        return "".join(self._lines.get(output, ()))


class CheckedWriter:
    """Writes samples in input order.

    Args:
        files: The open output files with their paths; without "repairs" if repair was not requested.
    """

    def __init__(self, files: Mapping[Output, tuple[IO[str], Path]]) -> None:
        self._files = files

    def write(self, lines: SampleLines) -> None:
        """Write the next samples.

        Raises:
            ToolassayError: A file cannot be written (names it).
        """
        for output, (stream, path) in self._files.items():
            try:
                stream.write(lines.text(output))
            except OSError as error:
                raise ToolassayError(
                    f"cannot write: {error.strerror or error}",
                    file=path,
                    fix="check the folder's permissions and space",
                ) from error
