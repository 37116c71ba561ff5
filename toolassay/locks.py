"""Locks between processes, by the `filelock` package.

The operating system releases such a lock however its process ends, also by `kill -9`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from toolassay.errors import ToolassayError, UsageError

_OWNER_LENGTH = 200  # characters of a lock file that an error repeats; what this module writes is shorter


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
    made = [path for path in (folder, *folder.parents) if not path.exists()]
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
                for empty in made:
                    empty.rmdir()


def _locked_file(path: Path, what: str, fix: str) -> IO[str]:
    """The lock file, open and locked, with a line that names this process."""
    from socket import gethostname  # 4 ms, for whoever writes nothing

    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            stream = path.open("a+", encoding="utf-8")
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
                stream.write(f"process {os.getpid()} on {gethostname()}, since {_now()}")
                stream.flush()
                return stream
        except BaseException:
            stream.close()
            raise
        stream.close()


def _now() -> str:
    return f"{datetime.now():%Y-%m-%d %H:%M:%S}"
