"""Sends the model requests of one question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from toolassay.models import ChatRequest, ChatResponse
from toolassay.models.protocol import Message
from toolassay.offline.model_tasks import ChoiceTask
from toolassay.runs.items import Ask

CostOf = Callable[[int | None, int | None, int | None], float | None]
"""The cost of an answer in US dollars, from its prompt, completion and cached tokens; None if unknown."""


def unknown_cost(
    prompt_tokens: int | None, completion_tokens: int | None, cached_tokens: int | None
) -> float | None:
    """The cost if no price is known: None."""
    return None


class QuestionRequests:
    """Sends the requests of one question and keeps each answer as JSON for the entry of the question.

    Args:
        ask: gives the answers.
        parameters: of each request (temperature, top_p, …), besides those of the agent.
        cost_of: computes the cost of an answer.
    """

    def __init__(self, ask: Ask, parameters: Mapping[str, Any], cost_of: CostOf = unknown_cost) -> None:
        self._ask, self._parameters, self._cost_of = ask, parameters, cost_of
        self.answers: list[Mapping[str, Any]] = []

    async def __call__(
        self, messages: Sequence[Message], parameters: Mapping[str, Any], task: ChoiceTask
    ) -> ChatResponse:
        """Send one request.

        Args:
            messages: of the request.
            parameters: of this request; those of the run take precedence.
            task: the same work in structured form, for built-in models.

        Raises:
            ModelError: the request got no answer.
        """
        request = ChatRequest(messages, {**parameters, **self._parameters}, None, task, role="agent")
        response = await self._ask(request)
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
