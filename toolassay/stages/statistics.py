"""`statistics.json`: settings, progress and result of a generation, one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from toolassay.errors import ToolassayError
from toolassay.locks import open_regular

_EVERY = 100  # samples per line of progress


class Statistics:
    """Appends lines to `statistics.json`: at the start, every 100 samples and at the end.

    Raises:
        ToolassayError: A method cannot write the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._count = 0

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Write the settings. They must not contain an API key."""
        self._append("started", settings)

    def count(self) -> None:
        """Count one finished sample."""
        self._count += 1
        if self._count % _EVERY == 0:
            self._append("running", {"done": self._count})

    def end(self, facts: Mapping[str, Any]) -> None:
        """Write the result."""
        self._append("ended", facts)

    def _append(self, event: str, facts: Mapping[str, Any]) -> None:
        line = {"event": event, "time": datetime.now().isoformat(timespec="seconds"), **facts}
        try:
            with open_regular(self._path, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ToolassayError(
                f"cannot be written: {error.strerror}",
                file=self._path,
                fix="check the folder's permissions and space",
            ) from error
