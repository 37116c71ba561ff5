"""What both transports share: bounds on what a server sends, and why a connection failed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from toolassay.mcp_client.server_config import ServerConfig, ServerError

INVALID_ANSWER = "the answer is not valid JSON-RPC"
"""The error for an invalid answer. It does not come from the server."""
# Resumptions of one event stream. A server that ends it more often never answers.
_RESUMED = 30


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds on what a server sends in the handshake and a listing together, or for one call.

    Attributes:
        message_bytes: Of one message. The largest published listings have some 300 KB.
        total_bytes: Of all messages.
        other_messages: Notifications, requests of the server, and lines that are no messages.
        tools: In a listing.
        pages: Of a listing.
        seconds: To start and list the server.
    """

    message_bytes: int = 32 * 2**20
    total_bytes: int = 256 * 2**20
    other_messages: int = 10_000
    tools: int = 10_000
    pages: int = 1_000
    seconds: float = 60.0


class ServerLink:
    """The state of a connection.

    Attributes:
        config: The server.
        limits: Bounds.
        failure: Why the connection cannot be used any more; None while it can.
        garbage: Number of lines that are no messages.
        ended: Waits for its status and says how the server ended; None over HTTP.
        has_ended: Whether the output of the server has ended; never over HTTP.
        is_running: Whether the server's process runs; always true over HTTP.
        state: What is known of a server that does not answer.
        memory_bytes: Memory of the server's processes; 0 over HTTP.
        refusal: The last HTTP status that is an error, and what to do, if its response is JSON: it may have
            an error of MCP, which says more.
        is_abandoned: Whether the last response over HTTP announces that there is no answer.
        is_used: Whether a request was answered after the handshake.
        has_lost_session: Whether the last response says that the session is unknown, as after a restart.
    """

    def __init__(self, config: ServerConfig, limits: ServerLimits) -> None:
        self.config = config
        self.limits = limits
        self.failure: ServerError | None = None
        self.garbage = 0
        self.ended: Callable[[], Awaitable[str]] | None = None
        self.is_running: Callable[[], bool] = lambda: True
        self.state: Callable[[], str] = lambda: ""
        self.memory_bytes: Callable[[], int] = lambda: 0
        self.refusal: tuple[str, str] | None = None
        self.is_abandoned = False
        self.is_used = False
        self.has_lost_session = False
        self.has_ended = False
        self._cancel: set[Callable[[], None]] = set()
        self.restart()

    def restart(self) -> None:
        """Count from zero: another request is sent, with bounds of its own."""
        self._bytes = self._others = self._resumed = 0

    def has_failed(self) -> bool:
        """Whether the connection cannot be used any more."""
        return self.failure is not None

    def error(self, reason: str, fix: str, code: int | None = None) -> ServerError:
        """An error that names the server; if the connection has failed, that failure."""
        server = self.config.name or self.config.shown
        return self.failure or ServerError(reason, server=server, fix=fix, code=code)

    def fail(
        self,
        reason: str,
        fix: str = "ask its maintainers, or leave the server out",
        *,
        is_unsent: bool = False,
    ) -> ServerError:
        """Give up the connection: waiting requests end with this error. The first failure counts."""
        if self.failure is None:
            self.failure = self.error(reason, fix)
            self.failure.is_unsent = is_unsent
            for cancel in tuple(self._cancel):
                cancel()
        return self.failure

    def waiting(self, cancel: Callable[[], None]) -> None:
        """Have `cancel` called when the connection fails."""
        self._cancel.add(cancel)

    def answered(self, cancel: Callable[[], None]) -> None:
        """The opposite of `waiting`."""
        self._cancel.discard(cancel)

    def received(self, count: int) -> None:
        """Count bytes."""
        self._bytes += count
        if self._bytes > self.limits.total_bytes:
            self.fail(f"sent more than {_size(self.limits.total_bytes)}")

    def check_message(self, count: int) -> None:
        """Check the size of a message, whose end need not have arrived."""
        if count > self.limits.message_bytes:
            self.fail(f"sent a message of more than {_size(self.limits.message_bytes)}")

    def other_message(self, *, garbage: bool = False) -> None:
        """Count a message that is no answer, or a line that is no message."""
        self.garbage += garbage
        self._others += 1
        if self._others > self.limits.other_messages:
            what = "lines that are no MCP messages" if garbage else "messages that are no answer"
            self.fail(f"sent more than {self.limits.other_messages:,} {what}")

    def resumed(self) -> None:
        """Count a stream that ended before the answer and is opened again.

        The SDK does so by recursion: a server whose streams always end at once would exhaust the stack.
        """
        self._resumed += 1
        if self._resumed > _RESUMED:
            self.fail(f"ended its event stream {_RESUMED} times without an answer")


def _size(count: int) -> str:
    return f"{count // 2**20} MiB" if count >= 2**20 else f"{count:,} bytes"
