"""Loads the `.env` file of the current folder."""

from __future__ import annotations

from pathlib import Path

from toolassay.errors import UsageError


def load_environment() -> None:
    """Set environment variables from `.env` in the current folder; existing variables keep their values.

    Raises:
        UsageError: The file is not UTF-8.
    """
    from dotenv import load_dotenv

    try:
        load_dotenv(Path(".env"))
    except UnicodeDecodeError:
        raise UsageError("not UTF-8 text", file=".env", fix="save it as UTF-8") from None
