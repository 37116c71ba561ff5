"""What counts as said, and what does not: one line a case."""

from __future__ import annotations

import pytest

from toolgraph.gates.knowability.judge import judge
from toolgraph.gates.knowability.said import Said

# (request, value)
KNOWN = [
    # case, blanks, quotes, accents, dashes
    ("fly to PARIS", "Paris"),
    ("a  bright\ncoral reef", "a bright coral reef"),
    ("the text “It’s late”", "It's late"),
    ("a table at Café Zoë", "Cafe Zoe"),
    ("the well-known song", "the well known song"),
    ("send an e-mail", "email"),
    ("ｆｕｌｌ width", "full width"),
    ("订一张去巴黎的机票", "巴黎"),
    ("translate 'Guten Tag, Welt!'", "Guten Tag Welt"),
    # numbers
    ("1,000 chairs", "1000"),
    ("one thousand chairs", "1000"),
    ("1000 chairs", "1,000"),
    ("twenty percent off", "20%"),
    ("20 % off", "20"),
    ("20% off", "0.2"),
    ("$20 off", "20 dollars"),
    ("20 dollars", "$20"),
    ("it costs 3.50", "3.5"),
    ("it costs 3,50 €", "3.50"),
    ("1k followers", "1000"),
    ("2.5 million", "2500000"),
    ("a dozen eggs", "12"),
    ("the third door", "3"),
    ("the 3rd door", "third"),
    ("twenty-one chairs", "21"),
    ("a table for two", "2"),
    ("a pizza", "1"),
    ("size 42", "42"),
    ("5 kilometers", "5km"),
    ("a 5km run", "5"),
    ("half an hour", "30"),
    ("two hours", "120 minutes"[:3]),
    ("minus 5 degrees", "-5"),
    ("a couple of beers", "2"),
    ("speed it up 2x", "2"),
    # days and times
    ("on 17 October 2026", "2026-10-17"),
    ("on Oct 17th", "2026-10-17"),
    ("on October 17", "2026-10-17"),
    ("on the 17th of October, 2026", "2026-10-17"),
    ("on 10/17/2026", "2026-10-17"),
    ("on 17.10.2026", "2026-10-17"),
    ("on 2026-10-17", "October 17, 2026"),
    ("on 2026-10-17", "Saturday, October 17, 2026"),
    ("on 2026-10-17", "17/10/2026"),
    ("the seventeenth of October", "2026-10-17"),
    ("from 3 to 7 May 2026", "2026-05-03"),
    ("from 3 to 7 May 2026", "2026-05-07"),
    ("May 3-7, 2026", "2026-05-07"),
    ("in October, best on the 17th", "2026-10-17"),
    ("today is 2026-10-17, book it for tomorrow", "2026-10-18"),
    ("at 7:45 pm", "19:45"),
    ("at 19:45", "7:45 PM"),
    ("at quarter to eight in the evening", "19:45"),
    ("at a quarter to eight", "19:45"),
    ("at 7pm", "19:00"),
    ("at seven", "19:00"),
    ("at seven thirty", "07:30"),
    ("at half past six", "18:30"),
    ("at noon", "12:00"),
    ("from 2 to 4 pm", "14:00"),
    ("on 17 October at 7pm", "2026-10-17T19:00:00"),
    ("on 17 October at 7pm", "2026-10-17 19:00"),
    ("at 8 o'clock", "20:00"),
    # phones, addresses, files, codes
    ("call +61 2 5550 9325", "+61255509325"),
    ("call 0255509325", "02 5550 9325"),
    ("see https://www.example.com/a/", "example.com/a"),
    ("see example.com/a.", "https://example.com/a"),
    ("write to Anna.Smith@Example.com.", "anna.smith@example.com"),
    ("print report.pdf", "/home/me/report.pdf"),
    ("print ~/docs/report.pdf", "report.pdf"),
    ("order AB-1234", "AB1234"),
    ("flight QF 12", "QF12"),
    # in other words
    ("a picture of a car: change its color to blue", "Change the car's color to blue"),
    ("make its colour blue", "blue color"),
    ("which is the largest thing in view, tell me", "What is the largest thing in view?"),
    ("translate it into French", "French"),
    ("translate it into French", "fr"),
    ("pay in dollars", "USD"),
    ("find articles about healthy cooking", "healthy cooking articles"),
    ("find something on healthy cooking", "information about healthy cooking"),
    ("edit my photo", "edit the picture"),
    ("add a voice over", "voiceover"),
    ("please don't call Anna", "do not call Anna"),
    ("hi", ""),
    ("hi", "  ... "),
]
# (request, value, state)
DOUBTED = [
    ("fly to Lisbon", "Paris", "reject"),
    ("at Hotel Aurora", "Hotel Bellevue", "reject"),
    ("ask Anna Smith", "Anna Brown", "reject"),
    ("twenty chairs", "21", "reject"),
    ("1,000 chairs", "100", "reject"),
    ("at 10:15", "10", "pass"),
    ("number 110", "10", "reject"),
    ("it costs 3.50", "5", "reject"),
    ("$20 off", "20 euros", "quarantine"),
    ("on 17 October 2026", "2026-10-18", "reject"),
    ("on 17 October 2026", "2027-10-17", "reject"),
    ("on 17 October", "2026-11-17", "reject"),
    ("book it for tomorrow", "2026-10-18", "quarantine"),
    ("next Friday", "2026-10-18", "quarantine"),
    ("at 7:45 pm", "19:46", "reject"),
    ("at 7:45 pm", "07:45", "reject"),
    ("on 17 October at 7pm", "2026-10-17T19:30", "reject"),
    ("mail anne.smith@example.com", "anna.smith@example.com", "reject"),
    ("mail anna.smith@example.com", "smith@example.com", "reject"),
    ("see example.com/a", "example.com/b", "reject"),
    ("use example.jpg", "example2.jpg", "reject"),
    ("print report-2026.pdf", "2026.pdf", "reject"),
    ("print report-2026.pdf", "report-2025.pdf", "reject"),
    ("look at my picture", "example.jpg", "quarantine"),
    ("hear the audio file", "example.wav", "quarantine"),
    ("write a poem", "example.wav", "reject"),
    ("call +61 2 5550 9325", "+61 2 5550 9326", "reject"),
    ("order AB-1234", "AB-1235", "reject"),
    ("change its color to red", "change its color to blue", "quarantine"),
    ("change its color to blue", "do not change its color to blue", "quarantine"),
    ("please don't change its color to blue", "change color of it to blue", "quarantine"),
    (
        "a bright coral reef with a turtle gliding above it",
        "a dark coral reef with a turtle gliding above it",
        "quarantine",
    ),
    ("summarize it", "output of Image Editing", "reject"),
    ("extract the text", "extracted_text", "reject"),
    ("summarize it", "${step_1}", "reject"),
    ("translate it into French", "de", "reject"),
    ("", "Rome", "reject"),
]


@pytest.mark.parametrize(("request_text", "value"), KNOWN)
def test_what_was_said_in_another_spelling_is_known(request_text: str, value: str) -> None:
    assert judge(value, Said(request_text)) is None


@pytest.mark.parametrize(("request_text", "value", "state"), DOUBTED)
def test_what_was_not_said_is_held_back(request_text: str, value: str, state: str) -> None:
    doubt = judge(value, Said(request_text))
    assert (doubt.state if doubt else "pass") == state
