"""A temporary copy of a folder in which a server or a function works, and what the copy holds.

Plans and results call the copy `/workspace`, so that they are the same in every copy: the executor replaces
`/workspace` in arguments by the path of the copy, and that path in results by `/workspace`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from toolassay.errors import UsageError
from toolassay.executors.executor import (
    CallLimits,
    Environment,
    EnvironmentFailure,
    OpenExecutor,
    State,
)
from toolassay.files.data_files import map_texts, unescaped_json
from toolassay.files.locks import delete, temporary_folder
from toolassay.models.redaction import without
from toolassay.plans.execution_record import Arguments, Change

NAME = "/workspace"
PLACEHOLDER = "{workspace}"
"""Stands for the path of the copy in a command line or a configuration."""

# The end of the path: before "/notes", " " and "."; not before "s", "-old" or ".old".
_END = r"(?![\w-]|\.\w)"
# "/workspace", "/workspace/notes" and "file:///workspace" in any text; not "/workspaces", "/workspace.old" or
# "/my/workspace".
_NAMED = re.compile(rf"(?:(?<![\w./-])|(?<=file://))/workspace{_END}")
_SQLITE = b"SQLite format 3\0"
_LARGEST_TEXT = 16 * 2**20  # bytes of a file in which the path of its copy is looked for
_MOST_ROWS = 20_000  # of a table, which are listed one by one
_MOST_PATHS = 200  # that are listed
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
        folder_of(source)
        self._source = self._first = source.resolve()
        self._stack = ExitStack()
        self.path = self._stack.enter_context(temporary_folder()) / "workspace"
        self._real = re.compile(re.escape(str(self.path)) + _END)
        try:
            self.restore()
        except BaseException:
            self.remove()
            raise

    def restore(self) -> None:
        """Give the copy the content of the source.

        Files are overwritten in place, so that a server that keeps one open, such as a database, sees the
        first content again.

        Raises:
            EnvironmentFailure: A file cannot be read or written.
        """
        try:
            _mirror(self._first, self.path)
            # Links that lead out of the copy, through which the original could be changed, are removed.
            links = [path for path in _walk(self.path) if path.is_symlink()]
            for path in [link for link in links if not _is_below(link, self.path)]:
                path.unlink()
        except OSError as error:
            raise EnvironmentFailure(f"its workspace cannot be copied: {error}") from None

    def keep_additions(self) -> None:
        """Make files that the copy has and the source has not part of what `restore` gives.

        A server that makes its database when it starts keeps it open, and could not write to it after its
        file was removed.

        Raises:
            EnvironmentFailure: A file cannot be read or written.
        """
        first = self.path.with_name("first")
        try:
            here = (path.relative_to(self.path) for path in self.path.rglob("*"))
            if any(not os.path.lexists(self._first / path) for path in here):
                _mirror(self.path, first)
                self._first = first
        except OSError as error:
            raise EnvironmentFailure(f"its workspace cannot be copied: {error}") from None

    def remove(self) -> None:
        """Delete the copy."""
        self._stack.close()

    def with_real_paths(self, value: Any) -> Any:
        """A JSON value with the path of the copy in place of `/workspace`, in its texts and names."""
        return map_texts(value, lambda text: _NAMED.sub(lambda _: str(self.path), text))

    def with_names(self, value: Any) -> Any:
        """A JSON value with `/workspace` in place of the path of the copy."""
        return map_texts(value, lambda text: self._real.sub(NAME, text))

    def filled_in(self, text: str) -> str:
        """A word of a command with the path of the copy in place of `{workspace}` and of the original.

        The original is found as an absolute path anywhere in the word, and as any path that is the whole word
        or follows `=`. Otherwise a server would work on the user's own files.
        """
        text = text.replace(PLACEHOLDER, str(self.path))
        original = re.compile(rf"(?<![\w./-]){re.escape(str(self._source))}{_END}")
        if self._source != Path(self._source.anchor):
            text = original.sub(lambda _: str(self.path), text)
        name, equals, value = text.rpartition("=")
        if is_path(value) and _is_below(Path(value), self._source):
            return f"{name}{equals}{self.path / Path(value).resolve().relative_to(self._source)}"
        return text

    def state(self) -> State:
        """What the copy holds; see `state_of`.

        Raises:
            EnvironmentFailure: It cannot be read.
        """
        try:
            return state_of(self.path, lambda text: self._real.sub(NAME, text))
        except (OSError, subprocess.SubprocessError) as error:
            raise EnvironmentFailure(f"its workspace cannot be read: {error}") from None


async def copy_of(source: Path) -> Workspace:
    """A copy of a folder, made while other plans run.

    Raises:
        EnvironmentFailure: A file cannot be read or written.
    """
    copying = asyncio.ensure_future(asyncio.to_thread(Workspace, source))
    try:
        return await asyncio.shield(copying)
    except asyncio.CancelledError:  # a thread cannot be cancelled
        with suppress(Exception):
            (await copying).remove()
        raise


def folder_of(workspace: str | Path) -> Path | None:
    """The folder that an option names for copies; None if it names none.

    Raises:
        UsageError: It is not a folder.
    """
    if str(workspace) == "":
        return None
    if not Path(workspace).is_dir():
        raise UsageError("is not a folder", file=Path(workspace), fix="give --workspace the folder to copy")
    return Path(workspace)


def is_path(word: str) -> bool:
    """Whether a word of a command is the path of something that exists.

    "notes/day.txt", "notes.db" and a folder are paths; "serve" is not, although a file may have this name.
    """
    path = Path(word)
    try:
        is_meant = "/" in word or bool(path.suffix) or path.is_dir()
        return bool(word) and not word.startswith("-") and is_meant and path.exists()
    except (OSError, ValueError):  # too long for a path, or with a null character
        return False


def _is_below(path: Path, folder: Path) -> bool:
    """Whether a path leads into a folder, all links followed."""
    try:
        return path.resolve().is_relative_to(folder)
    except (OSError, RuntimeError):  # links in a circle
        return False


def _mirror(source: Path, target: Path) -> None:
    """Give a folder the files, folders and links of another; sockets and pipes are left out."""
    target.mkdir(exist_ok=True)
    target.chmod(stat.S_IRWXU)
    originals = {path.name: path for path in source.iterdir() if _kind(path) != "special"}
    for path in list(target.iterdir()):
        original = originals.get(path.name)
        # A file with a second name is not overwritten: that name may be outside.
        if original is None or _kind(path) != _kind(original) or path.lstat().st_nlink > 1:
            delete(path)
    for name, original in originals.items():
        path = target / name
        kind = _kind(original)
        if kind == "folder":
            _mirror(original, path)
            continue
        if kind == "link":
            path.unlink(missing_ok=True)
        elif path.exists():
            path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        shutil.copyfile(original, path, follow_symlinks=False)
        shutil.copystat(original, path, follow_symlinks=False)
    shutil.copystat(source, target)


def _kind(path: Path) -> str:
    if path.is_symlink():
        return "link"
    if path.is_dir():
        return "folder"
    return "file" if path.is_file() else "special"


def paths_in(source: Path) -> tuple[list[str], list[str]]:
    """The files and the folders of a folder as `/workspace/…`, hidden ones left out."""
    files = list[str]()
    folders = [NAME]
    waiting = [source]
    while waiting and len(files) + len(folders) < _MOST_PATHS:
        for path in sorted(waiting.pop(0).iterdir()):
            if path.name.startswith(".") or path.is_symlink():
                continue
            path_text = f"{NAME}/{path.relative_to(source).as_posix()}"
            (folders if path.is_dir() else files).append(path_text)
            waiting += [path] if path.is_dir() else []
    return files, folders


def stored(value: Any, workspace: Workspace | None, keys: Sequence[str]) -> Any:
    """A JSON value as files keep it: with `/workspace` for the path of the copy, and `***` for each key."""
    named = value if workspace is None else workspace.with_names(value)
    return map_texts(named, lambda text: without(keys, text))


def state_of(folder: Path, named: Callable[[str], str] = str) -> State:
    """The content of a folder as comparable places. Nothing is written to the folder.

    A file is its hash, a folder ends in "/". Of an SQLite database each row is a place, with the number of
    its occurrences. Of a Git repository the index is what `git ls-files --stage` lists, because the file
    itself holds times.

    Args:
        folder: The folder.
        named: Applied to texts, so that a file that names its own path is the same in every copy.

    Raises:
        OSError: Something cannot be read.
    """
    state: dict[str, str | int] = {}
    for path in _walk(folder):
        # Names of files are bytes; those that are not UTF-8 would not survive a file of JSON.
        name = os.fsencode(path.relative_to(folder)).decode(errors="backslashreplace")
        kind = _kind(path)
        if kind == "link":
            state[name] = f"link:{named(str(path.readlink()))}"
        elif kind == "folder":
            state[f"{name}/"] = "folder"
            if path.name == ".git":
                state[f"{name}/index"] = _git_index(path.parent)
        elif kind == "special":
            state[name] = "special"  # a pipe would be waited for
        elif _is_database(path):
            try:
                state |= {f"{name}/{row}": count for row, count in _rows(path, named)}
            except sqlite3.Error:  # e.g. of an extension that is missing here
                state[name] = f"sha256:{_hash(path, named)}"
        elif not (path.name.endswith(_BESIDE_DATABASES) and _is_database(Path(str(path).rpartition("-")[0]))):
            state[name] = f"sha256:{_hash(path, named)}"
    return state


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if folder.name == ".git" and path.name in _GIT_NOISE:
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def _rows(path: Path, named: Callable[[str], str]) -> Iterator[tuple[str, str | int]]:
    """The places of a database: its tables, and the rows of each with their number."""
    with _opened(path) as base:
        base.text_factory = lambda text: named(text.decode(errors="replace"))
        tables = base.execute(
            "SELECT name, sql FROM sqlite_master "
            "WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        ).fetchall()
        for name, definition in tables:
            yield name, " ".join(str(definition).split())
            quoted = '"' + name.replace('"', '""') + '"'
            yield from table_places(name, base.execute(f"SELECT * FROM {quoted}")).items()


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A database, opened so that no file is created or changed beside it.

    SQLite creates files beside one with a write-ahead log, and writes to one with a journal, even if it is
    opened for reading. Such a database is copied with them.
    """
    beside = [
        companion for ending in _BESIDE_DATABASES[:2] if (companion := Path(f"{path}{ending}")).exists()
    ]
    if not any(companion.stat().st_size for companion in beside):
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as base:
            yield base
        return
    with temporary_folder() as folder:
        for file in (path, *beside):
            shutil.copyfile(file, folder / file.name)
        with closing(sqlite3.connect(folder / path.name)) as base:
            yield base


