"""What tools do, from descriptions of every kind."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.offline.own_tools.description_text import sentences_of
from toolassay.offline.own_tools.purpose import Purpose, purpose_of
from toolassay.tools import Parameter, Tool


def purpose(description: str, name: str = "x", **more: object) -> Purpose:
    return purpose_of(Tool(name, description, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("description", "phrase"),
    [
        # Imperatives.
        ("Check out a guest", "check out a guest"),
        ("Look up a word in the dictionary", "look up a word in the dictionary"),
        ("Book a room", "book a room"),
        ("List issues", "list issues"),
        ("Create issue", "create an issue"),
        ("Get invoice", "get the invoice"),
        ("Rate a film.", "rate a film"),
        ("Cancel a booking by its ID.", "cancel a booking"),
        ("Clean up temporary files", "clean up temporary files"),
        ("Log in to the shop", "log in to the shop"),
        ("Recursively search for files", "search for files"),
        ("Retrieve or set the access policy", "retrieve the access policy"),
        ("Create, update or delete a user", "create a user"),
        ("Create a new file or completely overwrite an existing file with new content.", "create a new file"),
        ("Upload an icon and starts its review.", "upload an icon"),
        ("Unapprove a commit", "unapprove a commit"),
        ("Check whether a room is free on a day", "check whether a room is free on a day"),
        ("Convert a given number from one base to another", "convert a number from one base to another"),
        # Third person.
        ("Lists all repositories of an organisation", "list all repositories of an organisation"),
        ("Cancels a booking. Needs the code.", "cancel a booking"),
        ("Searches the catalogue", "search the catalogue"),
        ("Geocodes an address.", "geocode an address"),
        ("Returns a list of films.", "get a list of films"),
        ("Provides the forecast for a city", "get the forecast for a city"),
        ("Echoes back the message", "echo back the message"),
        ("Shows the working tree status", "show the working tree status"),
        # Openers.
        ("This endpoint allows you to export an invoice.", "export an invoice"),
        ("This tool lets users cancel a booking", "cancel a booking"),
        ("Use this tool to send a message.", "send a message"),
        ("Used to delete a file at a specified path.", "delete a file at a path"),
        ("A tool that can look up train times.", "look up train times"),
        ("This API is used for cropping images", "crop images"),
        ("You can use this endpoint to rename a board.", "rename a board"),
        ("Allows mapping from old identifiers to new ones", "map from old identifiers to new ones"),
        # Noun phrases and titles.
        ("Guest profile lookup", "look up the guest profile"),
        ("Sprint status", "get the sprint status"),
        ("Phone Validation", "validate the phone"),
        ("List of account topups in CSV", "list account topups"),
        ("List Organization Repositories", "list organization repositories"),
        ("DELETE ALL OLD INVOICES", "delete all old invoices"),
        # Several sentences, labels, Markdown, HTML.
        ("[DEPRECATED] Lists the boards.", "list the boards"),
        ("(beta) Create a label", "create a label"),
        ("NOTE: requires admin rights.\nDeletes a user.", "delete a user"),
        ("## Rooms\n\n- Lists **free** rooms.", "list free rooms"),
        ("<p>Updates an <b>existing</b> person.</p>", "update a person"),
        ("get credits Get the credits of a film", "get credits"),
        ("Get providers   Returns a list of providers", "get providers"),
        ("See [the handbook](https://a.example/b). Archives a card.", "archive a card"),
        ("```json\n{}\n```\nPrints a label for a parcel", "print a label for a parcel"),
        # What a request would not say.
        ("Get the films, such as dramas.", "get the films"),
        ("Get a user using the given ID", "get a user"),
        ("Get your list of dictionaries", "get my list of dictionaries"),
        ("Get the settings of the authenticated user", "get the settings"),
        ("Add a track to the current user's playlist", "add a track to my playlist"),
        ("Create an hour entry", "create an hour entry"),
        ("Get image/photo metadata", "get image metadata"),
    ],
)
def test_the_action_of_a_description(description: str, phrase: str) -> None:
    found = purpose(description)
    assert (found.imperative, found.is_certain) == (phrase, True)


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("listRepos", "list repos"),
        ("guest_profile_lookup", "look up the guest profile"),
        ("GetMovieReleaseDate", "get the movie release date"),
        ("orders.list", "list orders"),
        ("order_status", "get the order status"),
        ("password_validate", "validate the password"),
    ],
)
def test_without_a_description_the_name_decides(name: str, phrase: str) -> None:
    assert purpose("", name).imperative == phrase


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("harbour_ledger", "See the handbook."),
        ("green_power_index", "CO2 measurements: https://a.example/b_c"),
        ("crm", "CRM"),
        ("x_y", "{placeholder} | `code` | ~~~"),
        ("weather", "The weather is nice, the sea is blue."),
    ],
)
def test_where_nothing_is_sure_the_tool_is_named_by_its_words(name: str, description: str) -> None:
    found = purpose(description, name)
    assert not found.is_certain
    assert re.fullmatch(r"take care of the [A-Za-z ]+|take care of this task", found.imperative)
    assert name not in found.imperative or "_" not in name


def test_a_tool_that_only_reads_gets_what_its_title_names() -> None:
    assert purpose("Nearest stations", source={"method": "GET"}).imperative == "get nearest stations"
    assert not purpose("Nearest stations").is_certain


def test_a_word_of_the_parameters_is_no_name() -> None:
    tool = Tool("x", "Create Playlist", parameters=(Parameter("playlist_id"),))
    assert purpose_of(tool).imperative == "create a playlist"


@pytest.mark.parametrize(
    ("description", "head", "result"),
    [
        ("Get the details of a film", "details", "film"),
        ("Search for films", "films", "films"),
        ("Create an invoice", "invoice", "invoice"),
        ("List all open orders", "orders", "orders"),
    ],
)
def test_the_noun_of_the_object_and_of_the_result(description: str, head: str, result: str) -> None:
    found = purpose(description)
    assert (found.head, found.result) == (head, result)


def test_forms_of_the_verb() -> None:
    found = purpose("Check out a guest")
    assert (found.gerund, found.participle) == ("checking out a guest", "checked")


@given(st.text(max_size=300), st.text(max_size=40))
def test_any_text_gives_a_plain_phrase(description: str, name: str) -> None:
    text = purpose(description, name or "x").imperative
    assert 0 < len(text) <= 200
    assert text == " ".join(text.split())
    assert not re.search(r"[{}<>`|\n]|https?:", text)
    words = text.lower().split()
    assert all(one != other for one, other in itertools.pairwise(words))


def test_a_long_description_is_read_in_part() -> None:
    assert purpose("Deletes a user. " + "x" * 100_000).imperative == "delete a user"
    assert purpose("[" * 50_000 + "Deletes a user.").imperative


def test_remarks_are_no_sentences() -> None:
    assert sentences_of("Note: slow. Requires a key. Lists rooms! e.g. doubles") == [
        "slow",
        "Lists rooms! e.g. doubles",
    ]
