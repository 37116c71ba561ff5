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

import psutil  # type: ignore[import-untyped]

from toolassay.mcp_client.server_config import ServerConfig, ServerError

GRACE = 2.0
"""Seconds for a server to end after its input is closed, and again after SIGTERM."""
_STDERR_BYTES = 4096  # kept of its stderr
# Seconds between checks whether processes have ended.
_POLL = 0.05
_REAPING = 0.5  # seconds in which a process that was killed is gone
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
        self._mark = mark
        self._family: set[psutil.Process] = set()  # descendants
        self._stderr = bytearray()
        self._stderr_ended = asyncio.Event()

    @classmethod
    async def start(cls, config: ServerConfig, *, stderr: int = PIPE) -> ServerProcess:
        """Start the command in a session of its own, with a minimal environment and the configured variables.

        Args:
            config: The server.
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
                stdin=PIPE,
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

    @property
    def memory_bytes(self) -> int:
        """Memory of the server's process and its living descendants that is in RAM."""
        total = 0
        for pid in {self.process.pid, *(descendant.pid for descendant in self._descendants())}:
            with contextlib.suppress(psutil.Error):  # it has ended
                total += psutil.Process(pid).memory_info().rss
        return total

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
        pid = self.process.pid
        while self.process.returncode is None and psutil.pid_exists(pid) and time.monotonic() < end:
            time.sleep(_REAPING / 100)

    async def _ended(self, seconds: float, is_alive: Callable[[], bool]) -> None:
        """Wait until it has ended. `Process.wait` would also wait for its pipes, which children hold."""
        deadline = asyncio.get_running_loop().time() + seconds
        while is_alive() and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_POLL)

    def _is_alive(self) -> bool:
        """Whether the server or a descendant runs."""
        return self.process.returncode is None or bool(self._descendants())

    def _kill(self) -> None:
        if self._is_alive():
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _signal(self, number: int) -> None:
        family = self._descendants()
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                self.process.send_signal(number)
        for member in family:
            with contextlib.suppress(psutil.Error):
                member.send_signal(number)

    def _descendants(self) -> set[psutil.Process]:
        """The living descendants, by their group, their mark and their parents.

        One escapes that clears its environment, starts a session of its own, and whose parent ends before
        this is called for the first time.
        """
        all_processes = psutil.process_iter(["environ", "ppid", "status"])
        living = {
            process
            for process in all_processes
            if process.info["status"] not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        }
        family = {process for process in living if process in self._family or self._is_own(process)}
        parents = {process.pid for process in family} | (
            {self.process.pid} if self.process.returncode is None else set()
        )
        while parents:
            more = {process for process in living if process.info["ppid"] in parents} - family
            family = family | more
            parents = {process.pid for process in more}
        self._family = {process for process in family if process.pid != self.process.pid}
        return self._family

    def _is_own(self, process: psutil.Process) -> bool:
        if (process.info["environ"] or {}).get(_MARK) == self._mark:
            return True
        with contextlib.suppress(
            ProcessLookupError, PermissionError, AttributeError
        ):  # of Windows: no groups
            return os.getpgid(process.pid) == self.process.pid
        return False


def has_ended(process: asyncio.subprocess.Process) -> bool:
    """Whether a child has ended, also before the event loop has its status."""
    if process.returncode is not None:
        return True
    try:
        return bool(psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:  # its status is on the way to the loop
        return True
