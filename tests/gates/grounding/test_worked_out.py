"""What a request tells by something else: days by other days, currencies by nation, addresses aloud."""

from __future__ import annotations

import pytest

from toolassay.gates.gate import Background
from toolassay.gates.grounding import GroundingGate
from toolassay.gates.grounding.gate import judge
from toolassay.gates.grounding.source_text import SourceText
from toolassay.gold import Gold
from toolassay.tools import Tool, ToolLibrary

# (request, value, what it is not)
DAYS = [
    ("Hotel from 2 June 2027, back on the 9th", "2027-06-09", "2027-06-10"),
    ("We're in Bergen 1 to 4 October 2027, and on the 2nd we need a car", "2027-10-02", "2027-10-05"),
    ("fly out 2027-05-03 and come home on the 12th", "2027-05-12", "2027-05-13"),
    ("conference 8-11 March 2027; dinner on the ninth", "2027-03-09", "2027-03-19"),
    ("staying until the 20th, arriving 17 September 2027", "2027-09-20", "2027-09-21"),
    ("17th through 20th of September 2027", "2027-09-17", "2027-09-18"),
    ("May 30 2027 until the 2nd of June", "2027-06-02", "2027-06-03"),
    ("a table on New Year's Eve 2027", "2027-12-31", "2027-12-30"),
    ("flowers for Valentine’s Day 2027", "2027-02-14", "2027-02-15"),
    ("party at Halloween 2026", "2026-10-31", "2026-10-30"),
    ("the first of May 2027 please", "2027-05-01", "2027-05-02"),
    ("the last day of February 2028", "2028-02-29", "2028-02-28"),
    ("the first day of March 2027", "2027-03-01", "2027-03-02"),
    ("three nights from 10 December 2026", "2026-12-13", "2026-12-14"),
    ("check in on 10 December 2026, out a week later", "2026-12-17", "2026-12-18"),
    ("arrive 5 May 2027 and leave the next day", "2027-05-06", "2027-05-08"),
    ("show on 5 May 2027, hotel that night", "2027-05-05", "2027-05-07"),
    ("from 3 to 9 May 2027, and tickets for the Saturday", "2027-05-08", "2027-05-07"),
    ("we land on Wednesday 5 May 2027 and want seats the following Saturday", "2027-05-08", "2027-05-11"),
    ("two weeks starting 1 February 2027", "2027-02-15", "2027-02-17"),
    ("pick up 2027-04-02, bring it back after three days", "2027-04-05", "2027-04-09"),
    ("the day before 2 March 2027", "2027-03-01", "2027-02-27"),
    ("from 10 December 2026 for 3 nights", "2026-12-13", "2026-12-15"),
    ("for a fortnight from the 4th of July 2027", "2027-07-18", "2027-07-20"),
    ("on 4 July 2027, and again the day after", "2027-07-05", "2027-07-07"),
    ("14 April 2027 and two days later", "2027-04-16", "2027-04-18"),
    ("a five-night stay from 7 June 2027", "2027-06-12", "2027-06-14"),
    ("I get in on Thursday 11 March 2027 and fly home on Sunday", "2027-03-14", "2027-03-15"),
    ("Book it from the 20th to the 23rd of November 2026", "2026-11-23", "2026-11-24"),
    ("meeting on 12.04.2027, reminder two days before", "2027-04-10", "2027-04-09"),
    ("rent due on the first of each month, starting September 2027", "2027-09-01", "2027-09-02"),
    ("the second Saturday of July 2027", "2027-07-10", "2027-07-17"),
    ("leave on Christmas Eve 2027 and come back on Boxing Day", "2027-12-26", "2027-12-27"),
    ("the trip starts 9 Feb 2027. we return ten days later", "2027-02-19", "2027-02-20"),
    ("concert 15 July 2027, tickets go on sale a month earlier", "2027-06-15", "2027-06-16"),
    ("31st August 2027, returning the following Monday", "2027-09-06", "2027-09-13"),
    ("Thanksgiving 2026", "2026-11-26", "2026-11-25"),
    ("a year from 3 March 2027", "2028-03-03", "2028-03-04"),
    ("the 4th, 5th and 6th of October 2027", "2027-10-05", "2027-10-07"),
    (
        "Lina and Tom need a rental from Mon 3 to Thu 6 May 2027; they'd pick it up that Monday at 8.15",
        "2027-05-03",
        "2027-05-02",
    ),
    ("same trip: out on the 3rd of May 2027, back the Thursday", "2027-05-06", "2027-05-05"),
    ("the film's on 21/06/2027, 20.45", "2027-06-21T20:45", "2027-06-21T21:45"),
    ("book 11 Feb 2027 at noon", "2027-02-11 12:00", "2027-02-11 14:00"),
    ("renew on the last day of the year, 2027", "2027-12-31", "2027-12-30"),
    ("my visa runs out at the end of March 2027, renew then", "2027-03-31", "2027-03-30"),
    ("arrive 28 February 2028, leave the next day", "2028-02-29", "2028-03-02"),
    ("for three weeks from 1 June 2027", "2027-06-22", "2027-06-25"),
]
CURRENCIES = [
    ("convert 1,150.50 Canadian to euros", "CAD", "AUD"),
    ("450 złoty for the bike", "PLN", "CZK"),
    ("80 Singapore dollars", "SGD", "USD"),
    ("2,000 ¥ for it", "JPY", "USD"),
    ("25 Jordanian dinars", "JOD", "KWD"),
    ("in new zealand dollars", "NZD", "AUD"),
    ("price in Ghanaian cedis", "GHS", "NGN"),
    ("from Icelandic krónur to Norwegian kroner", "ISK", "DKK"),
    ("900 Brazilian reais", "BRL", "MXN"),
    ("5 Kuwaiti dinars", "KWD", "JOD"),
    ("£30", "GBP", "EUR"),
    ("five hundred Colombian pesos", "COP", "MXN"),
    ("I need 200 Polish złotych", "PLN", "CZK"),
    ("three hundred Czech crowns", "CZK", "SEK"),
    ("pay with Philippine pesos", "PHP", "MXN"),
    ("Mexican currency", "MXN", "USD"),
    ("the Chilean peso against the euro", "CLP", "ARS"),
]
DICTATED = [
    (
        "write to kai dot brandt at webpost dot example",
        "kai.brandt@webpost.example",
        "kai.brand@webpost.example",
    ),
    ("mail lena underscore fox at posthaus dot org", "lena_fox@posthaus.org", "lena.fox@posthaus.org"),
    ("it's jo dash anne at mail dot example dot com", "jo-anne@mail.example.com", "jo.anne@mail.example.com"),
    (
        "the site is blog dot riverside dash cafe dot example",
        "blog.riverside-cafe.example",
        "blog.riverside-cafes.example",
    ),
    ("tom at hilltop dot example", "tom@hilltop.example", "tim@hilltop.example"),
    ("send it to m dot okoye 7 at tanda dot example", "m.okoye7@tanda.example", "m.okoye8@tanda.example"),
    (
        "kai (dot) brandt (at) webpost (dot) example",
        "kai.brandt@webpost.example",
        "kai.brand@webpost.example",
    ),
    ("Lena's at lena.k at posthaus.example", "lena.k@posthaus.example", "lena.m@posthaus.example"),
    ("write to sales AT bolt-works DOT test", "sales@bolt-works.test", "sale@bolt-works.test"),
    ("ring oh two oh seven nine four six oh one two three", "02079460123", "02079460124"),
    (
        "joe bloggs, that's joe underscore bloggs at fastpost dot example",
        "joe_bloggs@fastpost.example",
        "joe_blogs@fastpost.example",
    ),
    ("save it as notes dash final dot txt", "notes-final.txt", "notes-fixed.txt"),
    ("open budget underscore 2027 dot xlsx", "budget_2027.xlsx", "budget_2026.xlsx"),
]
OTHERS = [
    ("it was 12 euros 40", "12.4", "12.5"),
    ("no bags", "0", "1"),
    ("flying without luggage", "0", "2"),
    ("bags: none", "0", "1"),
    ("zero checked bags", "0", "1"),
    ("at 3 and again half an hour later", "15:30", "16:30"),
    ("an hour before 14:00", "13:00", "12:00"),
    ("the flat's 62 square metres", "62 m2", "63 m2"),
    ("minus five celsius", "-5", "5"),
    ("two dozen eggs", "24", "12"),
    ("half-dozen bagels", "6", "8"),
    ("2x 500ml", "500 ml", "600 ml"),
    ("interest of 4 and a quarter percent", "4.25", "4.5"),
    ("I'm looking for running shoes, size nine and a half", "9.5", "9"),
    ("set the heating to twenty-one and a half", "21.5", "21"),
    ("message Leo that we won't need his van", "We won't need your van", "We will need your van"),
    ("say we'll ring her when we land", "We'll ring you when we land", "We'll text you when we land"),
    ("tell Sam his parcel is here", "Your parcel is here", "Your letter is here"),
]
ALL = [*DAYS, *CURRENCIES, *DICTATED, *OTHERS]
# What a person has to look at, since the request has its parts: (request, value, what is foreign).
DOUBTFUL = [
    ("check in on 10 December 2026 for three days", "2026-12-12", "2027-06-12"),
    ("open on Christmas Eve? it's 2026", "2027-12-24", "2027-12-20"),
    ("a twin room", "2", "5"),
    ("tickets only for me", "1", "3"),
    ("two tickets at 15 euros each", "30", "31"),
    ("stay from 2 to 9 June 2027", "7", "33"),
    ("a meeting at 3 pm for two hours", "17:30", "2027-01-01"),
    ("50 dollars", "CAD", "PLN"),
]


