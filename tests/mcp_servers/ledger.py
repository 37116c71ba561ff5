"""A server without packages that keeps a ledger in its working directory: `ledger.py RECORD`.

A call of `add` appends a line to `ledger.txt`. Each call appends one to RECORD, which is in no copy; it also
has the number of the process.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .standard_streams import READS, serve, tool
else:  # as a script
    from standard_streams import READS, serve, tool

RECORD = Path(sys.argv[1] if len(sys.argv) > 1 else os.devnull)  # doctests import it without arguments
LEDGER = Path("ledger.txt")


def record(line: str) -> None:
    """Append a line outside of the copy."""
    with RECORD.open("a") as file:
        file.write(f"{line}\n")


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a call."""
    record(f"{name} {arguments.get('key')}")
    time.sleep(0.01)
    if name == "add":
        with LEDGER.open("a") as file:
            file.write(f"{arguments['key']} {arguments['value']}\n")
    lines = LEDGER.read_text().splitlines()
    return {"key": arguments.get("key"), "lines": len(lines)}


if __name__ == "__main__":
    record(f"pid {os.getpid()}")
    serve("ledger", [tool("look", "", READS), tool("add", "")], called)
