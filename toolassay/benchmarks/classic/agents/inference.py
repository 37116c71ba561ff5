"""The work of an agent on one question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.answers import CUT_OFF
from toolassay.benchmarks.classic.agents.json_agent import FunctionCallingAgent, JsonAgent
from toolassay.benchmarks.classic.agents.recorded_answers import RecordedAnswers
from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings, ordered
from toolassay.benchmarks.classic.agents.workflow_choice import Agent, CostOf, QuestionRequests, unknown_cost
from toolassay.benchmarks.classic.data import Example, Question
from toolassay.files import write_json_lines
from toolassay.models import ModelError
from toolassay.runs import Journal
from toolassay.runs.items import FINAL, OVERFLOW, Ask, ItemWork


def agent_of(settings: ClassicAgentSettings, trial: int = 0, *, reference: str = "") -> Agent:
    """Create the agent for some settings.

    Args:
        settings: of the agent.
        trial: the trial whose recorded answers the agent `recorded` replays.
        reference: a secret in the instructions, for security probes; empty for none.

    Raises:
        UsageError: the file of recorded answers does not exist or is malformed.
    """
    if settings.recorded is not None:
        return RecordedAnswers(settings.recorded, settings.none_as, trial)
    if settings.agent == "tools":
        return FunctionCallingAgent(settings.limit, reference)
    return JsonAgent(
        thinking=settings.agent == "cot",
        max_tokens=settings.limit,
        reference=reference,
        structured=settings.structured,
    )


def question_fingerprint(question: Question) -> str:
    """A hash of everything the agent sees; a changed question is sent again."""
    return hashlib.sha256(json.dumps(asdict(question)).encode()).hexdigest()[:16]


def entry_of(journal: Journal, question: Question) -> dict[str, Any]:
    """The journal entry of a question; empty if there is none, or it is for an earlier form of the
    question.
    """
    entry = journal.get(question.id)
    return entry if entry and entry.get("question") == question_fingerprint(question) else {}


def is_settled(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is final, so that a continued run does not repeat it. A context overflow is final."""
    return entry.get("outcome") in FINAL


@dataclass(frozen=True)
class ChatItems(ItemWork[Question]):
    """An agent on single questions.

    Attributes:
        settings: of the agent.
        parameters: of the requests.
        cost_of: computes the cost of an answer.
        trial: number of the trial.
        agent: the agent; None until `ready` creates it.
    """

    settings: ClassicAgentSettings
    parameters: Mapping[str, Any]
    cost_of: CostOf = unknown_cost
    trial: int = 0
    agent: Agent | None = None

    final = FINAL

    def ready(self) -> ChatItems:
        """The work, with its agent."""
        return self if self.agent else replace(self, agent=agent_of(self.settings, self.trial))

    def key_of(self, item: Question) -> str:
        """The id of a question."""
        return item.id

    def identity(self, item: Question) -> dict[str, Any]:
        """A hash of everything the agent sees."""
        return {"question": question_fingerprint(item)}

    def is_unusable(self, entry: Mapping[str, Any], journal: Journal) -> bool:
        """Whether the choice is malformed, or the last answer cut off."""
        last = (entry.get("answers") or [{}])[-1]
        return entry["outcome"] == "malformed" or (last.get("finish_reason") or "").lower() in CUT_OFF

    def recorded(self, entry: Mapping[str, Any]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The answers of an entry."""
        return {"agent": [{**answer, "response": answer["text"]} for answer in entry.get("answers", ())]}

    async def answer(self, item: Question, ask: Ask) -> dict[str, Any]:
        """Have the agent choose; a context overflow is final, as a second attempt would overflow as well."""
        assert self.agent is not None
        requests = QuestionRequests(ask, self.parameters, self.cost_of)
        try:
            choice = asdict(await self.agent.choose(ordered(item, self.settings.order), requests))
        except ModelError as error:
            if error.outcome != OVERFLOW:
                raise
            choice = {"outcome": OVERFLOW, "error": str(error)}
        return {**choice, "answers": requests.answers}


_FAILED = ("provider error", "not run")
"""Outcomes that a continued run repeats; until then the prediction file has a row with the outcome."""


def prediction_rows(
    examples: Iterable[Example], journal: Journal, *, trial: int, order: str, free: bool
) -> Iterator[dict[str, Any]]:
    """One row per question that was sent, in the order of the table.

    Args:
        examples: of the folder.
        journal: of the run.
        trial: its number.
        order: of the candidates.
        free: whether the model uses no tokens, so that they count 0; unknown numbers are null otherwise.
    """
    for example in examples:
        entry = entry_of(journal, example.question)
        if not (is_settled(entry) or entry.get("outcome") in _FAILED):
            continue
        answers = entry.get("answers", ())
        nothing = 0 if free else None
        yield {
            "example_idx": example.number,
            "trial_idx": trial,
            "id": example.id,
            "conversation_uuid": example.conversation,
            "request_idx": example.request_idx,
            "domain_uuid": example.domain,
            "y_workflow_uuids": list(example.labels),
            "pred_workflow_uuid": entry.get("workflow"),
            "outcome": entry["outcome"],
            "error": entry.get("error") or entry.get("problem", ""),
            "note": entry.get("note", ""),
            "order": order,
            "time_to_pred": _rounded(_sum(answers, "seconds"), 4),
            "time_to_first_token": _rounded(_first(answers), 4),
            "tokens_input": nothing if free else _sum(answers, "prompt_tokens"),
            "tokens_output": nothing if free else _sum(answers, "completion_tokens"),
            "cost": _rounded(_sum(answers, "cost"), 10),
        }


def write_predictions(output: Path, rows: Callable[[], Iterator[Mapping[str, Any]]]) -> int:
    """Write the prediction file; nothing if no question was sent. Returns the number of lines."""
    return write_json_lines(output, rows()) if next(rows(), None) is not None else 0


def _sum(answers: Sequence[Mapping[str, Any]], name: str) -> Any:
    """The sum over all answers; None if there are none or one lacks the value."""
    values = [answer.get(name) for answer in answers]
    return sum(values) if values and None not in values else None


def _first(answers: Sequence[Mapping[str, Any]]) -> Any:
    """Seconds from the first request to the first token of the last answer, which contains the choice."""
    if not answers or answers[-1].get("first_token_seconds") is None:
        return None
    before = _sum(answers[:-1], "seconds") if len(answers) > 1 else 0.0
    return None if before is None else before + answers[-1]["first_token_seconds"]


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
