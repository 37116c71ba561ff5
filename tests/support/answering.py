"""A scripted model, what an item is given to ask one with, and a journal for its answers."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import patch

from toolassay.models import ChatModel, ChatRequest, ChatResponse, ModelError
from toolassay.runs.items import Ask
from toolassay.runs.journal import Journal


def ask_of(model: ChatModel, folder: Path | None = None, key: str = "item") -> Ask:
    """Gives the recorded answers of a folder, and then those of a model; without one nothing is recorded."""
    place = Path(tempfile.mkdtemp()) if folder is None else folder
    return Ask(key, Journal(place / "journal.jsonl"), lambda request, by: _answer(model, request))


async def _answer(model: ChatModel, request: ChatRequest) -> ChatResponse:
    return await model.complete(request)


class Answering:
    """A model that answers by a function of the request; remembers what it was asked."""

    def __init__(
        self, answer: Callable[[ChatRequest], ChatResponse | Awaitable[ChatResponse]], name: str = "scripted"
    ) -> None:
        self.answer, self.name = answer, name
        self.asked: list[ChatRequest] = []
        self.closed = 0

    async def complete(self, request: ChatRequest) -> ChatResponse:
        self.asked.append(request)
        said = self.answer(request)
        return await said if inspect.isawaitable(said) else said

    async def close(self) -> None:
        self.closed += 1


def served(*models: ChatModel) -> AbstractContextManager[object]:
    """While it is entered, a run that asks for one of these names gets that model."""
    named = {model.name: model for model in models}
    return patch("toolassay.runs.run.create_model", lambda name, options, meter: named[name])


class Scripted:
    """Says one thing after the other, then that it is done; remembers what it was asked."""

    name = "scripted"

    def __init__(self, *says: ChatResponse | ModelError) -> None:
        self.says = list(says)
        self.asked: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatResponse:
        self.asked.append(request)
        said = self.says.pop(0) if self.says else ChatResponse("Done.")
        if isinstance(said, ModelError):
            raise said
        return said

    async def close(self) -> None: ...
