"""Copies of folders: what they hold, that they lead nowhere else, and how their content is compared."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.running import files_below
from toolassay.executors.workspace import (
    Workspace,
    changes_of,
    copy_of,
    digest_of,
    state_of,
)

NAMES = st.sampled_from(["a", "b.txt", "ü", " c", "d.db-wal", "e-journal"])
CONTENTS = st.binary(max_size=20)
TREES: Any = st.recursive(CONTENTS, lambda inner: st.dictionaries(NAMES, inner, max_size=4), max_leaves=8)


@pytest.fixture
def source(tmp_path: Path, temporary_files: Path) -> Path:
    """A folder to copy, beside that of temporary files."""
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


def write(folder: Path, tree: Any, reverse: bool = False) -> None:
    """Make files and folders, in one order or the other."""
    folder.mkdir(exist_ok=True)
    for name in sorted(tree, reverse=reverse):
        if isinstance(tree[name], dict):
            write(folder / name, tree[name], reverse)
        else:
            (folder / name).write_bytes(tree[name])


def database(path: Path, *rows: tuple[Any, ...], mode: str = "delete") -> Path:
    with closing(sqlite3.connect(path)) as base:
        base.execute(f"PRAGMA journal_mode={mode}")
        base.execute("CREATE TABLE IF NOT EXISTS notes (name TEXT, size)")
        base.executemany("INSERT INTO notes VALUES (?, ?)", rows)
        base.commit()
    return path


def git(folder: Path, *words: str) -> str:
    program = shutil.which("git")
    if program is None:
        pytest.skip("there is no git")
    env = {
        **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
    }
    return subprocess.run(
        [program, *words], cwd=folder, env=env, capture_output=True, text=True, check=True
    ).stdout


# States


@settings(max_examples=25)
@given(tree=st.dictionaries(NAMES, TREES, max_size=4), other=st.dictionaries(NAMES, TREES, max_size=4))
def test_states_are_equal_if_the_content_is(
    tmp_path_factory: pytest.TempPathFactory, tree: Any, other: Any
) -> None:
    place = tmp_path_factory.mktemp("states")
    write(place / "one", tree)
    write(place / "two", tree, reverse=True)
    write(place / "other", other)
    assert state_of(place / "one") == state_of(place / "two")
    assert digest_of(state_of(place / "one")) == digest_of(state_of(place / "two"))
    assert (state_of(place / "one") == state_of(place / "other")) == (tree == other)
    shutil.rmtree(place)


def test_places_are_files_folders_and_links(source: Path) -> None:
    write(source, {"a.txt": b"a", "empty": {}, "sub": {"b": b"b"}})
    (source / "link").symlink_to("sub/b")
    (source / "gone").symlink_to("nowhere")
    assert {place: value[:10] for place, value in state_of(source).items()} == {
        "a.txt": "sha256:ca9",
        "empty/": "folder",
        "sub/": "folder",
        "sub/b": "sha256:3e2",
        "link": "link:sub/b",
        "gone": "link:nowhe",
    }


def test_rows_of_a_database_are_places(source: Path) -> None:
    database(source / "n#1?.db", ("oak", 1), ("elm", None), ("oak", 1), ("ash", b"\x01"))
    with closing(sqlite3.connect(source / "n#1?.db")) as base:
        base.execute('CREATE TABLE "odd ""name" (a)')
        base.execute('INSERT INTO "odd ""name" VALUES (CAST(x\'ff41\' AS TEXT))')
        base.commit()
    assert state_of(source) == {
        "n#1?.db/notes": "CREATE TABLE notes (name TEXT, size)",
        'n#1?.db/notes/{"name": "ash", "size": "01"}': 1,
        'n#1?.db/notes/{"name": "elm", "size": null}': 1,
        'n#1?.db/notes/{"name": "oak", "size": 1}': 2,
        'n#1?.db/odd "name': 'CREATE TABLE "odd ""name" (a)',
        'n#1?.db/odd "name/{"a": "�A"}': 1,
    }
    assert [path.name for path in source.iterdir()] == ["n#1?.db"]


def test_a_write_ahead_log_counts_and_reading_leaves_no_files(source: Path) -> None:
    """A database that a server has open, and the same one after it was closed."""
    database(source / "n.db", ("oak", 1), mode="wal")
    assert files_below(source).keys() == {"n.db"}
    closed = state_of(source)
    assert files_below(source).keys() == {"n.db"}  # SQLite itself would have made two more
    with closing(sqlite3.connect(source / "n.db")) as base:
        base.execute("INSERT INTO notes VALUES ('elm', 2)")
        base.commit()
        before = files_below(source)
        opened = state_of(source)
        assert files_below(source) == before
    assert changes_of(closed, opened) == {
        'n.db/notes/{"name": "elm", "size": 2}': {"before": None, "after": 1}
    }
    assert state_of(source) == opened


def test_a_staged_change_is_a_change_and_times_are_none(source: Path) -> None:
    git(source, "init", "--quiet")
    (source / "a.txt").write_text("a")
    git(source, "add", "a.txt")
    git(source, "commit", "--quiet", "-m", "first", "--date=2031-01-01T12:00:00Z")
    before = state_of(source)
    os.utime(source / "a.txt")
    git(source, "status")  # writes the index again
    assert state_of(source) == before
    (source / "b.txt").write_text("b")
    unstaged = state_of(source)
    git(source, "add", "b.txt")
    changed = {place for place in changes_of(unstaged, state_of(source)) if "objects" not in place}
    assert changed == {".git/index"}
    git(source, "rm", "--cached", "--quiet", "b.txt")
    assert state_of(source)[".git/index"] == before[".git/index"]


# Copies


def test_links_that_lead_out_are_not_copied(source: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, {"secret": b"s"})
    write(source, {"a": b"a", "sub": {"b": b"b", "deep": {}}})
    kept = {"in": "a", "up": "sub/../a", "dangling": "sub/none", "sub/up": "../a"}
    up_to_root = "../" * len((source / "sub").parts) + str(source / "a").lstrip("/")
    lost = {
        "out": str(outside / "secret"),
        "folder": "../outside",
        "absolute": str(source / "a"),  # the original itself
        "again": "../source/a",
        "sub/root": up_to_root,  # relative, and the same in every copy: the original
        "chain": "out",
        "circle": "circle",
        "sub/deep/out": "../../../outside/secret",
    }
    for name, target in (kept | lost).items():
        (source / name).symlink_to(target)
    assert (source / "sub/root").resolve() == source / "a"
    copy = Workspace(source)
    found = {
        str(path.relative_to(copy.path)): str(path.readlink())
        for path in copy.path.rglob("*")
        if path.is_symlink()
    }
    assert found == kept
    (copy.path / "sub/up").write_bytes(b"changed")
    (copy.path / "dangling").write_bytes(b"new")
    copy.restore()
    assert (source / "a").read_bytes() == b"a" and not (source / "sub/none").exists()
    copy.remove()


@settings(max_examples=15)
@given(tree=st.dictionaries(NAMES, TREES, max_size=4), other=st.dictionaries(NAMES, TREES, max_size=4))
def test_restoring_gives_back_the_original(
    tmp_path_factory: pytest.TempPathFactory, tree: Any, other: Any
) -> None:
    """Whatever was made of it: a file in place of a folder, more, less, or nothing."""
    source = tmp_path_factory.mktemp("source")
    write(source, tree)
    copy = Workspace(source)
    try:
        assert copy.state() == state_of(source)
        for path in list(copy.path.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        write(copy.path, other)
        copy.restore()
        assert copy.state() == state_of(source)
        assert files_below(copy.path) == files_below(source)
    finally:
        copy.remove()
        shutil.rmtree(source)
    assert not copy.path.exists()


def test_a_server_that_keeps_a_file_open_sees_the_restored_content(source: Path) -> None:
    database(source / "n.db", ("oak", 1))
    (source / "a.txt").write_text("first")
    copy = Workspace(source)
    with closing(sqlite3.connect(copy.path / "n.db")) as base, (copy.path / "a.txt").open() as file:
        for _ in range(2):
            base.execute("INSERT INTO notes VALUES ('elm', 2)")
            base.commit()
            assert base.execute("SELECT count(*) FROM notes").fetchone() == (2,)
            (copy.path / "a.txt").write_text("second")
            copy.restore()
            assert base.execute("SELECT count(*) FROM notes").fetchone() == (1,)
            file.seek(0)
            assert file.read() == "first"
    copy.remove()


async def test_a_cancelled_copy_is_deleted(
    source: Path, temporary_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(source, {"a": b"a"})
    copying, go_on = asyncio.Event(), False
    loop, real = asyncio.get_running_loop(), shutil.copyfile

    def slow(*paths: Any, **options: Any) -> Any:
        loop.call_soon_threadsafe(copying.set)
        deadline = time.monotonic() + 10
        while not go_on and time.monotonic() < deadline:
            time.sleep(0.005)
        return real(*paths, **options)

    monkeypatch.setattr(shutil, "copyfile", slow)
    task = asyncio.ensure_future(copy_of(source))
    await copying.wait()
    task.cancel()
    go_on = True
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not files_below(temporary_files)


# Names


@pytest.fixture
def copy(source: Path) -> Any:
    """A copy of a folder with one file."""
    (source / "a.txt").write_text("a")
    made = Workspace(source)
    yield made
    made.remove()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    value=st.recursive(
        st.integers()
        | st.lists(st.sampled_from(["/workspace", "a", " ", "/", ".", "-", "file:/", "s", "\n"])).map(
            "".join
        ),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    )
)
def test_names_and_real_paths_are_each_others_opposite(copy: Workspace, value: Any) -> None:
    assert copy.with_names(copy.with_real_paths(value)) == value


def test_a_result_of_one_call_is_an_argument_of_the_next(copy: Workspace) -> None:
    for text in (str(copy.path / "a.txt"), f"file://{copy.path}/a.txt", f"in {copy.path}."):
        named = copy.with_names({text: [text]})
        assert copy.with_real_paths(named) == {text: [text]}
    assert copy.with_names(f"{copy.path}.old") == f"{copy.path}.old"


def test_words_of_a_command_that_name_the_original_name_the_copy(
    copy: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(source.parent)
    (source.parent / "alias").symlink_to(source)
    for word, after in {
        "{workspace}/a.txt": "/a.txt",
        str(source): "",
        f"{source}/a.txt": "/a.txt",
        f"{source}/not/yet": "/not/yet",
        "source": "",
        "./source/a.txt": "/a.txt",
        "alias/a.txt": "/a.txt",
        str(source.parent / "alias"): "",
    }.items():
        assert copy.filled_in(word) == f"{copy.path}{after}"
        assert copy.filled_in(f"--root={word}") == f"--root={copy.path}{after}"
    assert copy.filled_in(f"sh -c 'ls {source}'") == f"sh -c 'ls {copy.path}'"
    for word in (
        "",
        "serve",
        "-y",
        f"{source}s",
        "--source",
        "source-2",
        "no/such",
        str(source.parent),
        "a" * 5000,
    ):
        assert copy.filled_in(word) == word


def test_pipes_and_sockets_are_not_opened(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(source / "pipe")
    monkeypatch.chdir(source)  # the path of a socket may be short only
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        assert state_of(source) == {"pipe": "special", "socket": "special"}
        copy = Workspace(source)
    assert copy.state() == {}
    copy.remove()


def test_restoring_writes_to_no_file_outside_through_a_second_name(source: Path, tmp_path: Path) -> None:
    (source / "a").write_text("first")
    copy = Workspace(source)
    (copy.path / "a").unlink()
    (tmp_path / "outside").write_text("mine")
    os.link(tmp_path / "outside", copy.path / "a")
    copy.restore()
    assert (tmp_path / "outside").read_text() == "mine"
    assert (copy.path / "a").read_text() == "first"
    copy.remove()
