"""Tool libraries for the writer's tests: the bundled ones, and some of domains it has never seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from toolassay.dataset import Sample
from toolassay.graph import ToolGraph
from toolassay.sampling import Sampler
from toolassay.tools import Parameter, Tool, ToolLibrary

ROOT = Path(__file__).resolve().parents[2]

INVENTED = ToolLibrary(
    [
        Tool(
            "Invoice Scanner",
            "Reads a scanned image of a bill and returns it as a structured invoice.",
            ("image",),
            ("invoice",),
        ),
        Tool(
            "Invoice Validator",
            "Validates an invoice against the tax rules and reports problems.",
            ("invoice",),
            ("text",),
        ),
        Tool("Invoice Total", "Calculates the total amount of an invoice.", ("invoice",), ("number",)),
        Tool(
            "Currency Converter", "Converts a number into another currency.", ("number", "text"), ("number",)
        ),
        Tool(
            "Parcel Outline",
            "Draws the outline of a land parcel from its written description.",
            ("text",),
            ("geojson",),
        ),
        Tool(
            "Map Buffer",
            "Buffers a geojson shape by a number of metres.",
            ("geojson", "number"),
            ("geojson",),
        ),
        Tool("Area Calculator", "Computes the surface area of a geojson shape.", ("geojson",), ("number",)),
        Tool("Map Intersect", "Intersects two geojson shapes.", ("geojson", "geojson"), ("geojson",)),
        Tool("Map Renderer", "Renders a geojson layer as a picture.", ("geojson",), ("image",)),
        Tool(
            "Payment Letter",
            "Generates a polite payment reminder for an invoice.",
            ("invoice",),
            ("text",),
        ),
        Tool("Number Speller", "Spells out a number in words.", ("number",), ("text",)),
        Tool("soil_profile", "", ("soil_sample",), ("report",)),
    ]
)

OFFICE = ToolLibrary(
    [
        Tool(
            "create_ticket",
            "Creates a support ticket for a customer.",
            parameters=(
                Parameter("title"),
                Parameter("priority", "string", "eg. low, high"),
                Parameter("customer_name"),
            ),
        ),
        Tool(
            "assignTicket",
            "Assigns a ticket to a member of the support team.",
            parameters=(Parameter("ticket_id", "integer"), Parameter("assignee")),
        ),
        Tool(
            "move-money",
            "Moves money between two bank accounts",
            parameters=(Parameter("amount", "number"), Parameter("fromAccount"), Parameter("toAccount")),
        ),
        Tool(
            "GreenhouseControl",
            "Controls the temperature of a greenhouse zone.",
            parameters=(
                Parameter("zone"),
                Parameter("temperature", "number"),
                Parameter("fan_on", "boolean"),
            ),
        ),
        Tool(
            "find flights",
            "Search flights by date and route",
            parameters=(
                Parameter("departure_city"),
                Parameter("arrival_city"),
                Parameter("date", "date"),
                Parameter("passengers", "integer"),
            ),
        ),
        Tool(
            "scheduleInterview",
            "Schedule an interview with a candidate",
            parameters=(Parameter("candidate"), Parameter("start_time", "datetime"), Parameter("duration")),
        ),
        Tool("logout", "Log the user out"),
        Tool("PublishPost", "", parameters=(Parameter("text"), Parameter("channel"))),
    ]
)

BARE = ToolLibrary(
    [
        Tool(
            "GetMovieReleaseDate", "[Movie Release Date] Retrieve the release date of a movie using its ID."
        ),
        Tool("SearchMovie", "[Search Movie] Search and find movies."),
        Tool("GetPersonImage", "[Person Image] Fetch the images of a person using ID"),
        Tool("file_modify", "Used to modify the content of an existing file."),
        Tool("order_tracking", "Order Tracking Tool"),
        Tool("book_flight", "Flight booking tool"),
        Tool("visa_application", "Visa Application Tool"),
        Tool("change_password", "Tool for changing account password"),
        Tool("restaurant_review", "Restaurant Review Query Tool"),
        Tool("clock_alarm_set", "Set a new alarm"),
        Tool("file_write", ""),
        Tool("update_contact_info", "Update user's contact information"),
    ]
)

OWN = ("office", "bare")
"""Libraries with parameters that nobody wrote phrases for."""
NAMES = ("huggingface", "multimedia", "dailylifeapis", "invented", "office", "bare")


@cache
def graph_of(name: str) -> ToolGraph:
    """The tool graph of one of the libraries."""
    if name in ("invented", "office", "bare"):
        library = {"invented": INVENTED, "office": OFFICE, "bare": BARE}[name]
        return ToolGraph.build(library, "resource" if name == "invented" else "temporal")
    library = ToolLibrary.load(ROOT / f"data_{name}" / "tool_desc.json")
    return ToolGraph.build(library, "temporal" if name == "dailylifeapis" else "resource")


def samples_of(graph: ToolGraph, count: int, *, seed: int, shape: str | None = None) -> Iterator[Sample]:
    """Samples of all shapes, or singles only."""
    shapes = {"single": 3, "chain": 7, "dag": 8} if shape is None else {shape: 1}
    return Sampler(graph, seed, shapes=shapes).samples(count)
