"""The lines that `toolassay check` writes of each sample."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from toolassay.errors import ToolassayError
from toolassay.gates.gate import Level
from toolassay.gates.gate_pipeline import Inspection


class Lines:
    """A file of JSON lines among several that are written at once.

    Args:
        stream: where the lines go.
        path: of the file, as errors name it.
    """

    def __init__(self, stream: IO[str], path: Path) -> None:
        self._stream, self._path = stream, path

    def write(self, value: Mapping[str, Any]) -> None:
        """Write one line.

        Raises:
            ToolassayError: it cannot be written; names this file, whichever others are open.
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
    """Takes samples in input order.

    Args:
        gates: a line a sample.
        rejected: the labels that are rejected, with their findings.
        repairs: a line a repair; None where nothing is mended.
        passed: the labels that pass, and their requests.
        quarantine: likewise of those in quarantine.
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
            inspection: what the gates say.
            facts: more for its line in `gates.jsonl`.
            repairs: what was mended in it.
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
