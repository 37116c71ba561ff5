"""The engine `dask://HOST:PORT`: the workers of a Dask cluster.

Dask schedules: it moves the shards of a dead worker to another one. Every worker imports this package, in the
same version, and reads the data by its path or from a storage (`shared_files`). A cluster executes what its
clients send, so it must be trusted.
"""

from __future__ import annotations

import pickle
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from uuid import uuid4

from distributed import Client, Worker, WorkerPlugin
from distributed.scheduler import KilledWorker

from toolassay.engines import shared_files
from toolassay.engines.engine import AHEAD, Result, Shard, ShardTask, too_many_deaths
from toolassay.errors import ToolassayError, UsageError
from toolassay.version import __version__

_CONNECT = 10  # seconds until a scheduler has to answer
_FIRST_WORKER = 30  # seconds until a worker has to be there
_LOOK = 5.0  # seconds between two looks at the workers, while a result is waited for
_NO_WORKER = 120.0  # seconds without any worker after which a command ends
_FIX = "start one: dask scheduler, and on each machine: dask worker tcp://HOST:8786 --nthreads 1 --nworkers N"


class DaskCluster:
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
        self._pickled = pickle.dumps if files is None else shared_files.SharedFiles(files).pickled
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
        token, pickled = f"toolassay-{uuid4().hex}", self._pickled(task)
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
                        waiting.append(self._client.submit(_work_on, token, shard, pure=False))
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
        shared_files.fetch_into(Path(worker.local_directory) / "toolassay")
        _tasks[self.name] = self._task

    def teardown(self, worker: Worker) -> None:
        _tasks.pop(self.name, None)
        _started.pop(self.name, None)


_tasks: dict[str, bytes] = {}
_started: dict[str, Callable[[Any], Any]] = {}
_one_at_a_time = threading.Lock()  # a worker with several threads works on one shard all the same


def _work_on(token: str, shard: bytes) -> _Ended:
    with _one_at_a_time:
        try:
            if token not in _started:
                _started[token] = _unpickled(_tasks[token]).start()
            return _Ended(_started[token](_unpickled(shard)))
        except ToolassayError as error:
            error.args = tuple(map(shared_files.as_sent, error.args))
            return _Ended(error=error)
        except OSError as error:  # of a file: this process has no connection of its own
            return _Ended(
                error=ToolassayError(
                    f"a worker cannot use it: {error.strerror or error}",
                    file=shared_files.as_sent(str(error.filename)),
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
