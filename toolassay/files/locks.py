"""Locks between processes, temporary files and folders that hold one, and files that are no link or pipe.

The operating system releases a lock (of the package `filelock`) however its process ends, also by `kill -9`.
So a later process recognises temporary files that are left over, and removes them.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import IO, Any, Self
from zlib import crc32

from toolassay.errors import ToolassayError, UsageError

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | _NO_WAIT
"""Flags of `os.open` that refuse a link and do not wait for the other end of a pipe."""

_OWNER_LENGTH = 200  # characters of a lock file that an error repeats; what this module writes is shorter


class Closable(ABC):
    """A context manager that closes itself at the end of the block."""

    @abstractmethod
    def close(self) -> None:
        """Release what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_regular(path: Path, mode: str = "rb", **settings: Any) -> IO[Any]:
    """`open` for regular files only; a file to write is not a link, which may lead out of a shared folder.

    Args:
        path: the file.
        mode: as for `open`.
        settings: as for `open`.

    Raises:
        OSError: as `open`; or it is a pipe, a socket or a device, or a link that would be written through.
    """
    no_file = "is a pipe or a device, a file is needed"
    # ENXIO: a pipe that no process reads.
    reasons = {errno.ELOOP: "is a link, which is not followed", errno.ENXIO: no_file}

    def opener(name: str, flags: int) -> int:
        is_written = flags & (os.O_WRONLY | os.O_RDWR)
        try:
            descriptor = os.open(name, flags | (NO_LINK if is_written else _NO_WAIT), 0o666)
        except OSError as error:
            if error.errno not in reasons:
                raise
            raise OSError(error.errno, reasons[error.errno], name) from None
        kind = os.fstat(descriptor).st_mode
        is_accepted = (
            stat.S_ISREG(kind)
            or stat.S_ISDIR(kind)  # `open` itself refuses it
            or os.fspath(path) == os.devnull  # reads as an empty file
        )
        if not is_accepted:
            os.close(descriptor)
            raise OSError(errno.EINVAL, no_file, name)
        return descriptor

    return open(path, mode, opener=opener, **settings)


def refuse_links(*folders: Path) -> None:
    """Refuse folders to write to that are links, which may lead out of a shared folder.

    Raises:
        UsageError: One is a link.
    """
    for folder in folders:
        if folder.is_symlink():
            raise UsageError("is a link, which is not followed", file=folder, fix="remove it")


def lock_descriptor(descriptor: int, *, wait: bool = False) -> bool:
    """Take the exclusive lock of an open file or folder; closing the descriptor releases it.

    The lock is on the file itself (`flock` on Unix, `LockFileEx` on Windows). `filelock.FileLock` needs a
    second file beside it, which would stay in every folder of a run.

    Args:
        descriptor: of a file that the caller opened and will close.
        wait: until the lock is free (checked 20 times a second), instead of trying once.

    Returns:
        Whether the lock is held now; False only without `wait`, when another descriptor has it.

    Raises:
        OSError: the disk or the platform has no locks.
    """
    import filelock

    return filelock.lock_descriptor(descriptor, blocking=wait)


@contextmanager
def exclusive_folder(folder: Path, name: str, *, what: str, fix: str) -> Iterator[None]:
    """Lock a folder against other processes. A missing one is created, and removed at the end if still empty.

    Args:
        folder: the folder.
        name: of the lock file, which exists in the folder while the lock is held, e.g. ".check.lock".
        what: the kind of process that holds the lock, for the error, e.g. "another check".
        fix: what the error advises if another process holds it.

    Raises:
        UsageError: another process holds it; the message names that process.
        ToolassayError: the folder cannot be written, or its disk has no locks.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with exclusive_folder(Path(place) / "new", ".lock", what="another test", fix="wait"):
    ...         print([path.name for path in (Path(place) / "new").iterdir()])
    ...     print((Path(place) / "new").exists())
    ['.lock']
    False
    """
    created = [path for path in (folder, *folder.parents) if not path.exists()]
    path = folder / name
    try:
        stream = _locked_file(path, what, fix)
    except OSError as error:
        raise ToolassayError(
            f"cannot be locked: {error.strerror or error}",
            file=path,
            fix="check the folder, its permissions and its disk",
        ) from error
    with stream:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # the folder is not empty
                for empty in created:
                    empty.rmdir()


