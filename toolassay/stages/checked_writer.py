"""Writes the lines of each sample to the output files of `toolassay check`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from toolassay.errors import ToolassayError
from toolassay.gates.gate import Level
from toolassay.gates.gate_pipeline import Inspection


class Lines:
    """A JSON Lines file; its errors name the file, also while several files are open.

    Args:
        stream: Open file.
        path: Path for error messages.
    """

    def __init__(self, stream: IO[str], path: Path) -> None:
        self._stream, self._path = stream, path

    def write(self, value: Mapping[str, Any]) -> None:
        """Write one line.

        Raises:
            ToolassayError: It cannot be written.
        """
        try:
            self._stream.write(json.dumps(value, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ToolassayError(
                f"cannot write: {error.strerror or error}",
                file=self._path,
                fix="check the folder's permissions and space",
            ) from error


class CheckedWriter:
    """Writes samples in input order.

    Args:
        gates: `gates.jsonl`, one line per sample.
        rejected: `rejected.json`: rejected labels with their findings.
        repairs: `repairs.jsonl`, one line per repair; None if repair was not requested.
        passed: Files of the passed labels and of their requests.
        quarantine: The same two files of the quarantined samples.
    """

    def __init__(
        self,
        gates: Lines,
        rejected: Lines,
        repairs: Lines | None,
        passed: tuple[Lines, Lines],
        quarantine: tuple[Lines, Lines],
    ) -> None:
        self._gates, self._rejected, self._repairs = gates, rejected, repairs
        self._kept: dict[Level, tuple[Lines, Lines]] = {"pass": passed, "quarantine": quarantine}

    def add(self, inspection: Inspection, facts: Mapping[str, Any], repairs: list[dict[str, Any]]) -> None:
        """Write one sample.

        Args:
            inspection: Findings of the gates.
            facts: Additional fields of its line in `gates.jsonl`.
            repairs: Changes to the sample.
        """
        line = inspection.to_json()
        self._gates.write({**line, **facts})
        if self._repairs is not None:
            for repair in repairs:
                self._repairs.write(repair)
        gold = inspection.gold
        kept = self._kept.get(inspection.level)
        if kept is None:
            self._rejected.write({**gold.record, "findings": line["findings"]})
            return
        kept[0].write(gold.record)
        kept[1].write({"id": gold.id, "user_request": gold.request})
