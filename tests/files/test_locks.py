"""Locks between processes: one owner, whom an error names; free again however that process ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.running import environment
from toolassay.errors import UsageError
from toolassay.files.locks import exclusive_folder, lock_descriptor, open_regular, remove_temporaries

OWNER = """
import sys
from pathlib import Path
from toolassay.files.locks import exclusive_folder
with exclusive_folder(Path(sys.argv[1]), ".lock", what="another test", fix="wait"):
    print("ready", flush=True)
    sys.stdin.read()
"""


def waiting(program: str, folder: Path) -> subprocess.Popen[str]:
    """A process in a folder that has said a line and goes on until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_a_second_process_is_refused_and_the_error_names_the_owner(tmp_path: Path) -> None:
    owner = waiting(OWNER, tmp_path)
    with (
        pytest.raises(
            UsageError, match=rf"another test is writing it \(process {owner.pid} on .*\)\. Fix: wait"
        ),
        exclusive_folder(tmp_path, ".lock", what="another test", fix="wait"),
    ):
        pass
    owner.communicate()
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    owner = waiting(OWNER, tmp_path)
    owner.kill()
    owner.communicate()
    assert (tmp_path / ".lock").read_text().startswith(f"process {owner.pid} on ")
    with exclusive_folder(tmp_path, ".lock", what="another test", fix="wait"):
        assert not (tmp_path / ".lock").read_text().startswith(f"process {owner.pid} on ")
    assert list(tmp_path.iterdir()) == []


def test_one_descriptor_at_a_time_holds_the_lock_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text("kept")
    with path.open("ab") as first, path.open("ab") as second:
        assert lock_descriptor(first.fileno())
        assert not lock_descriptor(second.fileno())
        first.close()
        assert lock_descriptor(second.fileno(), wait=True)
    assert path.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [path]


TEMPORARIES = """
import sys
from pathlib import Path
from toolassay.files.data_files import atomic_writer
from toolassay.files.locks import temporary_folder
place = Path(sys.argv[1])
with atomic_writer(place / "data.json") as stream, temporary_folder(place) as folder:
    (folder / "closed").mkdir(mode=0o500)
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_left_is_removed_and_nothing_of_a_live_one(tmp_path: Path) -> None:
    theirs = {".data.json.unfinished", ".data.json.a1_b2c3d-none.unfinished", "toolassay-notes"}
    for name in theirs:
        (tmp_path / name).write_text("mine")
    killed, live = waiting(TEMPORARIES, tmp_path), waiting(TEMPORARIES, tmp_path)
    with live, killed:
        killed.kill()
        killed.wait()
        assert len(list(tmp_path.iterdir())) == 4 + len(theirs)
        remove_temporaries(tmp_path)
        assert len(list(tmp_path.iterdir())) == 2 + len(theirs)
        live.communicate("")
    assert {path.name for path in tmp_path.iterdir()} == theirs | {"data.json"}


@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
def test_only_a_regular_file_is_opened_and_no_link_is_written_through(tmp_path: Path, kind: str) -> None:
    path, outside = tmp_path / "file", tmp_path / "outside"
    outside.write_text("theirs")
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else outside)
    with (
        pytest.raises(OSError, match="pipe or a device" if kind == "pipe" else "link"),
        open_regular(path, "ab"),
    ):
        pass
    if kind == "link":
        with open_regular(path) as stream:
            assert stream.read() == b"theirs"
        return
    with pytest.raises(OSError, match="pipe or a device"), open_regular(path):
        pass
