"""What reviewers said is kept, whatever happens to the process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.reviewing import actions, folder_with, say, session_of
from tests.support.running import ROOT, environment
from toolassay.errors import ToolassayError, UsageError
from toolassay.review.decision import UNDO, Record, ReviewStore


def test_a_decision_is_a_line_with_all_that_is_known(tmp_path: Path) -> None:
    session = session_of(folder_with(tmp_path / "d"))
    say(session, "Ann", 0, "correct", note="fine", seconds=3.21)
    line = json.loads((tmp_path / "d" / "reviews" / "Ann.jsonl").read_text())
    assert line.pop("when").endswith("+00:00") and line.pop("version")
    known = {"id": 0, "fingerprint": session.samples[0].fingerprint, "action": "correct"}
    by = {"reviewer": "Ann", "role": "reviewer", "note": "fine", "seconds": 3.2}
    assert line == {**known, **by, "parts": {}, "insisted": []}


def test_a_decision_is_on_disk_before_it_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_of(folder_with(tmp_path / "d"))
    forced: list[int] = []
    monkeypatch.setattr("os.fsync", forced.append)
    say(session, "Ann", 0, "correct")
    assert len(forced) == 2  # the file, and the folder that holds its name


def test_the_last_decision_counts_and_undo_goes_back_step_by_step(tmp_path: Path) -> None:
    session = session_of(folder_with(tmp_path / "d"))
    for number, action in ((0, "correct"), (1, "discard"), (0, "discard")):
        say(session, "Ann", number, action)

    def standing() -> dict[object, str]:
        return {key: record.action for key, record in session.store.log("Ann").standing("reviewer").items()}

    assert standing() == {0: "discard", "s1": "discard"}
    assert session.undo("Ann", "all").number == 0
    assert standing() == {0: "correct", "s1": "discard"}
    assert [session.undo("Ann", "all").number for _ in range(3)] == [1, 0, None]
    assert standing() == {}
    assert [action for _, action in actions(session.store.path("Ann"))][3:] == [UNDO] * 3


def test_undo_is_of_one_person_in_one_role(tmp_path: Path) -> None:
    session = session_of(folder_with(tmp_path / "d"))
    say(session, "Ann", 0, "correct")
    say(session, "Ann", 1, "discard", queue="conflicts")
    assert session.undo("Bob", "all").number is None
    assert session.undo("Ann", "all").number == 0
    assert list(session.store.log("Ann").standing("adjudicator")) == ["s1"]


def test_a_torn_last_line_is_cut_off_and_the_rest_counts(tmp_path: Path) -> None:
    session = session_of(folder_with(tmp_path / "d"))
    say(session, "Ann", 0, "correct")
    path = session.store.path("Ann")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    again = session_of(tmp_path / "d")
    assert again.overview("Ann", "all").first == 1
    say(again, "Ann", 1, "discard")
    assert list(actions(path)) == [(0, "correct"), ("s1", "discard")]


def test_a_broken_line_in_the_middle_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    session = session_of(folder_with(tmp_path / "d"))
    say(session, "Ann", 0, "correct")
    path = session.store.path("Ann")
    path.write_bytes(b'{"id": 1}\n' + path.read_bytes())
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"Ann\.jsonl:1: broken line"):
        say(session_of(tmp_path / "d"), "Ann", 1, "correct")
    assert path.read_bytes() == before


def test_a_disk_fault_is_reported_and_earlier_data_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_of(folder_with(tmp_path / "d"))
    say(session, "Ann", 0, "correct")
    before = session.store.path("Ann").read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ToolassayError, match="No space left"):
        say(session, "Ann", 1, "correct")
    monkeypatch.undo()
    assert session.store.path("Ann").read_bytes()[: len(before)] == before
    assert session_of(tmp_path / "d").store.log("Ann").standing("reviewer")[0].action == "correct"


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 61])
def test_names_that_are_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no name for a reviewer"):
        ReviewStore(tmp_path).log(name)


def test_names_become_files_of_the_folder_and_never_share_one(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path)
    assert store.path("../../etc/passwd").parent == tmp_path / "reviews"
    store.append("Ann/B", lambda log: [Record("a", "f", "correct", "Ann/B")])
    for other in ("Ann_B", "ann/b"):
        with pytest.raises(UsageError, match="would share a file with 'Ann/B'"):
            store.append(other, lambda log: [Record("a", "f", "correct", "x")])
    assert list(store.logs()) == ["Ann/B"]


WRITER = """
import sys
from pathlib import Path
from toolassay.review.decision import Record
from toolassay.review.decision import Log, ReviewStore
store = ReviewStore(Path(sys.argv[1]))
for number in range(25):
    store.append("Ann", lambda log: [Record(f"{sys.argv[2]}-{number}", "f", "correct", "Ann")])
"""


def test_one_person_in_two_processes_loses_nothing(tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], env=environment(), cwd=ROOT)
        for name in "ab"
    ]
    assert [process.wait(60) for process in running] == [0, 0]
    standing = ReviewStore(tmp_path).log("Ann").standing("reviewer")
    assert set(standing) == {f"{name}-{number}" for name in "ab" for number in range(25)}


def test_names_in_any_script_have_files_of_their_own(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path)
    names = ["李雷", "韩梅", "Zoë", "Иван", "Олег", "a" * 60, "李" * 60]
    for name in names:
        record = Record("a", "f", "correct", name)
        store.append(name, lambda _, record=record: [record])  # type: ignore[misc]
    assert sorted(store.logs()) == sorted(names)
    assert store.path("Zoe\u0308") == store.path("Zoë")  # the same name, its accent apart
