"""Why a model gave no answer."""

from __future__ import annotations

from typing import Literal

FailureOutcome = Literal["provider error", "context overflow", "budget stop"]


class ModelError(Exception):
    """No answer: the item failed, the model is not to blame.

    Args:
        message: what happened, in one line.
        outcome: how the item ends.
        transient: whether trying again may help (429, 5xx, timeout, broken connection).
        retry_after: seconds the server asked to wait, if it did.
        stops_run: whether every other request would fail the same way (wrong key, nobody listening).
    """

    def __init__(
        self,
        message: str,
        *,
        outcome: FailureOutcome = "provider error",
        transient: bool = False,
        retry_after: float | None = None,
        stops_run: bool = False,
    ) -> None:
        super().__init__(" ".join(message.split()))
        self.outcome: FailureOutcome = outcome
        self.transient = transient
        self.retry_after = retry_after
        self.stops_run = stops_run

    def hide(self, secret: str | None) -> None:
        """Take a secret out of the message."""
        if secret:
            self.args = tuple(str(part).replace(secret, "***") for part in self.args)
