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
from toolassay.models import ChatModel, ChatRequest, ChatResponse, ModelError
from toolassay.models.structured_output import json_schema
from toolassay.requests import key_of
from toolassay.runs import Journal, Loop, run_unsettled

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


class CriticWork:
    """The review of samples by one critic, in the form that `AgentRun.carry_out` runs.

    Args:
        golds: the samples; the work iterates over them several times.
        background: their tools.

    Attributes:
        verdicts: the verdict on each sample, by its line; filled by `lines`.
    """

    def __init__(self, golds: Iterable[Gold], background: Background) -> None:
        self._golds, self._background = golds, background
        self._grounding = GroundingGate(background)
        self.verdicts: dict[int, CriticVerdict] = {}

    def run(self, model: ChatModel, journal: Journal, loop: Loop) -> int:
        """Review the samples that the journal does not settle yet.

        Returns:
            The number of samples that the journal had settled before.

        Raises:
            ToolassayError: the run cannot go on.
            KeyboardInterrupt: at Ctrl-C, after the requests in flight have ended.
        """

        async def ask(gold: Gold) -> str:
            try:
                return await self._ask(model, journal, gold)
            except ModelError as error:
                if error.settles:
                    self._note(journal, gold, error)
                raise

        return run_unsettled(
            self._golds,
            ask,
            settled=lambda gold: "response" in self._entry(journal, gold),
            models=[model],
            loop=loop,
            stopped=lambda gold, error: self._note(journal, gold, error),
        )

    def lines(self, journal: Journal) -> Iterator[dict[str, Any]]:
        """One line per sample, in order, with `id`, `verdict`, `outcome` and the whole `review`."""
        for gold in self._golds:
            entry = self._entry(journal, gold)
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

    async def _ask(self, model: ChatModel, journal: Journal, gold: Gold) -> str:
        prompt = self._prompt(gold)
        response, entry = await _answer(model, gold, self._background, prompt)
        entry |= {
            "prompt": _fingerprint(prompt),
            "prompt_tokens": response.prompt_tokens,
            "completion_tokens": response.completion_tokens,
            **({"reasoning": response.reasoning} if response.reasoning else {}),
        }
        if entry["outcome"] == "answered" and _review(entry).verdict == "unknown":
            entry["outcome"] = "malformed"
        journal.append(key_of(gold.id), entry)
        return str(entry["outcome"])

    def _entry(self, journal: Journal, gold: Gold) -> dict[str, Any]:
        """The journal's entry for a sample; empty without one, or if the prompt has changed since."""
        entry = journal.get(key_of(gold.id))
        if not entry or entry.get("prompt") != _fingerprint(self._prompt(gold)):
            return {}
        return entry

    def _note(self, journal: Journal, gold: Gold, error: ModelError) -> None:
        prompt = _fingerprint(self._prompt(gold))
        journal.append(key_of(gold.id), {"outcome": error.outcome, "problem": str(error), "prompt": prompt})


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
    model: ChatModel, gold: Gold, background: Background, prompt: str
) -> tuple[ChatResponse, dict[str, Any]]:
    """The critic's answer and its entry; an answer that is not the JSON object is requested once more."""
    task = critique_of(gold.request, plan_of(gold), background.library, background.kind)
    messages = [{"role": "user", "content": prompt}]
    is_again = False
    while True:
        response = await model.complete(
            ChatRequest(messages, {**PARAMETERS, **_ANSWER}, None, task, "critic", key_of(gold.id))
        )
        entry = {
            "outcome": "refused" if response.refused else "answered",
            "response": response.text,
            "finish_reason": response.finish_reason,
        }
        if is_again or response.refused or _is_cut_off(entry) or _review(entry).verdict != "unknown":
            return response, entry
        is_again = True
        answer = {"role": "assistant", "content": response.text}
        messages = [*messages, answer, {"role": "user", "content": _AGAIN}]


async def reviewed(model: ChatModel, gold: Gold, background: Background) -> Review:
    """The review of one sample, now; "unknown" if the model refuses or its answer is cut off.

    Raises:
        ModelError: The model cannot be reached.
    """
    prompt = critic_prompt(gold, background.library, doubts_of(gold, GroundingGate(background)))
    return _review((await _answer(model, gold, background, prompt))[1])


def _review(entry: Mapping[str, Any]) -> Review:
    """The review in an entry; "unknown" if the model refused or its answer was cut off."""
    review = read_answered_review(entry.get("response"), entry.get("finish_reason"))
    is_none = _is_cut_off(entry) or entry.get("outcome") == "refused"
    return Review("unknown", review.conclusion) if is_none else review


def _is_cut_off(entry: Mapping[str, Any]) -> bool:
    return (entry.get("finish_reason") or "").lower() in CUT_OFF


def _fingerprint(prompt: str) -> str:
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]
