"""A library whose results are unknown, and a model that answers for the prompts of proposals."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.support.builders import imported_tool
from toolassay.link_proposals.proposal import Proposal, ProposedField, ProposedLink
from toolassay.serving.chat_server import AnswerFunction
from toolassay.serving.completions import Received, Reply
from toolassay.tools.library import ToolLibrary

TEXT = {"type": "string"}
Lines = list[dict[str, Any]]
Answer = Callable[[Lines, Lines], Any]


def nodes(description: str = "Finds an order by its number.") -> list[dict[str, Any]]:
    """Tools about users, orders and categories; only `list_users` says what it returns."""
    users = {"users": {"type": "array", "items": {"type": "object", "properties": {"id": TEXT}}}}
    return [
        imported_tool("find_order", description, {"number": TEXT}, ["number"]),
        imported_tool("ship_parcel", "Ships a parcel.", {"parcel_code": TEXT, "notify": {"type": "boolean"}}),
        imported_tool(
            "list_users", "Lists users.", {"page": TEXT}, output={"type": "object", "properties": users}
        ),
        imported_tool("open_category", "Opens a category.", {"category_id": TEXT}, ["category_id"]),
        imported_tool("invite", "Invites somebody.", {"email": TEXT, "guest": TEXT}, ["email"]),
    ]


def library(description: str = "Finds an order by its number.") -> ToolLibrary:
    return ToolLibrary.from_json({"nodes": nodes(description)})


def flow(source: str, field: str, target: str, argument: str) -> ProposedLink:
    return ProposedLink(source, field, target, argument, f"{field} fills {argument}")


def proposal(tool: str, *links: ProposedLink, **fields: Any) -> Proposal:
    """A proposal; `fields` are types by path."""
    return Proposal([ProposedField(*one) for one in fields.items()], [*links], tool, "acme/one")


def shown(prompt: str) -> tuple[Lines, Lines]:
    """The tools that a prompt is about, and the others."""
    tools, _, others = prompt.partition("# TOOLS #\n")[2].partition("\n\n# OTHER TOOLS #\n")
    others = others.partition("\n\n# YOUR ANSWER #")[0].replace("(none)", "")
    read_tools, read_others = ([json.loads(line) for line in part.splitlines()] for part in (tools, others))
    return read_tools, read_others


def ship_what_was_found(tools: Lines, others: Lines) -> dict[str, Any]:
    """What a model answers that knows that orders have parcels."""
    link = {"from": "find_order", "field": "parcels[].code", "to": "ship_parcel", "argument": "parcel_code"}
    fields = [{"path": "parcels[].code", "type": "string"}, {"path": "total", "type": "number"}]
    links = [{**link, "reason": "its parcels", "when": "only if it is paid"}]
    proposals = [{"tool": "find_order", "fields": fields, "links": links}]
    return {"proposals": proposals if "find_order" in [tool["id"] for tool in tools] else []}


def proposer(answer: Answer = ship_what_was_found) -> AnswerFunction:
    """A model whose answer to each prompt is that of `answer`; a text is sent as it is."""

    async def reply(received: Received) -> Reply:
        value = answer(*shown(received.prompt))
        return Reply(value if isinstance(value, str) else json.dumps(value))

    return reply
