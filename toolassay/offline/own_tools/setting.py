"""The language of a library, and a setting for its requests, from its own nouns."""

from __future__ import annotations

from random import Random

from toolassay.tools import ToolLibrary


def is_english(library: ToolLibrary) -> bool:
    """Whether the descriptions of the tools are in English; True if there is too little text to decide."""
    raise NotImplementedError


def setting_of(library: ToolLibrary, rng: Random) -> str:
    """A sentence that says why the request is made, from the nouns of the library; empty if unsure.

    Args:
        library: The tools.
        rng: The random numbers of this request alone.
    """
    raise NotImplementedError
