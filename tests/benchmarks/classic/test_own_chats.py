"""The chats in the box: as many, as varied and as checked as their card says."""

from __future__ import annotations

import json
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


def test_600_messages_stand_in_450_chats_of_six_domains(data: ClassicData, folder: Path) -> None:
    assert json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))["benchmark"] == "classic"
    chats = Counter(example.conversation for example in data.examples)
    assert len(data.examples) == 600
    assert Counter(chats.values()) == CHATS_BY_LENGTH
    assert len(data.domains) == 6
    assert all(10 <= len(workflows) <= 14 for workflows in data.workflows.values())
    assert sum(map(len, data.workflows.values())) == 72
