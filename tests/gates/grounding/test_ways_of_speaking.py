"""What people say in other words than a plan does, and the values next to it that they did not say."""

from __future__ import annotations

import pytest

from toolassay.gates.grounding.gate import judge
from toolassay.gates.grounding.source_text import SourceText

# (request, value, what it is not)
CODES = [
    ("my booking is kx 77 p2, cancel it please", "KX77P2", "KX77P3"),
    ("invoice 2024/00/17", "2024-0017", "2024-0018"),
    ("dossier 2026.0815", "20260815", "20260816"),
]
TIMES_AND_FRACTIONS = [
    ("reserve it for 20 February 2027, 19:00-21:30", "21:30", "21:45"),
    ("it gets cold at night, so from a quarter past ten p.m. onward", "22:15", "22:30"),
    ("wants the barn between 0900 and 1700", "17:00", "16:00"),
    ("choir from half six til nine pm", "21:00", "20:00"),
    ("the call is at 14:30:00-05:00 sharp", "14:30", "05:00"),
    ("3¾ cups of flour", "3.75", "3.25"),
]
DURATIONS = [
    ("block an hour and a quarter", "1.25", "1.5"),
    ("rent it for two and a half days", "60", "50"),
    ("hold my mail for a fortnight", "2 weeks", "3 weeks"),
    ("45 minutes", "PT45M", "PT40M"),
    ("all day long, 24 hours", "1440", "1400"),
    ("put me down for a forty-five-minute massage", "45", "50"),
    ("the film runs 2h 10m", "130", "140"),
    ("a month's notice", "30", "40"),
    ("1,5 hours", "90", "105"),
]
SHARES = [
    ("turn it to half volume", "50", "60"),
    ("blinds down two thirds", "0.67", "0.57"),
    ("fifteen percent tip", "0.15", "0.16"),
    ("brightness all the way up", "100", "80"),
]
MONEY = [
    ("it was nineteen euros ninety-nine", "19.99", "19.98"),
    ("the flat is 1.5k a month", "1500", "1600"),
    ("500 Swedish kronor", "SEK", "NOK"),
    ("a quarter of a million dollars", "250000", "350000"),
    ("A$45", "AUD", "NZD"),
    ("sandwich was six ninety-five", "6.95", "6.85"),
    ("it says 1.049,90 € on the tag", "1049.9", "1049.8"),
]
WORDS = [
    ("I swam in the lake, log it", "swimming", "sailing"),
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
    ("on 07-01 please", "2026-07-01", "2026-07-02"),
    ("midnight on New Year's Eve", "00:00", "12:00"),
    ("on weds", "wednesday", "thursday"),
    ("the eleventh of november two thousand and twenty six", "2026-11-11", "2026-11-12"),
    ("checkout August 2, checkin July 30", "2026-07-30", "2026-08-30"),
    ("the party is on May 22nd; doors at half eight", "2026-05-22 20:30", "2026-05-22 19:30"),
    ("kick-off quarter past three", "15:15", "15:45"),
    ("between the 4th and the 9th of May", "2026-05-04", "2026-05-05"),
    ("July the fourth", "07/04", "08/05"),
    ("May 5th; finish same day", "05-05", "05-06"),
    ("April 2027, the 12th", "2027-04-12", "2027-04-13"),
]
PRONOUNS = [
    ("tell her she can have my slot", "You can have my slot.", "You can have my seat."),
    ("text mum that I'll be home by eight", "I will be home by 8", "I will be home by 9"),
    ("tell him he needn't worry", "You need not worry", "You need not hurry"),
]
COUNTS = [
    ("a table for me and two friends", "3", "5"),
    ("four of us and a dog", "5", "9"),
    ("for my boss and her two assistants", "3", "7"),
]
ALL = [*CODES, *TIMES_AND_FRACTIONS, *DURATIONS, *SHARES, *MONEY, *WORDS, *PHONES, *DATES, *PRONOUNS]


@pytest.mark.parametrize(("request_text", "value"), [(request, value) for request, value, _ in ALL])
def test_a_value_is_known_however_people_say_it(request_text: str, value: str) -> None:
    assert judge(value, SourceText(request_text)) is None


@pytest.mark.parametrize(("request_text", "value"), [(request, other) for request, _, other in ALL])
def test_the_value_next_to_it_is_not(request_text: str, value: str) -> None:
    assert judge(value, SourceText(request_text)) is not None


@pytest.mark.parametrize(("request_text", "value", "other"), COUNTS)
def test_people_who_are_named_and_not_counted_are_for_a_person(
    request_text: str, value: str, other: str
) -> None:
    doubts = [judge(number, SourceText(request_text)) for number in (value, other)]
    assert [doubt.state for doubt in doubts if doubt] == ["quarantine", "quarantine"]
