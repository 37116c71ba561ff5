"""A list of texts in a temporary file instead of memory, for searches over large data sets."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import TracebackType

from toolassay import locks
from toolassay.errors import ToolassayError


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A temporary folder, deleted on exit.

    Raises:
        ToolassayError: writing to it failed, for example because the disk is full.
    """
    try:
        with locks.temporary_folder() as folder:
            yield folder
    except OSError as error:
        if error.filename is not None:
            raise  # an error of another file, which the message names
        raise ToolassayError(
            f"cannot write temporary files: {error.strerror or error}",
            file=tempfile.gettempdir(),
            fix="free some space, or set TMPDIR to a folder on another disk",
        ) from error


class TextStore:
    """An append-only list of texts in a file; the last 4,096 texts read are cached.

    Args:
        path: the file, which is overwritten.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, TextStore(Path(folder) / "texts") as texts:
    ...     texts.append("one"), texts.append("two"), texts[1], len(texts)
    (0, 1, 'two', 2)
    """

    def __init__(self, path: Path) -> None:
        self._stream = path.open("w+b")
        self._ends = array("Q")
        self._read = lru_cache(4_096)(self._read_at)

    def append(self, text: str) -> int:
        """Add a text and return its index."""
        data = text.encode("utf-8", "surrogatepass")
        start = self._ends[-1] if self._ends else 0
        self._stream.seek(start)
        self._stream.write(data)
        self._ends.append(start + len(data))
        return len(self._ends) - 1

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:
        return self._read(number)

    def _read_at(self, number: int) -> str:
        start = self._ends[number - 1] if number else 0
        self._stream.seek(start)
        return self._stream.read(self._ends[number] - start).decode("utf-8", "surrogatepass")

    def __enter__(self) -> TextStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
