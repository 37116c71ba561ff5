"""From workbooks to a clean set, its card and its conflicts, by a real majority."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from toolassay.benchmarks.classic.chats.build import merge_workbooks
from toolassay.benchmarks.classic.chats.merge import majority_label
from toolassay.benchmarks.classic.chats.workbook import COLUMNS, NONE, Annotation
from toolassay.benchmarks.classic.data import ClassicData, MessageRow, Workflow, read_data, write_tables
from toolassay.console.screen import Screen
from toolassay.errors import IncompleteError, UsageError
from toolassay.files.data_files import read_json

CHATS = {"a": 2, "b": 1, "c": 1, "d": 1}


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    rows = [
        MessageRow(chat, f"{chat}{n}", "ok", "", "", n, "hr")
        for chat, number in CHATS.items()
        for n in range(number)
    ]
    workflows = [
        Workflow("w1", "Leave", "", "hr"),
        Workflow("w2", "Pay", "", "hr"),
        Workflow("w9", "VPN", "", "it"),
    ]
    write_tables(tmp_path / "sample", rows, workflows, {"hr": "People", "it": "IT"})
    return tmp_path / "sample"


@pytest.fixture
def data(sample: Path) -> ClassicData:
    return read_data(sample)


def workbook(path: Path, *rows: tuple[str, int, str, str, str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(
            [chat, n, f"{chat}{n}", "ok", one, two, flag, "", "", "", ""] for chat, n, one, two, flag in rows
        )
    return path


@pytest.fixture
def books(tmp_path: Path) -> list[Path]:
    """`a` agreed upon, `b` none by two of three, `c` in conflict, `d` gibberish."""
    return [
        workbook(
            tmp_path / "ann.csv",
            *(("a", 0, "Leave", "Pay", ""), ("a", 1, "Leave", "", ""), ("b", 0, NONE, "", "")),
            *(("c", 0, "Leave", "", ""), ("d", 0, "Pay", "", "Yes")),
        ),
        workbook(
            tmp_path / "ben.csv",
            *(("a", 0, "Leave", "Pay", ""), ("a", 1, "", "", ""), ("b", 0, NONE, "", "")),
            *(("c", 0, "Pay", "", ""), ("d", 0, "", "", "Yes")),
        ),
        workbook(
            tmp_path / "cem.csv",
            *(("a", 0, "Leave", "", ""), ("a", 1, "", "", ""), ("b", 0, "Pay", "", "")),
            ("d", 0, "Pay", "", ""),
        ),
    ]


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_clean_set_its_votes_and_a_card_without_names(
    sample: Path, books: list[Path], tmp_path: Path
) -> None:
    told: list[str] = []
    assert merge_workbooks(sample, books, tmp_path / "set", screen=Screen(say=told.append)) == 1
    data = read_data(tmp_path / "set")
    assert [(example.id, example.labels) for example in data.examples] == [
        ("a--0", ("w1", "w2")),
        ("a--2", ("w1",)),
        ("b--0", ()),
    ]
    assert dict(data.domains) == {"hr": "People"} and [w.id for w in data.workflows["hr"]] == ["w1", "w2"]
    assert read_json(tmp_path / "set/benchmark.json")["benchmark"] == "classic"
    assert any(line.startswith("warning: 1 message without a majority") for line in told)
    header, *votes = rows(tmp_path / "set/votes.csv")
    assert header[2:5] == ["ann", "ben", "cem"]
    assert [row[2:] for row in votes] == [
        ["w1", "w1", "w1", "w1", "w2", "3", ""],
        ["w1", "", "", "w1", "", "1", "one vote"],
        [NONE, NONE, "w2", NONE, "", "3", ""],
        ["w1", "w2", "", "", "", "2", "a tie"],
        ["w2", "", "w2", "w2", "", "2", "gibberish"],
    ]
    assert [row[0] for row in rows(tmp_path / "set/conflicts.csv")] == ["conversation_uuid", "c"]
    assert [row[:2] for row in rows(tmp_path / "set/dropped.csv")[1:]] == [
        ["d", "gibberish"],
        ["c", "conflict"],
    ]
    text = (tmp_path / "set/README.md").read_text(encoding="utf-8")
    assert "| hr | 3 | 2 | 2 | 1 | 1 |" in text and "By 3 annotators." in text
    assert "| conflict | 1 | 0 | 1 | 2 | 3 |" in text
    assert not any(name in text for name in ("ann.", "ben", "cem"))


@pytest.mark.parametrize(("ties", "left"), [("drop", 3), ("first", 4)])
def test_ties_can_be_dropped_or_settled(
    sample: Path, books: list[Path], tmp_path: Path, ties: str, left: int
) -> None:
    assert merge_workbooks(sample, books, tmp_path / "set", ties=ties) == 0  # type: ignore[arg-type]
    data = read_data(tmp_path / "set")
    assert len(data.examples) == left
    if ties == "first":
        assert data.examples[-1].labels == ("w1",)


def test_bad_input_writes_nothing(sample: Path, books: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two annotators are called 'ann'"):
        merge_workbooks(sample, [books[0], books[0]], tmp_path / "set")
    books[1].write_text(books[1].read_text(encoding="utf-8").replace("Pay", "Holiday"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"ben.csv:2: Workflow 2 'Holiday'"):
        merge_workbooks(sample, books, tmp_path / "set")
    assert not (tmp_path / "set").exists()
    with pytest.raises(UsageError, match="is not empty"):
        merge_workbooks(sample, books, sample)
    with pytest.raises(UsageError, match="no workbooks"):
        merge_workbooks(sample, [], tmp_path / "set")


def test_an_unfinished_merge_is_made_again_and_nothing_else_is_replaced(sample: Path, tmp_path: Path) -> None:
    ann = workbook(tmp_path / "ann.csv", ("a", 0, "Leave", "", ""), ("a", 1, "Leave", "", ""))
    ben = workbook(tmp_path / "ben.csv", ("a", 0, "Pay", "", ""))
    target = tmp_path / "set"
    with pytest.raises(IncompleteError):
        merge_workbooks(sample, [ann, ben], target)
    workbook(ben, ("a", 0, "Leave", "", ""))
    assert merge_workbooks(sample, [ann, ben], target) == 3  # b, c and d wait
    assert len(read_data(target).examples) == 2
    workbook(ben, ("a", 0, "Pay", "", ""))
    with pytest.raises(IncompleteError):
        merge_workbooks(sample, [ann, ben], target)
    assert not (target / "messages.csv").exists()
    (target / "mine.txt").touch()
    with pytest.raises(UsageError, match="is not empty"):
        merge_workbooks(sample, [ann, ben], target)
    (target / "mine.txt").unlink()
    workbook(ben, *((chat, 0, "Leave", "", "") for chat in "abcd"))
    assert merge_workbooks(sample, [ann, ben], target) == 0
    with pytest.raises(UsageError, match="is not empty"):
        merge_workbooks(sample, [ann, ben], target)


NO_WORKFLOW, EMPTY = "", None


def votes(*labels: str | None) -> dict[str, Annotation]:
    return {f"annotator {number}": Annotation(label) for number, label in enumerate(labels)}


@pytest.mark.parametrize(
    ("labels", "label", "voters", "conflict"),
    [
        (("w0", "w1", "w1"), "w1", 3, ""),
        ((NO_WORKFLOW, NO_WORKFLOW, "w1"), NO_WORKFLOW, 3, ""),
        ((NO_WORKFLOW, EMPTY, "w1"), None, 2, "a tie"),
        ((EMPTY, EMPTY), None, 0, "no annotator chose"),
        (("w0", "w1"), None, 2, "a tie"),
        (("w0", "w1", "w2", "w2"), None, 4, "no majority"),
        (("w0", "w1", "w2"), None, 3, "a tie"),
    ],
)
def test_the_label(labels: tuple[str | None, ...], label: str | None, voters: int, conflict: str) -> None:
    verdict = majority_label(votes(*labels))
    assert (verdict.label, verdict.voters, verdict.conflict) == (label, voters, conflict)


@pytest.mark.parametrize(
    ("labels", "label"),
    [(("w1", "w0"), "w1"), (("w0", "w1", "w2", "w2"), "w2"), (("w3", "w1", "w2", "w2", "w1"), "w1")],
)
def test_a_conflict_can_be_settled(labels: tuple[str, ...], label: str) -> None:
    verdict = majority_label(votes(*labels), settle=True)
    assert verdict.label == label and verdict.conflict
    assert majority_label(votes(EMPTY), settle=True).label is None


@pytest.mark.parametrize(
    ("answers", "second"),
    [
        ([("w1", "w2"), ("w1", "w2"), ("w1", None)], "w2"),
        ([("w1", "w2"), ("w1", None), ("w1", None)], ""),
        ([("w1", None), ("w2", "w1"), ("w1", "w2")], "w2"),
        ([("", None), ("", None), ("w1", None)], ""),
        ([("w1", "w3"), ("w1", "w2")], ""),
    ],
)
def test_the_second_label(answers: list[tuple[str | None, str | None]], second: str) -> None:
    given = {str(number): Annotation(*answer) for number, answer in enumerate(answers)}
    assert majority_label(given).second == second
