"""Whether a final text states a fact: 80 texts that a large language model wrote and labelled, and the rules.

The model did not know the rule; the second 40 texts were looked at only after the rule was finished.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from toolassay.answers.stated import AnswerContext, AnswerFact, all_right, judge_answer

TEXTS = Path(__file__).with_name("final_texts.jsonl").read_text(encoding="utf-8").splitlines()
VERDICTS = {True: "right", False: "wrong", None: "undecided"}


def verdict(line: dict[str, Any]) -> str:
    conversation = AnswerContext(line["request"], [call["result"] for call in line["calls"]])
    facts = [AnswerFact(fact["value"], fact.get("unit", "")) for fact in line["facts"]]
    statements = judge_answer(line["text"], facts, conversation)
    return VERDICTS[all_right(statement.right for statement in statements)]


def test_texts_are_judged_as_labelled_and_no_wrong_one_is_right() -> None:
    counts: Counter[bool] = Counter()
    for line in map(json.loads, TEXTS):
        given = verdict(line)
        assert given != "right" or line["label"] == "right", line["id"]
        # Two values that are offered, and pasted results: wrong or undecided.
        is_allowed = line["kind"] in ("hedged", "dumped") and given == "undecided"
        counts[given == line["label"] or is_allowed] += 1
    assert counts[True] >= 77 and counts.total() == 80


TICKETS = {
    "tickets": [
        {"id": n, "owner": owner} for n, owner in enumerate(("Zoë Brandt", "Ben Ortiz", "Ann Lee"), 7)
    ]
}


@pytest.mark.parametrize(
    ("text", "fact", "right"),
    [
        ("You have two open tickets.", AnswerFact(2, "tickets"), True),
        ("I will call at 2 pm.", AnswerFact(2, "tickets"), False),
        ("1. First\n2. Second", AnswerFact(2, "tickets"), False),
        ("There are 3 or 4 tickets.", AnswerFact(3, "tickets"), None),
        ("It weighs 3.5 kg.", AnswerFact(3.4719, "kg"), True),
        ("It weighs 3.5 pounds.", AnswerFact(3.4719, "kg"), False),
        ("About 1.2 million people.", AnswerFact(1_234_567), True),
        ("An hour and a half.", AnswerFact(90, "minutes"), True),
        ("47 % of them.", AnswerFact(0.47), True),
        ("On the 3rd of March, at half past two.", AnswerFact("2026-03-03T14:30:00Z"), True),
        ("On 3 March.", AnswerFact("2026-03-03T14:30:00Z"), None),
        ("On 4 March at 14:30.", AnswerFact("2026-03-03T14:30:00Z"), False),
        ("zoe brandt", AnswerFact("Zoë Brandt"), True),
        ("Brandt has it.", AnswerFact("Zoë Brandt"), None),
        ("Ben Ortiz has it.", AnswerFact("Zoë Brandt"), False),
        ("Zoë Brandt has it, Ben Ortiz too.", AnswerFact("Zoë Brandt"), None),
        ("Ben Ortiz and Zoë Brandt.", AnswerFact(["Zoë Brandt", "Ben Ortiz"]), True),
        ("Zoë Brandt.", AnswerFact(["Zoë Brandt", "Ben Ortiz"]), False),
        ("Flight FR2319.", AnswerFact("FR 2319"), True),
        ("It is not refundable.", AnswerFact(False), None),
        (json.dumps(TICKETS, ensure_ascii=False), AnswerFact("Zoë Brandt"), None),
        ("", AnswerFact(2, "tickets"), False),
    ],
)
def test_a_fact_is_stated_in_its_value_and_unit_without_a_rival(
    text: str, fact: AnswerFact, right: bool | None
) -> None:
    (statement,) = judge_answer(text, [fact], AnswerContext("Who has it?", [TICKETS]))
    assert statement.right is right


def test_what_the_person_said_competes_with_nothing() -> None:
    asked = AnswerContext("Is it Ben Ortiz or somebody else who has ticket 7?", [TICKETS])
    (statement,) = judge_answer("Not Ben Ortiz: Zoë Brandt has it.", [AnswerFact("Zoë Brandt")], asked)
    assert (statement.right, statement.said) == (True, "zoe brandt")
