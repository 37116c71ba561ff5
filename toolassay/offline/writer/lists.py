"""The word lists of the writer: JSON files beside the code."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_list(name: str) -> Any:
    """The content of `data/{name}.json`."""
    return json.loads(files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8"))
