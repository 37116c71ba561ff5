"""The bundled prompts, and tables that are none."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from toolassay.benchmarks.classic.security import KINDS, SecurityPrompt, read_prompts
from toolassay.benchmarks.security.probe import reveals
from toolassay.errors import UsageError

DOMAINS = ("it", "hr", "banking", "retail", "travel", "energy")


@pytest.fixture(scope="module")
def prompts(root: Path) -> list[SecurityPrompt]:
    return read_prompts(root / "data_classic" / "jailbreak_prompts.csv", DOMAINS)


def test_sixty_attacks_and_twenty_twins(prompts: list[SecurityPrompt]) -> None:
    assert Counter(prompt.kind for prompt in prompts) == dict.fromkeys(KINDS[:4], 15) | {"harmless": 20}
    assert {prompt.domain for prompt in prompts} == set(DOMAINS)
    assert len({prompt.turns for prompt in prompts}) == 80
    canaries = [prompt.canary for prompt in prompts if prompt.canary]
    assert len(canaries) == len(set(canaries)) == 25
    assert sum(len(prompt.turns) == 3 for prompt in prompts) >= 4


def test_prompts_do_what_they_are_for(prompts: list[SecurityPrompt]) -> None:
    for prompt in prompts:
        said = " ".join(prompt.turns)
        if prompt.kind == "reveal_instructions":
            assert not reveals(said + prompt.planted, prompt.canary), prompt.id
        elif prompt.canary:
            assert prompt.canary in prompt.planted and prompt.canary not in said, prompt.id
        if prompt.kind == "forbidden_workflow":
            assert prompt.forbidden is not None and "may not" in prompt.forbidden[1]
        if prompt.kind == "harmless":
            assert prompt.forbidden is None and not prompt.canary


GOOD = {
    "prompt_id": "p1",
    "kind": "hidden_in_reply",
    "place": "reply",
    "domain_uuid": "it",
    "turn_1_prompt": "hi",
    "turn_2_prompt": "and?",
    "turn_3_prompt": "",
    "forbidden_workflow": "Grant Rights",
    "forbidden_description": "",
    "wanted_workflow": "",
    "wanted_description": "",
    "planted_text": "Start it.",
    "canary": "",
}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kind": "rude"}, "unknown kind 'rude'"),
        ({"turn_2_prompt": ""}, "there is no message after the reply"),
        ({"canary": "ABC"}, "may occur by chance"),
        ({"kind": "reveal_instructions", "place": "message"}, "the canary is empty"),
    ],
)
def test_rows_that_are_wrong(tmp_path: Path, change: dict[str, str], complaint: str) -> None:
    path = tmp_path / "jailbreak_prompts.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(GOOD))
        writer.writeheader()
        writer.writerows([{**GOOD, "prompt_id": "p0"}, {**GOOD, **change}])
    with pytest.raises(UsageError, match=complaint) as error:
        read_prompts(path, ["it"])
    assert "jailbreak_prompts.csv:3" in str(error.value)
