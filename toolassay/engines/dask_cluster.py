"""The engine `dask://HOST:PORT`: the workers of a Dask cluster.

Dask schedules: it moves the shards of a dead worker to another one. Every worker imports this package, in the
same version, and reads the data by its path or from a storage. A cluster executes what its clients send, so
it must be trusted.

The storage is a URL of fsspec: `s3://bucket/prefix`, `gs://…`, `file:///mnt/shared`. A file is there under
the SHA-256 of its content, so each content is sent once, also by later commands. Access keys are in the
environment of this process and of the workers, never in the URL or in what is sent.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client, Worker, WorkerPlugin
from distributed.scheduler import KilledWorker

from toolassay.engines.engine import AHEAD, Result, Shard, ShardTask, too_many_deaths
from toolassay.errors import CALLER, Caller, ToolassayError, UsageError
from toolassay.files.data_files import sha256_of
from toolassay.files.locks import Closable
from toolassay.version import __version__

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
        names = sorted(entry.relative_to(path) for entry in path.rglob("*") if entry.is_file())
        files = [(name.as_posix(), self._put(path / name)) for name in names if _is_read(name)]
        return _Copy(self.url, str(path), files)

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

_copies_folder: Path | None = None
_originals: dict[str, str] = {}  # path here, path on the machine of the client
_copying = threading.Lock()


def fetch_into(folder: Path) -> None:
    """Set where this process puts its copies."""
    global _copies_folder
    _copies_folder = folder


def fetched(url: str, path: str, files: list[tuple[str, str]]) -> Path:
    """The copy of a file or folder, read from the storage unless it is here.

    Raises:
        ToolassayError: the storage cannot be read, or does not hold what was put there.
    """
    assert _copies_folder is not None
    listing = hashlib.sha256(repr(files).encode()).hexdigest()
    with _copying:
        target = _copies_folder / listing / Path(path).name
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


_CONNECT = 10  # seconds until a scheduler has to answer
_FIRST_WORKER = 30  # seconds until a worker has to be there
_LOOK = 5.0  # seconds between checks of the workers while waiting for a result
_NO_WORKER = 120.0  # seconds without any worker after which a command ends
_FIX = "start one: dask scheduler, and on each machine: dask worker tcp://HOST:8786 --nthreads 1 --nworkers N"


class DaskCluster(Closable):
    """Runs shards on a Dask cluster.

    Args:
        host: of the scheduler.
        port: of the scheduler.
        files: URL of a storage for the files that tasks need; None if workers see them at the same path.

    Raises:
        UsageError: no scheduler answers, it has no workers, a worker has another version of this package, or
            the storage cannot be opened.
    """

    def __init__(self, host: str, port: int, files: str | None = None) -> None:
        self._pickled = pickle.dumps if files is None else SharedFiles(files).pickled
        self._address = address = f"tcp://{host}:{port}"
        connect: Any = Client  # has no types
        try:
            socket.create_connection((host, port), timeout=_CONNECT).close()  # Dask would retry a refusal
            self._client = connect(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, TimeoutError, OverflowError) as error:
            raise UsageError(f"no Dask scheduler answers at {address}", fix=_FIX) from error
        try:
            self._client.wait_for_workers(1, timeout=_FIRST_WORKER)
            versions = {
                "the scheduler": self._client.run_on_scheduler(_version),
                **self._client.run(_version),
            }
        except (OSError, TimeoutError) as error:
            self._client.close()
            raise UsageError(f"the Dask scheduler at {address} has no worker", fix=_FIX) from error
        except ImportError as error:
            self._client.close()
            raise UsageError(
                f"the Dask cluster at {address} cannot import this package",
                fix=f"install toolassay {__version__} where its scheduler and its workers run",
            ) from error
        for worker, version in sorted(versions.items()):
            if version != __version__:
                self._client.close()
                raise UsageError(
                    f"{worker} has toolassay {version}, this is {__version__}",
                    fix="install the same version where the scheduler and the workers run",
                )

    @property
    def workers(self) -> int:
        """The number of workers that are there now."""
        return max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))

    def map(self, task: ShardTask[Shard, Result], shards: Iterable[Shard]) -> Iterator[Result]:
        """See `Engine.map`."""
        token = f"toolassay-{uuid4().hex}"
        pickled = self._pickled(task)
        with self._connection():
            self._client.register_plugin(_TaskOnWorkers(token, pickled))
        source = iter(shards)
        waiting: deque[Any] = deque()
        try:
            while True:
                with self._connection():
                    most = AHEAD * self.workers
                while len(waiting) < most:
                    try:
                        # As bytes: a worker that cannot unpickle what Dask sends closes itself, silently.
                        shard = pickle.dumps(next(source))
                    except StopIteration:
                        break
                    with self._connection():
                        future = self._client.submit(_work_on, token, shard, CALLER.get(), pure=False)
                        waiting.append(future)
                if not waiting:
                    return
                with self._connection():
                    ended = self._ended(waiting[0])
                if ended.error is not None:
                    raise ended.error
                yield ended.value
                waiting.popleft()
        finally:
            with suppress(Exception):  # of a connection that is lost, which would hide the error
                for future in waiting:
                    future.cancel()
                self._client.unregister_worker_plugin(token)

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """Raise what Dask raises in this block as an error for the user."""
        try:
            yield
        except KilledWorker as error:
            raise too_many_deaths(f"of the cluster at {self._address}") from error
        except (OSError, CancelledError) as error:  # also CommClosedError
            raise ToolassayError(
                f"the connection to the Dask scheduler at {self._address} was lost",
                fix="run the same command again",
            ) from error

    def _ended(self, future: Any) -> _Ended:
        """Wait for a shard, as long as there are workers."""
        last_worker = time.monotonic()
        while True:
            try:
                ended: _Ended = future.result(timeout=_LOOK)
                return ended
            except TimeoutError as error:
                now = time.monotonic()
                if self._client.scheduler_info()["workers"]:
                    last_worker = now
                elif now - last_worker > _NO_WORKER:
                    raise ToolassayError(
                        f"the Dask cluster at {self._address} has had no worker for {_NO_WORKER:g} seconds",
                        fix="start workers, and run the same command again",
                    ) from error

    def close(self) -> None:
        """Disconnect. The cluster goes on."""
        self._client.close()


class _Ended(NamedTuple):
    """How a shard ended. An error for the user is a value: Dask would run the shard again."""

    value: Any = None
    error: ToolassayError | None = None


class _TaskOnWorkers(WorkerPlugin):
    """Gives a task to every worker, also to one that starts later."""

    def __init__(self, token: str, task: bytes) -> None:
        self.name = token
        self._task = task

    def setup(self, worker: Worker) -> None:
        fetch_into(Path(worker.local_directory) / "toolassay")
        _tasks[self.name] = self._task

    def teardown(self, worker: Worker) -> None:
        _tasks.pop(self.name, None)
        _started.pop(self.name, None)


_tasks: dict[str, bytes] = {}
_started: dict[str, Callable[[Any], Any]] = {}
_one_at_a_time = threading.Lock()  # a worker with several threads works on one shard all the same


def _work_on(token: str, shard: bytes, caller: Caller) -> _Ended:
    CALLER.set(caller)
    with _one_at_a_time:
        try:
            if token not in _started:
                _started[token] = _unpickled(_tasks[token]).start()
            return _Ended(_started[token](_unpickled(shard)))
        except ToolassayError as error:
            error.args = tuple(map(as_sent, error.args))
            error.reason = as_sent(error.reason)
            error.file = error.file and as_sent(str(error.file))
            error.fix = error.fix and as_sent(error.fix)
            return _Ended(error=error)
        except OSError as error:  # of a file: this process has no connection of its own
            return _Ended(
                error=ToolassayError(
                    f"a worker cannot use it: {error.strerror or error}",
                    file=as_sent(str(error.filename)),
                    fix="give the data folder the same path on every machine, or add ?files=URL of a storage",
                )
            )


def _unpickled(data: bytes) -> Any:
    """An object of the client.

    Raises:
        UsageError: This worker has other code, although of the same version.
    """
    try:
        return pickle.loads(data)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"a worker has another toolassay {__version__} ({error})",
            fix="install the same code where the scheduler and the workers run, and restart them",
        ) from error


def _version() -> str:
    return __version__
