"""A server of the SDK that keeps remarks on the items of a club: `clubhouse.py FILE`, a JSON file.

Lists are named "items", an argument in a list has the name of the list around it, and forms of days and times
are in descriptions only.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs it for lists of these before Python 3.12

READS = ToolAnnotations(read_only_hint=True)
SEED = {
    "Tern": ["nine metres long", "needs new rope"],
    "Old shed": ["locked on Fridays", "smells of tar"],
    "Grill": ["takes coal"],
}
Clock = Annotated[str, Field(description="When it begins, in 24-hour format (HH:MM)")]
Day = Annotated[str, Field(description="The date, written DD.MM.YYYY")]


class Remarks(TypedDict):
    """Remarks to add."""

    itemName: Annotated[str, Field(description="The name of the item to add the remarks to")]
    contents: Annotated[list[str], Field(description="The contents of the remarks")]


def clubhouse(file: Path | None) -> tuple[MCPServer, dict[str, Any]]:
    """The server, and what it keeps: in a file if there is one."""
    server = MCPServer("club")
    kept: dict[str, Any] = {"items": {**SEED}, "times": []}
    if file is not None and file.exists():
        kept = json.loads(file.read_text())

    def save(**changed: Any) -> str:
        kept.update(changed)
        if file is not None:
            file.write_text(json.dumps(kept))
        return "done"

    @server.tool(annotations=READS)
    def read_register() -> dict[str, Any]:
        """Read the entire register."""
        return {"items": [{"name": name, "remarks": remarks} for name, remarks in kept["items"].items()]}

    @server.tool()
    def add_remarks(remarks: list[Remarks]) -> str:
        """Add new remarks to existing items in the register."""
        items = {**kept["items"]}
        for one in remarks:
            if one["itemName"] not in items:
                raise ToolError(f"Item with name {one['itemName']} not found")
            items[one["itemName"]] = [*items[one["itemName"]], *one["contents"]]
        return save(items=items)

    @server.tool()
    def book_grill(day: Day, start: Clock) -> str:
        """Book the grill."""
        try:
            when = datetime.strptime(f"{day} {start}", "%d.%m.%Y %H:%M")
        except ValueError as error:
            raise ToolError(f"it cannot be booked then: {error}") from None
        return save(times=[*kept["times"], when.isoformat()])

    return server, kept


def main(file: str) -> None:
    """Serve until the input ends."""
    logging.disable(logging.CRITICAL)
    clubhouse(Path(file))[0].run("stdio")


if __name__ == "__main__":
    main(sys.argv[1])
