from __future__ import annotations

import errno
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.errors import ToolassayError, UsageError
from toolassay.runs.journal import ItemEntry, Journal, KeyIndex


class NoteEntry(ItemEntry):
    """An entry with a text."""

    text: str = ""


ENTRIES = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "é", '"', "\n", "\ud83d"]),
        st.builds(NoteEntry, text=st.text(), outcome=st.text(), asked_again=st.integers(0, 9)),
    ),
    max_size=12,
)


@given(ENTRIES, st.integers(min_value=0, max_value=400))
def test_what_was_written_whole_is_there_again_wherever_it_is_cut(
    entries: list[tuple[str, NoteEntry]], cut: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        with Journal(path) as journal:
            for key, entry in entries:
                journal.append(key, entry)
        whole = path.read_bytes()
        torn = whole[: max(0, len(whole) - cut)]
        path.write_bytes(torn)
        expected = dict(entries[: torn.count(b"\n")])
        with Journal(path) as journal:
            assert list(journal) == list(expected)
            assert {key: journal.entry(key, NoteEntry) for key in journal} == expected
            journal.append("new", NoteEntry(text="x"))
            assert journal.entry("new", NoteEntry).text == "x"
        assert path.read_bytes().count(b"\n") == torn.count(b"\n") + 1
        for line in path.read_bytes().splitlines():
            json.loads(line)


def test_reading_between_writes_sees_every_line(tmp_path: Path) -> None:
    # Lines longer than a read buffer, read while others are appended.
    with Journal(tmp_path / "j") as journal:
        for number in range(60):
            journal.append(str(number), NoteEntry(text=f"{number} " * 700))
            for earlier in (number, number // 2, 0):
                assert journal.entry(str(earlier), NoteEntry).text.startswith(f"{earlier} ")
        assert len(journal) == 60
        assert journal.entry("nothing", NoteEntry) == NoteEntry()
        assert journal.line("nothing") == b"" and json.loads(journal.line("7"))["key"] == "7"


@pytest.mark.parametrize("line", [b"{broken\n", b"\xff\n", b'{"key": []}\n', b"[" * 9999 + b"\n"])
def test_a_broken_line_in_the_middle_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"key": "a"}\n' + line + b'{"key": "b"}\n')
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"j:2: broken line in a journal\. Fix: remove that line"):
        Journal(path)
    assert path.read_bytes() == before


def test_only_one_writes(tmp_path: Path) -> None:
    with Journal(tmp_path / "j"), pytest.raises(UsageError, match="another process"):
        Journal(tmp_path / "j")
    Journal(tmp_path / "j").close()


def test_a_disk_without_locks_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with pytest.raises(ToolassayError, match="cannot be locked: No locks available") as caught:
        Journal(tmp_path / "j")
    assert caught.value.exit_code == 1


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolassayError, match="cannot be written"):
        Journal(tmp_path / "file" / "j")


def test_a_full_disk_leaves_whole_lines_and_one_error(tmp_path: Path) -> None:
    program = f"""
import resource
from pathlib import Path
from toolassay.errors import ToolassayError
from toolassay.runs.journal import Journal
from toolassay.runs.journal import ItemEntry
with Journal(Path({str(tmp_path / "j")!r})) as journal:
    journal.append("a", ItemEntry(problem="x" * 500))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        journal.append("b", ItemEntry(problem="y" * 900))
    except ToolassayError as error:
        print(error)
    print("b" in journal, journal.entry("a", ItemEntry).problem[:1])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cannot be written: File too large. Fix: free some space, then run it again" in done.stdout
    assert done.stdout.endswith("False x\n")
    with Journal(tmp_path / "j") as journal:
        assert list(journal) == ["a"]
    assert (tmp_path / "j").read_bytes().endswith(b"}\n")


def test_read_only_opening_neither_repairs_nor_locks_nor_creates(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "journal.jsonl"
    with Journal(path, read_only=True) as none:
        assert len(none) == 0
    assert not path.parent.exists()
    with Journal(path) as journal:
        journal.append("a", NoteEntry(text="one"))
        with path.open("ab") as stream:
            stream.write(b'{"key": "b", "n"')
        before = path.read_bytes()
        with Journal(path, read_only=True) as reading:
            assert list(reading) == ["a"] and reading.entry("a", NoteEntry).text == "one"
        assert path.read_bytes() == before


@given(st.lists(st.text(max_size=2)), st.integers(min_value=0, max_value=40))
def test_it_is_a_dictionary_whatever_slots_collide(keys: list[str], shift: int) -> None:
    codes: dict[str, int] = {}
    index = KeyIndex(lambda key: codes.setdefault(key, len(codes) << shift))
    expected: dict[str, int] = {}
    for offset, key in enumerate(keys):
        assert index.get(key) == expected.get(key)
        index.set(key, offset)
        expected[key] = offset
        assert index.get(key) == offset
    assert list(index) == list(expected.values())
    assert len(index) == len(expected)


def test_it_grows() -> None:
    index = KeyIndex()
    for number in range(5000):
        index.set(str(number), number)
    assert all(index.get(str(number)) == number for number in range(5000))
    assert index.get("5000") is None


@pytest.mark.parametrize("code", [-1, -(2**63), 2**63 - 1])
def test_any_hash_has_a_slot(code: int) -> None:
    index = KeyIndex(lambda key: code if key == "a" else 0)
    index.set("a", 7)
    assert index.get("a") == 7
    assert index.get("b") is None
