"""What descriptions say of values: choices, examples, forms and bounds, and what only looks like them."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.offline.own_tools.declared_parameters import schema_of_type
from toolassay.offline.own_tools.described_values import described
from toolassay.offline.own_tools.pattern_texts import PatternError, is_usable, matching_text
from toolassay.offline.own_tools.value_makers import NUMBERS, TEMPORAL, TEXTS, Subject, prefix_of
from toolassay.offline.own_tools.value_names import number_key, response_key, text_key, unstatable, words_of
from toolassay.offline.own_tools.value_pools import World
from toolassay.offline.own_tools.value_texts import is_code, is_speakable, varied


@pytest.mark.parametrize(
    ("description", "choices"),
    [
        ("single, double or suite", ("single", "double", "suite")),
        ("one of: red, blue, green", ("red", "blue", "green")),
        ("Sort order (asc|desc)", ("asc", "desc")),
        ("Units: 'metric' or 'imperial'", ("metric", "imperial")),
        ("State. Can be one of `open`, `closed`, or `all`", ("open", "closed", "all")),
        ("Priority (low/medium/high)", ("low", "medium", "high")),
        ("Breakfast: none, continental, full", ("none", "continental", "full")),
        ("The city or airport", ()),
        ("Location (city or address)", ()),
        ("Can be used with `name` and `id`", ()),
        ("Name of the user. Either this or the e-mail", ()),
        ("one of the customers", ()),
        ("Date (dd/mm/yyyy)", ()),
        ("string | null", ()),
    ],
)
def test_choices_are_values_and_not_nouns(description: str, choices: tuple[str, ...]) -> None:
    assert described(description).choices == choices


@pytest.mark.parametrize(
    ("description", "examples"),
    [
        ("ISO code, e.g. EUR", ("EUR",)),
        ("Zone (e.g., 'Asia/Tokyo', 'Europe/Oslo'). Or 'UTC'", ("Asia/Tokyo", "Europe/Oslo")),
        ("Symbol (e.g., BTC, ETH)", ("BTC", "ETH")),
        ("Place, e.g. Oslo, Norway", ("Oslo, Norway",)),
        ("How to go, e.g. walk, drive, fly etc.", ("walk", "drive", "fly")),
        ("Postal code. Example: 28546", ("28546",)),
        ("An example of use", ()),
    ],
)
def test_examples_end_where_the_list_ends(description: str, examples: tuple[str, ...]) -> None:
    assert described(description).examples == examples


@pytest.mark.parametrize(
    ("description", "form"),
    [
        ("Start (YYYY-MM-DD)", "date %Y-%m-%d"),
        ("as DD/MM/YYYY", "date %d/%m/%Y"),
        ("RFC 3339 timestamp", "moment"),
        ("24-hour format (HH:MM)", "time %H:%M"),
        ("ISO 3166-1 alpha-2 code", "country code"),
        ("the three-letter currency", "currency"),
        ("IATA code of the airport", "airport"),
        ("seconds since the epoch", "unix time"),
        ("a nice name", ""),
    ],
)
def test_forms_are_known_by_their_standards(description: str, form: str) -> None:
    assert described(description).form == form


@pytest.mark.parametrize(
    ("description", "bounds"),
    [
        ("between 1 and 5", (1, 5)),
        ("1-5 stars", (1, 5)),
        ("at most 50", (None, 50)),
        ("minimum 3", (3, None)),
        ("since 2026-05-14", (None, None)),
        ("5 to 30 characters", (None, None)),
    ],
)
def test_bounds_are_those_of_the_number(description: str, bounds: tuple[float | None, float | None]) -> None:
    assert (described(description).low, described(description).high) == bounds


def test_lengths_are_those_of_the_text() -> None:
    found = described("A code of 5 to 30 characters")
    assert (found.shortest, found.longest) == (5, 30)
    assert described("Max length 16").longest == 16
    assert described("at most 16 items").longest is None


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("guestEmail", "email"),
        ("email_id", "code"),
        ("room_type", "type word"),
        ("destination", "city"),
        ("subject_line", "subject"),
        ("updated", ""),
        ("candidate", ""),
        ("monkey", ""),
    ],
)
def test_the_last_words_of_a_name_decide(name: str, key: str) -> None:
    assert text_key(words_of(name)) == key


def test_numbers_secrets_and_paging_are_known_by_name() -> None:
    assert [
        number_key(words_of(name)) for name in ("number_of_guests", "orderNo", "max_price", "latitude")
    ] == [
        "people",
        "code",
        "money",
        "latitude",
    ]
    assert [unstatable(words_of(name)) for name in ("access_token", "nextPageToken", "svg_code", "city")] == [
        "secret",
        "paging",
        "unwritable",
        "",
    ]
    assert response_key(words_of("page_size")) == "paging"
    assert response_key(words_of("page_title")) == ""


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_every_kind_of_text_can_be_stated_and_varies(key: str) -> None:
    made = {
        TEXTS[key].make(World(random.Random(seed)), Subject(("name",), (), ("find", "room")))
        for seed in range(60)
    }
    assert all(map(is_speakable, made))
    assert len(made) > 1
    assert all(not text.endswith(".") and "penguin" not in text.casefold() for text in made)


def test_every_key_of_the_rules_has_a_maker() -> None:
    import toolassay.offline.own_tools.value_names as names

    assert {key for _, key in names._rules("texts")} <= TEXTS.keys() | TEMPORAL.keys()
    assert {key for _, key in names._rules("numbers")} <= NUMBERS.keys() | {
        "unix time",
        "latitude",
        "longitude",
    }


@given(st.from_regex(r"[A-Za-z]{1,3}-[0-9]{4,8}", fullmatch=True), st.integers(0, 9))
def test_a_varied_code_has_the_form_of_its_example(example: str, seed: int) -> None:
    made = varied(example, World(random.Random(seed)))
    assert is_code(example)
    assert [one.isdecimal() for one in made] == [one.isdecimal() for one in example]
    assert made.split("-")[0] == example.split("-")[0]


@pytest.mark.parametrize(
    "pattern",
    [
        "^[A-Z]{2}\\d{3}$",
        "^(?:a|b)+c?$",
        "^[^/]+$",
        "^(x)(\\1)$",
        "^\\w+@\\w+\\.org$",
        "^(?<year>\\d{4})$",
        "[^\\W\\d]",
    ],
)
def test_a_text_of_a_pattern_matches_it(pattern: str) -> None:
    python = pattern.replace("(?<year>", "(?P<year>")
    for seed in range(20):
        assert re.search(python, matching_text(pattern, random.Random(seed)))


def test_patterns_that_grow_without_bound_are_refused() -> None:
    with pytest.raises(PatternError):
        matching_text("((((a{99}){99}){99}){99})", random.Random(1))
    assert not is_usable("(((a{0,99}){0,99}){0,99})")
    assert is_usable("^[0-9a-f]{40}$")


def test_prefixes_come_from_the_noun() -> None:
    assert [prefix_of([word]) for word in ("bookings", "guest", "a", "")] == ["BK", "GS", "ID", "ID"]


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        ("List[str]", {"type": "array", "items": {"type": "string"}}),
        ("array of dates", {"type": "array", "items": {"type": "string", "format": "date"}}),
        ("low | high", {"enum": ["low", "high"]}),
        ("int | null", {"type": "integer"}),
        ("Literal['a', 'b']", {"enum": ["a", "b"]}),
        ("soil sample", {"type": "string", "x-kind": "soil sample"}),
    ],
)
def test_types_in_free_text_become_schemas(declared: str, schema: dict[str, object]) -> None:
    assert schema_of_type(declared) == schema
