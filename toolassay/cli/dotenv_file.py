"""Reads `.env` of the current folder into the environment."""

from __future__ import annotations

from pathlib import Path

from toolassay.errors import UsageError


def load_environment() -> None:
    """Read `.env` of the current folder, if there is one.

    Raises:
        UsageError: it is not UTF-8.
    """
    from dotenv import load_dotenv

    try:
        load_dotenv(Path(".env"))
    except UnicodeDecodeError:
        raise UsageError("not UTF-8 text", file=".env", fix="save it as UTF-8") from None
