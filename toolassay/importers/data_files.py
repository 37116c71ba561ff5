"""Files of data sets: downloads from the Hugging Face hub, their rows, and the move to a data folder."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from toolassay.errors import ToolassayError, UsageError
from toolassay.extras import needed
from toolassay.files.data_files import Line, holds_list, read_json, read_json_lines
from toolassay.files.locks import open_regular, temporary_folder
from toolassay.records.data_folder import DataFolder


def read_rows(path: Path) -> Iterator[Line]:
    """Each row of a file with its number, counted from 1 (in JSON Lines: its line).

    `.json` has one object per line, or a list of objects. The `datasets` library saves `.arrow` files.

    Raises:
        UsageError: The file is missing or malformed, or pyarrow is not installed.
    """
    if path.suffix in (".parquet", ".arrow"):
        yield from _arrow_rows(path)
    elif holds_list(path):
        yield from (Line(number, value) for number, value in enumerate(read_json(path), start=1))
    else:
        yield from read_json_lines(path, fix="check the folder")


def _arrow_rows(path: Path) -> Iterator[Line]:
    arrow, parquet = (needed(name, str(path), "hub") for name in ("pyarrow", "pyarrow.parquet"))
    try:
        number = 0
        with open_regular(path) as stream:
            if path.suffix == ".parquet":
                batches = parquet.ParquetFile(stream).iter_batches()
            else:
                batches = arrow.ipc.open_stream(stream)
            for batch in batches:
                for value in batch.to_pylist():
                    number += 1
                    yield Line(number, value)
    except OSError as error:
        raise UsageError(f"cannot be read: {error}", file=path, fix="check the file") from None
    except arrow.ArrowException as error:
        raise UsageError(
            f"is not a valid {path.suffix[1:]} file: {error}", file=path, fix="download it again"
        ) from None


_ADVICE = "check the name and the network, or download the files and give them with --from FOLDER"


@contextmanager
def _fetching(what: str) -> Iterator[None]:
    """Errors of the hub, of its HTTP client and of the network, which have no common class, as one.

    Raises:
        ToolassayError: The hub cannot be reached, denies access, or lacks what is requested.
    """
    try:
        yield
    except Exception as error:
        reason = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        raise ToolassayError(f"{what} cannot be fetched from the hub: {reason[:200]}", fix=_ADVICE) from error


def names_in(folder: Path) -> list[str]:
    """The files of a folder that was downloaded, as paths with slashes.

    Raises:
        UsageError: There is no such folder.
    """
    if not folder.is_dir():
        raise UsageError("no such folder", file=folder, fix="check --from")
    paths = (path for pattern in ("*", "*/*", "*/*/*") for path in folder.glob(pattern))
    return [path.relative_to(folder).as_posix() for path in paths if path.is_file()]


class DataSource(NamedTuple):
    """A data set on the hub, or the folder of a downloaded one.

    `HF_ENDPOINT` selects another hub. `HF_TOKEN` is used and never stored.

    Attributes:
        names: Its files, as paths with slashes.
        fetch: Gives the path of a file; downloads it if necessary.
        origin: Its name, for messages.
        facts: Its revision, for `benchmark.json`; empty for a folder.
    """

    names: Collection[str]
    fetch: Callable[[str], Path]
    origin: str
    facts: Mapping[str, str]

    @classmethod
    def open(cls, hub: str, revision: str | None, folder: str | Path | None) -> DataSource:
        """The files of a folder, if one is given, or of a data set on the hub.

        Raises:
            UsageError: There is no such folder or data set, or huggingface_hub is missing.
            ToolassayError: The hub cannot be reached, or denies access.
        """
        if folder is not None:
            directory = Path(folder)
            return cls(names_in(directory), directory.joinpath, directory.resolve().name, {})
        library = needed("huggingface_hub", "--hub", "hub")
        endpoint = os.environ.get("HF_ENDPOINT")
        with _fetching(hub):
            info = library.HfApi(endpoint=endpoint).dataset_info(hub, revision=revision)

        def fetch(name: str) -> Path:
            location = {"repo_type": "dataset", "revision": str(info.sha), "endpoint": endpoint}
            with _fetching(f"{hub}/{name}"):
                return Path(library.hf_hub_download(hub, name, **location))

        names = [str(file.rfilename) for file in info.siblings or []]
        return cls(names, fetch, f"{hub} on the Hugging Face hub", {"revision": str(info.sha)})


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
        existing = target.path / path.name
        if existing.exists() and not filecmp.cmp(path, existing, shallow=False):
            raise UsageError("already exists with other content", file=existing, fix="use another --data_dir")
    target.path.mkdir(exist_ok=True)
    for path in files:
        path.replace(target.path / path.name)
