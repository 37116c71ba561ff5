"""A model that answers by itself (offline, registered), with its calls in the books."""

from __future__ import annotations

import time

from toolgraph.models.errors import ModelError
from toolgraph.models.meter import Attempt, Meter
from toolgraph.models.protocol import ChatModel, ChatRequest, ChatResponse


class Metered:
    """Announces every call of `model` to `meter` before, and tells it after."""

    def __init__(self, model: ChatModel, meter: Meter) -> None:
        self.name = model.name
        self.model = model
        self._meter = meter

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request as the model does.

        Raises:
            ModelError: the model has no answer, or the meter forbids the call.
        """
        self._meter.before(self.name, request)
        started = time.monotonic()
        try:
            response = await self.model.complete(request)
        except ModelError as error:
            self._told(request, error.kind, started, error.status, error)
            raise
        except BaseException:
            self._told(request, "failed", started, None, None)
            raise
        outcome = "refused" if response.refused else "answered"
        self._told(request, outcome, started, None, response, response.first_token_seconds)
        return response

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()

    def _told(
        self,
        request: ChatRequest,
        outcome: str,
        started: float,
        status: int | None,
        used: ChatResponse | ModelError | None,
        first_token: float | None = None,
    ) -> None:
        self._meter.after(
            Attempt(
                self.name,
                request.role,
                request.item,
                1,
                outcome,
                status,
                used.prompt_tokens if used else None,
                used.completion_tokens if used else None,
                time.monotonic() - started,
                first_token,
            )
        )
