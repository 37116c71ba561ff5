"""What two spellings of a request have in common."""

from __future__ import annotations

from typing import Any

import pytest

from toolassay.plans.gold import Gold
from toolassay.variety.near_duplicates import PlanDigest, content, exact_form, plain, sorted_digits, words

REQUEST = "I'd like to crop example.jpg by 1.5, then e-mail it to Zoë on 2026-07-22!"


@pytest.mark.parametrize(
    "spelled",
    [
        REQUEST.upper(),
        REQUEST.replace("'", "’"),
        REQUEST.replace("e-mail", "email"),
        REQUEST.replace("ë", "e\u0308"),
        REQUEST.replace("crop", "ｃｒｏｐ"),
        f"\ufeff{REQUEST}",
    ],
)
def test_spelling_does_not_count(spelled: str) -> None:
    assert exact_form(spelled) == exact_form(REQUEST)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.5", "15"), ("1, 23", "12, 3"), ("C", "C#"), ("3 + 5", "3 - 5"), ("5 °C", "-5 °C"), ("€ 5", "$ 5")],
)
def test_what_means_something_counts(one: str, other: str) -> None:
    assert exact_form(f"Work out {one}.") != exact_form(f"Work out {other}.")


def test_a_dash_between_words_or_in_a_date_is_no_minus() -> None:
    assert exact_form("a-b on 2026-07-22") == exact_form("a b on 2026 07 22")


@pytest.mark.parametrize(
    "said",
    [
        "Please crop the photo, I do not need it bigger.",
        "Hello! Could you crop the photo? I do not need it bigger. Thanks!",
        "I would like you to crop the photo. I do not need it bigger. Thank you very much in advance.",
    ],
)
def test_courtesy_is_not_content(said: str) -> None:
    assert content(said) == "crop photo not bigger"


def test_a_request_of_courtesy_alone_keeps_its_words() -> None:
    assert content("Could you help me?") == "could you help me"
    assert content("?!") == "?!" and content("") == ""


def test_languages_without_blanks_are_cut_into_letters() -> None:
    assert words("画像を切る crop") == ["画", "像", "を", "切", "る", "crop"]


def test_any_text_is_read() -> None:
    for text in ("", " ", "\ud800", "İ", "ß" * 3, "\u200b"):
        assert isinstance(exact_form(text), str) and isinstance(content(text), str)
    assert plain("Straße") == plain("STRASSE")


def test_figures_compare_in_any_order() -> None:
    assert sorted_digits("at 7 on 2026-07-22") == sorted_digits("on 22.07.2026, at 7")


def plan_digest(*nodes: tuple[str, Any]) -> int:
    given = [{"task": tool, "arguments": [{"name": "a", "value": value}]} for tool, value in nodes]
    return PlanDigest.of(Gold.of({"id": 1, "task_nodes": given})).whole


def test_objects_and_lists_in_plans_count_by_their_values() -> None:
    assert plan_digest(("t", {"x": 1, "y": [2]})) == plan_digest(("t", {"y": [2], "x": 1}))
    assert plan_digest(("t", {"x": 1})) != plan_digest(("t", {"x": 2}))
    assert plan_digest(("t", ["p", "q"])) != plan_digest(("t", ["q", "p"]))


def test_a_reference_inside_of_a_value_names_its_tool_whatever_its_place() -> None:
    first = plan_digest(("u", "x"), ("t", ["<node-0>"]))
    assert first == plan_digest(("t", ["<node-1>"]), ("u", "x"))
    assert first != plan_digest(("u", "x"), ("t", ["<node-1>"]))
