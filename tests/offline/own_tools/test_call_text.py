"""Calls in words: where values go, and what agrees with what."""

from __future__ import annotations

from typing import Any

import pytest

from toolassay.offline.fed_arguments import FedArgument
from toolassay.offline.own_tools.arguments import Kind, StatedValue
from toolassay.offline.own_tools.call_text import CallText, Source, call_text
from toolassay.offline.own_tools.purpose import Purpose
from toolassay.offline.own_tools.slots import slots_of
from toolassay.output_paths import EACH, Part

LOOK = Purpose("search", "", "for movies")
CREATE = Purpose("create", "", "an issue")


def stated(path: str, value: Any, kind: Kind) -> StatedValue:
    """A value at a path: `lines.0.sku`."""
    parts: tuple[Part, ...] = tuple(int(part) if part.isdigit() else part for part in path.split("."))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return StatedValue(parts, value, text, kind)


def written(
    purpose: Purpose,
    *values: tuple[str, Any, Kind],
    fed: tuple[FedArgument, ...] = (),
    source: Purpose = CREATE,
) -> CallText:
    slots = slots_of([stated(*value) for value in values], fed, "'")
    return call_text(purpose, slots, lambda one: Source(source, one.source, one.source == 0))


@pytest.mark.parametrize(
    ("purpose", "values", "action"),
    [
        (
            Purpose("check", "out", "a guest"),
            [("room_number", "214", "code")],
            "check out a guest for room 214",
        ),
        (Purpose("cancel", "", "a booking"), [("booking_code", "BK-2041", "code")], "cancel booking BK-2041"),
        (
            Purpose("get", "", "the details of a movie"),
            [("movie_id", 603, "integer")],
            "get the details of movie 603",
        ),
        (
            Purpose("get", "", "the movie reviews"),
            [("movie_id", 603, "integer")],
            "get the movie reviews with the movie ID 603",
        ),
        (
            Purpose("search", "", "for free rooms"),
            [
                ("arrival", "2026-05-14", "date"),
                ("departure", "2026-05-16", "date"),
                ("guests", 2, "integer"),
                ("room_type", "double", "choice"),
            ],
            "search for free rooms from 2026-05-14 to 2026-05-16 for 2 guests with the room type 'double'",
        ),
        (Purpose("book", "", "a room"), [("guests", 1, "integer")], "book a room for 1 guest"),
        (
            Purpose("list", "", "the pull requests of a repository"),
            [("repo", "blue-harbor", "word"), ("state", "open", "choice")],
            "list the pull requests of the repository 'blue-harbor' with the state 'open'",
        ),
        (
            Purpose("create", "", "a card"),
            [("name", "Fix the door", "name"), ("due", "2026-05-14", "date")],
            "create a card named 'Fix the door' with the due date 2026-05-14",
        ),
        (
            Purpose("move", "", "a file"),
            [("source", "/a.txt", "path"), ("destination", "/c.txt", "path")],
            "move a file from '/a.txt' to '/c.txt'",
        ),
        (
            Purpose("convert", "", "an amount", "between currencies"),
            [("amount", 250, "money"), ("from", "EUR", "currency"), ("to", "NOK", "currency")],
            "convert the amount 250 from EUR to NOK",
        ),
        (
            Purpose("refund", "", "an order"),
            [("amount", 20, "money"), ("currency", "EUR", "currency")],
            "refund an order with an amount of 20 EUR",
        ),
        (Purpose("open", "", "specific nodes"), [("names.0", "Ada", "name")], "open the node 'Ada'"),
        (
            Purpose("delete", "", "multiple entities"),
            [("entityNames.0", "A", "name"), ("entityNames.1", "B", "name")],
            "delete the entities 'A' and 'B'",
        ),
        (
            Purpose("get", "", "the contents of a file"),
            [("path", "/docs/a.txt", "path")],
            "get the contents of the file '/docs/a.txt'",
        ),
        (
            Purpose("search", "", "for files and directories"),
            [("path", "/srv", "path")],
            "search for files and directories in '/srv'",
        ),
        (
            Purpose("list", "", "the issues"),
            [("sort_by", "created", "choice"), ("since", "2026-01-02", "date")],
            "list the issues sorted by 'created' since 2026-01-02",
        ),
        (
            Purpose("set", "", "a timer"),
            [("duration_minutes", 30, "integer")],
            "set a timer with a duration of 30 minutes",
        ),
        (
            Purpose("take", "care of", "the guest desk", is_certain=False),
            [("guest_name", "Ada Lovelace", "person")],
            "take care of the guest desk with the guest name Ada Lovelace",
        ),
        (
            Purpose("list", "", "the orders"),
            [("include_drafts", False, "flag")],
            "list the orders without drafts",
        ),
        (
            Purpose("list", "", "the orders"),
            [("include_drafts", True, "flag")],
            "list the orders including drafts",
        ),
        (Purpose("create", "", "a page"), [("public", True, "flag")], "create a page marked as public"),
        (Purpose("create", "", "a page"), [("public", False, "flag")], "create a page not marked as public"),
        (
            Purpose("create", "", "a page"),
            [("auto_save", True, "flag")],
            "create a page with the setting 'auto save' turned on",
        ),
    ],
)
def test_a_value_goes_where_a_person_would_put_it(
    purpose: Purpose, values: list[tuple[str, Any, Kind]], action: str
) -> None:
    found = written(purpose, *values)
    assert (found.action, found.details) == (action, [])


