"""Numbers, shares and amounts of money, with the values they may mean."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from toolassay.text_values.numbers import (
    amounts_in,
    converted_numbers_in,
    currencies_in,
    currency_names,
    find_numbers,
    is_share,
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
        ("three quarters", "0.75"),
        ("2 3/4 cups", "2.75"),
        ("5 degrees below zero", "-5"),
        ("a couple", "2"),
    ],
)
def test_numbers_in_words(text: str, number: str) -> None:
    assert Decimal(number) in numbers_in(with_digits(plain(text)))


def test_numbers_in_smaller_units() -> None:
    assert converted_numbers_in("a kilo and a half, 2 metres") == {Decimal(1500), Decimal(200)}


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("20 %", {Fraction(1, 5)}),
        ("2 out of 3", {Fraction(2, 3)}),
        ("by a third", {Fraction(1, 3)}),
        ("a third man", set()),
        ("a quarter past", set()),
    ],
)
def test_shares(text: str, shares: set[Fraction]) -> None:
    assert shares_in(text) == shares


def test_a_share_is_rounded_to_the_decimals_it_has() -> None:
    third = [Fraction(1, 3)]
    assert is_share(Decimal("0.333"), third) and is_share(Decimal(33), third)
    assert not is_share(Decimal("0.34"), third) and not is_share(Decimal("0.3"), third)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("19 euros 99", "19.99"),
        ("99 cents", "0.99"),
        ("half a million", "500000"),
        ("two and a half grand", "2500"),
        ("a tenner", "10"),
        ("two fifty", "2.50"),
    ],
)
def test_amounts_of_money(text: str, amount: str) -> None:
    assert Decimal(amount) in amounts_in(with_digits(text), text)


def test_two_numbers_in_digits_are_no_amount() -> None:
    assert amounts_in("2 50", "2 50") == set()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("80 moroccan dirhams", "MAD"),
        ("50 canadian", "CAD"),
        ("20 quid", "GBP"),
        ("hk$30", "HKD"),
        ("50 dollars", "USD"),
    ],
)
def test_currencies(text: str, code: str) -> None:
    assert currencies_in(text).sure == {code}
    assert currency_names(code)


def test_a_noun_may_be_the_currency_of_another_nation() -> None:
    found = currencies_in("50 dollars")
    assert {"CAD", "AUD"} <= found.possible and "EUR" not in found.possible
    assert not currencies_in("50 canadian geese").sure
