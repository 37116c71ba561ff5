"""Files of tasks for workers that do not have them: put into a storage that every machine can open.

The storage is a URL of fsspec: `s3://bucket/prefix`, `gs://…`, `file:///mnt/shared`. A file lies there under
the SHA-256 of its content, so each content is sent once, also by later commands. Access keys are in the
environment of this process and of the workers, never in the URL or in what is sent.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import threading
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.errors import ToolassayError, UsageError
from toolassay.files import sha256_of

_WRITTEN_HERE = ("metrics", "predictions", "quarantine", "report", "runs", "task_graphs")
"""What the names of subfolders of a data folder begin with that no task reads as a part of that folder."""


class SharedFiles:
    """Sends the files of tasks by way of a storage.

    Args:
        url: of a folder in the storage; it need not exist.

    Raises:
        UsageError: the URL contains credentials, or no installed package can open it.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._storage, self._root = _opened(self.url)
        self._sent: dict[tuple[Path, int, int], str] = {}

    def pickled(self, task: Any) -> bytes:
        """A task as bytes. Its paths of files and folders here become those of copies where it is unpickled.

        Raises:
            ToolassayError: the storage cannot be written.
        """
        stream = io.BytesIO()
        _Pickler(stream, self).dump(task)
        return stream.getvalue()

    def copy(self, path: Path) -> _Copy:
        """Put a file, or the files of a folder, into the storage; not hidden ones, such as `.env` with keys.

        Raises:
            ToolassayError: the storage cannot be written.
        """
        if path.is_file():
            return _Copy(self.url, str(path), [("", self._put(path))])
        names = sorted(one.relative_to(path) for one in path.rglob("*") if one.is_file())
        return _Copy(
            self.url,
            str(path),
            [(name.as_posix(), self._put(path / name)) for name in names if _is_read(name)],
        )

    def _put(self, path: Path) -> str:
        state = path.stat()
        key = path, state.st_mtime_ns, state.st_size
        if key not in self._sent:
            digest = sha256_of(path)
            target = f"{self._root}/{digest}"
            try:
                if not (self._storage.exists(target) and self._storage.info(target)["size"] == state.st_size):
                    self._storage.makedirs(self._root, exist_ok=True)
                    self._storage.put_file(str(path), target)
            except Exception as error:  # of any storage
                raise _cannot("written", self.url, error) from error
            self._sent[key] = digest
        return self._sent[key]


def _is_read(name: Path) -> bool:
    """Whether a task may read the file of a folder with this relative path."""
    is_hidden = any(part.startswith(".") for part in name.parts)
    return not is_hidden and not (len(name.parts) > 1 and name.parts[0].startswith(_WRITTEN_HERE))


class _Copy(NamedTuple):
    """A file or folder in the storage.

    Attributes:
        url: of the storage.
        path: where it is on the machine of the client.
        files: relative path (empty for a file itself) and SHA-256 of each file.
    """

    url: str
    path: str
    files: list[tuple[str, str]]


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, shared: SharedFiles) -> None:
        super().__init__(stream)
        self._shared = shared

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Path) and value.exists():
            return fetched, tuple(self._shared.copy(value))
        return NotImplemented


# Of a worker process.

_place: Path | None = None
_originals: dict[str, str] = {}  # path here, path on the machine of the client
_one_at_a_time = threading.Lock()


def fetch_into(folder: Path) -> None:
    """Set where this process puts its copies."""
    global _place
    _place = folder


def fetched(url: str, path: str, files: list[tuple[str, str]]) -> Path:
    """The copy of a file or folder, read from the storage unless it is here.

    Raises:
        ToolassayError: the storage cannot be read, or does not hold what was put there.
    """
    assert _place is not None
    listing = hashlib.sha256(repr(files).encode()).hexdigest()
    with _one_at_a_time:
        target = _place / listing / Path(path).name
        for name, digest in files:
            copy = target / name if name else target
            if not copy.exists():
                _get(f"{url}/{digest}", digest, copy)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.mkdir()  # of an empty folder
        _originals[str(target)] = path
    return target


def _get(url: str, digest: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    storage, name = _opened(url)
    try:
        storage.get_file(name, str(part))
    except Exception as error:  # of any storage
        raise _cannot("read by a worker", url, error) from error
    if sha256_of(part) != digest:
        raise ToolassayError(f"{url} is not what was put there", fix="delete it, and run the command again")
    part.rename(target)


def as_sent(text: str) -> str:
    """A message of this process with the paths of copies as they are on the machine of the client."""
    for here, there in _originals.items():
        text = text.replace(here, there)
    return text


def _opened(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    from fsspec.core import url_to_fs

    # Matches "s3://key:secret@bucket"; must not match "abfs://container@account/folder".
    login, _, host = url.partition("://")[2].partition("/")[0].rpartition("@")
    if host and ":" in login:
        raise UsageError(
            "the URL of the storage contains credentials",
            fix="leave them out; each machine reads its own from its environment",
        )
    try:
        storage, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"the storage {url} cannot be opened: {error}",
            fix="install its package on every machine, for S3 `pip install s3fs`",
        ) from error
    return storage, path


def _cannot(what: str, url: str, error: Exception) -> ToolassayError:
    return ToolassayError(
        f"the storage {url} cannot be {what}: {error}",
        fix="check the URL, and the access keys in the environment of that machine",
    )
