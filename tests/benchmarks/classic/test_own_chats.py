"""The chats in the box: as many, as varied and as checked as their card says."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from toolassay.benchmarks.classic.data import ClassicData, read_data

CHATS_BY_LENGTH = {1: 350, 2: 64, 3: 24, 4: 10, 5: 2}


@pytest.fixture(scope="module")
def folder(root: Path) -> Path:
    return root / "data_classic"


@pytest.fixture(scope="module")
def data(folder: Path) -> ClassicData:
    return read_data(folder)


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "messages.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_600_messages_stand_in_450_chats_of_six_domains(data: ClassicData, folder: Path) -> None:
    assert json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))["benchmark"] == "classic"
    chats = Counter(example.conversation for example in data.examples)
    assert len(data.examples) == 600
    assert Counter(chats.values()) == CHATS_BY_LENGTH
    assert len(data.domains) == 6
    assert all(10 <= len(workflows) <= 14 for workflows in data.workflows.values())
    assert sum(map(len, data.workflows.values())) == 72


def test_the_card_has_the_counts_and_samples_of_the_table(
    data: ClassicData, rows: list[dict[str, str]], folder: Path
) -> None:
    card = (folder / "README.md").read_text(encoding="utf-8")
    kinds = ("plain", "follow_up", "second_label", "none", "hard_negative")
    for domain, name in data.domains.items():
        here = [row for row in rows if row["domain_uuid"] == domain]
        counts = Counter(row["kind"] for row in here)
        chats = len({row["conversation_uuid"] for row in here})
        numbers = [len(data.workflows[domain]), chats, len(here), *(counts[kind] for kind in kinds)]
        assert f"| {name} (`{domain}`) | {' | '.join(map(str, numbers))} |" in card
    everything = Counter(row["kind"] for row in rows)
    assert f"| all | 72 | 450 | 600 | {' | '.join(str(everything[kind]) for kind in kinds)} |" in card
    samples = re.findall(r"^\| (\w+) \| (.+) \| (.+) \|$", card.split("## Ten samples")[1], re.MULTILINE)[1:]
    assert len(samples) == 10
    for domain, chat, right in samples:
        turns = chat.replace("*bot:* ", "").split(" · ")
        shown = [e for e in data.examples if [turn.content for turn in e.question.turns] == turns]
        names = {workflow.id: workflow.name for workflow in data.workflows[domain]}
        assert [", or ".join(names[label] for label in e.labels) or "none" for e in shown] == [right]
