"""Environment variables that configure the tests."""

from __future__ import annotations

import os
import warnings

from toolassay.version import OLD_NAME


def setting(name: str) -> str | None:
    """The value of `TOOLASSAY_<name>`; None if it is unset or empty.

    The variable with the package's old name works too, with a warning.
    """
    current, old = f"TOOLASSAY_{name}", f"{OLD_NAME.upper()}_{name}"
    value = os.environ.get(current)
    if not value and (value := os.environ.get(old)):
        warnings.warn(f"{old} is now {current}", DeprecationWarning, stacklevel=2)
    return value or None
