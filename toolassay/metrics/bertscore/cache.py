"""Scores of pairs of texts on disk, so that a second evaluation computes nothing."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from toolassay.version import OLD_NAME

Scores = tuple[float, float, float]
Result = TypeVar("Result")

_PATIENCE = 30  # seconds that one process waits for the other's write
_AT_ONCE = 500  # keys in a question; SQLite allows 999 in old versions
_TABLE = "CREATE TABLE IF NOT EXISTS scores (pair BLOB PRIMARY KEY, p REAL, r REAL, f REAL) WITHOUT ROWID"


def cache_file() -> Path | None:
    """Path of the cache: `toolassay/bertscore.sqlite3` in the user's cache folder; None without one.

    A cache that exists under the package's old name only stays in use.
    """
    folder = _cache_folder()
    if folder is None:
        return None
    current, old = (folder / name / "bertscore.sqlite3" for name in ("toolassay", OLD_NAME))
    return old if old.exists() and not current.exists() else current


def _cache_folder() -> Path | None:
    given = os.environ.get("XDG_CACHE_HOME")
    if given:
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    folder = {"win32": home / "AppData" / "Local", "darwin": home / "Library" / "Caches"}
    return folder.get(sys.platform, home / ".cache")


def pair_key(model: str, gold: str, predicted: str) -> bytes:
    """What a score is known by: 16 bytes of a hash; `model` stands for everything but the texts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (model, gold, predicted):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


class ScoreCache:
    """A SQLite file of scores; several processes may use it at once.

    It never stops anybody: a file that is broken is set aside (`….broken`) and begun anew, and where nothing
    can be read or written, nothing is found and nothing is kept.

    Args:
        path: the file; None for no cache.

    >>> with ScoreCache(None) as cache:
    ...     cache.add([(b"key", (0.5, 0.5, 0.5))])
    ...     cache.find([b"key"])
    {}
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Scores]:
        """Precision, recall and F1 of the keys that are known."""

        def read(connection: sqlite3.Connection) -> dict[bytes, Scores]:
            found: dict[bytes, Scores] = {}
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT pair, p, r, f FROM scores WHERE pair IN ({marks})", part)
                found |= {key: (p, r, f) for key, p, r, f in rows}
            return found

        return self._do(read) or {}

    def add(self, rows: Iterable[tuple[bytes, Scores]]) -> None:
        """Keep scores; they are on disk when this returns."""
        values = [(key, *scores) for key, scores in rows]
        self._do(lambda connection: connection.executemany("REPLACE INTO scores VALUES (?, ?, ?, ?)", values))

    def _do(self, action: Callable[[sqlite3.Connection], Result]) -> Result | None:
        for _ in range(2):
            if self._path is None:
                return None
            try:
                with self._open(self._path) as connection:  # one transaction
                    return action(connection)
            except (sqlite3.OperationalError, OSError):  # cannot be written, is full, or is locked for long
                self.close()
                self._path = None
            except sqlite3.DatabaseError:
                self.close()
                with contextlib.suppress(OSError):
                    self._path.replace(self._path.with_name(f"{self._path.name}.broken"))
        return None

    def _open(self, path: Path) -> sqlite3.Connection:
        if self._connection is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_PATIENCE)
            self._connection.execute(_TABLE)
        return self._connection

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