def table_places(name: str, rows: sqlite3.Cursor, leave_out: Collection[str] = ()) -> Mapping[str, str | int]:
    """The rows of a table as places of a state, each with the number of its occurrences.

    Args:
        name: The table.
        rows: All rows.
        leave_out: Columns that do not count.
    """
    columns = [column[0] for column in rows.description]
    kept_columns = [position for position, column in enumerate(columns) if column not in leave_out]
    names = [columns[position] for position in kept_columns]
    counts = Counter[str]()
    for cells in rows:
        plain = (
            cell.hex() if isinstance(cell, bytes) else cell for cell in map(cells.__getitem__, kept_columns)
        )
        text = unescaped_json(dict(zip(names, plain, strict=True)))
        is_short = len(text) <= _LONGEST_ROW
        counts[text if is_short else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"] += 1
    if len(counts) <= _MOST_ROWS:
        return {f"{name}/{row}": count for row, count in sorted(counts.items())}
    text = json.dumps(sorted(counts.items()))
    return {f"{name}/rows": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}


def _hash(path: Path, named: Callable[[str], str]) -> str:
    if path.stat().st_size <= _LARGEST_TEXT:
        text = path.read_bytes().decode(errors="surrogateescape")
        return hashlib.sha256(named(text).encode(errors="surrogateescape")).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _git_index(repository: Path) -> str:
    """A hash of what is staged; empty without the program `git`."""
    git = shutil.which("git")
    if git is None:
        return ""
    listing = subprocess.run(
        [
            *(git, "-C", str(repository), "-c", "core.fsmonitor=false", "-c", "safe.directory=*"),
            *("ls-files", "--stage"),
        ],
        capture_output=True,
        timeout=30,
        check=False,
        env={"PATH": os.environ.get("PATH", ""), "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1"},
    )
    return f"sha256:{hashlib.sha256(listing.stdout).hexdigest()}"


def digest_of(state: State) -> str:
    """A hash of a state, equal for equal states."""
    text = json.dumps(state, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def changes_of(before: State, after: State) -> dict[str, Change]:
    """The places that differ between two states.

    >>> changes_of({"a": 1, "b": 1}, {"b": 2, "c": 3})
    {'a': {'before': 1, 'after': None}, 'b': {'before': 1, 'after': 2}, 'c': {'before': None, 'after': 3}}
    """
    return {
        path: {"before": before.get(path), "after": after.get(path)}
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    }


class CopiedEnvironment(Environment, ABC):
    """An environment that works in a copy of a folder, if it has one.

    Attributes:
        workspace: The copy.
        has_failed: Whether a call has no result, after which the environment is not used any more.
    """

    def __init__(self, workspace: Workspace | None, keys: Sequence[str]) -> None:
        self.workspace = workspace
        self._keys = keys
        self.has_failed = False

    @property
    @abstractmethod
    def is_usable(self) -> bool:
        """Whether nothing has failed in it, and its process or connection lives."""

    @abstractmethod
    async def close(self) -> None:
        """End its processes and delete its copy."""

    def with_real_paths(self, arguments: Arguments) -> Arguments:
        """Arguments with the path of the copy for `/workspace`."""
        if self.workspace is None:
            return dict(arguments)
        return dict(self.workspace.with_real_paths(dict(arguments)))

    def stored(self, value: Any) -> Any:
        """A JSON value as files keep it: `/workspace` for the path of the copy, `***` for each known key."""
        return stored(value, self.workspace, self._keys)

    async def restore(self) -> None:
        """Give its copy the first content again."""
        if self.workspace is not None:
            await asyncio.to_thread(self.workspace.restore)

    async def keep_additions(self) -> None:
        """Make what a server added when it started part of that content."""
        if self.workspace is not None:
            await asyncio.to_thread(self.workspace.keep_additions)

    async def state(self) -> State | None:
        """What the copy holds."""
        if self.workspace is None:
            return None
        state: State = stored(await asyncio.to_thread(self.workspace.state), None, self._keys)
        return state


Copied = TypeVar("Copied", bound=CopiedEnvironment)


class PooledExecutor(OpenExecutor, Generic[Copied]):
    """Makes environments, and keeps those that are still usable for later plans.

    Args:
        workspace: The folder that is copied for each environment; "" for none.
        fresh: "worker" if an environment serves several plans; if not, each is closed after one.
        limits: Bounds on each call.

    Raises:
        UsageError: The workspace is no folder.
    """

    def __init__(self, workspace: str, fresh: str, limits: CallLimits) -> None:
        self.source = folder_of(workspace)
        self.limits = limits
        self.is_isolated = self.source is not None
        self.is_shared = self.reuses = fresh == "worker"
        self.starts_processes = True
        content = None if self.source is None else digest_of(state_of(self.source))
        self.identity: dict[str, Any] = {"workspace": content, "fresh": fresh}
        self._idle: list[Copied] = []

    @abstractmethod
    async def list_tools(self) -> None:
        """Find out which tools there are.

        Raises:
            UsageError: They cannot be listed.
        """

    @asynccontextmanager
    async def listed(self) -> AsyncIterator[Self]:
        """The executor with its tools listed; all environments end with the block."""
        try:
            await self.list_tools()
            yield self
        finally:
            await self.close()

    @abstractmethod
    async def new_environment(self, workspace: Workspace | None) -> Copied:
        """A new environment with a copy."""

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[Copied]:
        """An environment for one plan: a new one, or one that an earlier plan has used."""
        environment = await self._restored()
        if environment is None:
            environment = await self.new_environment(
                None if self.source is None else await copy_of(self.source)
            )
        is_whole = False
        try:
            yield environment
            is_whole = True
        finally:
            if is_whole and self.reuses and environment.is_usable:
                self._idle.append(environment)
            else:
                await environment.close()

    async def _restored(self) -> Copied | None:
        """One that an earlier plan has used; None if there is none. What cannot be used is closed."""
        while self._idle:
            environment = self._idle.pop()
            is_ready = False
            try:
                if environment.is_usable:
                    if self.is_isolated:
                        await environment.restore()
                    is_ready = True
                    return environment
            finally:
                if not is_ready:
                    await environment.close()
        return None

    async def close(self) -> None:
        """Close the idle environments."""
        while self._idle:
            await self._idle.pop().close()

    def paths(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those of the workspace."""
        return ((), ()) if self.source is None else paths_in(self.source)
