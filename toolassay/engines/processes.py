"""The engine `local:N`: processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from toolassay.engines.engine import AHEAD, MOST_DEATHS, Result, Shard, ShardTask, too_many_deaths
from toolassay.errors import CALLER, Caller
from toolassay.files.locks import Closable

_GRACE = 1.0  # seconds


class Processes(Closable):
    """Runs shards on worker processes.

    Args:
        workers: the number of processes.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def map(self, task: ShardTask[Shard, Result], shards: Iterable[Shard]) -> Iterator[Result]:
        """See `Engine.map`."""
        source = iter(shards)
        waiting: deque[tuple[Shard, Future[Result]]] = deque()
        deaths = 0
        pool = self._pool(task)

        def is_lost(future: Future[Result]) -> bool:
            return not future.done() or isinstance(future.exception(), BrokenProcessPool)

        try:
            while True:
                while len(waiting) < AHEAD * self.workers:
                    try:
                        shard = next(source)
                    except StopIteration:
                        break
                    waiting.append((shard, _submitted(pool, shard)))
                if not waiting:
                    return
                try:
                    result = waiting[0][1].result()
                except BrokenProcessPool:
                    deaths += 1
                    if deaths > MOST_DEATHS:
                        raise too_many_deaths("on this machine") from None
                    # The death of one process ends the pool. Results that arrived before it are kept.
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = self._pool(task)
                    waiting = deque(
                        (unfinished, _submitted(pool, unfinished) if is_lost(future) else future)
                        for unfinished, future in waiting
                    )
                    continue
                waiting.popleft()
                deaths = 0
                yield result
        except BaseException:  # no result is of use any more
            _end_workers(list(pool._processes.values()))
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _pool(self, task: ShardTask[Any, Any]) -> ProcessPoolExecutor:
        # A fork needs no import and no copy of the task, but copies no thread: only this thread may run. The
        # threads of torch are not Python's, and neither they nor its CUDA contexts survive a fork.
        is_alone = threading.active_count() == 1 and "torch" not in sys.modules
        way = "fork" if sys.platform == "linux" and is_alone else "spawn"
        context = multiprocessing.get_context(way)
        return ProcessPoolExecutor(
            self.workers, mp_context=context, initializer=_begin, initargs=(task, CALLER.get())
        )

    def close(self) -> None:
        """Nothing to end: the processes of `map` end with it."""


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _end_workers(workers: Sequence[BaseProcess]) -> None:
    """End processes: a moment to remove their files, then at once.

    The executor takes the exit of a worker in the middle of its work for a failed call, and lets it go on.
    """
    for worker in workers:
        worker.terminate()
    left = {worker.sentinel: worker for worker in workers}
    end = time.monotonic() + _GRACE
    while left and (seconds := end - time.monotonic()) > 0:
        for sentinel in wait(left, seconds):
            del left[sentinel]  # type: ignore[arg-type]  # a sentinel is a number here
    for worker in left.values():
        worker.kill()


def _submitted(pool: ProcessPoolExecutor, shard: Any) -> Future[Any]:
    with warnings.catch_warnings():
        # The only other threads are idle ones of NumPy's BLAS, which handles a fork itself.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        try:
            return pool.submit(_work_on, shard)
        except BrokenProcessPool as error:
            failed: Future[Any] = Future()
            failed.set_exception(error)
            return failed


_work: Callable[[Any], Any] | None = None
_failure: Exception | None = None


def _begin(task: ShardTask[Any, Any], caller: Caller) -> None:
    global _work, _failure
    CALLER.set(caller)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    try:
        signal.signal(signal.SIGTERM, _end)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        _work = task.start()
    except Exception as error:  # raised here, it would look as if the process had died
        _failure = error
    except SystemExit:  # of `_end`: the pool would print a traceback
        os._exit(128 + signal.SIGTERM)


def _end(number: int, frame: object) -> None:
    # Temporary files are removed now; a pool with a dead worker sends the signal again meanwhile.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + number)


def _end_with_parent() -> None:
    # Each worker has the writing end of the queue of shards, so no worker sees it close when the main process
    # is killed. A forked one would also hold the locks of files that the main process had open.
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work_on(shard: Any) -> Any:
    if _failure is not None:
        raise _failure
    assert _work is not None
    try:
        return _work(shard)
    except (KeyboardInterrupt, SystemExit):  # SIGTERM; the pool would go on with the next shard
        os._exit(128 + signal.SIGTERM)
