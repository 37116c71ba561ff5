"""Servers that refuse for many reasons: every tool is accepted, and no link that is right is removed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent

from examples.booking_desk import Desk, bookings, customers
from tests.mcp_servers.clubhouse import SEED, clubhouse
from toolassay.executors.executor import CallResult, Environment, OpenExecutor, Refusal, State
from toolassay.graph import Dependency, FieldPair
from toolassay.graph.derive.derivation import derive_dependencies
from toolassay.live_values.candidates import Known
from toolassay.live_values.collector import Collector
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.tools.results import parsed_text

GOOD_LINKS = {
    (source, target): argument
    for argument, sources, targets in (
        (
            "customer_id",
            "list_customers find_customers add_customer get_booking list_bookings create_booking",
            "get_customer create_booking",
        ),
        ("room_id", "list_rooms find_free_rooms", "create_booking"),
        (
            "booking_id",
            "list_bookings create_booking",
            "get_booking change_dates cancel_booking create_invoice",
        ),
        ("invoice_id", "list_invoices create_invoice", "pay_invoice"),
        ("payment_id", "list_payments pay_invoice", "refund_payment"),
    )
    for source in sources.split()
    for target in targets.split()
}
"""Links that are right, with the argument; each runs for some of the rows."""


Started = tuple[MCPServer, Callable[[], State]]


def desk() -> Started:
    server, kept = MCPServer("desk"), Desk(Path(":memory:"))
    customers(server, kept)
    bookings(server, kept)
    return server, lambda: {"rows": [*kept.base.iterdump()]}


def club() -> Started:
    server, kept = clubhouse()
    return server, lambda: {"items": {**kept["items"]}, "times": [*kept["times"]]}


class InProcess(OpenExecutor):
    """A server without a process: each environment has one of its own."""

    is_isolated = True

    def __init__(self, start: Callable[[], Started]) -> None:
        self.start = start

    def is_read_only(self, tool: Tool) -> bool:
        return tool.annotations.get("readOnlyHint") is True

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[Environment]:
        yield InProcessEnvironment(*self.start())


class InProcessEnvironment:
    def __init__(self, server: MCPServer, kept: Callable[[], State]) -> None:
        self.server, self.kept = server, kept

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        try:
            answer = await self.server.call_tool(tool.id, dict(arguments))
        except ToolError as error:
            raise Refusal(str(error)) from None
        assert isinstance(answer, CallToolResult)
        found, (block, *_) = answer.structured_content, answer.content or [TextContent(text="")]
        text = block.text if isinstance(block, TextContent) else ""
        return CallResult.of(parsed_text(text) if found is None else found)

    async def state(self) -> State | None:
        return self.kept()


async def library(start: Callable[[], Started]) -> ToolLibrary:
    return ToolLibrary(
        [
            Tool(
                one.name,
                one.description or "",
                input_schema=one.input_schema,
                output_schema=one.output_schema,
                annotations={"readOnlyHint": bool(one.annotations and one.annotations.read_only_hint)},
            )
            for one in await start()[0].list_tools()
        ]
    )


async def test_every_tool_is_accepted_and_no_right_link_is_removed() -> None:
    tools = await library(desk)
    collector = Collector(InProcess(desk), tools, Known(), allow_writes=True, seed=3)
    found = await collector.collect()
    assert (found.unusable, found.calls < 400) == ({}, True)
    made = found.values["create_booking"]
    assert all(start < end for start, end in zip(made["start_date"], made["end_date"], strict=True))
    observed = ToolLibrary(
        [replace(tool, output_schema=found.schemas.get(tool.id, tool.output_schema)) for tool in tools]
    )
    right = [
        link
        for link in derive_dependencies(observed)
        if (link.source, link.target) in GOOD_LINKS and link.fields
    ]
    assert len(right) > 10
    pair = FieldPair("result[].customer_id", "booking_id")
    wrong = Dependency("list_customers", "cancel_booking", fields=(pair,))
    await collector.try_links([*right, wrong], observed)
    assert set(found.refuted) == {(wrong.source, wrong.target)}
    assert "no booking_id" in found.refuted[wrong.source, wrong.target]


async def test_forms_in_descriptions_and_names_of_lists_do_not_mislead() -> None:
    tools = await library(club)
    found = await Collector(InProcess(club), tools, Known(), allow_writes=True, seed=1).collect()
    assert found.unusable == {}
    assert {*found.values["add_remarks"]["remarks.itemName"][0]} <= {*SEED}
    assert all(len(day.split(".")) == 3 for day in found.values["book_grill"]["day"])
