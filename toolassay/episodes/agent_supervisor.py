"""Runs the command of an agent, and ends all that it started: `agent_supervisor.py PID BYTES COMMAND…`.

It is a program of its own, of the standard library only. On Linux it adopts descendants whose parents end,
whatever session and variables they have, and kills them when the agent ends, or Toolassay does. Elsewhere it
becomes the command.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

# Options of prctl, from <linux/prctl.h>.
_DEATH_SIGNAL = 1
_IS_READABLE = 3
_READABLE = 4
_ADOPTS = 36


def control_process(option: int, value: int = 0) -> int:
    """Call `prctl`."""
    return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))


@contextmanager
def hidden_process() -> Iterator[None]:
    """Let no other process of this user read the variables and memory of this one in this block, on Linux."""
    if sys.platform != "linux":
        yield
        return
    was_readable = control_process(_IS_READABLE)
    control_process(_READABLE, 0)
    try:
        yield
    finally:
        control_process(_READABLE, was_readable)


def _become(most: int, command: list[str]) -> NoReturn:
    """Become a command, each of whose processes may use some bytes of memory."""
    import resource  # not on Windows

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(hard, most), hard))
    os.execvp(command[0], command)


def _end_descendants(*_: int | FrameType | None) -> None:
    """Kill the children, and theirs when they have become children of this process, until none is left."""
    is_left = True
    while is_left:
        is_left = False
        for stat_file in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has ended, or is of another user
                parent = int(stat_file.read_text().rpartition(")")[2].split()[1])
                if parent == os.getpid():
                    os.kill(int(stat_file.parent.name), signal.SIGKILL)
                    is_left = True
        # The child's status may have been read already.
        with suppress(ChildProcessError):
            if is_left:
                os.waitpid(-1, 0)


def main(parent: int, most: int, command: list[str]) -> int:
    """Run a command to its end, and end what it left.

    Args:
        parent: The process of Toolassay.
        most: Bytes of memory of each process.
        command: The command.

    Returns:
        Its exit code; after a signal 128 and the number of the signal, as shells have it.
    """
    if sys.platform != "linux":
        _become(most, command)
    signal.signal(signal.SIGTERM, lambda *_: None)  # the agent has it too, and may take some time
    signal.signal(signal.SIGUSR1, _end_descendants)
    control_process(_DEATH_SIGNAL, signal.SIGUSR1)
    control_process(_ADOPTS, 1)
    control_process(_READABLE, 0)
    if os.getppid() != parent:  # it ended before its end could be noticed
        return 1
    child = os.fork()
    if not child:
        control_process(_DEATH_SIGNAL, signal.SIGKILL)
        _become(most, command)
    status = 0
    ended = 0
    while ended != child:
        try:
            ended, status = os.waitpid(-1, 0)
        except ChildProcessError:  # Toolassay has ended, and so has the agent
            return 1
    _end_descendants()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
