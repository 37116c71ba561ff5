"""A server of the SDK that keeps remarks on the items of a club in memory.

Lists are named "items", an argument in a list has the name of the list around it, and forms of days and times
are in descriptions only.
"""

from __future__ import annotations

from datetime import datetime
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


def clubhouse() -> tuple[MCPServer, dict[str, Any]]:
    """The server, and what it keeps."""
    server = MCPServer("club")
    kept: dict[str, Any] = {"items": {**SEED}, "times": []}

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
        kept["items"] = items
        return "done"

    @server.tool()
    def book_grill(day: Day, start: Clock) -> str:
        """Book the grill."""
        try:
            when = datetime.strptime(f"{day} {start}", "%d.%m.%Y %H:%M")
        except ValueError as error:
            raise ToolError(f"it cannot be booked then: {error}") from None
        kept["times"].append(when.isoformat())
        return "done"

    return server, kept
