"""The gate "language": what it finds, and what it must not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.gates.gate import Background
from toolassay.gates.language import LanguageGate, language_findings
from toolassay.gates.language.language_rules import RULES, LanguageRule
from toolassay.gold import Gold
from toolassay.tools import Parameter, Tool, ToolLibrary

WRONG = """
Please book the the room for Friday.
Please also also send it to Ada.
Cancel a the booking BK-2041.
Check the which rooms are free.
Please update my the address.
Send an message to Ada.
Please create an user account.
Make the invoice for a the booked reservation.
Reserve a rooms for two nights.
I need two guest rooms and three booking.
These booking must be changed.
Delete every comments on the post.
This tickets are for my colleague.
Please list all file in the folder.
Show me many photo of the castle.
Give me many information about the trip.
He have a reservation on Monday.
She need the document tomorrow.
We was charged twice.
They wants a refund.
The invoices is overdue, please send them.
The order were shipped to the wrong address yesterday.
The customer want a refund.
The report contain errors.
There is three rooms free.
There are a problem with my invoice.
What are the price of this?
Does the server has enough memory?
Can you finds the invoice?
Could you sends the report?
Please checking the status of order 12.
I want to booked a table for two.
Please help me finds a hotel.
The parcel has arrive at the depot.
Send the file to I.
I need to the report by Friday.
Book a flight from to Oslo.
Get the of the guest.
Send the file to , please.
Get the weather in Oslo and.
Tell Ada about the meeting and the.
The room is free. book it for two nights.
Create a label named "urgent for the parcel.
Cancel the booking (BK-2041 for me.
Find a hotel near the station..
""".strip().splitlines()
RIGHT = """
I hope that that room is free on Friday.
He had had enough of the noise, so move him to room 12.
Pay all the invoices and both the bills.
Give her the key and ask whether the room is ready.
Get the in-house phone number of a European customer.
Wait an hour, then send an SMS to the honest guest.
Write a sales report for this news article.
Book two guest rooms, a few hotels and three more nights.
List the three largest files, and all day long watch the folder.
The number of guests has grown, and the staff are tired.
If the room were free, I would take it.
Let the guest have the key, and make it work.
Tell me which room it is in and what it is for.
Which file should I send it to?
I have a scan that I want to extract the text from.
I look forward to meeting the team.
Please have the bill sent to 'the the' by noon.
Set the status of PR-12 to "in review", then email a@b.org.
Convert 250 EUR to NOK, please; thanks!
My nephew Peter asked me to plan a trip.
Once the purchase is complete, send a note.
Add the tags 'a', 'b' and 'c' to the file report.pdf...
1) Find the order; 2) cancel it; 3) tell me.
See you at nine :)
What is the weather like in Bora Bora?
Archive the board (and its lists).
""".strip().splitlines()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_finds_its_example_and_no_rule_the_other(rule: LanguageRule) -> None:
    assert rule.name in {one.rule for one in language_findings(rule.flags)}
    assert language_findings(rule.passes) == []


def planted(name: str) -> list[dict[str, str]]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("name", "least"), [("planted_for_development.jsonl", 0.95), ("planted_held_out.jsonl", 0.85)]
)
def test_planted_defects_are_found_and_their_clean_partners_are_not(name: str, least: float) -> None:
    rows = planted(name)
    assert sum(bool(language_findings(row["request"])) for row in rows) >= least * len(rows)
    assert [row["clean"] for row in rows if language_findings(row["clean"])] == []


def test_defects_by_an_author_who_had_not_seen_the_gate_are_found() -> None:
    missed = [text for text in WRONG if not language_findings(text)]
    assert len(missed) <= 0.2 * len(WRONG), missed


@pytest.mark.parametrize("request_text", RIGHT)
def test_a_sound_request_is_not_flagged(request_text: str) -> None:
    assert language_findings(request_text) == []


@pytest.mark.parametrize(
    "residue",
    [
        "{city}",
        "{{ guest_name }}",
        "<CITY>",
        "<your name>",
        "[INSERT DATE]",
        "%s",
        "$room",
        "TODO",
        "<node-0>",
    ],
)
def test_residue_of_a_template_is_rejected(residue: str) -> None:
    gate = LanguageGate(Background(ToolLibrary([Tool("fly")]), "temporal"))
    findings = gate.check(Gold.of({"id": 1, "user_request": f"Book a flight to {residue} on Friday."}))
    assert "reject" in [one.state for one in findings]
    assert {one.where for one in findings} == {"user_request"}


def test_data_is_no_residue() -> None:
    for text in ('Post {"a": 1} to the service.', "Pay $250 to None of them but Ada.", "Keep 20 % of it."):
        assert [one for one in language_findings(text) if one.state == "reject"] == []


def test_a_name_of_a_parameter_is_found_unless_it_is_a_value() -> None:
    tool = Tool("book", parameters=(Parameter("check_in_date"), Parameter("room"), Parameter("roomType")))
    gate = LanguageGate(Background(ToolLibrary([tool]), "temporal"))

    def states(text: str, value: str) -> list[str]:
        plan = [{"task": "book", "arguments": [{"name": "room", "value": value}]}]
        return [one.state for one in gate.check(Gold.of({"id": 1, "user_request": text, "task_nodes": plan}))]

    assert states("Book room 12 with check_in_date 2026-05-14, please.", "12") == ["quarantine"]
    assert states("Book room 12 and set the roomType to suite for me.", "12") == ["quarantine"]
    assert states("Book room 12 from 2026-05-14 on, please.", "12") == []


def test_another_language_is_not_judged() -> None:
    gate = LanguageGate(Background(ToolLibrary([Tool("fly")]), "temporal"))
    text = "Bitte buche ein Zimmer für zwei Personen und sende die Rechnung an das Büro."
    assert [one.state for one in gate.check(Gold.of({"id": 1, "user_request": text}))] == ["not applicable"]


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(language_findings(text), list)


def test_long_and_hostile_texts_are_read_in_part() -> None:
    for text in ("a " * 60_000, "'" * 100_000, "(" * 100_000, "\u202e\x00 the the " * 5_000, "x_" * 60_000):
        assert isinstance(language_findings(text), list)
