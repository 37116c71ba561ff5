"""What people say in other words than a plan does, and the values next to it that they did not say."""

from __future__ import annotations

import pytest

from toolassay.gates.grounding.gate import judge
from toolassay.gates.grounding.source_text import SourceText

# (request, value, what it is not)
CODES = [
    ("my booking is kx 77 p2, cancel it please", "KX77P2", "KX77P3"),
]
TIMES_AND_FRACTIONS = [
    ("reserve it for 20 February 2027, 19:00-21:30", "21:30", "21:45"),
    ("it gets cold at night, so from a quarter past ten p.m. onward", "22:15", "22:30"),
    ("wants the barn between 0900 and 1700", "17:00", "16:00"),
    ("choir from half six til nine pm", "21:00", "20:00"),
    ("3¾ cups of flour", "3.75", "3.25"),
]
DURATIONS = [
    ("block an hour and a quarter", "1.25", "1.5"),
    ("rent it for two and a half days", "60", "50"),
    ("hold my mail for a fortnight", "2 weeks", "3 weeks"),
    ("the film runs 2h 10m", "130", "140"),
    ("1,5 hours", "90", "105"),
]
SHARES = [
    ("turn it to half volume", "50", "60"),
    ("fifteen percent tip", "0.15", "0.16"),
]
MONEY = [
    ("it was nineteen euros ninety-nine", "19.99", "19.98"),
    ("the flat is 1.5k a month", "1500", "1600"),
    ("500 Swedish kronor", "SEK", "NOK"),
    ("it says 1.049,90 € on the tag", "1049.9", "1049.8"),
]
WORDS = [
    ("a book for my child", "books for children", "books for adults"),
    ("two mice in the kitchen", "mouse in kitchen", "mouse in garage"),
    ("the earlier train", "early train", "late train"),
]
PHONES = [
    ("ring 020 7946 0123", "+44 20 7946 0123", "+44 20 7946 0124"),
    ("ring 0049 (0) 89 / 12 34 56", "+49 89 123456", "+49 89 123465"),
    ("my mobile 0151/2345678", "+49 151 2345678", "+49 151 2345679"),
]
DATES = [
    ("midnight on New Year's Eve", "00:00", "12:00"),
    ("the eleventh of november two thousand and twenty six", "2026-11-11", "2026-11-12"),
    ("checkout August 2, checkin July 30", "2026-07-30", "2026-08-30"),
    ("between the 4th and the 9th of May", "2026-05-04", "2026-05-05"),
    ("April 2027, the 12th", "2027-04-12", "2027-04-13"),
]
PRONOUNS = [
    ("tell her she can have my slot", "You can have my slot.", "You can have my seat."),
    ("tell him he needn't worry", "You need not worry", "You need not hurry"),
]
ALL = [*CODES, *TIMES_AND_FRACTIONS, *DURATIONS, *SHARES, *MONEY, *WORDS, *PHONES, *DATES, *PRONOUNS]


@pytest.mark.parametrize(("request_text", "value"), [(request, value) for request, value, _ in ALL])
def test_a_value_is_known_however_people_say_it(request_text: str, value: str) -> None:
    assert judge(value, SourceText(request_text)) is None


@pytest.mark.parametrize(("request_text", "value"), [(request, other) for request, _, other in ALL])
def test_the_value_next_to_it_is_not(request_text: str, value: str) -> None:
    assert judge(value, SourceText(request_text)) is not None
