"""A server as a process of its own, which is ended with its children."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import re
import secrets
import signal
import time
from asyncio.subprocess import PIPE
from collections.abc import Callable
from pathlib import Path

from toolassay.mcp_client.server_config import ServerConfig, ServerError

GRACE = 2.0
"""Seconds for a server to end after its input is closed, and again after SIGTERM."""
_STDERR_BYTES = 4096  # kept of its stderr
_POLL = 0.05
_REAPING = 0.5  # seconds in which a process that was killed is gone
_PROC = Path("/proc")
# A variable that marks a server's descendants. It finds those that started a session of their own and whose
# parent has ended, which neither the process group nor the parents' numbers lead to.
_MARK = "TOOLASSAY_CHILD"
# All that a server sees of the environment: no keys.
_PASSED = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"),
    *("APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "USERPROFILE"),  # of Windows
)
# Last lines that say nothing of the failure before them: "Node.js v20.20.2" and the place of npm's log.
_EMPTY_LINE = re.compile(r"\s*(?:Node\.js v[\d.]+|npm (?:error|ERR!) (?:A complete log|\s*/).*)?\s*")


class ServerProcess:
    """A running server; `start` makes one, `stop` must follow.

    Attributes:
        process: With pipes for its standard streams.
        config: What was started.
    """

    def __init__(self, process: asyncio.subprocess.Process, config: ServerConfig, mark: str) -> None:
        self.process = process
        self.config = config
        self._mark = f"{_MARK}={mark}".encode()
        self._family: dict[int, str] = {}  # descendants, with the time of their start
        self._stderr = bytearray()
        self._stderr_ended = asyncio.Event()

    @classmethod
    async def start(cls, config: ServerConfig, *, stdin: int = PIPE, stderr: int = PIPE) -> ServerProcess:
        """Start the command in a session of its own, with a minimal environment and the configured variables.

        Args:
            config: The server.
            stdin: Its input.
            stderr: Where its errors go.

        Raises:
            ServerError: It cannot be started.
        """

        def fail(reason: str, fix: str) -> ServerError:
            return ServerError(reason, server=config.name or config.shown, fix=fix)

        mark = secrets.token_hex(8)
        try:
            process = await asyncio.create_subprocess_exec(
                config.command,
                *config.args,
                stdin=stdin,
                stdout=PIPE,
                stderr=stderr,
                env={name: os.environ[name] for name in _PASSED if name in os.environ}
                | {**config.env, _MARK: mark},
                cwd=config.cwd,
                start_new_session=True,  # Ctrl-C reaches only this process, which ends the whole group
            )
        except FileNotFoundError as error:
            if error.filename == config.cwd:
                raise fail("its working directory does not exist", "correct 'cwd'") from None
            raise fail("the command was not found", "install it, or write its whole path") from None
        except PermissionError:
            raise fail(
                "the command is not executable", "make it executable, or name its interpreter"
            ) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise fail(f"the command cannot be started: {reason}", "check the command line") from None
        return cls(process, config, mark)

    async def drain_stderr(self) -> None:
        """Read its stderr until it ends; only the last 4 KB are kept, and nothing is written anywhere."""
        assert self.process.stderr
        with contextlib.suppress(OSError):
            while chunk := await self.process.stderr.read(65536):
                self._stderr = (self._stderr + chunk)[-_STDERR_BYTES:]
        self._stderr_ended.set()

    async def ended(self) -> None:
        """Wait until the process has ended, whatever its children do."""
        await self._ended(math.inf, lambda: self.process.returncode is None)

    def processes(self) -> set[int]:
        """The numbers of the server's process and its living descendants."""
        own = {self.process.pid} if self.process.returncode is None else set()
        return own | self._descendants()

    async def end_reason(self) -> str:
        """How it ended, with the last line of its stderr; called when its output has ended."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):  # its status and stderr may arrive after the end of its stdout
                await self._stderr_ended.wait()
                await self._ended(1, lambda: self.process.returncode is None)
        return (self.status or "closed its output") + self._last_line()

    @property
    def state(self) -> str:
        """What is known of a server that does not answer: how it ended, and the last line of its stderr.

        A server that has ended may have left its output to a child, so that the output does not end.
        """
        return (f"; it {self.status}" if self.status else "") + self._last_line()

    @property
    def status(self) -> str:
        """How it ended; empty while it runs."""
        code = self.process.returncode
        if code is None:
            return ""
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit status {code}"

    def _last_line(self) -> str:
        """The last line of its stderr in brackets; empty without one."""
        lines = self._stderr.decode(errors="replace").splitlines()
        last = next((line for line in reversed(lines) if not _EMPTY_LINE.fullmatch(line)), "")
        return f" ('{cleaned}')" if (cleaned := self.config.cleaned(last)) else ""

    async def stop(self, grace: float = GRACE) -> None:
        """End it and its children: close its input, then SIGTERM, then SIGKILL.

        Args:
            grace: Seconds to end by itself after its input is closed.
        """
        try:
            self._descendants()  # while their parents live
            if self.process.stdin is not None:
                self.process.stdin.close()
            await self._ended(grace, lambda: self.process.returncode is None)
            if self._is_alive():
                self._signal(signal.SIGTERM)
                await self._ended(GRACE, self._is_alive)
            self._kill()
            # Its status has to arrive before the loop is closed: asyncio would warn.
            await self._ended(GRACE, lambda: self.process.returncode is None)
        finally:
            self._kill()  # another Ctrl-C may interrupt the waiting
            self._await_end()
            # The transport stays open, and warns when it is collected, while an escaped process has the pipe.
            transport = getattr(self.process, "_transport", None)
            if transport is not None:
                with contextlib.suppress(PermissionError, ProcessLookupError):
                    transport.close()

    def _await_end(self) -> None:
        """Block until a killed process is gone, so that its status comes before the loop is closed."""
        end = time.monotonic() + _REAPING
        place = _PROC / str(self.process.pid)
        while self.process.returncode is None and place.exists() and time.monotonic() < end:
            time.sleep(_REAPING / 100)

    async def _ended(self, seconds: float, is_alive: Callable[[], bool]) -> None:
        """Wait until it has ended. `Process.wait` would also wait for its pipes, which children hold."""
        deadline = asyncio.get_running_loop().time() + seconds
        while is_alive() and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_POLL)

    def _is_alive(self) -> bool:
        """Whether the server or a descendant runs."""
        if self.process.returncode is None or self._descendants():
            return True
        if os.name != "posix" or _PROC.is_dir():
            return False
        try:
            os.killpg(self.process.pid, 0)
        except OSError:
            return False
        return True

    def _kill(self) -> None:
        if self._is_alive():
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                # The number of a group is free for others when its last process has ended.
                living = _processes()
                if not living or any(one.group == self.process.pid for one in living.values()):
                    os.killpg(self.process.pid, number)
            else:
                self.process.kill()
        for pid in self._descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _descendants(self) -> set[int]:
        """The living descendants, by their group, their mark and their parents.

        One escapes that clears its environment, starts a session of its own, and whose parent ends before
        this is called for the first time.
        """
        living = _processes()
        found = {pid for pid, start in self._family.items() if pid in living and living[pid].start == start}
        found |= {pid for pid, one in living.items() if one.group == self.process.pid or self._has_mark(pid)}
        parents = found | ({self.process.pid} if self.process.returncode is None else set())
        while parents:
            parents = {pid for pid, one in living.items() if one.parent in parents} - found
            found |= parents
        found.discard(self.process.pid)
        self._family = {pid: living[pid].start for pid in found}
        return found

    def _has_mark(self, pid: int) -> bool:
        try:
            return self._mark in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        except OSError:  # of another user, or it has ended
            return False


class _Process:
    """The line of a process in /proc: its parent, group and time of start."""

    def __init__(self, stat: str) -> None:
        # After the name in brackets, which may hold blanks and brackets: "7 (a) b) S 1 7 7 …".
        parts = stat.rpartition(")")[2].split()
        self.state, self.parent, self.group, self.start = parts[0], int(parts[1]), int(parts[2]), parts[19]


def _processes() -> dict[int, _Process]:
    """All processes but zombies; empty where there is no /proc, and only the group can be ended."""
    living = {}
    with contextlib.suppress(OSError):
        for folder in _PROC.iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    one = _Process((folder / "stat").read_text(encoding="utf-8", errors="replace"))
                    if one.state not in "ZX":
                        living[int(folder.name)] = one
    return living


def has_ended(process: asyncio.subprocess.Process) -> bool:
    """Whether a child has ended, also before the event loop has its status."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return False
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # its status is on the way to the loop
        return True


def resident_bytes(pid: int) -> int:
    """Memory of a process that is in RAM; 0 if it has ended or there is no /proc."""
    try:
        pages = (_PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