@pytest.mark.parametrize(("request_text", "value"), [(request, value) for request, value, _ in ALL])
def test_a_value_stated_exactly_is_grounded(request_text: str, value: str) -> None:
    assert judge(value, SourceText(request_text)) is None


@pytest.mark.parametrize(("request_text", "value"), [(request, other) for request, _, other in ALL])
def test_the_value_next_to_it_is_not(request_text: str, value: str) -> None:
    assert judge(value, SourceText(request_text)) is not None


@pytest.mark.parametrize(("request_text", "value", "other"), DOUBTFUL)
def test_what_may_be_worked_out_is_for_a_person(request_text: str, value: str, other: str) -> None:
    doubts = [judge(text, SourceText(request_text)) for text in (value, other)]
    assert [doubt.state for doubt in doubts if doubt] == ["quarantine", "reject"]


def test_a_weekday_of_another_sentence_makes_no_day() -> None:
    said = SourceText("The forecast for 10 April 2026, please. Later, note 'water the plants on Tuesday'.")
    assert judge("2026-04-14", said) is not None


def test_a_switch_is_not_put_on_by_who_turns_it_off() -> None:
    gate = GroundingGate(Background(ToolLibrary([Tool("light")]), "temporal"))

    def states(value: str) -> list[str]:
        plan = [{"task": "light", "arguments": [{"name": "state", "value": value}]}]
        gold = Gold.of({"id": 1, "user_request": "Turn off the lamp on the porch", "task_nodes": plan})
        return [finding.state for finding in gate.check(gold)]

    assert (states("off"), states("on")) == ([], ["quarantine"])


def test_a_long_request_with_many_days_is_read_once() -> None:
    said = SourceText("A week later, on the Friday after 3 May 2027, two nights. " * 1500)
    assert all(judge(f"2029-{month:02}-{day:02}", said) for month in range(1, 13) for day in range(1, 7))


def test_a_request_that_says_what_day_it_is_says_the_weekdays_too() -> None:
    said = SourceText("Today is Tuesday 6 April 2027. Book a table for Friday.")
    assert judge("2027-04-09", said) is judge("2027-04-16", said) is None
    assert all(judge(f"2027-04-{day}", said) is not None for day in ("08", "10", "11", "17", "18"))