def test_objects_in_a_list_have_a_sentence_each() -> None:
    found = written(
        Purpose("create", "", "an order"),
        ("lines.0.sku", "AB-12", "code"),
        ("lines.0.quantity", 2, "integer"),
        ("lines.1.sku", "AB-13", "code"),
        ("lines.1.quantity", 1, "integer"),
    )
    assert found.action == "create an order"
    assert found.details == [
        "The first line has the SKU AB-12 and the quantity 2.",
        "The second line has the SKU AB-13 and the quantity 1.",
    ]


def test_the_number_of_things_agrees_with_the_items_of_the_list() -> None:
    purpose = Purpose("create", "", "multiple new entities", "in the knowledge graph")
    one = written(purpose, ("entities.0.name", "Ada", "name"))
    two = written(purpose, ("entities.0.name", "Ada", "name"), ("entities.1.name", "Bo", "name"))
    assert one.action == "create an entity in the knowledge graph"
    assert two.action == "create two entities in the knowledge graph"


def test_more_than_a_sentence_holds_follows_in_sentences() -> None:
    found = written(
        Purpose("update", "", "a ticket"),
        ("note", "Call before nine in the morning", "text"),
        ("priority", "high", "choice"),
        ("tags.0", "door", "word"),
        ("tags.1", "lock", "word"),
    )
    assert found.action == "update a ticket"
    assert found.details == [
        "The note is 'Call before nine in the morning', the priority is 'high' and the tags are 'door' "
        "and 'lock'."
    ]


@pytest.mark.parametrize(
    ("purpose", "fed", "source", "action"),
    [
        (
            Purpose("pay", "", "an invoice"),
            FedArgument(("invoice_id",), 0, "<node-0>.id", ("id",)),
            CREATE,
            "pay that invoice",
        ),
        (
            Purpose("get", "", "the details of a movie"),
            FedArgument(("movie_id",), 0, "<node-0>.results[0].id", ("results", 0, "id")),
            LOOK,
            "get the details of the first movie found",
        ),
        (
            Purpose("get", "", "the details of a movie"),
            FedArgument(("movie_id",), 1, "<node-1>.id", ("id",)),
            CREATE,
            "get the details of the movie",
        ),
        (
            Purpose("delete", "", "an item"),
            FedArgument(("item_ids",), 0, "<node-0>[*].id", (EACH, "id")),
            CREATE,
            "delete all of the items",
        ),
        (
            Purpose("add", "", "a comment"),
            FedArgument(("issue_id",), 0, "<node-0>.id", ("id",)),
            CREATE,
            "add a comment to that issue",
        ),
        (
            Purpose("get", "", "the forecast"),
            FedArgument(("location",), 0, "<node-0>.city", ("city",)),
            CREATE,
            "get the forecast with the location from that issue",
        ),
    ],
)
def test_a_fed_argument_is_a_mention_of_what_an_earlier_step_gives(
    purpose: Purpose, fed: FedArgument, source: Purpose, action: str
) -> None:
    assert written(purpose, fed=(fed,), source=source).action == action


