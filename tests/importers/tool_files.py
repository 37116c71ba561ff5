"""Files of tools for the tests of importers, and what an importer reads of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolassay.importers.importer import Importer, Incoming

CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NO_ARGUMENTS = {"type": "object", "properties": {}}


def read(importer: Importer, folder: Path, *values: Any) -> Incoming:
    """Read one value as a JSON document, several as JSON Lines."""
    path = folder / "tools.json"
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return importer.read(str(path), importer.options())


def names(incoming: Incoming) -> Sequence[str]:
    return [tool.name for tool in incoming.tools]


def fields(incoming: Incoming) -> Sequence[str]:
    """The fields of all losses."""
    return [note.field for tool in incoming.tools for note in tool.losses]
