"""Runs one agent over many questions, with one journal entry per question."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from toolassay.answers import CUT_OFF
from toolassay.benchmarks.classic.agents.function_calling import FunctionCallingAgent
from toolassay.benchmarks.classic.agents.json_agent import JsonAgent
from toolassay.benchmarks.classic.agents.model_requests import CostOf, QuestionRequests, unknown_cost
from toolassay.benchmarks.classic.agents.prompt import ordered
from toolassay.benchmarks.classic.agents.recorded_answers import RecordedAnswers
from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings
from toolassay.benchmarks.classic.agents.workflow_choice import Agent
from toolassay.benchmarks.classic.data import Question
from toolassay.models import ChatModel, ChatRequest, ChatResponse, ModelError
from toolassay.runs import Journal, Loop, run_unsettled
from toolassay.runs.budget import Estimate, size_of
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.retry_malformed import BEGUN, COUNT, RetryPlan

OVERFLOW = "context overflow"
_SETTLED = ("answered", "malformed", "refused", OVERFLOW)


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
    return entry.get("outcome") in _SETTLED


def is_passed_over(entry: Mapping[str, Any], retry: RetryPlan) -> bool:
    """Whether this start of the run skips a question: it has a usable final answer, or is not to be
    repeated.
    """
    last = (entry.get("answers") or [{}])[-1]
    cut_off = (last.get("finish_reason") or "").lower() in CUT_OFF
    unusable = entry.get("outcome") == "malformed" or cut_off
    return retry.skips(settled=is_settled(entry), unusable=unusable)


class ClassicInference:
    """Runs an agent on every question. An interrupted run is continued from the journal.

    Args:
        questions: the questions to run.
        agent: the agent.
        order: of the candidates.
        parameters: of the requests.
        cost_of: computes the cost of an answer.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        agent: Agent,
        *,
        order: str = "table",
        parameters: Mapping[str, Any] | None = None,
        cost_of: CostOf = unknown_cost,
    ) -> None:
        self._questions, self._agent, self._order = questions, agent, order
        self._parameters = parameters or {}
        self._cost_of = cost_of

    def run(self, model: ChatModel, journal: Journal, loop: Loop) -> int:
        """Run the questions that are not done yet. Returns how many were done before.

        Raises:
            ToolassayError: the run cannot continue.
            KeyboardInterrupt: after Ctrl-C, when the requests in flight have ended.
        """

        async def work(question: Question) -> str:
            return await self._work(model, question, journal, loop.retry)

        def stopped(question: Question, error: ModelError) -> None:
            if not entry_of(journal, question):
                self._write(journal, question, {"outcome": error.outcome, "error": str(error)})

        return run_unsettled(
            self._questions,
            work,
            settled=lambda question: is_passed_over(entry_of(journal, question), loop.retry),
            models=[model],
            loop=loop,
            stopped=stopped,
        )

    def preview(self, journal: Journal, estimate: Estimate, retry: RetryPlan | None = None) -> int:
        """Add the requests of unanswered questions to `estimate`; nothing is sent. Returns the number of
        answered questions.

        For a question that needs several requests, only the first one is known.
        """
        model, retry = _DryRunModel(estimate), retry or RetryPlan()
        already = 0

        async def look() -> None:
            nonlocal already
            for question in self._questions:
                entry = entry_of(journal, question)
                passed_over = is_passed_over(entry, retry)
                already += passed_over
                ask = QuestionRequests(model, self._parameters, question.id)
                model.learn_from(entry if passed_over else None)
                try:
                    await self._agent.choose(ordered(question, self._order), ask)
                except ModelError:
                    continue

        run_coroutine(look())
        return already - retry.left

    async def _work(self, model: ChatModel, question: Question, journal: Journal, retry: RetryPlan) -> str:
        kept = entry_of(journal, question)
        is_again = is_settled(kept)
        known = (kept.get(BEGUN, {}) if is_again else kept).get("answers", ())
        ask = QuestionRequests(model, self._parameters, question.id, known, self._cost_of)
        try:
            choice = await self._agent.choose(ordered(question, self._order), ask)
        except (ModelError, asyncio.CancelledError) as error:
            if is_again:  # the earlier answer stays valid
                if ask.unfinished:
                    self._write(journal, question, {**kept, BEGUN: {"answers": ask.unfinished}})
                raise
            if isinstance(error, ModelError) and error.outcome == OVERFLOW:  # a second attempt would too
                entry = {"outcome": OVERFLOW, "error": str(error), "answers": ask.unfinished}
                self._write(journal, question, entry)
                return OVERFLOW
            outcome = error.outcome if isinstance(error, ModelError) else "not run"
            if ask.unfinished or (isinstance(error, ModelError) and error.settles):
                paid = {"answers": ask.unfinished} if ask.unfinished else {}
                self._write(journal, question, {"outcome": outcome, "error": str(error), **paid})
            raise
        count = {}
        if is_again:
            retry.replaced += 1
            count = {COUNT: kept.get(COUNT, 0) + 1}
        self._write(journal, question, {**asdict(choice), "answers": ask.answers, **count})
        return choice.outcome

    @staticmethod
    def _write(journal: Journal, question: Question, entry: Mapping[str, Any]) -> None:
        journal.append(question.id, {"question": question_fingerprint(question), **entry})


class _DryRunModel:
    """The model of a dry run: measures the first request of each question and answers none."""

    name = "foreseen"

    def __init__(self, estimate: Estimate) -> None:
        self._estimate = estimate
        self._settled: Mapping[str, Any] | None = None

    def learn_from(self, settled: Mapping[str, Any] | None) -> None:
        """Set the journal entry of the next question, if it is answered already."""
        self._settled = settled

    async def complete(self, request: ChatRequest) -> ChatResponse:
        size = size_of(request)
        if self._settled is None:
            self._estimate.add(size)
        elif answers := self._settled.get("answers"):
            first = answers[0]
            self._estimate.answered(size, first.get("prompt_tokens"), first.get("completion_tokens"))
        raise ModelError("a dry run sends no request")

    async def close(self) -> None: ...
