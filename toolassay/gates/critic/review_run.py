"""The run of a critic: it reviews each sample once, and does not send samples in the journal again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from toolassay.answers import CUT_OFF
from toolassay.backinstruct.teacher_review import Review, TeacherVerdict, read_answered_review
from toolassay.gates.critic.prompt import critic_prompt, critique_of, plan_of
from toolassay.gates.gate import Background
from toolassay.gates.grounding import GroundingGate
from toolassay.gold import Gold
from toolassay.models import ChatRequest
from toolassay.models.structured_output import json_schema
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
        entry = await _answer(item, self._background, self._prompt(item), ask)
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


_ANSWER = json_schema(
    "review",
    {
        "type": "object",
        "properties": {
            "review": {"type": "string"},
            "executable": {"type": "boolean"},
            "correct": {"type": "boolean"},
        },
        "required": ["review", "executable", "correct"],
        "additionalProperties": False,
    },
)
_AGAIN = "This is not the requested JSON object. Answer with it and nothing else."


async def _answer(
    gold: Gold, background: Background, prompt: str, ask: Ask, critic: str | None = None
) -> dict[str, Any]:
    """The critic's answer as an entry; an answer that is not the JSON object is requested once more."""
    task = critique_of(gold.request, plan_of(gold), background.library, background.kind)
    messages = [{"role": "user", "content": prompt}]
    is_again = False
    while True:
        request = ChatRequest(messages, {**PARAMETERS, **_ANSWER}, None, task, "critic")
        response = await ask(request, critic)
        entry = {
            "outcome": "refused" if response.refused else "answered",
            "response": response.text,
            "finish_reason": response.finish_reason,
        }
        if is_again or response.refused or _is_cut_off(entry) or _review(entry).verdict != "unknown":
            return entry
        is_again = True
        answer = {"role": "assistant", "content": response.text}
        messages = [*messages, answer, {"role": "user", "content": _AGAIN}]


async def reviewed(critic: str, gold: Gold, background: Background, ask: Ask) -> Review:
    """The review of one sample by a named model; "unknown" if it refuses or its answer is cut off.

    Raises:
        ModelError: The model cannot be reached.
    """
    prompt = critic_prompt(gold, background.library, doubts_of(gold, GroundingGate(background)))
    return _review(await _answer(gold, background, prompt, ask, critic))


def _review(entry: Mapping[str, Any]) -> Review:
    """The review in an entry; "unknown" if the model refused or its answer was cut off."""
    review = read_answered_review(entry.get("response"), entry.get("finish_reason"))
    is_none = _is_cut_off(entry) or entry.get("outcome") == "refused"
    return Review("unknown", review.conclusion) if is_none else review


def _is_cut_off(entry: Mapping[str, Any]) -> bool:
    return (entry.get("finish_reason") or "").lower() in CUT_OFF


def _fingerprint(prompt: str) -> str:
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]
