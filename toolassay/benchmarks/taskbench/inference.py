"""Requests a plan for each request from a model and journals the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from toolassay.benchmarks.taskbench.existing_predictions import (
    adoptable_predictions,
)
from toolassay.benchmarks.taskbench.parse import is_strict_plan, read_plan
from toolassay.benchmarks.taskbench.prediction_lines import (
    entry_of,
    is_settled,
    is_unusable,
    plan_of,
)
from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.dataset import Request
from toolassay.graph import ToolGraph
from toolassay.models import ChatModel, ChatRequest, ChatResponse, ModelError
from toolassay.models.protocol import Message
from toolassay.offline.model_tasks import PlanTask, ReformatTask
from toolassay.prompt_templates import size_of
from toolassay.requests import key_of, request_fingerprint
from toolassay.runs import Journal, Loop, run_unsettled
from toolassay.runs.budget import Estimate
from toolassay.runs.retry_malformed import BEGUN, COUNT, RetryPlan

PARAMETERS: Mapping[str, Any] = {"presence_penalty": 1.05, "max_tokens": 2000}

_RESPONSE = ("response", "finish_reason", "prompt_tokens", "completion_tokens")


class RequestStream(Protocol):
    """Requests that can be iterated several times; ids are unique."""

    def __iter__(self) -> Iterator[Request]: ...

    def __len__(self) -> int: ...


class Inferrer:
    """Asks a model for the plan of each request, continuing where it left off.

    Args:
        graph: the tool graph (the offline planner works with it; served models see only the prompt).
        prompt: how the model is asked.
        model: the model under test; None where nothing is sent.
        parameters: of the request (temperature, top_p, …), over the published ones.
        reformatter: who rewrites an answer that could not be read; None leaves it malformed.
        show: Receives the first prompt and its answer; None for none.
        shown: the prompt and the graph for one request, where they are not the same for all.
    """

    def __init__(
        self,
        graph: ToolGraph,
        prompt: PlanPrompt,
        model: ChatModel | None,
        *,
        parameters: Mapping[str, Any],
        reformatter: ChatModel | None = None,
        show: Callable[[str, str], None] | None = None,
        shown: Callable[[Request], tuple[PlanPrompt, ToolGraph]] | None = None,
    ) -> None:
        self._graph = graph
        self._prompt = prompt
        self._model = model
        self.parameters: Mapping[str, Any] = {**PARAMETERS, **parameters}
        self._reformatter = reformatter
        self._show = show
        self._shown = shown or (lambda request: (prompt, graph))

    def answer(
        self,
        requests: Iterable[Request],
        journal: Journal,
        loop: Loop,
    ) -> int:
        """Answer what the journal does not settle yet; how much it settled before.

        Raises:
            ToolassayError: the run cannot go on.
            KeyboardInterrupt: at Ctrl-C, when what was in flight is answered.
        """
        retry = loop.retry

        async def ask(request: Request) -> str:
            key, kept = key_of(request.id), entry_of(journal, request)
            is_again = self._is_settled(kept)
            entry: dict[str, Any] = {"request": request_fingerprint(request.text)}
            try:
                # An answer whose rewriting failed is kept, as it is paid for; only the rewriting is repeated.
                paid = kept.get(BEGUN, {}) if is_again else kept
                entry |= self._unfinished(paid) or await self._answer(request)
                if self._is_unreadable(entry):
                    if "response" not in paid:  # a process that is killed has paid for it
                        begun = {**kept, BEGUN: entry} if is_again else {"outcome": "not run", **entry}
                        journal.append(key, begun)
                    entry |= await self._rewrite(key, entry["response"])
            except (ModelError, asyncio.CancelledError) as error:
                if is_again:  # the answer there is still counts
                    if "response" in entry:
                        journal.append(key, {**kept, BEGUN: entry})
                elif "response" in entry or (isinstance(error, ModelError) and error.settles):
                    journal.append(key, {**_failure(error), **entry})
                raise
            outcome = self._outcome(entry)
            if is_again:
                retry.replaced += 1
                entry[COUNT] = kept.get(COUNT, 0) + 1
            journal.append(key, {"outcome": outcome, **entry})
            return outcome

        def stopped(request: Request, error: ModelError) -> None:
            kept = entry_of(journal, request)
            if not self._is_settled(kept) and self._unfinished(kept) is None:
                asked = {"request": request_fingerprint(request.text)}
                journal.append(key_of(request.id), {**_failure(error), **asked})

        return run_unsettled(
            requests,
            ask,
            settled=lambda request: self._skips(entry_of(journal, request), retry),
            models=[model for model in (self._model, self._reformatter) if model is not None],
            loop=loop,
            stopped=stopped,
        )

    def preview(
        self,
        requests: RequestStream,
        output: Path,
        journal: Journal,
        estimate: Estimate,
        retry: RetryPlan | None = None,
    ) -> int:
        """Add what is not answered yet to `estimate`; nothing is sent or written. Returns what is answered.

        Args:
            requests: those that would be asked.
            output: the prediction file, lines of which may be taken over.
            journal: of this run; may be open for reading only.
            estimate: learns from the answers there are.
            retry: Which answered requests are sent again.
        """
        retry = retry or RetryPlan()
        adopted = adoptable_predictions(output, journal) if output.exists() else {}
        already = 0
        for request in requests:
            size, entry = size_of(self._prompt.messages(request.text)), entry_of(journal, request)
            if "response" in entry:
                estimate.answered(size, entry.get("prompt_tokens"), entry.get("completion_tokens"))
            key = key_of(request.id)
            taken_over = key in adopted and adopted[key] in (None, request_fingerprint(request.text))
            unfinished = not self._is_settled(entry) and self._unfinished(entry)
            if taken_over or unfinished or self._skips(entry, retry):
                already += 1
            else:
                estimate.add(size)
        return already - retry.left

    async def _answer(self, request: Request) -> dict[str, Any]:
        template, graph = self._shown(request)
        messages, task = template.messages(request.text), PlanTask(request.text, graph)
        assert self._model is not None
        response = await self._complete(self._model, messages, task, role="planner", item=key_of(request.id))
        if self._show is not None:
            self._show("\n\n".join(message["content"] for message in messages), response.text)
            self._show = None
        return {
            "response": response.text,
            "finish_reason": response.finish_reason,
            "prompt_tokens": response.prompt_tokens,
            "completion_tokens": response.completion_tokens,
            **({"reasoning": response.reasoning} if response.reasoning else {}),
            **({"refused": True} if response.refused else {}),
            **({"tool_calls": [asdict(call) for call in response.tool_calls]} if response.tool_calls else {}),
        }

    async def _rewrite(self, key: str, answer: str) -> dict[str, Any]:
        assert self._reformatter is not None
        messages = [{"role": "user", "content": self._prompt.reformat(answer)}]
        task = ReformatTask(answer)
        rewritten = await self._complete(self._reformatter, messages, task, role="reformat", item=key)
        return {"reformatted": rewritten.text, "reformatted_finish_reason": rewritten.finish_reason}

    async def _complete(
        self, model: ChatModel, messages: Sequence[Message], task: Any, *, role: str, item: str
    ) -> ChatResponse:
        return await model.complete(ChatRequest(messages, self.parameters, None, task, role, item))

    def _is_unreadable(self, entry: Mapping[str, Any]) -> bool:
        """Whether to rewrite an answer: there is one, it is not refused, and it is not the requested JSON."""
        text = entry["response"]
        if self._reformatter is None or entry.get("refused") or not text.strip():
            return False
        _, answer = read_plan(text, self._graph.dependency_type, entry["finish_reason"])
        return answer.problem is not None or not is_strict_plan(text)

    def _outcome(self, entry: Mapping[str, Any]) -> str:
        if entry.get("refused"):
            return "refused"
        plan, _ = plan_of(entry, self._graph.dependency_type)
        return "malformed" if plan is None else "answered"

    def _is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Whether a start has nothing to do for an entry, unless malformed ones are asked again.

        An answer that an earlier version took for a plan, and that is none, is still to be rewritten.
        """
        if not is_settled(entry):
            return False
        is_rewritable = entry["outcome"] != "refused" and "response" in entry and "reformatted" not in entry
        return not (is_rewritable and self._is_unreadable(entry))

    def _skips(self, entry: Mapping[str, Any], retry: RetryPlan) -> bool:
        settled = self._is_settled(entry)
        unusable = settled and retry.wanted and is_unusable(entry, self._graph.dependency_type)
        return retry.skips(settled=settled, unusable=unusable)

    @staticmethod
    def _unfinished(entry: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer of an entry that still has to be rewritten; None if there is none."""
        if not entry.keys() >= set(_RESPONSE):
            return None
        return {key: entry[key] for key in (*_RESPONSE, "reasoning", "refused", "tool_calls") if key in entry}


def _failure(error: BaseException) -> dict[str, str]:
    outcome = error.outcome if isinstance(error, ModelError) else "not run"
    return {"outcome": outcome, "problem": str(error)}
