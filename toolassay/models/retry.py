"""When to try again, how long to wait before it, and when to give up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from toolassay.models.errors import RESET, UNREACHABLE, ModelError
from toolassay.models.options import MAX_TRIES

MAX_IDENTICAL = 4
LONGEST_BACKOFF = 60.0
LONGEST_RETRY_AFTER = 600.0


def wait_before(number: int, error: ModelError) -> float:
    """Seconds to wait before the try after try `number`.

    Exponential with jitter (0.5 to 1 s, 1 to 2 s, 2 to 4 s, … at most a minute), or what the server asked
    for, within ten minutes and with a little jitter, so that not all who were sent away return at once.
    """
    backoff = random.uniform(0.5, 1.0) * min(LONGEST_BACKOFF, 2.0 ** min(number - 1, 30))
    if error.retry_after is None:
        return backoff
    return min(error.retry_after, LONGEST_RETRY_AFTER) + min(error.retry_after, backoff) * 0.1


class Tries:
    """The tries of one request: a cap on all of them, and one on identical failures in a row.

    A deterministic 500 says the same thing every time: it ends after four. A 429 and a server that is not
    there say the same thing every time too, but pass: only the cap on all tries holds for them. A 429 while
    other requests are answered only says that this one stands in line: the count begins anew.

    >>> tries = Tries(most=8)
    >>> error = ModelError("HTTP 500: out of paper", transient=True, kind="HTTP 500", status=500)
    >>> [tries.again(error) for _ in range(4)]
    [True, True, True, False]
    """

    def __init__(self, most: int = MAX_TRIES, most_identical: int = MAX_IDENTICAL) -> None:
        self.number = 1
        self._most = most
        self._most_identical = most_identical
        self._in_line = 0  # tries that do not count
        self._last: tuple[str, str] | None = None
        self._identical = 0

    def again(self, error: ModelError, *, others_answered: bool = False) -> bool:
        """Whether to try once more after this failure; counts it.

        Args:
            error: the failure.
            others_answered: whether the endpoint has answered another request since the failure before.
        """
        failure = (error.kind, str(error))
        self._identical = self._identical + 1 if failure == self._last else 1
        self._last = failure
        if not error.transient:
            return False
        if error.status == 429 and others_answered:
            self._in_line = self.number
        elif self.number - self._in_line >= self._most:
            return False
        passing = error.status == 429 or error.kind == UNREACHABLE
        if self._identical >= self._most_identical and not passing:
            return False
        self.number += 1
        return True


class Breaker:
    """Notices a server that died in the middle of a run.

    It opens when `failures` attempts in a row could not connect or lost their connection, over at least
    `seconds`: one restart of a server breaks every connection at once, and passes. Of connections that
    break together only one counts.

    Args:
        failures: how many in a row.
        seconds: for how long at least.
        clock: seconds that never go back.
    """

    def __init__(
        self, failures: int = 20, seconds: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._failures = failures
        self._seconds = seconds
        self._clock = clock
        self._count = 0
        self._first = 0.0
        self._last = float("-inf")

    def heard(self) -> None:
        """The server answered, whatever it said."""
        self._count = 0

    def failed(self, error: ModelError, sent: float) -> bool:
        """Count a failure of an attempt sent at a time of the clock; whether the server is gone."""
        if error.kind not in (UNREACHABLE, RESET):
            return False
        now = self._clock()
        if self._count == 0:
            self._first = now
        elif sent < self._last:
            return False  # was under way when the last one failed: the same event
        self._count += 1
        self._last = now
        return self._count >= self._failures and now - self._first >= self._seconds
