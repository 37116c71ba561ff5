"""Sends the model requests of one question, and reuses answers of an earlier start from the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from toolassay.models import ChatModel, ChatRequest, ChatResponse, ToolCall
from toolassay.models.protocol import Message
from toolassay.offline.model_tasks import ChoiceTask

CostOf = Callable[[int | None, int | None, int | None], float | None]
"""The cost of an answer in US dollars, from its prompt, completion and cached tokens; None if unknown."""


def unknown_cost(
    prompt_tokens: int | None, completion_tokens: int | None, cached_tokens: int | None
) -> float | None:
    """The cost if no price is known: None."""
    return None


class QuestionRequests:
    """Sends the requests of one question and keeps each answer as JSON for the journal.

    Args:
        model: the model.
        parameters: of each request (temperature, top_p, …), besides those of the agent.
        item: the id of the question.
        known: the answers of an earlier start; they answer the first requests, in order.
        cost_of: computes the cost of an answer.
    """

    def __init__(
        self,
        model: ChatModel,
        parameters: Mapping[str, Any],
        item: str,
        known: Sequence[Mapping[str, Any]] = (),
        cost_of: CostOf = unknown_cost,
    ) -> None:
        self._model, self._parameters, self._item = model, parameters, item
        self._known = list(known)
        self._cost_of = cost_of
        self.answers: list[Mapping[str, Any]] = []

    async def __call__(
        self, messages: Sequence[Message], parameters: Mapping[str, Any], task: ChoiceTask
    ) -> ChatResponse:
        """Send one request, or take its answer from `known`.

        Args:
            messages: of the request.
            parameters: of this request; those of the run take precedence.
            task: the same work in structured form, for built-in models.

        Raises:
            ModelError: the request got no answer.
        """
        if self._known:
            known = self._known.pop(0)
            self.answers.append(known)
            return _response_of(known)
        request = ChatRequest(
            messages, {**parameters, **self._parameters}, None, task, role="agent", item=self._item
        )
        response = await self._model.complete(request)
        tokens = response.prompt_tokens, response.completion_tokens, response.cached_tokens
        self.keep(response, self._cost_of(*tokens))
        return response

    def keep(self, response: ChatResponse, cost: float | None) -> None:
        """Record an answer. Some fields are recorded only if there is something in them.

        No answer is sent back to the model, so what the server requires then is not recorded.
        """
        answer = {**asdict(response), "cost": cost}
        for part in (answer, *answer["tool_calls"]):
            del part["extra"]
        for name in ("reasoning", "reasoning_tokens", "leaked"):
            if not answer[name]:
                del answer[name]
        self.answers.append(answer)

    @property
    def unfinished(self) -> Sequence[Mapping[str, Any]]:
        """All answers so far, including known ones that were not used yet."""
        return [*self.answers, *self._known]


_FIELDS = frozenset(field.name for field in fields(ChatResponse))


def _response_of(answer: Mapping[str, Any]) -> ChatResponse:
    """A recorded answer. Fields of other versions of the program are ignored."""
    known = {name: value for name, value in answer.items() if name in _FIELDS}
    calls = tuple(ToolCall(**call) for call in answer["tool_calls"])
    return ChatResponse(**{**known, "tool_calls": calls})
