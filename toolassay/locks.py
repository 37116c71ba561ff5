"""One process at a time in a folder; the system lets go of the lock however the process ends."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from toolassay.errors import ToolassayError, UsageError


@contextmanager
def only_one(folder: Path, name: str, *, what: str, fix: str) -> Iterator[None]:
    """Hold a folder, which is made if missing; folders made for it that stay empty go at the end.

    Args:
        folder: where the lock lies while it is held.
        name: of the lock, e.g. ".check.lock".
        what: holds it, as an error names it.
        fix: what to do if another process does.

    Raises:
        UsageError: another process holds it (names it).
        ToolassayError: the folder cannot be written, or its disk knows no locks.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with only_one(Path(place) / "new", ".lock", what="another test", fix="wait"):
    ...         print([path.name for path in (Path(place) / "new").iterdir()])
    ...     print((Path(place) / "new").exists())
    ['.lock']
    False
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    path = folder / name
    try:
        stream = _locked(path, what, fix)
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
            with suppress(OSError):  # there is something in it
                for empty in made:
                    empty.rmdir()


def _locked(path: Path, what: str, fix: str) -> IO[str]:
    """The lock, open and held, with a line about this process."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            stream = path.open("a+", encoding="utf-8")
        except FileNotFoundError:  # another process has just ended, and taken the folder with it
            continue
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(stream.fileno()), path.stat()):
                stream.truncate(0)
                stream.write(f"process {os.getpid()} on {socket.gethostname()}, since {_now()}")
                stream.flush()
                return stream
        except BlockingIOError:
            stream.seek(0)
            holder = " ".join(stream.read(200).split())
            stream.close()
            told = f" ({holder})" if holder else ""
            raise UsageError(f"{what} is writing it{told}", file=path.parent, fix=fix) from None
        except BaseException:
            stream.close()
            raise
        stream.close()  # what was locked is gone: another process has just ended


def _now() -> str:
    return f"{datetime.now():%Y-%m-%d %H:%M:%S}"
