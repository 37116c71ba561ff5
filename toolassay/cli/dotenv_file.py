"""Loads the `.env` file of the current folder."""

from __future__ import annotations

import os
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.models.options import DOTENV

_PREFIXES = ("OPENAI_", "AZURE_OPENAI_")


def load_environment() -> None:
    """Take variables that the environment lacks from `.env` in the current folder.

    The folder may be another person's. So the file sets only variables of OpenAI's SDK, no proxy and no
    certificate; an endpoint list may name others as its keys. `ModelOptions.check_sources` checks them.

    Raises:
        UsageError: The file is not UTF-8, or copies a variable of the environment.
    """
    from dotenv import dotenv_values

    path = Path(".env")
    if not path.is_file():
        return
    try:
        written, filled = (dotenv_values(path, interpolate=filled) for filled in (False, True))
    except UnicodeDecodeError:
        raise UsageError("not UTF-8 text", file=path, fix="save it as UTF-8") from None
    for name, value in written.items():
        if value and os.environ.get(name) in (None, DOTENV.get(name)):  # not set, or by an earlier call
            DOTENV[name] = value
            if not name.startswith(_PREFIXES):
                continue
            if filled[name] != value:
                raise UsageError(
                    f"{name} refers to another variable", file=path, fix="write the value itself"
                )
            os.environ[name] = value
