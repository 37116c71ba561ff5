"""The hand-written names and sentences of the generator: JSON files in `data/`."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def texts(name: str) -> Any:
    """The content of `data/{name}.json`."""
    return json.loads(files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8"))
