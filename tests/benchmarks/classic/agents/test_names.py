"""Which workflow a name in an answer names."""

from __future__ import annotations

import pytest
from builders import question

from toolassay.benchmarks.classic.agents.settings import ordered
from toolassay.benchmarks.classic.agents.workflow_choice import find_name, word_for_none
from toolassay.errors import UsageError

NAMES = ("Return Goods", "Track  Parcel", "2. Stage", "Stage")
CANDIDATES = question("x", names=NAMES).candidates


@pytest.mark.parametrize(
    ("said", "found", "noted"),
    [
        ("Return Goods", 0, False),
        ("  RETURN goods \n", 0, False),
        ("track parcel", 1, False),
        ("'Return Goods'", 0, True),
        ("1. Return Goods", 0, True),
        ("#4 **Return Goods**", 0, True),
        ("“1) Return Goods.”", 0, True),
        ("2. Stage", 2, False),
        ("stage", 3, False),
    ],
)
def test_a_name_is_found(said: str, found: int, noted: bool) -> None:
    match = find_name(said, CANDIDATES, "none")
    assert match.workflow == CANDIDATES[found]
    assert bool(match.note) == noted


def test_none_is_a_choice_with_a_word_of_its_own() -> None:
    assert find_name(" 'None' ", CANDIDATES, "none")[:2] == (True, None)
    odd = question("x", names=("None", "none of these")).candidates
    word = word_for_none(odd)
    assert word == "none of these of these"
    assert find_name("none", odd, word).workflow == odd[0]
    assert find_name(word, odd, word) == (True, None, "")


def test_order_is_of_the_table_by_name_or_by_seed() -> None:
    asked = question("x", names=[f"Name {number}" for number in range(20, 0, -1)])
    assert ordered(asked, "table") is asked
    by_name = [workflow.name for workflow in ordered(asked, "name").candidates]
    assert by_name == sorted(by_name)
    shuffled = [ordered(asked, seed).candidates for seed in ("1", "1", "2")]
    assert shuffled[0] == shuffled[1] != shuffled[2]
    assert set(shuffled[0]) == set(asked.candidates)
    with pytest.raises(UsageError, match="unknown --order '-1'"):
        from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings

        ClassicAgentSettings(order="-1")
