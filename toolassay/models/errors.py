"""`ModelError`: a request that got no answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import InitVar, dataclass, field
from typing import Literal

from toolassay.models.redaction import without

FailureOutcome = Literal[
    "provider error", "context overflow", "refused", "in doubt", "budget stop", "not run"
]

LONGEST = 400
"""Maximum characters of a message."""
UNREACHABLE = "unreachable"
RESET = "reset"
TIME_LIMIT = "time limit"
"""Kind of an attempt that exceeded the caller's own limit (`ChatRequest.timeout`)."""


@dataclass(eq=False, repr=False, kw_only=True)
class ModelError(Exception):
    """A request got no answer. The item fails, and the failure does not count against the model.

    Args:
        message: What happened, in one line.
        outcome: Outcome of the item.
        transient: Whether a retry may help (429, 5xx, time-out, broken connection).
        retry_after: Seconds of the server's `Retry-After` header.
        stops_run: Whether every other request would fail the same way (wrong key, no server).
        kind: Kind of failure for the ledger: "HTTP 429", "timeout", "reset", "truncated", …
        status: HTTP status.
        prompt_tokens: Tokens that the server charged although the answer was unusable.
        completion_tokens: Likewise.
        body: The server's complete error text, from which refused parameters are read. May hold secrets.

    Attributes:
        is_resolved: Whether the client has removed the cause, so that the same request can be sent again at
            once, without counting as a retry.
        fix: What the user can do, if it ends the run; empty for the usual advice about address and key.
        may_cost: Whether the server may charge for it although `status` is that of an error: it was inside an
            answer that had begun.
    """

    message: InitVar[str] = field(kw_only=False)
    outcome: FailureOutcome = "provider error"
    transient: bool = False
    retry_after: float | None = None
    stops_run: bool = False
    kind: str = "failed"
    status: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    body: str = ""
    is_resolved: bool = field(default=False, init=False)
    may_cost: bool = field(default=False, init=False)
    fix: str = field(default="", init=False)

    def __post_init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))

    @property
    def refuses_request(self) -> bool:
        """Whether the server refused the request itself, neither for its length nor its content."""
        is_final = self.outcome == "provider error" and not (
            self.is_resolved or self.stops_run or self.transient
        )
        return is_final and self.status in (400, 422)

    @property
    def settles(self) -> bool:
        """Whether the failure is final for the item; one that the budget or the user stopped runs later."""
        return not self.stops_run and self.outcome not in ("budget stop", "not run")

    def hide(self, secrets: Iterable[str]) -> None:
        """Redact secrets in the message, then cut it; in the other order half of a secret could remain."""
        self.args = (without(secrets, str(self))[:LONGEST],)
