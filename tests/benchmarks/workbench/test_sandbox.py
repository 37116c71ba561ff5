from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from toolassay.benchmarks.workbench.sandbox import FILE, Sandbox
from toolassay.benchmarks.workbench.tools import call
from toolassay.errors import UsageError


def test_a_fork_is_independent_and_so_is_a_fork_of_a_fork(sandbox: Sandbox) -> None:
    first = sandbox.fork()
    call(first, "email.delete_email", {"email_id": "00000000"})
    second = first.fork()
    call(second, "email.delete_email", {"email_id": "00000001"})
    assert [len(box.rows("emails")) for box in (sandbox, first, second)] == [3, 2, 1]


def test_what_a_sandbox_is_survives_a_file(tmp_path: Path) -> None:
    made = Sandbox.of({"plots": [["a.png"]]}, now=datetime(2030, 1, 2, 3), user="Kim", overwrites=False)
    made.save(tmp_path / FILE)
    for path in (tmp_path, tmp_path / FILE):
        read = Sandbox.load(path)
        assert (read.now, read.user, read.overwrites) == (datetime(2030, 1, 2, 3), "Kim", False)
        assert read.rows("plots") == [("a.png",)]
        assert read.image() == made.image()


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda path: None, "no such file"),
        (lambda path: path.write_bytes(b"hello"), "not an SQLite file"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 5000), "is not a sandbox"),
        (
            lambda path: sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close(),
            "no such table",
        ),
    ],
)
def test_what_is_no_sandbox_is_refused(tmp_path: Path, write: Callable[[Path], object], words: str) -> None:
    write(tmp_path / FILE)
    with pytest.raises(UsageError, match=words):
        Sandbox.load(tmp_path / FILE)


def test_nothing_of_a_failed_transaction_stays(sandbox: Sandbox) -> None:
    before = sandbox.rows("emails")
    with pytest.raises(RuntimeError), sandbox.transaction():
        sandbox.connection.execute("DELETE FROM emails")
        raise RuntimeError
    assert sandbox.rows("emails") == before
