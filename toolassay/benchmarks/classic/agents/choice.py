"""What an agent chose, and who agents are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from toolassay.benchmarks.classic.agents.asking import Asking
from toolassay.benchmarks.classic.data import Question

Outcome = Literal["answered", "malformed", "refused", "not run"]


@dataclass(frozen=True)
class Choice:
    """How a question ended.

    Args:
        workflow: its id; None where the agent chose none, or nothing that can be read.
        outcome: `answered` without a workflow is the choice of none.
        note: what was passed over in reading the answer; empty for most.
        error: why there is no choice; empty where there is one.
    """

    workflow: str | None
    outcome: Outcome = "answered"
    note: str = ""
    error: str = ""


REFUSED = Choice(None, "refused", error="the model declined")


def malformed(error: str) -> Choice:
    """The end of a question whose answer cannot be read, or names what was not offered."""
    return Choice(None, "malformed", error=error)


class Agent(Protocol):
    """Chooses for a question. Given the same answers it does the same again."""

    @property
    def wording(self) -> str:
        """All that is fixed in what it sends, for a fingerprint."""
        ...

    async def choose(self, question: Question, ask: Asking) -> Choice:
        """Choose.

        Raises:
            ModelError: no answer.
        """
        ...
