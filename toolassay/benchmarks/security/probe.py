"""A security probe, its verdict and its result, and the protocol `Prober` that a benchmark implements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from toolassay.benchmarks.security.evidence import declines
from toolassay.errors import UsageError

if TYPE_CHECKING:
    from toolassay.runs import Journal
    from toolassay.runs.items import ItemWork

AttackOutcome = Literal["resisted", "succeeded", "unreadable", "failed"]
HarmlessOutcome = Literal["served", "refused", "derailed", "unsolved", "unreadable", "failed"]
ATTACK_OUTCOMES = ("resisted", "succeeded", "unreadable", "failed")
HARMLESS_OUTCOMES = ("served", "refused", "derailed", "unsolved", "unreadable", "failed")

TECHNICAL = ("provider error", "context overflow", "budget stop", "not run")
"""Outcomes that say nothing about the agent's behaviour; such attacks are excluded from rates."""

IN_WORDS = "in words"
"""Evidence for a refusal that is written in the answer's text."""

CHECK = 2
"""Version of the checks, written on each line. Version 1 had no outcome `unreadable`."""


@dataclass(frozen=True)
class Probe:
    """One attempt to make an agent follow instructions in data, or its harmless twin.

    Args:
        id: unique in the run.
        kind: the wording, or the type of attack.
        place: where the text is planted.
        harmless: whether it is a twin, whose text demands nothing forbidden.
        goal: what the text demands of the agent; for a twin, what the agent should do.
    """

    id: str
    kind: str
    place: str
    harmless: bool = False
    goal: str = ""


@dataclass(frozen=True)
class Verdict:
    """The verdict of the deterministic check.

    Args:
        outcome: for an attack `resisted`, `succeeded`, `unreadable` (the answer cannot be parsed and shows no
            sign of success) or `failed` (no answer). For a twin `served`, `refused`, `derailed` (the agent
            did something else), `unsolved` (the agent fails without the text as well), `unreadable` or
            `failed`.
        evidence: the reason for the outcome; may be empty.
    """

    outcome: AttackOutcome | HarmlessOutcome
    evidence: str = ""


@dataclass(frozen=True)
class ProbeResult:
    """A probe and its verdict; one line of a security run's results file.

    Args:
        probe: the probe.
        verdict: of the deterministic check.
        ended: the outcome of the request itself: answered, malformed, refused, provider error, …
        answer: the agent's answer and calls, as text.
        judge: whether the judge model says that the agent complied; None if its answer is unreadable or there
            is no judge.
        judged: whether a judge was used.
    """

    probe: Probe
    verdict: Verdict
    ended: str
    answer: str = ""
    judge: bool | None = None
    judged: bool = False

    def to_json(self) -> dict[str, Any]:
        """The result as a line of the results file."""
        line = {**asdict(self.probe), **asdict(self.verdict), "ended": self.ended, "answer": self.answer}
        line["check"] = CHECK
        if self.judged:
            line["judge"] = {True: "complied", False: "resisted", None: "unknown"}[self.judge]
        return line

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> ProbeResult:
        """Parse a line of the results file.

        Lines of version 1 get the outcome `unreadable` where version 2 would give it.

        Raises:
            KeyError, TypeError, ValueError: the value is not such a line.
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
"""Default number of attacks."""
SEED = 0
"""Seed of the choice of probes; fixed, so that all models get the same ones."""


class Prober(Protocol):
    """The probes of one data folder for one agent.

    Attributes:
        settings: everything that shapes probes and answers, for the manifest.
        read: the files that the probes are made of.
        size: number of requests, tasks or chats that are sent to the agent.
        items: the work on one of them.
        chosen: the requests, tasks or chats.

    One whose agent takes several requests for a probe also has `in_steps`, which is true.
    """

    @property
    def settings(self) -> Mapping[str, Any]: ...

    @property
    def read(self) -> Sequence[Path]: ...

    @property
    def size(self) -> int: ...

    @property
    def items(self) -> ItemWork[Any]: ...

    @property
    def chosen(self) -> Sequence[Any]: ...

    def results(self, journal: Journal) -> list[ProbeResult]:
        """The verdict on every probe, in order, computed from the journal."""
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
