"""The model requests of one question, with the answers of an earlier run reused from the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from toolassay.models import ChatModel, ChatRequest, ChatResponse, ToolCall
from toolassay.models.protocol import Message
from toolassay.offline.model_tasks import ChoiceTask

CostOf = Callable[[int | None, int | None, int | None], float | None]
"""US dollars of an answer by the tokens read, written and cached; None where unknown."""


def unknown_cost(
    prompt_tokens: int | None, completion_tokens: int | None, cached_tokens: int | None
) -> float | None:
    """No price is known."""
    return None


class QuestionRequests:
    """Asks a model about one question, and keeps each answer as JSON for the journal.

    Args:
        model: who is asked.
        parameters: of each request (temperature, top_p, …), beside those of the agent.
        item: the id of the question.
        known: answers of an earlier start; they come first, in their order.
        cost_of: what an answer cost.
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
        """The answer to one request.

        Args:
            messages: what is sent.
            parameters: of this request; those of the run count where both have one.
            task: the same, for models that act on it.

        Raises:
            ModelError: no answer.
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
        """Count an answer, whoever gave it. Thoughts and their tokens are named only where there are some."""
        answer = {**asdict(response), "cost": cost}
        for name in ("reasoning", "reasoning_tokens"):
            if not answer[name]:
                del answer[name]
        self.answers.append(answer)

    @property
    def unfinished(self) -> Sequence[Mapping[str, Any]]:
        """All answers there are, those included that were not needed again yet."""
        return [*self.answers, *self._known]


_FIELDS = frozenset(field.name for field in fields(ChatResponse))


def _response_of(answer: Mapping[str, Any]) -> ChatResponse:
    """An answer as it was; what another version of this program noted beside it is left out."""
    known = {name: value for name, value in answer.items() if name in _FIELDS}
    calls = tuple(ToolCall(**call) for call in answer["tool_calls"])
    return ChatResponse(**{**known, "tool_calls": calls})
