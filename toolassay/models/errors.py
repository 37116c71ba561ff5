"""Why a model gave no answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from toolassay.models.redaction import without

FailureOutcome = Literal["provider error", "context overflow", "refused", "budget stop", "not run"]

LONGEST = 400  # characters of a message
UNREACHABLE = "unreachable"
RESET = "reset"
TIME_LIMIT = "time limit"
"""The kind of a failure that the caller's own limit on an attempt (`ChatRequest.timeout`) ended."""


class ModelError(Exception):
    """No answer: the item failed, the model is not to blame.

    Args:
        message: what happened, in one line.
        outcome: how the item ends.
        transient: whether trying again may help (429, 5xx, timeout, broken connection).
        retry_after: seconds the server asked to wait, if it did.
        stops_run: whether every other request would fail the same way (wrong key, nobody listening).
        kind: what sort of failure, for the ledger: "HTTP 429", "timeout", "reset", "truncated", …
        status: the HTTP status, where there was one.
        prompt_tokens: what the server charged although the answer was of no use.
        completion_tokens: likewise.
        body: what the server said, whole, where more can be read out of it; it may hold secrets.

    Attributes:
        mended: what the server complained of is out of the way: the same request may be sent again.
    """

    def __init__(
        self,
        message: str,
        *,
        outcome: FailureOutcome = "provider error",
        transient: bool = False,
        retry_after: float | None = None,
        stops_run: bool = False,
        kind: str = "failed",
        status: int | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        body: str = "",
    ) -> None:
        super().__init__(" ".join(message.split()))
        self.outcome: FailureOutcome = outcome
        self.transient = transient
        self.retry_after = retry_after
        self.stops_run = stops_run
        self.kind = kind
        self.status = status
        self.prompt_tokens = prompt_tokens
        self.completion_tokens = completion_tokens
        self.body = body
        self.mended = False

    @property
    def settles(self) -> bool:
        """Whether this is how the item ends; what the budget or the user stopped may still get its turn."""
        return not self.stops_run and self.outcome not in ("budget stop", "not run")

    def hide(self, secrets: Iterable[str]) -> None:
        """Take secrets out of the message, then cut it: the other way round half of one could remain."""
        self.args = (without(secrets, str(self))[:LONGEST],)