def _locked_file(path: Path, what: str, fix: str) -> IO[str]:
    """The lock file, open and locked, with a line that names this process."""
    from socket import gethostname  # 4 ms, which commands that write nothing save

    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            stream = open_regular(path, "a+", encoding="utf-8")
        except FileNotFoundError:  # an owner that has just ended removed the folder
            continue
        try:
            if not lock_descriptor(stream.fileno()):
                stream.seek(0)
                owner = " ".join(stream.read(_OWNER_LENGTH).split())
                raise UsageError(
                    f"{what} is writing it{f' ({owner})' if owner else ''}", file=path.parent, fix=fix
                )
            # An owner that has just ended may have removed the file between `open` and the lock. The lock
            # of a removed file excludes no process, so the file is opened again.
            if path.exists() and os.path.samestat(os.fstat(stream.fileno()), path.stat()):
                stream.truncate(0)
                stream.write(
                    f"process {os.getpid()} on {gethostname()}, since {datetime.now():%Y-%m-%d %H:%M:%S}"
                )
                stream.flush()
                return stream
        except BaseException:
            stream.close()
            raise
        stream.close()


@cache
def _host() -> str:
    """Four digits that name this machine, because not every shared disk shows a lock to the others."""
    from socket import gethostname

    return f"{crc32(gethostname().encode()) & 0xFFFF:04x}"


def new_temporary(folder: Path, name: str = "") -> tuple[int, Path]:
    """Create a temporary file for the file `name`, or without a name a temporary folder, and lock it.

    First, those that killed processes of this machine left in `folder` are removed.

    Returns:
        The open descriptor, which the caller closes last, and the path.

    Raises:
        OSError: it cannot be created.
    """
    import filelock  # noqa: F401  # now: SIGTERM during the import would leave what is created below

    remove_temporaries(folder)
    while True:
        if name:
            descriptor, created = tempfile.mkstemp(f"-{_host()}.unfinished", f".{name}.", folder)
        else:
            created = tempfile.mkdtemp(f"-{_host()}", "toolassay-", folder)
            descriptor = os.open(created, os.O_RDONLY)
        try:
            is_ours = lock_descriptor(descriptor)
        except OSError:  # the disk has no locks, so no process removes it
            is_ours = True
        if is_ours and Path(created).exists():
            return descriptor, Path(created)
        os.close(descriptor)  # a process that looked for left ones was faster


@cache
def remove_temporaries(folder: Path) -> None:
    """Remove the temporary files and folders in `folder` that killed processes of this machine left.

    It is done once in a process.
    """
    # ".data.json.a1_b2c3d-7f3a.unfinished", "toolassay-a1_b2c3d-7f3a", not a user's ".data.json.unfinished"
    ours = re.compile(rf"\..+\.\w{{8}}-{_host()}\.unfinished|toolassay-\w{{8}}-{_host()}")
    # The folder may be missing or unreadable: that stops the work itself, not this clean-up.
    with suppress(OSError):
        for path in [entry for entry in folder.iterdir() if ours.fullmatch(entry.name)]:
            with suppress(OSError):  # of another user, or another process removes it, too
                descriptor = os.open(path, os.O_RDONLY | NO_LINK)
                try:
                    # In /tmp, another user may change a folder while it is deleted.
                    is_own = os.fstat(descriptor).st_uid == getattr(os, "geteuid", int)()
                    if is_own and lock_descriptor(descriptor):
                        delete(path)
                finally:
                    os.close(descriptor)


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """A folder `toolassay-…` that is deleted at the end; if the process is killed, by a later one.

    Args:
        parent: the folder to create it in [default: that of the system].
    """
    descriptor, path = new_temporary(parent or Path(tempfile.gettempdir()))
    try:
        yield path.resolve()
    finally:
        # `remove_temporaries` deletes it later; an error here would hide that of the block.
        with suppress(OSError):
            delete(path)
        os.close(descriptor)


def delete(path: Path) -> None:
    """Delete a file or a folder, also one that may not be written to."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for folder, names, _ in os.walk(path):  # top down, so that what it is about to list can be listed
        for entry in (Path(folder), *(Path(folder, name) for name in names)):
            if not entry.is_symlink():
                entry.chmod(stat.S_IRWXU)
    shutil.rmtree(path, ignore_errors=True)
