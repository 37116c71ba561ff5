"""Processes that are forks of one with the heavy imports done: each starts in a tenth of the CPU time.

A command imports this package and numpy, a server of the MCP SDK imports pydantic models for two seconds, and
the tests start some hundred of them. `Forked` has the interface of `subprocess.Popen`. A fork is a process
of its own with its own streams, environment, working directory and signals. Where the start of Python itself
is tested (its variables, the search path, the order of sets), use `subprocess`.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import json
import os
import random
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_IMPORTED = (
    *("mcp.server", "mcp.client", "openai", "uvicorn"),
    *("toolassay.cli.main", "toolassay.executors", "toolassay.stages.evaluate", "toolassay.stages.infer"),
)
_LENGTH = 8  # bytes that hold the length of a message


class Forked(subprocess.Popen[str]):
    """A Python script or module in a process of its own.

    Args:
        command: `[sys.executable, script, …]` or `[sys.executable, "-m", module, …]`.
        options: Of `subprocess.Popen`: streams, `cwd`, `env`.
    """

    def __init__(self, command: list[str], **options: Any) -> None:
        assert command[0] == sys.executable
        self._ended: int | None = None
        super().__init__(command, text=True, **options)

    def _execute_child(self, *arguments: Any) -> None:
        """In place of the fork and exec of the base class, which gives the arguments."""
        given = inspect.signature(subprocess.Popen._execute_child).bind(self, *arguments).arguments  # type: ignore[attr-defined]
        pipes = {name: given[name] for name in ("p2cread", "c2pwrite", "errwrite")}
        streams = [number if end == -1 else end for number, end in enumerate(pipes.values())]
        environment = os.environ if given["env"] is None else given["env"]
        job = {"command": given["args"][1:], "cwd": str(given["cwd"] or "."), "env": dict(environment)}
        mine, theirs = os.pipe()
        _send(json.dumps(job).encode(), [*streams, theirs])
        for end in {theirs, *pipes.values()} - {-1}:
            os.close(end)
        self._status = os.fdopen(mine, "rb", buffering=0)
        self.pid = int(self._status.read(_LENGTH))
        self._child_created = True

    def _try_wait(self, flags: int) -> tuple[int, int]:
        """The process and its status, or (0, 0) if it runs."""
        os.set_blocking(self._status.fileno(), not flags & os.WNOHANG)
        status = self._status.read(_LENGTH)
        if status is None:
            return 0, 0
        self._status.close()
        return self.pid, int(status)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        """The exit code, or None while it runs."""
        with self._waitpid_lock:  # type: ignore[attr-defined]
            if self.returncode is None:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode


_lock = threading.Lock()
_door: socket.socket | None = None


def _send(message: bytes, files: list[int]) -> None:
    """Send a job to the process that forks, which starts with the first one."""
    global _door
    with _lock:
        if _door is None:
            _door, inner = socket.socketpair()
            subprocess.Popen(
                [sys.executable, "-m", __name__, str(inner.fileno())],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                pass_fds=[inner.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            inner.close()
        socket.send_fds(_door, [len(message).to_bytes(_LENGTH, "big")], files)
        _door.sendall(message)


def _next_job(door: socket.socket) -> dict[str, Any] | None:
    """In a new process, the job to do; in this one, None when there are no more.

    Between them is a process that waits for the end of the job: it writes its number, and then its status.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        length, files, _, _ = socket.recv_fds(door, _LENGTH, 4)
        if not length:
            return None
        message = b""
        while len(message) < int.from_bytes(length, "big"):
            message += door.recv(1 << 16)
        if os.fork():
            for file in files:
                os.close(file)
            continue
        door.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        *streams, status = files
        if pid := os.fork():
            for file in streams:
                os.close(file)
            os.write(status, b"%8d" % pid)
            with suppress(BrokenPipeError):
                os.write(status, b"%8d" % os.waitpid(pid, 0)[1])
            os._exit(0)
        os.close(status)
        for number, file in enumerate(streams):
            os.dup2(file, number)
            os.close(file)
        job: dict[str, Any] = json.loads(message)
        return job


def _do(job: dict[str, Any]) -> None:
    """Become the command."""
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    time.tzset()
    random.seed()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = job["command"]
    if sys.argv[0] == "-m":
        sys.argv = sys.argv[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(sys.argv[0]).parent)
        runpy.run_path(sys.argv[0], run_name="__main__")


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the tests end, and then this does
    for name in _IMPORTED:
        with suppress(ModuleNotFoundError):
            importlib.import_module(name)
    gc.freeze()
    if job := _next_job(socket.socket(fileno=int(sys.argv[1]))):
        _do(job)


if __name__ == "__main__":
    _main()
