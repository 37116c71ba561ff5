"""A server of visits that goes by the day of the variable TOOLASSAY_TODAY: `visits.py`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .standard_streams import READS, CallRefused, serve, tool
else:  # as a script
    from standard_streams import READS, CallRefused, serve, tool

VISIT = {"type": "object", "properties": {"guest": {"type": "string"}, "asked_on": {"type": "string"}}}
TOOLS = [
    {
        **tool(
            "find_visit", "Find the visit of a day to come.", READS, day={"type": "string", "format": "date"}
        ),
        "outputSchema": VISIT,
    }
]


def call(name: str, arguments: dict[str, Any]) -> Any:
    """The visit of a day; a day before today is refused."""
    today = os.environ.get("TOOLASSAY_TODAY", "")
    if arguments["day"] < today:
        raise CallRefused(f"{arguments['day']} is before {today}")
    return {"guest": "Ada Brook", "asked_on": today}


if __name__ == "__main__":
    serve("visits", TOOLS, call)
