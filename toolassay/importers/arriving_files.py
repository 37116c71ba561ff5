"""Writes the files of an import to a temporary folder and moves them together to the data folder."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolassay.data_folder import DataFolder
from toolassay.errors import ToolassayError, UsageError
from toolassay.locks import temporary_folder


def new_folder(data_dir: str | Path) -> DataFolder:
    """A data folder, which need not exist.

    Raises:
        UsageError: The path is a file.
    """
    target = DataFolder(Path(data_dir))
    if target.path.exists() and not target.path.is_dir():
        raise UsageError("is a file, a folder is needed", file=target.path, fix="check --data_dir")
    return target


@contextmanager
def arriving(target: DataFolder) -> Iterator[DataFolder]:
    """A temporary folder whose files are moved to `target` when the block ends without an exception.

    Raises:
        UsageError: `target` has a file of the same name with other content; nothing is moved then.
        ToolassayError: It cannot be written.
    """
    try:
        target.path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(target.path.parent) as folder:
            work = DataFolder(folder)
            yield work
            _move(work, target)
    except OSError as error:
        raise ToolassayError(
            f"cannot be written: {error.strerror}", file=target.path, fix="check its permissions and space"
        ) from error


def _move(work: DataFolder, target: DataFolder) -> None:
    files = sorted(work.path.iterdir())
    for path in files:
        known = target.path / path.name
        if known.exists() and not filecmp.cmp(path, known, shallow=False):
            raise UsageError("already exists with other content", file=known, fix="use another --data_dir")
    target.path.mkdir(exist_ok=True)
    for path in files:
        path.replace(target.path / path.name)
