"""The run of a critic: it reviews each sample once, and does not send samples in the journal again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from toolassay.answers import CUT_OFF
from toolassay.backinstruct.teacher_review import Review, TeacherVerdict, read_review
from toolassay.gates.critic.prompt import critic_prompt, critique_of, plan_of
from toolassay.gates.gate import Background
from toolassay.gates.grounding import GroundingGate
from toolassay.gold import Gold
from toolassay.models import ChatRequest
from toolassay.requests import key_of
from toolassay.runs import Journal
from toolassay.runs.items import Ask, ItemWork

PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 1500}
NOT_FOR_IT = "not for it"
"""The outcome of a sample that is not sent because the critic cannot judge it (the plan has no arguments)."""


class CriticVerdict(NamedTuple):
    """The verdict of a critic on one sample.

    Attributes:
        verdict: "unknown" also if there is no answer.
        conclusion: the words that the verdict was read from.
        outcome: "answered", "malformed" (no verdict in the answer), "refused", `NOT_FOR_IT`, or the kind of
            failure.
    """

    verdict: TeacherVerdict
    conclusion: str
    outcome: str


class CriticWork(ItemWork[Gold]):
    """The review of samples by one critic.

    Args:
        golds: the samples; the work iterates over them several times.
        background: their tools.

    Attributes:
        verdicts: the verdict on each sample, by its line; filled by `lines`.
    """

    def __init__(self, golds: Iterable[Gold], background: Background) -> None:
        self.golds, self._background = golds, background
        self._grounding = GroundingGate(background)
        self.verdicts: dict[int, CriticVerdict] = {}

    def key_of(self, item: Gold) -> str:
        """The key of a sample."""
        return key_of(item.id)

    def identity(self, item: Gold) -> dict[str, Any]:
        """The prompt."""
        return {"prompt": _fingerprint(self._prompt(item))}

    def is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Whether there is a review."""
        return "response" in entry

    async def answer(self, item: Gold, ask: Ask) -> dict[str, Any]:
        """Ask for a review."""
        response = await ask(_request(item, self._background, self._prompt(item)))
        entry: dict[str, Any] = {
            "outcome": "refused" if response.refused else "answered",
            "response": response.text,
            "finish_reason": response.finish_reason,
        }
        if entry["outcome"] == "answered" and _review(entry).verdict == "unknown":
            entry["outcome"] = "malformed"
        return entry

    def lines(self, journal: Journal) -> Iterator[dict[str, Any]]:
        """One line per sample, in order, with `id`, `verdict`, `outcome` and the whole `review`."""
        for gold in self.golds:
            entry = self.entry_of(journal, gold)
            outcome = str(entry.get("outcome", "not run"))
            review = _review(entry)
            self.verdicts[gold.line] = CriticVerdict(review.verdict, review.conclusion, outcome)
            yield {
                "id": gold.id,
                "verdict": review.verdict,
                "outcome": outcome,
                "review": entry.get("response"),
            }

    def _prompt(self, gold: Gold) -> str:
        return critic_prompt(gold, self._background.library, doubts_of(gold, self._grounding))


def doubts_of(gold: Gold, gate: GroundingGate) -> list[str]:
    """What the gate "grounding" quarantines: the critic decides about it."""
    return [finding.reason for finding in gate.check(gold) if finding.state == "quarantine"]


def _request(gold: Gold, background: Background, prompt: str) -> ChatRequest:
    task = critique_of(gold.request, plan_of(gold), background.library, background.kind)
    return ChatRequest([{"role": "user", "content": prompt}], PARAMETERS, None, task, "critic")


async def reviewed(critic: str, gold: Gold, background: Background, ask: Ask) -> Review:
    """The review of one sample by a named model; "unknown" if it refuses or its answer is cut off.

    Raises:
        ModelError: The model cannot be reached.
    """
    prompt = critic_prompt(gold, background.library, doubts_of(gold, GroundingGate(background)))
    response = await ask(_request(gold, background, prompt), critic)
    entry = {
        "outcome": "refused" if response.refused else "answered",
        "response": response.text,
        "finish_reason": response.finish_reason,
    }
    return _review(entry)


def _review(entry: Mapping[str, Any]) -> Review:
    """The review in an entry; "unknown" if the model refused or its answer was cut off."""
    cut_off = (entry.get("finish_reason") or "").lower() in CUT_OFF
    review = read_review(entry.get("response"))
    return Review("unknown", review.conclusion) if cut_off or entry.get("outcome") == "refused" else review


def _fingerprint(prompt: str) -> str:
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]
