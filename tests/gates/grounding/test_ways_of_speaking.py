"""What people say in other words than a plan does, and the values next to it that they did not say."""

from __future__ import annotations

import pytest

from toolassay.gates.grounding.gate import judge
from toolassay.gates.grounding.source_text import SourceText

# (request, value, what it is not)
CODES = [
    ("my booking is kx 77 p2, cancel it please", "KX77P2", "KX77P3"),
    ("plate b-mw 1234 is parked wrong", "B MW 1234", "B MW 1235"),
    ("invoice 2024/00/17", "2024-0017", "2024-0018"),
    ("the voucher is summer-20", "SUMMER20", "SUMMER25"),
    ("could you check parcel jd 00-02 9918.44 for me", "JD0002991844", "JD0002991845"),
    ("the licence plate reads hh ab 77", "HH-AB 77", "HH-AB 78"),
    ("reservation HQ7 . 3ZP", "hq73zp", "hq73zq"),
    ("tracking lp00 1234 5678 9 cn", "LP00123456789CN", "LP00123456788CN"),
    ("dossier 2026.0815", "20260815", "20260816"),
]
TIMES_AND_FRACTIONS = [
    ("reserve it for 20 February 2027, 19:00-21:30", "21:30", "21:45"),
    ("open 22:00-06:00, please", "06:00", "05:00"),
    ("it gets cold at night, so from a quarter past ten p.m. onward", "22:15", "22:30"),
    ("wants the barn between 0900 and 1700", "17:00", "16:00"),
    ("the hall is ours 1900-2130", "21:30", "20:30"),
    ("a driver on the 8th, quarter to six pm", "17:45", "18:15"),
    ("at half past four p.m., to practise", "16:30", "17:30"),
    ("ten past eleven a.m. on 3 May", "11:10", "11:20"),
    ("choir from half six til nine pm", "21:00", "20:00"),
    ("somewhere between 5 to 7 pm", "19:00", "20:00"),
    ("the call is at 14:30:00-05:00 sharp", "14:30", "05:00"),
    ("keep the attic at 17½ degrees", "17.5", "18.5"),
    ("17 1/2 degrees will do", "17.5", "16.5"),
    ("3¾ cups of flour", "3.75", "3.25"),
]
DURATIONS = [
    ("set a timer for three quarters of an hour", "45", "40"),
    ("block an hour and a quarter", "1.25", "1.5"),
    ("1 h 15 min in the oven", "75", "65"),
    ("rent it for two and a half days", "60", "50"),
    ("hold my mail for a fortnight", "2 weeks", "3 weeks"),
    ("an hour and a half of yoga", "1.5 hours", "2.5 hours"),
    ("a quarter of an hour", "15", "20"),
    ("stay a week", "7", "8"),
    ("half a year", "6", "5"),
    ("45 minutes", "PT45M", "PT40M"),
    ("1.5 hours", "90", "95"),
    ("all day long, 24 hours", "1440", "1400"),
    ("thirty-minute slot", "0.5", "0.25"),
    ("book the court for an hour and three quarters", "105", "95"),
    ("put me down for a forty-five-minute massage", "45", "50"),
    ("hold it 36 hours", "1.5", "2.5"),
    ("the film runs 2h 10m", "130", "140"),
    ("keep the logs for half a year", "6 months", "7 months"),
    ("a 20-minute walk", "1200", "1300"),
    ("meet for three quarters of an hour", "45 minutes", "35 minutes"),
    ("an hour forty", "100", "140"),
    ("90-second clip", "90", "80"),
    ("the oven should run an hour fifteen", "75", "65"),
    ("a ten-day trip", "10 days", "12 days"),
    ("a month's notice", "30", "40"),
    ("1,5 hours", "90", "105"),
    ("hour-long massage", "60", "50"),
    ("2 hrs 15", "135", "125"),
    ("day-long hike", "24", "25"),
    ("every other hour, 120 minutes that is", "2", "4"),
    ("five and a half weeks", "38.5", "39.5"),
]
SHARES = [
    ("turn it to half volume", "50", "60"),
    ("fill it three fifths", "60", "50"),
    ("full brightness please", "1.0", "0.9"),
    ("two thirds of the budget", "67", "60"),
    ("cut it by a fifth", "20", "25"),
    ("three quarters full", "75", "70"),
    ("mute it completely, zero percent", "0", "5"),
    ("blinds down two thirds", "0.67", "0.57"),
    ("speakers on full blast", "100", "90"),
    ("lower the volume by half", "0.5", "0.4"),
    ("fifteen percent tip", "0.15", "0.16"),
    ("lamps at half", "50", "40"),
    ("set it at sixty per cent", "0.6", "0.7"),
    ("nine tenths", "0.9", "0.8"),
    ("a half-price ticket", "50", "25"),
    ("brightness all the way up", "100", "80"),
    ("quarter strength", "25", "30"),
]
MONEY = [
    ("it was nineteen euros ninety-nine", "19.99", "19.98"),
    ("the flat is 1.5k a month", "1500", "1600"),
    ("half a million in the bank", "500000", "600000"),
    ("50 yen", "JPY", "CNY"),
    ("30 quid", "£30", "£31"),
    ("500 Swedish kronor", "SEK", "NOK"),
    ("a quarter of a million dollars", "250000", "350000"),
    ("4 dollars and 5 cents", "4.05", "4.5"),
    ("fifty cents", "0.5", "0.6"),
    ("200 K dollars", "200000", "2000000"),
    ("seven euros fifty", "7.50 EUR", "7.15 EUR"),
    ("A$45", "AUD", "NZD"),
    ("ten and a half thousand", "10500", "10000.5"),
    ("sandwich was six ninety-five", "6.95", "6.85"),
    ("send Mia 14 euros and 30 cents", "14.30", "13.40"),
    ("£2.5k deposit", "2500", "2600"),
    ("convert 90 danish kroner", "DKK", "SEK"),
    ("it says 1.049,90 € on the tag", "1049.9", "1049.8"),
    ("charge him five pounds fifty", "5.5", "5.15"),
    ("under 40 bucks", "$40", "$41"),
    ("a hundred grand", "100000", "200000"),
    ("three quarters of a million", "750000", "850000"),
    ("nine hundred and ninety-nine yen", "999 JPY", "998 JPY"),
    ("transfer 250 swiss francs", "CHF", "SEK"),
    ("it's ninety-nine cents", "0.99", "0.89"),
    ("1.75 million pesos", "1750000", "1650000"),
    ("three pound eighty", "3.80", "3.18"),
    ("US$ 15", "USD", "AUD"),
]
WORDS = [
    ("I swam in the lake, log it", "swimming", "sailing"),
    ("a book for my child", "books for children", "books for adults"),
    ("log that I drank two litres", "drinking", "eating"),
    ("it shook and fell", "shaking and falling", "shaking and rising"),
    ("two mice in the kitchen", "mouse in kitchen", "mouse in garage"),
    ("sold the car", "selling the car", "washing the car"),
    ("she chose red", "choosing red", "choosing blue"),
    ("the earlier train", "early train", "late train"),
    ("analyses of water", "analysis of water", "analysis of wine"),
]
PHONES = [
    ("ring 020 7946 0123", "+44 20 7946 0123", "+44 20 7946 0124"),
    ("ring +44 20 7946 0123", "020 7946 0123", "020 7946 0223"),
    ("call 555-0134 ext. 12", "555-0134", "555-0135"),
    ("my number is 06 12 34 56 78", "+33612345678", "+33612345679"),
    ("tel. 030/901820", "+4930901820", "+4930901821"),
    ("ring 0049 (0) 89 / 12 34 56", "+49 89 123456", "+49 89 123465"),
    ("my mobile 0151/2345678", "+49 151 2345678", "+49 151 2345679"),
    ("ring 07700 900 456 please", "+447700900456", "+447700900465"),
]
DATES = [
    ("on 07-01 please", "2026-07-01", "2026-07-02"),
    ("on 1 July", "01/07", "02/07"),
    ("Meet on 5 May. Start at half past two in the afternoon.", "2026-05-05T14:30", "2026-05-05T14:45"),
    ("five to eleven at night", "22:55", "23:05"),
    ("midnight on New Year's Eve", "00:00", "12:00"),
    ("I land 12 August; book a car that day", "2026-08-12", "2026-08-13"),
    ("on weds", "wednesday", "thursday"),
    ("on 24.12.", "24 December", "25 December"),
    ("May the 4th", "2026-05-04", "2026-05-05"),
    ("dinner at half seven", "19:30", "18:30"),
    ("twenty to five", "16:40", "17:20"),
    ("8p", "20:00", "21:00"),
    ("from nine to five", "17:00", "16:00"),
    ("20260701", "2026-07-01", "2026-07-02"),
    ("the eleventh of november two thousand and twenty six", "2026-11-11", "2026-11-12"),
    ("checkout August 2, checkin July 30", "2026-07-30", "2026-08-30"),
    ("in the morning at 10:05", "10.05", "10.15"),
    ("May 2027", "2027-05", "2027-06"),
    ("from 12-06 on", "2026-06-12", "2026-06-13"),
    ("the party is on May 22nd; doors at half eight", "2026-05-22 20:30", "2026-05-22 19:30"),
    ("sometime on sunday", "Sun", "Sat"),
    ("wake me at twenty past five in the morning", "05:20", "17:20"),
    ("kick-off quarter past three", "15:15", "15:45"),
    ("book 03/04", "2026-04-03", "2026-04-05"),
    ("for Friday 13 March", "2026-03-13", "2026-03-14"),
    ("on the first Monday, 2 November", "2026-11-02", "2026-11-03"),
    ("3:15 in the afternoon", "15:15", "03:15"),
    ("from eight till late", "20:00", "21:00"),
    ("at 5 p.m. on the 6th of April", "2026-04-06T17:00:00Z", "2026-04-06T16:00:00Z"),
    ("twenty-five to seven", "18:35", "19:25"),
    ("arrive the 4th and leave the 9th of May", "2026-05-04", "2026-05-03"),
    ("between the 4th and the 9th of May", "2026-05-04", "2026-05-05"),
    ("July the fourth", "07/04", "08/05"),
    ("2026, the 7th of May", "2026-05-07", "2026-05-08"),
    ("at 0600", "06:00", "07:00"),
    ("nine to five thirty", "17:30", "16:30"),
    ("May 5th; finish same day", "05-05", "05-06"),
    ("mondays", "monday", "sunday"),
    ("April 2027, the 12th", "2027-04-12", "2027-04-13"),
]
PRONOUNS = [
    ("tell her she can have my slot", "You can have my slot.", "You can have my seat."),
    ("text mum that I'll be home by eight", "I will be home by 8", "I will be home by 9"),
    ("remind me that they owe us money", "They owe us money", "They owe us lunch"),
    (
        "tell Max he should bring his own towel",
        "You should bring your own towel.",
        "You should bring your own tent.",
    ),
    (
        "tell Ana I've moved to her old street",
        "I have moved to your old street",
        "I have moved to your new street",
    ),
    ("ask mum how she's doing", "How are you doing?", "How are you sleeping?"),
    ("tell him he needn't worry", "You need not worry", "You need not hurry"),
]
COUNTS = [
    ("a table for me and two friends", "3", "5"),
    ("my wife and two kids and me", "4", "9"),
    ("four of us and a dog", "5", "9"),
    ("dinner for my sister, her husband and me", "3", "6"),
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
