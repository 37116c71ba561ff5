"""The settings of an agent, and the order in which it gets the workflows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.data import Question
from toolassay.errors import UsageError
from toolassay.files import sha256_of
from toolassay.models.structured_output import Structured


def check_order(order: str) -> None:
    """Validate `--order`.

    Raises:
        UsageError: it is neither `table`, nor `name`, nor a whole number.
    """
    if order not in ("table", "name") and not (order.isascii() and order.isdigit()):
        raise UsageError(f"unknown --order {order!r}", fix="give table, name, or the seed of a shuffle")


def ordered(question: Question, order: str) -> Question:
    """The question with its candidates in the given order.

    Args:
        question: as in the table.
        order: `table`; `name`; or a seed, which shuffles the candidates of each question differently.
    """
    if order == "table":
        return question
    candidates = sorted(question.candidates, key=lambda workflow: workflow.name.casefold())
    if order != "name":
        random.Random(f"{order} {question.id}").shuffle(candidates)
    return replace(question, candidates=tuple(candidates))


AGENTS = ("cot", "reasoning", "tools", "retrieval", "recorded")
OFFLINE = "offline"
_WRITING = ("cot", "reasoning")
MAX_TOKENS = {"cot": 512, "reasoning": 4096, "tools": 512, "retrieval": 512}


@dataclass(frozen=True)
class ClassicAgentSettings:
    """Settings of an agent. All of them shape answers, so they are part of the run's manifest.

    Args:
        agent: `cot`, `reasoning`, `tools`, `retrieval` or `recorded`.
        order: of the candidates: `table`, `name`, or a seed that shuffles them for each question.
        max_tokens: maximum tokens of an answer; None for the agent's default.
        recorded: the file of answers of the agent `recorded`.
        none_as: cells that mean no workflow in that file; see `RecordedAnswers`.
        structured: the JSON Schema that `cot` and `reasoning` send. None: one for the form of the answer.
            "auto" or True: one that also lists the offered names as an enum. False: none.

    Raises:
        UsageError: a setting is unknown, or two settings contradict each other.
    """

    agent: str = "cot"
    order: str = "table"
    max_tokens: int | None = None
    recorded: Path | None = None
    none_as: Sequence[str] = ("none",)
    structured: Structured | None = None

    def __post_init__(self) -> None:
        if self.agent not in AGENTS:
            raise UsageError(
                f"unknown --agent {self.agent!r}", fix=f"for CLASSic choose from {', '.join(AGENTS)}"
            )
        check_order(self.order)
        if (self.recorded is None) == (self.agent == "recorded"):
            raise UsageError(
                "--recorded FILE and --agent recorded require each other", fix="give both, or neither"
            )
        if self.structured is True and self.agent not in _WRITING:
            raise UsageError(
                f"--structured true: the agent {self.agent} sends no schema",
                fix=f"omit it, or choose --agent {' or '.join(_WRITING)}",
            )

    @property
    def limit(self) -> int:
        """Maximum tokens of an answer."""
        return self.max_tokens or MAX_TOKENS.get(self.agent, 512)

    @property
    def facts(self) -> dict[str, Any]:
        """The settings for the manifest."""
        facts: dict[str, Any] = {"agent": self.agent, "order": self.order}
        if self.structured is not None:
            facts["structured"] = self.structured
        if self.recorded is not None:
            return {**facts, "none_as": list(self.none_as), "recorded_sha256": sha256_of(self.recorded)}
        return {**facts, "max_tokens": self.limit}
