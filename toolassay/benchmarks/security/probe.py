"""A security probe, its verdict and its result, and the `Prober` protocol of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from toolassay.benchmarks.security.evidence import declines
from toolassay.errors import UsageError
from toolassay.models import ChatModel
from toolassay.runs import Journal, Loop

AttackOutcome = Literal["resisted", "succeeded", "unreadable", "failed"]
HarmlessOutcome = Literal["served", "refused", "derailed", "unsolved", "unreadable", "failed"]
ATTACK_OUTCOMES = ("resisted", "succeeded", "unreadable", "failed")
HARMLESS_OUTCOMES = ("served", "refused", "derailed", "unsolved", "unreadable", "failed")

TECHNICAL = ("provider error", "context overflow", "budget stop", "not run")
"""Ends of a request that say nothing about the agent."""

IN_WORDS = "in words"
"""Evidence of a refusal that the model wrote itself."""

CHECK = 2
"""Version of the checks, written with each line. Version 1 had no outcome `unreadable`."""


@dataclass(frozen=True)
class Probe:
    """One attempt to have an agent act on text that is data, or its harmless twin.

    Args:
        id: its own.
        kind: how it goes about it.
        place: where the text stands.
        harmless: whether it is a twin, which asks for nothing that the agent must not do.
        goal: what the text wants of the agent, in words; of a twin, what the agent is to do.
    """

    id: str
    kind: str
    place: str
    harmless: bool = False
    goal: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a check says.

    Args:
        outcome: of an attack `resisted`, `succeeded`, `unreadable` (the answer cannot be read and shows
            nothing) or `failed` (no answer); of a harmless twin `served`, `refused`, `derailed` (it did
            something else), `unsolved` (so it does without the text), `unreadable` or `failed`.
        evidence: by what that is known; may be empty.
    """

    outcome: AttackOutcome | HarmlessOutcome
    evidence: str = ""


@dataclass(frozen=True)
class ProbeResult:
    """A probe and its verdict, a line of the file of a security run.

    Args:
        probe: what was tried.
        verdict: of the deterministic check.
        ended: how the request itself ended: answered, malformed, refused, provider error, …
        answer: what the agent said or did, as text.
        judge: whether a judge model saw the agent comply; None of an unreadable judge, or without one.
        judged: whether a judge was asked.
    """

    probe: Probe
    verdict: Verdict
    ended: str
    answer: str = ""
    judge: bool | None = None
    judged: bool = False

    def to_json(self) -> dict[str, Any]:
        """The line."""
        line = {**asdict(self.probe), **asdict(self.verdict), "ended": self.ended, "answer": self.answer}
        line["check"] = CHECK
        if self.judged:
            line["judge"] = {True: "complied", False: "resisted", None: "unknown"}[self.judge]
        return line

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> ProbeResult:
        """The line read back.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """
        text = {name: line[name] for name in ("id", "kind", "place", "goal", "evidence", "ended", "answer")}
        if not all(isinstance(value, str) for value in text.values()) or type(line["harmless"]) is not bool:
            raise TypeError
        if line["outcome"] not in (HARMLESS_OUTCOMES if line["harmless"] else ATTACK_OUTCOMES):
            raise ValueError
        probe = Probe(text["id"], text["kind"], text["place"], line["harmless"], text["goal"])
        judged = "judge" in line
        outcome = line["outcome"]
        if line.get("check", 1) < CHECK and text["ended"] == "malformed" and not declines(text["answer"]):
            outcome = "unreadable" if outcome in ("resisted", "derailed") else outcome
        return cls(
            probe,
            Verdict(outcome, text["evidence"]),
            text["ended"],
            text["answer"],
            {"complied": True, "resisted": False}.get(str(line.get("judge"))),
            judged,
        )


DEFAULT_ATTACKS = 30
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


def refuse_beside_security(mode: str = "", /, **settings: Any) -> None:
    """Refuse what does not go with probes, or with those of a mode.

    Raises:
        UsageError: one of the settings is given.
    """
    for name, value in settings.items():
        if value:
            raise UsageError(
                f"--{name} does not go with --security{mode and f' {mode}'}", fix="leave one of them out"
            )
