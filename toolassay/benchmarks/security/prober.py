"""What a benchmark says about its probes, so that one stage runs them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from toolassay.benchmarks.security.probe import ProbeResult
from toolassay.models import ChatModel
from toolassay.runs import Journal, Loop

DEFAULT = 30
"""Attacks, where no number is given."""
SEED = 0
"""Of the choice of probes; the same in every run, so that models are compared on the same ones."""


class Prober(Protocol):
    """The probes of one data folder and one agent.

    Attributes:
        settings: everything that shapes probes and answers.
        read: the files they are made of.
        size: requests, tasks or chats that are put to the agent.
    """

    @property
    def settings(self) -> Mapping[str, Any]: ...

    @property
    def read(self) -> Sequence[Path]: ...

    @property
    def size(self) -> int: ...

    def run(
        self,
        model: ChatModel,
        journal: Journal,
        loop: Loop,
    ) -> int:
        """Put to the agent what the journal does not settle yet; how much it settled before.

        Raises:
            ToolassayError: the run cannot go on.
            KeyboardInterrupt: at Ctrl-C, when what was in flight has ended.
        """
        ...

    def results(self, journal: Journal) -> list[ProbeResult]:
        """Every probe with its verdict by what the journal holds, in their order."""
        ...
