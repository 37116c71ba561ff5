from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.running import shell
from toolassay.errors import UsageError
from toolassay.serving.faults import KINDS, FaultPlan


def kinds_of(*rules: str, seed: int = 0, count: int = 2000) -> list[str]:
    plan = FaultPlan(rules, seed)
    return [plan(f"prompt {number}", number) for number in range(count)]


def test_shares_are_kept_and_depend_on_the_seed_alone() -> None:
    rules = ("429=0.1", "reset=0.2", "hang=0")
    kinds = kinds_of(*rules)
    assert kinds == kinds_of(*rules)
    assert kinds != kinds_of(*rules, seed=1)
    counts = Counter(kinds)
    assert 150 < counts["429"] < 250
    assert 330 < counts["reset"] < 470
    assert counts["429"] + counts["reset"] + counts["whole"] == 2000


def test_a_request_meets_the_same_fault_whatever_came_before() -> None:
    plan = FaultPlan(["500=0.5"], 3)
    assert [plan("", number) for number in (9, 4, 9)] == [kinds_of("500=0.5", seed=3)[n] for n in (9, 4, 9)]


def test_the_first_requests_each_prompt_once_and_for_ever() -> None:
    plan = FaultPlan(["500=first:2", "reset=once", "html"])
    prompts = ["a", "a", "a", "b", "a", "b"]
    kinds = [plan(prompt, number) for number, prompt in enumerate(prompts)]
    assert kinds == ["500", "500", "reset", "reset", "html", "html"]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (["500=lots"], "cannot parse '500=lots'"),
        (["500=-0.1"], "cannot parse"),
        (["500=1.5"], "cannot parse"),
        (["500=nan"], "cannot parse"),
        (["500=first:x"], "cannot parse"),
        (["500=0.6", "429=0.6"], "add up to more than 1"),
    ],
)
def test_a_rule_that_cannot_be(rules: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        FaultPlan(rules)


def test_an_unknown_fault_is_reported_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown fault '501'") as caught:
        FaultPlan(["501=0.1"])
    assert all(name in str(caught.value) for name in KINDS)


def test_the_help_lists_every_fault_with_its_meaning(root: Path) -> None:
    lines = shell("serve", "--help", cwd=root).out.splitlines()
    listed = {words[0]: words[1] for line in lines if len(words := line.split(maxsplit=1)) == 2}
    assert {name: listed.get(name) for name in KINDS} == {name: one.what for name, one in KINDS.items()}
