"""A temporary copy of a folder in which a server or a function works, and what the copy holds.

Plans and results call the copy `/workspace`, so that they are the same in every copy: the executor replaces
`/workspace` in arguments by the path of the copy, and that path in results by `/workspace`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.executors.executor import EnvironmentFailure, State
from toolassay.extras import Option

NAME = "/workspace"
PLACEHOLDER = "{workspace}"
"""Stands for the path of the copy in a command line or a configuration."""

WORKSPACE = Option(
    "workspace",
    "mcp, python: folder to copy for each plan; {workspace} in the command, and /workspace in arguments and "
    "results, stand for the copy.",
    metavar="FOLDER",
)
FRESH = Option(
    "fresh",
    "mcp, python: 'plan' starts a new process on a new copy for each plan; 'worker' one process for many "
    "plans, whose copy is restored before each.",
    choices=("plan", "worker"),
)

# "/workspace" and "/workspace/notes" in any text; not "/workspaces" or "/my/workspace".
_NAMED = re.compile(r"(?<![\w./-])/workspace(?![\w-])")
_SQLITE = b"SQLite format 3\0"
_MOST_ROWS = 20_000  # of a table, which are listed one by one
_LONGEST_ROW = 2_000  # characters; a longer row is named by its hash
# Files of Git that hold times, or what its index or objects say already.
_GIT_NOISE = ("index", "logs", "COMMIT_EDITMSG", "ORIG_HEAD", "FETCH_HEAD", "gc.log")
_BESIDE_DATABASES = ("-journal", "-wal", "-shm")


class Workspace:
    """A copy of a folder.

    Args:
        source: The folder that is copied; it is never changed.

    Attributes:
        path: The copy.

    Raises:
        UsageError: The source is not a folder.
    """

    def __init__(self, source: Path) -> None:
        if not source.is_dir():
            raise UsageError("is not a folder", file=source, fix="give --workspace the folder to copy")
        self._source = source.resolve()
        self._above = Path(tempfile.mkdtemp(prefix="toolassay-")).resolve()
        self.path = self._above / "workspace"
        self._real = re.compile(re.escape(str(self.path)) + r"(?![\w-])")
        self._fill()

    def _fill(self) -> None:
        shutil.copytree(self._source, self.path, symlinks=True, ignore=self._left_out)

    def _left_out(self, folder: str, names: list[str]) -> set[str]:
        """Links that lead out of the folder, through which the original could be changed, and sockets."""
        found = set()
        for name in names:
            path = Path(folder, name)
            if path.is_symlink():
                is_kept = not path.readlink().is_absolute() and path.resolve().is_relative_to(self._source)
            else:
                is_kept = path.is_file() or path.is_dir()
            if not is_kept:
                found.add(name)
        return found

    def restore(self) -> None:
        """Give the copy the content of the source again, in the same folder."""
        for path in self.path.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        shutil.copytree(self._source, self.path, symlinks=True, ignore=self._left_out, dirs_exist_ok=True)

    def remove(self) -> None:
        """Delete the copy."""
        shutil.rmtree(self._above, ignore_errors=True)

    def with_real_paths(self, value: Any) -> Any:
        """A JSON value with the path of the copy in place of `/workspace`, in its texts and names."""
        return _with_texts(value, lambda text: _NAMED.sub(lambda _: str(self.path), text))

    def with_names(self, value: Any) -> Any:
        """A JSON value with `/workspace` in place of the path of the copy."""
        return _with_texts(value, lambda text: self._real.sub(NAME, text))

    def filled_in(self, text: str) -> str:
        """A text with the path of the copy in place of `{workspace}`."""
        return text.replace(PLACEHOLDER, str(self.path))

    def state(self) -> State:
        """What the copy holds; see `state_of`."""
        try:
            return state_of(self.path)
        except (OSError, sqlite3.Error) as error:
            raise EnvironmentFailure(f"its workspace cannot be read: {error}") from None


def paths_in(source: Path, most: int = 200) -> tuple[list[str], list[str]]:
    """The files and the folders of a folder as `/workspace/…`, hidden ones left out."""
    files, folders, waiting = list[str](), [NAME], [source]
    while waiting and len(files) + len(folders) < most:
        for path in sorted(waiting.pop(0).iterdir()):
            if path.name.startswith(".") or path.is_symlink():
                continue
            place = f"{NAME}/{path.relative_to(source).as_posix()}"
            (folders if path.is_dir() else files).append(place)
            waiting += [path] if path.is_dir() else []
    return files, folders


def _with_texts(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_with_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _with_texts(item, change) for key, item in value.items()}
    return value


def state_of(folder: Path) -> dict[str, Any]:
    """The content of a folder as comparable places.

    A file is its hash, a folder ends in "/". Of an SQLite database each row is a place, with the number of
    its occurrences. Of a Git repository the index is what `git ls-files --stage` lists, because the file
    itself holds times.
    """
    state: dict[str, Any] = {}
    for path in _walk(folder):
        place = path.relative_to(folder).as_posix()
        if path.is_symlink():
            state[place] = f"link:{path.readlink()}"
        elif path.is_dir():
            state[f"{place}/"] = "folder"
            if path.name == ".git":
                state[f"{place}/index"] = _git_index(path.parent)
        elif _is_database(path):
            state |= {f"{place}/{row}": count for row, count in _rows(path)}
        elif not (path.name.endswith(_BESIDE_DATABASES) and _is_database(_without_ending(path))):
            state[place] = f"sha256:{_hash(path)}"
    return state


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if folder.name == ".git" and path.name in _GIT_NOISE:
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)


def _without_ending(path: Path) -> Path:
    return path.with_name(path.name.rpartition("-")[0])


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """The places of a database: its tables, and the rows of each with their number."""
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        tables = base.execute(
            "SELECT name, sql FROM sqlite_master "
            "WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        ).fetchall()
        for name, definition in tables:
            yield name, " ".join(str(definition).split())
            quoted = '"' + name.replace('"', '""') + '"'
            yield from table_places(name, base.execute(f"SELECT * FROM {quoted}")).items()
    finally:
        base.close()


def table_places(name: str, rows: sqlite3.Cursor, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """The rows of a table as places of a state, each with the number of its occurrences.

    Args:
        name: The table.
        rows: All rows.
        leave_out: Columns that do not count.
    """
    columns = [column[0] for column in rows.description]
    kept = [place for place, column in enumerate(columns) if column not in leave_out]
    names = [columns[place] for place in kept]
    counts = Counter(_row(names, [cells[place] for place in kept]) for cells in rows)
    if len(counts) <= _MOST_ROWS:
        return {f"{name}/{row}": count for row, count in sorted(counts.items())}
    text = json.dumps(sorted(counts.items()))
    return {f"{name}/rows": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}


def _row(columns: Sequence[str], cells: Sequence[Any]) -> str:
    plain = [cell.hex() if isinstance(cell, bytes) else cell for cell in cells]
    text = json.dumps(dict(zip(columns, plain, strict=True)), ensure_ascii=False)
    return text if len(text) <= _LONGEST_ROW else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _git_index(repository: Path) -> str:
    """A hash of what is staged; empty without the program `git`."""
    git = shutil.which("git")
    if git is None:
        return ""
    done = subprocess.run(
        [git, "-C", str(repository), "-c", "core.fsmonitor=false", "ls-files", "--stage"],
        capture_output=True,
        timeout=30,
        check=False,
        env={"PATH": os.environ.get("PATH", ""), "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1"},
    )
    return f"sha256:{hashlib.sha256(done.stdout).hexdigest()}"


def digest_of(state: State) -> str:
    """A hash of a state, equal for equal states."""
    text = json.dumps(state, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def changes_of(before: State, after: State) -> dict[str, dict[str, Any]]:
    """The places that differ between two states; null stands for a place that is not there.

    >>> changes_of({"a": 1, "b": 1}, {"b": 2, "c": 3})
    {'a': {'before': 1, 'after': None}, 'b': {'before': 1, 'after': 2}, 'c': {'before': None, 'after': 3}}
    """
    return {
        place: {"before": before.get(place), "after": after.get(place)}
        for place in sorted({*before, *after})
        if before.get(place) != after.get(place)
    }
