"""`statistics.json`: what generation was asked, how far it is, how it ended; one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from toolassay.errors import ToolassayError

_EVERY = 100


class Statistics:
    """Appends to `statistics.json`: a line at the start, one per 100 samples, one at the end.

    Raises:
        ToolassayError: from each method, where the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._count = 0

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Note what was asked. No key may be among `settings`."""
        self._append("started", settings)

    def count(self) -> None:
        """One sample more is done."""
        self._count += 1
        if self._count % _EVERY == 0:
            self._append("running", {"done": self._count})

    def end(self, facts: Mapping[str, Any]) -> None:
        """Note how it ended."""
        self._append("ended", facts)

    def _append(self, event: str, facts: Mapping[str, Any]) -> None:
        line = {"event": event, "time": datetime.now().isoformat(timespec="seconds"), **facts}
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ToolassayError(
                f"cannot be written: {error.strerror}",
                file=self._path,
                fix="check the folder's permissions and space",
            ) from error
