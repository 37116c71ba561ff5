"""Numbers, shares and amounts of money, with the values they may mean."""

from __future__ import annotations

from decimal import Decimal

import pytest

from toolassay.text_values.numbers import (
    amounts_in,
    currency_names,
    currency_words,
    find_numbers,
    numbers_in,
    shares_in,
)
from toolassay.text_values.vocabulary import plain, with_digits


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,200.50", {"1200.50"}),
        ("1.200", {"1200", "1.200"}),
        ("1 200", {"1200", "1", "200"}),
        ("-3", {"-3"}),
        ("2 million", {"2000000"}),
        ("5 m", {"5", "5000000"}),
        ("b2", set()),
    ],
)
def test_numbers_in_digits(text: str, values: set[str]) -> None:
    assert {value for _, found in find_numbers(text) for value in found} == set(map(Decimal, values))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("half a dozen", "6"),
        ("two and a half", "2.5"),
        ("2 3/4 cups", "2.75"),
        ("a couple", "2"),
    ],
)
def test_numbers_in_words(text: str, number: str) -> None:
    assert Decimal(number) in numbers_in(with_digits(plain(text)))


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("20 %", {"0.2"}),
        ("20,5 percent", {"0.205"}),
        ("halve it", {"0.5", "50"}),
        ("half past 6", set()),
        ("20 euros", set()),
    ],
)
def test_shares(text: str, shares: set[str]) -> None:
    assert shares_in(text) == set(map(Decimal, shares))


@pytest.mark.parametrize(("text", "amount"), [("19 euros 99", "19.99"), ("99 cents", "0.99")])
def test_amounts_of_money(text: str, amount: str) -> None:
    assert Decimal(amount) in amounts_in(with_digits(text))


def test_two_numbers_in_digits_are_no_amount() -> None:
    assert amounts_in("2 50 3") == set()


@pytest.mark.parametrize(
    ("code", "words"),
    [("MAD", {"dirham", "dirhams"}), ("GBP", {"pounds", "quid", "£"}), ("USD", {"dollar", "$"})],
)
def test_the_words_for_a_currency(code: str, words: set[str]) -> None:
    assert words <= currency_words(code)
    assert currency_names(code)


def test_what_is_no_currency_has_no_words() -> None:
    assert currency_words("xxx") == frozenset()
