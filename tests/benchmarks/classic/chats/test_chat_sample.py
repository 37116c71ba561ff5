"""From raw chats to a sample: every step says what it left out, and the counts add up."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any

import pytest

from toolassay.benchmarks.classic.chats.build import sample_chats
from toolassay.benchmarks.classic.chats.settings import ChatSampling
from toolassay.benchmarks.classic.data import read_data
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json

for package in ("ftfy", "bs4", "presidio_analyzer"):
    pytest.importorskip(package, reason="pip install '.[chats]'")


@pytest.fixture
def source(root: Path) -> Path:
    return root / "examples/chats"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def steps(folder: Path) -> dict[str, dict[str, Any]]:
    return {step["step"]: step for step in read_json(folder / "steps.json")["steps"]}


def test_the_counts_add_up(source: Path, tmp_path: Path) -> None:
    told: list[str] = []
    sample_chats(source, tmp_path, ChatSampling(per_domain=5), screen=Screen(table=told.append))
    funnel = list(steps(tmp_path).values())
    for step in funnel:
        assert step["conversations"] - step["dropped_conversations"] == step["left_conversations"]
        assert step["messages"] - step["dropped_messages"] == step["left_messages"]
    for before, after in itertools.pairwise(funnel):
        assert (before["left_conversations"], before["left_messages"]) == (
            after["conversations"],
            after["messages"],
        )
    data = read_data(tmp_path)
    assert funnel[0]["conversations"] == 20
    assert funnel[-1]["left_conversations"] == len({example.conversation for example in data.examples}) == 10
    assert funnel[-1]["left_messages"] == len(data.examples)
    assert sum(int(row["dropped_messages"]) for row in rows(tmp_path / "dropped.csv")) == 23 - len(
        data.examples
    )
    assert "| sampled | 4 | 0 | 6 | 10 | 12 |" in told[0]


def test_the_sample_has_no_labels_and_no_choice_of_the_bot(source: Path, tmp_path: Path) -> None:
    sample_chats(source, tmp_path)
    assert all(not example.labels for example in read_data(tmp_path).examples)
    assert "hr-leave" not in (tmp_path / "messages.csv").read_text(encoding="utf-8")
    (first, *_) = rows(tmp_path / "recorded.csv")
    assert first == {
        "conversation_uuid": "c01",
        "request_idx": "0",
        "workflow_uuid": "hr-leave",
        "cost": "0.004",
        "latency": "1.2",
        "tokens": "310",
    }


def test_personal_data_is_masked_everywhere(source: Path, tmp_path: Path) -> None:
    sample_chats(source, tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    for value in ("ada.byron", "Ada", "7946", "3704", "10.20.30.40", "evil.example", "mona.li"):
        assert value not in text
    assert read_json(tmp_path / "steps.json")["masked"] == {
        "EMAIL": 3,
        "IBAN": 1,
        "IP": 1,
        "PERSON": 2,
        "PHONE": 1,
        "URL": 1,
    }


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"filters": [("rude", "drop")]}, "unknown filter 'rude'"),
        ({"filters": [("null", "off")]}, "null cannot be switched off"),
        ({"mask": "off", "mask_patterns": [("X", "x")]}, "contradict"),
        ({"mask": "no/such/model"}, "not the folder of a spaCy model"),
    ],
)
def test_bad_settings_are_reported_and_nothing_is_written(
    source: Path, tmp_path: Path, settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        sample_chats(source, tmp_path / "out", ChatSampling(**settings))
    assert not (tmp_path / "out").exists()
