"""What counts as said, and what does not: one line a case."""

from __future__ import annotations

import pytest

from toolassay.gates.grounding.gate import judge
from toolassay.gates.grounding.source_text import SourceText

# (request, value)
KNOWN = [
    # case, blanks, quotes, accents, dashes
    ("the text “It’s late”", "It's late"),
    ("a table at Café Zoë", "Cafe Zoe"),
    ("the well-known song", "the well known song"),
    ("订一张去巴黎的机票", "巴黎"),
    # numbers
    ("twenty percent off", "20%"),
    ("20% off", "0.2"),
    ("2.5 million", "2500000"),
    ("the 3rd door", "third"),
    ("a 5km run", "5"),
    ("minus 5 degrees", "-5"),
    # days and times
    ("on Oct 17th", "2026-10-17"),
    ("from 3 to 7 May 2026", "2026-05-07"),
    ("in October, best on the 17th", "2026-10-17"),
    ("at a quarter to eight", "19:45"),
    ("from 2 to 4 pm", "14:00"),
    ("on 17 October at 7pm", "2026-10-17T19:00:00"),
    # days and times that follow from a stated one
    ("4 nights from 28 February 2028", "2028-03-03"),
    ("from May 3 for four nights", "May 7"),
    ("two nights in Rome from 5 May 2027, then three nights in Bari", "2027-05-10"),
    ("for five days, the 10th of June 2027 included", "2027-06-14"),
    ("for 6 months from 1 March 2027", "2027-09-01"),
    ("on 11 November 2027; next day the cave", "2027-11-12"),
    ("Christmas Day 2026 until the 28th", "2026-12-28"),
    ("from Friday 7 May to Sunday", "2027-05-09"),
    ("at 23:30 for 90 minutes", "01:00"),
    # phones, addresses, files, codes
    ("call +61 2 5550 9325", "+61255509325"),
    ("see https://www.example.com/a/", "example.com/a"),
    ("write to Anna.Smith@Example.com.", "anna.smith@example.com"),
    ("print report.pdf", "/home/me/report.pdf"),
    ("order AB-1234", "AB1234"),
    ("the song Hey Jude by The Beatles", 'track:"Hey Jude" artist:"The Beatles"'),
    ("play https://music.org/list/1h0CEZCm6Ib, please", "1h0CEZCm6Ib"),
    ("play https://music.org/list/1h0CEZCm6Ib, please", "music:list:1h0CEZCm6Ib"),
    # in other words
    ("a picture of a car: change its color to blue", "Change the car's color to blue"),
    ("translate it into French", "fr"),
    ("pay in dollars", "USD"),
    ("find articles about healthy cooking", "healthy cooking articles"),
    ("sold in the United States", "US"),
    ("IBAN DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
    ("hold my mail for a fortnight", "2 weeks"),
    ("the flat is 1.5k a month", "1500"),
    ("April 2027, the 12th", "2027-04-12"),
    ("ring 0049 (0) 89 / 12 34 56", "+49 89 123456"),
    ("two mice in the kitchen", "mouse in kitchen"),
    ("tell her she can have my slot", "You can have my slot."),
    ("500 Swedish kronor", "SEK"),
    ("fifteen percent tip", "0.15"),
    ("choir from half six til nine pm", "21:00"),
    ("reserve it for 20 February 2027, 19:00-21:30", "21:30"),
    ("write a poem on spring and mail it to Bo", "Hello Bo, <node-0> a poem on spring"[6:]),
    ("hi", ""),
    ("resize it to 512x512", "512 x 512"),
    ("play it at one and a half times the speed", "1.5x"),
]
# (request, value, state)
DOUBTED = [
    ("fly to Lisbon", "Paris", "quarantine"),
    ("twenty chairs", "21", "quarantine"),
    ("at 10:15", "10", "pass"),
    ("number 110", "10", "quarantine"),
    ("$20 off", "20 euros", "quarantine"),
    ("on 17 October 2026", "2027-10-17", "quarantine"),
    ("book it for tomorrow", "2026-10-18", "quarantine"),
    ("4 nights from 30 April 2027", "2027-05-06", "quarantine"),
    ("4 nights", "2027-05-04", "quarantine"),
    ("a week in June 2027", "2027-06-08", "quarantine"),
    ("two nights in Rome from 5 May 2027, then three nights in Bari", "2027-05-11", "quarantine"),
    ("for 6 months from 1 March 2027", "2027-08-28", "quarantine"),
    ("25 December 2026 until the 28th", "2027-12-28", "quarantine"),
    ("from Friday 7 May 2027 to Monday 10 May 2027", "2027-05-14", "quarantine"),
    ("from Friday 7 May to Sunday", "2027-05-16", "quarantine"),
    ("at 23:30 for 90 minutes", "00:30", "quarantine"),
    ("mail it to kai dot brandt at webpost dot example", "kai.brandt@webpost.org", "quarantine"),
    ("tell us what it is in euros", "USD", "quarantine"),
    ("on 2026-10-17", "Friday, October 17, 2026", "quarantine"),
    ("on 17 October at 7pm", "2026-10-17T19:30", "quarantine"),
    ("mail anna.smith@example.com", "smith@example.com", "quarantine"),
    ("print report-2026.pdf", "report-2025.pdf", "quarantine"),
    ("hear the audio file", "example.wav", "quarantine"),
    ("order AB-1234", "AB-1235", "quarantine"),
    (
        "a bright coral reef with a turtle gliding above it",
        "a dark coral reef with a turtle gliding above it",
        "quarantine",
    ),
    ("1. call Bo 2. book it for 4", "2 people", "quarantine"),
    ("the third door", "first", "quarantine"),
    ("take 5", ".5", "quarantine"),
    ("hold my mail for a fortnight", "3 weeks", "quarantine"),
    ("the flat is 1.5k a month", "1600", "quarantine"),
    ("April 2027, the 12th", "2027-04-13", "quarantine"),
    ("ring 0049 (0) 89 / 12 34 56", "+49 89 123465", "quarantine"),
    ("two mice in the kitchen", "mouse in garage", "quarantine"),
    ("tell her she can have my slot", "You can have my seat.", "quarantine"),
    ("500 Swedish kronor", "NOK", "quarantine"),
    ("fifteen percent tip", "0.16", "quarantine"),
    ("choir from half six til nine pm", "20:00", "quarantine"),
    ("reserve it for 20 February 2027, 19:00-21:30", "21:45", "quarantine"),
    ("", "Rome", "quarantine"),
    ("summarize it", "${step_1}", "quarantine"),
]


@pytest.mark.parametrize(("request_text", "value"), KNOWN)
def test_what_was_said_in_another_spelling_is_known(request_text: str, value: str) -> None:
    assert judge(value, SourceText(request_text)) is None


@pytest.mark.parametrize(("request_text", "value", "state"), DOUBTED)
def test_what_was_not_said_is_held_back(request_text: str, value: str, state: str) -> None:
    doubt = judge(value, SourceText(request_text))
    assert (doubt.state if doubt else "pass") == state


@pytest.mark.parametrize(
    ("request_text", "value"),
    [
        ("hotel from 17 October 2026 for 3 nights", "2026-10-14"),
        ("hotel from 17 October 2026 for 3 nights", "2026-10-19"),
        ("weather in Rome and Oslo on 17 October 2026, the same day for both", "2026-10-18"),
        ("dinner at 19:00 and 2 hours of parking", "17:00"),
        ("write to john dot smith at gmail dot com", "smith@gmail.com"),
        ("hotels in Singapore under 200 euros", "SGD"),
    ],
)
def test_what_only_lies_near_is_not_said(request_text: str, value: str) -> None:
    assert judge(value, SourceText(request_text)) is not None