@pytest.mark.parametrize(
    ("others", "action"),
    [
        (("list animals",), "get the details of the movie"),
        (("delete a movie",), "get the details of the movie from the second step"),
        (("search for movies",), "get the details of the movie from the second step"),
    ],
)
def test_the_step_is_named_where_another_step_has_such_a_thing(others: tuple[str, ...], action: str) -> None:
    fed = FedArgument(("movie_id",), 1, "<node-1>.id", ("id",))
    slots = slots_of([], (fed,), "'")
    purpose = Purpose("get", "", "the details of a movie")
    found = call_text(
        purpose, slots, lambda one: Source(CREATE, one.source, is_previous=False, others=others)
    )
    assert found.action == action


def test_a_list_that_an_earlier_step_gives_is_something_found() -> None:
    fed = FedArgument(("order_number",), 0, "<node-0>", ())
    found = written(Purpose("cancel", "", "an order"), fed=(fed,), source=Purpose("list", "", "open orders"))
    assert found.action == "cancel the order found"


def test_two_parts_of_one_thing_name_it_once() -> None:
    code = FedArgument(("repo_id",), 0, "<node-0>[0].id", (0, "id"))
    name = FedArgument(("repo_name",), 0, "<node-0>[0].name", (0, "name"))
    found = written(
        Purpose("star", "", "a repository"),
        fed=(code, name),
        source=Purpose("search", "", "for repositories"),
    )
    assert found.action.count("the first repository found") == 1


@pytest.mark.parametrize(
    ("name", "value", "kind", "action"),
    [
        ("due_before", "2026-05-14", "moment", "list orders due before 2026-05-14"),
        ("due_within_days", 3, "integer", "list orders due within 3 days"),
        ("happened_at", "2026-05-14", "moment", "list orders that happened at 2026-05-14"),
        ("send_to", "a@b.org", "email", "list orders sent to a@b.org"),
        ("kg", 2.5, "number", "list orders with a value of 2.5 kg"),
        ("from", "Ada", "person", "list orders from Ada"),
        ("from_bin", "C-9", "text", "list orders with the source bin 'C-9'"),
        ("for_name", "Ada", "text", "list orders with the name 'Ada'"),
        ("any", "Ada", "text", "list orders with the value 'Ada'"),
    ],
)
def test_names_that_hold_prepositions_and_units(name: str, value: Any, kind: Kind, action: str) -> None:
    assert written(Purpose("list", "", "orders"), (name, value, kind)).action == action


def test_what_was_done_to_a_thing_is_a_sentence() -> None:
    found = written(Purpose("order", "", "a test"), ("sample_taken_at", "2026-05-14T10:00:00Z", "moment"))
    assert (found.action, found.details) == (
        "order a test",
        ["The sample was taken at 2026-05-14T10:00:00Z."],
    )


def test_items_have_measures_and_numbers_of_things() -> None:
    found = written(
        Purpose("write", "", "a prescription", "with one or more lines"),
        ("lines.0.drug", "meloxicam", "choice"),
        ("lines.0.dose_mg", 7.5, "number"),
        ("lines.0.times_per_day", 3, "integer"),
    )
    assert found.action == "write a prescription with a line"
    assert found.details == ["The line has the drug 'meloxicam', a dose of 7.5 mg and 3 times per day."]


def test_several_values_have_a_name_in_the_plural() -> None:
    found = written(
        Purpose("list", "", "orders"), ("priority.0", "vip", "choice"), ("priority.1", "low", "choice")
    )
    assert found.action == "list orders with the priorities 'vip' and 'low'"


def test_a_means_has_its_choice() -> None:
    found = written(Purpose("create", "", "a shipment", "with a carrier"), ("carrier", "norlog", "choice"))
    assert found.action == "create a shipment with the carrier 'norlog'"


def test_a_thing_and_a_part_of_it_are_both_mentioned() -> None:
    artist = FedArgument(("seed_artists",), 0, "<node-0>[0].artist", (0, "artist"))
    track = FedArgument(("seed_tracks",), 0, "<node-0>[0].id", (0, "id"))
    found = written(
        Purpose("get", "", "recommendations"), fed=(artist, track), source=Purpose("get", "", "my tracks")
    )
    assert found.action == "get recommendations with the first track and the seed artist from it"
