"""The starts of a run, noted in its manifest: when, by which command, with what and where."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from toolassay.files import read_json, write_json
from toolassay.runs.manifest import MANIFEST

STARTS = "starts"
REFUSED = "refused_parameters"


class Start:
    """One start, added to the manifest in `folder`, which `open_run` has made.

    Made while the journal is open, so that no other process writes the manifest.

    Args:
        folder: of the run.
        facts: what there is to say when it begins.

    Raises:
        ToolassayError: from each method, where the manifest cannot be written.
    """

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        self._path = folder / MANIFEST
        self._manifest: dict[str, Any] = read_json(self._path)
        self._facts = {"time": _now(), **facts}
        self._manifest[STARTS] = [*_listed(self._manifest, STARTS), self._facts]
        self._write()

    def refused(self, model: str, endpoint: str, parameter: str, instead: str | None) -> None:
        """Note a parameter that an endpoint refuses, and the name that is sent instead, if one is."""
        fact = {"model": model, "endpoint": endpoint, "parameter": parameter, "instead": instead}
        noted = _listed(self._manifest, REFUSED)
        if fact not in noted:
            self._manifest[REFUSED] = [*noted, fact]
            self._write()

    def end(self, facts: Mapping[str, Any]) -> None:
        """Note when it ended, and how it went."""
        self._facts |= {"ended": _now(), **facts}
        self._write()

    def _write(self) -> None:
        write_json(self._path, self._manifest)


def refused_before(folder: Path, model: str, endpoint: str) -> dict[str, str | None]:
    """The parameters that an endpoint refused in earlier starts, and the names that were sent instead.

    Raises:
        UsageError: the manifest cannot be read.
    """
    path = folder / MANIFEST
    manifest = read_json(path) if path.exists() else {}
    return {
        str(fact.get("parameter")): fact.get("instead")
        for fact in _listed(manifest, REFUSED)
        if isinstance(fact, dict) and (fact.get("model"), fact.get("endpoint")) == (model, endpoint)
    }


def _listed(manifest: Any, name: str) -> list[Any]:
    value = manifest.get(name) if isinstance(manifest, dict) else None
    return value if isinstance(value, list) else []


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
