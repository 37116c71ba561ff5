"""The gate "language": what it finds in a request of any language, and what it must not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.gates.gate import Background, Finding
from toolassay.gates.language_gate import LanguageGate, language_findings
from toolassay.plans.gold import Gold
from toolassay.tools.library import Parameter, Tool, ToolLibrary

PARAMETERS = (Parameter("check_in_date"), Parameter("room"), Parameter("roomType"))
GATE = LanguageGate(Background(ToolLibrary([Tool("book", parameters=PARAMETERS)]), "temporal"))


def findings(text: str, **more: object) -> list[Finding]:
    return GATE.check(Gold.of({"id": 1, "user_request": text, "task_nodes": [{"task": "book"}], **more}))


@pytest.mark.parametrize(
    "placeholder",
    ["{city}", "{{ guest_name }}", "<CITY>", "[INSERT DATE]", "%s", "$room", "'TODO'", "<node-0>", "____"],
)
def test_a_placeholder_is_rejected(placeholder: str) -> None:
    (finding,) = findings(f"Book a flight to {placeholder} on Friday.")
    assert (finding.state, finding.where) == ("reject", "user_request")


@pytest.mark.parametrize(
    "text",
    [
        "Book a flight with check_in_date 3 May.",
        "Book a flight and set the roomType to suite.",
        'Book a flight with {"room": 12}.',
        "Book a flight, notify=True.",
        "Book a flight to P\u0430ris.",  # a Cyrillic a
        "Book a flight to Malm\ufffd.",
        "Get the forecast for Bergen for Bergen.",
        "Book a flight to Oslo on Friday. Mail it to me. Book a flight to Oslo on Friday.",
    ],
)
def test_other_residue_is_held_back(text: str) -> None:
    assert len(findings(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        'Post {"a": 1} to the service.',
        "Pay $250 to None of them but Ada, and keep 20 % of it.",
        "Ask 'again and again' in Bora Bora, again and again and again.",
        "Mail it to 'Bergen' to Bo, from check_in_date.txt and 'roomType'.",
        "Once the call with Dr. Ito is over, mail Bo. Once the call with Dr. Ito is over, call Ada.",
        "Measure 5 µm and 3 kΩ, then greet Παύλος and Иван.",
    ],
)
def test_a_sound_request_passes(text: str) -> None:
    assert findings(text) == []


def test_the_steps_have_no_placeholders() -> None:
    found = findings("Book it.", task_steps=["Step 1: use <node-0>", "Step 2: mail {name}"])
    assert [one.where for one in found] == ["task_steps[1]"]


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(language_findings(text, ["a_b"]), list)


def test_long_and_hostile_texts_are_read_quickly() -> None:
    start = time.process_time()
    for text in ("a " * 60_000, "'" * 100_000, "(" * 100_000, "the the " * 5_000, "x_" * 60_000, "{" * 9_000):
        language_findings(text)
    assert time.process_time() - start < 2
