"""The names of a library's tools, made ready once."""

from __future__ import annotations

from functools import lru_cache

from toolassay.backinstruct.critics import Spellings
from toolassay.tools import ToolLibrary


@lru_cache(maxsize=8)
def names_of(library: ToolLibrary) -> Spellings:
    """The tools of a library, and which of them a text means."""
    return Spellings(library.ids)
